//! The quick test against intervals of 256 bits.

use super::*;
use crate::evaluate::{Interval, Value, evaluate};
use std::sync::Arc;
use term::text::{Scope, parse_expression, parse_script};
use testing::Random;

/// Evaluates texts over `x`, `y`, `z` and `n` at a point, both ways.
fn both_ways(text: &str, at: &dyn Fn(Input) -> Number) -> (Bounded, Value) {
    let script = parse_script("input x, y, z, n").unwrap();
    let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let expression = parse_expression(text).unwrap();
    let root = scope.term(&mut terms, &expression).unwrap();
    let order = evaluation_order(&terms, [root], |_| true);
    let mut values = NodeTable::new(Unsure);
    let mut countdown = Countdown::new(Deadline::default());
    for &node in &order.nodes {
        values[node] = operation(&terms, terms.at(node), at, &values, &mut countdown);
    }
    let bounded = operation(&terms, terms.node(root), at, &values, &mut countdown);
    let certain = is_certainly_real(&terms, (root, &[]), at, Deadline::default());
    assert_eq!(certain, matches!(bounded, Real(..)), "{text}");
    (bounded, evaluate(&terms, &[root], at).pop().unwrap())
}

/// Returns `true` if the bounds meet those of 256 bits: both hold the exact value.
fn agree(quick: Bounded, precise: &Value) -> bool {
    match (quick, precise) {
        (Real(low, high), Value::Real(precise)) => {
            !Interval::of_f64(low).hull(&Interval::of_f64(high)).is_disjoint(precise)
        }
        (Infinity(x), Value::Infinity(y)) => x == *y,
        (Truth(x), Value::Truth(y)) => x == *y,
        (Unsure, _) => true,
        _ => false,
    }
}

const TEXTS: [&str; 22] = [
    "x + y*z - n",
    "(x + y)^2 * z - 1/3",
    "x / y",
    "1 / (x*x + 1)",
    "x / (y - y)",
    "exp(x) / (exp(x) + exp(y) + exp(z))",
    "exp(x - max(x, y)) / (exp(x - max(x, y)) + exp(y - max(x, y)))",
    "log(exp(x) + exp(y))",
    "log(x)",
    "log(x*x + 1/1024)",
    "sqrt(x)",
    "1 / sqrt(x*x + y*y + 1/100000)",
    "1 / sqrt(x - x)",
    "x^3 - y^(-2)",
    "abs(x) + min(y, z)",
    "if(x < y, 1 / (y - x), z)",
    "if(x <= y, log(y - x), z)",
    "if(x == 3/2, 1 / (x - 3/2), y)",
    "exp(1000*x) + exp(-1000*y)",
    "exp(exp(x))",
    "pi * x - tanh(y)",
    "1 / (exp(x) - 1)",
];

#[test]
fn quick_bounds_hold_the_precise_values() {
    let mut random = Random::new(24);
    let (mut certain, mut real) = (0, 0);
    for round in 0..400 {
        let numbers: [Number; 4] = std::array::from_fn(|_| match round % 3 {
            0 => Number::dyadic(random.below(64_u64) as i64 - 32, -4),
            1 => Number::ratio(random.below(200_u64) as i64 - 100, 7).unwrap(),
            _ => Number::dyadic(random.below(1_u64 << 50) as i64 - (1 << 49), -47),
        });
        let at = |input: Input| numbers[input.position()].clone();
        for text in TEXTS {
            let (quick, precise) = both_ways(text, &at);
            assert!(agree(quick, &precise), "{text} at {numbers:?}: {quick:?}, {precise:?}");
            certain += u32::from(matches!(quick, Real(..)));
            real += u32::from(matches!(precise, Value::Real(_)));
        }
    }
    assert!(certain > 6 * real / 10, "{certain} of {real}");
}

#[test]
fn what_may_be_undefined_is_not_certain() {
    let one = |_: Input| Number::from(1);
    for text in [
        "x / (y - z)",
        "log(x - y)",
        "sqrt(x - 2)",
        "1 / sqrt(x - y)",
        "(x - y)^(-1)",
        "1/(log(x))",
    ] {
        assert_eq!(both_ways(text, &one).0, Unsure, "{text}");
    }
    for text in ["x / (y + z)", "log(x + y)", "sqrt(x)", "1 / sqrt(x + y)"] {
        assert!(matches!(both_ways(text, &one).0, Real(..)), "{text}");
    }
}
