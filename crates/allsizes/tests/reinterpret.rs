//! Floats as bits of integers: accesses through the other type access the same elements, and nothing is known about
//! the values.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

fn verdict(text: &str, property: Property) -> Verdict {
    let (answer, _) = allsizes::prove(&kernel(text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.unwrap_or_else(|| panic!("{property:?} is not looked at: {text}")).verdict
}

fn each(body: &str) -> String {
    format!(
        "//@ extent f[n], d[n], a[n], l[n];
         //@ requires gridDim.x == 1 && n >= 1 && blockDim.x >= 2;
         __global__ void k(float* f, double* d, int* a, long long* l, int n) {{
           int i = threadIdx.x; if (i < n) {{ {body} }}
         }}"
    )
}

#[test]
fn both_types_are_the_same_elements() {
    for body in [
        "int* p = (int*)f; p[i] = 3;",
        "((unsigned*)f)[i] += 1;",
        "((float*)a)[i] = 1.5f;",
        "((long long*)d)[i] = 1;",
        "((double*)l)[i] = 1;",
        "atomicCAS((int*)f, 1, 2); atomicExch((unsigned*)&f[0], 3u); atomicMax((int*)f, __float_as_int(2.0f));",
        "atomicAdd((unsigned long long*)&d[0], 1ull);",
    ] {
        assert_eq!(verdict(&each(body), Property::Races), Verdict::Proved, "{body}");
        assert_eq!(verdict(&each(body), Property::Bounds), Verdict::Proved, "{body}");
    }
    for body in [
        "f[0] = i; int* p = (int*)f; a[i] = p[0];",
        "((int*)f)[0] = i;",
        "((float*)a)[0] = i;",
        "int v = ((int*)f)[0]; f[0] = i;",
        "atomicCAS((int*)f, 1, 2); f[0] = 1;",
        "int* p = i > 0 ? a : (int*)f; p[0] = i;",
    ] {
        assert_eq!(verdict(&each(body), Property::Races), Verdict::Refuted, "{body}");
    }
    assert_eq!(verdict(&each("((int*)f)[i + 1] = 3;"), Property::Bounds), Verdict::Refuted);
    assert_ne!(
        verdict(&each("((float*)a)[i] = 0; f[a[i]] = 1;"), Property::Bounds),
        Verdict::Proved
    );
    assert_ne!(
        verdict(&each("a[__float_as_int(0.0f * f[i])] = 1;"), Property::Bounds),
        Verdict::Proved
    );
}

/// Bits are not numbers.
#[test]
fn a_value_of_the_other_type_is_not_converted() {
    for (claim, body) in [
        ("f[0] == 5", "((int*)f)[0] = 5;"),
        ("a[0] == 5", "((float*)a)[0] = 5.0f;"),
        ("a[0] == 5", "f[0] = 5.0f; a[0] = ((int*)f)[0];"),
        ("a[0] == 5", "a[0] = __float_as_int(5.0f);"),
        ("f[0] == 5", "int v = n + 5 - n; f[0] = __int_as_float(v);"),
        ("d[0] == 5", "((long long*)d)[0] = 5;"),
        ("a[0] == 1084227584", "float x = n; a[0] = __float_as_int(x);"),
    ] {
        let text = format!(
            "//@ extent f[1], d[1], a[1];
             //@ requires gridDim.x == 1 && blockDim.x == 1 && n >= 0;
             //@ ensures {claim};
             __global__ void k(float* f, double* d, int* a, int n) {{ {body} }}"
        );
        assert_ne!(verdict(&text, Property::Postcondition), Verdict::Proved, "{body}");
    }
}

/// A run computes with bits: the float with bits 1084227584 is 5.
#[test]
fn runs_know_bits() {
    let text = |index: &str| {
        format!(
            "//@ extent f[1], a[6];
             //@ requires gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(float* f, int* a) {{ ((int*)f)[0] = 1084227584; f[0] = f[0] + {index}; a[(int)f[0]] = 1; }}"
        )
    };
    assert_ne!(verdict(&text("0"), Property::Bounds), Verdict::Refuted);
    assert_eq!(verdict(&text("1"), Property::Bounds), Verdict::Refuted);
}

#[test]
fn other_sizes_are_refused() {
    for body in [
        "((long long*)f)[0] = 1;",
        "((int*)d)[0] = 1;",
        "((short*)f)[0] = 1;",
        "((double*)f)[0] = 1;",
        "((double*)a)[0] = 1;",
        "((char*)a)[0] = 1;",
        "float x = 1; int y = *(int*)&x; a[0] = y;",
    ] {
        let kernels = cuda_front::kernels(&each(body)).expect("a file");
        assert!(kernels.iter().all(|(_, kernel)| kernel.is_err()), "{body}");
    }
}

#[test]
fn functions_of_bits_are_not_conversions() {
    let text = |value: &str| each(&format!("a[i] = {value};"));
    for (one, two) in [
        ("__float_as_int(f[i])", "(int)f[i]"),
        ("((int*)f)[i]", "(int)f[i]"),
        ("((int*)f)[i]", "f[i]"),
    ] {
        let kernels = [kernel(&text(one)), kernel(&text(two))];
        let pair =
            allsizes::compare([&kernels[0], &kernels[1]], solver(), OPTIONS).expect("a pair").0;
        assert_ne!(pair.verdict, Verdict::Proved, "{one}, {two}");
    }
}
