//! Maps the engine's handles to terms.
//!
//! Handles from 1 up to the number of inputs are those inputs. The next ones are single terms, with one table entry
//! each; some are products whose term has not been requested yet. From [`FIRST_GROWING`] on, handles belong to
//! growing sums: an accumulator of a kernel has a new handle after every product, and a table of all of them
//! would be as large as the products themselves. So [`STRETCH`] consecutive handles are consecutive lengths
//! of one list, and share one entry.

use exec::domain::{LIMIT, Value, Values};
use multiversion::multiversion;
use term::{LANES, Term, Terms};

/// Handles from here on belong to growing sums.
const FIRST_GROWING: Value = 1 << 30;

/// Lengths of a list that share an entry; a power of two.
const STRETCH: u32 = 64;

/// Sums with fewer products have an entry each: most sums stay short.
const SHORT: u32 = 8;

/// The term or product behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermOrProduct {
    Term(Term),
    /// A product of two inputs without a term yet.
    Product([Value; 2]),
}

/// All handles of a run, with their terms.
#[derive(Debug)]
pub(crate) struct Handles {
    inputs: u32,
    single: Vec<TermOrProduct>,
    /// The first term of each stretch.
    growing: Vec<Term>,
    /// For each queried stretch: `true` if it and the next ones are sums of the lanes of one warp, which grow
    /// together.
    rows: Vec<Option<bool>>,
    /// Set if there were more values than handles.
    pub(crate) exhausted: bool,
}

impl Handles {
    pub(crate) fn new(inputs: usize) -> Self {
        let inputs = u32::try_from(inputs).unwrap_or(LIMIT);
        Self {
            inputs,
            single: Vec::new(),
            growing: Vec::new(),
            rows: Vec::new(),
            exhausted: inputs >= FIRST_GROWING,
        }
    }

    /// Returns the term or product behind a handle.
    #[inline]
    pub(crate) fn find(&self, terms: &Terms, value: Value) -> TermOrProduct {
        if value >= FIRST_GROWING {
            let (stretch, length) =
                ((value - FIRST_GROWING) / STRETCH, (value - FIRST_GROWING) % STRETCH);
            return TermOrProduct::Term(self.growing[stretch as usize].grown(length));
        }
        match value.checked_sub(self.inputs + 1) {
            Some(position) => self.single[position as usize],
            None => {
                TermOrProduct::Term(match terms.inputs().at((value as usize).wrapping_sub(1)) {
                    Some(input) => terms.input(input),
                    None => terms.undefined(),
                })
            }
        }
    }

    /// Returns `true` if a handle is an input.
    #[inline]
    pub(crate) fn is_input(&self, value: Value) -> bool {
        (1..=self.inputs).contains(&value)
    }

    /// Returns the factors of a product without a term.
    #[inline]
    pub(crate) fn factors(&self, value: Value) -> Option<[Value; 2]> {
        let position = value.checked_sub(self.inputs + 1)?;
        match self.single.get(position as usize) {
            Some(TermOrProduct::Product(factors)) => Some(*factors),
            _ => None,
        }
    }

    /// Creates a handle for the product of two inputs, without a term.
    #[inline]
    pub(crate) fn product(&mut self, inputs: [Value; 2]) -> Value {
        self.push(TermOrProduct::Product(inputs))
    }

    /// Gives a product its term.
    pub(crate) fn set_term(&mut self, product: Value, term: Term) {
        self.single[(product - self.inputs - 1) as usize] = TermOrProduct::Term(term);
    }

    /// Creates a handle for a term.
    pub(crate) fn handle(&mut self, term: Term) -> Value {
        self.push(TermOrProduct::Term(term))
    }

    #[inline]
    fn push(&mut self, entry: TermOrProduct) -> Value {
        let next = self.inputs as usize + self.single.len() + 1;
        if next >= FIRST_GROWING as usize {
            return self.report_exhaustion();
        }
        self.single.push(entry);
        next as Value
    }

    /// Creates a handle for a term made from the one behind `before`, most often by adding one product.
    #[inline]
    pub(crate) fn handle_after(&mut self, before: Value, old: Term, term: Term) -> Value {
        if !term.is_grown_from(old) {
            return self.handle(term);
        }
        if before >= FIRST_GROWING && before % STRETCH != STRETCH - 1 {
            return before + 1;
        }
        self.start_stretch(term)
    }

