//! Barriers of a block: checks convergence, and tests the claims made there.
//!
//! Claims are tested for every thread, and for every pair of different ones if they mention another thread. Elements
//! have the memory's contents at that moment. After a race the contents are indefinite, so nothing is tested.

use crate::evaluate::{evaluate, truth};
use crate::launch::Launch;
use crate::machine::{Halt, Machine, State};
use crate::outcome::Event;
use crate::quantifiers::for_each_in_ranges;
use crate::shadow::Memory;
use crate::value::{Environment, EvaluationError, Value};
use base::Index;
use kir::spec;
use kir::{ArrayId, Builtin, Claim, Expr, ExprKind, Kernel, Space, VarId, When};

/// Limit on the pairs of threads tested at a barrier.
const MAX_PAIRS: usize = 512;
/// Limit on the threads tested at a barrier.
const MAX_THREADS: usize = 64;

/// The environment of a claim at a barrier: a thread, and another one if the claim mentions it.
struct PairAtBarrier<'m> {
    kernel: &'m Kernel,
    launch: &'m Launch,
    state: &'m State<'m>,
    other: Option<&'m PairAtBarrier<'m>>,
    global: &'m Memory,
    shared: &'m Memory,
    bound: &'m [(VarId, i128)],
}

impl Environment for PairAtBarrier<'_> {
    fn var(&self, var: VarId) -> Value {
        match self.bound.iter().find(|(one, _)| *one == var) {
            Some((_, value)) => Value::int(*value),
            None => self.state.vars.get(var.position()).copied().unwrap_or(Value::Undefined),
        }
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        let vector = match builtin {
            Builtin::Thread => &self.state.at.thread,
            Builtin::Block => &self.state.at.block,
            Builtin::BlockDim => &self.launch.block,
            Builtin::GridDim => &self.launch.grid,
        };
        vector.get(axis).copied()
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        let known = match (when, self.kernel.arrays[array].space) {
            (When::Here, Space::Shared) => self.shared.get(&(array, index)),
            (When::Here, Space::Global) => self.global.get(&(array, index)),
            _ => None,
        };
        known.copied().unwrap_or(Value::Undefined)
    }

    fn tests_claims(&self) -> bool {
        true
    }

    fn other(&self) -> Option<&dyn Environment> {
        self.other.map(|other| other as &dyn Environment)
    }

    fn bound(&self) -> Vec<(VarId, i128)> {
        self.bound.to_vec()
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}

impl<'k> Machine<'k> {
    /// Checks that all threads of a block wait at one barrier, in one iteration, or have all ended. Tests the claims
    /// there, then releases the threads.
    pub(crate) fn check_barrier(&mut self, threads: &mut [State<'k>]) -> Result<(), Halt> {
        self.between_threads.clear();
        let Some(waiting) = threads.iter().position(|state| state.waits.is_some()) else {
            return Ok(());
        };
        let one = &threads[waiting];
        let at = one.waits.unwrap_or_default();
        // Only the counts of the loops around the barrier matter. The counts of other loops are left over from
        // earlier iterations.
        let loops = self.code.enclosing_loops(one.pc);
        let is_at_same_place = |other: &State<'_>| {
            other.pc == one.pc
                && loops.iter().all(|number| other.counts[*number] == one.counts[*number])
        };
        if let Some(other) = threads.iter().find(|other| other.ended || !is_at_same_place(other)) {
            let (thread, elsewhere) = (one.at, other.waits);
            return Err(Halt::Event(Box::new(Event::Divergence {
                at,
                thread,
                other: other.at,
                elsewhere,
            })));
        }
        self.test_claims(threads)?;
        for state in threads {
            state.waits = None;
            state.claims.clear();
        }
        Ok(())
    }

    /// Tests the claims at the barrier that all threads of a block have reached.
    fn test_claims(&mut self, threads: &[State<'_>]) -> Result<(), Halt> {
        let claims = threads.first().map_or(&[][..], |one| &one.claims);
        if claims.is_empty() || !self.events.is_empty() || self.rounding.decides() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.all_contents_drawn, true) {
            // Elements that were not read yet have their initial contents.
            self.contents();
        }
        match claims.iter().copied().flatten().find_map(|claim| self.failed_claim(claim, threads)) {
            Some(event) => Err(Halt::Event(Box::new(event))),
            None => Ok(()),
        }
    }

