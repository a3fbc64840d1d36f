//! A launch on which an element has no allowed value is excluded by the contract, even if no thread reads the element.

mod support;

use allsizes::{Options, Verdict, engine::Property};
use support::{kernel, solver};

const INDICES: &str = "//@ requires \\forall int i; 0 <= i < n ==> 0 <= idx[i] < m;";

/// The verdict on a property of a kernel with this head and body.
fn verdict(property: Property, clauses: &str, parameters: &str, body: &str) -> Verdict {
    let text = format!("{clauses}\n__global__ void k({parameters}) {{ {body} }}");
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(&text), solver(), options);
    assert!(answer.contradiction.is_none(), "{text}: {:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.unwrap_or_else(|| panic!("{text}")).verdict
}

/// Asserts that a property is not refuted with the requirement on indices, but is refuted without it.
fn depends_on_indices(property: Property, own: &str, body: &str) {
    let parameters = "const int* idx, int* o, float* t, int m, int n";
    let clauses = format!("//@ extent idx[n], t[m];\n//@ requires m >= 0 && n >= 1;\n{own}");
    let excluded = format!("{clauses}\n{INDICES}");
    assert_ne!(verdict(property, &excluded, parameters, body), Verdict::Refuted, "{body}");
    assert_eq!(verdict(property, &clauses, parameters, body), Verdict::Refuted, "{body}");
    // A requirement that all launches can satisfy excludes none.
    let allowed =
        format!("{clauses}\n//@ requires \\forall int i; 0 <= i < n ==> 0 <= idx[i] < 7;");
    assert_eq!(verdict(property, &allowed, parameters, body), Verdict::Refuted, "{body}");
}

#[test]
fn elements_that_no_thread_reads_count() {
    let single = "//@ requires gridDim.x == 1 && blockDim.x == 1;";
    depends_on_indices(Property::Bounds, single, "t[0] = 1.0f;");
    depends_on_indices(Property::Division, single, "o[0] = 5 / m;");
    depends_on_indices(
        Property::Barriers,
        "//@ requires blockDim.x >= 2;",
        "if (m < 1 && threadIdx.x == 0) __syncthreads();",
    );
    depends_on_indices(
        Property::Races,
        "//@ requires blockDim.x >= 2;",
        "if (m < 1) o[0] = threadIdx.x;",
    );
    let claim = format!("{single}\n//@ extent o[1];\n//@ ensures o[0] == 1;");
    depends_on_indices(Property::Postcondition, &claim, "o[0] = m > 0 ? 1 : 0;");
}

#[test]
fn a_written_array_is_drawn_as_it_was() {
    let single = "//@ requires gridDim.x == 1 && blockDim.x == 1;";
    let parameters = "int* idx, float* t, int m, int n";
    let clauses = format!("//@ extent idx[n], t[m];\n//@ requires m >= 0 && n >= 1;\n{single}");
    let excluded = format!("{clauses}\n{INDICES}");
    let body = "idx[0] = -5; t[0] = 1.0f;";
    assert_ne!(verdict(Property::Bounds, &excluded, parameters, body), Verdict::Refuted);
    let body = "idx[0] = -5; t[m] = 1.0f;";
    assert_eq!(verdict(Property::Bounds, &excluded, parameters, body), Verdict::Refuted);
}

#[test]
fn a_gather_of_the_first_element_is_not_refuted() {
    let clauses =
        format!("//@ extent idx[n], out[n], table[m];\n//@ requires n >= 0 && m >= 0;\n{INDICES}");
    let parameters = "const int* idx, const float* table, float* out, int n, int m";
    let head = "int i = blockIdx.x*blockDim.x + threadIdx.x; if (i < n) ";
    for (access, is_wrong) in [
        ("out[i] = table[0] - table[idx[i]];", false),
        ("out[i] = table[1] - table[idx[i]];", true),
        ("out[i] = table[m] - table[idx[i]];", true),
    ] {
        let found = verdict(Property::Bounds, &clauses, parameters, &format!("{head}{access}"));
        assert_eq!(found == Verdict::Refuted, is_wrong, "{access}");
    }
    let body = format!("{head}out[i] = i % m;");
    assert_ne!(verdict(Property::Division, &clauses, parameters, &body), Verdict::Refuted);
    let body = format!("{head}out[i] = i % (m - 1);");
    assert_eq!(verdict(Property::Division, &clauses, parameters, &body), Verdict::Refuted);
}

#[test]
fn requirements_without_elements_count() {
    let clauses = "//@ extent t[m];
        //@ requires gridDim.x == 1 && blockDim.x == 1 && m >= 0 && n >= 1;
        //@ requires \\forall int i; 0 <= i < n ==> i < m;";
    let parameters = "float* t, int m, int n";
    let found = |body: &str| verdict(Property::Bounds, clauses, parameters, body);
    assert_ne!(found("t[0] = 1.0f;"), Verdict::Refuted);
    assert_eq!(found("t[n] = 1.0f;"), Verdict::Refuted);
}

#[test]
fn results_on_excluded_launches_are_not_compared() {
    let of = |indices: &str, value: &str| {
        kernel(&format!(
            "//@ extent idx[n], o[1];
             //@ requires m >= 0 && n >= 1 && gridDim.x == 1 && blockDim.x == 1;
             {indices}
             __global__ void k(const int* idx, float* o, int m, int n) {{ o[0] = {value}; }}"
        ))
    };
    let differ = |indices: &str, value: &str| {
        let kernels = [of(indices, value), of(indices, "1.0f")];
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::compare(kernels.each_ref(), solver(), options).expect("a pair");
        answer.difference.is_some()
    };
    assert!(!differ(INDICES, "m > 0 ? 1.0f : 0.0f"));
    assert!(differ("", "m > 0 ? 1.0f : 0.0f"));
    assert!(differ(INDICES, "m > 1 ? 1.0f : 0.0f"));
}
