//! Which terms have the same value number, and which must not.

use super::*;
use std::sync::Arc;
use term::Inputs;
use term::text::{Scope, parse_expression, parse_script};

/// Whether two expressions over x, y, z and w have the same number, each in a store of its own.
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
        // Not the same where y is 0.
        ("x*y/y", "x"),
    ] {
        assert!(!same(a, b), "{a}, {b}");
    }
}

/// `v·v + x`, so many times.
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
