//! The search for a refutation: solves equations, forms products in stages, and splits cases if that fails.

use super::certificate::{Certificate, Hypotheses};
use super::program::{self, Entry, Source};
use crate::poly::{Monomial, Poly, Sym, divided, multiplied as product};
use deadline::tick;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The largest degree of a product.
const MAX_DEGREE: u32 = 4;
/// Limit on the products of three.
const MAX_TRIPLES: usize = 800;
/// Limit on the polynomials to split at.
const MAX_CUTS: usize = 4;

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Number of assumptions used, those closest to the goal.
    pub assumptions: usize,
    /// Products in the largest program.
    pub products: usize,
    /// Depth of nested case splits.
    pub depth: u32,
    /// Linear programs.
    pub programs: u32,
}

impl Effort {
    /// For a claim of a proof.
    pub const FULL: Self = Self { assumptions: 48, products: 500, depth: 2, programs: 40 };
    /// Without products.
    pub const LINEAR: Self = Self { depth: 0, programs: 1, ..Self::FULL };
    /// Proves most of what `FULL` proves, and gives up after a tenth of its time.
    pub const LIGHT: Self = Self { depth: 0, programs: 3, ..Self::FULL };
}

/// Looks for a refutation. The last of `at_least` is the negated goal: if there are many assumptions, only those are
/// used that share symbols with it, directly or through others.
pub fn refutation(known: &Hypotheses, effort: Effort) -> Option<Certificate> {
    let mut search = Search { effort, programs: effort.programs };
    let found = search.refute(known, effort.depth)?;
    found.refutes(known).then_some(found)
}

struct Search {
    effort: Effort,
    /// Remaining number of programs.
    programs: u32,
}

impl Search {
    /// Refutes assumptions: by an equation without a solution, by a negative constant, after solving an equation, and
    /// at last by sums and cases.
    fn refute(&mut self, known: &Hypotheses, depth: u32) -> Option<Certificate> {
        tick();
        if let Some(equation) = equation_without_solution(known) {
            return Some(Certificate::Divisor { equation });
        }
        if let Some(at) = known.at_least.iter().position(is_negative) {
            let entry =
                Entry { source: Source::Product(vec![at]), poly: known.at_least[at].clone() };
            return program::find_sum(&[entry]);
        }
        if let Some((equation, sym, solved)) = equation_to_solve(known) {
            let then = Box::new(self.refute(&solved, depth)?);
            return Some(Certificate::Solved { equation, sym, then });
        }
        if let Some((sym, by, sheared)) = symbol_to_shift(known) {
            let then = Box::new(self.refute(&sheared, depth)?);
            return Some(Certificate::Shifted { sym, by, then });
        }
        self.refute_by_sum(known).or_else(|| self.refute_by_cases(known, depth))
    }

    /// Tries weighted sums of assumptions and of their products, in stages: the assumptions alone, then products
    /// without a new monomial, then products with some monomial that occurs.
    fn refute_by_sum(&mut self, known: &Hypotheses) -> Option<Certificate> {
        let nearest = nearest_assumptions(known, self.effort.assumptions);
        let mut entries: Vec<Entry> =
            nearest.iter().map(|at| assumption_alone(known, *at)).collect();
        entries.extend(multiples(known));
        if let Some(found) = self.solve_program(&entries) {
            return Some(found);
        }
        let occurring = occurring(known);
        if occurring.is_empty() {
            return None;
        }
        let mut products = pairs(known, &nearest, &occurring);
        if occurring.iter().any(|one| degree(one) > 2) {
            products.extend(triples(known, &nearest, &products, &occurring));
        }
        let occurs = |one: &Monomial| occurring.contains(one);
        let (inside, outside): (Vec<Entry>, Vec<Entry>) =
            products.into_iter().partition(|entry| nonlinear(&entry.poly).all(occurs));
        let meeting = outside.into_iter().filter(|entry| nonlinear(&entry.poly).any(occurs));
        for more in [inside, meeting.collect()] {
            let room = self.effort.products.saturating_sub(entries.len());
            let before = entries.len();
            entries.extend(more.into_iter().take(room));
            if entries.len() > before
                && let Some(found) = self.solve_program(&entries)
            {
                return Some(found);
            }
        }
        None
    }

    fn solve_program(&mut self, entries: &[Entry]) -> Option<Certificate> {
        self.programs = self.programs.checked_sub(1)?;
        program::find_sum(entries)
    }

