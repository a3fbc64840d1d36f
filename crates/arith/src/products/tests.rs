//! Refutations compared with all values of small numbers, and refutations that must be found.

use super::certificate::{Multiple, Weighted};
use super::*;
use crate::poly::{Monomial, Poly, Sym};
use base::Index;
use testing::Random;

/// A polynomial of terms: a coefficient and its symbols.
fn poly(terms: &[(i128, &[usize])]) -> Poly {
    terms.iter().fold(Poly::default(), |sum, (coefficient, symbols)| {
        let product = symbols.iter().fold(Poly::constant(*coefficient), |product, symbol| {
            product.times(&Poly::symbol(Sym::from_position(*symbol))).unwrap()
        });
        sum.plus(&product).unwrap()
    })
}

fn known(at_least: &[Poly], equal: &[Poly]) -> Hypotheses {
    let mut known = Hypotheses::default();
    equal.iter().for_each(|one| known.add_equal(one.clone()));
    at_least.iter().for_each(|one| known.add_at_least(one.clone()));
    known
}

fn is_refuted(at_least: &[Poly], equal: &[Poly]) -> bool {
    refutation(&known(at_least, equal), Effort::FULL).is_some()
}

/// `row·pitch + column < rows·pitch`, the pitch a size or a sum of sizes.
#[test]
fn indices_of_rows_are_inside() {
    let [row, column, rows, pitch, more] = [0, 1, 2, 3, 4];
    let inside = [
        poly(&[(1, &[row])]),
        poly(&[(1, &[rows]), (-1, &[row]), (-1, &[])]),
        poly(&[(1, &[column])]),
    ];
    let plain = poly(&[(1, &[pitch]), (-1, &[column]), (-1, &[])]);
    let outside = poly(&[(1, &[row, pitch]), (1, &[column]), (-1, &[rows, pitch])]);
    let mut all = inside.to_vec();
    all.extend([plain.clone(), outside.clone()]);
    assert!(is_refuted(&all, &[]));
    // Without the bound of the row it may be outside.
    all.remove(1);
    assert!(!is_refuted(&all, &[]));
    let sum = poly(&[(1, &[pitch]), (1, &[more]), (-1, &[column]), (-1, &[])]);
    let outside = poly(&[
        (1, &[row, pitch]),
        (1, &[row, more]),
        (1, &[column]),
        (-1, &[rows, pitch]),
        (-1, &[rows, more]),
    ]);
    let sizes = [poly(&[(1, &[pitch])]), poly(&[(1, &[more])])];
    let all: Vec<Poly> = inside.iter().chain(&sizes).cloned().chain([sum, outside]).collect();
    assert!(is_refuted(&all, &[]));
}

/// Two positions in an array of rows are equal only if row and column are: the pitch is a sum.
#[test]
fn digits_of_equal_indices_are_equal() {
    let [u, v, x, y, pitch, more] = [0, 1, 2, 3, 4, 5];
    let same = poly(&[
        (1, &[u, pitch]),
        (1, &[u, more]),
        (1, &[x]),
        (-1, &[v, pitch]),
        (-1, &[v, more]),
        (-1, &[y]),
    ]);
    let below = |column: usize| poly(&[(1, &[pitch]), (1, &[more]), (-1, &[column]), (-1, &[])]);
    let mut all = vec![poly(&[(1, &[pitch]), (-1, &[])]), poly(&[(1, &[more])])];
    for column in [x, y] {
        all.extend([poly(&[(1, &[column])]), below(column)]);
    }
    for (one, other) in [(u, v), (v, u), (x, y), (y, x)] {
        let apart = poly(&[(1, &[one]), (-1, &[other]), (-1, &[])]);
        let with: Vec<Poly> = all.iter().cloned().chain([apart]).collect();
        assert!(is_refuted(&with, std::slice::from_ref(&same)), "{one} {other}");
    }
    assert!(!is_refuted(&all, &[same]));
}

