//! Proves postconditions and loop invariants on contents, for every launch and size.
//!
//! The element in an equation is looked up backwards through the kernel (`resolve.rs`); the other side is a value
//! already. The two are compared like values of two kernels. As there, the proof presumes that the kernel has no
//! races, divergence, overflow or accesses out of bounds.

use super::arrays::ClauseResults;
use super::claims::Reader;
use super::collect_stores;
use super::instance::Instance;
use super::kernel_equivalence::{MAX_CASES, take};
use super::kernel_summary::{CaseGoal, ClaimCase};
use super::resolve::{Resolver, Unresolved, too_large};
use super::size_cases::{Attempt, Case, in_each_case, start};
use super::value::{Ratio, Value};
use crate::clause::{self, Clause, GivenClauses};
use crate::engine::{Engine, OpenClaim, Property};
use crate::learn;
use crate::prover::Stats;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::Span;
use kir::{Kernel, Type};
use smt::Solver;

/// Reason of a claim that depends on an open invariant.
const DEPENDS_ON_OPEN: &str = "it depends on an invariant that was not proved";

/// Results for postconditions.
#[derive(Debug, Default)]
pub(crate) struct Ensured {
    pub(crate) open: Vec<OpenClaim>,
    /// Places of loop claims; `None` if the claim was proved, else the reason.
    pub(crate) claims: Vec<(Span, Option<String>)>,
    /// Invariants that were inferred and proved, each with the place of its loop.
    pub(crate) learnt: Vec<(Span, String)>,
    pub(crate) stats: Stats,
    pub(crate) missed_solver: bool,
    pub(crate) solver_died: bool,
}

/// Tries to prove every postcondition of a kernel.
pub(crate) fn ensured(
    kernel: &Kernel,
    solver: Option<Solver>,
    infers: bool,
) -> (Ensured, Option<Solver>) {
    let mut all = Ensured::default();
    let GivenClauses { mut clauses, others } = clause::given_clauses(kernel);
    let mut kernel = kernel.clone();
    if infers {
        clauses = learn::with_given(&mut kernel, &clauses);
    }
    all.claims = others.into_iter().map(|(span, why)| (span, Some(why))).collect();
    let solver = in_each_case(solver, |solver, case| {
        in_case((&kernel, &clauses), solver, infers, case, &mut all)
    });
    (all, solver)
}

/// Proves one case of sizes, or returns the cases to distinguish, as for pairs of kernels.
fn in_case(
    (kernel, clauses): (&Kernel, &[(usize, Clause)]),
    solver: Option<Solver>,
    infers: bool,
    case: Option<Case>,
    all: &mut Ensured,
) -> (Attempt, Option<Solver>) {
    let (mut engine, entry) = match start(kernel, solver, infers, case) {
        Ok(started) => started,
        Err(split) => {
            let (cases, solver) = *split;
            return (Attempt::Cases(cases), solver);
        }
    };
    // Only proved lemmas remain at this point.
    engine.lemmas = kernel.lemmas.iter().map(|one| one.span).collect();
    let side = match collect_stores::run(&mut engine, entry.clone(), 0, clauses) {
        Ok(side) => side,
        Err((span, message)) => {
            all.open.push(open(span, message));
            return (Attempt::Open, take(&mut engine).solver);
        }
    };
    let mut reader = Reader::of_end(&mut engine, entry);
    let claims = kernel.ensures.iter();
    let cases: Vec<ClaimCase> = claims.flat_map(|claim| reader.claim_cases(claim)).collect();
    let on_the_way = side.claims.clone();
    let mut resolver = Resolver::new(take(&mut engine), vec![side], &engine.operations);
    resolver.proves_before_splitting = !clauses.is_empty();
    // Clauses of loops come first: the claims that other values depend on are proved with the remaining clauses. The
    // two depend on each other, iteration by iteration. So if an invariant is not proved, neither is anything that
    // depends on it.
    let mut results = resolver.prove_loop_clauses(0, clauses.len());
    let mut sound = true;
    for one in on_the_way.iter().filter(|one| one.is_used) {
        let failure = resolver.prove_case(one, &mut engine).err().map(|(_, message)| message);
        sound &= failure.is_none();
        all.record_claim(one.span, failure);
    }
    if !sound {
        let left = std::mem::take(&mut results.kept).into_iter();
        results.dropped.extend(left.map(|one| (one, None, DEPENDS_ON_OPEN.to_owned())));
    }
    all.record_clauses(clauses, &results);
    for one in on_the_way.iter().filter(|one| !one.is_used) {
        let failure = match sound {
            true => resolver.prove_case(one, &mut engine).err().map(|(_, message)| message),
            false => Some(DEPENDS_ON_OPEN.to_owned()),
        };
        all.record_claim(one.span, failure);
    }
    for one in &cases {
        let result = match sound {
            true => resolver.prove_case(one, &mut engine),
            false => Err((None, format!("this claim: {DEPENDS_ON_OPEN}"))),
        };
        if let Err((span, message)) = result {
            all.open.push(open(span.unwrap_or(one.span), message));
        }
    }
    let prover = resolver.prover;
    all.stats.add(prover.stats);
    all.missed_solver |= prover.missed_solver;
    all.solver_died |= prover.solver.as_ref().is_some_and(Solver::is_dead);
    (Attempt::ended(all.open.is_empty()), prover.solver)
}