    /// Splits by the sign of candidate polynomials.
    fn refute_by_cases(&mut self, known: &Hypotheses, depth: u32) -> Option<Certificate> {
        let deeper = depth.checked_sub(1)?;
        for poly in cut_candidates(known) {
            let Some(cases) = known.cut(&poly) else { continue };
            let found: Option<Vec<Certificate>> =
                cases.iter().map(|case| self.refute(case, deeper)).collect();
            if let Some(found) = found.and_then(|found| <[Certificate; 3]>::try_from(found).ok()) {
                return Some(Certificate::Cut { poly, cases: Box::new(found) });
            }
        }
        None
    }
}

fn is_negative(poly: &Poly) -> bool {
    poly.as_constant().is_some_and(|value| value < 0)
}

/// An equation that no integers satisfy.
fn equation_without_solution(known: &Hypotheses) -> Option<usize> {
    known.equal.iter().position(|poly| match poly.content() {
        0 => poly.constant_term() != 0,
        content => poly.constant_term() % content != 0,
    })
}

/// An equation that determines a symbol: the newest symbol of the shortest equation.
fn equation_to_solve(known: &Hypotheses) -> Option<(usize, Sym, Hypotheses)> {
    let mut order: Vec<usize> = (0..known.equal.len()).collect();
    order.sort_by_key(|at| known.equal[*at].terms().count());
    for equation in order {
        for sym in known.equal[equation].symbols().into_iter().rev() {
            if let Some(solved) = known.with_symbol_solved(equation, sym) {
                return Some((equation, sym, solved));
            }
        }
    }
    None
}

/// A symbol of a linear equation to shift, so that the others have smaller coefficients. This is a step of Euclid's
/// algorithm, at whose end the equation determines a symbol.
fn symbol_to_shift(known: &Hypotheses) -> Option<(Sym, Poly, Hypotheses)> {
    known.equal.iter().find_map(|poly| {
        if nonlinear(poly).next().is_some() {
            return None;
        }
        let symbols: Vec<(Sym, i128)> =
            poly.terms().filter_map(|(monomial, by)| Some((monomial.first()?.0, by))).collect();
        let (least, by) = *symbols.iter().min_by_key(|(_, by)| by.unsigned_abs())?;
        let mut elsewhere = Poly::default();
        for (sym, other) in symbols.iter().filter(|(sym, _)| *sym != least) {
            let quotient = other.checked_div_euclid(by)?;
            elsewhere = elsewhere.minus(&Poly::symbol(*sym).scaled(quotient)?)?;
        }
        (!elsewhere.is_zero()).then_some((
            least,
            elsewhere.clone(),
            known.with_symbol_shifted(least, &elsewhere)?,
        ))
    })
}

/// The column of an assumption that is not multiplied.
fn assumption_alone(known: &Hypotheses, at: usize) -> Entry {
    Entry { source: Source::Product(vec![at]), poly: known.at_least[at].clone() }
}

/// Equations, unchanged and times each of their symbols.
fn multiples(known: &Hypotheses) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (equation, poly) in known.equal.iter().enumerate() {
        let symbols = poly.symbols();
        let by = symbols.iter().map(|sym| Monomial::from_elem((*sym, 1), 1));
        for by in std::iter::once(Monomial::new()).chain(by) {
            if let Some(poly) = poly.times(&Poly::monomial(by.clone(), 1)) {
                entries.push(Entry { source: Source::Multiple(equation, by), poly });
            }
        }
    }
    entries
}

/// Positions of the assumptions closest to the last one, by shared symbols, at most `most`.
fn nearest_assumptions(known: &Hypotheses, most: usize) -> Vec<usize> {
    let all = &known.at_least;
    if all.len() <= most {
        return (0..all.len()).collect();
    }
    let mut reached: BTreeSet<Sym> = all.last().map(Poly::symbols).unwrap_or_default();
    let (mut near, mut left): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..all.len()).collect());
    while near.len() < most && !left.is_empty() {
        let touches = |at: &usize| all[*at].mentioned().any(|sym| reached.contains(&sym));
        let (mut next, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|at| touches(at));
        if next.is_empty() {
            break;
        }
        next.sort_by_key(|at| all[*at].terms().count());
        next.truncate(most - near.len());
        reached.extend(next.iter().flat_map(|at| all[*at].mentioned()));
        near.extend(next);
        left = rest;
    }
    near.sort_unstable();
    near
}

fn degree(monomial: &Monomial) -> u32 {
    monomial.iter().map(|(_, power)| power).sum()
}

fn nonlinear(poly: &Poly) -> impl Iterator<Item = &Monomial> {
    poly.terms().map(|(monomial, _)| monomial).filter(|monomial| degree(monomial) > 1)
}

/// The products of symbols that occur.
fn occurring(known: &Hypotheses) -> BTreeSet<Monomial> {
    known.at_least.iter().chain(&known.equal).flat_map(nonlinear).cloned().collect()
}

