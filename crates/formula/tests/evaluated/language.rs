//! Parts of the language, one by one, and the messages for mistakes.

use super::{Numbers, assert_is};

fn line(name: &str, size: u64) -> Numbers {
    Numbers::default().real(name, &[size])
}

#[test]
fn quotients_of_integers_are_rounded_down() {
    let all = Numbers::default().integer_output("y", &[9]);
    for (text, of) in [
        ("y[i] = (i - 4) // 3", (|i: i64| (i - 4).div_euclid(3)) as fn(i64) -> i64),
        ("y[i] = (i - 4) % 3", |i| (i - 4).rem_euclid(3)),
        ("y[i] = (i - 4) // -3", |i| {
            -((i - 4).div_euclid(3)) - i64::from((i - 4).rem_euclid(3) != 0)
        }),
        ("y[i] = i // 2 * 2 + i % 2", |i| i),
        ("y[i] = max(i - 4, 0) + min(i, 2) + abs(i - 5)", |i| {
            (i - 4).max(0) + i.min(2) + (i - 5).abs()
        }),
        ("y[i] = clamp(i, 2, 5) + sign(i - 3)", |i| i.clamp(2, 5) + (i - 3).signum()),
        ("y[i] = i^2 - 2^3", |i| i * i - 8),
        ("y[i] = count(k in 0..9, k < i)", |i| i),
        ("y[i] = 1 if 2 <= i < 5 or i == 7 else -1", |i| {
            if (2..5).contains(&i) || i == 7 { 1 } else { -1 }
        }),
        ("y[i] = max(k in 0..i+1, k*(4 - k))", |i| (0..=i).map(|k| k * (4 - k)).max().unwrap()),
        ("y[i] = argmin(k in 0..9, abs(k - i))", |i| i),
        ("y[i] = sum(k in i..9, k if k % 2 == 0)", |i| (i..9).filter(|k| k % 2 == 0).sum()),
        ("y[i] = prod(k in 1..i+1, k) % 1000", |i| (1..=i).product::<i64>() % 1000),
        ("y[i] = floor(i / 2) + ceil(i / 2) + round(i / 2) + trunc(-i / 2)", |i| {
            i / 2 + (i + 1) / 2 + [0, 0, 1, 2, 2, 2, 3, 4, 4][i as usize] - i / 2
        }),
        ("y[i] = i > 3", |i| i64::from(i > 3)),
        ("y[i] = (i - 4) // 4 + 100*((i - 4) % 4)", |i| {
            (i - 4).div_euclid(4) + 100 * (i - 4).rem_euclid(4)
        }),
        // The first of two positions.
        ("y[i] = argmax(k in 0..9, abs(k - 4)) + argmin(k in 0..9, -abs(k - 4))", |_| 0),
        ("y[i] = 1 if any(k in 0..3, k == i) else 0", |i| i64::from(i < 3)),
        // Constants outside 32 bits wrap around when they are stored.
        ("y[i] = -7", |_| -7),
        ("y[i] = 8589934597", |_| 5),
    ] {
        let found = all.output_of(text, "y");
        assert_is(&found, &[9], |at| of(at[0]) as f64);
    }
}

#[test]
fn literals_are_what_is_written() {
    let all = Numbers::default().output("y", &[1]);
    for (text, value) in [
        ("y = 0.1", 0.1),
        ("y = 1e-5", 1e-5),
        ("y = 1/3", 1.0 / 3.0),
        ("y = 0.79788456080286535588", 0.797_884_560_802_865_4),
        ("y = -0.1", -0.1),
        ("y = 2^-2", 0.25),
        ("y = 2^0.5", std::f64::consts::SQRT_2),
        ("y = pi", std::f64::consts::PI),
        ("y = e", std::f64::consts::E),
        ("y = log2e", std::f64::consts::LOG2_E),
        ("y = ln2", std::f64::consts::LN_2),
        ("y = f32(0.1)", 0.1_f32 as f64),
        ("y = -inf", f64::NEG_INFINITY),
        ("y = 123456789012345678901234567890", 1.2345678901234568e29),
        ("y = 7", 7.0),
        ("y = 0.5*2^max(1, 2)", 2.0),
        ("y = sum(k in 0..0, k)", 0.0),
    ] {
        assert_is(&all.output_of(text, "y"), &[1], |_| value);
    }
}

