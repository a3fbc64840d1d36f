//! `prove --ensures`: kernels in CUDA C against formulas, for every size.
//!
//! Right kernels are proved and wrong ones are not, without a solver. Many of the wrong ones have formulas that a
//! careless translation would weaken: a claim dropped for a maximum over nothing, a row that runs into the next one,
//! a `let` beyond its range, names redefined in the file, numbers without a float.

use snapbox::cmd::{Command, cargo_bin};

/// Runs `prove` on a kernel; returns the exit status, and output with messages.
fn prove(kernel: &str, formula: &str, arguments: &[&str], requires: &[&str]) -> (i32, String) {
    let mut command = Command::new(cargo_bin!("warpproof")).stdin(kernel);
    command = command.args(["prove", "-", "--no-solver", "--no-compare", "--ensures", formula]);
    command = command.args(arguments.iter().flat_map(|argument| ["--arg", argument]));
    command = command.args(requires.iter().flat_map(|require| ["--requires", require]));
    let output = command.assert().get_output().clone();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// A launch of one thread, so that only values matter.
const ALONE: &str = "gridDim.x == 1 && blockDim.x == 1";

/// A kernel of one thread with this body.
fn alone(parameters: &str, body: &str) -> String {
    format!("__global__ void k({parameters}) {{ {body} }}\n")
}

struct Case {
    parameters: &'static str,
    arguments: &'static [&'static str],
    formula: &'static str,
    right: &'static str,
    wrong: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        parameters: "const float* x, float* y, int m, int n",
        arguments: &["x=f32[m,n]", "y=f32[m]:out"],
        formula: "y[i] = sum(k, x[i,k])",
        right: "for (int i = 0; i < m; i++) { float s = 0; for (int k = 0; k < n; k++) s += x[i*n + k]; y[i] = s; }",
        wrong: &[
            "for (int i = 0; i < m; i++) { float s = 0; for (int k = 1; k < n; k++) s += x[i*n + k]; y[i] = s; }",
            "for (int i = 0; i < m; i++) { float s = 0; for (int k = 0; k < n; k++) s += x[i*n]; y[i] = s; }",
            "for (int i = 1; i < m; i++) { float s = 0; for (int k = 0; k < n; k++) s += x[i*n + k]; y[i] = s; }",
        ],
    },
    // In place: the formula reads the old contents.
    Case {
        parameters: "const float* x, float* y, float a, int n",
        arguments: &["x=f32[n]", "y=f32[n]:inout"],
        formula: "y[i] = a*x[i] + y[i]",
        right: "for (int i = 0; i < n; i++) y[i] += a*x[i];",
        wrong: &[
            "for (int i = 0; i < n; i++) y[i] = a*x[i] + y[0];",
            "for (int i = 0; i < n; i++) y[i] = y[i];",
        ],
    },
    // The kernel overwrites an input; the formula refers to its old contents.
    Case {
        parameters: "float* x, float* y, int n",
        arguments: &["x=f32[n]:inout", "y=f32[n]:out"],
        formula: "y[i] = 2*x[i]",
        right: "for (int i = 0; i < n; i++) { y[i] = 2.0f*x[i]; x[i] = 0; }",
        wrong: &["for (int i = 0; i < n; i++) { x[i] = x[i] + 1; y[i] = 2.0f*x[i]; }"],
    },
    Case {
        parameters: "const float* x, float* y, int n",
        arguments: &["x=f32[n]", "y=f32[n]:out"],
        formula: "let d[i] = x[i] - x[i-1 else 0]; y[j] = d[j]*d[j] + sum(i in 0..j+1, x[i])",
        right: "for (int i = 0; i < n; i++) { float d = x[i] - (i > 0 ? x[i - 1] : 0.0f), s = 0; \
                for (int k = 0; k <= i; k++) s += x[k]; y[i] = d*d + s; }",
        wrong: &[
            "for (int i = 0; i < n; i++) { float d = x[i] - (i > 0 ? x[i - 1] : 0.0f), s = 0; \
             for (int k = 0; k < i; k++) s += x[k]; y[i] = d*d + s; }",
            "for (int i = 0; i < n; i++) { float d = x[i] - (i > 0 ? x[i - 1] : x[0]), s = 0; \
             for (int k = 0; k <= i; k++) s += x[k]; y[i] = d*d + s; }",
        ],
    },
    Case {
        parameters: "const float* x, const float* w, float* y, int n, int v",
        arguments: &["x=f32[n]", "w=f32[v]", "y=f32[n]:out"],
        formula: "y[i] = sum(k, x[i+k-1 else 0]*w[k])",
        right: "for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < v; k++) { int at = i + k - 1; \
                if (at >= 0 && at < n) s += x[at]*w[k]; } y[i] = s; }",
        wrong: &[
            "for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < v; k++) { int at = i + k; \
             if (at >= 0 && at < n) s += x[at]*w[k]; } y[i] = s; }",
        ],
    },
    Case {
        parameters: "const float* x, float* y, int m, int n",
        arguments: &["x=f32[m,n]", "y=f32[m,n]:out"],
        formula: "y[i,j] = 0.1*x[i,j] + 1e-5",
        right: "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[i*n + j] = 0.1f*x[i*n + j] + 1e-5f;",
        wrong: &[
            "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[i*n + j] = 0.1f*x[i*n + j] + 1e-4f;",
        ],
    },
    Case {
        parameters: "const int* t, int* y, int n",
        arguments: &["t=s32[n]", "y=s32[n]:out"],
        formula: "y[i] = t[i]*3 + i // 2",
        right: "for (int i = 0; i < n; i++) y[i] = i/2 + 3*t[i];",
        wrong: &[
            "for (int i = 0; i < n; i++) y[i] = i/2 + 2*t[i];",
            "for (int i = 0; i < n; i++) y[i] = (i + 1)/2 + 3*t[i];",
        ],
    },
];

