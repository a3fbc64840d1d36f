//! Comparisons of numbers converted between signed and unsigned types: the conversion wraps, which is defined.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

/// Proved with a solver; the simplest ones need none.
fn is_proved(body: &str) {
    if solver().is_some() {
        assert_eq!(verdicts(body), [Verdict::Proved; 2], "{body}");
    }
}

/// The verdicts on bounds and overflow.
fn verdicts(body: &str) -> [Verdict; 2] {
    let text = format!(
        "//@ extent a[n];
         //@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
         __global__ void k(int* a, int n, unsigned u, int m) {{
           int i = blockIdx.x * blockDim.x + threadIdx.x;
           {body}
         }}"
    );
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(&text), solver(), options);
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    [Property::Bounds, Property::Overflow].map(|property| {
        let own = answer.properties.iter().find(|one| one.property == property);
        own.unwrap_or_else(|| panic!("{text}")).verdict
    })
}

#[test]
fn large_unsigned_numbers_become_negative() {
    for body in [
        "if ((int)u < 0) return; if ((int)u < n) a[u] = 1;",
        "if ((int)u >= 0 && (int)u < n) a[u] = 1;",
        "if (0 > (int)u) { if (u < 2147483648u) a[n] = 1; }",
        "if ((int)u == -1 && u != 4294967295u) a[n] = 1;",
    ] {
        is_proved(body);
    }
    for body in
        ["if ((int)u < n) a[u] = 1;", "if ((int)u < 0) a[u] = 1;", "if ((int)u == -1) a[n] = 1;"]
    {
        let [bounds, overflow] = verdicts(body);
        assert_ne!(bounds, Verdict::Proved, "{body}");
        assert_ne!(overflow, Verdict::Refuted, "{body}");
    }
}

#[test]
fn negative_numbers_become_large() {
    for body in [
        "int x = i - 1; if ((unsigned)x < (unsigned)n) a[x] = 1;",
        "int x = m; if ((unsigned)x < (unsigned)n) a[x] = 1;",
        "int x = m; if ((unsigned)x > 2147483647u && x >= 0) a[n] = 1;",
    ] {
        is_proved(body);
    }
    for body in [
        "int x = m; if ((unsigned)x <= (unsigned)n) a[x] = 1;",
        "int x = m; if ((unsigned)x >= (unsigned)n) a[x] = 1;",
        "int x = m; if (u < 5u && u < (unsigned)x && u >= (unsigned)n) a[u] = 1;",
    ] {
        assert_ne!(verdicts(body)[0], Verdict::Proved, "{body}");
    }
    // A sum that wrapped before is still refused.
    let wrapped = "if ((int)(u + 4294967295u) < n) a[0] = 1;";
    assert_ne!(verdicts(wrapped)[1], Verdict::Proved);
}

/// The verdict on overflow of a body for one thread.
fn overflow(body: &str) -> Verdict {
    let text = format!(
        "//@ extent a[n];
         //@ requires n >= 1 && gridDim.x == 1 && blockDim.x == 1;
         __global__ void k(int* a, int n, unsigned u, int m, long long w) {{ {body} }}"
    );
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(&text), solver(), options);
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    let own = answer.properties.iter().find(|one| one.property == Property::Overflow);
    own.unwrap_or_else(|| panic!("{text}")).verdict
}

#[test]
fn a_conversion_is_no_overflow() {
    for body in [
        "int x = (int)u; if (x == 4) a[0] = 1;",
        "int x = (int)(u * 2654435761u); if (x < 0) a[0] = 1;",
        "int x = __mul24(m, m); if (x == 4) a[0] = 1;",
        "int x = (int)w; if (x == 4) a[0] = 1;",
        "int x = (int)u; if (x > 7 && x < 100 && x + 1 == 9) a[0] = 1;",
    ] {
        assert_ne!(overflow(body), Verdict::Refuted, "{body}");
    }
}

#[test]
fn arithmetic_after_a_conversion_overflows() {
    for body in [
        "int x = (int)u; if (x + x == 4) a[0] = 1;",
        "int x = (int)(u * 2654435761u); if (x * x < 0) a[0] = 1;",
        "int x = m * m; if (x == 4) a[0] = 1;",
        "int x = m + 1; long long y = (long long)x; if (y == 4) a[0] = 1;",
        "unsigned x = (unsigned)(m + 1); if (x == 4u) a[0] = 1;",
    ] {
        assert_eq!(overflow(body), Verdict::Refuted, "{body}");
    }
}

/// `~x` of an unsigned number is the number of all ones minus `x`: nothing wraps.
#[test]
fn the_complement_of_an_unsigned_number_does_not_wrap() {
    for body in [
        "if (~7u/3 == 1431655762u) a[0] = 1; else a[n] = 1;",
        "unsigned x = 7u; if (~x/3 == 1431655762u) a[0] = 1; else a[n] = 1;",
        "if (~u/2 <= 2147483647u) a[0] = 1; else a[n] = 1;",
        "if ((u & ~31u) <= u) a[0] = 1; else a[n] = 1;",
    ] {
        assert_eq!(overflow(body), Verdict::Proved, "{body}");
        assert_eq!(verdicts(body)[0], Verdict::Proved, "{body}");
    }
    for body in ["if (~7u/3 == 1431655762u) a[n] = 1;", "if (~u > 4u) a[n] = 1;"] {
        assert_ne!(verdicts(body)[0], Verdict::Proved, "{body}");
    }
}

/// A sum that wraps before it is converted is left open.
#[test]
fn a_sum_that_wraps_is_not_followed() {
    for body in [
        "if (u >= 1u && u <= (unsigned)n && (int)(u + 4294967295u) < n) a[0] = 1; else a[n] = 2;",
        "if (u <= 5u && (int)(u + 4294967295u) > 3) a[n] = 1;",
        "if (u <= 5u && (int)(u + 4294967295u) < 0) a[n] = 1;",
    ] {
        assert_ne!(overflow(body), Verdict::Proved, "{body}");
    }
}