#[test]
fn functions_are_those_of_reals() {
    let x = line("x", 8).output("y", &[8]);
    for (name, of) in [
        ("exp", f64::exp as fn(f64) -> f64),
        ("exp2", f64::exp2),
        ("tanh", f64::tanh),
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("atan", f64::atan),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("cbrt", f64::cbrt),
        ("expm1", f64::exp_m1),
        ("abs", f64::abs),
        ("floor", f64::floor),
        ("ceil", f64::ceil),
        ("trunc", f64::trunc),
        ("round", f64::round_ties_even),
        ("relu", |x| x.max(0.0)),
        ("sigmoid", |x| 1.0 / (1.0 + (-x).exp())),
        ("sign", |x| {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            }
        }),
    ] {
        let found = x.output_of(&format!("y[i] = {name}(x[i])"), "y");
        assert_is(&found, &[8], |at| of(x.at("x", at)));
    }
    for (name, of) in [
        ("log", f64::ln as fn(f64) -> f64),
        ("log2", f64::log2),
        ("log1p", f64::ln_1p),
        ("sqrt", f64::sqrt),
        ("rsqrt", |x| 1.0 / x.sqrt()),
        ("log10", f64::log10),
    ] {
        let found = x.output_of(&format!("y[i] = {name}(x[i]^2 + 1)"), "y");
        assert_is(&found, &[8], |at| of(x.at("x", at).powi(2) + 1.0));
    }
    let found =
        x.output_of("y[i] = x[i] - floor(x[i]) + pow(2, x[i]) + 3^x[i] + atan2(x[i], 2)", "y");
    assert_is(&found, &[8], |at| {
        let x = x.at("x", at);
        x - x.floor() + x.exp2() + 3f64.powf(x) + x.atan2(2.0)
    });
}

#[test]
fn contents_from_before_are_read_before_they_change() {
    let x = line("y", 7).output("y", &[7]);
    let found = x.output_of("y[i] = y[6 - i] + 1", "y");
    assert_is(&found, &[7], |at| x.at("y", &[6 - at[0]]) + 1.0);
    let x = x.output("z", &[7]);
    let both = x.outputs_of("y[i] = 2*y[i]; z[i] = y[i] + 1");
    assert_is(&both["z"], &[7], |at| 2.0 * x.at("y", at) + 1.0);
}

#[test]
fn filters_leave_elements_out() {
    let x = line("x", 9).real("m", &[9]).output("y", &[9]);
    let kept = |at: i64| x.at("m", &[at]) > 0.0;
    let all: Vec<f64> = (0..9).filter(|k| kept(*k)).map(|k| x.at("x", &[k])).collect();
    let count = all.len() as f64;
    for (text, value) in [
        ("y[i] = mean(k, x[k] if m[k] > 0)", all.iter().sum::<f64>() / count),
        ("y[i] = max(k, x[k] if m[k] > 0)", all.iter().copied().fold(f64::MIN, f64::max)),
        ("y[i] = min(k, x[k] if m[k] > 0)", all.iter().copied().fold(f64::MAX, f64::min)),
        ("y[i] = prod(k, x[k] if m[k] > 0)", all.iter().product()),
        ("y[i] = count(k, m[k] > 0)", count),
        ("y[i] = count(k, x[k] < 5 if m[k] > 0)", count),
        ("y[i] = 1 if any(k, x[k] > 100 if m[k] > 0) else 2", 2.0),
        ("y[i] = 1 if all(k, x[k] < 100 if m[k] > 0) else 2", 1.0),
    ] {
        assert_is(&x.output_of(text, "y"), &[9], |_| value);
    }
    let found = x.output_of("y[i] = sum(k in 0..9, x[k+1] if k < 8 and k != i)", "y");
    assert_is(&found, &[9], |at| (0..8).filter(|k| *k != at[0]).map(|k| x.at("x", &[k + 1])).sum());
    // A value that no element needs is not computed, though it depends on no index.
    let unused = x.output_of("y[i] = sum(k in 0..3, x[k+8]) if i > 9 else 1", "y");
    assert_is(&unused, &[9], |_| 1.0);
    let guarded = x.output_of("y[i] = x[i+1] if i < 8 and m[i] > 0 else 7", "y");
    assert_is(
        &guarded,
        &[9],
        |at| {
            if at[0] < 8 && kept(at[0]) { x.at("x", &[at[0] + 1]) } else { 7.0 }
        },
    );
}

/// `count(…)` is an integer as an index and a real as a summand.
#[test]
fn a_reduction_may_be_an_integer_and_a_real() {
    let x = line("x", 5).output("y", &[5]);
    let text = "y[i] = x[min(count(k, x[k] < 9), 4)] + count(k, x[k] < 9)";
    assert_is(&x.output_of(text, "y"), &[5], |_| x.at("x", &[4]) + 5.0);
}