impl Ensured {
    /// Records the result for a loop claim: `None` if it was proved, else the reason. One failure is final. Claims of
    /// one annotation share its span, and those at one head are recorded together: a failure of one fails them all.
    fn record_claim(&mut self, span: Span, why: Option<String>) {
        let unread = |(one, why): &(Span, Option<String>)| {
            *one == span && why.as_deref() == Some(clause::NO_CLAUSE)
        };
        self.claims.retain(|one| !unread(one));
        match (self.claims.iter_mut().find(|(one, _)| *one == span), why) {
            (Some((_, known @ None)), Some(why)) => *known = Some(why),
            (Some(_), _) => {}
            (None, why) => self.claims.push((span, why)),
        }
    }

    /// Records the loop clauses that were proved.
    fn record_clauses(&mut self, clauses: &[(usize, Clause)], results: &ClauseResults) {
        for (number, (_, clause)) in clauses.iter().enumerate() {
            let why = results.dropped.iter().find(|(one, ..)| *one == number);
            let why = why.map(|(_, _, message)| message.clone());
            match (&clause.text, why) {
                (Some(text), None) => {
                    let learnt = (clause.span, text.clone());
                    if !self.learnt.contains(&learnt) {
                        self.learnt.push(learnt);
                    }
                }
                (Some(_), Some(_)) => {}
                (None, why) => self.claims.push((clause.span, why)),
            }
        }
    }
}

fn open(span: Span, message: String) -> OpenClaim {
    OpenClaim { property: Property::Postcondition, span, other: None, message }
}

/// Returns `true` if two integers of a type differ by a multiple of 2^bits, so that they are equal in the type.
fn is_multiple(values: &[Value], ty: Type) -> bool {
    let (Type::Int { bits, .. }, [one, other]) = (ty, values) else { return false };
    let modulus = 1i128 << bits;
    let is_multiple_of_modulus = |ratio: &Ratio| ratio.bottom == 1 && ratio.top % modulus == 0;
    one.minus(other).is_some_and(|difference| difference.terms.values().all(is_multiple_of_modulus))
}

impl Resolver {
    /// Proves a case of a claim; on failure returns where and why.
    pub(super) fn prove_case(
        &mut self,
        case: &ClaimCase,
        engine: &mut Engine<'_>,
    ) -> Result<(), (Option<Span>, String)> {
        if let CaseGoal::Nothing(why) = &case.wanted {
            return Err((None, format!("this claim: {why}")));
        }
        let who = match &case.counts {
            Some(counts) => {
                let side = &self.sides[case.side];
                let digits = side.blocks.iter().chain(&side.threads).chain(counts);
                let digits: Vec<Sym> = digits.copied().collect();
                self.arbitrary_instance(&digits, &Instance::default())
            }
            None => Instance::default(),
        };
        let (who, other) = self.with_other_thread(who, case);
        let large = || (None, "this claim: a value is too large".to_owned());
        for (known, goal, name) in &case.inside {
            let known: Option<Vec<Formula>> =
                known.iter().map(|one| self.formula(one, &who)).collect();
            let goal = self.formula(goal, &who).ok_or_else(large)?;
            if !self.proves(&known.ok_or_else(large)?, &goal) {
                return Err((None, format!("that this names only elements of `{name}`")));
            }
        }
        let known = case.known.iter().map(|one| self.formula(one, &who));
        let known = known.collect::<Option<Vec<Formula>>>().ok_or_else(large)?;
        self.claim_tests.clear();
        for test in &case.tests {
            let Some(difference) = self.compared_difference(test, &who, case.side, &known) else {
                continue;
            };
            let sym = self.poly(&Poly::symbol(test.sym), &who).and_then(|one| one.as_symbol());
            self.claim_tests.extend(sym.map(|sym| (sym, test.compare, difference)));
        }
        let result = self.prove_goal(&case.wanted, (&who, &other, case.side), &known, engine);
        self.claim_tests.clear();
        result
    }

