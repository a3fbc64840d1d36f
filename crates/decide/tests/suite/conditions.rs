//! Conditions under which an optimised term is defined: none may be lost if outputs, divisors and branches share
//! terms, and none may wrongly be taken as always true.

use crate::fixtures::{answers, case, section};
use decide::{Budget, Decision};
use term::text::parse_script;

/// The conditions of each output, as text. Every output must be equal under its conditions.
fn conditions(inputs: &str, reference: &str, optimised: &str) -> Vec<Vec<String>> {
    let text =
        format!("input {inputs}\nreference {{ {reference} }}\noptimised {{ {optimised} }}\n");
    let script = parse_script(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let case = case(&script, &[], section(&script, "optimised")).unwrap();
    let texts = |answer: Decision| match answer {
        Decision::Equal { conditions, .. } => {
            conditions.iter().map(|condition| condition.condition.print(&case.terms)).collect()
        }
        other => panic!("{text}: {other:?}"),
    };
    answers(&case, &Budget::default()).into_iter().map(texts).collect()
}

/// Outputs with the same divisor each have its condition.
#[test]
fn every_output_has_its_own_conditions() {
    let found = conditions("a, b, d", "out a; out b", "out (a * d) / d; out (b * d) / d");
    assert_eq!(found, [["d != 0"], ["d != 0"]]);
    // The same quotient in several outputs, alone and below something else.
    let found = conditions(
        "a, d",
        "out a; out a; out exp(a); out a + 1",
        "q = (a * d) / d; out q; out q; out exp(q); out q + 1",
    );
    assert_eq!(found, [["d != 0"], ["d != 0"], ["d != 0"], ["d != 0"]]);
}

/// A divisor in two branches is required in each; required without a guard, nowhere else.
#[test]
fn branches_have_their_own_conditions() {
    let found =
        conditions("a, b, c, d", "out if(c < 0, a, b)", "out if(c < 0, (a * d) / d, (b * d) / d)");
    assert_eq!(found, [["d != 0 where not (c < 0)", "d != 0 where (c < 0)"]]);
    // The same quotient in both.
    let found = conditions(
        "a, c, d",
        "out if(c < 0, a + 1, a * 2)",
        "q = (a * d) / d; out if(c < 0, q + 1, q * 2)",
    );
    assert_eq!(found, [["d != 0 where not (c < 0)", "d != 0 where (c < 0)"]]);
    let found = conditions(
        "a, c, d",
        "out if(c < 0, a + 1, a * 2) + a",
        "q = (a * d) / d; out if(c < 0, q + 1, q * 2) + q",
    );
    assert_eq!(found, [["d != 0"]]);
}

/// A requirement other than `!= 0` is not lost if both apply.
#[test]
fn requirements_on_one_argument_are_told_apart() {
    for optimised in ["(a * d) / d + log(d) - log(d)", "log(d) - log(d) + (a * d) / d"] {
        let found = conditions("a, d", "out a", &format!("out {optimised}"));
        assert!(found[0].contains(&"d > 0".to_owned()), "{found:?}");
    }
    // A condition twice is one condition.
    let found = conditions("a, d", "out a", "out a + log(d) - log(d) + rsqrt(d) - rsqrt(d)");
    assert_eq!(found, [["d > 0"]]);
}

/// Sums of exponentials are positive; with another sign or factor they need not be.
#[test]
fn only_sums_of_exponentials_are_positive_by_themselves() {
    let logarithm = |sum: &str| {
        let optimised = format!("s = {sum}; out a + log(s) - log(s)");
        let text = format!("input a, x, y\nreference {{ out a }}\noptimised {{ {optimised} }}\n");
        let script = parse_script(&text).unwrap();
        let case = case(&script, &[], section(&script, "optimised")).unwrap();
        answers(&case, &Budget::default())[0].is_equal()
    };
    assert!(logarithm("exp(x) + exp(y)"));
    assert!(logarithm("exp(a) * (exp(x) + 2 * exp(y))"));
    for not in [
        "-(exp(x) + exp(y))",
        "a * (exp(x) + exp(y))",
        "(exp(x) + exp(y)) / a",
        "exp(x) - exp(y)",
        "a * exp(x) + exp(y)",
        "(-2) * (exp(x) + 3 * exp(y))",
        "exp(x) + exp(y) - exp(x) - exp(y)",
    ] {
        assert!(!logarithm(not), "{not}");
    }
}

/// A sum cancels against its divisor, and its factor does not.
#[test]
fn cancelled_sums_leave_their_factor() {
    let twice =
        "s = 2 * x + 2 * y; out (a / (x + y) + b / (x + y)) * s + (b / (x + y) + c / (x + y)) * s";
    let answer = |reference: &str| {
        let head = "input a, b, c, x, y\n";
        let text = format!("{head}reference {{ out {reference} }}\noptimised {{ {twice} }}\n");
        let script = parse_script(&text).unwrap();
        let case = case(&script, &[], section(&script, "optimised")).unwrap();
        answers(&case, &Budget::default()).remove(0)
    };
    assert!(matches!(answer("2 * a + 4 * b + 2 * c"), Decision::Equal { .. }));
    assert!(!matches!(answer("a + 2 * b + c"), Decision::Equal { .. }));
}

/// Only divisors become the common scale of a sum, whatever other factors its first summand has.
#[test]
fn sums_with_a_common_divisor_are_the_sums_they_were() {
    let equal = |reference: &str, optimised: &str| {
        let head = "input a, b, c, x, y\n";
        let text =
            format!("{head}reference {{ out {reference} }}\noptimised {{ out {optimised} }}\n");
        let script = parse_script(&text).unwrap();
        let case = case(&script, &[], section(&script, "optimised")).unwrap();
        answers(&case, &Budget::default())[0].is_equal()
    };
    for first in ["a / (x + y)", "a * (x + y)", "a / (x + y) * exp(b)", "(x + y) * a / x"] {
        for (b, c) in [("b", "c"), ("b / (x + y)", "c * (x + y)"), ("b * (x + y)", "c / x")] {
            let sum = format!("{first} + {b} * y + {c} * x");
            assert!(equal(&sum, &format!("{c} * x + {b} * y + {first}")), "{sum}");
            assert!(equal(&sum, &format!("-(0 - {first} - {c} * x) + {b} * y")), "{sum}");
            assert!(!equal(&sum, &format!("{first} + {b} * y - {c} * x")), "{sum}");
            assert!(!equal(&sum, &format!("{b} * y + {c} * x")), "{sum}");
        }
    }
}

/// An output that is defined nowhere is not proved because another one, undefined elsewhere, is.
#[test]
fn outputs_that_are_undefined_everywhere_are_not_equal() {
    let body = "t = if(x > 0, x, 1 / 0); out t; out 1 / 0; out if(x * x < 0, x, 1 / 0)";
    let text = format!("input x\nreference {{ {body} }}\noptimised {{ {body} }}\n");
    let script = parse_script(&text).unwrap();
    let case = case(&script, &[], section(&script, "optimised")).unwrap();
    let equal =
        answers(&case, &Budget::default()).iter().map(Decision::is_equal).collect::<Vec<_>>();
    assert_eq!(equal, [true, false, false]);
}
