//! Proves the array clauses of loops by induction, one loop at a time: a clause must hold before the loop, and after an
//! arbitrary iteration if all clauses of the loop hold at its beginning.
//!
//! A clause that cannot be proved is dropped, and the clauses whose proofs used it are proved again.

use super::super::extremes::single_fold;
use super::super::finiteness::Finiteness;
use super::super::instance::Instance;
use super::super::resolve::{Moment, Resolver, TotalUnderProof, Unresolved, too_large};
use super::super::value::{Atom, Entry, Point, Value};
use crate::clause::Monoid;
use crate::engine::values::kernel_summary::{ClauseAtPoint, KernelSummary, LoopRecord};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::Span;
use kir::ArrayId;

/// Limit on the cases of one clause.
const MAX_CASES: usize = 24;

/// Results for the clauses of loops.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ClauseResults {
    /// The clauses that hold, by their numbers.
    pub(in super::super) kept: Vec<usize>,
    /// The clauses that do not, with the place and the reason.
    pub(in super::super) dropped: Vec<(usize, Option<Span>, String)>,
}

/// The goal that a clause holds at a point.
#[derive(Clone)]
struct Goal {
    array: ArrayId,
    /// The operation of a total.
    total: Option<Monoid>,
    at: ClauseAtPoint,
    /// For a total at the end of an iteration: the total at its head, and that point.
    head: Option<(ClauseAtPoint, Point)>,
    known: Vec<Formula>,
    moment: Moment,
}

impl Resolver {
    /// Drops clauses that do not hold, until the remaining ones do.
    pub(in super::super) fn prove_loop_clauses(
        &mut self,
        side: usize,
        clauses: usize,
    ) -> ClauseResults {
        let mut results = ClauseResults::default();
        let loops = self.sides[side].loops.iter();
        let read: Vec<usize> =
            loops.flat_map(|one| one.clauses.iter().map(|clause| clause.number)).collect();
        for number in (0..clauses).filter(|number| !read.contains(number)) {
            let why = "part of it is not supported, or differs between the threads of a block";
            results.dropped.push((number, None, why.to_owned()));
        }
        // A loop inside another is proved with the clauses of both.
        while self.drop_wrong(side, &mut results) {}
        let clauses = self.sides[side].loops.iter().flat_map(|one| &one.clauses);
        results.kept = clauses.map(|clause| clause.number).collect();
        results
    }

    /// Drops clauses that do not hold. Returns `true` if other clauses may have been proved from a dropped one.
    fn drop_wrong(&mut self, side: usize, results: &mut ClauseResults) -> bool {
        let mut again = false;
        for record in 0..self.sides[side].loops.len() {
            let mut at = 0;
            while at < self.sides[side].loops[record].clauses.len() {
                let failure = self.failure_of_clause(side, record, at);
                let clauses = &mut self.sides[side].loops[record].clauses;
                let Some((span, message)) = failure else {
                    at += 1;
                    continue;
                };
                // The other clauses were proved from this one, so they are proved again.
                let clause = clauses.remove(at);
                results.dropped.push((clause.number, span, message));
                at = 0;
                let nested = |one: &LoopRecord| !one.outer.is_empty();
                again |= self.sides[side].loops.iter().any(nested);
            }
        }
        again
    }

    /// Returns why a clause of a loop does not hold before it, or after an iteration.
    fn failure_of_clause(
        &mut self,
        side: usize,
        record: usize,
        at: usize,
    ) -> Option<(Option<Span>, String)> {
        let loop_record = self.sides[side].loops[record].clone();
        let clause = loop_record.clauses[at].clone();
        let (array, total) = (clause.array, clause.total);
        let moment = self.moment(side, loop_record.position.clone(), loop_record.outer.clone());
        let known = loop_record.before.clone();
        let goal = Goal { array, total, at: clause.entry, head: None, known, moment };
        if let Err((span, message)) = self.holds_at_first(goal) {
            return Some((span, format!("that this holds before the loop: {message}")));
        }
        // If no iteration reaches its end, there is nothing more to prove.
        let end = clause.end?;
        let moment = self.end_of_iteration(side, &loop_record);
        let total = self.sides[side].loops[record].clauses[at].total.clone();
        let head = total.is_some().then(|| (clause.head, Self::head_of_iteration(&loop_record)));
        let known = loop_record.within.iter().chain(&loop_record.before).cloned().collect();
        let goal = Goal { array, total, at: end, head, known, moment };
        let outer = self.copies.clone();
        self.case_values = loop_record.rewrites;
        self.symbolic_entry = Some((side, loop_record.position));
        let head = goal.head.as_ref().map(|(_, point)| point.clone());
        self.total_under_proof =
            head.map(|head| TotalUnderProof { side, number: clause.number, head });
        let held = self.holds(goal);
        (self.symbolic_entry, self.total_under_proof) = (None, None);
        self.case_values.clear();
        self.copies = outer;
        match held {
            Ok(()) => None,
            Err((span, message)) => {
                Some((span, format!("that this holds after an iteration: {message}")))
            }
        }
    }

