//! Runs decide with enclosures of floats: they refute only what is wrong for the real numbers and for the machine's
//! floats, of every type of the kernel.

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
fn bounds(header: &str, body: &str) -> Verdict {
    let text = format!(
        "{header}
         //@ extent a[n];
         //@ requires n >= 30 && gridDim.x == 1 && blockDim.x == 1;
         __global__ void k(int* a, int n) {{ {body} a[0] = 1; }}"
    );
    verdict(Property::Bounds, &text)
}

/// The verdict on a claim about each thread's `out[i]`.
fn claim(claim: &str, value: &str) -> Verdict {
    let text = format!(
        "//@ extent a[n], out[n];
         //@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 65536;
         //@ ensures \\forall int i; 0 <= i < n ==> {claim};
         __global__ void k(const float* a, float* out, int n) {{
           int i = blockIdx.x*blockDim.x + threadIdx.x;
           if (i < n) out[i] = {value};
         }}"
    );
    verdict(Property::Postcondition, &text)
}

const HALF: &str = "#include <cuda_fp16.h>";
const BFLOAT16: &str = "#include <cuda_bf16.h>";

#[test]
fn small_numbers_are_not_zero() {
    for (expected, value) in [
        ("out[i] != 0", "1e-8f"),
        ("out[i] != 0", "1e-8f*a[i] + 1e-9f"),
        ("out[i] == (out[i] != 0 ? out[i] : 5)", "1e-8f"),
        ("(out[i] == 0 ==> i < 0)", "1e-8f"),
        ("(out[i] != 0 ? 1 : 0) == 1", "1e-10f"),
    ] {
        assert_ne!(claim(expected, value), Verdict::Refuted, "{expected}, {value}");
    }
    for (expected, value) in [
        ("out[i] != 0", "0*a[i]"),
        ("out[i] == 0", "1e-8f"),
        ("(out[i] != 0 ==> i < 0)", "1e-8f"),
        ("out[i]*1e8 == 2", "1e-8f"),
    ] {
        assert_eq!(claim(expected, value), Verdict::Refuted, "{expected}, {value}");
    }
}

/// A claim about a quotient by zero is an assumption of the answer, not a failure.
#[test]
fn values_that_are_no_numbers_refute_no_claim() {
    assert_ne!(claim("out[i] == a[i]", "a[i] + (1.0f/a[i] - 1.0f/a[i])"), Verdict::Refuted);
    assert_ne!(claim("out[i] == 0", "0/(a[i] - a[i])"), Verdict::Refuted);
}

#[test]
fn errors_of_operands_grow_in_functions() {
    for body in [
        "float x = 1e8f/3.0f; if (sinf(x) > 0.0f) a[n] = 0; else a[n] = 1;",
        "float x = 1e7f/7.0f; if (cosf(x) > 0.0f) a[n] = 0; else a[n] = 1;",
        "float x = tanf(1e6f/3.0f); if (x > 0.0f) a[n] = 0; else a[n] = 1;",
        "if (expf(1e4f/3.0f - 3333.0f) > 1.3955f) a[n] = 0;",
        "if (powf(1.0f + 1e-9f, 1e9f) > 2.7f) a[n] = 0;",
        "if (logf(1.0f + 1.0f/3.0f - 1.0f/3.0f) >= 0.0f) a[n] = 0; else a[n] = 1;",
        "if (fmodf(1e8f/3.0f, 7.0f) > 3.0f) a[n] = 0; else a[n] = 1;",
        "float s = 0.3f; for (int i = 0; i < 60; i++) s = s*3.9f*(1.0f - s); if (s > 0.5f) a[n] = 0; else a[n] = 1;",
    ] {
        assert_ne!(bounds("", body), Verdict::Refuted, "{body}");
    }
    assert_ne!(claim("sin(out[i]) == sin(1e15/3)", "1e15f/3.0f"), Verdict::Refuted);
    for body in [
        "if (sinf(1.0f/3.0f) > 0.3f) a[n] = 0;",
        "if (sinf(100.0f) < 0.0f) a[n] = 0;",
        "if (powf(2.0f, 0.5f) < 1.42f) a[n] = 0;",
        "if (fmodf(10.5f, 7.0f) == 3.5f) a[n] = 0;",
        "float s = 0.3f; for (int i = 0; i < 60; i++) s = s*0.9f + 0.1f; if (s > 0.9f) a[n] = 0;",
        "float m = -INFINITY; m = fmaxf(m, sqrtf(3.0f)); if (expf(-INFINITY) + m > 1.7f) a[n] = 0;",
    ] {
        assert_eq!(bounds("", body), Verdict::Refuted, "{body}");
    }
}

#[test]
fn bits_of_rounded_floats_are_unknown() {
    for body in [
        "int b = __float_as_int(1.0f/3.0f*3.0f); if (b != 0x3f800000) a[n] = 0; else a[n] = 1;",
        "int b = __float_as_int(0.1f + 0.2f); if (b == __float_as_int(0.3f)) a[n] = 0; else a[n] = 1;",
        "int b = __float_as_int(expf(1.0f)); if (b & 1) a[n] = 0; else a[n] = 1;",
        "int b = __float_as_int(expf(0.0f)); if (b == 0x3f800000) a[n] = 0;",
        "double d = 1.0; d /= 3.0; if (__double_as_longlong(d) & 1) a[n] = 0; else a[n] = 1;",
    ] {
        assert_ne!(bounds("", body), Verdict::Refuted, "{body}");
    }
    assert_eq!(
        bounds("", "if (__float_as_int(0.5f + 0.25f) == 0x3f400000) a[n] = 0;"),
        Verdict::Refuted
    );
    assert_ne!(
        bounds(
            HALF,
            "half h = __float2half(__int_as_float(0x3f800001)); if (__half2float(h) > 1.0f) a[n] = 0;"
        ),
        Verdict::Refuted
    );
}

