//! Loops left in the middle: what a thread knows when it leaves is known of no other iteration, and of no other exit.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use support::kernel;

fn answer(text: &str) -> Answer {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), None, options);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Verdict {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").verdict
}

/// A kernel of an array with `n` elements, of a size that no run tries; `rare` is one value of it.
fn rarely(body: &str) -> String {
    let body = body.replace("rare", "n == 1234567");
    format!(
        "//@ extent a[n];
         //@ requires n > 1000000 && n < 2000000 && gridDim.x*blockDim.x <= 1000000;
         __global__ void k(int* a, int n, int m) {{ int i = 0, q = 0; {body} }}"
    )
}

/// The condition of a `break` was known in every iteration, not only in the last one.
#[test]
fn only_the_last_iteration_breaks() {
    let loops = [
        ("do { VISIT i++; } while (i != 4);", "i - 3"),
        ("while (true) { VISIT if (i == 3) break; i++; }", "i - 3"),
        ("for (;; i++) { if (m == 7 && i == 3) break; VISIT if (i == 3) break; }", "i - 3"),
        ("while (i < 9) { VISIT if (i >= 3) break; i++; }", "i - 3"),
    ];
    for (text, index) in loops {
        for (visit, property) in [
            (format!("if (rare) a[{index}] = 0;"), Property::Bounds),
            ("if (rare) q = 100 / i;".to_owned(), Property::Division),
            ("if (rare) { assert(i == 3); }".to_owned(), Property::Invariant),
        ] {
            let text = rarely(&text.replace("VISIT", &visit));
            assert_eq!(verdict(&answer(&text), property), Verdict::Unknown, "{text}");
        }
    }
    let race = "//@ requires gridDim.x == 1 && blockDim.x <= 256 && m > 100000000;
        __global__ void k(int* a, int m) {
          __shared__ int s[1024];
          int i = 0;
          do { if (m == 123456789) s[i * threadIdx.x] = threadIdx.x; i++; } while (i != 4);
        }";
    assert_eq!(verdict(&answer(race), Property::Races), Verdict::Unknown);
}

/// A wrong index in an early iteration is found by a run.
#[test]
fn early_iterations_are_run() {
    let answer = answer(
        "//@ extent a[n];
         //@ requires n > 10 && n < 1000;
         __global__ void k(int* a, int n) {
           int i = 0;
           while (true) { a[i - 3] = 0; if (i == 3) break; i++; }
         }",
    );
    assert_eq!(verdict(&answer, Property::Bounds), Verdict::Refuted);
}

/// The facts of an exit that no thread takes held for all threads after the loop.
#[test]
fn exits_that_are_never_taken() {
    for text in [
        "while (m < 1) { if (i == 3) break; i = (i + 1) & 7; }",
        "while (m < 1) { if (i == 3) break; i++; if (i > 9) break; }",
        "for (q = 0; q < n; q++) { if (q == 3) break; } i = q + 97;",
    ] {
        let text = format!("{text} if (rare) a[i - 100] = 0;");
        let text = rarely(&text).replace("1000000;", "1000000 && m < 1;");
        assert_eq!(verdict(&answer(&text), Property::Bounds), Verdict::Unknown, "{text}");
    }
}

/// An iteration is only reached if none before it left the loop.
#[test]
fn earlier_iterations_did_not_leave() {
    let text = |body: &str| {
        format!(
            "//@ extent a[n];
             //@ requires n >= 1 && gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(int* a, int n, int m) {{ int i = 0; {body} }}"
        )
    };
    for (body, property, wanted) in [
        ("do { a[i] = 1; i++; } while (i < n);", Property::Bounds, Verdict::Proved),
        ("do { a[i] = 1; i++; } while (i <= n);", Property::Bounds, Verdict::Refuted),
        ("do { a[i] = 1; i += 2; } while (i < n);", Property::Bounds, Verdict::Proved),
        ("do { a[i] = 1; i++; } while (i < n && i != m);", Property::Bounds, Verdict::Proved),
        ("while (true) { a[i] = 1; i++; if (i >= n) break; }", Property::Bounds, Verdict::Proved),
        ("while (true) { if (i >= n) break; a[i] = 1; i++; }", Property::Bounds, Verdict::Proved),
        ("while (true) { if (i >= n) return; a[i] = 1; i++; }", Property::Bounds, Verdict::Proved),
        (
            "for (; i < 100; i++) { a[i] = 1; if (i == n - 1) break; }",
            Property::Bounds,
            Verdict::Proved,
        ),
        ("do { i++; } while (i < n); a[i - 1] = 1;", Property::Bounds, Verdict::Proved),
        ("do { i++; } while (i < n); a[i] = 1;", Property::Bounds, Verdict::Refuted),
        ("do { a[i] = 1; i++; } while (i != n);", Property::Bounds, Verdict::Proved),
        ("for (; i != n + 1; i++) a[i] = 1;", Property::Bounds, Verdict::Refuted),
        ("for (; i != n; i++) a[i + 1] = 1;", Property::Bounds, Verdict::Refuted),
        ("do { a[i] = 1; i++; } while (i != n + 1);", Property::Bounds, Verdict::Refuted),
        ("i = n; do { i--; a[i] = 1; } while (i != 0);", Property::Bounds, Verdict::Proved),
        ("i = 1; do { a[i] = 1; i++; } while (i != n);", Property::Bounds, Verdict::Refuted),
        (
            "int p = n; do { a[p - 1] = 1; p /= 2; } while (p > 0);",
            Property::Bounds,
            Verdict::Proved,
        ),
    ] {
        let text = text(body);
        assert_eq!(verdict(&answer(&text), property), wanted, "{text}");
    }
}

/// The same in loops with barriers, whose iterations are those of the block.
#[test]
fn loops_with_barriers() {
    let text = |last: &str| {
        format!(
            "//@ requires gridDim.x == 1 && blockDim.x == 256 && m >= 1;
             __global__ void k(int* a, int m) {{
               __shared__ int s[256];
               int t = threadIdx.x, i = 0;
               do {{ if (t + i < 256) s[t + i] = i; __syncthreads(); i++; }} while (i {last});
             }}"
        )
    };
    for (last, wanted) in [("< m", Verdict::Proved), ("< m + t", Verdict::Refuted)] {
        let text = text(last);
        assert_eq!(verdict(&answer(&text), Property::Barriers), wanted, "{text}");
    }
    assert_eq!(verdict(&answer(&text("< m")), Property::Races), Verdict::Proved);
}

/// A loop that ends at equality has as many iterations as one that ends at the bound.
#[test]
fn loops_until_equality_are_sums() {
    let Some(solver) = support::solver() else { return };
    let text = |first: i32| {
        format!(
            "//@ extent a[n], out[1];
             //@ requires n >= 1 && gridDim.x == 1 && blockDim.x == 1;
             //@ ensures out[0] == \\sum(k, 0, n, a[k]);
             __global__ void k(const float* a, float* out, int n) {{
               float s = 0;
               for (int i = {first}; i != n; i++) s += a[i];
               out[0] = s;
             }}"
        )
    };
    let options = Options { infers: true, suggests: false };
    let (right, solver) = allsizes::prove(&kernel(&text(0)), Some(solver), options);
    assert_eq!(verdict(&right, Property::Bounds), Verdict::Proved);
    assert_eq!(verdict(&right, Property::Postcondition), Verdict::Proved);
    let (wrong, _) = allsizes::prove(&kernel(&text(1)), solver, options);
    assert_eq!(verdict(&wrong, Property::Postcondition), Verdict::Refuted);
}
