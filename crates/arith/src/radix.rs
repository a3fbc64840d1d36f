//! Equations between indices as equations between their digits.
//!
//! Theorem: if `S·Q + R = 0` for integers with `S ≥ 1` and `−S < R < S`, then `Q = 0` and `R = 0`. (`S·Q = −R` is
//! a multiple of `S` between `−S` and `S`, so it is 0.)
//!
//! The difference of two indices such as `b·T + t` is split this way by each stride in it, repeatedly, until nothing
//! splits. The results are equations between single digits. A stride is a product of symbols that both threads share, or
//! the factor of another symbol (`n + m` in `y·(n + m) + x`); the caller shows that `R` is small. Mixed-radix numbers with padding, gaps and negative strides need no rule of
//! their own.

use crate::poly::{Monomial, Poly, Sym, divided};

/// Limit on the splits of one equation.
const MAX_SPLITS: usize = 64;

/// Splits the equation `poly = 0` as far as possible, into an equivalent list of polynomials that are 0.
///
/// `shared` returns `true` for symbols of both sides, `nonnegative` for polynomials proved to be at least 0 under the
/// caller's assumptions.
pub fn split(
    poly: &Poly,
    shared: &impl Fn(Sym) -> bool,
    nonnegative: &mut impl FnMut(&Poly) -> bool,
) -> Vec<Poly> {
    let mut waiting = vec![poly.clone()];
    let mut parts = Vec::new();
    let mut splits = 0;
    while let Some(next) = waiting.pop() {
        let next = without_common_factors(next, shared, nonnegative);
        if next.is_zero() {
            continue;
        }
        splits += 1;
        match split_once(&next, shared, nonnegative).filter(|_| splits < MAX_SPLITS) {
            Some((quotient, remainder)) => waiting.extend([quotient, remainder]),
            None => parts.push(next),
        }
    }
    parts
}

/// Divides `poly = 0` by factors that are common to all terms and at least 1.
fn without_common_factors(
    poly: Poly,
    shared: &impl Fn(Sym) -> bool,
    nonnegative: &mut impl FnMut(&Poly) -> bool,
) -> Poly {
    let mut poly = poly;
    let content =
        poly.terms().fold(0, |gcd, (_, one)| crate::poly::greatest_common_divisor(gcd, one));
    if content > 1 {
        poly = poly.split(&[], content).0;
    }
    for sym in poly.symbols() {
        let factor = [(sym, 1)];
        let positive = shared(sym)
            && poly.terms().all(|(monomial, _)| divided(monomial, &factor).is_some())
            && Poly::symbol(sym).offset(-1).is_some_and(|less| nonnegative(&less));
        if positive {
            poly = poly.split(&factor, 1).0;
        }
    }
    poly
}

/// Splits by the first stride for which the theorem applies; returns quotient and remainder.
fn split_once(
    poly: &Poly,
    shared: &impl Fn(Sym) -> bool,
    nonnegative: &mut impl FnMut(&Poly) -> bool,
) -> Option<(Poly, Poly)> {
    for (size, quotient, remainder) in splits(poly, shared) {
        if quotient.is_zero() || remainder.is_zero() {
            continue;
        }
        let below = size.offset(-1).and_then(|most| most.minus(&remainder));
        let above = size.offset(-1).and_then(|most| most.plus(&remainder));
        let (Some(below), Some(above)) = (below, above) else { continue };
        // `S ≥ 1` follows from both: their sum is `2·S − 2 ≥ 0`.
        match (nonnegative(&below), nonnegative(&above)) {
            (true, true) => return Some((quotient, remainder)),
            (false, false) => {}
            (is_small, _) => {
                let moved = moved_by_stride(&size, (&quotient, &remainder), is_small);
                if let Some((quotient, remainder)) = moved
                    && [remainder.clone(), remainder.scaled(-1)?].iter().all(|side| {
                        let most = size.offset(-1).and_then(|most| most.plus(side));
                        most.is_some_and(|one| nonnegative(&one))
                    })
                {
                    return Some((quotient, remainder));
                }
            }
        }
    }
    None
}

/// The same equation with a remainder that is larger, or smaller, by one stride. Division of polynomials cannot tell
/// whether `n − 4·q` belongs to the multiples of `n`: of `n·r + n − 4·q` both `r` and `r + 1` may be the quotient.
fn moved_by_stride(
    size: &Poly,
    (quotient, remainder): (&Poly, &Poly),
    is_larger: bool,
) -> Option<(Poly, Poly)> {
    Some(match is_larger {
        true => (quotient.offset(-1)?, remainder.plus(size)?),
        false => (quotient.offset(1)?, remainder.minus(size)?),
    })
}

/// Candidate splits: a stride, with quotient and remainder.
fn splits(poly: &Poly, shared: &impl Fn(Sym) -> bool) -> Vec<(Poly, Poly, Poly)> {
    let products = strides(poly, shared).into_iter().map(|(stride, factor)| {
        let (quotient, remainder) = poly.split(&stride, factor);
        (Poly::monomial(stride, factor), quotient, remainder)
    });
    let sums = sums(poly, shared).into_iter().filter_map(|stride| {
        let (quotient, remainder) = poly.divided_by(&stride)?;
        Some((stride, quotient, remainder))
    });
    products.chain(sums).collect()
}

/// Candidate strides that are sums: the factors of symbols that are not shared.
fn sums(poly: &Poly, shared: &impl Fn(Sym) -> bool) -> Vec<Poly> {
    let mut found: Vec<Poly> = Vec::new();
    for sym in poly.symbols().into_iter().filter(|sym| !shared(*sym)) {
        let powers = poly.by_powers(sym);
        let [_, factor] = &powers[..] else { continue };
        let Some(stride) = factor.scaled(factor.leading_sign()) else { continue };
        let is_sum = stride.terms().count() > 1 && stride.mentioned().all(shared);
        if is_sum && !found.contains(&stride) {
            found.push(stride);
        }
    }
    found
}

/// Candidate strides that are products, each once: the shared part of a term, with and without its coefficient.
fn strides(poly: &Poly, shared: &impl Fn(Sym) -> bool) -> Vec<(Monomial, i128)> {
    let mut found: Vec<(Monomial, i128)> = Vec::new();
    for (monomial, coefficient) in poly.terms() {
        let part: Monomial = monomial.iter().filter(|(sym, _)| shared(*sym)).copied().collect();
        for factor in [coefficient.checked_abs().unwrap_or(1), 1] {
            let stride = (part.clone(), factor);
            if (!part.is_empty() || factor > 1) && !found.contains(&stride) {
                found.push(stride);
            }
        }
    }
    found
}