    /// Returns the threads of a pair: the other one is in the same block and the same iterations.
    fn with_other_thread(&mut self, who: Instance, case: &ClaimCase) -> (Instance, Instance) {
        if case.second.is_empty() {
            return (who, Instance::default());
        }
        let threads = self.sides[case.side].threads.clone();
        let other = self.arbitrary_instance(&threads, &who);
        let mut both = who;
        for (sym, copy) in &case.second {
            if let Some(value) = self.poly(&Poly::symbol(*sym), &other) {
                both.digits.insert(*copy, value);
            }
        }
        (both, other)
    }

    /// Proves a goal for this instance; on failure returns where and why.
    fn prove_goal(
        &mut self,
        wanted: &CaseGoal,
        (who, other, side): (&Instance, &Instance, usize),
        known: &[Formula],
        engine: &mut Engine<'_>,
    ) -> Result<(), (Option<Span>, String)> {
        let large = || (None, "this claim: a value is too large".to_owned());
        match wanted {
            CaseGoal::Either(all) => {
                let mut refused = None;
                for one in all {
                    match self.prove_goal(one, (who, other, side), known, engine) {
                        Ok(()) => return Ok(()),
                        Err(why) => refused = refused.or(Some(why)),
                    }
                }
                Err(refused.unwrap_or_else(large))
            }
            CaseGoal::Equal(left, right, ty) => {
                let prove = &mut |resolver: &mut Self, known: &[Formula]| {
                    let agreed = resolver.values_agree([left, right], *ty, (who, side), known);
                    agreed.map_err(|stop| (0, stop))
                };
                let mut cases = MAX_CASES;
                let result = self.in_cases(known, &mut cases, prove);
                result.map_err(|(_, span, message)| (span, message))
            }
            CaseGoal::Holds(goal) => {
                let goal = self.formula(goal, who).ok_or_else(large)?;
                match self.proves(known, &goal) {
                    true => Ok(()),
                    false => Err((None, format!("this claim: {}", self.formula_text(&goal)))),
                }
            }
            CaseGoal::Relates(goal, elements) => {
                let goal = self.formula(goal, who).ok_or_else(large)?;
                let prove = &mut |resolver: &mut Self, known: &[Formula]| {
                    let result =
                        resolver.relates(engine, (&goal, elements), (who, other, side), known);
                    result.map_err(|stop| (0, stop))
                };
                let mut cases = MAX_CASES;
                let result = self.in_cases(known, &mut cases, prove);
                result.map_err(|(_, span, message)| (span, message))
            }
            CaseGoal::Nothing(_) => Ok(()),
        }
    }

    fn values_agree(
        &mut self,
        both: [&Value; 2],
        ty: Type,
        (who, side): (&Instance, usize),
        known: &[Formula],
    ) -> Result<(), Unresolved> {
        let mut values = Vec::new();
        for one in both {
            let value = self.instantiate(one, who, side, known, 0)?;
            values.push(self.canonical(&value, 0).ok_or_else(too_large)?);
        }
        if is_multiple(&values, ty) || self.equal(&values[0], &values[1], known) {
            return Ok(());
        }
        let (got, want) = (self.short_text(&values[0]), self.short_text(&values[1]));
        Err(Unresolved::Open(None, format!("this claim: got {got}, want {want}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::values::value::Atom;

    fn int(bits: u8) -> Type {
        Type::Int { bits, signed: true }
    }

    #[test]
    fn integers_are_equal_modulo_their_width() {
        let n = Value::atom(Atom::Scalar("a".to_owned()));
        let plus = |value: &Value| n.plus(value).unwrap();
        let times = |ratio: Ratio| {
            let mut value = Value::default();
            value.add(vec![(Atom::Scalar("b".to_owned()), 1)], ratio).unwrap();
            value
        };
        let integer = |top: i128| Ratio { top, bottom: 1 };
        let is = |value: &Value, ty| is_multiple(&[plus(value), n.clone()], ty);
        for multiple in [0, 1 << 32, -(1 << 32), 3 << 32] {
            assert!(is(&Value::constant(multiple), int(32)), "{multiple}");
            if multiple != 0 {
                assert!(is(&times(integer(multiple)), int(32)), "{multiple}");
            }
        }
        for other in [1, -1, 1 << 31, (1 << 32) + 1] {
            assert!(!is(&Value::constant(other), int(32)), "{other}");
            assert!(!is(&times(integer(other)), int(32)), "{other}");
        }
        assert!(!is(&Value::constant(1 << 32), int(64)) && is(&Value::constant(1 << 64), int(64)));
        // A part of a multiple, and one summand of two.
        assert!(!is(&times(Ratio { top: 1 << 32, bottom: 3 }), int(32)));
        let mixed = times(integer(1 << 32)).plus(&Value::constant(1)).unwrap();
        assert!(!is(&mixed, int(32)));
        assert!(!is(&Value::constant(1 << 32), Type::Float));
    }
}
