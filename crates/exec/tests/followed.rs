//! Tests tracking of integers through bit operations: the results for handles must equal the results for the
//! numbers behind them.
//!
//! Kernels run twice, on handles and on numbers. A lost value is never wrong; the tracked ones are counted,
//! so that the comparison cannot become empty.

#[path = "followed/generator.rs"]
mod generator;
#[path = "followed/matrices.rs"]
mod matrices;
#[path = "followed/numbers.rs"]
mod numbers;

use exec::{Access, Argument, Buffer, Contents, Element, Launch, Limits};
use generator::Case;
use ir::{Format, Scalar, Width};
use numbers::{Numbers, Precision};

/// A kernel `k(x, y)`, the contents of `x`, and its stores to `y`: name, offset, width, and `true` for a
/// single.
struct Run {
    text: String,
    threads: u32,
    scalar: Scalar,
    bytes: Vec<u8>,
    outputs: Vec<(String, usize, Width, bool)>,
}

impl Run {
    /// The numbers in `x`.
    fn numbers(&self) -> Vec<i128> {
        let number = |element: &[u8]| {
            let low = element.iter().rev().fold(0, |low, byte| low << 8 | i128::from(*byte));
            let Scalar::Integer { width, signed } = self.scalar else { return low };
            let negative = signed && low >> (width.bits() - 1) == 1;
            low - if negative { 1 << width.bits() } else { 0 }
        };
        self.bytes.chunks(self.scalar.width().bytes() as usize).map(number).collect()
    }

    /// A launch with these contents of `x`.
    fn launch(&self, program: &ir::Program, contents: Contents) -> Launch {
        let kernel = program.functions.enumerate().find(|(_, function)| function.is_kernel);
        let (kernel, _) = kernel.unwrap_or_else(|| panic!("no kernel"));
        let buffer = |name: &str, contents, access| Buffer {
            name: name.to_owned(),
            element_bytes: self.scalar.width().bytes(),
            element: Some(self.scalar),
            contents,
            access,
        };
        let end = |(_, at, width, _): &(String, usize, Width, bool)| at + width.bytes() as usize;
        let size = self.outputs.iter().map(end).max().unwrap_or(0).next_multiple_of(16);
        Launch {
            kernel,
            grid: [1; 3],
            block: [self.threads, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            buffers: vec![
                buffer("x", contents, Access::In),
                buffer("y", Contents::Undefined(size as u64), Access::Out),
            ],
            arguments: vec![Argument::Pointer(0), Argument::Pointer(1)],
            symbols: Vec::new(),
            selected: Vec::new(),
        }
    }

    /// Compares the outputs. Returns the number of comparable domain values, or the place of a wrong one.
    fn compare(&self, precision: Precision) -> Result<usize, String> {
        let parsed = ptx::syntax::parse(&self.text);
        assert!(parsed.errors.is_empty(), "{:?}\n{}", parsed.errors, self.text);
        let lowered = ptx::lower(&parsed.module);
        assert!(lowered.diagnostics.is_empty(), "{:?}\n{}", lowered.diagnostics, self.text);
        let program = lowered.program;
        let known = self.launch(&program, Contents::Known(self.bytes.clone()));
        let machine = exec::run(&program, &known, Limits::default());
        assert!(machine.gap.is_none() && machine.findings.is_empty(), "{}", self.text);
        let opaque = self.launch(&program, Contents::Opaque(self.bytes.len() as u64));
        let mut domain = Numbers::new(self.numbers(), precision);
        let (outcome, mut results) =
            exec::run_in(&program, &opaque, Limits::default(), &mut domain);
        if outcome.gap.is_some() {
            return Ok(0);
        }
        let mut followed = 0;
        for (name, start, width, is_float) in &self.outputs {
            let stored = &machine.buffers[1][*start..*start + width.bytes() as usize];
            let bits = stored.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            for scalar in read_as(*width, *is_float) {
                let found = match results.element(&mut domain, 1, *start, scalar) {
                    Element::Bits(known) if known == bits => continue,
                    Element::Bits(known) => format!("{known:#x}"),
                    Element::Unwritten | Element::Lost(_) => continue,
                    Element::Value(value) => match domain.number(value) {
                        Some(number) if agrees(number, bits, scalar) => {
                            followed += 1;
                            continue;
                        }
                        Some(number) => number.to_string(),
                        None => continue,
                    },
                };
                return Err(format!("{name} as {scalar:?}: {found}, on numbers {bits:#x}"));
            }
        }
        Ok(followed)
    }
}

/// The types to read an output with.
fn read_as(width: Width, is_float: bool) -> Vec<Scalar> {
    if is_float {
        return vec![Scalar::Float(Format::F32)];
    }
    [false, true].map(|signed| Scalar::Integer { width, signed }).to_vec()
}

/// Returns `true` if a number agrees with hardware: an integer in its lowest bits, a single after rounding.
fn agrees(number: i128, bits: u64, scalar: Scalar) -> bool {
    match scalar {
        Scalar::Float(_) => number as f32 == f32::from_bits(bits as u32),
        Scalar::Integer { width, .. } => number.rem_euclid(1 << width.bits()) == i128::from(bits),
    }
}

/// All variants of the domain.
fn precisions() -> impl Iterator<Item = Precision> {
    (0..8).map(|one| Precision { defers: one & 1 > 0, wraps: one & 2 > 0, coarse: one & 4 > 0 })
}

#[test]
fn bits_of_handles_are_bits_of_numbers() {
    const CASES: u64 = 1000;
    for (number, precision) in precisions().enumerate() {
        let mut followed = 0;
        for seed in (0..CASES).map(|seed| number as u64 * CASES + seed) {
            let case = Case::new(seed);
            match case.run().compare(precision) {
                Ok(count) => followed += count,
                Err(_) => {
                    let run = case.shrink(|run| run.compare(precision).is_err()).run();
                    let what = run.compare(precision).unwrap_err();
                    let (x, text) = (run.numbers(), &run.text);
                    panic!("seed {seed}, {precision:?}, {:?} {x:?}\n{text}\n{what}", run.scalar);
                }
            }
        }
        assert!(followed > 8000, "{precision:?}: {followed} outputs were followed");
    }
}
