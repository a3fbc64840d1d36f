//! Intervals of doubles against 256 bits: random expressions, and the functions of the library.

use interval::{Double, Enclosure, Precise};
use ir::Rounding;
use proptest::prelude::*;

/// One step of an expression: an operation on two earlier results.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add,
    Mul,
    Div,
    Max,
    Sqrt,
    Exp2,
    Log2,
    Sin,
    Cos,
    Tanh,
    Exp,
    Log,
    Erf,
    Abs,
    Round(Rounding),
}

fn apply<E: Enclosure>(step: Step, a: &E, b: &E) -> Option<E> {
    match step {
        Step::Add => a.add(b),
        Step::Mul => a.mul(b),
        Step::Div => a.div(b),
        Step::Max => Some(a.max(&b.neg())),
        Step::Sqrt => a.abs().sqrt(),
        Step::Exp2 => a.min(&E::point(30.0)).exp2(),
        Step::Log2 => a.abs().log2(),
        Step::Sin => a.sin(),
        Step::Cos => a.cos(),
        Step::Tanh => a.tanh(),
        Step::Exp => a.min(&E::point(30.0)).exp(),
        Step::Log => a.abs().log(),
        Step::Erf => a.erf(),
        Step::Abs => Some(a.abs()),
        Step::Round(rounding) => a.round(rounding),
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Add),
        4 => Just(Step::Mul),
        2 => Just(Step::Div),
        1 => Just(Step::Max),
        1 => Just(Step::Sqrt),
        1 => Just(Step::Exp2),
        1 => Just(Step::Log2),
        1 => Just(Step::Sin),
        1 => Just(Step::Cos),
        1 => Just(Step::Tanh),
        1 => Just(Step::Exp),
        1 => Just(Step::Log),
        1 => Just(Step::Erf),
        1 => Just(Step::Abs),
        1 => Just(Step::Round(Rounding::NearestEven)),
        1 => Just(Step::Round(Rounding::NearestAway)),
        1 => Just(Step::Round(Rounding::Zero)),
        1 => Just(Step::Round(Rounding::Down)),
        1 => Just(Step::Round(Rounding::Up)),
    ]
}

fn input() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1000i32..1000).prop_map(|x| f64::from(x) / 64.0),
        any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        (-1e3..1e3f32).prop_map(f64::from),
    ]
}

/// Returns `true` if the enclosures overlap: both contain the exact number.
fn overlap(quick: &Double, precise: &Precise) -> bool {
    let ((a, b), (c, d)) = (quick.bounds(), precise.bounds());
    a <= d && c <= b
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn doubles_enclose_what_256_bits_enclose(
        inputs in prop::collection::vec(input(), 3),
        steps in prop::collection::vec((step(), 0usize..100, 0usize..100), 1..25),
    ) {
        let mut quick: Vec<Option<Double>> = inputs.iter().map(|&x| Some(Double::point(x))).collect();
        let mut precise: Vec<Option<Precise>> =
            inputs.iter().map(|&x| Some(Precise::point(x))).collect();
        for (step, a, b) in steps {
            let (a, b) = (a % quick.len(), b % quick.len());
            let both = |values: &[Option<Double>]| Some(apply(step, values[a].as_ref()?, values[b].as_ref()?));
            let result = both(&quick).flatten();
            quick.push(result);
            let both = |values: &[Option<Precise>]| Some(apply(step, values[a].as_ref()?, values[b].as_ref()?));
            let exact = both(&precise).flatten();
            if let (Some(result), Some(exact)) = (&result, &exact) {
                prop_assert!(overlap(result, exact), "{step:?}: {result:?}, {:?}", exact.bounds());
            }
            precise.push(exact);
        }
    }

    /// On points the 256-bit result is a point to double precision: it must be inside, and each bound at most two
    /// units in the last place away.
    #[test]
    fn arithmetic_is_rounded_by_one_place(x in input(), y in input()) {
        let (p, q) = (Precise::point(x), Precise::point(y));
        let (a, b) = (Double::point(x), Double::point(y));
        let close = |quick: Option<Double>, exact: Option<Precise>| {
            let (Some(quick), Some(exact)) = (quick, exact) else { return true };
            let ((low, high), (below, above)) = (quick.bounds(), exact.bounds());
            let near = |bound: f64, exact: f64| (bound - exact).abs() <= exact.abs() * 1e-15 + 1e-300;
            low <= above && below <= high && near(low, below) && near(high, above)
        };
        prop_assert!(close(a.add(&b), p.add(&q)));
        prop_assert!(close(a.mul(&b), p.mul(&q)));
        prop_assert!(close(a.div(&b), p.div(&q)));
        prop_assert!(close(a.abs().sqrt(), p.abs().sqrt()));
    }
}