#[test]
fn narrow_types_round_and_overflow() {
    for (header, body) in [
        (
            HALF,
            "half h = __float2half(0.1f); if (__half2float(h) == 0.1f) a[n] = 0; else a[n] = 1;",
        ),
        (
            HALF,
            "half h = __float2half(60000.0f); h = h*__float2half(2.0f); if (__half2float(h) < 1e6f) a[n] = 0;",
        ),
        (HALF, "if (__half2float(__float2half(70000.0f)) < 80000.0f) a[n] = 0;"),
        (HALF, "if (__half2float(__float2half(2049.0f)) == 2049.0f) a[n] = 0;"),
        (HALF, "if (__half2float(__float2half(1e-9f)) != 0.0f) a[n] = 0;"),
        (
            HALF,
            "half s = __float2half(2048.0f); s = s + __float2half(1.0f); if (__half2float(s) > 2048.5f) a[n] = 0;",
        ),
        (BFLOAT16, "if (__bfloat162float(__float2bfloat16(257.0f)) == 257.0f) a[n] = 0;"),
        ("", "double d = 1e39; float f = d; if (f < 1e300) a[n] = 0;"),
        ("", "double d = 1e300; float f = (float)(d*1.0); if (f < 1e301) a[n] = 0;"),
        ("", "double d = 1e-60; float f = (float)d; if (f > 0.0f) a[n] = 0;"),
    ] {
        assert_ne!(bounds(header, body), Verdict::Refuted, "{body}");
    }
    for (header, body) in [
        (HALF, "half h = __float2half(0.5f); if (__half2float(h) == 0.5f) a[n] = 0;"),
        (HALF, "half h = __float2half(0.1f); if (__half2float(h) < 0.2f) a[n] = 0;"),
        (HALF, "float m = -3.402823466e+38f; if (__half2float(__float2half(1.0f)) > m) a[n] = 0;"),
        (BFLOAT16, "if (__bfloat162float(__float2bfloat16(255.0f)) == 255.0f) a[n] = 0;"),
    ] {
        assert_eq!(bounds(header, body), Verdict::Refuted, "{body}");
    }
}

/// C++ leaves the conversion undefined ([conv.fpint]).
#[test]
fn integers_that_a_type_does_not_have_are_undefined() {
    for body in [
        "float x = 3e9f; int i = (int)x; if (i < 0) a[n] = 0; else a[n] = 1;",
        "float x = -1.0f; unsigned u = (unsigned)x; if (u > 5u) a[n] = 0; else a[n] = 1;",
        "float x = 300.0f; unsigned char u = (unsigned char)x; if (u == 44) a[n] = 0; else a[n] = 1;",
        "float x = 1e30f; long long i = (long long)x; if (i > 0) a[n] = 0; else a[n] = 1;",
        "float x = logf(-1.0f); int i = (int)x; if (i == 0) a[n] = 0; else a[n] = 1;",
    ] {
        assert_ne!(bounds("", body), Verdict::Refuted, "{body}");
    }
    for body in [
        "float x = 1073741824.0f; int i = (int)x; if (i > 0) a[n] = 0;",
        "float x = 3221225472.0f; unsigned i = (unsigned)x; if (i > 5u) a[n] = 0;",
        "float x = -1.5f; int i = (int)x; if (i == -1) a[n] = 0;",
        "float x = -0.5f; unsigned i = (unsigned)x; if (i == 0) a[n] = 0;",
    ] {
        assert_eq!(bounds("", body), Verdict::Refuted, "{body}");
    }
}

/// Threads that store values which rounding may make equal do not race for certain.
#[test]
fn stores_of_floats_race_if_they_differ_for_certain() {
    let races = |one: &str, other: &str| {
        let text = format!(
            "//@ extent out[1];
             //@ requires gridDim.x == 1 && blockDim.x == 2;
             __global__ void k(float* out) {{ out[0] = threadIdx.x == 0 ? {one} : {other}; }}"
        );
        verdict(Property::Races, &text)
    };
    assert_ne!(races("0.1f + 0.2f", "0.3f"), Verdict::Refuted);
    assert_eq!(races("0.1f + 0.2f", "0.4f"), Verdict::Refuted);
    assert_eq!(races("1.0f", "2.0f"), Verdict::Refuted);
}

#[test]
fn kernels_differ_if_enclosures_do() {
    let differ = |value: &str, other: &str, ty: &str| {
        let kernels = [value, other].map(|value| {
            kernel(&format!(
                "//@ extent a[n], out[n];
                 //@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 65536;
                 __global__ void k(const {ty}* a, {ty}* out, int n) {{
                   int i = blockIdx.x*blockDim.x + threadIdx.x;
                   if (i < n) out[i] = {value};
                 }}"
            ))
        });
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::compare(kernels.each_ref(), solver(), options).expect("a pair");
        answer.difference.is_some()
    };
    assert!(!differ("sinf(a[i]*1e9f/3.0f)", "sinf(a[i]*(1e9f/3.0f))", "float"));
    assert!(!differ("(a[i] + 12582912.0f) - 12582912.0f", "rintf(a[i])", "float"));
    assert!(!differ("a[i]*0.333333f", "a[i]/3.0f", "float"));
    assert!(differ("a[i]*0.3333f", "a[i]/3.0f", "float"));
    assert!(differ("1e-9f*a[i]", "2e-9f*a[i]", "float"));
    assert!(differ("sinf(a[i])", "sinf(a[i] + 0.25f)", "float"));
    // Integers are exact.
    assert!(differ("1000000000 + a[i]", "1000000001 + a[i]", "int"));
}
