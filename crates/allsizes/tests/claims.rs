//! Small postconditions and invariants of values: each is proved, refuted by a run, or left open. No wrong one is
//! proved.

mod support;

use Verdict::{Proved, Refuted, Unknown};
use allsizes::{Answer, Options, Verdict, engine::Property};
use support::{kernel, solver};

const LINE: &str = "//@ extent x[n], y[n];\n\
    //@ requires n >= 1 && m >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;\n";

/// A kernel with one thread per element of `y`.
fn line(ty: &str, contract: &str, body: &str) -> String {
    format!(
        "{LINE}{contract}\n__global__ void k(const {ty}* x, {ty}* y, int n, int m, float c) {{\n\
         int i = blockIdx.x*blockDim.x + threadIdx.x;\nif (i >= n) return;\n{body}\n}}\n"
    )
}

fn answer(text: &str) -> Answer {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), solver(), options);
    assert!(answer.contradiction.is_none(), "{:?}\n{text}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Verdict {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").verdict
}

/// The verdict found, or `wanted` if only a solver could decide.
fn at_least(found: Verdict, wanted: Verdict) -> Verdict {
    match (found, solver()) {
        (Unknown, None) => wanted,
        _ => found,
    }
}

fn ensures(ty: &str, claim: &str, body: &str, wanted: Verdict) {
    let text = line(ty, &format!("//@ ensures {claim};"), body);
    let answer = answer(&text);
    assert_eq!(verdict(&answer, Property::Postcondition), wanted, "{text}{:?}", answer.properties);
}

fn floats(claim: &str, body: &str, wanted: Verdict) {
    ensures("float", &format!("\\forall int j; 0 <= j < n ==> {claim}"), body, wanted);
}

#[test]
fn initial_contents_in_claims() {
    floats("y[j] == \\old(y[j]) + 1", "y[i] = y[i] + 1;", Proved);
    floats("y[j] == \\old(y[j]) + 1", "y[i] = y[i] + 1; y[i] = y[i] + 1;", Refuted);
    floats("y[j] == \\old(y[j])", "if (i > 3) y[i] = x[i];", Refuted);
    floats("j > 3 || y[j] == \\old(y[j])", "if (i > 3) y[i] = x[i];", Proved);
    floats(
        "j <= 3 ==> y[j] == \\old(y[j]) && x[j] == \\old(x[j])",
        "if (i > 3) y[i] = x[i];",
        Proved,
    );
    floats("y[j] == y[j]", "y[i] = x[i];", Proved);
    floats("y[j] == x[0]", "y[i] = x[0];", Proved);
}

/// A loop may have no iterations.
#[test]
fn loops_that_do_nothing() {
    let sum = "float a = 0; for (int k = 0; k < m; k++) a += c; y[i] = a;";
    floats("y[j] == m*c", sum, Proved);
    floats("y[j] == (m - 1)*c + c", sum, Proved);
    let late = "float a = 0; for (int k = 1; k < m; k++) a += c; y[i] = a;";
    floats("y[j] == (m - 1)*c", late, Refuted);
    floats(
        "m > 0 ==> y[j] == m*c - c",
        &late.replace("1;", "0;").replace("a = 0", "a = -c"),
        Proved,
    );
    let last = "for (int k = 0; k < m; k++) y[i] = c;";
    floats("y[j] == c", last, Refuted);
    floats("m > 0 ==> y[j] == c", last, Proved);
}

#[test]
fn sums_have_ranges() {
    let sum = "float a = 0; for (int k = 0; k < n; k++) a += x[k]; y[i] = a;";
    floats("y[j] == \\sum(k, 0, n, x[k])", sum, Proved);
    floats("y[j] == \\sum(k, 0, j, x[k]) + \\sum(k, j, n, x[k])", sum, Proved);
    floats("y[j] == \\sum(k, 0, j, x[k]) + \\sum(k, j + 1, n, x[k])", sum, Refuted);
    floats("y[j] == \\sum(k, 1, n, x[k]) + x[0]", sum, Proved);
    floats("y[j] == \\sum(k, 0, n - 1, x[k])", sum, Refuted);
    // Two ranges that overlap, or one of which is empty, are not one range.
    floats("y[j] == \\sum(k, 0, m, x[0]) + \\sum(k, m, n, x[0])", "y[i] = n*x[0];", Refuted);
    // Elements that a claim names must exist.
    floats("y[j] == \\sum(k, 0, n + 1, x[k])", sum, Unknown);
    floats("y[j + 1] == y[j + 1]", sum, Unknown);
}