    /// Proves a clause before its loop. If the clause refers to the contents on entry to the loop, they stay symbolic
    /// in the first attempt.
    fn holds_at_first(&mut self, goal: Goal) -> Result<(), (Option<Span>, String)> {
        let mut relative = false;
        goal.at.value.visit(&mut |atom| relative |= matches!(atom, Atom::Entry(_)));
        if relative {
            self.symbolic_entry = Some((goal.moment.side, goal.moment.point.position.clone()));
            let held = self.holds(goal.clone());
            self.symbolic_entry = None;
            if held.is_ok() {
                return held;
            }
        }
        self.holds(goal)
    }

    /// Returns the moment at a point of the kernel, for an arbitrary block and arbitrary iterations of the loops
    /// around it: each symbol has itself as its value.
    fn moment(&self, side: usize, position: Vec<usize>, loops: Vec<(usize, Sym)>) -> Moment {
        let counts = loops.iter().map(|(_, count)| Poly::symbol(*count)).collect();
        let mut who = Instance::default();
        let around = loops.iter().map(|(_, count)| count);
        for digit in self.sides[side].blocks.iter().chain(around) {
            who.digits.insert(*digit, Poly::symbol(*digit));
        }
        Moment { side, point: Point { position, loops }, counts, who, span: None }
    }

    /// Returns the moment at the end of an iteration.
    fn end_of_iteration(&self, side: usize, record: &LoopRecord) -> Moment {
        let mut loops = record.outer.clone();
        loops.push((record.position.len() - 1, record.count));
        let mut position = record.position.clone();
        position.extend([2, usize::MAX]);
        self.moment(side, position, loops)
    }

    /// Proves a clause at a point. First splits into cases by the order of its powers of two and those of the kernel.
    fn holds(&mut self, goal: Goal) -> Result<(), (Option<Span>, String)> {
        let mut goal = goal;
        goal.known.extend(goal.at.when.iter().cloned());
        let mut cases = MAX_CASES;
        let levels = goal.at.levels.clone();
        if levels.is_empty() {
            return self.clause_in_cases(&goal, &mut cases);
        }
        if self.prover.proves(&goal.known, &Formula::False) {
            return Ok(());
        }
        let terms = self.power_terms(&goal);
        self.split_by_powers(goal, &levels, &terms, &mut cases)
    }

    /// Collects the powers of two in the indices of stores to the array.
    fn power_terms(&mut self, goal: &Goal) -> Vec<Sym> {
        let around = &goal.moment.point.loops;
        let mut polys: Vec<Poly> = Vec::new();
        for site in self.sides[goal.moment.side]
            .sites
            .clone()
            .iter()
            .filter(|site| site.array == goal.array)
        {
            let same = around.iter().zip(&site.point.loops).all(|((depth, _), (other, _))| {
                depth == other
                    && goal.moment.point.position.get(..=*depth)
                        == site.point.position.get(..=*depth)
            });
            if same && site.point.loops.len() == around.len() {
                polys.extend(site.index.iter().cloned());
            }
        }
        let mut terms: Vec<Sym> = Vec::new();
        let who = goal.moment.who.clone();
        for poly in polys {
            let Some(poly) = self.poly(&poly, &who) else { continue };
            for sym in poly.symbols() {
                let level = self.prover.symbols.get(sym).level;
                if level <= Level::Block
                    && !terms.contains(&sym)
                    && self.is_power_symbol(sym, &goal.known)
                {
                    terms.push(sym);
                }
            }
        }
        terms
    }

