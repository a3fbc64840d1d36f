//! Rewrites a query to fewer symbols: solves equations, substitutes, and divides by factors that are at least 1.
//!
//! `2·h·d − h·(2u+1) ≥ 0` with `h ≥ 1` is `2d − 2u − 1 ≥ 0`, and that is `d − u − 1 ≥ 0` for integers. The result is
//! equivalent, or weaker if a substitution is too large (such an assumption is left out).

use crate::formula::Formula;
use crate::poly::{Poly, Sym, divided};

/// Limit on the equations to solve.
const MAX_SOLVED: usize = 12;

/// Reduces assumptions and a goal; `None` if a substitution in the goal is too large.
pub fn reduce_query(all: &[Formula], goal: &Formula) -> Option<(Vec<Formula>, Formula)> {
    let mut all: Vec<Formula> = all.iter().flat_map(Formula::conjuncts).cloned().collect();
    let mut goal = goal.clone();
    for _ in 0..MAX_SOLVED {
        let next = all.iter().enumerate().find_map(|(at, one)| match one {
            Formula::Eq(poly) => solve_for_symbol(poly).map(|(sym, value)| (at, sym, value)),
            _ => None,
        });
        let Some((at, sym, value)) = next else { break };
        let mut map = |poly: &Poly| poly.substituted(sym, &value);
        all.remove(at);
        all = all.iter().map(|one| one.mapped(&mut map).unwrap_or(Formula::True)).collect();
        goal = goal.mapped(&mut map)?;
    }
    let positive: Vec<Sym> = all.iter().filter_map(positive_symbol).collect();
    let strip = |one: &Formula| match one {
        Formula::Ge(poly) => Formula::ge(without_positive_factors(poly, &positive)),
        Formula::Eq(poly) => Formula::eq(without_positive_factors(poly, &positive)),
        Formula::Not(inner) => match &**inner {
            Formula::Eq(poly) => Formula::eq(without_positive_factors(poly, &positive)).not(),
            _ => one.clone(),
        },
        _ => one.clone(),
    };
    let mut kept: Vec<Formula> = Vec::new();
    for one in all.iter().map(strip) {
        if one != Formula::True && !kept.contains(&one) {
            kept.push(one);
        }
    }
    Some((kept, strip(&goal)))
}

/// A symbol that an equation determines.
fn solve_for_symbol(poly: &Poly) -> Option<(Sym, Poly)> {
    let content = poly.content();
    let poly = match content > 1 && poly.constant_term() % content == 0 {
        true => poly.split(&[], content).0,
        false => poly.clone(),
    };
    for sym in poly.symbols().into_iter().rev() {
        if let [rest, coefficient] = &poly.by_powers(sym)[..]
            && let Some(sign @ (1 | -1)) = coefficient.as_constant()
        {
            return Some((sym, rest.scaled(-sign)?));
        }
    }
    None
}

/// The symbol that a condition states to be at least 1.
fn positive_symbol(formula: &Formula) -> Option<Sym> {
    match formula {
        Formula::Pow2(poly) => poly.as_symbol(),
        Formula::Ge(poly) => {
            let low = poly.constant_term();
            let sym = poly.offset(low.checked_neg()?)?.as_symbol()?;
            (low <= -1).then_some(sym)
        }
        _ => None,
    }
}

fn without_positive_factors(poly: &Poly, positive: &[Sym]) -> Poly {
    let mut poly = poly.clone();
    for sym in positive {
        let factor = vec![(*sym, 1)];
        while !poly.is_zero()
            && poly.terms().all(|(monomial, _)| divided(monomial, &factor).is_some())
        {
            poly = poly.split(&factor, 1).0;
        }
    }
    poly
}

#[cfg(test)]
mod tests {
    use super::reduce_query;
    use crate::formula::Formula;
    use crate::poly::{Poly, Sym};
    use base::Index;

    fn sum(terms: &[(i128, &[usize])]) -> Poly {
        terms.iter().fold(Poly::default(), |sum, (factor, symbols)| {
            let one = symbols.iter().fold(Poly::constant(*factor), |product, sym| {
                product.times(&Poly::symbol(Sym::from_position(*sym))).unwrap()
            });
            sum.plus(&one).unwrap()
        })
    }

    fn value(poly: &Poly, values: [i128; 4]) -> i128 {
        let mut poly = poly.clone();
        for (number, one) in values.into_iter().enumerate() {
            poly = poly.substituted(Sym::from_position(number), &Poly::constant(one)).unwrap();
        }
        poly.as_constant().unwrap()
    }

    fn holds(formula: &Formula, values: [i128; 4]) -> bool {
        match formula {
            Formula::True => true,
            Formula::Ge(poly) => value(poly, values) >= 0,
            Formula::Eq(poly) => value(poly, values) == 0,
            Formula::Not(inner) => !holds(inner, values),
            _ => false,
        }
    }

    /// If the assumptions hold, so do the reduced ones, and the truth of the goal is unchanged.
    #[test]
    fn nothing_is_lost_or_won() {
        // 2·b = h·d, h ≥ 1, 2·b ≥ h·(2u + 1) ⊢ d ≥ u + 1.
        let all = [
            Formula::eq(sum(&[(2, &[0]), (-2, &[1, 2])])),
            Formula::ge(sum(&[(-1, &[]), (1, &[1])])),
            Formula::ge(sum(&[(2, &[0]), (-1, &[1]), (-2, &[1, 3])])),
        ];
        let goal = Formula::ge(sum(&[(1, &[0]), (-1, &[1]), (-1, &[1, 3])]));
        let (kept, now) = reduce_query(&all, &goal).unwrap();
        assert!(kept.contains(&now), "{kept:?} {now:?}");
        for number in 0..7i128.pow(4) {
            let values = [0, 1, 2, 3].map(|digit| number / 7i128.pow(digit) % 7 - 2);
            if all.iter().all(|one| holds(one, values)) {
                assert!(kept.iter().all(|one| holds(one, values)), "{values:?}");
                assert_eq!(holds(&goal, values), holds(&now, values), "{values:?}");
            }
        }
    }
}
