//! Flattened launches: one number split by `/` and `%` into digits of symbolic sizes. All are proved without a solver.

mod support;

use allsizes::Verdict;
use support::mutants::{answer, verdict};

/// A kernel with a contract about three sizes.
fn kernel(extents: &str, launch: &str, body: &str) -> String {
    format!(
        "//@ extent {extents};
         //@ requires d >= 1 && h >= 1 && w >= 1 && d*h*w <= 2147483647 && {launch};
         __global__ void k(const float* in, float* out, int d, int h, int w) {{
           int p = blockIdx.x*blockDim.x + threadIdx.x;
           {body}
         }}"
    )
}

const SAME: &str = "in[d*h*w], out[d*h*w]";
const RAGGED: &str = "gridDim.x*blockDim.x >= d*h*w";
const EXACT: &str = "gridDim.x*blockDim.x == d*h*w";

fn are_proved(kernels: &[String]) {
    for text in kernels {
        let answer = answer(text, None);
        assert!(answer.contradiction.is_none(), "{text}");
        assert_eq!(verdict(&answer), Verdict::Proved, "{text}{answer:?}");
    }
}

/// Without a solver: it takes long to give up.
fn none_of_them_is_proved(kernels: &[String]) {
    for text in kernels {
        assert_ne!(verdict(&answer(text, None)), Verdict::Proved, "{text}");
    }
}

#[test]
fn digits_are_inside_their_sizes() {
    let digits = "int z = p/(h*w); int i = p % (h*w);";
    let same = format!("if (p < d*h*w) {{ {digits} out[z*(h*w) + i] = in[i*d + z]; }}");
    let transposed = format!("if (p < d*h*w) {{ {digits} out[i*d + z] = in[z*(h*w) + i]; }}");
    let unguarded = transposed.replace("if (p < d*h*w)", "");
    are_proved(&[
        kernel(SAME, RAGGED, &same),
        kernel(SAME, RAGGED, &transposed),
        kernel(SAME, EXACT, &unguarded),
        kernel(SAME, EXACT, &format!("{digits} out[p] = in[i*d + z];")),
    ]);
    none_of_them_is_proved(&[
        // Another divisor, a guard that is too weak, no guard, an array that is too small.
        kernel(SAME, RAGGED, &transposed.replace("p/(h*w)", "p/(d*w)")),
        kernel(SAME, RAGGED, &transposed.replace("p % (h*w)", "p % (d*w)")),
        kernel(SAME, RAGGED, &transposed.replace("p < d*h*w", "p <= d*h*w")),
        kernel(SAME, RAGGED, &unguarded),
        kernel("in[d*h*w], out[(d - 1)*h*w]", RAGGED, &same),
    ]);
}

#[test]
fn rows_whose_length_is_a_sum_do_not_meet() {
    let rows = |row: &str| {
        kernel(
            "in[d*h*w], out[d*(h + w)]",
            "gridDim.x == d && d*(h + w) <= 2147483647 && h + w + blockDim.x <= 2147483647",
            &format!(
                "for (int i = threadIdx.x; i < h + w; i += blockDim.x) out[blockIdx.x*({row}) + i] = p;"
            ),
        )
    };
    are_proved(&[rows("h + w")]);
    none_of_them_is_proved(&[rows("h"), rows("h + w - 1")]);
}

#[test]
fn a_comparison_selects_an_extreme() {
    let chunks = |end: &str, guard: &str| {
        kernel(
            SAME,
            "gridDim.x*blockDim.x*4 >= d*h*w && gridDim.x*blockDim.x*4 <= 2147483647",
            &format!(
                "int first = p*4; int last = {end};
                 for (int i = first; i < last; i++) {{ {guard} out[i] = in[i]; }}"
            ),
        )
    };
    are_proved(&[
        chunks("first + 4 < d*h*w ? first + 4 : d*h*w", ""),
        chunks("first + 4 > d*h*w ? d*h*w : first + 4", ""),
        chunks("d*h*w <= first + 4 ? d*h*w : first + 4", ""),
    ]);
    none_of_them_is_proved(&[
        chunks("first + 4 > d*h*w ? first + 4 : d*h*w", ""),
        chunks("first + 4 < d*h*w ? d*h*w : first + 4", ""),
        chunks("first + 4 < d*h*w ? first + 5 : d*h*w", ""),
    ]);
}
