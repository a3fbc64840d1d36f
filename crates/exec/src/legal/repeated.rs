//! What several runs of one launch share in value numbering ([`super::enclosed`]): the values of inputs, and sums inside
//! matrix instructions.
//!
//! The manual leaves the order of such a sum open. Here it may differ from instruction to instruction, but the
//! instruction at one place computes a function of its operands: of a row of A, a column of B and an element of C, each
//! a list of values in the order of the instruction. The runs differ only in the block that executes an instruction for
//! a given tile, and on that no hardware lets the sum depend. Reports list this as an assumption.
//!
//! Errs on the safe side: a list with an untracked value (0) makes a fresh sum, and so does a sum whose
//! instruction was not announced.

use crate::domain::{InputSource, Inputs, Value};
use crate::finding::Place;
use rustc_hash::FxHashMap;

/// The most sums kept. Further ones are fresh, which is sound.
const MAX_SUMS: usize = 1 << 25;

/// The most values in lists.
const MAX_LISTED: usize = 1 << 26;

/// A sum inside a matrix instruction: the place, the numbers of a row and a column, and the element of C.
type Sum = (Place, u32, u32, Value);

/// What runs share.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// The first value of each buffer and argument, and their number.
    inputs: FxHashMap<InputSource, (u64, Value)>,
    /// The place of the last matrix instruction.
    pub(super) matrix_instruction: Option<Place>,
    /// Set if a sum was found again.
    pub(super) relies_on_products: bool,
    /// Numbers of lists of values.
    lists: FxHashMap<Box<[Value]>, u32>,
    /// The number of values in all lists.
    listed: usize,
    sums: FxHashMap<Sum, Value>,
}

impl Repeated {
    /// Returns the first value of inputs that an earlier run had, too.
    pub(super) fn inputs(&self, inputs: &Inputs) -> Option<Value> {
        let (count, first) = *self.inputs.get(&inputs.source)?;
        (count == inputs.count).then_some(first)
    }

    pub(super) fn keep_inputs(&mut self, inputs: &Inputs, first: Value) {
        self.inputs.insert(inputs.source, (inputs.count, first));
    }

    /// Returns the value of a sum that was computed before. Otherwise keeps `next` as its value, if possible, and
    /// returns `None`: then the caller must make `next` the value.
    pub(super) fn dot(
        &mut self,
        (a, b, c): (&[Value], &[Value], Value),
        next: Value,
    ) -> Option<Value> {
        let place = self.matrix_instruction.filter(|_| c != 0)?;
        let sum = (place, self.list(a)?, self.list(b)?, c);
        if let Some(&value) = self.sums.get(&sum) {
            self.relies_on_products = true;
            return Some(value);
        }
        if self.sums.len() < MAX_SUMS {
            self.sums.insert(sum, next);
        }
        None
    }

    /// Returns the number of a list of values.
    fn list(&mut self, values: &[Value]) -> Option<u32> {
        if let Some(&number) = self.lists.get(values) {
            return Some(number);
        }
        if values.contains(&0) || self.listed + values.len() > MAX_LISTED {
            return None;
        }
        let number = u32::try_from(self.lists.len()).ok()?;
        self.listed += values.len();
        self.lists.insert(values.into(), number);
        Some(number)
    }
}
