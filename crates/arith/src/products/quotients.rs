//! Bounds by symbolic divisors: `s·q ≤ x`, `x < s·c` and `s ≥ 1` give `q < c` over the integers, for symbolic `s` and `c`.
//!
//! A division of `x` by `s` states `x − s·q ≥ 0` and `s − 1 − (x − s·q) ≥ 0`. The sum of one of these and another
//! assumption about `x` is `s·t + r ≥ 0`, by division of polynomials. Then `t ≥ 0` if `r < s`, and `t ≥ 1` if `r < 0`: a
//! cut of Chvátal and Gomory whose divisor is a polynomial. Bounds that are found bound quotients of quotients in turn,
//! and the digits of one number that two divisors give.
//!
//! The same cut applies to a single assumption `s·t − r ≥ 0` with a symbol `s` and an `r` that are known to be positive:
//! `T·k < T·n` gives `k < n`, and `b·T ≥ n` gives `T ≥ 1`.
//!
//! Only assumptions that are given literally are added, one at a time. So bounds are missed; those that are found
//! follow, since each has a certificate that the checker accepts.

use super::certificate::{Certificate, Hypotheses, Weighted};
use crate::formula::Formula;
use crate::poly::{Monomial, Poly, Sym};
use deadline::tick;
use rustc_hash::FxHashSet;

/// Limit on the bounds that are found.
const MAX_FOUND: usize = 32;
/// Limit on the rounds: each bounds quotients of those before.
const MAX_ROUNDS: usize = 3;
/// Limit on the terms of a sum of two assumptions.
const MAX_TERMS: usize = 12;

/// A division among the assumptions: `lower ≥ 0` and `upper ≥ 0`, with `lower + upper = divisor − 1`.
pub struct Division {
    /// The symbol of the quotient.
    pub quotient: Sym,
    /// The divisor.
    pub divisor: Poly,
    /// The dividend.
    pub dividend: Poly,
    lower: Poly,
    upper: Poly,
}

/// The assumptions, each once.
#[derive(Default)]
struct Known {
    list: Vec<Poly>,
    set: FxHashSet<Poly>,
}

impl Known {
    /// The inequalities and equations of assumptions.
    fn of(all: &[Formula]) -> Self {
        let mut known = Self::default();
        for part in all.iter().flat_map(Formula::conjuncts) {
            match part {
                Formula::Ge(poly) => {
                    known.add(poly.clone());
                }
                Formula::Eq(poly) => {
                    known.add(poly.clone());
                    poly.scaled(-1).map(|opposite| known.add(opposite));
                }
                _ => {}
            }
        }
        known
    }

    fn add(&mut self, poly: Poly) -> bool {
        let is_new = self.set.insert(poly.clone());
        if is_new {
            self.list.push(poly);
        }
        is_new
    }

    fn contains(&self, poly: Option<&Poly>) -> bool {
        poly.is_some_and(|one| {
            one.as_constant().is_some_and(|value| value >= 0) || self.set.contains(one)
        })
    }
}

/// Returns bounds of quotients that follow from assumptions. `is_quotient` returns `true` for symbols that may be one;
/// what is known of them is read off the assumptions.
pub fn bounds_of_quotients(all: &[Formula], is_quotient: &impl Fn(Sym) -> bool) -> Vec<Formula> {
    let mut known = Known::of(all);
    let divisions = divisions_among(&known, is_quotient);
    let positive: Vec<(Sym, i128)> = known.list.iter().filter_map(positive_symbol).collect();
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MAX_ROUNDS {
        let end = known.list.len();
        for at in from..end {
            for bound in bounds_by_symbols(&known.list[at], &positive) {
                if found.len() < MAX_FOUND && known.add(bound.clone()) {
                    found.push(Formula::ge(bound));
                }
            }
            for division in &divisions {
                tick();
                for side in [&division.lower, &division.upper] {
                    let Some(bound) = bound_by(division, side, &known.list[at], &known) else {
                        continue;
                    };
                    if found.len() < MAX_FOUND && known.add(bound.clone()) {
                        found.push(Formula::ge(bound));
                    }
                }
            }
        }
        if known.list.len() == end {
            break;
        }
        from = end;
    }
    found
}

