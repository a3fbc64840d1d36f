//! The prover: decides whether a condition follows from others, by identity of polynomials, then vertices, then a
//! solver.
//!
//! Every stage may fail to prove a true condition. `proved` depends on the stages' own arguments and, for the last,
//! on the solver's `unsat`. Answers depend on the query alone, so the same input gives the same answers.

mod equations;
mod premises;
mod staged;

use arith::formula::Formula;
use arith::models;
use arith::poly::{Poly, Sym};
use arith::products::{Effort, bounds_of_quotients};
use arith::symbols::Symbols;
use arith::vertex::Bounds;
use arith::{multiples, reduce};
use smt::{Answer, RLIMIT, Solver};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Limits on the disjunctions to split, and on the cases of one.
const MAX_CHOICES: usize = 3;
const MAX_CASES: usize = 3;
/// Steps of the solver for a guess, and the number of open guesses after which none are sent.
const GUESS_RLIMIT: u64 = 300_000;
const MAX_MISSED: u32 = 60;
/// Queries that may use all steps and still stay open. After that many, queries get only the steps of a guess, which
/// suffice for most of those that can be proved at all.
const MAX_HARD: u32 = 8;
/// Limit on the rounds of simplifying disjunctions.
const MAX_ROUNDS: usize = 3;

/// Number of answers of each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Queries answered without a solver.
    pub without_solver: u64,
    /// Queries that a solver proved.
    pub by_solver: u64,
    /// Queries that remained open.
    pub open: u64,
    /// Intervals whose accesses were confirmed in two ways.
    pub intervals: u64,
}

impl Stats {
    /// Adds the statistics of another proof.
    pub(crate) fn add(&mut self, other: Self) {
        self.without_solver += other.without_solver;
        self.by_solver += other.by_solver;
        self.open += other.open;
    }
}

/// Effort without a solver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Without the assumptions about sizes.
    WithoutSizes,
    Full,
}

/// Symbols, assumptions, the solver, and caches of answers.
pub(crate) struct Prover {
    pub(crate) symbols: Symbols,
    /// Facts about every launch under consideration.
    pub(crate) requires: Vec<Formula>,
    pub(crate) solver: Option<Solver>,
    /// Set once a query was left open because there was no solver.
    pub(crate) missed_solver: bool,
    pub(crate) stats: Stats,
    /// The last query that the solver did not refute, unless it was a guess.
    pub(crate) last_open_query: Option<Vec<Formula>>,
    /// Set if queries are only guesses: they get little effort.
    pub(crate) guesses: bool,
    /// Set if all queries get little effort.
    pub(crate) short_queries: bool,
    /// Number of guesses that the solver did not prove.
    missed: u32,
    /// Number of queries that the solver left open after all steps.
    hard: u32,
    /// Set if the solver found a counterexample to the last query.
    refuted: bool,
    /// Set if two solvers disagree about the last query.
    pub(crate) disputed: bool,
    /// Results of whole queries.
    known: BTreeMap<(Vec<Formula>, Formula), bool>,
    /// Results of `quickly`.
    tried: HashMap<(Vec<Formula>, Formula), bool>,
    /// Results without the solver, each with the number of linear programs that were tried.
    alone: HashMap<(Vec<Formula>, Formula), (bool, u32)>,
    /// Results for premises of facts.
    premises: HashMap<(Vec<Formula>, Formula), bool>,
    models: RefCell<models::Pool>,
}

impl Prover {
    pub(crate) fn new(solver: Option<Solver>) -> Self {
        Self {
            symbols: Symbols::default(),
            requires: Vec::new(),
            solver,
            missed_solver: false,
            stats: Stats::default(),
            last_open_query: None,
            guesses: false,
            short_queries: false,
            missed: 0,
            hard: 0,
            refuted: false,
            disputed: false,
            known: BTreeMap::new(),
            tried: HashMap::new(),
            alone: HashMap::new(),
            premises: HashMap::new(),
            models: RefCell::default(),
        }
    }

    /// Returns `true` if `goal` is proved to follow from `assumed` and all known facts.
    pub(crate) fn proves(&mut self, assumed: &[Formula], goal: &Formula) -> bool {
        match goal {
            Formula::True => return true,
            Formula::And(parts) => return parts.iter().all(|part| self.proves(assumed, part)),
            _ => {}
        }
        if deadline::is_over() {
            return false;
        }
        self.disputed = false;
        let key = (assumed.to_vec(), goal.clone());
        if let Some(answer) = self.known.get(&key) {
            return *answer;
        }
        let all = self.context(assumed, goal);
        let (quick, answer) = self.decide(&all, goal);
        match (quick, answer) {
            (true, _) => self.stats.without_solver += 1,
            (false, true) => self.stats.by_solver += 1,
            (false, false) => self.stats.open += 1,
        }
        // With more effort an open guess may be proved later.
        if answer || !self.guesses {
            self.known.insert(key, answer);
        }
        answer
    }

