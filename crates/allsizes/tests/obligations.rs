//! Obligations of operations whose numbers the prover cannot represent, or whose values nobody uses: products of high
//! degree, shifts, votes, expected values, sizes of copies.

mod support;

use allsizes::{Options, Verdict, engine::Property};
use support::{kernel, solver};

/// The verdict on a property of a kernel for one thread, with an output `a[n]`. No run contradicts a proof.
fn verdict(property: Property, parameters: &str, clauses: &str, body: &str) -> Verdict {
    let text = format!(
        "#include <cstring>
         //@ extent a[n];
         //@ requires n >= 4 && gridDim.x == 1 && blockDim.x == 1;
         {clauses}
         __global__ void k(int* a, int n, {parameters}) {{ {body} }}"
    );
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(&text), solver(), options);
    assert!(answer.contradiction.is_none(), "{text}: {:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.unwrap_or_else(|| panic!("{text}")).verdict
}

#[test]
fn a_product_of_any_degree_may_overflow() {
    let power = "int x = m*m*m*m*m*m*m*m*m*m*m*m; int y = x * k; if (y == 77) a[0] = 1;";
    let small = "//@ requires 0 <= m && m <= 5 && 0 <= k && k <= 100;";
    let found = verdict(Property::Overflow, "int m, int k", small, power);
    assert_ne!(found, Verdict::Proved);
    let square = "int x = m * m; int y = x * k; if (y == 77) a[0] = 1;";
    let found = verdict(Property::Overflow, "int m, int k", small, square);
    assert_eq!(found, Verdict::Proved);
}

#[test]
fn a_product_of_long_sums_may_overflow() {
    for (terms, others, expected) in [(8, 13, false), (2, 2, true)] {
        let names = |letter: char, count: usize| -> Vec<String> {
            (0..count).map(|number| format!("{letter}{number}")).collect()
        };
        let (left, right) = (names('p', terms), names('q', others));
        let all = [left.clone(), right.clone()].concat();
        let bounds: Vec<String> =
            all.iter().map(|one| format!("0 <= {one} && {one} <= 5000")).collect();
        let parameters: Vec<String> = all.iter().map(|one| format!("int {one}")).collect();
        let body = format!("if (({}) * ({}) == 77) a[0] = 1;", left.join("+"), right.join("+"));
        let clauses = format!("//@ requires {};", bounds.join(" && "));
        let found = verdict(Property::Overflow, &parameters.join(", "), &clauses, &body);
        assert_eq!(found == Verdict::Proved, expected, "{body}");
    }
}

#[test]
fn a_shifted_number_may_overflow() {
    for (most, expected) in [(32, false), (3, true)] {
        let clauses = format!("//@ requires m == 29 && 0 <= t && t < {most};");
        for body in ["int s = t << (m & 31);", "int s = t << 29;"] {
            let body = format!("{body} if (s == 17) a[0] = 1;");
            let found = verdict(Property::Overflow, "int m, int t", &clauses, &body);
            assert_eq!(found == Verdict::Proved, expected, "{body} {most}");
        }
    }
}

#[test]
fn an_amount_of_a_shift_does_not_wrap() {
    let clauses = "//@ requires 0 <= m && m < 100;";
    for (body, expected) in [
        ("int r = m << 33; if (r == 4) a[0] = r;", false),
        ("long long s = 4294967297ll; int r = m << s; if (r == 4) a[0] = r;", false),
        ("const long long s = 4294967297ll; int r = m << s; if (r == 4) a[0] = r;", false),
        ("int r = m >> 0x100000001; if (r == 4) a[0] = r;", false),
        ("int r = m << 3; if (r == 4) a[0] = r;", true),
        ("const long long s = 3; int r = m >> s; if (r == 4) a[0] = r;", true),
    ] {
        let text = format!(
            "//@ extent a[n];
             //@ requires n >= 1 && gridDim.x == 1 && blockDim.x == 1;
             {clauses}
             __global__ void k(int* a, int n, int m) {{ {body} }}"
        );
        let read = cuda_front::kernels(&text).map(|mut all| all.remove(0).1);
        let Ok(Ok(_)) = read else {
            assert!(!expected, "{body}");
            continue;
        };
        let found = verdict(Property::Overflow, "int m", clauses, body);
        assert_eq!(found == Verdict::Proved, expected, "{body}");
    }
}

#[test]
fn the_expected_value_is_evaluated() {
    let divides = "int r = __builtin_expect(m, 5 / m); a[0] = r;";
    assert_eq!(verdict(Property::Division, "int m", "", divides), Verdict::Refuted);
    let nonzero = "//@ requires m != 0;";
    assert_eq!(verdict(Property::Division, "int m", nonzero, divides), Verdict::Proved);
    for (comparison, expected) in [("i != 1", Verdict::Proved), ("i == 1", Verdict::Refuted)] {
        let body = format!(
            "int i = 0; int r = __builtin_expect(m, i++); if ({comparison}) a[n] = 1; a[0] = r;"
        );
        assert_eq!(verdict(Property::Bounds, "int m", "", &body), expected, "{comparison}");
    }
}

#[test]
fn the_bytes_of_a_copy_may_wrap() {
    let body = "memcpy(a, b, x * 4);";
    let clauses = "//@ extent b[1];\n//@ requires x == 4611686018427387905;";
    let found = verdict(Property::Bounds, "const int* b, unsigned long long x", clauses, body);
    assert_ne!(found, Verdict::Refuted, "the product is 4");
    let clauses = "//@ extent b[4];\n//@ requires x <= 4;";
    let found = verdict(Property::Bounds, "const int* b, unsigned long long x", clauses, body);
    assert_eq!(found, Verdict::Proved);
    let clauses = "//@ extent b[4];\n//@ requires x <= 5;";
    let found = verdict(Property::Bounds, "const int* b, unsigned long long x", clauses, body);
    assert_eq!(found, Verdict::Refuted);
    let clauses = "//@ extent b[x];
        //@ requires n == 4 && x <= 4611686018427387905;
        //@ ensures \\forall unsigned long long i; i < x && i < 4 ==> a[i] == b[i];";
    let found =
        verdict(Property::Postcondition, "const int* b, unsigned long long x", clauses, body);
    assert_ne!(found, Verdict::Proved);
}

#[test]
fn the_predicate_of_a_vote_is_evaluated() {
    for vote in ["__syncthreads_or", "__syncthreads_and", "__syncthreads_count"] {
        let body = format!("if ({vote}(m * m)) a[0] = 1;");
        let found = verdict(Property::Overflow, "int m", "", &body);
        assert_ne!(found, Verdict::Proved, "{vote}");
        let small = "//@ requires 0 <= m && m <= 5;";
        let found = verdict(Property::Overflow, "int m", small, &body);
        assert_eq!(found, Verdict::Proved, "{vote}");
    }
}
