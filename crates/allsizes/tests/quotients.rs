//! Flattened launches: one number split by `/` and `%` into digits of symbolic sizes. All are proved without a solver.

mod support;

use allsizes::{Verdict, engine::Property};
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

/// Proved without a solver; other properties may need one.
fn has_proved(property: Property, text: &str) {
    let answer = answer(text, None);
    let checked = answer.properties.iter().find(|one| one.property == property);
    assert_eq!(checked.map(|one| one.verdict), Some(Verdict::Proved), "{text}{answer:?}");
}

#[test]
fn the_least_product_of_sizes_bounds_a_quotient() {
    let rows = |launch: &str, index: &str| {
        let launch = format!("h*w % blockDim.x == 0 && gridDim.x == {launch}");
        let digits = "int y = p/w; int x = p % w;";
        let stores = format!("for (int z = 0; z < d; z++) out[({index})*w + x] = in[0];");
        kernel(SAME, &launch, &format!("{digits} {stores}"))
    };
    has_proved(Property::Bounds, &rows("h*w/blockDim.x", "y*d + z"));
    none_of_them_is_proved(&[
        rows("h*w/blockDim.x", "y*(d - 1) + z"),
        rows("h*w/blockDim.x + 1", "y*d + z"),
    ]);
}

#[test]
fn a_remainder_before_an_unrolled_loop_belongs_to_its_row() {
    let rows = |rest: &str, start: &str, last: i32| {
        let launch = "gridDim.x*blockDim.x >= d && w + 4 <= 2147483647 && d*w <= 2147483647";
        let first = format!("int odd = {rest}; for (int j = 0; j < odd; j++) out[p*w + j] = 0;");
        let stores = format!("out[p*w + k] = 1; out[p*w + k + {last}] = 2;");
        let second = format!("for (int k = {start}; k < w; k += 4) {{ {stores} }}");
        kernel("in[d*h*w], out[d*w]", launch, &format!("if (p < d) {{ {first} {second} }}"))
    };
    has_proved(Property::Races, &rows("w % 4", "odd", 3));
    none_of_them_is_proved(&[
        rows("w % 4", "odd", 4),
        rows("w % 3", "odd", 3),
        rows("w % 4 + 1", "odd", 3),
        rows("w % 4", "odd - 1", 3),
    ]);
}

#[test]
fn halves_of_a_tile_stay_inside_it() {
    let tiles = |half: &str, end: &str| {
        let launch = "gridDim.x*blockDim.x >= d && w + 4 <= 2147483647 && d*w <= 2147483647";
        let loops = format!(
            "int half = k0 + ({half})/2;
             for (int j = k0; j < half; j++) out[p*w + j] = 1;
             for (int i = half; i < {end}; i++) out[p*w + i] = 2;"
        );
        let tiles = format!("if (p < d) {{ for (int k0 = 0; k0 < w; k0 += 3) {{ {loops} }} }}");
        kernel("in[d*h*w], out[d*w]", launch, &tiles)
    };
    has_proved(Property::Races, &tiles("min(k0 + 3, w) - k0", "min(k0 + 3, w)"));
    none_of_them_is_proved(&[
        // Truncated, a negative half is one greater than rounded down.
        tiles("min(k0 + 3, w) - k0 - 4", "min(k0 + 3, w)"),
        tiles("min(k0 + 3, w) - k0", "min(k0 + 4, w + 1)"),
    ]);
}
