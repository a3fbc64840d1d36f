//! Tests decisions on floats without fixed bits in the manual: they must be the same for every legal result.
//!
//! Random kernels compute such a float from known numbers, compare it with a threshold and store to one of
//! two places. All legal results are enumerated here, independently of the engine: every order of atomic
//! additions, every choice of fused products, every float within the manual's bound of an approximate
//! function. If two of them decide differently, the run must stop. If it does not stop, it must have taken the
//! side that all take.

mod launching;

use exec::{Checks, Limits, Outcome, StopReason};
use launching::{Arg, kernel, launch};
use testing::Random;

/// Draws a float: often a small integer or a power of two, sometimes any of medium magnitude.
fn float(random: &mut Random) -> f32 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    sign * match random.below(4) {
        0 => random.below(9) as f32,
        1 => 2f32.powi(random.below(60) - 30),
        2 => 1.0 + random.below(1 << 23) as f32 / (1u32 << 23) as f32,
        _ => f32::from_bits(0x3000_0000 + random.below(0x1800_0000)),
    }
}

fn hex(number: f32) -> String {
    format!("0f{:08X}", number.to_bits())
}

/// Draws a threshold near one of the results, or far from all.
fn threshold(random: &mut Random, results: &[f32]) -> f32 {
    let result = results[random.below(results.len())];
    match random.below(6) {
        0 => result,
        1 => result.next_up(),
        2 => result.next_down(),
        3 => result * 1.001 + 0.001,
        4 => result - result.abs() * 0.5 - 1.0,
        _ => float(random),
    }
}

/// Numbers of kernels by the decision of the run, and by agreement of all legal results.
struct Tally {
    decided: u32,
    /// Kernels for which all legal results decide alike.
    uniform: u32,
}

/// Returns the side that the run took after its comparison, if it did not stop.
fn side_taken(outcome: &Outcome) -> Option<bool> {
    if let Some(gap) = &outcome.gap {
        assert!(gap.stop == StopReason::NotFixed || gap.stop.is_not_followed(), "{gap:?}");
        return None;
    }
    let written = |at: usize| outcome.written[0].contains(4 * at..4 * at + 4);
    assert_ne!(written(0), written(1), "one of two places is written");
    Some(written(0))
}

/// Runs a kernel that leaves its float in `%f1` of every thread.
fn decide(tally: &mut Tally, (body, threads): (&str, u32), results: &[f32], threshold: f32) {
    let text = format!(
        ".shared .align 4 .f32 s; ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;
         {body}
         setp.lt.f32 %p1, %f1, {};
         setp.eq.u32 %p2, %r1, 0; and.pred %p3, %p1, %p2; not.pred %p4, %p1; and.pred %p4, %p4, %p2;
         @%p3 st.global.u32 [%rd1], 1; @%p4 st.global.u32 [%rd1+4], 1;",
        hex(threshold)
    );
    let program = kernel("", ".param .u64 y", &text);
    let launch = launch(&program, "k", [1, 1, 1], [threads, 1, 1], 0, &[Arg::Out(8)]);
    let (limits, checks) = (Limits::default(), Checks::default());
    let ways: Vec<bool> = results.iter().map(|&result| result < threshold).collect();
    let uniform = ways.iter().all(|&way| way == ways[0]);
    tally.uniform += u32::from(uniform);
    let plain = side_taken(&exec::check(&program, &launch, limits));
    let enclosed = side_taken(&exec::check_enclosed(&program, &launch, limits, checks));
    for found in [plain, enclosed].into_iter().flatten() {
        assert!(uniform && found == ways[0], "{results:?} < {threshold}: went {found}\n{text}");
    }
    tally.decided += u32::from(enclosed.is_some());
}

fn permutations(numbers: &[f32]) -> Vec<Vec<f32>> {
    if numbers.len() <= 1 {
        return vec![numbers.to_vec()];
    }
    let rest = |at: usize| {
        let others: Vec<f32> =
            numbers.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &n)| n).collect();
        permutations(&others)
    };
    let with = |at: usize| {
        rest(at).into_iter().map(move |mut all| {
            all.push(numbers[at]);
            all
        })
    };
    (0..numbers.len()).flat_map(with).collect()
}

