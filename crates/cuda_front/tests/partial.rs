//! Which float operations of a kernel are listed as not defined everywhere ([`kir::partial`]).

use kir::partial::{Demand, operations};

/// The requirements that a kernel of one expression leaves, with `true` for those that are never satisfied.
fn demands(expression: &str) -> Vec<(Demand, bool)> {
    let text = format!(
        "__global__ void k(const float* a, float* c, float p, unsigned u) {{
            float x = a[0]; float d = 1.0f + expf(-x); c[0] = {expression};
        }}"
    );
    let (_, kernel) = cuda_front::kernels(&text).unwrap().remove(0);
    operations(&kernel.unwrap())
        .iter()
        .map(|operation| (operation.demand, operation.is_never_defined))
        .collect()
}

#[test]
fn operations_valid_by_their_signs_are_not_listed() {
    let fine = [
        "x / 2.0f",
        "x / d",
        "x / (x*x + 1e-5f)",
        "rsqrtf(fabsf(x) + 0.1f)",
        "sqrtf(x*x)",
        "logf(1.0f + u)",
        "x / fmaxf(x, 1.0f)",
        "powf(x, 2.0f)",
        "powf(expf(x), p)",
        "fmodf(x, -3.0f)",
        "asinf(sinf(x))",
        "log1pf(expf(x))",
        "x / (p > 0 ? 1.0f : -1.0f)",
        "sqrtf(fmaf(x, x, 0.0f))",
    ];
    for expression in fine {
        assert_eq!(demands(expression), [], "{expression}");
    }
}

#[test]
fn operations_that_may_have_no_value_are_listed() {
    let cases = [
        ("x / p", Demand::Divisor, false),
        ("x / u", Demand::Divisor, false),
        ("x / (d - 1.0f)", Demand::Divisor, false),
        ("x / 0.0f", Demand::Divisor, true),
        ("x / (0.0f * 3.0f)", Demand::Divisor, true),
        ("x / fminf(x, 1.0f)", Demand::Divisor, false),
        ("sqrtf(x)", Demand::NotNegative("sqrt"), false),
        ("sqrtf(-1.0f)", Demand::NotNegative("sqrt"), true),
        ("sqrtf(x * p)", Demand::NotNegative("sqrt"), false),
        ("rsqrtf(x*x)", Demand::Positive("rsqrt"), false),
        ("tanf(x)", Demand::NotAPole, false),
        ("logf(0.0f)", Demand::Positive("log"), true),
        ("log1pf(x)", Demand::AboveMinusOne, false),
        ("log1pf(-1.0f)", Demand::AboveMinusOne, true),
        ("asinf(2.0f)", Demand::WithinOne("asin"), true),
        ("acosf(x)", Demand::WithinOne("acos"), false),
        ("powf(x, p)", Demand::Power, false),
        ("powf(x, -2.0f)", Demand::Power, false),
        ("powf(x, 0.5f)", Demand::Power, false),
        ("fmodf(x, p)", Demand::Divisor, false),
        ("__fdividef(x, p)", Demand::Divisor, false),
    ];
    for (expression, demand, never) in cases {
        assert_eq!(demands(expression), [(demand, never)], "{expression}");
    }
}