/// Returns the divisions among assumptions. `is_quotient` returns `true` for symbols that may be a quotient.
pub fn divisions(all: &[Formula], is_quotient: &impl Fn(Sym) -> bool) -> Vec<Division> {
    divisions_among(&Known::of(all), is_quotient)
}

fn divisions_among(known: &Known, is_quotient: &impl Fn(Sym) -> bool) -> Vec<Division> {
    let mut found = Vec::new();
    for lower in &known.list {
        for quotient in lower.symbols().into_iter().filter(|sym| is_quotient(*sym)) {
            let powers = lower.by_powers(quotient);
            let [dividend, factor] = &powers[..] else { continue };
            let divisor = factor.scaled(-1);
            let upper = divisor.as_ref().and_then(|one| one.offset(-1)?.minus(lower));
            let (Some(divisor), Some(upper)) = (divisor, upper) else { continue };
            if known.set.contains(&upper) {
                let (dividend, lower) = (dividend.clone(), lower.clone());
                found.push(Division { quotient, divisor, dividend, lower, upper });
            }
        }
    }
    found
}

/// A symbol that an assumption states to be at least a positive number, and that number.
fn positive_symbol(poly: &Poly) -> Option<(Sym, i128)> {
    let least = poly.constant_term().checked_neg().filter(|least| *least >= 1)?;
    Some((poly.offset(least)?.as_symbol()?, least))
}

/// Returns `t − 1` for an assumption `s·t − r ≥ 0` with a symbol `s` that is positive, and for `r` a sum of multiples of
/// positive symbols and a number that is at least 1.
fn bounds_by_symbols(poly: &Poly, positive: &[(Sym, i128)]) -> Vec<Poly> {
    let mut found = Vec::new();
    let falls = poly.terms().any(|(monomial, coefficient)| monomial.len() < 2 && coefficient < 0);
    if !falls {
        return found;
    }
    for (sym, least) in positive {
        let (times, rest) = poly.split(&[(*sym, 1)], 1);
        if times.as_constant().is_some() {
            continue;
        }
        let (Some(bound), Some(parts)) = (times.offset(-1), positive_parts(&rest, positive)) else {
            continue;
        };
        if follows_by_symbol((*sym, *least), poly, &times, &parts) {
            found.push(bound);
        }
    }
    found
}

/// Returns the symbols of `−rest` with their least values and factors, if each is positive and has a positive factor.
fn positive_parts(rest: &Poly, positive: &[(Sym, i128)]) -> Option<Vec<(Sym, i128, i128)>> {
    let symbolic = rest.terms().filter(|(monomial, _)| !monomial.is_empty());
    let part = |(monomial, factor): (&Monomial, i128)| {
        let [(sym, 1)] = monomial[..] else { return None };
        let (_, least) = positive.iter().find(|(own, _)| *own == sym)?;
        (factor < 0).then_some((sym, *least, factor.checked_neg()?))
    };
    symbolic.map(part).collect()
}

/// Returns `true` if the checker accepts that `times ≥ 1` follows from `sym ≥ least`, `poly ≥ 0` and the least values of
/// the other symbols.
fn follows_by_symbol(
    (sym, least): (Sym, i128),
    poly: &Poly,
    times: &Poly,
    parts: &[(Sym, i128, i128)],
) -> bool {
    let (Some(denied), Some(positive)) = (times.scaled(-1), Poly::symbol(sym).offset(-least))
    else {
        return false;
    };
    let mut at_least = vec![positive, denied, poly.clone()];
    let term = |weight: i128, factors: &[usize]| Weighted { weight, factors: factors.to_vec() };
    let mut products = vec![term(1, &[0, 1]), term(least, &[1]), term(1, &[2])];
    for (sym, least, factor) in parts {
        let Some(part) = Poly::symbol(*sym).offset(-least) else { return false };
        products.push(term(*factor, &[at_least.len()]));
        at_least.push(part);
    }
    let known = Hypotheses { at_least, equal: Vec::new() };
    Certificate::Sum { products, multiples: Vec::new() }.refutes(&known)
}