#[test]
fn contracts_are_read_as_well() {
    let x = line("x", 5).output("y", &[5]).integer("n", 5);
    let found = x.output_of(
        "y[i] = \\sum(k, 0, n, x[k]) + \\max(x[i], 0) + \\num_of(k, 0, i, x[k] < 9)",
        "y",
    );
    let all: f64 = (0..5).map(|k| x.at("x", &[k])).sum();
    assert_is(&found, &[5], |at| all + x.at("x", at).max(0.0) + at[0] as f64);
    let sized = x.output_of("y[i] = x[size(x, 0) - 1 - i] * n", "y");
    assert_is(&sized, &[5], |at| 5.0 * x.at("x", &[4 - at[0]]));
}

#[test]
fn mistakes_have_words() {
    let x = Numbers::default().real("A", &[3, 4]).real("B", &[4, 2]).real("x", &[6]);
    let x = x.integers("t", &[0, 1, 2]).integer("n", 6).output("y", &[3, 2]).output("z", &[6]);
    let z = |text: &str| format!("y[i,j] = 0; z[i] = {text}");
    for (text, words) in [
        (
            "y[i,j] = sum(k, A[i,k]*B[j,k])",
            "`k` runs over 4 (axis 1 of `A`) and over 2 (axis 1 of `B`)",
        ),
        ("y[i,j] = sum(A[i,k]*B[k,j])", "`sum` needs an index and an expression: `sum(k, …)`"),
        (
            "y[i,j] = sum(k, 0, 4, A[i,k])",
            "`sum(k in 0..4, …)`; contracts write `\\sum(k, 0, 4, …)`",
        ),
        (
            &z("x[i+1] - x[i]"),
            "`x[6]` is outside ([6]) for i = 5; `x[… else 0]` gives a value there",
        ),
        ("y[i,j] = sum(j, A[i,j])", "`j` is an index already; take another name in `sum`"),
        (&z("x / 2"), "`x` is a tensor: give its 1 index"),
        ("y[i,j] = A[i]", "`A` has 2 dimensions, one index is given"),
        ("y[i,j] == A[i,j]", "a definition has one `=`"),
        (&z("x[i]**2"), "`**` is written `^`"),
        (&z("softmax(x[i])"), "`softmax` is not a function; write `y[i,j] = exp("),
        (
            &z("sum(k, x[i+k])"),
            "the range of `k` is not known: it is not a plain index of a tensor; write `k in 0..…`",
        ),
        (&z("x[i] if x[i] > 0"), "`if` without `else` is allowed only inside of sum, max, …"),
        ("w[i] = 1", "the kernel has no output `w`"),
        (&z("w[i]"), "`w` is not an input and not defined above"),
        (&z("xx[i]"), "did you mean `x`?"),
        ("z[i] = x[i]", "nothing defines the output `y`"),
        ("y[i,j] = 0; y[i,j] = 1", "`y` is defined twice"),
        ("x[i] = 1", "`x` is an input"),
        ("y[i] = 1", "`y` has 2 dimensions: `y[i,j] = …`"),
        ("let x[i] = 1", "`x` is an argument; a `let` needs a name of its own"),
        (&z("x[i/2]"), "`//` divides integers and rounds down"),
        (&z("x[i] // 2"), "`//` is for integers"),
        (&z("i // 0"), "a division by 0"),
        (&z("1 // (i - 2)"), "a division by 0 for i = 2"),
        (&z("exp(x[i], 2)"), "`exp` takes 1 number"),
        (&z("expp(x[i])"), "did you mean `exp`?"),
        (&z("sum(x, x[i])"), "`x` is an argument or a definition; take another name in `sum`"),
        (&z("(x[i] > 0) + 1"), "a condition is not a number"),
        (&z("1 if x[i] else 0"), "a condition is needed"),
        (&z("sum(k in 0..x[0], 1)"), "an index must be an integer"),
        (&z("sum(k in 0..t[0], 1)"), "must not depend on data"),
        (&z("n[i]"), "`n` is a single number: it has no indices"),
        (&z("y"), "`y` is a tensor: give its 2 indices"),
        (&z("z[i]"), "`z` is an output that is not defined above"),
        (&z("x(i)"), "an element is written `x[…]`"),
        (&z("\\fold(k, 0, 4, x[k])"), "not read in formulas"),
        (&z("f32(x[i])"), "rounds a literal"),
        (&z("max(k in 0..4, k if k > 9)"), "`max` of no elements is not a number"),
        (&z("argmax(a in 0..2, b in 0..2, x[a+b])"), "takes one index"),
    ] {
        let found = x.mistake(text);
        assert!(found.contains(words), "{text}: {found}");
    }
    // A rounded real may use all of 64 bits.
    let large = Numbers::default().real("x", &[4]).integer_output("y", &[4]);
    assert!(large.mistake("y[i] = floor(x[i])*1000").contains("may exceed 64 bits"));
    let whole = Numbers::default().real("x", &[4]).integer_output("y", &[4]);
    assert!(whole.mistake("y[i] = x[i]").contains("say how it is rounded"));
}