    /// Returns two truth values: the goal is proved without a solver, and it is proved at all. Most guesses are
    /// wrong, and the solver refutes them fastest, so for guesses it comes early.
    fn decide(&mut self, all: &[Formula], goal: &Formula) -> (bool, bool) {
        if self.guesses && self.solver.is_some() {
            let quick = self.quickly(all, goal, Depth::WithoutSizes);
            let answer = quick || self.solver_proves(all, goal);
            if answer || self.refuted {
                return (quick, answer);
            }
        }
        let quick = self.quickly(all, goal, Depth::Full)
            || self.by_cases(all, goal)
            || self.by_products(all, goal, Effort::LIGHT);
        if quick || self.guesses && self.solver.is_some() {
            return (quick, quick);
        }
        // Failing proofs cost most: a solver finds a counterexample sooner.
        let has_solver = self.solver.is_some();
        if has_solver && self.solver_proves(all, goal) {
            return (false, true);
        }
        if !(has_solver && self.refuted) && self.by_products(all, goal, Effort::FULL) {
            (self.last_open_query, self.disputed) = (None, false);
            return (true, true);
        }
        (false, !has_solver && self.solver_proves(all, goal))
    }

    /// Returns `true` if the solver proves all of these guesses in one query.
    pub(crate) fn proves_together(&mut self, assumed: &[Formula], goals: &[Formula]) -> bool {
        if self.solver.is_none() {
            return false;
        }
        let goal = Formula::and(goals.iter().cloned());
        let all = self.context(assumed, &goal);
        self.guesses = true;
        let answer = self.solver_proves(&all, &goal);
        self.guesses = false;
        self.stats.by_solver += u64::from(answer);
        answer
    }

    /// Like `proves`, by bounds and the vertex method alone.
    pub(crate) fn proves_quickly(&mut self, assumed: &[Formula], goal: &Formula) -> bool {
        let all = self.context(assumed, goal);
        self.quickly_cached(all, goal).1
    }

    /// Like `proves`, by all means but the solver.
    pub(crate) fn proves_without_solver(&mut self, assumed: &[Formula], goal: &Formula) -> bool {
        self.proves_with(assumed, goal, Effort::FULL)
    }

    /// Like `proves_without_solver`, with little effort, for goals that need not be proved.
    pub(crate) fn proves_lightly(&mut self, assumed: &[Formula], goal: &Formula) -> bool {
        self.proves_with(assumed, goal, Effort::LIGHT)
    }

    fn proves_with(&mut self, assumed: &[Formula], goal: &Formula, effort: Effort) -> bool {
        match goal {
            Formula::True => return true,
            Formula::And(parts) => {
                return parts.iter().all(|part| self.proves_with(assumed, part, effort));
            }
            _ => {}
        }
        let all = self.context(assumed, goal);
        let key = (all, goal.clone());
        if let Some((answer, tried)) = self.alone.get(&key)
            && (*answer || *tried >= effort.programs)
        {
            return *answer;
        }
        let (all, quick) = self.quickly_cached(key.0, goal);
        let answer = quick || self.by_cases(&all, goal) || self.by_products(&all, goal, effort);
        self.alone.insert((all, goal.clone()), (answer, effort.programs));
        answer
    }

    /// Like `quickly`, with cached results. Returns the context `all` as well.
    fn quickly_cached(&mut self, all: Vec<Formula>, goal: &Formula) -> (Vec<Formula>, bool) {
        let key = (all, goal.clone());
        let answer = match self.tried.get(&key) {
            Some(answer) => *answer,
            None => self.quickly(&key.0, goal, Depth::Full),
        };
        self.tried.insert(key.clone(), answer);
        (key.0, answer)
    }

    /// Like `proves_quickly`, without the assumptions about sizes: trying them takes long.
    pub(crate) fn proves_without_sizes(&mut self, assumed: &[Formula], goal: &Formula) -> bool {
        let all = self.context(assumed, goal);
        self.quickly(&all, goal, Depth::WithoutSizes)
    }

    /// Proves without a solver, after solving equations and dividing out common factors.
    pub(crate) fn proves_reduced(&mut self, assumed: &[Formula], goal: &Formula) -> bool {
        let all = self.context(assumed, goal);
        let Some((all, goal)) = reduce::reduce_query(&all, goal) else { return false };
        self.quickly(&all, &goal, Depth::Full) || self.by_cases(&all, &goal)
    }

    /// Collects all usable facts: requirements on the launch, assumptions, facts about symbols.
    fn context(&mut self, assumed: &[Formula], goal: &Formula) -> Vec<Formula> {
        self.context_below(assumed, goal, None)
    }

