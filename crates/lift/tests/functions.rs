//! Every recognised expansion computes its function: the kernels of `corpus/math` are run, unlifted, on thousands of
//! numbers, and compared with a library of doubles. And none is recognised if a constant is changed.

mod kernels;

use ir::{Format, Program, RealFunction};
use kernels::{
    BUILDS, Claim, Kernel, claims, half_value, kernels, kernels_with_known_range, lifted_text,
    looped, origins, run, run_program,
};
use std::collections::BTreeSet;

/// The function itself, in doubles.
fn exact(function: RealFunction, x: f64, y: f64) -> f64 {
    match function {
        RealFunction::Exp => libm::exp(x),
        RealFunction::Exp2 => libm::exp2(x),
        RealFunction::Exp10 => libm::exp10(x),
        RealFunction::Expm1 => libm::expm1(x),
        RealFunction::Log => libm::log(x),
        RealFunction::Log2 => libm::log2(x),
        RealFunction::Log10 => libm::log10(x),
        RealFunction::Log1p => libm::log1p(x),
        RealFunction::Tanh => libm::tanh(x),
        RealFunction::Sinh => libm::sinh(x),
        RealFunction::Cosh => libm::cosh(x),
        RealFunction::Erf => libm::erf(x),
        RealFunction::Erfc => libm::erfc(x),
        RealFunction::Sin => libm::sin(x),
        RealFunction::Cos => libm::cos(x),
        RealFunction::Tan => libm::tan(x),
        RealFunction::Cbrt => libm::cbrt(x),
        RealFunction::Pow => libm::pow(x, y),
        RealFunction::Hypot => libm::hypot(x, y),
        RealFunction::Fmod => libm::fmod(x, y),
        RealFunction::RoundAway => libm::round(x),
        RealFunction::Asin => libm::asin(x),
        RealFunction::Acos => libm::acos(x),
        RealFunction::Atan => libm::atan(x),
        RealFunction::Atan2 => libm::atan2(x, y),
        RealFunction::Asinh => libm::asinh(x),
        RealFunction::Acosh if x < 1.0 => f64::NAN,
        RealFunction::Acosh => libm::acosh(x),
        RealFunction::Atanh => libm::atanh(x),
        RealFunction::NormCdf => {
            // x/√2 as a double, and the remainder.
            const REST: f64 = -4.833_646_656_726_457e-17;
            let scaled = -x * std::f64::consts::FRAC_1_SQRT_2;
            let rest = (-x).mul_add(std::f64::consts::FRAC_1_SQRT_2, -scaled) - x * REST;
            (libm::erfc(scaled) - rest * slope_of_erf(scaled)) / 2.0
        }
        RealFunction::ErfInv => inverse_erf(x),
        RealFunction::Lgamma => libm::lgamma(x),
        // No expansion is recognised as one of these.
        RealFunction::TimesPi | RealFunction::Named(..) => f64::NAN,
    }
}

fn slope_of_erf(x: f64) -> f64 {
    std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x)
}

/// Newton's method from the side on which it does not overshoot. For large numbers it uses the distance from 1.
fn inverse_erf(x: f64) -> f64 {
    if x.abs() >= 1.0 || x == 0.0 {
        return if x == 0.0 { 0.0 } else { f64::NAN };
    }
    let wanted = x.abs();
    let off = |y: f64| match wanted < 0.5 {
        true => wanted - libm::erf(y),
        false => libm::erfc(y) - (1.0 - wanted),
    };
    let mut y = 0.0;
    for _ in 0..200 {
        y += off(y) / slope_of_erf(y);
    }
    y.copysign(x)
}

/// Tolerated error, in units of the last place of a single. The documented bounds of the library (CUDA C++
/// Programming Guide, "Mathematical Functions") plus one, because approximate instructions are emulated by correctly
/// rounded ones.
fn tolerance(function: RealFunction) -> f64 {
    match function {
        RealFunction::Pow => 5.0,
        RealFunction::Tan | RealFunction::Sinh | RealFunction::Hypot => 5.0,
        RealFunction::Erfc | RealFunction::NormCdf => 6.0,
        RealFunction::Lgamma => 6.0,
        RealFunction::RoundAway | RealFunction::Fmod => 0.0,
        _ => 3.0,
    }
}

/// Additional absolute error. The logarithm of the gamma function has many zeros between −11.0001 and −2.2637, and
/// near them the library does not promise the last places.
fn absolute_tolerance(claim: Claim, x: f64) -> f64 {
    match (claim.function, claim.format) {
        (RealFunction::Lgamma, Format::F64) if (-12.0..-2.0).contains(&x) => 1e-13,
        (RealFunction::Lgamma, _) if (-12.0..-2.0).contains(&x) => 1e-5,
        _ => 0.0,
    }
}

