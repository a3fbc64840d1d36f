//! Instructions under an undecided condition: a guard, or the path condition of one side of a branch.
//!
//! Such an instruction happens in some runs and not in others, in the same lane. It is executed, and every
//! register or byte it writes becomes a choice between the new and the old contents. The old contents may be
//! undefined: then the choice has an undefined side, and the reader decides if that matters
//! ([`super::merge`]).
//!
//! On a side, registers and local memory are written plainly, because they are merged where the sides meet
//! ([`crate::undecided`]). Only memory visible to other threads is written under the path condition.
//!
//! Faults of such an instruction may not happen at all, so they end the run instead of being findings, and a
//! race with it is left open ([`Report::conditional`](crate::report::Report)). Only register operations,
//! plain loads and stores, and relaxed read-modify-writes can be conditional. Barriers, fences and
//! collectives would have to be awaited under a condition.

use super::conditional_access::{check_faults, is_plain_update, record_open_access, store_in_lane};
use super::expanded;
use super::merge::{self, Contents};
use super::truth::Predicate;
use crate::context::{Context, Flow};
use crate::domain::{Connective, Value};
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::interpret::access::resolve_indexed;
use crate::interpret::execute;
use crate::lanes::{Mask, WARP};
use crate::path::{Path, Truth};
use crate::value::{Valued, reason};
use ir::{Access, Guard, Op, Ordering, Reg, Store, Width};
use std::rc::Rc;

/// Executes an instruction whose guard is undecided in some of the context's lanes. Returns `false` if that
/// is unsupported.
#[cold]
pub(crate) fn conditional(
    context: &mut Context<'_, '_>,
    guard: Guard,
    op: &Op,
) -> Result<bool, Gap> {
    if matches!(op, Op::Call { .. }) || !can_be_conditional(context, op) {
        return Ok(false);
    }
    let Some(condition) = Condition::new(context, guard) else { return Ok(false) };
    let outer = (context.lanes, context.conditional_lanes, context.path.clone());
    let Some(inner) = condition.within(context, outer.2.as_deref()) else { return Ok(false) };
    context.lanes = condition.certain.or(inner.lanes.and(condition.open));
    context.conditional_lanes = inner.lanes;
    context.path = Some(Rc::new(inner));
    record_conditional_access(context, op);
    let result = match op {
        Op::Store(store) => conditional_store(context, store, false),
        op => conditional_write(context, &condition.path, op),
    };
    (context.lanes, context.conditional_lanes, context.path) = outer;
    result?;
    check_faults(context).map(|()| true)
}

/// Checks the guard of a hint. Its truth does not matter and may be unknown, but it must be defined for all
/// contents.
pub(crate) fn check_hint_guard(context: &mut Context<'_, '_>, guard: Guard) -> Result<(), Gap> {
    let tags = context.registers.tags(guard.register);
    let undefined = Fault::Undefined { reaches: Sink::Control, origin: tags.undefined };
    context.record_fault(undefined, tags.poison.and(context.lanes));
    context.doubt_undetermined(tags, Sink::Control, context.lanes);
    check_faults(context)
}

/// Executes an instruction on one side of an undecided branch, in the context's lanes.
pub(crate) fn execute_on_path(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    if !can_be_conditional(context, op) {
        let what = "this is executed under an undecided condition, and other threads may wait for it or be \
            ordered by it";
        return Err(context.conditional_gap(what));
    }
    record_conditional_access(context, op);
    let flow = match op {
        Op::Store(store) => conditional_store(context, store, true).map(|()| Flow::Next)?,
        Op::Load(load) => {
            let flow = execute(context, op)?;
            merge::settle_load(context, load)?;
            flow
        }
        op => execute(context, op)?,
    };
    check_faults(context).map(|()| flow)
}

/// Records that an access may not happen.
fn record_conditional_access(context: &mut Context<'_, '_>, op: &Op) {
    if matches!(op, Op::Load(_) | Op::Store(_) | Op::Atomic(_)) {
        record_open_access(context);
    }
}

/// A guard by lanes.
pub(crate) struct Condition {
    /// The condition that the guard holds, in the lanes where it is unknown.
    pub(crate) path: Path,
    /// Lanes in which the guard holds.
    pub(crate) certain: Mask,
    /// Lanes in which the guard is unknown.
    pub(crate) open: Mask,
}

impl Condition {
    /// Reads a guard in the context's lanes, if it is nowhere undefined and the domain tracks all its unknown
    /// lanes.
    pub(crate) fn new(context: &mut Context<'_, '_>, guard: Guard) -> Option<Self> {
        let follows = |valued: &Valued<'_>| valued.domain.follows_conditions();
        if !context.valued.as_ref().is_some_and(follows) {
            return None;
        }
        name_untracked_conditions(context, guard.register);
        let predicate = Predicate::read(context, guard.register.into());
        let truth = if guard.negated { Mask(!predicate.truth.0) } else { predicate.truth };
        let poison = predicate.tags.poison;
        let open = predicate.unknown().and(context.lanes).without(poison);
        let certain = truth.and(context.lanes).without(open).without(poison);
        let followed = open.without(predicate.followed()).is_empty();
        let path = Path { words: predicate.words, negated: guard.negated, lanes: open };
        followed.then_some(Self { path, certain, open })
    }