/// Returns a polynomial that is at least 0 because one side of a division and another assumption are.
fn bound_by(division: &Division, side: &Poly, other: &Poly, known: &Known) -> Option<Poly> {
    let cancels = side.terms().any(|(monomial, coefficient)| {
        !monomial.is_empty()
            && monomial.iter().all(|(sym, _)| *sym != division.quotient)
            && Some(other.coefficient(monomial)) == coefficient.checked_neg()
    });
    if !cancels {
        return None;
    }
    let sum = side.plus(other)?;
    if sum.terms().count() > MAX_TERMS || !sum.mentions(division.quotient) {
        return None;
    }
    let (times, rest) = sum.divided_by(&division.divisor)?;
    let powers = times.by_powers(division.quotient);
    let [_, factor] = &powers[..] else { return None };
    if !matches!(factor.as_constant(), Some(1 | -1)) || rest.mentions(division.quotient) {
        return None;
    }
    // `rest ≤ −1`, `rest ≤ 0` or `rest ≤ divisor − 1`, each with the assumption that says so.
    let negative = rest.scaled(-1)?;
    let below = division.divisor.offset(-1)?.minus(&rest)?;
    let (bound, reason) = match () {
        () if known.contains(negative.offset(-1).as_ref()) => {
            (times.offset(-1)?, negative.offset(-1)?)
        }
        () if known.contains(Some(&negative)) => (times, negative),
        () if known.contains(Some(&below)) => (times, below),
        () => return None,
    };
    follows(division, [side, other, &reason], &bound).then_some(bound)
}

/// Returns `true` if the checker accepts that `bound ≥ 0` follows from a division and `sum`, which are at least 0.
fn follows(division: &Division, sum: [&Poly; 3], bound: &Poly) -> bool {
    let Some(denied) = bound.scaled(-1).and_then(|one| one.offset(-1)) else { return false };
    let Division { lower, upper, .. } = division;
    let [side, other, reason] = sum.map(Poly::clone);
    let known = Hypotheses {
        at_least: vec![lower.clone(), upper.clone(), denied, side, other, reason],
        equal: Vec::new(),
    };
    let term = |factors: &[usize]| Weighted { weight: 1, factors: factors.to_vec() };
    // `divisor·denied`, since `divisor` is `lower + upper + 1`.
    let product = [term(&[0, 2]), term(&[1, 2]), term(&[2])];
    let sum = [term(&[3]), term(&[4]), term(&[5])];
    let divisor = [term(&[0]), term(&[1])];
    let products: Vec<Weighted> = product.into_iter().chain(sum).collect();
    let with_divisor: Vec<Weighted> = products.iter().cloned().chain(divisor).collect();
    [products, with_divisor]
        .into_iter()
        .any(|products| Certificate::Sum { products, multiples: Vec::new() }.refutes(&known))
}

#[cfg(test)]
mod tests {
    use super::bounds_of_quotients;
    use crate::formula::Formula;
    use crate::poly::{Monomial, Poly, Sym};
    use base::Index;
    use testing::Random;

    fn sym(number: usize) -> Sym {
        Sym::from_position(number)
    }

    /// `factor·Π symbols + …`.
    fn sum(terms: &[(i128, &[usize])]) -> Poly {
        terms.iter().fold(Poly::default(), |all, (factor, symbols)| {
            let one = symbols.iter().fold(Poly::constant(*factor), |product, one| {
                product.times(&Poly::symbol(sym(*one))).unwrap()
            });
            all.plus(&one).unwrap()
        })
    }

    /// `quotient` is `dividend` divided by `divisor`.
    fn division(dividend: &Poly, divisor: &Poly, quotient: usize) -> [Formula; 2] {
        let rest = dividend.minus(&divisor.times(&Poly::symbol(sym(quotient))).unwrap()).unwrap();
        let below = divisor.offset(-1).unwrap().minus(&rest).unwrap();
        [Formula::ge(rest), Formula::ge(below)]
    }

    fn value(poly: &Poly, values: &[i128]) -> i128 {
        let term = |(monomial, coefficient): (&Monomial, i128)| {
            let powers = monomial.iter().map(|(sym, power)| values[sym.position()].pow(*power));
            coefficient * powers.product::<i128>()
        };
        poly.terms().map(term).sum()
    }

    fn holds(formula: &Formula, values: &[i128]) -> bool {
        match formula {
            Formula::True => true,
            Formula::Ge(poly) => value(poly, values) >= 0,
            Formula::Eq(poly) => value(poly, values) == 0,
            _ => false,
        }
    }