    /// Like `context`, but only premises about symbols older than `newest` are tried.
    fn context_below(
        &mut self,
        assumed: &[Formula],
        goal: &Formula,
        newest: Option<Sym>,
    ) -> Vec<Formula> {
        let mut all: Vec<Formula> = self.requires.clone();
        for one in assumed {
            all.extend(one.conjuncts().iter().cloned());
        }
        all.push(goal.clone());
        let facts = self.symbols.facts(&all);
        all.pop();
        all.extend(facts);
        let mut all = self.with_premises(simplify_disjunctions(all), assumed, newest);
        all.extend(multiples::derive(&all));
        let bounds = bounds_of_quotients(&all, &|sym| self.symbols.get(sym).is_quotient);
        if bounds.is_empty() {
            return all;
        }
        all.extend(bounds);
        simplify_disjunctions(all)
    }

    /// Proves by bounds and the vertex method.
    fn quickly(&self, all: &[Formula], goal: &Formula, depth: Depth) -> bool {
        if all.contains(&Formula::False) || all.contains(goal) {
            return true;
        }
        let bounds = Bounds::new(all, &self.symbols);
        let nonnegative = |poly: Option<Poly>| {
            poly.is_some_and(|one| match depth {
                Depth::WithoutSizes => bounds.is_nonnegative_without_sizes(&one),
                Depth::Full => bounds.is_nonnegative(&one),
            })
        };
        match goal {
            Formula::True => true,
            Formula::Ge(poly) => nonnegative(Some(poly.clone())),
            Formula::Eq(poly) => nonnegative(Some(poly.clone())) && nonnegative(poly.scaled(-1)),
            Formula::Not(inner) => match &**inner {
                Formula::Eq(poly) => {
                    let below = poly.scaled(-1).and_then(|negative| negative.offset(-1));
                    nonnegative(poly.offset(-1)) || nonnegative(below)
                }
                _ => false,
            },
            Formula::And(parts) => parts.iter().all(|part| self.quickly(all, part, depth)),
            Formula::Or(parts) => parts.iter().any(|part| self.quickly(all, part, depth)),
            Formula::False | Formula::Pow2(_) => false,
        }
    }

    /// Proves without a solver, by the cases of a disjunctive assumption.
    fn by_cases(&self, all: &[Formula], goal: &Formula) -> bool {
        let choices = all.iter().filter_map(|one| match one {
            Formula::Or(parts) if parts.len() <= MAX_CASES => Some(parts),
            _ => None,
        });
        choices.take(MAX_CHOICES).any(|parts| {
            parts.iter().all(|part| {
                let mut with = all.to_vec();
                with.extend(part.conjuncts().iter().cloned());
                self.quickly(&with, goal, Depth::Full) || self.is_quick_contradiction(&with, &[])
            })
        })
    }

    fn solver_proves(&mut self, all: &[Formula], goal: &Formula) -> bool {
        self.refuted = false;
        let Some(solver) = &mut self.solver else {
            self.missed_solver |= !self.guesses;
            return false;
        };
        let short_queries = self.guesses || self.short_queries;
        if short_queries && self.missed > MAX_MISSED {
            return false;
        }
        let mut question = all.to_vec();
        question.push(goal.clone().not());
        let is_short = short_queries || self.hard >= MAX_HARD;
        let limit = if is_short { GUESS_RLIMIT } else { RLIMIT };
        let answer = solver.check(&question, limit);
        self.refuted = answer == Answer::Possible;
        self.disputed = answer == Answer::Disputed && !self.guesses;
        self.missed += u32::from(short_queries && answer == Answer::Unknown);
        self.hard += u32::from(!short_queries && answer == Answer::Unknown);
        if answer != Answer::Impossible && !self.guesses {
            self.last_open_query = Some(question);
        }
        answer == Answer::Impossible
    }
}

/// Simplifies disjunctions by the other assumptions: of `not a or b`, `b` remains if `a` is assumed. Facts that hold
/// on a path become unconditional on that path.
fn simplify_disjunctions(all: Vec<Formula>) -> Vec<Formula> {
    let mut all = all;
    for _ in 0..MAX_ROUNDS {
        let known: BTreeSet<Formula> = all.iter().flat_map(Formula::conjuncts).cloned().collect();
        let impossible = |part: &Formula| {
            part.conjuncts().iter().any(|one| known.contains(&one.clone().not()))
                || matches!(part, Formula::And(_)) && known.contains(&part.clone().not())
        };
        let mut changed = false;
        for one in &mut all {
            let Formula::Or(parts) = one else { continue };
            let left: Vec<Formula> =
                parts.iter().filter(|part| !impossible(part)).cloned().collect();
            if left.len() < parts.len() {
                *one = Formula::or(left);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    all.retain(|one| *one != Formula::True);
    all
}