/// Returns `true` if the result is in the range of normal numbers. Other points are not compared.
fn is_compared(function: RealFunction, x: f64, y: f64) -> bool {
    let value = exact(function, x, y);
    let (largest, least) = (f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE));
    value.is_finite() && value.abs() < largest && (value == 0.0 || value.abs() > least)
}

/// Points at the case boundaries of an expansion, their neighbours, and many others.
fn points(kernel: &Kernel) -> Vec<f32> {
    let mut points = vec![0.0, 1.0, -1.0, 0.5, 2.0, 10.0, f32::MIN_POSITIVE, f32::MAX];
    for constant in &kernel.constants {
        let value = f32::from_bits(*constant);
        points.extend([value, value.next_up(), value.next_down()]);
    }
    // Upper halves of doubles, which also separate cases.
    for upper in &kernel.uppers {
        let value = f64::from_bits(u64::from(*upper) << 32) as f32;
        points.extend([value, value.next_up(), value.next_down()]);
    }
    // Between −1 and 1, the domain of some functions.
    points.extend((1..2000).map(|at| at as f32 / 2000.0));
    points.extend((1..60).map(|at| 1.0 - 2f32.powi(-at / 3) * 0.7));
    // Period boundaries of range reductions.
    for unit in [std::f32::consts::FRAC_PI_4, std::f32::consts::LN_2 / 2.0, 0.5] {
        for count in 1..120 {
            let value = unit * count as f32;
            points.extend([value, value.next_up(), value.next_down()]);
        }
    }
    points.extend((-126..127).map(|exponent| 2f32.powi(exponent) * 1.414));
    let mut random = testing::Random::new(12345);
    let mut random = || random.unit() as f32;
    for scale in [1.0, 10.0, 100.0, 10_000.0] {
        points.extend((0..600).map(|_| (random() - 0.5) * 2.0 * scale));
    }
    points.extend((0..600).map(|_| 2f32.powf(random() * 200.0 - 100.0)));
    let negative: Vec<f32> = points.iter().map(|point| -point).collect();
    points.extend(negative);
    points.retain(|point| point.is_finite() && (*point == 0.0 || point.is_normal()));
    points
}

/// Second arguments, in an order that does not repeat with the first.
fn partners(points: &[f32]) -> Vec<f32> {
    let small = [2.0, -1.0, 3.0, 0.5, -2.0, 1.5, 0.0, 7.0, -0.5];
    let pick = |at: usize| match at % 3 {
        0 => small[at / 3 % small.len()],
        1 => points[(at * 7 + 3) % points.len()],
        _ => points[(at * 13 + 5) % points.len()] % 9.0,
    };
    (0..points.len()).map(pick).collect()
}

/// Checks a kernel against its recognised function; returns how many numbers were compared.
fn check(kernel: &Kernel, claim: Claim) -> Result<usize, String> {
    check_at(kernel, claim, points(kernel))
}

fn check_at(kernel: &Kernel, claim: Claim, x: Vec<f32>) -> Result<usize, String> {
    let (function, format) = (claim.function, claim.format);
    let y = match claim.second {
        Some(second) => vec![second as f32; x.len()],
        None => partners(&x),
    };
    let results = run(kernel, claim, &x, &y);
    let mut compared = 0;
    for ((&x, &y), &found) in x.iter().zip(&y).zip(&results) {
        let (wide, other) = (f64::from(x), f64::from(y));
        if !is_compared(function, wide, other) {
            continue;
        }
        let value = exact(function, wide, other);
        let place = match format {
            // The reference library for doubles is off by a place itself.
            Format::F64 => value.abs() * 2f64.powi(-51),
            _ => f64::from((value as f32).abs().next_up() - (value as f32).abs()),
        };
        let error = (found - value).abs();
        if error.is_nan()
            || error > place * (0.5 + tolerance(function)) + absolute_tolerance(claim, wide)
        {
            let name = &kernel.name;
            return Err(format!("{name}: {function:?}({x:e}, {y:e}) = {found:e}, not {value:e}"));
        }
        compared += 1;
    }
    Ok(compared)
}

/// Checks a kernel of halves at every half with a finite result. The library corrects the error of an approximate
/// instruction at a few numbers by a last place. The emulated instruction has no such error, so the result is off by
/// that place and half of one.
fn check_halves(kernel: &Kernel, claim: Claim) -> usize {
    let function = claim.function;
    let halves = (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00);
    let x: Vec<f32> = halves.map(|bits| half_value(bits) as f32).collect();
    let results = run(kernel, claim, &x, &x);
    let mut compared = 0;
    for (&x, &found) in x.iter().zip(&results) {
        let value = exact(function, f64::from(x), 0.0);
        if !value.is_finite() || value.abs() > 65504.0 {
            continue;
        }
        let place = 2f64.powf(value.abs().log2().floor().max(-14.0) - 10.0);
        assert!(
            (found - value).abs() <= 1.5 * place + 1e-12,
            "{}: {function:?}({x:e}) = {found:e}, not {value:e}",
            kernel.name
        );
        compared += 1;
    }
    compared
}