    /// Splits a goal into cases by the order of the clause's powers of two and the kernel's, then shows each case.
    fn split_by_powers(
        &mut self,
        goal: Goal,
        levels: &[Sym],
        terms: &[Sym],
        cases: &mut usize,
    ) -> Result<(), (Option<Span>, String)> {
        let (Some((level, more)), Some((term, rest))) = (levels.split_first(), terms.split_first())
        else {
            return self.clause_in_cases(&goal, cases);
        };
        let (p, q) = (Poly::symbol(*level), Poly::symbol(*term));
        let large = || (None, "a value that is too large".to_owned());
        for order in [-1, 0, 1] {
            let mut case = goal.clone();
            let (scoped, outer) = (self.case_values.len(), self.copies.clone());
            let difference = p.minus(&q).ok_or_else(large)?;
            let condition = match order {
                0 => Some(Formula::eq(difference)),
                1 => difference.offset(-1).map(Formula::ge),
                _ => difference.scaled(-1).and_then(|one| one.offset(-1)).map(Formula::ge),
            };
            case.known.push(condition.ok_or_else(large)?);
            if self.prover.proves(&case.known, &Formula::False) {
                continue;
            }
            let (sym, value) = match order {
                -1 => (*term, self.multiple_of(&p).ok_or_else(large)?.0),
                0 => (*level, q.clone()),
                _ => (*level, self.multiple_of(&q).ok_or_else(large)?.0),
            };
            let equation = Poly::symbol(sym).minus(&value).map(Formula::eq);
            case.at.substitute(sym, &value).ok_or_else(large)?;
            let mut map = |poly: &Poly| poly.substituted(sym, &value);
            for one in &mut case.known {
                *one = one.mapped(&mut map).ok_or_else(large)?;
            }
            if order < 0 {
                // Facts attached to the kernel's symbol still name it, so the equation is kept.
                case.known.extend(equation);
                self.case_values.push((sym, value));
            }
            let (more, rest) = if order < 0 { (levels, rest) } else { (more, terms) };
            let result = self.split_by_powers(case, more, rest, cases);
            self.case_values.truncate(scoped);
            // Facts about copies hold only in their case.
            self.copies = outer;
            result?;
        }
        Ok(())
    }

    /// Proves a clause, splitting it into cases as needed.
    fn clause_in_cases(
        &mut self,
        goal: &Goal,
        cases: &mut usize,
    ) -> Result<(), (Option<Span>, String)> {
        let split = match self.contents_agree(goal) {
            Ok(()) => return Ok(()),
            Err(Unresolved::Split(condition)) => condition,
            Err(Unresolved::Open(span, message)) => {
                // A contradictory case needs no proof.
                return match self.prover.proves(&goal.known, &Formula::False) {
                    true => Ok(()),
                    false => Err((span, message)),
                };
            }
        };
        *cases = cases.saturating_sub(1);
        if *cases == 0 {
            return Err((None, "too many cases".to_owned()));
        }
        if let Some((digit, by)) = self.remainder_of(&split, goal) {
            return self.split_by_remainder(goal, digit, by, cases);
        }
        for condition in [split.clone(), split.not()] {
            let known = self.with_fact(&goal.known, &condition);
            if condition == Formula::False || self.prover.proves_quickly(&known, &Formula::False) {
                continue;
            }
            self.clause_in_cases(&Goal { known, ..goal.clone() }, cases)?;
        }
        Ok(())
    }

    /// Finds a digit of the clause on whose remainder by a small number a condition depends.
    fn remainder_of(&self, condition: &Formula, goal: &Goal) -> Option<(Sym, i128)> {
        condition.symbols().into_iter().find_map(|sym| {
            let (dividend, divisor) = self.quotients.get(&sym)?;
            let by = divisor.as_constant().filter(|by| (2..=4).contains(by))?;
            let digit = dividend.symbols().into_iter().find(|one| goal.at.digits.contains(one))?;
            let powers = dividend.by_powers(digit);
            let [_, factor] = &powers[..] else { return None };
            (factor.as_constant()?.abs() == 1).then_some((digit, by))
        })
    }

    /// Replaces a digit by a multiple of a number plus each possible remainder.
    fn split_by_remainder(
        &mut self,
        goal: &Goal,
        digit: Sym,
        by: i128,
        cases: &mut usize,
    ) -> Result<(), (Option<Span>, String)> {
        let large = || (None, "a value that is too large".to_owned());
        for rest in 0..by {
            let name = self.prover.symbols.get(digit).name.clone();
            let copy = self.prover.symbols.fresh(format!("{name}'"), Level::Thread);
            let value = Poly::symbol(copy).scaled(by).and_then(|one| one.offset(rest));
            let value = value.ok_or_else(large)?;
            let mut case = goal.clone();
            case.at.substitute(digit, &value).ok_or_else(large)?;
            case.at.digits.push(copy);
            let mut map = |poly: &Poly| poly.substituted(digit, &value);
            for one in &mut case.known {
                *one = one.mapped(&mut map).ok_or_else(large)?;
            }
            self.clause_in_cases(&case, cases)?;
        }
        Ok(())
    }

