//! Instructions under a guard that the domain does not decide.
//!
//! Such an instruction happens in some runs and not in others, in the same lane. It is executed, and
//! every register or byte it writes becomes a choice by the guard between what it wrote and what was
//! there before. What was there may be nothing: then the choice has an undefined side, and it is up to
//! who reads it whether that matters.
//!
//! Faults of such an instruction may not happen at all, so they are no findings but end the run; a
//! race with it is left open ([`Report::conditional`](crate::report::Report)). Only what touches
//! registers, and plain loads and stores, can be conditional: barriers and collectives would have to
//! be waited for under a condition.

use super::operand::{bytes, raw};
use super::select::{self, choice};
use super::truth::{self, Predicate};
use crate::context::Context;
use crate::domain::{Connective, Truths, Value};
use crate::finding::{AccessKind, Gap};
use crate::handle::Handle;
use crate::interpret::access::{locate, read_element, resolve, word_of, write_element};
use crate::interpret::tracked::track;
use crate::interpret::{execute, memory};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::{Source, Tags};
use crate::tracker::AccessAttributes;
use crate::value::bytes::Bytes;
use crate::value::unit::Byte;
use crate::value::{Valued, reason};
use ir::{Access, Guard, Op, Ordering, Reg, Store, Width};
use sync::{Kind, SameValue};

/// Executes an instruction whose guard is not decided in some of the context's lanes; whether that
/// is possible.
#[cold]
pub(crate) fn conditional(
    context: &mut Context<'_, '_>,
    guard: Guard,
    op: &Op,
) -> Result<bool, Gap> {
    let guard = Condition::new(context, guard);
    let lanes = context.lanes;
    let follows = |valued: &Valued<'_>| valued.domain.follows_conditions();
    if !context.valued.as_ref().is_some_and(follows)
        || !guard.open.without(guard.predicate.followed()).is_empty()
        || !can_be_conditional(context, op)
    {
        return Ok(false);
    }
    (context.lanes, context.open) = (guard.certain.or(guard.open), guard.open);
    if matches!(op, Op::Load(_) | Op::Store(_)) {
        context.report.conditional.insert(context.site);
    }
    let result = match op {
        Op::Store(store) => conditional_store(context, &guard, store),
        op => conditional_write(context, &guard, op),
    };
    (context.lanes, context.open) = (lanes, Mask::NONE);
    result?;
    match context.would_fail.take() {
        Some(what) => Err(context.gap(format!("{what}, under a condition that is not decided"))),
        None => Ok(true),
    }
}

/// A guard, by lanes.
struct Condition {
    predicate: Predicate,
    negated: bool,
    /// Where it holds.
    certain: Mask,
    /// Where that is not known.
    open: Mask,
}

impl Condition {
    fn new(context: &Context<'_, '_>, guard: Guard) -> Self {
        let predicate = Predicate::read(context, guard.register.into());
        let truth = if guard.negated { Mask(!predicate.truth.0) } else { predicate.truth };
        let open = predicate.unknown().and(context.lanes).without(predicate.tags.poison);
        let certain = truth.and(context.lanes).without(open).without(predicate.tags.poison);
        Self { predicate, negated: guard.negated, certain, open }
    }

    /// What was there with and without the instruction, in the order of the predicate.
    fn ordered<T>(&self, with: T, without: T) -> [T; 2] {
        if self.negated { [without, with] } else { [with, without] }
    }
}

fn can_be_conditional(context: &Context<'_, '_>, op: &Op) -> bool {
    let weak = match op {
        Op::Load(load) => load.ordering == Ordering::Weak,
        Op::Store(store) => store.ordering == Ordering::Weak && store.width <= Width::B64,
        // Hints do nothing, under any condition.
        Op::Hint { .. } => true,
        op => op.is_of_registers(),
    };
    weak && written(op).iter().all(|register| context.layout.width(*register) <= Width::B64)
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

/// What a register was.
enum Old {
    Predicate(Predicate),
    Bits(Lanes, Tags),
}

fn conditional_write(context: &mut Context<'_, '_>, guard: &Condition, op: &Op) -> Result<(), Gap> {
    let read = |context: &mut Context<'_, '_>, register: Reg| match context.layout.width(register) {
        Width::B1 => Old::Predicate(Predicate::read(context, register.into())),
        _ => {
            let (values, tags) = raw(context, register.into());
            Old::Bits(values, tags)
        }
    };
    let registers = written(op);
    let old: Vec<Old> = registers.iter().map(|register| read(context, *register)).collect();
    let (warp, lanes) = (context.warp.number, context.lanes);
    let is_load = matches!(op, Op::Load(_));
    if is_load {
        context.tracker.step(warp, lanes);
    }
    execute(context, op)?;
    if is_load {
        context.tracker.step(warp, lanes);
    }
    context.lanes = guard.open;
    for (register, old) in registers.into_iter().zip(old) {
        match old {
            Old::Predicate(old) => merge_truth(context, guard, register, &old),
            Old::Bits(values, tags) => merge_bits(context, guard, register, (values, tags)),
        }
    }
    Ok(())
}

fn merge_bits(context: &mut Context<'_, '_>, guard: &Condition, register: Reg, old: (Lanes, Tags)) {
    let new = raw(context, register.into());
    let same = |lane: &usize| {
        let word = |tags: Tags| word_of(tags, *lane);
        let fixed = matches!(word(new.1), Word::Number | Word::Pointer);
        let nothing = word(new.1) == Word::Poison && word(old.1) == Word::Poison;
        nothing || fixed && word(new.1) == word(old.1) && new.0[*lane] == old.0[*lane]
    };
    let lanes = guard.open.iter().filter(|lane| !same(lane));
    let lanes = Mask(lanes.fold(0, |mask, lane| mask | 1 << lane));
    let origin = Some(Source::Data);
    let tags = Tags { unknown: lanes, origin, ..Tags::NUMBER };
    let layout = context.layout;
    context.registers.write(layout, register, &[0; WARP], tags, lanes);
    let [a, b] = guard.ordered(&new, &old);
    select::choose(context, register, &guard.predicate, [a, b], lanes);
}

/// A truth in one lane.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    Known(bool),
    Handle(Value),
    Lost,
}