#[test]
fn expansions_compute_the_functions_they_are_taken_for() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for build in BUILDS {
        for kernel in kernels(build).into_iter().chain(looped(build)) {
            for claim in claims(&kernel.program) {
                assert_eq!(claim.range, None, "{build} {}", kernel.name);
                let compared = match kernel.is_of_halves() {
                    true => Ok(check_halves(&kernel, claim)),
                    false => check(&kernel, claim),
                };
                let compared = compared.unwrap_or_else(|why| {
                    wrong.push(format!("{build} {why}"));
                    usize::MAX
                });
                assert!(compared > 1500, "{build} {}: {compared} points", kernel.name);
                count += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 350, "{count} expansions");
}

/// `atan2(x, y)` is not taken for `atan2(y, x)`. Results cannot show it: they come from the unlifted kernel.
#[test]
fn arguments_are_in_their_order() {
    let mut count = 0;
    for build in BUILDS {
        for kernel in kernels(build).into_iter().chain(looped(build)) {
            for (function, [a, b]) in origins(&kernel.program) {
                let constant = b.is_empty();
                let commutes = function == RealFunction::Hypot;
                let wanted = |at: usize| BTreeSet::from([at]);
                assert!(
                    constant || commutes || (a, b) == (wanted(0), wanted(1)),
                    "{build} {}: {function:?}",
                    kernel.name
                );
                count += usize::from(!constant && !commutes);
            }
        }
    }
    assert!(count >= 60, "{count} functions");
}

/// An expansion whose argument the compiler knows to be above 1 computes the function there.
#[test]
fn expansions_without_some_cases_compute_the_functions_in_the_others() {
    let mut count = 0;
    for build in &BUILDS[..4] {
        for kernel in kernels_with_known_range(build) {
            for claim in claims(&kernel.program) {
                let mut above = points(&kernel);
                above.retain(|x| *x > 1.0);
                assert!(!claim.range.is_some_and(ir::ArgumentRange::drops_code), "{}", kernel.name);
                let compared = check_at(&kernel, claim, above).unwrap();
                assert!(compared > 100, "{build} {}: {compared} points", kernel.name);
                count += 1;
            }
        }
    }
    assert!(count >= 44, "{count} expansions");
}

/// Returns `true` if a changed kernel computes the same on numbers. Then the constant only serves NaN or
/// infinity, as in `x + 2` for powf(NaN, 2).
fn is_same_on_numbers(kernel: &Kernel, mutant: &Program, claim: Claim) -> bool {
    let x = points(kernel);
    let y = partners(&x);
    let before = run(kernel, claim, &x, &y);
    let after = run_program(kernel, mutant, claim, &x, &y);
    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    bits(before) == bits(after)
}

/// Checks that a changed constant changes the lifted kernel, unless no number tells the two apart.
fn changed_constants(build: &str, kernels: Vec<Kernel>) -> usize {
    let mut changed = 0;
    for kernel in kernels {
        let Some(&claim) = claims(&kernel.program).first() else { continue };
        // Fast math leaves doubles as they are.
        if build.ends_with(".fast") && claim.format == Format::F64 {
            continue;
        }
        let lifted = lifted_text(&kernel.program);
        for (mutant, constant) in kernel.mutants() {
            let shows = lifted_text(&mutant) != lifted;
            assert!(
                shows || is_same_on_numbers(&kernel, &mutant, claim),
                "{build} {}: {constant} may be another",
                kernel.name
            );
            changed += usize::from(shows);
        }
    }
    changed
}

#[test]
fn no_expansion_is_recognised_with_another_constant() {
    let changed: usize = BUILDS.iter().map(|build| changed_constants(build, kernels(build))).sum();
    assert!(changed > 1500, "{changed} mutants");
}

#[test]
fn nor_is_one_without_some_cases() {
    let changed = changed_constants(BUILDS[1], kernels_with_known_range(BUILDS[1]));
    assert!(changed > 100, "{changed} mutants");
}

/// The sign of a double is its highest bit. The sign bit of a single, flipped in a double, is an error.
#[test]
fn a_flipped_bit_in_the_middle_of_a_double_is_not_a_sign() {
    let mut changed = 0;
    for kernel in kernels(BUILDS[0]) {
        let Some(&claim) = claims(&kernel.program).first() else { continue };
        let lifted = lifted_text(&kernel.program);
        for (mutant, constant) in kernel.with_flipped_middles() {
            let shows = lifted_text(&mutant) != lifted;
            let same = || is_same_on_numbers(&kernel, &mutant, claim);
            assert!(shows || same(), "{}: {constant} may be another", kernel.name);
            changed += usize::from(shows);
        }
    }
    assert!(changed > 200, "{changed} mutants");
}