/// Integers are machine integers: equations between them are modulo 2^32.
#[test]
fn integers_wrap() {
    let words = |claim: &str, body: &str, wanted| {
        ensures("unsigned", &format!("\\forall int j; 0 <= j < n ==> {claim}"), body, wanted);
    };
    words("y[j] == x[j]*x[j] - 1", "y[i] = (x[i] + 1)*(x[i] - 1);", Proved);
    words("y[j] == x[j] - 1", "y[i] = x[i] - 1u;", Proved);
    words("y[j] == x[j] + 1", "y[i] = x[i] - 1u;", Refuted);
    // False in the integers, where 2^32 is not 0.
    words("y[j] + 1 == x[j] + 0", "y[i] = x[i] - 1u;", Refuted);
    words("y[j] + 1 == x[j]", "y[i] = x[i] - 1u;", Proved);
    words("y[j] == 4294967295", "y[i] = 0u - 1u;", Proved);
    words("y[j] == -1", "y[i] = 0u - 1u;", Proved);
    words("y[j] == x[j] + 4294967296", "y[i] = x[i];", Proved);
    words("y[j] == x[j] + 2147483648", "y[i] = x[i];", Refuted);
}

/// 2^32 times a non-integer is not a multiple of 2^32.
#[test]
fn only_integers_wrap() {
    for claim in ["y[j] == x[j] + 4294967296*c", "y[j] == x[j] + 4294967296*0.5"] {
        let claim = format!("//@ ensures \\forall int j; 0 <= j < n ==> {claim};");
        let text = line("unsigned", &claim, "y[i] = x[i];");
        // The text may be refused.
        let Ok(mut kernels) = cuda_front::kernels(&text) else { continue };
        let Ok(kernel) = kernels.remove(0).1 else { continue };
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::prove(&kernel, solver(), options);
        assert_ne!(verdict(&answer, Property::Postcondition), Proved, "{text}");
    }
}

#[test]
fn invariants_of_values() {
    let check = |claim: &str, step: &str, wanted: Verdict| {
        let body = format!(
            "float p = c;\n//@ loop invariant {claim};\nfor (int k = 0; k < m; k++) p = {step};\ny[i] = p;"
        );
        let text = line("float", "//@ ensures \\forall int j; 0 <= j < n ==> y[j] == c;", &body);
        let answer = answer(&text);
        let invariant = verdict(&answer, Property::Invariant);
        assert_eq!(invariant, wanted, "{text}{:?}", answer.properties);
        // Of two claims about one variable the first is used.
        let is_taken = wanted == Proved || claim.contains("&&");
        let postcondition = verdict(&answer, Property::Postcondition);
        assert_eq!(postcondition == Proved, is_taken, "{text}");
    };
    check("p == c", "2*p - c", Proved);
    check("c == p", "2*p - c", Proved);
    check("p == c", "p*p", Unknown);
    check("p == c + 1", "2*p - c - 1", Unknown);
    check("p == c && p == c + 1", "2*p - c", Unknown);
    check("p == c + k", "2*p - c - k", Unknown);
    check("p == y[i]", "2*p - c", Unknown);
}

/// The values of other threads at the end of an iteration may be used in the next.
#[test]
fn invariants_hold_for_all_threads() {
    let text = |claim: &str| {
        format!(
            "//@ extent y[blockDim.x], s[blockDim.x];\n//@ requires gridDim.x == 1 && m >= 0;\n\
             //@ ensures \\forall int j; 0 <= j < blockDim.x ==> y[j] == c;\n\
             __global__ void k(float* y, int m, float c) {{\n extern __shared__ float s[];\n\
             float p = c;\n//@ loop invariant {claim};\nfor (int k = 0; k < m; k++) {{\n\
             s[threadIdx.x] = p; __syncthreads();\n p = s[blockDim.x - 1 - threadIdx.x]; __syncthreads();\n}}\n\
             y[threadIdx.x] = p;\n}}\n"
        )
    };
    let right = answer(&text("p == c"));
    assert_eq!(verdict(&right, Property::Postcondition), Proved, "{:?}", right.properties);
    let wrong = answer(&text("p == c + threadIdx.x"));
    assert_eq!(verdict(&wrong, Property::Invariant), Unknown);
    assert_ne!(verdict(&wrong, Property::Postcondition), Proved);
}