/// The library's functions stay within half of the margin that is added to them.
#[test]
fn library_functions_are_within_half_the_margin() {
    let half = 0.5 / (1u64 << 50) as f64;
    let mut random = testing::Random::new(1);
    let mut random = || random.unit();
    type Pair = (fn(f64) -> f64, fn(&Precise) -> Option<Precise>);
    let functions: [(&str, Pair, f64, f64); 15] = [
        ("exp2", (libm::exp2, Precise::exp2), -300.0, 300.0),
        ("exp2 near 0", (libm::exp2, Precise::exp2), -1e-3, 1e-3),
        ("log2", (libm::log2, Precise::log2), 0.0, 1e6),
        ("log2 near 1", (libm::log2, Precise::log2), 0.9, 1.1),
        ("sin", (libm::sin, Precise::sin), -1000.0, 1000.0),
        ("sin near 0", (libm::sin, Precise::sin), -1.0, 1.0),
        ("cos", (libm::cos, Precise::cos), -1000.0, 1000.0),
        ("tanh", (libm::tanh, Precise::tanh), -25.0, 25.0),
        ("tanh near 0", (libm::tanh, Precise::tanh), -0.6, 0.6),
        ("exp", (libm::exp, Precise::exp), -300.0, 300.0),
        ("exp near 0", (libm::exp, Precise::exp), -1e-3, 1e-3),
        ("log", (libm::log, Precise::log), 0.0, 1e6),
        ("log near 1", (libm::log, Precise::log), 0.9, 1.1),
        ("erf", (libm::erf, Precise::erf), -6.5, 6.5),
        ("erf near 0", (libm::erf, Precise::erf), -0.5, 0.5),
    ];
    for (name, (library, exact), low, high) in functions {
        for _ in 0..3000 {
            let x = low + (high - low) * random();
            if x == 0.0 {
                continue;
            }
            let (below, above) = exact(&Precise::point(x)).unwrap().bounds();
            let value = library(x);
            let error = (value - below).abs().max((value - above).abs());
            assert!(error <= half * value.abs(), "{name}({x}) = {value}, off by {error}");
        }
    }
}

#[test]
fn exact_results_stay_points() {
    let point = |value: f64| Double::point(value);
    assert_eq!(point(0.1).add(&point(0.0)), Some(point(0.1)));
    assert_eq!(point(3.0).mul(&point(0.125)), Some(point(0.375)));
    assert_eq!(point(1.0).div(&point(8.0)), Some(point(0.125)));
    assert_eq!(point(2.25).sqrt(), Some(point(1.5)));
    assert_eq!(point(-3.0).exp2(), Some(point(0.125)));
    assert_eq!(point(1024.0).log2(), Some(point(10.0)));
    assert_eq!(point(1.0).div(&point(0.0)), None);
    let third = point(1.0).div(&point(3.0)).unwrap();
    let (low, high) = third.bounds();
    assert_eq!(low.next_up(), high);
    assert!(low <= 1.0 / 3.0 && 1.0 / 3.0 <= high);
}

#[test]
fn half_way_numbers_are_rounded_as_asked() {
    for x in [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25, -2.75, 3.0] {
        for rounding in [
            Rounding::NearestEven,
            Rounding::NearestAway,
            Rounding::Zero,
            Rounding::Down,
            Rounding::Up,
        ] {
            let quick = Double::point(x).round(rounding).unwrap().to_integer();
            let precise = Precise::point(x).round(rounding).unwrap().to_integer();
            assert!(quick.is_some() && quick == precise, "{x} {rounding:?}");
        }
    }
}
