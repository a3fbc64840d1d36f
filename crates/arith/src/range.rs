//! Lower bounds of polynomials by interval arithmetic over the known bounds of their symbols. Coarse; but unlike
//! `vertex.rs` it does not depend on the signs of coefficients. Errs towards too low a bound, or none.

use crate::poly::{Poly, Sym};
use crate::vertex::Bounds;

/// Limit on the depth of bounds of bounds.
const MAX_DEPTH: u32 = 4;

/// Minimum and maximum, as far as known.
pub(crate) type Range = (Option<i128>, Option<i128>);

/// A lower bound of the polynomial, if one is found.
pub(crate) fn least(poly: &Poly, bounds: &Bounds<'_>) -> Option<i128> {
    polynomial_range(poly, bounds, 0).0
}

/// The range of a polynomial; `depth` counts the bounds of bounds that were followed.
fn polynomial_range(poly: &Poly, bounds: &Bounds<'_>, depth: u32) -> Range {
    let mut sum: Range = (Some(0), Some(0));
    for (monomial, coefficient) in poly.terms() {
        let mut product: Range = (Some(coefficient), Some(coefficient));
        for (sym, power) in monomial {
            for _ in 0..*power {
                product = times(product, symbol_range(*sym, bounds, depth));
            }
        }
        sum = (add(sum.0, product.0), add(sum.1, product.1));
    }
    sum
}

fn add(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a?.checked_add(b?)
}

/// The range of a symbol, from all bounds that are known.
pub(crate) fn symbol_range(sym: Sym, bounds: &Bounds<'_>, depth: u32) -> Range {
    if depth > MAX_DEPTH {
        return (None, None);
    }
    if let Some(known) = bounds.ranges.borrow().get(&(sym, depth)) {
        return *known;
    }
    let symbol = bounds.symbols.get(sym);
    let lows = bounds.low.get(&sym).into_iter().flatten().chain(&symbol.low);
    let highs = bounds.high.get(&sym).into_iter().flatten().chain(&symbol.high);
    let low = lows.filter_map(|low| polynomial_range(low, bounds, depth + 1).0).max();
    let high = highs.filter_map(|high| polynomial_range(high, bounds, depth + 1).1).min();
    bounds.ranges.borrow_mut().insert((sym, depth), (low, high));
    (low, high)
}

/// The product of two ranges. An unknown end stays unknown unless the signs determine it.
fn times(a: Range, b: Range) -> Range {
    if let ((Some(al), Some(ah)), (Some(bl), Some(bh))) = (a, b) {
        let all = [al.checked_mul(bl), al.checked_mul(bh), ah.checked_mul(bl), ah.checked_mul(bh)];
        let all: Option<Vec<i128>> = all.into_iter().collect();
        return all
            .map_or((None, None), |all| (all.iter().min().copied(), all.iter().max().copied()));
    }
    let above = |range: Range| range.0.is_some_and(|low| low >= 0);
    let below = |range: Range| range.1.is_some_and(|high| high <= 0);
    match (above(a), below(a), above(b), below(b)) {
        (true, _, true, _) => (Some(0), None),
        (_, true, _, true) => (Some(0), None),
        (true, _, _, true) | (_, true, true, _) => (None, Some(0)),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn products_contain_all_products() {
        let ends = [None, Some(-3), Some(-1), Some(0), Some(2)];
        for a in ends {
            for b in ends {
                for c in ends {
                    for d in ends {
                        check((a, b), (c, d));
                    }
                }
            }
        }
    }

    fn check(one: super::Range, other: super::Range) {
        let inside = |range: super::Range| {
            (-6..=6)
                .filter(move |x| range.0.is_none_or(|l| l <= *x) && range.1.is_none_or(|h| *x <= h))
        };
        let product = times(one, other);
        for x in inside(one) {
            for y in inside(other) {
                assert!(product.0.is_none_or(|low| low <= x * y), "{one:?} {other:?} {x} {y}");
                assert!(product.1.is_none_or(|high| x * y <= high), "{one:?} {other:?} {x} {y}");
            }
        }
    }
}