/// Contracts that no launch satisfies prove nothing.
#[test]
fn contradictory_demands_prove_nothing() {
    let text = line("float", "//@ ensures y[0] == 1;\n//@ requires n < 1;", "y[i] = 2;");
    assert_eq!(verdict(&answer(&text), Property::Postcondition), Unknown);
    // Neither do contracts that no contents satisfy.
    let claim = "//@ ensures \\forall int j; 0 <= j < n ==> y[j] > 5;\n";
    for demand in [
        "\\forall int j; 0 <= j < n ==> x[j] > 0 && x[j] < 0",
        "\\forall int j, k; 0 <= j < n && 0 <= k < n ==> x[j] > 6 && x[k] < 6",
    ] {
        let text = line("int", &format!("{claim}//@ requires {demand};"), "y[i] = x[i];");
        let answer = answer(&text);
        assert!(answer.properties.iter().all(|one| one.verdict == Unknown), "{text}");
    }
    let possible = format!("{claim}//@ requires \\forall int j; 0 <= j < n ==> 5 < x[j] < 9;");
    let text = line("int", &possible, "y[i] = x[i];");
    assert_eq!(at_least(verdict(&answer(&text), Property::Postcondition), Proved), Proved);
}

/// Without race freedom other properties stay open.
#[test]
fn other_properties_come_first() {
    floats("y[0] == x[0]", "y[0] = x[i];", Unknown);
    let text = line("float", "//@ ensures y[0] == x[0];", "y[0] = x[0]; y[i + 1] = c;");
    let answer = answer(&text);
    assert_eq!(verdict(&answer, Property::Bounds), Refuted);
    assert_ne!(verdict(&answer, Property::Postcondition), Proved);
}

/// Numbers in elements are compared, under the contract's claims about contents.
#[test]
fn numbers_are_compared() {
    let ints = |more: &str, claim: &str, body: &str, wanted| {
        let contract = format!("{more}//@ ensures \\forall int j; 0 <= j < n ==> {claim};");
        let text = line("int", &contract, body);
        let answer = answer(&text);
        let found = at_least(verdict(&answer, Property::Postcondition), wanted);
        assert_eq!(found, wanted, "{text}{:?}", answer.properties);
    };
    let bits = "//@ requires \\forall int i; 0 <= i < n ==> 0 <= x[i] <= 1;\n";
    ints("", "y[j] >= 0", "y[i] = i;", Proved);
    ints("", "0 <= y[j] < n", "y[i] = n - 1 - i;", Proved);
    ints("", "y[j] > 0", "y[i] = i;", Refuted);
    ints("", "y[j] > x[j]", "y[i] = x[i] + 1;", Unknown);
    ints(bits, "y[j] > x[j]", "y[i] = x[i] + 1;", Proved);
    ints(bits, "1 <= y[j] <= 2", "y[i] = x[i] + 1;", Proved);
    ints(bits, "1 <= y[j] <= 1", "y[i] = x[i] + 1;", Refuted);
    ints(bits, "y[j] == 1 || y[j] == 2", "y[i] = x[i] + 1;", Proved);
    ints(bits, "x[j] != 0 ==> y[j] == 2", "y[i] = x[i] + 1;", Proved);
    ints(bits, "x[j] == 0 ==> y[j] == 2", "y[i] = x[i] + 1;", Refuted);
    ints("", "y[j] <= \\old(y[j])", "y[i] = y[i] - 1;", Unknown);
    // Wrapped values differ from those in the integers.
    ints("", "y[j] == 2147483647 || y[j] < 2147483647", "y[i] = x[i];", Proved);
    ints("", "y[j] >= 0", "y[i] = x[i]*x[i];", Unknown);
}

#[test]
fn lemmas_are_shown() {
    let check = |lemma: &str, wanted| {
        let text = line("float", &format!("//@ lemma {lemma};"), "y[i] = c;");
        let answer = answer(&text);
        let found = at_least(verdict(&answer, Property::Invariant), wanted);
        assert_eq!(found, wanted, "{lemma}: {:?}", answer.properties);
    };
    check("plain(int x, int z): x <= z && z <= x ==> x == z", Proved);
    check("doubled(int x) by induction(x): 0 <= x ==> 0 <= 2*x", Proved);
    check("late(int x) by induction(x): x >= 3 ==> x >= 4", Unknown);
    // True from 0 on, and false below.
    check("natural(int x) by induction(x): x >= 0", Unknown);
    check("wrong(int x) by induction(x): x == 0", Unknown);
    check("first(int x) by induction(x): x >= 1", Unknown);
}