    #[test]
    fn digits_of_a_flat_number_are_bounded() {
        // p < h·w: p / w < h. p < d·h·w: p / (h·w) < d, and (p % (h·w)) / w < h.
        let [h, w, d, p, q, o, i] = [0, 1, 2, 3, 4, 5, 6];
        let mut all = division(&sum(&[(1, &[p])]), &sum(&[(1, &[w])]), q).to_vec();
        all.push(Formula::ge(sum(&[(1, &[h, w]), (-1, &[p]), (-1, &[])])));
        all.push(Formula::ge(sum(&[(1, &[p])])));
        let found = bounds_of_quotients(&all, &|one| one == sym(q));
        let below = Formula::ge(sum(&[(1, &[h]), (-1, &[q]), (-1, &[])]));
        assert!(found.contains(&below), "{found:?}");
        assert!(found.contains(&Formula::ge(sum(&[(1, &[q])]))), "{found:?}");
        let plane = sum(&[(1, &[h, w])]);
        let mut all = division(&sum(&[(1, &[p])]), &plane, o).to_vec();
        all.push(Formula::ge(sum(&[(1, &[d, h, w]), (-1, &[p]), (-1, &[])])));
        all.extend(division(&sum(&[(1, &[p]), (-1, &[h, w, o])]), &sum(&[(1, &[w])]), i));
        let found = bounds_of_quotients(&all, &|one| [o, i].map(sym).contains(&one));
        for (quotient, size) in [(o, d), (i, h)] {
            let below = Formula::ge(sum(&[(1, &[size]), (-1, &[quotient]), (-1, &[])]));
            assert!(found.contains(&below), "{quotient}: {found:?}");
        }
    }

    #[test]
    fn quotients_of_quotients_are_bounded() {
        // x < a·b·c: x / a < b·c, so (x / a) / b < c.
        let [a, b, c, x, q, p] = [0, 1, 2, 3, 4, 5];
        let mut all = division(&sum(&[(1, &[x])]), &sum(&[(1, &[a])]), q).to_vec();
        all.extend(division(&sum(&[(1, &[q])]), &sum(&[(1, &[b])]), p));
        all.push(Formula::ge(sum(&[(1, &[a, b, c]), (-1, &[x]), (-1, &[])])));
        let found = bounds_of_quotients(&all, &|one| [q, p].map(sym).contains(&one));
        let below = Formula::ge(sum(&[(1, &[c]), (-1, &[p]), (-1, &[])]));
        assert!(found.contains(&below), "{found:?}");
        // Two divisors of one dividend: q = x / a, p = x / (a·b), so 0 ≤ q − b·p < b.
        let mut all = division(&sum(&[(1, &[x])]), &sum(&[(1, &[a])]), q).to_vec();
        all.extend(division(&sum(&[(1, &[x])]), &sum(&[(1, &[a, b])]), p));
        let found = bounds_of_quotients(&all, &|one| [q, p].map(sym).contains(&one));
        let digit = sum(&[(1, &[q]), (-1, &[b, p])]);
        let below = sum(&[(1, &[b]), (-1, &[])]).minus(&digit).unwrap();
        assert!(found.contains(&Formula::ge(digit)), "{found:?}");
        assert!(found.contains(&Formula::ge(below)), "{found:?}");
    }

    #[test]
    fn common_factors_are_divided_out() {
        // T·k < T·n: k < n, if T is positive.
        let [t, k, n] = [0, 1, 2];
        let inside = Formula::ge(sum(&[(1, &[t, n]), (-1, &[t, k]), (-1, &[])]));
        let positive = Formula::ge(sum(&[(1, &[t]), (-1, &[])]));
        let below = Formula::ge(sum(&[(1, &[n]), (-1, &[k]), (-1, &[])]));
        assert_eq!(bounds_of_quotients(&[inside.clone(), positive], &|_| false), [below]);
        let nonnegative = Formula::ge(sum(&[(1, &[t])]));
        assert_eq!(bounds_of_quotients(&[inside, nonnegative], &|_| false), []);
    }

