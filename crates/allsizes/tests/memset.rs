//! `memset` and `memcpy` with a number of elements given by a parameter: the calling thread writes each of these
//! elements.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

fn verdict(body: &str, property: Property) -> Verdict {
    let text = format!(
        "//@ extent a[n], b[n], c[2*n];
         //@ requires gridDim.x == 1 && blockDim.x >= 2 && blockDim.x <= n && n <= 1000 && m >= 0 && m <= n;
         __global__ void k(int* a, const int* b, float* c, int n, int m) {{ int i = threadIdx.x; {body} }}"
    );
    let (answer, _) = allsizes::prove(&kernel(&text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.unwrap_or_else(|| panic!("{property:?} is not looked at: {body}")).verdict
}

#[test]
fn fills_race() {
    for body in [
        "if (i == 0) memset(a, 0, n * sizeof(int)); a[i] = i + 1;",
        "if (i == 0) memset(a, 0, m * sizeof(int)); if (i == 1) a[0] = 7;",
        "if (i == 0) memset(a, 0, m * sizeof(int)); if (i == 1) c[0] = a[n - 1];",
        "if (i == 0) memset(a + m, 0, (n - m) * sizeof(int)); if (i == 1) a[n - 1] = 7;",
        "if (i < 2) memcpy(a, b + i, m * sizeof(int));",
        "if (i == 0) memcpy(a, b, n * sizeof(int)); c[i] = a[0];",
        "if (i == 0) { memset(a, 0, n * sizeof(int)); } a[n - 1] = i;",
    ] {
        assert_eq!(verdict(body, Property::Races), Verdict::Refuted, "{body}");
    }
    // A run does not know the bytes unless they are written out, so two of them may be equal.
    for body in [
        "memset(a, i, n * sizeof(int));",
        "memset(a, i, m * sizeof(int));",
        "memset(a + i, i, 2 * sizeof(int));",
        "if (i < 2) memset(a + m * i, i, (n - m) * sizeof(int));",
        "if (i == 0) memset(c, 0, m * sizeof(float)); if (i == 1) memset(c, 1, m * sizeof(float));",
    ] {
        assert_ne!(verdict(body, Property::Races), Verdict::Proved, "{body}");
    }
}

#[test]
fn disjoint_or_ordered_fills_do_not_race() {
    for body in [
        "if (i == 0) memset(a, 0, n * sizeof(int)); __syncthreads(); a[i] = i + 1;",
        "if (i == 0) memset(a, 0, m * sizeof(int)); if (i == 1 && m < n) a[m] = 7;",
        "if (i == 0) memset(a, 0, m * sizeof(int)); if (i == 1) memset(a + m, 1, (n - m) * sizeof(int));",
        "memset(a + i, i, sizeof(int));",
        "memset(a, 0, n * sizeof(int));",
        "if (i == 0) memcpy(a, b, n * sizeof(int)); if (i == 1) c[0] = b[0];",
    ] {
        assert_ne!(verdict(body, Property::Races), Verdict::Refuted, "{body}");
    }
    for body in [
        "if (i == 0) memset(a, 0, n * sizeof(int)); __syncthreads(); a[i] = i + 1;",
        "if (i == 0) memset(a, 0, m * sizeof(int)); if (i == 1 && m < n) a[m] = 7;",
        "memset(a + i, i, sizeof(int));",
    ] {
        assert_eq!(verdict(body, Property::Races), Verdict::Proved, "{body}");
    }
}

#[test]
fn fills_stay_in_bounds() {
    assert_eq!(
        verdict("if (i == 0) memset(a, 0, m * sizeof(int));", Property::Bounds),
        Verdict::Proved
    );
    assert_eq!(
        verdict("if (i == 0) memset(c, 0, n * sizeof(double));", Property::Bounds),
        Verdict::Proved
    );
    for body in [
        "if (i == 0) memset(a, 0, (n + 1) * sizeof(int));",
        "if (i == 0) memset(a + 1, 0, n * sizeof(int));",
        "if (i == 0) memset(c, 0, (n + 1) * sizeof(double));",
        "if (i == 0) memcpy(a, b + 1, n * sizeof(int));",
    ] {
        assert_eq!(verdict(body, Property::Bounds), Verdict::Refuted, "{body}");
    }
}
