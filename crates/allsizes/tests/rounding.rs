//! A run computes with doubles: it refutes nothing where their rounding decides, or where they are far from the real
//! numbers that proofs are about.

mod support;

use allsizes::{Options, Verdict, engine::Property};
use support::{kernel, solver};

/// The verdict on a property; no run contradicts a proof.
fn verdict(property: Property, text: &str) -> Verdict {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), solver(), options);
    assert!(answer.contradiction.is_none(), "{text}: {:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.unwrap_or_else(|| panic!("{text}")).verdict
}

/// The verdict on bounds of a body for one thread, with an output `a[n]`.
fn bounds(body: &str) -> Verdict {
    let text = format!(
        "//@ extent a[n];
         //@ requires n >= 30 && gridDim.x == 1 && blockDim.x == 1;
         __global__ void k(int* a, int n) {{ {body} a[0] = 1; }}"
    );
    verdict(Property::Bounds, &text)
}

/// The verdict on a claim about the `out[i]` that each thread stores.
fn claim(claim: &str, value: &str) -> Verdict {
    let text = format!(
        "//@ extent a[n], out[n];
         //@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 65536;
         //@ ensures \\forall int i; 0 <= i < n ==> out[i] == {claim};
         __global__ void k(const float* a, float* out, int n, float x) {{
           int i = blockIdx.x*blockDim.x + threadIdx.x;
           if (i < n) out[i] = {value};
         }}"
    );
    verdict(Property::Postcondition, &text)
}

#[test]
fn rounding_decides_no_refutation() {
    for body in [
        "if (0.1f + 0.2f != 0.3f) a[n] = 0;",
        "float x = 16777216.0f; x += 1.0f; if (x != 16777216.0f) a[n] = 0;",
        "float z = 0.1f; double d = z; if (d == 0.1) a[n] = 0;",
        "int m = 16777217; float f = m; if ((int)f == m) a[n] = 0;",
        "float s = 0; for (int i = 0; i < 10; i++) s += 0.1f; if (s == 1.0f) a[n] = 0;",
        "float t = 1.0f; t /= 3.0f; double s = 1.0; s /= 3.0; if (s == t) a[n] = 0;",
        "int i = (int)(0.29f * 100.0f); a[i - 29] = 1;",
        "int i = (int)floorf(0.29f * 100.0f); a[i - 29] = 1;",
        "float y = (1.0f + 1e-8f) - 1.0f; float x = logf(-y); if (x != x) a[n] = 0;",
        "float y = 1e30f * 1e30f; float x = y - y; if (x == x) {} else a[n] = 0;",
    ] {
        assert_ne!(bounds(body), Verdict::Refuted, "{body}");
    }
}

#[test]
fn floats_that_are_far_from_each_other_decide() {
    for body in [
        "if (0.1f + 0.2f != 0.4f) a[n] = 0;",
        "if (0.5f + 0.25f == 0.75f) a[n] = 0;",
        "float x = 3.0f; x += 1.0f; if (x == 4.0f) a[n] = 0;",
        "int i = (int)(0.295f * 100.0f); a[i - 30] = 1;",
        "int i = (int)(2.5f * 2.0f); a[i - 6] = 1;",
        "if (expf(1.0f) > 2.0f) a[n] = 0;",
    ] {
        assert_eq!(bounds(body), Verdict::Refuted, "{body}");
    }
}

#[test]
fn cancellation_refutes_no_claim() {
    for (expected, value) in [
        ("a[i]", "(a[i] + 1e20f) - 1e20f"),
        ("a[i]*1e10f*1e10f + a[i] - a[i]*1e20f", "a[i]"),
        ("a[i]", "logf(expf(a[i]*1000.0f))/1000.0f"),
        ("1", "expf(a[i]*1000.0f)*expf(-1000.0f*a[i])"),
    ] {
        assert_ne!(claim(expected, value), Verdict::Refuted, "{value}");
    }
}