/// Bounds of a quotient, of a repeated quotient, and of a remainder combined with another stride.
#[test]
fn quotients_are_bounded() {
    let [x, q, r, d, c, p, s, e] = [0, 1, 2, 3, 4, 5, 6, 7];
    let euclid = |x: usize, q: usize, r: usize, d: usize| {
        let equation = poly(&[(1, &[x]), (-1, &[q, d]), (-1, &[r])]);
        let below = poly(&[(1, &[d]), (-1, &[r]), (-1, &[])]);
        (equation, [poly(&[(1, &[r])]), below, poly(&[(1, &[d]), (-1, &[])])])
    };
    let (one, facts) = euclid(x, q, r, d);
    let below = poly(&[(1, &[c, d]), (-1, &[x]), (-1, &[])]);
    let above = poly(&[(1, &[q]), (-1, &[c])]);
    let mut all = facts.to_vec();
    all.extend([below.clone(), above]);
    assert!(is_refuted(&all, std::slice::from_ref(&one)));
    // x/d/e < c if x < c·e·d.
    let (two, more) = euclid(q, p, s, e);
    let below = poly(&[(1, &[c, d, e]), (-1, &[x]), (-1, &[])]);
    let above = poly(&[(1, &[p]), (-1, &[c])]);
    let all: Vec<Poly> = facts.iter().chain(&more).cloned().chain([below, above]).collect();
    assert!(is_refuted(&all, &[one, two]));
}

#[test]
fn equations_without_solutions_are_refuted() {
    assert!(is_refuted(&[], &[poly(&[(2, &[0]), (-4, &[1]), (1, &[])])]));
    assert!(is_refuted(&[], &[poly(&[(1, &[])])]));
    assert!(!is_refuted(&[], &[poly(&[(2, &[0]), (-4, &[1]), (2, &[])])]));
}

/// Satisfiable assumptions are never refuted, and every refutation passes the checker.
#[test]
fn nothing_that_holds_is_refuted() {
    const SYMBOLS: usize = 4;
    let mut random = Random::new(5);
    let (mut refuted, mut possible) = (0, 0);
    for _ in 0..3000 {
        let draw = |random: &mut Random| {
            let terms = 1 + random.below(3);
            let mut sum = Poly::constant(random.below(7) - 3);
            for _ in 0..terms {
                let mut product = Poly::constant(random.below(5) - 2);
                for _ in 0..1 + random.below(2) {
                    let sym = Sym::from_position(random.below(SYMBOLS as i128) as usize);
                    product = product.times(&Poly::symbol(sym)).unwrap();
                }
                sum = sum.plus(&product).unwrap();
            }
            sum
        };
        let at_least: Vec<Poly> = (0..2 + random.below(5)).map(|_| draw(&mut random)).collect();
        let equal: Vec<Poly> = (0..random.below(3)).map(|_| draw(&mut random)).collect();
        let holds = is_possible(&at_least, &equal, SYMBOLS);
        let found = is_refuted(&at_least, &equal);
        assert!(!(holds && found), "{at_least:?} {equal:?}");
        refuted += usize::from(found);
        possible += usize::from(holds);
    }
    assert!(refuted > 300 && possible > 300, "{refuted} {possible}");
}

/// Returns `true` if some numbers from −4 to 4 satisfy everything.
fn is_possible(at_least: &[Poly], equal: &[Poly], symbols: usize) -> bool {
    let count = 9_usize.pow(symbols as u32);
    (0..count).any(|number| {
        let of = |sym: Sym| (number / 9_usize.pow(sym.position() as u32) % 9) as i128 - 4;
        let value = |poly: &Poly| -> i128 {
            let term = |(monomial, coefficient): (&Monomial, i128)| {
                monomial.iter().fold(coefficient, |all, (sym, power)| all * of(*sym).pow(*power))
            };
            poly.terms().map(term).sum()
        };
        at_least.iter().all(|one| value(one) >= 0) && equal.iter().all(|one| value(one) == 0)
    })
}

/// A modified certificate is rejected.
#[test]
fn the_checker_refuses() {
    let (x, y) = (poly(&[(1, &[0]), (-1, &[])]), poly(&[(-1, &[0])]));
    let both = known(&[x, y], &[]);
    let sum = |weights: [i128; 2], factors: [Vec<usize>; 2]| {
        let products = weights.into_iter().zip(factors);
        let products = products.map(|(weight, factors)| Weighted { weight, factors }).collect();
        Certificate::Sum { products, multiples: Vec::new() }
    };
    // The first states that x is not negative, which is weaker.
    assert_eq!(both.at_least.len(), 3);
    assert!(sum([1, 1], [vec![1], vec![2]]).refutes(&both));
    assert!(!sum([1, 1], [vec![0], vec![2]]).refutes(&both));
    assert!(!sum([1, 2], [vec![1], vec![2]]).refutes(&both));
    assert!(!sum([-1, -1], [vec![1], vec![2]]).refutes(&both));
    assert!(!sum([1, 1], [vec![1], vec![3]]).refutes(&both));
    let equation = known(&[], &[poly(&[(1, &[0]), (1, &[0, 1]), (3, &[])])]);
    let sym = Sym::from_position(0);
    let then = Box::new(sum([1, 1], [vec![0], vec![1]]));
    let solved = Certificate::Solved { equation: 0, sym, then };
    assert!(!solved.refutes(&equation), "the symbol occurs again");
    let then = Box::new(sum([1, 1], [vec![1], vec![2]]));
    let sheared = |by: Poly| Certificate::Shifted { sym, by, then: then.clone() };
    assert!(sheared(Poly::default()).refutes(&both));
    assert!(!sheared(Poly::symbol(sym)).refutes(&both), "no number more or less");
    let by = Multiple { weight: -1, equation: 0, by: Monomial::new() };
    let multiples = Certificate::Sum { products: Vec::new(), multiples: vec![by] };
    assert!(!multiples.refutes(&equation));
    assert!(!Certificate::Divisor { equation: 0 }.refutes(&equation));
}

