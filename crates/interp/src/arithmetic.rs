//! Arithmetic of compiled code: detects exact float operations, and models the error of the others.
//!
//! Floats of every type are doubles here. [`Arithmetic::exact`] tells if every operation so far had a result
//! that the narrowest type of the kernel represents exactly; then any correct compilation has the same numbers. If
//! not, runs with *perturbed* operations show the effect of rounding: each inexact result is moved by a few units in
//! the last place, each approximate function by more, in a direction drawn from a seed.

use base::mix64;
use kir::Binary;
use std::cell::Cell;

/// Distribution of drawn contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Small integers, also as floats: sums and products of a few are exact.
    Small,
    /// Integers from their whole type if they feed no index or condition; floats that are multiples of a quarter.
    Wide,
    /// Integers at the ends of types, around powers of two, small and any; floats that are multiples of a half.
    Mixed,
}

/// Options of a compiled-code run.
#[derive(Clone, Copy, Debug)]
pub struct CompiledRunOptions {
    /// Contents of arrays.
    pub draw: Draw,
    /// Significant bits of the kernel's narrowest float type.
    pub significand: u32,
    /// Seed of a perturbed run. It decides the direction of each perturbation, and the order of threads.
    pub perturbed: Option<u64>,
    /// Limit on executed instructions.
    pub budget: u64,
}

/// The arithmetic of compiled code.
#[derive(Debug)]
pub struct Arithmetic {
    pub(crate) options: CompiledRunOptions,
    draws: Cell<u64>,
    inexact: Cell<bool>,
    pub(crate) out_of_range: Cell<bool>,
}

/// Error of an approximate function: relative, and absolute. CUDA's own bounds for its fast functions (programming
/// guide, "Intrinsic Functions") are below this for arguments of ordinary size.
const FUNCTION_ERRORS: [f64; 2] = [1.0 / (1 << 18) as f64, 1.0 / (1 << 20) as f64];

impl Arithmetic {
    pub(crate) fn new(options: CompiledRunOptions) -> Self {
        let draws = Cell::new(options.perturbed.unwrap_or(0));
        Self { options, draws, inexact: Cell::new(false), out_of_range: Cell::new(false) }
    }

    /// Returns the seed for the order of threads. Each perturbed run has another.
    pub(crate) fn order_seed(&self) -> u64 {
        self.options.perturbed.map_or(0, mix64)
    }

    pub(crate) fn exact(&self) -> bool {
        !self.inexact.get()
    }

    /// Returns a pseudo-random number with an absolute value of 0.5 to 1.
    fn jitter(&self) -> f64 {
        let drawn = mix64(self.draws.get());
        self.draws.set(drawn);
        #[expect(clippy::cast_precision_loss, reason = "twenty bits")]
        let size = 0.5 + (drawn >> 8 & 0xf_ffff) as f64 / f64::from(1 << 21);
        if drawn & 1 == 0 { size } else { -size }
    }

    /// Returns `true` if the narrowest float type represents a number in `bits` significant bits.
    fn holds(&self, value: f64, bits: u32) -> bool {
        if value == 0.0 || !value.is_finite() {
            return true;
        }
        let (least, most) = match self.options.significand {
            24 => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
            11 => (1.0 / f64::from(1 << 14), 65504.0),
            _ => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        };
        if value.abs() > most {
            self.out_of_range.set(true);
        }
        let zeros = value.to_bits() & ((1 << 52) - 1);
        let used = 53 - zeros.trailing_zeros().min(52);
        value.abs() >= least && used <= bits
    }

    /// Returns the result of an operation; in a perturbed run it is moved a little if it was inexact.
    fn perturb_if_inexact(&self, value: f64, exact: bool) -> f64 {
        if exact && self.holds(value, self.options.significand) {
            return value;
        }
        self.perturb(value, [8.0 * unit(self.options.significand), f64::from(f32::MIN_POSITIVE)])
    }

    /// Moves an inexact result by a part of these errors, relative and absolute.
    fn perturb(&self, value: f64, [relative, absolute]: [f64; 2]) -> f64 {
        self.inexact.set(true);
        match self.options.perturbed {
            Some(_) => value + (value.abs() * relative + absolute) * self.jitter(),
            None => value,
        }
    }

    pub(crate) fn constant(&self, value: f64) -> f64 {
        self.perturb_if_inexact(value, true)
    }

    pub(crate) fn binary(&self, operator: Binary, x: f64, y: f64, result: f64) -> f64 {
        let exact = match operator {
            Binary::Add => is_exact_sum(x, y, result),
            Binary::Sub => is_exact_sum(x, -y, result),
            Binary::Mul => x.mul_add(y, -result) == 0.0 || !result.is_finite(),
            Binary::Div => result.mul_add(y, -x) == 0.0 || !result.is_finite(),
            _ => true,
        };
        self.perturb_if_inexact(result, exact)
    }

    /// A sum that other threads add to in any order: exact in all orders if there are bits to spare.
    pub(crate) fn atomic_sum(&self, x: f64, y: f64, result: f64) -> f64 {
        let spare = self.holds(result, self.options.significand.saturating_sub(6));
        self.perturb_if_inexact(result, spare && is_exact_sum(x, y, result))
    }

    /// The result of a function; `None` if it is known too roughly.
    pub(crate) fn function(&self, name: &str, [x, y, z]: [f64; 3], result: f64) -> Option<f64> {
        match name {
            "fabs" | "floor" | "ceil" | "round" | "rint" | "fmin" | "fmax" => Some(result),
            "sqrt" => Some(self.perturb_if_inexact(result, result.mul_add(result, -x) == 0.0)),
            "fdivide" => Some(self.binary(Binary::Div, x, y, result)),
            "fma" => {
                let product = x * y;
                let exact = x.mul_add(y, -product) == 0.0;
                Some(self.perturb_if_inexact(result, exact && is_exact_sum(product, z, result)))
            }
            "rsqrt" | "exp" | "exp2" | "log" | "log2" | "sin" | "cos" | "tanh" | "pow" => {
                let unit = 8.0 * unit(self.options.significand);
                Some(self.perturb(result, [FUNCTION_ERRORS[0].max(unit), FUNCTION_ERRORS[1]]))
            }
            _ => None,
        }
    }
}

/// Returns the relative distance of neighbouring floats with this many significant bits.
fn unit(significand: u32) -> f64 {
    1.0 / (1_u64 << significand.min(60)) as f64
}

/// Returns `true` if a sum of doubles is exact: Knuth's error term is 0.
fn is_exact_sum(x: f64, y: f64, sum: f64) -> bool {
    if !sum.is_finite() {
        return true;
    }
    let part = sum - x;
    (x - (sum - part)) + (y - part) == 0.0
}
