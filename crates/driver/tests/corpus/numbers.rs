//! Runs kernels of the corpus on numbers: inputs, simulation, outputs as doubles.

use super::Flags;
use driver::arguments::{ArgumentValue, ElementType, Initial, Number};
use driver::npy::{self, Dtype};
use driver::{Colour, Exit};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("warpproof-references-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Simulates a kernel on given inputs and returns an output.
pub(crate) fn simulate(
    file: &str,
    kernel: &str,
    flags: &str,
    inputs: &[(&str, &[f64])],
    out: &str,
) -> Vec<f64> {
    let mut flags = Flags::parse(flags);
    for argument in &mut flags.arguments {
        let ArgumentValue::Tensor(tensor) = &mut argument.value else { continue };
        let given = inputs.iter().find(|(name, _)| *name == argument.name);
        if let Some((_, numbers)) = given {
            assert_eq!(tensor.elements(), Some(numbers.len() as u64), "{}", argument.name);
            let numbers = numbers.iter().map(|&value| number(tensor.element, value)).collect();
            tensor.initial = Some(Initial::List(numbers));
        }
    }
    let (input, scratch) = (super::input(file), Scratch::new());
    let outcome = flags.run(&input, kernel, |execution| {
        driver::simulate::run(execution, Some(&scratch.0), &|| (), Colour::Plain)
    });
    let report = format!("{}{}", outcome.messages, outcome.output);
    assert_eq!(outcome.exit, Exit::Success, "{file}::{kernel}:\n{report}");
    decoded(&npy::read(&scratch.0.join(format!("{out}.npy"))).unwrap())
}

fn number(element: ElementType, value: f64) -> Number {
    if element.is_float() {
        return Number::Float(format!("{value:?}"));
    }
    assert_eq!(value.fract(), 0.0);
    Number::Integer(value as i128)
}

fn decoded(array: &npy::Array) -> Vec<f64> {
    let elements = array.data.chunks_exact(array.dtype.bytes());
    let decode = |bytes: &[u8]| match (array.dtype, bytes) {
        (Dtype::F4, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
        (Dtype::I4, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
        (Dtype::U4, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
        (Dtype::F2, &[a, b]) => half(u16::from_le_bytes([a, b])),
        (Dtype::I1, &[a]) => f64::from(a as i8),
        (dtype, _) => panic!("{dtype} is not decoded here"),
    };
    elements.map(decode).collect()
}

/// A number in half precision (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Pseudorandom numbers of 64 bits, the same every time.
fn random(count: usize, seed: u64) -> impl Iterator<Item = u64> {
    let mut random = testing::Random::new(seed);
    std::iter::repeat_with(move || random.bits()).take(count)
}

/// Integers of 8 bits.
pub(crate) fn bytes(count: usize, seed: u64) -> Vec<f64> {
    random(count, seed).map(|bits| f64::from((bits >> 56) as i8)).collect()
}

/// Integers of 32 bits.
pub(crate) fn words(count: usize, seed: u64) -> Vec<f64> {
    random(count, seed).map(|bits| f64::from((bits >> 32) as i32)).collect()
}

/// Asserts that outputs are close to the expected ones: with a relative error, or an absolute one below 1.
pub(crate) fn assert_close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (position, (got, want)) in got.iter().zip(want).enumerate() {
        let error = (got - want).abs() / want.abs().max(1.0);
        assert!(error <= tolerance, "{what}, element {position}: {got} instead of {want}");
    }
}
