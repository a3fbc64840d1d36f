//! Notes where a run's doubles may differ from the kernel's floats or from real numbers by more than their rounding.
//!
//! *Cancels*: a sum lost most of an operand or most of its digits, a result left the range of `float`, or a function
//! has no value at an operand near the border of its domain. From then on, the values that this thread computes are
//! distorted, and so are those of threads that load what it stores. *Decides*: a comparison or a conversion to an
//! integer depends on a rounding error, or on a distorted value. Events after a decision of any thread refute nothing,
//! and neither do values after it or distorted ones.
//!
//! It errs in both directions: a harmless case may be noted, which loses a refutation, and errors that grow above
//! [`CLOSE`] in many steps are not noted.

use kir::Binary;
use std::cell::Cell;

/// Relative errors that count as rounding.
const CLOSE: f64 = 1e-6;
/// Significant bits of a number that every float type of a kernel is taken to represent.
const SHORT: u32 = 20;

/// The notes of a run.
#[derive(Debug, Default)]
pub struct Rounding {
    /// Set if the running thread's values may be distorted.
    cancels: Cell<bool>,
    decides: Cell<bool>,
}

impl Rounding {
    /// Returns `true` if rounding may have decided which way the run took.
    pub(crate) fn decides(&self) -> bool {
        self.decides.get()
    }

    /// Returns `true` if values of the running thread may be far from real numbers.
    pub(crate) fn distorts(&self) -> bool {
        self.decides.get() || self.cancels.get()
    }

    /// Forgets all notes.
    pub(crate) fn clear(&self) {
        self.cancels.set(false);
        self.decides.set(false);
    }

    /// Continues with a thread.
    pub(crate) fn resume(&self, is_distorted: bool) {
        self.cancels.set(is_distorted);
    }

    /// Returns `true` if a sum cancelled in the running thread, or it loaded a distorted value.
    pub(crate) fn cancels(&self) -> bool {
        self.cancels.get()
    }

    /// Notes that the running thread loads a distorted value.
    pub(crate) fn load_distorted(&self) {
        self.cancels.set(true);
    }

    /// Notes the result of an operator.
    pub(crate) fn binary(&self, operator: Binary, x: f64, y: f64, result: f64) {
        match operator {
            Binary::Add => self.sum(x, y, result),
            Binary::Sub => self.sum(x, -y, result),
            Binary::Mul if result == 0.0 && x != 0.0 && y != 0.0 => self.cancels.set(true),
            Binary::Mul => {}
            // Floats give infinity or NaN too.
            Binary::Div if y == 0.0 => return,
            Binary::Div => {}
            _ => return,
        }
        self.range(&[x, y], result);
    }

    fn sum(&self, x: f64, y: f64, sum: f64) {
        let (large, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
        let part = sum - x;
        let error = (x - (sum - part)) + (y - part);
        let is_lost = error.abs() > CLOSE * small;
        let is_small = sum.abs() <= CLOSE * large && !(is_short(x) && is_short(y));
        if is_lost || is_small {
            self.cancels.set(true);
        }
    }

    /// Notes the result of a function. Some convert to a whole number.
    pub(crate) fn function(&self, name: &str, values: [f64; 3], result: f64) {
        let [x, y, z] = values;
        match name {
            "floor" | "ceil" | "trunc" => self.jump(x),
            "round" | "rint" => self.jump(x + 0.5),
            "fmod" => self.jump(x / y),
            "fma" => self.sum(x * y, z, result),
            "exp" | "exp2" | "exp10" | "pow" if result == 0.0 && x.is_finite() && x != 0.0 => {
                self.cancels.set(true);
            }
            _ => {}
        }
        if matches!(name, "exp" | "exp2" | "exp10" | "expm1" | "pow" | "sinh" | "cosh" | "fma") {
            self.range(&values, result);
        }
        // A rounding error may carry an operand over the border of a domain, such as 1 for `acos`. Zero is far enough
        // from a negative number that is not small.
        let is_negative = matches!(name, "sqrt" | "rsqrt" | "log" | "log2" | "log10") && x < -CLOSE;
        let has_value = !result.is_nan() || values.iter().any(|one| one.is_nan());
        // A rounding error in the last bit is a short number, too, but a small one.
        let is_exact = |one: &f64| is_short(*one) && (*one == 0.0 || one.abs() > CLOSE);
        if !has_value && !is_negative && !values.iter().all(is_exact) {
            self.cancels.set(true);
        }
    }

    fn range(&self, operands: &[f64], result: f64) {
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        let is_ordinary = operands.iter().all(|one| one.is_finite());
        let is_tiny = result != 0.0 && result.abs() < least;
        // A NaN comes from operands that floats have too, or that were noted before.
        if is_tiny || is_ordinary && result.abs() > most {
            self.cancels.set(true);
        }
    }

    /// Notes a test for NaN.
    pub(crate) fn nan_test(&self) {
        if self.cancels.get() {
            self.decides.set(true);
        }
    }

    /// Notes a comparison.
    pub(crate) fn comparison(&self, x: f64, y: f64) {
        let is_close = (x - y).abs() <= CLOSE * x.abs().max(y.abs());
        if self.cancels.get() || is_close && !(is_short(x) && is_short(y)) {
            self.decides.set(true);
        }
    }

    /// Notes a conversion that jumps at whole numbers.
    pub(crate) fn jump(&self, x: f64) {
        let is_close = (x - x.round()).abs() <= CLOSE * x.abs().max(1.0);
        if self.cancels.get() || is_close && !is_short(x) {
            self.decides.set(true);
        }
    }
}

/// Returns `true` for a number of few significant bits, and for infinities.
fn is_short(value: f64) -> bool {
    let zeros = value.to_bits() & ((1 << 52) - 1);
    value == 0.0 || !value.is_nan() && 53 - zeros.trailing_zeros().min(52) <= SHORT
}