    /// Proves that the contents of an element agree with a clause.
    fn contents_agree(&mut self, goal: &Goal) -> Result<(), Unresolved> {
        if let Some(op) = &goal.total {
            return self.totals_agree(goal, op);
        }
        let index = [self.poly(&goal.at.index, &goal.moment.who).ok_or_else(too_large)?];
        let got = match &self.symbolic_entry {
            // Just before the loop, the element has its contents on entry.
            Some((_, place)) if *place == goal.moment.point.position => {
                let (side, point) = (goal.moment.side, goal.moment.point.clone());
                let around = goal.moment.who.digits.iter();
                let around = around.map(|(digit, value)| (*digit, value.clone())).collect();
                let (array, index) = (goal.array, index.to_vec());
                let finiteness = Finiteness::Finite;
                let entry = Entry { side, point, array, index, around, finiteness };
                Value::atom(Atom::Entry(Box::new(entry)))
            }
            _ => self.element(goal.array, &index, &goal.moment, &goal.known, 0)?,
        };
        let (value, who, side) = (&goal.at.value, &goal.moment.who, goal.moment.side);
        let want = self.instantiate(value, who, side, &goal.known, 0)?;
        let values: Option<Vec<Value>> =
            [got, want].iter().map(|one| self.canonical(one, 0)).collect();
        let Some([got, want]) = values.as_deref() else { return Err(too_large()) };
        if self.equal(got, want, &goal.known) {
            return Ok(());
        }
        let message = self.describe_difference(goal, got, want);
        Err(Unresolved::Open(None, message))
    }

    /// Proves a total before its loop, or after an iteration from that at its head.
    fn totals_agree(&mut self, goal: &Goal, op: &Monoid) -> Result<(), Unresolved> {
        let Goal { array, at, moment, known, .. } = goal;
        let (who, side) = (&moment.who, moment.side);
        let is_before = self.symbolic_entry == Some((side, moment.point.position.clone()));
        let want = self.instantiate(&at.value, who, side, known, 0)?;
        let mut pairs = Vec::new();
        match &goal.head {
            Some((head, point)) => {
                let got = self.total_of_elements(op, (*array, at), moment, known)?;
                let before = (*array, head, point.clone());
                pairs.push((got, self.total_of_symbols(op, before, moment, known)?));
                pairs.push((want, self.instantiate(&head.value, who, side, known, 0)?));
            }
            None if is_before => {
                let here = (*array, at, moment.point.clone());
                pairs.push((self.total_of_symbols(op, here, moment, known)?, want));
            }
            None => pairs.push((self.total_of_elements(op, (*array, at), moment, known)?, want)),
        }
        for (got, want) in pairs {
            let values = [got, want].map(|one| self.canonical(&one, 0));
            let [Some(got), Some(want)] = values else { return Err(too_large()) };
            if !self.equal(&got, &want, known) {
                let (got, want) = (self.short_text(&got), self.short_text(&want));
                let message = format!("the elements make {got} together, not {want}");
                return Err(Unresolved::Open(None, message));
            }
        }
        Ok(())
    }

    fn describe_difference(&mut self, goal: &Goal, got: &Value, want: &Value) -> String {
        let side: &KernelSummary = &self.sides[goal.moment.side];
        let name = &side.names[base::Index::position(goal.array)];
        let place = self.poly_text(&goal.at.index);
        let name = name.clone();
        let swapped = match [got, want].map(|value| single_fold(value)) {
            [Some(got), Some(want)] if !got.op.commutes => {
                let [got, want] = [got, want].map(|fold| {
                    let mut fold = fold.clone();
                    fold.op.commutes = true;
                    fold
                });
                self.equal_folds(&got, &want, &goal.known)
            }
            _ => false,
        };
        let hint = if swapped { ": the operands are in the wrong order" } else { "" };
        let (got, want) = (self.short_text(got), self.short_text(want));
        format!("`{name}[{place}]` holds {got}, not {want}{hint}")
    }
}