#[test]
fn distorted_values_distort_those_that_load_them() {
    let claim = |shared: &str, value: &str| {
        let text = format!(
            "//@ extent a[n], out[n];
             //@ requires n == blockDim.x && gridDim.x == 1 && blockDim.x >= 2 && blockDim.x <= 64;
             //@ ensures \\forall int i; 0 <= i < n ==> out[i] == a[i == 0 ? n - 1 : i - 1];
             __global__ void k(const float* a, float* out, int n) {{
               __shared__ float s[64];
               int i = threadIdx.x;
               s[i] = {shared};
               __syncthreads();
               out[i] = {value};
             }}"
        );
        verdict(Property::Postcondition, &text)
    };
    let neighbour = "s[i == 0 ? n - 1 : i - 1]";
    let lost = "a[i] + 1e20f - 1e20f";
    assert_ne!(claim(lost, neighbour), Verdict::Refuted);
    assert_ne!(claim(lost, "atomicAdd(&s[i == 0 ? n - 1 : i - 1], 0.0f)"), Verdict::Refuted);
    assert_eq!(claim("a[i]", "2*s[i == 0 ? n - 1 : i - 1]"), Verdict::Refuted);
}

#[test]
fn wrong_values_refute_a_claim() {
    for (expected, value) in [
        ("a[i]", "(a[i] + 1.0f) - 2.0f"),
        ("a[i]", "(a[i] + 0.1f) - 0.2f"),
        ("1", "expf(a[i])*expf(-2.0f*a[i])"),
        ("a[i] + x", "a[i] - x"),
        ("a[i]/3", "a[i]*0.25f"),
    ] {
        assert_eq!(claim(expected, value), Verdict::Refuted, "{value}");
    }
}

#[test]
fn distorted_results_are_not_compared() {
    let differ = |value: &str, other: &str| {
        let kernels = [value, other].map(|value| {
            kernel(&format!(
                "//@ extent a[n], out[n];
                 //@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 65536;
                 __global__ void k(const float* a, float* out, int n) {{
                   int i = blockIdx.x*blockDim.x + threadIdx.x;
                   if (i < n) out[i] = {value};
                 }}"
            ))
        });
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::compare(kernels.each_ref(), solver(), options).expect("a pair");
        answer.difference.is_some()
    };
    // The reference is a number, the other kernel has no value: no rounding makes that difference.
    assert!(differ("a[i]", "a[i] + (i >= 1 ? sqrtf(a[i]) - sqrtf(a[i]) : 0.0f)"));
    assert!(differ("0.0f", "expf(1.0f)/a[i] - expf(2.0f)*expf(-1.0f)/a[i]"));
    assert!(differ("i == 0 ? a[i] : 1.0f", "i == 0 ? (a[i] + 1e20f) - 1e20f : 2.0f"));
    // Rounding may carry an operand over the border of a domain.
    assert!(!differ(
        "0.0f",
        "a[i] == 0 ? 0.0f : 0*acosf(sqrtf(3*a[i]*a[i])/sqrtf(3.0f)/fabsf(a[i]))"
    ));
    assert!(!differ("0.0f", "0*powf(-2.0f, 0.1f*30)"));
    assert!(!differ("a[i]", "a[i] + 0.0f*sqrtf(-cosf(acosf(0.0f*a[i])))"));
    assert!(!differ("a[i]", "a[i] + 0.0f*sqrtf(logf(49.0f*(1.0f/49.0f)))"));
    assert!(!differ("(a[i] + 1e20f) - 1e20f", "a[i]"));
    assert!(!differ("(0.1f + 0.2f > 0.3f) ? a[i] + 1.0f : a[i]", "a[i]"));
    assert!(!differ("expf(a[i]*1000.0f)*expf(-1000.0f*a[i])", "1.0f"));
    assert!(differ("(a[i] + 1.5f) - 1.0f", "a[i]"));
    assert!(differ("(0.1f + 0.2f > 0.25f) ? a[i] + 1.0f : a[i]", "a[i]"));
}