    #[test]
    fn covered_sizes_have_positive_tiles() {
        // b·T ≥ n: T ≥ 1, if b and n are positive.
        let [b, t, n] = [0, 1, 2];
        let covers = Formula::ge(sum(&[(1, &[b, t]), (-1, &[n])]));
        let positive = |one: usize| Formula::ge(sum(&[(1, &[one]), (-1, &[])]));
        let found = bounds_of_quotients(&[covers.clone(), positive(b), positive(n)], &|_| false);
        assert_eq!(found, [positive(t)]);
        for known in [[covers.clone(), positive(b)], [covers.clone(), positive(n)]] {
            assert_eq!(bounds_of_quotients(&known, &|_| false), []);
        }
        let empty = Formula::ge(sum(&[(1, &[n])]));
        assert_eq!(bounds_of_quotients(&[covers, positive(b), empty], &|_| false), []);
    }

    #[test]
    fn other_divisors_give_no_bound() {
        // p < h·w says nothing of p / s.
        let [h, w, s, p, q] = [0, 1, 2, 3, 4];
        let mut all = division(&sum(&[(1, &[p])]), &sum(&[(1, &[s])]), q).to_vec();
        all.push(Formula::ge(sum(&[(1, &[h, w]), (-1, &[p]), (-1, &[])])));
        assert_eq!(bounds_of_quotients(&all, &|one| one == sym(q)), []);
        // Half of a division is none: the divisor may be 0 or negative.
        let half = vec![all[0].clone(), all[2].clone()];
        assert_eq!(bounds_of_quotients(&half, &|one| one == sym(q)), []);
    }

    /// A polynomial of up to three terms of up to two symbols.
    fn draw(random: &mut Random, symbols: usize) -> Poly {
        let mut all = Poly::constant(random.below(5) - 2);
        for _ in 0..1 + random.below(3) {
            let factors: Vec<usize> =
                (0..1 + random.below(2)).map(|_| random.below(symbols as i128) as usize).collect();
            all = all.plus(&sum(&[(random.below(5) - 2, &factors)])).unwrap();
        }
        all
    }

    /// Every bound holds for all small numbers that satisfy the assumptions, divisors of either sign and 0 among them.
    #[test]
    fn bounds_hold_for_all_small_numbers() {
        const SYMBOLS: usize = 5;
        const VALUES: i128 = 5;
        let mut random = Random::new(17);
        let (mut found, mut satisfied) = (0, 0);
        for _ in 0..600 {
            // The last two are quotients, of anything by anything.
            let mut all = Vec::new();
            for quotient in [3, 4] {
                let dividend = match random.below(3) {
                    0 => Poly::symbol(sym(quotient - 1)),
                    _ => draw(&mut random, quotient),
                };
                let divisor = match random.below(3) {
                    0 => draw(&mut random, 3),
                    1 => sum(&[(1, &[0, 1])]),
                    _ => Poly::symbol(sym(random.below(3) as usize)),
                };
                all.extend(division(&dividend, &divisor, quotient));
                if random.below(2) == 0 {
                    let times = draw(&mut random, 3);
                    let bound = divisor.times(&times).unwrap().minus(&dividend).unwrap();
                    let sign = if random.below(2) == 0 { 1 } else { -1 };
                    let bound = bound.scaled(sign).unwrap();
                    all.push(Formula::ge(bound.offset(random.below(3) - 1).unwrap()));
                }
            }
            all.push(Formula::ge(draw(&mut random, SYMBOLS)));
            if random.below(2) == 0 {
                let positive = Poly::symbol(sym(random.below(3) as usize));
                all.push(Formula::ge(positive.offset(-1 - random.below(2)).unwrap()));
            }
            let bounds = bounds_of_quotients(&all, &|one| one.position() >= 3);
            found += bounds.len();
            if bounds.is_empty() {
                continue;
            }
            for number in 0..VALUES.pow(SYMBOLS as u32) {
                let values: Vec<i128> = (0..SYMBOLS as u32)
                    .map(|digit| number / VALUES.pow(digit) % VALUES - VALUES / 2)
                    .collect();
                if all.iter().all(|one| holds(one, &values)) {
                    satisfied += 1;
                    for bound in &bounds {
                        assert!(holds(bound, &values), "{bound:?} of {all:?} at {values:?}");
                    }
                }
            }
        }
        assert!(found > 150 && satisfied > 300, "{found} {satisfied}");
    }
}