#[test]
fn kernels_are_proved_and_twins_are_not() {
    let sizes = "n <= 10000";
    for case in CASES {
        let requires: Vec<&str> = [ALONE, sizes]
            .into_iter()
            .chain(case.parameters.contains("int m").then_some("m <= 10000"))
            .chain(case.parameters.contains("int v").then_some("v <= 10000"))
            .collect();
        let (exit, text) =
            prove(&alone(case.parameters, case.right), case.formula, case.arguments, &requires);
        assert_eq!(exit, 0, "{}: {text}", case.formula);
        for wrong in case.wrong {
            let (exit, text) =
                prove(&alone(case.parameters, wrong), case.formula, case.arguments, &requires);
            assert_eq!(exit, 1, "{wrong}: {text}");
            assert!(text.contains(" --> formula:1:"), "{text}");
        }
    }
}

/// An input keeps its contents, and one that the formula does not mention, too.
#[test]
fn inputs_are_not_changed() {
    let requires = [ALONE, "n <= 1000"];
    let twice = "for (int i = 0; i < n; i++) { y[i] = 2.0f*x[i]; x[i] = 0; }";
    let one = alone("float* x, float* y, int n", twice);
    let (exit, text) = prove(&one, "y[i] = 2*x[i]", &["x=f32[n]", "y=f32[n]:out"], &requires);
    assert_eq!(exit, 1, "{text}");
    let beside = "for (int i = 0; i < n; i++) { y[i] = 2.0f*x[i]; z[i] = 0; }";
    let one = alone("const float* x, float* y, float* z, int n", beside);
    for (z, expected) in [("z=f32[n]", 1), ("z=f32[n]:inout", 0)] {
        let arguments = ["x=f32[n]", "y=f32[n]:out", z];
        let (exit, text) = prove(&one, "y[i] = 2*x[i]", &arguments, &requires);
        assert_eq!(exit, expected, "{z}: {text}");
    }
}

/// Assumptions from the file are marked, since another author may have written it than the command line.
#[test]
fn preconditions_of_the_file_are_told_apart() {
    let kernel =
        alone("const float* x, float* y, int n", "for (int i = 0; i < n; i++) y[i] = 3.0f*x[i];");
    let arguments = ["x=f32[n]", "y=f32[n]:out"];
    let text = format!("//@ requires n == 0;\n{kernel}");
    let (exit, text) = prove(&text, "y[i] = 2*x[i]", &arguments, &[ALONE]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("assumed: requires n == 0 (stated in the file)\n"), "{text}");
    assert!(text.contains("assumed: requires gridDim.x == 1\n"), "{text}");
    // Two sizes of one array: neither is preferred.
    let text = format!("//@ extent x[1000*n];\n{kernel}");
    let (exit, text) = prove(&text, "y[i] = 3*x[i]", &arguments, &[ALONE]);
    assert_eq!(exit, 2, "{text}");
}

