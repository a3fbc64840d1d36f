//! Case splits on orderings: the last rung.
//!
//! A maximum is split by its largest element (weak inequalities, so ties are in several cases and none is left out),
//! a select by its condition. In each case the difference is rebuilt under the facts of the case and must become
//! zero; a case whose facts contradict each other contains no input. Equalities (`≥` and `≤` of one form) are used as
//! equations.

use crate::algebra::{
    Algebra, Atom, AtomId, Condition, ConditionId, FormId, Monomial, Obstacle, Outcome, Polynomial,
    SignSet,
};
use crate::rewrite::{Rewriter, clear_denominators, reachable};

/// Splits deeper than this are given up.
const MAX_DEPTH: u32 = 24;

/// A partition of the inputs into cases.
enum Cut {
    /// By the largest of these.
    Largest(Vec<FormId>),
    /// By the sign of the form: one of these, or not.
    Sign(FormId, SignSet),
}

/// Returns `true` if the difference is zero in every case. `cases` is the number of cases that may still be opened.
pub(crate) fn is_zero_in_all_cases(
    algebra: &mut Algebra,
    difference: &Polynomial,
    cases: &mut u32,
) -> Outcome<bool> {
    let outer = algebra.facts.combine;
    algebra.facts.combine = true;
    let result = is_zero_under_facts(algebra, difference, cases, MAX_DEPTH);
    algebra.facts.combine = outer;
    result
}

/// Returns `true` if the difference is zero under the present facts, after further splits if need be.
fn is_zero_under_facts(
    algebra: &mut Algebra,
    difference: &Polynomial,
    cases: &mut u32,
    depth: u32,
) -> Outcome<bool> {
    let depth = depth.checked_sub(1).ok_or(Obstacle::Budget)?;
    *cases = cases.checked_sub(1).ok_or(Obstacle::Budget)?;
    let mut rebuilt = rebuild(algebra, difference)?;
    if rebuilt.is_zero() {
        return Ok(true);
    }
    if clear_denominators(algebra, rebuilt.clone())?.is_zero() {
        return Ok(true);
    }
    match innermost_cut(algebra, &rebuilt) {
        None => Ok(false),
        Some(Cut::Sign(form, signs)) => {
            let complement = complement(signs);
            for sign in [signs, complement] {
                if !is_zero_in_case(algebra, &rebuilt, cases, depth, &[(form, sign)])? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Some(Cut::Largest(forms)) => {
            for largest in &forms {
                let mut facts = Vec::with_capacity(forms.len());
                for other in forms.iter().filter(|other| *other != largest) {
                    let (a, b) = (algebra.polynomial(*largest), algebra.polynomial(*other));
                    let gap = algebra.difference(a, b)?;
                    facts.push((algebra.intern(gap)?, SignSet::NOT_NEGATIVE));
                }
                if !is_zero_in_case(algebra, &rebuilt, cases, depth, &facts)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Decides one case; `true` if its facts contradict each other.
fn is_zero_in_case(
    algebra: &mut Algebra,
    difference: &Polynomial,
    cases: &mut u32,
    depth: u32,
    facts: &[(FormId, SignSet)],
) -> Outcome<bool> {
    let saved = algebra.facts.clone();
    let result = is_zero_with(algebra, difference, cases, depth, facts);
    algebra.facts = saved;
    result
}

/// Adds the facts of a case and decides it.
fn is_zero_with(
    algebra: &mut Algebra,
    difference: &Polynomial,
    cases: &mut u32,
    depth: u32,
    facts: &[(FormId, SignSet)],
) -> Outcome<bool> {
    for (form, sign) in facts {
        let known = algebra.sign(*form)?;
        if known.and(*sign).within(SignSet::NONE) || !algebra.assume(*form, *sign)? {
            return Ok(true);
        }
    }
    is_zero_under_facts(algebra, difference, cases, depth)
}

/// Rebuilds under the facts. One equation among them is solved for an atom, which is then substituted.
fn rebuild(algebra: &mut Algebra, difference: &Polynomial) -> Outcome<Polynomial> {
    let mut rewriter = Rewriter::default();
    rewriter.solve_equalities(algebra);
    rewriter.rebuild(algebra, difference)
}

/// Finds the maximum or select with the simplest comparisons that has no other one inside: signs of products
/// follow from those of their factors, not the other way round.
fn innermost_cut(algebra: &Algebra, polynomial: &Polynomial) -> Option<Cut> {
    let (atoms, _) = reachable(algebra, polynomial);
    let splits = |atom: &AtomId| {
        matches!(algebra.atom_ref(*atom), Some(Atom::Maximum(_) | Atom::Select(..)))
    };
    let innermost = |atom: &AtomId| {
        let compared = compared(algebra, *atom);
        compared.iter().all(|form| {
            let (inside, _) = reachable(algebra, &algebra.polynomial(*form));
            !inside.iter().any(splits)
        })
    };
    let complexity = |atom: &AtomId| {
        let forms = compared(algebra, *atom);
        let monomials = forms.iter().flat_map(|form| algebra.form(*form));
        let exponent = |m: &Monomial| m.exponent().parts().map(|form| algebra.form(form).len());
        let size = monomials
            .map(|(m, _)| 1 + algebra.factors(*m).len() + exponent(m).into_iter().sum::<usize>());
        (size.sum::<usize>(), algebra.atom_stamp(*atom))
    };
    let atom = atoms.into_iter().filter(splits).filter(innermost).min_by_key(complexity)?;
    match algebra.atom_ref(atom)? {
        Atom::Maximum(forms) => Some(Cut::Largest(forms.to_vec())),
        Atom::Select(condition, ..) => {
            first_comparison(algebra, *condition).map(|(form, signs)| Cut::Sign(form, signs))
        }
        _ => None,
    }
}

/// Returns the forms whose order decides a maximum or a select.
fn compared(algebra: &Algebra, atom: AtomId) -> Vec<FormId> {
    match algebra.atom_ref(atom) {
        Some(Atom::Select(condition, ..)) => {
            let mut forms = Vec::new();
            algebra.forms_of_condition(*condition, &mut forms);
            forms
        }
        _ => algebra.forms_inside(atom),
    }
}

/// Finds a comparison inside a condition.
fn first_comparison(algebra: &Algebra, mut condition: ConditionId) -> Option<(FormId, SignSet)> {
    loop {
        match algebra.condition(condition) {
            Condition::Truth(_) => return None,
            Condition::Sign(form, signs) => return Some((form, signs)),
            Condition::And(a, _) | Condition::Or(a, _) | Condition::Not(a) => condition = a,
        }
    }
}

/// Returns the other signs.
fn complement(signs: SignSet) -> SignSet {
    [SignSet::NEGATIVE, SignSet::ZERO, SignSet::POSITIVE]
        .into_iter()
        .filter(|sign| sign.and(signs).within(SignSet::NONE))
        .fold(SignSet::NONE, SignSet::or)
}