    /// The path conditions of an instruction with this guard. `None` if the domain does not track them. Lanes
    /// that never execute it are left out.
    fn within(&self, context: &mut Context<'_, '_>, outer: Option<&Path>) -> Option<Path> {
        let Some(outer) = outer else { return Some(self.path.clone()) };
        let mut both = outer.clone();
        let lanes = self.certain.or(self.open);
        both.lanes = outer.lanes.and(lanes);
        for lane in self.open.iter() {
            let guard = self.holds(context, lane, true);
            let outside = Truth::Handle(outer.words[lane]);
            match merge::connected(context, Connective::And, outside, guard) {
                Truth::Handle(word) if !is_never(context, word) => both.words[lane] = word,
                Truth::Handle(_) | Truth::Known(false) => {
                    both.lanes = both.lanes.without(Mask::one(lane))
                }
                Truth::Known(true) | Truth::Lost => return None,
            }
        }
        Some(both)
    }

    /// The condition that the guard holds in a lane, or that it does not.
    fn holds(&self, context: &mut Context<'_, '_>, lane: usize, holds: bool) -> Truth {
        let word = Truth::Handle(self.path.words[lane]);
        if self.path.negated == holds { merge::negated(context, word) } else { word }
    }

    /// The path conditions of the lanes for which the guard holds, or for which it does not. Lanes excluded
    /// by the path so far have none. `None` if the domain does not track one of them.
    pub(crate) fn side(
        &self,
        context: &mut Context<'_, '_>,
        outer: Option<&Path>,
        holds: bool,
    ) -> Option<Path> {
        let mut side = Path { words: [0; WARP], negated: false, lanes: Mask::NONE };
        for lane in self.open.iter() {
            let mut condition = self.holds(context, lane, holds);
            if let Some(outer) = outer {
                let outer = Truth::Handle(outer.words[lane]);
                condition = merge::connected(context, Connective::And, outer, condition);
            }
            match condition {
                Truth::Handle(word) if is_never(context, word) => {}
                Truth::Handle(word) => {
                    side.words[lane] = word;
                    side.lanes = side.lanes.or(Mask::one(lane));
                }
                Truth::Known(false) => {}
                Truth::Known(true) | Truth::Lost => return None,
            }
        }
        Some(side)
    }
}

/// Returns `true` if the ranges of integers exclude a condition.
fn is_never(context: &mut Context<'_, '_>, condition: Value) -> bool {
    context.valued.as_mut().is_some_and(|valued| valued.domain.is_never(condition))
}

/// Gives a fresh condition to each lane of a predicate that the domain does not track, if it depends on data.
/// The register keeps it, so later uses get the same condition.
fn name_untracked_conditions(context: &mut Context<'_, '_>, register: Reg) {
    let predicate = Predicate::read(context, register.into());
    let undecided = predicate.unknown().without(predicate.followed()).and(context.lanes);
    let Some(valued) = &mut context.valued else { return };
    let mut words = predicate.words;
    for lane in undecided.iter() {
        let reason = valued.store.units.lost(words[lane]).map(|lost| lost.reason);
        let is_data = !matches!(reason, Some(reason::SCHEDULE | reason::ADDRESS));
        if predicate.tags.schedule_dependent.has(lane) || !is_data {
            return;
        }
        let Some(condition) = valued.domain.unknown_condition() else { return };
        words[lane] = condition;
    }
    if !undecided.is_empty() {
        context.registers.write_truths(register, &words, undecided);
    }
}

fn can_be_conditional(context: &Context<'_, '_>, op: &Op) -> bool {
    let plain = match op {
        Op::Load(load) => load.ordering == Ordering::Weak,
        Op::Store(store) => store.ordering == Ordering::Weak && store.width <= Width::B64,
        Op::Atomic(atomic) => is_plain_update(atomic),
        // Hints do nothing, under any condition.
        Op::Hint { .. } | Op::Call { .. } => true,
        op => op.is_of_registers(),
    };
    plain && written(op).iter().all(|register| context.layout.width(*register) <= Width::B64)
}

fn written(op: &Op) -> Vec<Reg> {
    let mut registers = Vec::new();
    op.visit(&mut |access| {
        if let Access::Write(register) = access {
            registers.push(register);
        }
    });
    registers
}

/// Executes an instruction with results selected by its guard.
fn conditional_write(context: &mut Context<'_, '_>, guard: &Path, op: &Op) -> Result<(), Gap> {
    let registers = written(op);
    let old: Vec<Contents> = registers.iter().map(|one| Contents::read(context, *one)).collect();
    let (warp, lanes) = (context.warp.number, context.lanes);
    let accesses = matches!(op, Op::Load(_) | Op::Atomic(_));
    if accesses {
        context.tracker.step(warp, lanes);
    }
    execute(context, op)?;
    if accesses {
        context.tracker.step(warp, lanes);
    }
    context.lanes = guard.lanes;
    for (register, old) in registers.into_iter().zip(old) {
        let new = Contents::read(context, register);
        merge::merge(context, guard, register, [new, old]);
    }
    Ok(())
}

/// Stores under the path condition of the context. `merged` is set if the local memory of the lanes is merged
/// later.
fn conditional_store(
    context: &mut Context<'_, '_>,
    store: &Store,
    merged: bool,
) -> Result<(), Gap> {
    let size = store.width.bytes() * store.srcs.len() as u32;
    let (warp, lanes) = (context.warp.number, context.lanes);
    // The lanes of one side need not be complete.
    if !merged {
        context.tracker.step(warp, lanes);
    }
    let (addresses, indexed) =
        resolve_indexed(context, store.address, store.space, AccessKind::Write, size)?;
    for one in &indexed {
        expanded::store(context, one, store, merged)?;
    }
    for lane in addresses.lanes.iter() {
        if let Some(pointer) = addresses.pointers[lane] {
            store_in_lane(context, store, (pointer, lane), merged);
        }
    }
    if !merged {
        context.tracker.step(warp, lanes);
    }
    Ok(())
}