    /// Creates a handle for a sum that is likely to grow.
    fn start_stretch(&mut self, term: Term) -> Value {
        if term.products() < SHORT {
            return self.handle(term);
        }
        let next = FIRST_GROWING as usize + self.growing.len() * STRETCH as usize;
        if next + STRETCH as usize > LIMIT as usize {
            return self.report_exhaustion();
        }
        self.growing.push(term);
        next as Value
    }

    /// Returns the sum of the first lane if the lanes form a *row*: the sums of the other lanes are in the
    /// lists after it and have the same length.
    #[inline]
    pub(crate) fn row(&mut self, values: &Values) -> Option<Term> {
        let first = values[0];
        if first < FIRST_GROWING || !are_stretches(values) {
            return None;
        }
        let (stretch, length) =
            ((first - FIRST_GROWING) / STRETCH, (first - FIRST_GROWING) % STRETCH);
        let is_row = match self.rows.get(stretch as usize) {
            Some(Some(known)) => *known,
            _ => self.find_row(stretch as usize),
        };
        is_row.then(|| self.growing[stretch as usize].grown(length))
    }

    #[cold]
    fn find_row(&mut self, stretch: usize) -> bool {
        let Some(lanes) = self.growing.get(stretch..stretch + LANES) else { return false };
        let is_row = (0..).zip(lanes).all(|(lane, term)| term.is_sum_after(lanes[0], lane));
        self.rows.resize(self.growing.len(), None);
        self.rows[stretch] = Some(is_row);
        is_row
    }

    /// Creates handles for the sums of a row after one more product; `first` is the new sum of the first lane.
    #[inline]
    pub(crate) fn handles_after(&mut self, before: &Values, first: Term, out: &mut Values) {
        if before[0] % STRETCH != STRETCH - 1 {
            return advance(before, out);
        }
        for (lane, value) in out.iter_mut().enumerate() {
            *value = self.start_stretch(first.sum_after(lane as u32));
        }
    }

    /// Returns an arbitrary handle: a run with too many values proves nothing.
    #[cold]
    fn report_exhaustion(&mut self) -> Value {
        self.exhausted = true;
        self.inputs.max(1)
    }
}

/// Returns `true` if handles are at the same length of consecutive stretches.
#[multiversion(targets("x86_64+avx2"))]
fn are_stretches(values: &Values) -> bool {
    // A single pass without early exit can use vector instructions.
    let mut differ = 0;
    for (lane, value) in values.iter().enumerate() {
        differ |= value.wrapping_sub(lane as Value * STRETCH) ^ values[0];
    }
    differ == 0
}

/// Advances each handle by one.
#[multiversion(targets("x86_64+avx2"))]
fn advance(values: &Values, out: &mut Values) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out = value.wrapping_add(1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::Inputs;

    #[test]
    fn every_length_of_a_sum_keeps_its_handle() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut handles = Handles::new(1);
        let x = terms.input(x);
        let mut known = Vec::new();
        for _ in 0..3 {
            let (mut sum, mut value) = (terms.zero(), handles.handle(terms.zero()));
            for _ in 0..300 {
                let longer = terms.fused_multiply_add(x, x, sum);
                value = handles.handle_after(value, sum, longer);
                sum = longer;
                known.push((value, sum));
            }
        }
        for (value, sum) in known {
            assert_eq!(handles.find(&terms, value), TermOrProduct::Term(sum));
        }
        assert!(handles.single.len() < 40 && handles.growing.len() < 20);
    }

    #[test]
    fn a_sum_that_was_left_behind_grows_elsewhere() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut handles = Handles::new(1);
        let x = terms.input(x);
        let (mut sum, mut value) = (terms.zero(), handles.handle(terms.zero()));
        for _ in 0..20 {
            let longer = terms.fused_multiply_add(x, x, sum);
            value = handles.handle_after(value, sum, longer);
            sum = longer;
        }
        let both = [terms.one(), terms.pi()].map(|factor| {
            let longer = terms.fused_multiply_add(x, factor, sum);
            (handles.handle_after(value, sum, longer), longer)
        });
        assert_ne!(both[0].0, both[1].0);
        for (value, term) in both {
            assert_eq!(handles.find(&terms, value), TermOrProduct::Term(term));
        }
    }
}