    fn failed_claim(&self, claim: &Claim, threads: &[State<'_>]) -> Option<Event> {
        if !spec::has_other(&claim.condition) {
            let limit = if is_same_for_all_threads(claim) { 1 } else { MAX_THREADS };
            return threads
                .iter()
                .take(limit)
                .find_map(|one| first_failure(claim, &self.view_at_barrier(one, None)));
        }
        let mut pairs = 0;
        for one in threads {
            for two in threads.iter().filter(|two| two.at != one.at) {
                pairs += 1;
                if pairs > MAX_PAIRS {
                    return None;
                }
                let second = self.view_at_barrier(two, None);
                let first = self.view_at_barrier(one, Some(&second));
                let event = first_failure(claim, &first);
                if event.is_some() {
                    return event;
                }
            }
        }
        None
    }
}

impl Machine<'_> {
    fn view_at_barrier<'m>(
        &'m self,
        state: &'m State<'m>,
        other: Option<&'m PairAtBarrier<'m>>,
    ) -> PairAtBarrier<'m> {
        let (kernel, launch) = (self.kernel, self.launch);
        let (global, shared) = (&self.global, &self.shared);
        PairAtBarrier { kernel, launch, state, other, global, shared, bound: &[] }
    }
}

/// Returns `true` if a claim is the same for all threads: it mentions no variables but its bound ones, and not
/// `threadIdx`.
fn is_same_for_all_threads(claim: &Claim) -> bool {
    let depends_on_thread = |inner: &Expr| match inner.kind {
        ExprKind::Var(var) => !claim.forall.contains(&var),
        ExprKind::Builtin(builtin, _) => builtin == Builtin::Thread,
        _ => false,
    };
    spec::find(&claim.condition, depends_on_thread).is_none()
}

/// Returns the event of the first case in which a claim fails.
fn first_failure(claim: &Claim, view: &PairAtBarrier<'_>) -> Option<Event> {
    spec::goals(claim).iter().find_map(|goal| {
        let mut found = None;
        // Without a range there is nothing to test.
        let _ = for_each_in_ranges(&claim.forall, &goal.assumed, view, &mut |bound| {
            let env = PairAtBarrier { bound, ..*view };
            let holds = goal.assumed.iter().all(|one| truth(one, &env) == Ok(true));
            if holds && truth(&goal.goal, &env) == Ok(false) {
                found = Some(event(claim, &goal.goal, &env));
            }
            Ok(found.is_none())
        });
        found
    })
}

fn event(claim: &Claim, goal: &Expr, env: &PairAtBarrier<'_>) -> Event {
    let mut observed = (None, None, None);
    if let ExprKind::Compare(_, left, right) = &goal.kind {
        let (actual, expected) =
            if element(left, env).is_some() { (left, right) } else { (right, left) };
        let value = |one: &Expr| evaluate(one, env, false).ok();
        observed = (element(actual, env), value(actual), value(expected));
    }
    let (element, got, want) = observed;
    let (span, at) = (claim.span, env.bound.to_vec());
    let (thread, other) = (env.state.at, env.other.map(|other| other.state.at));
    Event::Barrier { span, thread, other, at, element, got, want }
}

/// Returns the first element that an expression mentions.
fn element(expr: &Expr, env: &PairAtBarrier<'_>) -> Option<(ArrayId, Vec<i128>)> {
    match &expr.kind {
        ExprKind::Convert(inner) => element(inner, env),
        ExprKind::Binary(_, left, right) => element(left, env).or_else(|| element(right, env)),
        ExprKind::Element(array, When::Here, index) => {
            let at = |one: &Expr| -> Result<i128, EvaluationError> {
                evaluate(one, env, true)?.number().ok_or(EvaluationError::Undefined)
            };
            let index: Result<Vec<i128>, EvaluationError> = index.iter().map(at).collect();
            Some((*array, index.ok()?))
        }
        _ => None,
    }
}
