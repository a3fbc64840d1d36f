//! The level at which a value is shared: by a thread, a warp, a block, the launch.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use support::{kernel, solver};

fn answer(text: &str) -> Answer {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), solver(), options);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Verdict {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").verdict
}

/// Two different real numbers were one where both are the same in all threads, so the condition that chose one of
/// them was lost.
#[test]
fn a_choice_of_two_numbers_depends_on_its_condition() {
    let texts = |choice: &str| {
        [
            format!(
                "//@ requires blockDim.x < 1024;
                 __global__ void k(float* a, float p, float q, int m) {{
                   int t = threadIdx.x; {choice}
                   if (f > 1.5f) __syncthreads();
                 }}"
            ),
            format!(
                "//@ extent a[1];
                 //@ requires gridDim.x == 1;
                 __global__ void k(int* a, float p, float q, int m) {{
                   int t = threadIdx.x; {choice}
                   a[0] = (int)f;
                 }}"
            ),
        ]
    };
    for choice in [
        "float f = 2.0f; if (t == 777) f = 1.0f;",
        "float f = t < 1023 ? 2.0f : 1.0f;",
        "float f = t == 777 ? p : q;",
        "float f = p; if (t == 777) f = q;",
        "float f = 1.0f; for (int i = 0; i < 9; i++) { if (t == 777) continue; f = 2.0f; }",
        "float f = 1.0f; while (m > 0) { if (t == 777) break; f = 2.0f; m--; }",
    ] {
        for (text, property) in texts(choice).into_iter().zip([Property::Barriers, Property::Races])
        {
            assert_ne!(verdict(&answer(&text), property), Verdict::Proved, "{text}");
        }
    }
    // A choice that all threads make alike, and a number that no branch assigns.
    for choice in [
        "float f = m > 3 ? 2.0f : 1.0f;",
        "float f = 2.0f; int z = 0; if (t == 777) z = 1; f += 1.0f;",
        "float f = p; for (int i = 0; i < m; i++) { if (i > 7) f = q; __syncthreads(); }",
    ] {
        for (text, property) in texts(choice).into_iter().zip([Property::Barriers, Property::Races])
        {
            assert_eq!(verdict(&answer(&text), property), Verdict::Proved, "{text}");
        }
    }
}

/// The number of iterations of a loop with operations of a warp was the same in the whole block.
#[test]
fn values_of_a_warp_differ_in_a_block() {
    let text = |contract: &str, count: &str| {
        format!(
            "//@ extent y[n];
             //@ requires gridDim.x == 1 && blockDim.x == n{contract};
             __global__ void k(int* y, int n) {{
               int t = threadIdx.x;
               int v = 1;
               for (int k = 0; k < {count}; k++) {{ __syncwarp(); v = v * 3 + 1; }}
               y[t] = v;
             }}"
        )
    };
    let pairs = "&& n == 64;
        //@ ensures \\forall int i, j; 0 <= i < n && 0 <= j < n ==> y[i] == y[j]";
    let first = ";
        //@ ensures \\forall int i; 0 <= i < n ==> y[i] == y[0]";
    for contract in [pairs, first] {
        for count in ["t / 32", "(t / 32) % 2"] {
            let text = text(&format!(" {contract}"), count);
            let answer = answer(&text);
            assert_ne!(verdict(&answer, Property::Postcondition), Verdict::Proved, "{text}");
        }
    }
}