/// Wrong kernels for which a careless claim would be empty.
#[test]
fn nothing_is_claimed_too_little() {
    let x = "const float* x, float* y, int n";
    let arguments: &[&str] = &["x=f32[n]", "y=f32[n]:out"];
    for (body, formula) in [
        // The maximum of no values is undefined; the other side of the choice is still claimed.
        (
            "for (int i = 0; i < n; i++) { float s = 99; for (int k = 0; k < i; k++) s = k == 0 ? x[0] : fmaxf(s, x[k]); y[i] = s; }",
            "y[i] = max(k in 0..i, x[k]) if i > 0 else 7",
        ),
        ("for (int i = 0; i < n; i++) y[i] = 99;", "y[i] = sum(j in 0..i, max(k in 0..i, x[k]))"),
        ("for (int i = 0; i < n; i++) y[i] = 99;", "y[i] = max(k in 5..5, x[i])"),
        // Floats with integral values are exact.
        (
            "for (int i = 0; i < n; i++) y[i] = x[i]*(4503599627370496.0f - 4503599600000000.0);",
            "y[i] = 0",
        ),
        ("for (int i = 0; i < n; i++) y[i] = x[i]*134217728.0f;", "y[i] = x[i]*134217730"),
        // An integer that no double represents.
        (
            "for (int i = 0; i < n; i++) y[i] = 0;",
            "y[i] = (9007199254740993 - 9007199254740992)*x[i]",
        ),
        (
            "for (int i = 0; i < n; i++) y[i] = 0;",
            "y[i] = x[i]*9007199254740993 - x[i]*9007199254740992",
        ),
    ] {
        let (exit, text) = prove(&alone(x, body), formula, arguments, &[ALONE, "n <= 1000"]);
        assert_ne!(exit, 0, "{formula}: {text}");
    }
    // The same without the error, and a kernel that is declared before.
    let exact = "for (int i = 0; i < n; i++) y[i] = x[i]*134217728.0f;";
    let declared = format!("__global__ void k({x});\n{}", alone(x, exact));
    let requires = [ALONE, "-1 < n", "n <= 1000"];
    let (exit, text) = prove(&declared, "y[i] = x[i]*134217728", arguments, &requires);
    assert_eq!(exit, 0, "{text}");
    // A file with its own `exp`.
    let own = format!(
        "namespace own {{ __device__ float exp(float x) {{ return x; }}\n{} }}\n",
        alone(x, "for (int i = 0; i < n; i++) y[i] = x[i];")
    );
    let (exit, text) = prove(&own, "y[i] = exp(x[i])", arguments, &[ALONE, "n <= 1000"]);
    assert_eq!(exit, 1, "{text}");
}

/// Meaningless formulas are errors, for any kernel.
#[test]
fn mistakes_have_words() {
    let body = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[i*n + j] = x[i*n + j];";
    let kernel = alone("const float* x, float* y, int m, int n", body);
    let both: &[&str] = &["x=f32[m,n]", "y=f32[m,n]:out"];
    let small = &[ALONE, "n <= 1000", "m <= 1000"];
    for (formula, arguments, requires, words) in [
        // The element behind a row is the first of the next one.
        ("y[i,j] = x[i,j+1]", both, &small[..], "the formula has no value here"),
        ("y[i,j] = max(k in 1..m, x[k,j])", both, small, "the formula has no value here"),
        ("let r[i in 0..2] = x[i,0]; y[i,j] = r[i]", both, small, "the formula has no value here"),
        ("let r[i] = x[i,0]", both, small, "nothing defines the output `y`"),
        ("let r[i] = x[i,0]", &["x=f32[m,n]"], small, "defines no tensor of the kernel"),
        ("y[i,j] = 1e-46*x[i,j]", both, small, "too large or too small"),
        ("y[i,j] = q", both, small, "`q` is not an argument and not defined above"),
        ("y[i,j] = 1", both, &["q > 0"], "`q` is not declared"),
        ("y[i,j] = 1", both, &["n >"], "expected an expression"),
        ("y[i,j] = 1", &["y=f64[m,n]"], small, "the kernel declares elements of type f32"),
        ("y[i,j] = 1", &["z=f32[m,n]"], small, "`k` has no array `z`; it has `x`, `y`"),
        ("y[i,j] = 1", &["y=f32[m,n/2]"], small, "an integer is needed here"),
        ("y[i,j] = 1", &["y=f32[m,n]:lower"], small, "`:lower` is not supported for every size"),
        ("y[i,j] = 1", &["y=f32[m,n]:0..4"], small, "a range `0..n` is one of integers"),
        ("y[i,j] = 1", &["y"], small, "expected NAME=TYPE[SIZES]"),
        ("y[i,j] = 1", &["n=many"], small, "expected TYPE[SIZES]"),
        ("y[i,j] = 1", &["l=5"], small, "the kernel has no integer `l`"),
    ] {
        let (exit, text) = prove(&kernel, formula, arguments, requires);
        assert_eq!(exit, 2, "{formula}: {text}");
        assert!(text.contains(words), "{formula}: {text}");
    }
    // No launch fulfils this.
    let (exit, text) = prove(&kernel, "y[i,j] = x[i,j]", both, &[ALONE, "n < 0"]);
    assert_eq!(exit, 3, "{text}");
}

/// With several kernels in a file, a contract needs the name of one.
#[test]
fn a_contract_is_one_of_one_kernel() {
    let one = alone("float* y, int n", "for (int i = 0; i < n; i++) y[i] = 1;");
    let two = one.replace("void k(", "void l(");
    let (exit, text) = prove(&format!("{one}{two}"), "y[i] = 1", &["y=f32[n]"], &[ALONE]);
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("has 2 kernels"), "{text}");
}
