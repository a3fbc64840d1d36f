//! Products that are added to sums: most of the work of kernels.
//!
//! A product of two inputs has a handle, but no term until one is requested: nearly all products are added to
//! a sum and not used again. Adding one appends its factors to the sum, like a fused multiply-add; over the
//! reals both are the same. If a term is requested, equal products share it.

use super::{Operation, Symbolic};
use exec::Mask;
use exec::domain::{Binary, Value, Values};
use ir::Rounding;

impl Symbolic {
    /// Computes `a·b`; without a term where both are inputs.
    pub(super) fn multiply(&mut self, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        let inputs =
            |lane: usize| operands.iter().all(|values| self.handles.is_input(values[lane]));
        if !lanes.iter().all(inputs) || uniform(&operands, lanes).is_some() {
            return self.apply_in_lanes(Operation::Binary(Binary::Mul), operands, lanes, out);
        }
        for lane in lanes.iter() {
            out[lane] = self.handles.product(operands.map(|values| values[lane]));
        }
    }

    /// Computes `a + b` if one operand is a product without a term in every lane; returns `false` otherwise.
    pub(super) fn add_product(
        &mut self,
        [a, b]: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) -> bool {
        for (sum, product) in [(a, b), (b, a)] {
            if let Some([x, y]) = self.factors(product, lanes) {
                self.accumulate([&x, &y, sum], lanes, out);
                return true;
            }
        }
        false
    }

    /// Returns the factors of products without a term.
    fn factors(&self, products: &Values, lanes: Mask) -> Option<[Values; 2]> {
        let mut factors = [*products; 2];
        for lane in lanes.iter() {
            let [x, y] = self.handles.factors(products[lane])?;
            (factors[0][lane], factors[1][lane]) = (x, y);
        }
        Some(factors)
    }

    /// Computes `a·b + c`, which may be a step of `expf`.
    pub(super) fn multiply_add(
        &mut self,
        operands: [&Values; 3],
        rounding: Rounding,
        lanes: Mask,
        out: &mut Values,
    ) {
        // The constants of `expf` are the same in all lanes.
        let constant = lanes.lowest().map_or(0, |lane| operands[1][lane]);
        if rounding != Rounding::Down && !self.expf.is_constant(constant) {
            return self.accumulate(operands, lanes, out);
        }
        for lane in lanes.iter() {
            out[lane] = self.step_or_sum(operands.map(|operand| operand[lane]), rounding);
        }
    }

    /// Like [`multiply_add`](Self::multiply_add), of one lane.
    pub(super) fn multiply_add_one(&mut self, operands: [Value; 3], rounding: Rounding) -> Value {
        match rounding != Rounding::Down && !self.expf.is_constant(operands[1]) {
            true => self.accumulate_one(operands),
            false => self.step_or_sum(operands, rounding),
        }
    }

    fn step_or_sum(&mut self, operands: [Value; 3], rounding: Rounding) -> Value {
        let result = match self.expf_step(operands, rounding) {
            Some(value) => value,
            None => self.make(Operation::Fma, operands),
        };
        self.expf.note_product([operands[0], operands[1]], result);
        result
    }

    /// Computes `a·b + c`, where `c` is most often a sum.
    pub(super) fn accumulate(&mut self, operands: [&Values; 3], lanes: Mask, out: &mut Values) {
        if lanes == Mask::ALL && self.accumulate_row(operands, out) {
            return;
        }
        if !lanes.is_one() && uniform(&operands, lanes).is_some() {
            return self.apply_in_lanes(Operation::Fma, operands, lanes, out);
        }
        for lane in lanes.iter() {
            out[lane] = self.accumulate_one(operands.map(|operand| operand[lane]));
        }
    }

    /// Like [`accumulate`](Self::accumulate), of one lane.
    #[inline]
    fn accumulate_one(&mut self, [a, b, c]: [Value; 3]) -> Value {
        let sum = self.term(c);
        if sum.products() == 0 {
            return self.make(Operation::Fma, [a, b, c]);
        }
        let (x, y) = (self.term(a), self.term(b));
        let longer = self.terms.fused_multiply_add(x, y, sum);
        self.handles.handle_after(c, sum, longer)
    }

    /// Appends `a·b` to the sums `c` of all lanes at once. Returns `false` unless `a` and `b` are inputs and
    /// the sums have grown together.
    #[inline]
    fn accumulate_row(&mut self, [a, b, c]: [&Values; 3], out: &mut Values) -> bool {
        let Some(first) = self.handles.row(c) else { return false };
        // Handle 1 is the input at position 0. Handles of other values give positions that no input has.
        if !self.terms.multiply_add_inputs([a, b], 1, first) {
            return false;
        }
        self.handles.handles_after(c, first.grown(1), out);
        true
    }

    /// Computes `c + Σ aᵢ·bᵢ`.
    pub(super) fn inner_product(&mut self, a: &[Value], b: &[Value], c: Value) -> Value {
        self.memory.watch(&self.terms);
        let mut sum = self.term(c);
        // Positions as in `accumulate_row`.
        let products = a.iter().zip(b).map(|(x, y)| (x.wrapping_sub(1), y.wrapping_sub(1)));
        if let Some(longer) = self.terms.multiply_add_all(products, sum) {
            return self.handles.handle(longer);
        }
        for (&x, &y) in a.iter().zip(b) {
            let (x, y) = (self.term(x), self.term(y));
            sum = self.terms.fused_multiply_add(x, y, sum);
        }
        self.handles.handle(sum)
    }
}

/// Returns a lane that stands for all, if all operands are the same in all lanes.
#[inline]
pub(super) fn uniform(operands: &[&Values], lanes: Mask) -> Option<usize> {
    let first = lanes.lowest()?;
    // Accumulators come last and differ most often.
    let same = |operand: &&Values| lanes.iter().all(|lane| operand[lane] == operand[first]);
    operands.iter().rev().all(same).then_some(first)
}
