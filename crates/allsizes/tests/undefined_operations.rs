//! Operations on integers with undefined or wrapping results: divisions in values that nobody uses, shifts in both
//! directions and into the sign bit, and negative sizes of copies.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use support::kernel;

/// Proves a body for one thread of one block, with outputs `y[1]` and `x[1]`.
fn answer(parameters: &str, requires: &str, body: &str) -> Answer {
    let text = format!(
        "//@ extent y[1], x[1];
         //@ requires gridDim.x == 1 && blockDim.x == 1 && {requires};
         __global__ void k(int* y, const int* x, {parameters}) {{ {body} }}"
    );
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(&text), None, options);
    assert!(answer.contradiction.is_none(), "{body}: {:?}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Verdict {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").verdict
}

#[test]
fn a_division_is_examined_even_if_its_value_is_not_used() {
    for unused in [
        "1000 / n;",
        "(void)(1000 % n);",
        "__shfl_sync(0xffffffffu, 1000 / n, 0);",
        "__ballot_sync(0xffffffffu, 1000 / n);",
        "__syncthreads_or(1000 / n);",
        "printf(\"%d\", 1000 / n);",
        "float f = ldexpf(1.0f, 1000 / n);",
        "memset(y, 1000 / n, sizeof(int));",
    ] {
        let found = answer("int n", "n >= 0", unused);
        assert_eq!(verdict(&found, Property::Division), Verdict::Refuted, "{unused}");
        let fine = answer("int n", "n >= 1", unused);
        assert_eq!(verdict(&fine, Property::Division), Verdict::Proved, "{unused}");
    }
}

#[test]
fn shifts_to_the_left_and_to_the_right_differ() {
    let body = "int u = m << s, v = m >> s; if (u != v) y[n] = 1;";
    let found = answer("int m, int s, int n", "0 < m && m < 4 && 0 < s && s < 4 && n == 77", body);
    assert_ne!(verdict(&found, Property::Bounds), Verdict::Proved);
}

#[test]
fn the_sign_bit_is_a_bit() {
    for body in [
        "if (n & (1 << 31)) y[0] = 1;",
        "int lane = threadIdx.x + 31; if (n & (1 << lane)) y[0] = 1;",
    ] {
        let found = answer("int n", "true", body);
        assert_eq!(verdict(&found, Property::Overflow), Verdict::Proved, "{body}");
    }
    let found = answer("int n", "n == 5", "if ((n << 31) < 0) y[0] = 1;");
    assert_eq!(verdict(&found, Property::Overflow), Verdict::Refuted);
}

#[test]
fn a_negative_divisor_of_an_unsigned_number_is_large() {
    let found = answer("unsigned u, int c", "c == -5", "y[0] = u / c;");
    assert_ne!(verdict(&found, Property::Division), Verdict::Refuted);
}

#[test]
fn a_negative_size_of_a_copy_is_large() {
    for body in ["memcpy(y, x, n * sizeof(int));", "memset(y, 0, n * sizeof(int));"] {
        let all_proved =
            |found: &Answer| found.properties.iter().all(|one| one.verdict == Verdict::Proved);
        assert!(!all_proved(&answer("int n", "n <= 1", body)), "{body}");
        assert!(all_proved(&answer("int n", "0 <= n && n <= 1", body)), "{body}");
    }
}