#[test]
fn every_order_of_atomic_additions() {
    let mut random = Random::new(20_261_116);
    let random = &mut random;
    let mut tally = Tally { decided: 0, uniform: 0 };
    for _ in 0..600 {
        let count = 2 + random.below(4);
        let numbers: Vec<f32> = (0..count).map(|_| float(random)).collect();
        let start = if random.below(2) == 0 { 0.0 } else { float(random) };
        let results: Vec<f32> = permutations(&numbers)
            .into_iter()
            .map(|order| order.into_iter().fold(start, |sum, number| sum + number))
            .collect();
        let table: String = numbers
            .iter()
            .enumerate()
            .map(|(at, &n)| format!("setp.eq.u32 %p1, %r1, {at}; @%p1 mov.f32 %f2, {};\n", hex(n)))
            .collect();
        let body = format!(
            "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.f32 [s], {}; bar.sync 0; mov.f32 %f2, 0f00000000;
             {table} red.shared.add.f32 [s], %f2; bar.sync 0; ld.shared.f32 %f1, [s];",
            hex(start)
        );
        let threshold = threshold(random, &results);
        decide(&mut tally, (&body, count as u32), &results, threshold);
    }
    // Stopping too often is not unsound; still, most are decided, though thresholds are near.
    assert!(tally.decided * 10 >= tally.uniform * 5, "{} of {}", tally.decided, tally.uniform);
}

/// A step of a straight-line program on earlier numbers.
#[derive(Clone, Copy)]
struct Step {
    op: char,
    rounded: bool,
    a: usize,
    b: usize,
}

/// Returns all legal values of the last step: products without a rounding may be fused with sums without one.
fn contractions(inputs: &[f32], steps: &[Step]) -> Vec<f32> {
    let sums: Vec<usize> = (0..steps.len()).filter(|&at| "+-".contains(steps[at].op)).collect();
    let mut results = Vec::new();
    for choice in 0..3usize.pow(sums.len() as u32) {
        let mut values = inputs.to_vec();
        let mut rest = choice;
        for step in steps {
            let (a, b) = (values[step.a], values[step.b]);
            let fused = |at: usize| {
                let product = steps[at.checked_sub(inputs.len())?];
                let fits = product.op == '*' && !product.rounded && !step.rounded;
                fits.then(|| (values[product.a], values[product.b]))
            };
            let value = match step.op {
                '*' => a * b,
                op => {
                    let which = rest % 3;
                    rest /= 3;
                    let sign = if op == '-' { -1.0 } else { 1.0 };
                    match which {
                        1 => fused(step.a).map_or(a + sign * b, |(x, y)| x.mul_add(y, sign * b)),
                        2 => fused(step.b).map_or(a + sign * b, |(x, y)| (sign * x).mul_add(y, a)),
                        _ => a + sign * b,
                    }
                }
            };
            values.push(value);
        }
        results.extend(values.last());
    }
    results
}

#[test]
fn every_choice_of_fused_products() {
    let mut random = Random::new(7_102_611);
    let random = &mut random;
    let mut tally = Tally { decided: 0, uniform: 0 };
    for _ in 0..600 {
        let inputs: Vec<f32> = (0..3).map(|_| float(random)).collect();
        let mut steps = Vec::new();
        for at in 0..3 + random.below(3) {
            let known = inputs.len() + at;
            let op = ['*', '*', '+', '-'][random.below(4)];
            let (a, b) = (random.below(known), random.below(known));
            steps.push(Step { op, rounded: random.below(4) == 0, a, b });
        }
        let results = contractions(&inputs, &steps);
        if results.iter().any(|result| !result.is_finite()) {
            continue;
        }
        let mut body = String::from(".reg .f32 %v<16>;\n");
        for (at, &input) in inputs.iter().enumerate() {
            body.push_str(&format!("mov.f32 %v{at}, {};\n", hex(input)));
        }
        for (at, step) in steps.iter().enumerate() {
            let name = match step.op {
                '*' => "mul",
                '+' => "add",
                _ => "sub",
            };
            let rounding = if step.rounded { ".rn" } else { "" };
            let (dst, a, b) = (inputs.len() + at, step.a, step.b);
            body.push_str(&format!("{name}{rounding}.f32 %v{dst}, %v{a}, %v{b};\n"));
        }
        body.push_str(&format!("mov.f32 %f1, %v{};", inputs.len() + steps.len() - 1));
        let threshold = threshold(random, &results);
        decide(&mut tally, (&body, 1), &results, threshold);
    }
    assert!(tally.decided * 10 >= tally.uniform * 8, "{} of {}", tally.decided, tally.uniform);
}

/// All singles between two numbers, or some of them.
fn singles(low: f64, high: f64) -> Vec<f32> {
    let (mut number, last) = (low as f32, high as f32);
    let mut all = vec![number];
    while number < last && all.len() < 64 {
        number = number.next_up();
        all.push(number);
    }
    all.push(last);
    all
}

