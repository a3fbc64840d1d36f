//! Recognises nvcc's expansion of `expf` by its steps:
//!
//! ```text
//! t = saturate(x · c + ½)          n = ⌊252 · t⌋, by adding 12582913 with rounding down
//! v = n − 126                      r = (x · hi − v) + x · lo,   hi + lo ≈ log2 e
//! result = 2^r · 2^v               2^v by moving the bits of the sum up by 23
//! ```
//!
//! Three steps mean something else over the reals than they say, and only these are recorded here. Adding the
//! constant rounds: with `t` in [0, 1] the sum has no bits below the point, so it is exactly ⌊252·t⌋ +
//! 12582913. Its lowest bits are then `v` + 127, and a shift by 23 turns them into 2^v, exactly. And `hi` is
//! taken for all of log2 e, so the product with `lo` is dropped. This is part of the assumption made by
//! snapping, and it is done only right after the product of the same value with `hi`. The algebra proves that
//! the result is e^x.

use exec::domain::Value;
use ir::Rounding;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Number, Term, Terms};

/// The rest of log2 e beyond single precision.
const LOG2_E_REST: u32 = 0x32a5_7060;

/// The number added to round, and the number subtracted to get the exponent.
const ROUNDING: i64 = 12_582_913;
pub(crate) const EXPONENT_ORIGIN: i64 = 12_583_039;

/// The factor of `t`: the number of exponents.
const EXPONENTS: i64 = 252;

/// The steps of `expf` so far, by the handles of their results.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// log2 e in single precision, and its rest beyond that, once used as constants. Negated values come
    /// second: compilers fold the sign of an argument into them.
    log2_e: [Option<Value>; 2],
    rest: [Option<Value>; 2],
    /// Sums with a product by ±log2 e: the multiplied value, and 1 for a minus sign.
    products: FxHashMap<Value, (Value, usize)>,
    /// Values between 0 and 1.
    saturated: FxHashSet<Value>,
    /// Sums with an integer in their lowest bits.
    exponents: FxHashSet<Value>,
}

impl Steps {
    /// Returns `true` if a factor is one of the recorded constants.
    pub(crate) fn is_constant(&self, value: Value) -> bool {
        self.log2_e.iter().chain(&self.rest).any(|&known| known == Some(value))
    }

    /// Records the use of a single as a constant.
    pub(crate) fn note_constant(&mut self, bits: u64, value: Value) {
        const SIGN: u64 = 1 << 31;
        let minus = usize::from(bits & SIGN != 0);
        match bits & !SIGN {
            magnitude if magnitude == u64::from(std::f32::consts::LOG2_E.to_bits()) => {
                self.log2_e[minus] = Some(value);
            }
            magnitude if magnitude == u64::from(LOG2_E_REST) => self.rest[minus] = Some(value),
            _ => {}
        }
    }

    /// Records that `result` is `a·b + c`.
    pub(crate) fn note_product(&mut self, [a, b]: [Value; 2], result: Value) {
        if let Some(minus) = self.log2_e.iter().position(|&known| known == Some(b)) {
            self.products.insert(result, (a, minus));
        }
    }

    /// Returns `true` if `a·b + c` adds the rest of log2 e to the product of `a` with log2 e in `c`.
    pub(crate) fn is_rest(&self, [a, b, c]: [Value; 3]) -> bool {
        let product = self.products.get(&c);
        product.is_some_and(|&(factor, minus)| factor == a && self.rest[minus] == Some(b))
    }

    pub(crate) fn note_saturated(&mut self, value: Value) {
        self.saturated.insert(value);
    }

    /// Returns `true` if `a·b + c` rounds `a·b` down to an integer.
    pub(crate) fn rounds_down(
        &self,
        terms: &Terms,
        a: Value,
        [b, c]: [Term; 2],
        rounding: Rounding,
    ) -> bool {
        let is = |term: Term, wanted: i64| {
            terms.as_number(term).and_then(Number::to_i64) == Some(wanted)
        };
        rounding == Rounding::Down
            && self.saturated.contains(&a)
            && is(b, EXPONENTS)
            && is(c, ROUNDING)
    }

    pub(crate) fn note_exponent(&mut self, value: Value) {
        self.exponents.insert(value);
    }

    /// Returns `true` if the lowest bits of a single are an exponent.
    pub(crate) fn is_exponent(&self, value: Value) -> bool {
        self.exponents.contains(&value)
    }
}
