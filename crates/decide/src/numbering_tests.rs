//! Terms that must, and must not, have the same value number.

use super::*;
use std::sync::Arc;
use term::Inputs;
use term::text::{Scope, parse_expression, parse_script};
use testing::Random;

/// Have two expressions over x, y, z and w the same number, each in a store of its own?
fn same(a: &str, b: &str) -> bool {
    let script = parse_script("input x, y, z, w").unwrap();
    let mut numbering = Numbering::default();
    let numbers: Vec<_> = [a, b]
        .into_iter()
        .enumerate()
        .map(|(store, text)| {
            let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
            let mut terms = Terms::new(Arc::new(inputs));
            let term = scope.term(&mut terms, &parse_expression(text).unwrap()).unwrap();
            numbering.number(store, &terms, term).unwrap()
        })
        .collect();
    numbers[0] == numbers[1]
}

#[test]
fn order_does_not_matter() {
    for (a, b) in [
        ("x + y + z", "z + (y + x)"),
        ("x*y*z*w", "(w*z)*(y*x)"),
        ("x - (y - z)", "z + x - y"),
        ("-(x*y)*z", "x*(-z)*y"),
        ("-(x - y)", "y - x"),
        ("max(max(x, y), max(z, x))", "max(z, max(y, x))"),
        ("min(x, min(y, x))", "min(y, x)"),
        ("exp(x + y)/(z + w)", "exp(y + x)/(w + z)"),
        ("x*(y + z) + 1", "1 + (z + y)*x"),
        ("if(x < y + z, x*y, 2)", "if(x < z + y, y*x, 2)"),
    ] {
        assert!(same(a, b), "{a}, {b}");
    }
}

#[test]
fn what_differs_has_another_number() {
    for (a, b) in [
        ("x + x", "x"),
        ("x*x", "x"),
        ("x - y", "y - x"),
        ("x/y", "y/x"),
        ("-(x*y)", "x*y"),
        ("-x*-y", "-(x*y)"),
        ("max(x, y)", "min(x, y)"),
        ("if(x < y, x, y)", "if(y < x, x, y)"),
        ("f(x)", "g(x)"),
        ("x^2", "x^3"),
        ("x*y + z", "x*z + y"),
        // They differ where y is 0.
        ("x*y/y", "x"),
    ] {
        assert!(!same(a, b), "{a}, {b}");
    }
}

/// `v·v + x`, repeated `times` times.
fn squares(terms: &mut Terms, times: usize) -> Term {
    let x = terms.input(terms.inputs().at(0).unwrap());
    (0..times).fold(x, |v, _| terms.fused_multiply_add(v, v, x))
}

#[test]
fn nothing_is_multiplied_out() {
    let mut inputs = Inputs::new();
    inputs.scalar("x").unwrap();
    let inputs = Arc::new(inputs);
    let mut numbering = Numbering::default();
    let mut number = |store: usize, times: usize| {
        let mut terms = Terms::new(Arc::clone(&inputs));
        let term = squares(&mut terms, times);
        numbering.number(store, &terms, term).unwrap()
    };
    assert_eq!(number(0, 60), number(1, 60));
    assert_ne!(number(2, 60), number(3, 59));
    // Powers of two, and doublings.
    let mut terms = Terms::new(inputs);
    let mut both = [terms.input(terms.inputs().at(0).unwrap()); 2];
    for _ in 0..60 {
        both[0] = terms.multiply(both[0], both[0]);
        both[1] = terms.add(both[1], both[1]);
    }
    assert!(both.iter().all(|term| numbering.number(4, &terms, *term).is_some()));
}

#[test]
fn a_store_may_grow() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 3).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let x: Vec<Term> = (0..3).map(|at| terms.input(terms.inputs().at(at).unwrap())).collect();
    let mut numbering = Numbering::default();
    let mut largest = x[0];
    let mut numbers = Vec::new();
    for at in [1, 2, 1, 0] {
        largest = terms.maximum(largest, x[at]);
        numbers.push(numbering.number(0, &terms, largest).unwrap());
    }
    assert_ne!(numbers[0], numbers[1]);
    assert_eq!(numbers[1..], [numbers[1]; 3]);
}

/// A random expression, and its values at the four points.
fn drawn(random: &mut Random, depth: usize) -> (String, [i128; 4]) {
    const POINTS: [(&str, [i128; 4]); 4] =
        [("x", [2, -3, 1, 5]), ("y", [3, 1, -2, -1]), ("z", [-1, 2, 5, 3]), ("w", [7, -5, 3, -2])];
    if depth == 0 || random.once_in(8) {
        let (name, values) = random.pick(&POINTS);
        return (name.to_owned(), values);
    }
    let (a, at_a) = drawn(random, depth - 1);
    if random.once_in(3) {
        return (format!("-({a})"), at_a.map(|value| -value));
    }
    let (b, at_b) = drawn(random, depth - 1);
    let (operator, apply): (&str, fn(i128, i128) -> i128) = match random.below(8) {
        0..4 => ("*", |a, b| a * b),
        4..6 => ("+", |a, b| a + b),
        6 => ("-", |a, b| a - b),
        _ => {
            let greatest = std::array::from_fn(|at| at_a[at].max(at_b[at]));
            return (format!("max({a}, {b})"), greatest);
        }
    };
    (format!("({a}){operator}({b})"), std::array::from_fn(|at| apply(at_a[at], at_b[at])))
}

/// Expressions with the same number have the same value at every point, even if nothing may be copied from nested
/// values any more.
#[test]
fn expressions_of_one_number_are_equal() {
    for copied in [0, MOST_COPIED] {
        let script = parse_script("input x, y, z, w").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut numbering = Numbering { copied, ..Numbering::default() };
        let mut known: FxHashMap<ValueNumber, (String, [i128; 4])> = FxHashMap::default();
        let mut random = Random::new(20_261_117);
        let mut met = 0;
        for _ in 0..30_000 {
            let (text, values) = drawn(&mut random, 4);
            let term = scope.term(&mut terms, &parse_expression(&text).unwrap()).unwrap();
            let Some(number) = numbering.number(0, &terms, term) else { continue };
            match known.get(&number) {
                Some((other, at)) => {
                    assert_eq!(*at, values, "{text} and {other}");
                    met += usize::from(*other != text);
                }
                None => {
                    known.insert(number, (text, values));
                }
            }
        }
        assert!(met > 1000, "{met}");
    }
}

/// A double negation that the budget leaves nested keeps its sign: the product was that of one negation.
#[test]
fn negations_keep_their_signs_without_a_budget() {
    let script = parse_script("input x, y, z, w").unwrap();
    let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let mut numbering = Numbering { copied: MOST_COPIED, ..Numbering::default() };
    let numbers = ["(-(x*y))*z", "(-(-(x*y)))*z", "x*y*z"].map(|text| {
        let term = scope.term(&mut terms, &parse_expression(text).unwrap()).unwrap();
        numbering.number(0, &terms, term).unwrap()
    });
    assert_ne!(numbers[0], numbers[1]);
    assert_eq!(numbers[1], numbers[2]);
}

/// Each step negates and squares: the factors of a negated value are not followed to the end.
#[test]
fn negated_squares_have_no_end() {
    let mut inputs = Inputs::new();
    let x = inputs.scalar("x").unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let mut value = terms.input(x);
    for _ in 0..2000 {
        let square = terms.multiply(value, value);
        value = terms.negate(square);
    }
    assert!(Numbering::default().number(0, &terms, value).is_some());
}