/// A lemma applies where a `use` names it, and to the variables of claims. A lemma that is not proved has no effect.
#[test]
fn lemmas_are_used() {
    let text = |lemma: &str, uses: &str, claim: &str| {
        format!(
            r"//@ lemma {lemma};
            //@ extent y[n];
            //@ requires gridDim.x == 1 && blockDim.x == n && n <= 1000;
            //@ ensures \forall int i; 0 <= i < n ==> y[i] == i*(i + 1)/2;
            __global__ void k(int* y, int n) {{
              int t = threadIdx.x;
              int p = t*(t + 1);
              {uses}
              //@ assert {claim};
              y[t] = p/2;
            }}"
        )
    };
    let even = "even(int x) by induction(x): 0 <= x ==> (x*x + x)%2 == 0";
    let check = |text: &str, wanted| {
        if solver().is_none() {
            return;
        }
        let answer = answer(text);
        let found = verdict(&answer, Property::Invariant);
        assert_eq!(found, wanted, "{text}: {:?}", answer.properties);
    };
    check(&text(even, "//@ use even(t);", "p%2 == 0"), Proved);
    // In claims it applies to their variables.
    let all = text(even, "", "p >= 0").replace("y[i] == i*(i + 1)/2", "(i*i + i)%2 == 0");
    check(&all, Proved);
    // It says nothing about other numbers.
    check(&text(even, "//@ use even(t + 1);", "p%2 == 1"), Refuted);
    // A wrong lemma is not proved by means of itself.
    let wrong = "wrong(int x): x > blockDim.x";
    check(&text(wrong, "//@ use wrong(blockDim.x);", "p%2 == 1"), Refuted);
    let never = "never(int x): 0 <= x ==> x < 900";
    // Launches at the number it names refute it.
    check(&text(never, "//@ use never(t);", "t < 900"), Refuted);
}

/// Reads and writes must lie in the elements that the contract names, if it names any.
#[test]
fn footprints_are_checked() {
    let check = |contract: &str, body: &str, wanted| {
        let text = format!(
            "//@ extent x[n], y[n], z[n];\n\
             //@ requires n == gridDim.x*blockDim.x && n >= 2 && n <= 2147483647;\n\
             {contract}\n\
             __global__ void k(const float* x, float* y, float* z, int n) {{\n\
             int i = blockIdx.x*blockDim.x + threadIdx.x;\n{body}\n}}"
        );
        let answer = answer(&text);
        let found = verdict(&answer, Property::Postcondition);
        assert_eq!(found, wanted, "{text}: {:?}", answer.properties);
    };
    let copy = "y[i] = x[i];";
    check("//@ writes y[0 .. n-1];", copy, Proved);
    check("//@ reads x[0 .. n-1];", copy, Proved);
    check("//@ writes y[0 .. n-1]; reads x[0 .. n-1];", copy, Proved);
    check("//@ writes y[0 .. n-2];", copy, Refuted);
    check("//@ writes y[1 .. n-1];", copy, Refuted);
    check("//@ reads x[0 .. n-2];", copy, Refuted);
    // Some cases need a solver, such as two ranges that together cover the writes.
    let together = if solver().is_some() { Proved } else { Unknown };
    check("//@ writes y[0 .. 0], y[1 .. n-1];", copy, together);
    check("//@ writes y[0 .. 0], y[2 .. n-1];", copy, Refuted);
    // An array that is not named must not be written.
    check("//@ writes z[0 .. n-1];", copy, Refuted);
    check("//@ reads y[0 .. n-1];", copy, Refuted);
    check("//@ writes y[0 .. n-1];", "if (i > n) z[i] = 0; y[i] = x[i];", Proved);
    check("//@ writes y[0 .. n-1];", "if (i > 4) z[i] = 0; y[i] = x[i];", Refuted);
    // Parameters in a contract are the initial ones.
    check("//@ writes y[0 .. n-1];", "n = 1; y[i] = x[i];", Proved);
    // An atomic operation both reads and writes.
    check("//@ writes y[0 .. n-1]; reads x[0 .. n-1];", "atomicAdd(&y[i], x[i]);", Refuted);
}

/// A conjunct of an invariant counted as proved where others of the same annotation were.
#[test]
fn every_conjunct_of_an_invariant_is_proved() {
    let text = |conjunct: &str| {
        format!(
            "//@ extent s[blockDim.x], y[blockDim.x];
             //@ requires gridDim.x == 1 && m < 1000;
             __global__ void k(float* y, float c, int m) {{
               extern __shared__ int s[];
               int t = threadIdx.x;
               float p = c;
               s[t] = 0;
               __syncthreads();
               //@ loop invariant p == c && (\\forall int i; 0 <= i < blockDim.x ==> s[i] == 0){conjunct};
               for (int k = 0; k < m; k++) {{ p = 2*p - c; s[t] = 0; __syncthreads(); }}
               y[t] = p;
             }}"
        )
    };
    let fine = answer(&text(""));
    assert_eq!(at_least(verdict(&fine, Property::Invariant), Proved), Proved, "{fine:?}");
    for conjunct in ["m == 999 ==> s[0] != 0", "p != c", "m == 999 ==> p == c + 1"] {
        let wrong = answer(&text(&format!(" && ({conjunct})")));
        assert_ne!(verdict(&wrong, Property::Invariant), Proved, "{conjunct}");
    }
}
