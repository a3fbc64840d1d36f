//! `expf` as nvcc expands it, recognised by its steps:
//!
//! ```text
//! t = saturate(x · c + ½)          n = ⌊252 · t⌋, by adding 12582913 with rounding down
//! v = n − 126                      r = (x · hi − v) + x · lo,   hi + lo ≈ log2 e
//! result = 2^r · 2^v               2^v by moving the bits of the sum up by 23
//! ```
//!
//! Three steps mean something else over the reals than they say, and only these are recorded here.
//! Adding the constant rounds: with `t` in [0, 1] the sum has no bits below the point, so it is
//! ⌊252·t⌋ + 12582913 exactly. Its lowest bits are then `v` + 127, and a shift by 23 makes 2^v of
//! them, exactly. And `hi` is taken for all of log2 e, so that the product with `lo` is dropped:
//! that is part of what snapping assumes, and done only right after the product of the same value
//! with `hi`. That the result is e^x is left to the algebra.

use exec::domain::Value;
use ir::Rounding;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Number, Term, Terms};

/// What single precision lacks of log2 e.
const LOG2_E_REST: u32 = 0x32a5_7060;

/// What is added to round, and what is taken away again for an exponent.
const ROUNDING: i64 = 12_582_913;
pub(crate) const EXPONENT_ORIGIN: i64 = 12_583_039;

/// How many exponents there are.
const EXPONENTS: i64 = 252;

/// The steps of `expf` seen so far, by the handles of their results.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// log2 e in single precision and what it lacks, once they were used as constants; both negated
    /// behind them, as compilers fold the sign of an argument into them.
    log2_e: [Option<Value>; 2],
    rest: [Option<Value>; 2],
    /// Sums with a product by ±log2 e, what was multiplied, and whether the sign was minus.
    products: FxHashMap<Value, (Value, usize)>,
    /// Values between 0 and 1.
    saturated: FxHashSet<Value>,
    /// Sums whose lowest bits are an integer.
    exponents: FxHashSet<Value>,
}

impl Steps {
    /// Whether a factor is one of the constants of which something is recorded.
    pub(crate) fn is_constant(&self, value: Value) -> bool {
        self.log2_e.iter().chain(&self.rest).any(|&known| known == Some(value))
    }

    /// A single was used as a constant.
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

    /// `result` is `a·b + c`.
    pub(crate) fn note_product(&mut self, [a, b]: [Value; 2], result: Value) {
        if let Some(minus) = self.log2_e.iter().position(|&known| known == Some(b)) {
            self.products.insert(result, (a, minus));
        }
    }

    /// Whether `a·b + c` adds what the product of `a` with log2 e, which is in `c`, lacks.
    pub(crate) fn is_rest(&self, [a, b, c]: [Value; 3]) -> bool {
        let product = self.products.get(&c);
        product.is_some_and(|&(factor, minus)| factor == a && self.rest[minus] == Some(b))
    }

    pub(crate) fn note_saturated(&mut self, value: Value) {
        self.saturated.insert(value);
    }

    /// Whether `a·b + c` rounds `a·b` down to an integer.
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

    /// Whether the lowest bits of a single are an exponent.
    pub(crate) fn is_exponent(&self, value: Value) -> bool {
        self.exponents.contains(&value)
    }
}