#[test]
fn every_result_within_the_bound_of_an_approximate_function() {
    let mut random = Random::new(987_654_321);
    let random = &mut random;
    let mut tally = Tally { decided: 0, uniform: 0 };
    for _ in 0..600 {
        let x = float(random);
        let wide = f64::from(x);
        let (name, exact, error): (&str, f64, f64) = match random.below(7) {
            0 => ("sin.approx.f32", wide.sin(), 2f64.powf(-20.5)),
            1 => ("cos.approx.f32", wide.cos(), 2f64.powf(-20.5)),
            2 => ("ex2.approx.f32", wide.exp2(), wide.exp2() * 2f64.powi(-22)),
            3 if x > 0.0 => {
                ("lg2.approx.f32", wide.log2(), 2f64.powi(-22) * wide.log2().abs().max(1.0))
            }
            4 if x > 0.0 => ("sqrt.approx.f32", wide.sqrt(), wide.sqrt() * 2f64.powi(-23)),
            5 if x > 0.0 => ("rsqrt.approx.f32", 1.0 / wide.sqrt(), 2f64.powf(-22.9) / wide.sqrt()),
            _ if x != 0.0 => ("rcp.approx.f32", 1.0 / wide, 2f64.powi(-23) / wide.abs()),
            _ => continue,
        };
        let periodic = name.starts_with("sin") || name.starts_with("cos");
        let far = periodic && wide.abs() > 6.0 || wide.abs() > 100.0 && name.starts_with("ex2");
        if far || exact.abs() > 1e30 || exact.abs() < 1e-30 {
            continue;
        }
        let (scale, offset) = (float(random), float(random));
        let of = |result: f32| result.mul_add(scale, offset);
        let results: Vec<f32> = singles(exact - error, exact + error).into_iter().map(of).collect();
        let body = format!(
            "mov.f32 %f2, {}; {name} %f3, %f2; fma.rn.f32 %f1, %f3, {}, {};",
            hex(x),
            hex(scale),
            hex(offset)
        );
        let threshold = threshold(random, &results);
        decide(&mut tally, (&body, 1), &results, threshold);
    }
    assert!(tally.decided * 10 >= tally.uniform * 7, "{} of {}", tally.decided, tally.uniform);
}

/// Returns `true` if a kernel of 64 threads that ends with `body` has a doubt about the order of float
/// additions.
fn float_order(body: &str) -> bool {
    let text = format!("ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;\n{body}");
    let program = kernel("", ".param .u64 y", &text);
    let words = Arg::InOut(vec![0; 4 * 64]);
    let launch = launch(&program, "k", [2, 1, 1], [64, 1, 1], 0, &[words]);
    let outcome = exec::check_enclosed(&program, &launch, Limits::default(), Checks::default());
    assert!(outcome.gap.is_none() && outcome.findings.is_empty(), "{outcome:?}");
    outcome.doubts.iter().any(|doubt| doubt.about == exec::Doubtful::FloatOrder)
}

#[test]
fn sums_that_round_depend_on_their_order() {
    let tenth = "red.global.add.f32 [%rd1], 0f3DCCCCCD;";
    assert!(float_order(tenth));
    // Ones: every partial sum is a float.
    assert!(!float_order("red.global.add.f32 [%rd1], 0f3F800000;"));
    // One thread of one block.
    let own =
        "mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 5; and.b32 %r3, %r1, 31; add.u32 %r2, %r2, %r3;
        setp.lt.u32 %p1, %r1, 32; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;";
    assert!(!float_order(&format!("{own} @%p1 red.global.add.f32 [%rd2], 0f3DCCCCCD;")));
    // Maxima do not round.
    assert!(!float_order("red.global.max.s32 [%rd1], 5;"));
}

/// 2^512 · 2^512 is infinite as a double; fused with the subtraction of 2^1023, it is 2^1023.
#[test]
fn a_product_that_overflows_alone_may_be_fused() {
    let text = "ld.param.u64 %rd1, [y];
        mul.f64 %rd2, 0d5FF0000000000000, 0d5FF0000000000000; add.f64 %rd3, %rd2, 0dFFE0000000000000;
        setp.gt.f64 %p1, %rd3, 0d7FE8000000000000; not.pred %p2, %p1;
        @%p1 st.global.u32 [%rd1], 1; @%p2 st.global.u32 [%rd1+4], 1;";
    let program = kernel("", ".param .u64 y", text);
    let launch = launch(&program, "k", [1, 1, 1], [1, 1, 1], 0, &[Arg::Out(8)]);
    let (limits, checks) = (Limits::default(), Checks::default());
    assert_eq!(side_taken(&exec::check(&program, &launch, limits)), None);
    assert_eq!(side_taken(&exec::check_enclosed(&program, &launch, limits, checks)), None);
}
