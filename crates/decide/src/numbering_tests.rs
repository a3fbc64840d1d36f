//! Terms that must, and must not, have the same value number.

use super::*;
use std::sync::Arc;
use term::Inputs;
use term::text::{Scope, parse_expression, parse_script};
use testing::Random;

/// Returns `true` if two expressions over x, y, z and w have the same number, each in a store of its own.
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
        // Constants.
        ("(x + y + (x + y))*0.5", "y + x"),
        ("2*x*y*0.5", "y*x"),
        ("x/4 + x/4", "0.5*x"),
        ("-2*x*-3", "x + 5*x"),
        ("x + y + z + (x + y)", "2*(y + x) + z"),
        ("-(x + x) - y", "-y - 2*x"),
        ("3*(x - y) + 3*z", "(z + x - y)*3"),
        ("x + 1 + 1", "2 + x"),
        ("f(2*x + 2*y)", "f((y + x)*4/2)"),
    ] {
        assert!(same(a, b), "{a}, {b}");
    }
}

#[test]
fn different_terms_have_different_numbers() {
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
        ("2*x", "x"),
        ("2*x + y", "2*(x + y)"),
        ("x/3", "3*x"),
        ("-2*x", "2*x"),
        // They differ where x is undefined, or y is 0.
        ("0*(x/y)", "0"),
        ("x/y - x/y", "0"),
        ("x/0", "0"),
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

/// A random expression, and its values at four points.
fn drawn(random: &mut Random, depth: usize) -> (String, [Number; 4]) {
    const POINTS: [(&str, [i64; 4]); 4] =
        [("x", [2, -3, 1, 5]), ("y", [3, 1, -2, -1]), ("z", [-1, 2, 5, 3]), ("w", [7, -5, 3, -2])];
    const CONSTANTS: [(&str, i64, i64); 5] =
        [("2", 2, 1), ("0.5", 1, 2), ("3", 3, 1), ("0", 0, 1), ("1", 1, 1)];
    if depth == 0 || random.once_in(8) {
        if random.once_in(3) {
            let (text, numerator, denominator) = random.pick(&CONSTANTS);
            let value = Number::ratio(numerator, denominator).unwrap();
            return (text.to_owned(), std::array::from_fn(|_| value.clone()));
        }
        let (name, values) = random.pick(&POINTS);
        return (name.to_owned(), values.map(Number::from));
    }
    let (a, at_a) = drawn(random, depth - 1);
    if random.once_in(3) {
        return match random.below(4) {
            0 => (format!("({a})/2"), at_a.map(|value| &value * &Number::dyadic(1, -1))),
            1 => (format!("({a}) + ({a})"), at_a.map(|value| &value + &value)),
            _ => (format!("-({a})"), at_a.map(|value| -&value)),
        };
    }
    let (b, at_b) = drawn(random, depth - 1);
    let (operator, apply): (&str, fn(&Number, &Number) -> Number) = match random.below(8) {
        0..4 => ("*", |a, b| a * b),
        4..6 => ("+", |a, b| a + b),
        6 => ("-", |a, b| a - b),
        _ => {
            let greatest = std::array::from_fn(|at| at_a[at].clone().max(at_b[at].clone()));
            return (format!("max({a}, {b})"), greatest);
        }
    };
    (format!("({a}){operator}({b})"), std::array::from_fn(|at| apply(&at_a[at], &at_b[at])))
}

/// Expressions with the same number have the same value at every point, even if nothing may be copied from nested
/// values any more.
#[test]
fn expressions_of_one_number_are_equal() {
    for copied in [0, MAX_COPIED] {
        let script = parse_script("input x, y, z, w").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut numbering = Numbering { copied, ..Numbering::default() };
        let mut known: FxHashMap<ValueNumber, (String, [Number; 4])> = FxHashMap::default();
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
    let mut numbering = Numbering { copied: MAX_COPIED, ..Numbering::default() };
    let numbers = ["(-(x*y))*z", "(-(-(x*y)))*z", "x*y*z"].map(|text| {
        let term = scope.term(&mut terms, &parse_expression(text).unwrap()).unwrap();
        numbering.number(0, &terms, term).unwrap()
    });
    assert_ne!(numbers[0], numbers[1]);
    assert_eq!(numbers[1], numbers[2]);
}

/// Products of thirty sums, one of them with each sum doubled and halved. Multiplied out it has a billion summands.
#[test]
fn doubled_and_halved_sums_are_factors() {
    let sum = |at: usize| format!("(x + {at}*y)");
    let product = |factors: Vec<String>| factors.join("*");
    let plain = product((1..=30).map(sum).collect());
    let doubled = product((1..=30).rev().map(|at| format!("(({0} + {0})*0.5)", sum(at))).collect());
    assert!(same(&plain, &doubled));
    let other = product((2..=31).rev().map(sum).collect());
    assert!(!same(&plain, &other));
}

/// Constants that grow with each step, inside sums and products: numbering them stays cheap.
#[test]
fn constants_do_not_grow_without_bound() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 2000).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let x: Vec<Term> = (0..2000).map(|at| terms.input(terms.inputs().at(at).unwrap())).collect();
    let [three, most] = [3.0, 0.9].map(|factor| {
        let factor = Number::from_f64(factor).unwrap();
        terms.constant(factor)
    });
    let mut values = [x[0]; 4];
    for x in &x[1..] {
        values[0] = terms.multiply(values[0], most);
        for (value, factor) in values[1..].iter_mut().zip([three, most, most]) {
            *value = terms.fused_multiply_add(*value, factor, *x);
        }
        values[3] = terms.add(values[3], values[3]);
    }
    let mut numbering = Numbering::default();
    for value in values {
        assert!(numbering.number(0, &terms, value).is_some());
    }
    assert!(numbering.kept <= 1 << 20, "{}", numbering.kept);
}

/// Each step negates and squares: the factors of a negated value are not followed to the end.
#[test]
fn negated_squares_of_squares_are_numbered() {
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