impl Truth {
    fn of(predicate: &Predicate, lane: usize) -> Self {
        let word = predicate.words[lane];
        match () {
            () if predicate.tags.poison.has(lane) => Self::Lost,
            () if !predicate.tags.unknown.has(lane) => Self::Known(predicate.truth.has(lane)),
            () if Handle(word).is_value() => Self::Handle(word),
            () => Self::Lost,
        }
    }
}

fn merge_truth(context: &mut Context<'_, '_>, guard: &Condition, register: Reg, old: &Predicate) {
    let new = Predicate::read(context, register.into());
    let mut out = Truths::NONE;
    for lane in guard.open.iter() {
        let [a, b] = guard.ordered(Truth::of(&new, lane), Truth::of(old, lane));
        let condition = guard.predicate.words[lane];
        match chosen_truth(context, condition, [a, b]) {
            Truth::Known(holds) => out.decide(lane, holds),
            Truth::Handle(value) => out.defer(lane, value),
            Truth::Lost => {
                let place = Some(context.place);
                let Some(valued) = &mut context.valued else { return };
                out.defer(lane, valued.store.units.opaque(place, reason::CONDITION));
            }
        }
    }
    truth::write(context, register, &out, Tags::NUMBER, guard.open);
}

/// `a` where the condition holds, `b` elsewhere.
fn chosen_truth(context: &mut Context<'_, '_>, condition: Value, [a, b]: [Truth; 2]) -> Truth {
    let holds = Truth::Handle(condition);
    if a == b && a != Truth::Lost {
        return a;
    }
    let [with, without] =
        [(Connective::And, holds, a), (Connective::And, negated(context, holds), b)]
            .map(|(op, x, y)| connected(context, op, x, y));
    connected(context, Connective::Or, with, without)
}

fn negated(context: &mut Context<'_, '_>, a: Truth) -> Truth {
    match (a, &mut context.valued) {
        (Truth::Known(holds), _) => Truth::Known(!holds),
        (Truth::Handle(value), Some(valued)) => {
            let mut out = [0; WARP];
            valued.domain.not(&[value; WARP], Mask(1), &mut out);
            Truth::Handle(out[0])
        }
        _ => Truth::Lost,
    }
}

fn connected(context: &mut Context<'_, '_>, op: Connective, a: Truth, b: Truth) -> Truth {
    let settles = op == Connective::Or;
    match (a, b, &mut context.valued) {
        (Truth::Known(known), other, _) | (other, Truth::Known(known), _) => {
            if known == settles {
                Truth::Known(settles)
            } else {
                other
            }
        }
        (Truth::Handle(a), Truth::Handle(b), Some(valued)) => {
            let mut out = Truths::NONE;
            valued.domain.connect(op, [&[a; WARP], &[b; WARP]], Mask(1), &mut out);
            match out.known.has(0) {
                true => Truth::Known(out.truth.has(0)),
                false => Truth::Handle(out.values[0]),
            }
        }
        _ => Truth::Lost,
    }
}

fn conditional_store(
    context: &mut Context<'_, '_>,
    guard: &Condition,
    store: &Store,
) -> Result<(), Gap> {
    let element = store.width.bytes();
    let size = element * store.srcs.len() as u32;
    let (warp, lanes) = (context.warp.number, context.lanes);
    context.tracker.step(warp, lanes);
    let addresses = resolve(context, store.address, store.space, AccessKind::Write, size)?;
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let found = locate(context, pointer, lane, (size, size), AccessKind::Write);
        let Some(found) = found else { continue };
        let attributes = AccessAttributes::plain(Kind::Write, context.site, element);
        track(context, pointer, lane, size, attributes, SameValue::Undecided);
        let Some(start) = found else { continue };
        for (position, &src) in store.srcs.iter().enumerate() {
            let at = start + position * element as usize;
            if !guard.open.has(lane) {
                memory::store_element(context, pointer, lane, at, src, store.width);
                continue;
            }
            let size = element as usize;
            let mut old = ([0; WARP], [0; WARP]);
            let parts = [&mut old.0, &mut old.1];
            let word = read_element(context, pointer.area, lane, Some(Some(at)), size, parts);
            let new = raw(context, src);
            let new = bytes(context, &new, lane);
            let Some(valued) = &mut context.valued else { return Ok(()) };
            let old = valued.store.bytes(old.0[lane], word);
            let [mut a, mut b]: [Bytes; 2] = guard.ordered(new, old);
            [&mut a, &mut b].into_iter().for_each(|bytes| bytes[size..].fill(Byte::Known(0)));
            let condition = guard.predicate.words[lane];
            let chosen = choice(valued, condition, (&a, &b), size);
            let target = (pointer.area, lane);
            write_element(context, target, at, size, (chosen, Word::Unknown));
        }
    }
    context.tracker.step(warp, lanes);
    Ok(())
}