/// Products of two assumptions, if a term of one times a term of the other is a part of an occurring product. The
/// simplest come first.
fn pairs(known: &Hypotheses, near: &[usize], occurring: &BTreeSet<Monomial>) -> Vec<Entry> {
    let parts = parts(occurring);
    let terms = |at: usize| known.at_least[at].terms().map(|(monomial, _)| monomial);
    let shares_product = |one: usize, other: usize| {
        terms(one).any(|a| {
            terms(other).any(|b| product(a, b).is_some_and(|product| parts.contains(&product)))
        })
    };
    let mut pairs = Vec::new();
    for (number, one) in near.iter().enumerate() {
        let single = assumption_alone(known, *one);
        let others = near[number..].iter().filter(|other| shares_product(*one, **other));
        pairs.extend(others.filter_map(|other| times_assumption(known, &single, *other)));
    }
    sort(&mut pairs);
    pairs
}

/// Products of two or more symbols that divide an occurring product, including that product.
fn parts(occurring: &BTreeSet<Monomial>) -> FxHashSet<Monomial> {
    let mut parts: FxHashSet<Monomial> = FxHashSet::default();
    let mut waiting: Vec<Monomial> = occurring.iter().cloned().collect();
    while let Some(one) = waiting.pop() {
        if degree(&one) < 2 || !parts.insert(one.clone()) {
            continue;
        }
        waiting.extend(one.iter().filter_map(|(sym, _)| divided(&one, &[(*sym, 1)])));
    }
    parts
}

/// Products of three assumptions: one of `pairs` whose nonlinear terms are all parts of occurring products, and a later
/// assumption.
fn triples(
    known: &Hypotheses,
    near: &[usize],
    pairs: &[Entry],
    occurring: &BTreeSet<Monomial>,
) -> Vec<Entry> {
    let parts = parts(occurring);
    let is_part = |one: &Monomial| parts.contains(one);
    let mut triples = Vec::new();
    for pair in pairs.iter().filter(|pair| nonlinear(&pair.poly).all(is_part)) {
        let Source::Product(factors) = &pair.source else { continue };
        let last = factors.last().copied().unwrap_or_default();
        let next = near.iter().filter(|at| **at >= last);
        triples.extend(next.filter_map(|at| times_assumption(known, pair, *at)));
        if triples.len() > MAX_TRIPLES {
            break;
        }
    }
    sort(&mut triples);
    triples
}

/// Multiplies a product by one more assumption.
fn times_assumption(known: &Hypotheses, product: &Entry, by: usize) -> Option<Entry> {
    let (a, b) = (&product.poly, &known.at_least[by]);
    let Source::Product(factors) = &product.source else { return None };
    let factors = factors.iter().copied().chain([by]).collect();
    if highest(a) + highest(b) > MAX_DEGREE {
        return None;
    }
    Some(Entry { source: Source::Product(factors), poly: a.times(b)? })
}

/// Sorts entries, the simplest first.
fn sort(entries: &mut [Entry]) {
    entries.sort_by_cached_key(|entry| (highest(&entry.poly), entry.poly.terms().count()));
}

fn highest(poly: &Poly) -> u32 {
    poly.terms().map(|(monomial, _)| degree(monomial)).max().unwrap_or_default()
}

/// Polynomials by whose sign cases are split: cofactors of a symbol in an assumption, differences of two symbols first.
fn cut_candidates(known: &Hypotheses) -> Vec<Poly> {
    let mut found: Vec<Poly> = Vec::new();
    for poly in known.equal.iter().chain(known.at_least.iter().rev()) {
        if nonlinear(poly).next().is_none() {
            continue;
        }
        for sym in poly.symbols() {
            let powers = poly.by_powers(sym);
            let [_, factor] = &powers[..] else { continue };
            let is_linear = nonlinear(factor).next().is_none() && factor.as_constant().is_none();
            let opposite = factor.scaled(-1);
            let is_known = |one: &Poly| one == factor || Some(one) == opposite.as_ref();
            if is_linear && !found.iter().any(is_known) {
                found.push(factor.clone());
            }
        }
    }
    let is_difference = |poly: &Poly| {
        let symbolic = poly.terms().filter(|(monomial, _)| !monomial.is_empty());
        let signs: Vec<i128> = symbolic.map(|(_, coefficient)| coefficient.signum()).collect();
        signs.len() == 2 && signs[0] != signs[1]
    };
    found.sort_by_key(|poly| (!is_difference(poly), poly.terms().count()));
    found.truncate(MAX_CUTS);
    found
}