/// Numbers as large as those of types beside small ones.
#[test]
fn bounds_of_types_do_not_hide_a_refutation() {
    let [n, s] = [0, 1];
    let all = [
        poly(&[(1, &[n]), (-1, &[])]),
        poly(&[(-1, &[n]), (100_000, &[])]),
        poly(&[(1, &[s])]),
        poly(&[(1, &[n]), (1 << 31, &[])]),
        poly(&[(-1, &[n]), ((1 << 31) - 1, &[])]),
        poly(&[(1, &[n]), (-2, &[s]), (1, &[])]),
        poly(&[(1, &[s]), (-(1 << 30), &[])]),
    ];
    assert!(is_refuted(&all, &[]));
}

/// A number of either sign, most of them small and some as large as those of types.
fn draw_number(random: &mut Random) -> i128 {
    match random.below(4) {
        0 => random.below(1 << 32) - (1 << 31),
        _ => random.below(9) - 4,
    }
}

/// Linear assumptions with a negative weighted sum are contradictory, however large their numbers are.
#[test]
fn linear_refutations_are_found() {
    const SYMBOLS: usize = 5;
    let mut random = Random::new(11);
    for _ in 0..500 {
        let count = 2 + random.below(5);
        let mut all: Vec<Poly> = (0..count)
            .map(|_| {
                let start = Poly::constant(draw_number(&mut random));
                (0..SYMBOLS).fold(start, |sum, sym| {
                    let by = if random.below(2) == 0 { 0 } else { random.below(9) - 4 };
                    sum.plus(&Poly::symbol(Sym::from_position(sym)).scaled(by).unwrap()).unwrap()
                })
            })
            .collect();
        // The last is less than minus the weighted others.
        let sum = all.iter().fold(Poly::default(), |sum, one| {
            sum.plus(&one.scaled(1 + random.below(3)).unwrap()).unwrap()
        });
        all.push(sum.scaled(-1).unwrap().offset(-1 - random.below(3)).unwrap());
        assert!(is_refuted(&all, &[]), "{all:?}");
    }
}

/// Bounds that leave one value are equations, and these are solved in integers.
#[test]
fn equations_are_solved_in_integers() {
    let [x, a, b, c] = [0, 1, 2, 3];
    // x = 2a + 1 by its bounds, and x = 2b.
    let odd = poly(&[(1, &[x]), (-2, &[a]), (-1, &[])]);
    let even = poly(&[(1, &[x]), (-2, &[b])]);
    let bounds = [odd.clone(), odd.scaled(-1).unwrap()];
    assert!(is_refuted(&bounds, std::slice::from_ref(&even)));
    assert!(!is_refuted(&bounds[..1], &[even]));
    // 3a = 2b and 5 < b < 9 leave b = 6: a = 4.
    let ratio = poly(&[(3, &[a]), (-2, &[b])]);
    let inside = [poly(&[(1, &[b]), (-6, &[])]), poly(&[(-1, &[b]), (8, &[])])];
    let not_four = |sign: i128| poly(&[(sign, &[a]), (-4 * sign - 1, &[])]);
    for (sign, refuted) in [(1, true), (-1, true)] {
        let all: Vec<Poly> = inside.iter().cloned().chain([not_four(sign)]).collect();
        assert_eq!(is_refuted(&all, std::slice::from_ref(&ratio)), refuted, "{sign}");
    }
    assert!(!is_refuted(&inside, &[ratio]));
    // 6a + 10b + 15c = 1 has solutions, 6a + 10b + 14c = 1 none.
    let sum = |last: i128| poly(&[(6, &[a]), (10, &[b]), (last, &[c]), (-1, &[])]);
    assert!(!is_refuted(&[], &[sum(15)]));
    assert!(is_refuted(&[], &[sum(14)]));
}
