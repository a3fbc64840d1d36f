//! Terms behind the handles that the engine moves around.
//!
//! A handle up to the number of inputs is that input. Behind them come single terms, one entry of a
//! table each, some of them products whose term nobody has asked for. From [`GROWING`] on, handles belong to sums that grow: an accumulator of a kernel has
//! a new handle after every product, and a table of all of them would be as large as the products
//! themselves. So [`STRETCH`] handles in a row are the lengths of one list in a row, and one entry
//! serves them all.

use exec::domain::{LIMIT, Value, Values};
use term::{LANES, Term, Terms};

/// Handles from here on belong to sums that grow.
const GROWING: Value = 1 << 30;

/// How many lengths of a list have one entry; a power of two.
const STRETCH: u32 = 64;

/// Shorter sums have an entry each: most sums never grow longer.
const SHORT: u32 = 8;

/// The term or product behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    Term(Term),
    /// A product of two inputs that has no term yet.
    Product([Value; 2]),
}

#[derive(Debug)]
pub(crate) struct Handles {
    inputs: u32,
    single: Vec<Behind>,
    /// The first term of each stretch.
    growing: Vec<Term>,
    /// For a stretch that somebody asked about: whether it and those after it are sums of a warp's lanes, equally long.
    rows: Vec<Option<bool>>,
    /// Whether there were more values than handles.
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
            exhausted: inputs >= GROWING,
        }
    }

    /// The term or product behind a handle.
    #[inline]
    pub(crate) fn find(&self, terms: &Terms, value: Value) -> Behind {
        if value >= GROWING {
            let (stretch, length) = ((value - GROWING) / STRETCH, (value - GROWING) % STRETCH);
            return Behind::Term(self.growing[stretch as usize].grown(length));
        }
        match value.checked_sub(self.inputs + 1) {
            Some(position) => self.single[position as usize],
            None => Behind::Term(match terms.inputs().at((value as usize).wrapping_sub(1)) {
                Some(input) => terms.input(input),
                None => terms.undefined(),
            }),
        }
    }

    /// Tells whether a handle is an input.
    #[inline]
    pub(crate) fn is_input(&self, value: Value) -> bool {
        (1..=self.inputs).contains(&value)
    }

    /// The factors of a product that has no term.
    #[inline]
    pub(crate) fn factors(&self, value: Value) -> Option<[Value; 2]> {
        let position = value.checked_sub(self.inputs + 1)?;
        match self.single.get(position as usize) {
            Some(Behind::Product(factors)) => Some(*factors),
            _ => None,
        }
    }

    /// A handle for the product of two inputs, without a term.
    #[inline]
    pub(crate) fn product(&mut self, inputs: [Value; 2]) -> Value {
        self.push(Behind::Product(inputs))
    }

    /// Gives a product its term.
    pub(crate) fn settle(&mut self, product: Value, term: Term) {
        self.single[(product - self.inputs - 1) as usize] = Behind::Term(term);
    }

    /// A handle for a term.
    pub(crate) fn handle(&mut self, term: Term) -> Value {
        self.push(Behind::Term(term))
    }

    #[inline]
    fn push(&mut self, entry: Behind) -> Value {
        let next = self.inputs as usize + self.single.len() + 1;
        if next >= GROWING as usize {
            return self.run_out();
        }
        self.single.push(entry);
        next as Value
    }

    /// A handle for a term made of the one behind `before`, most often by one product more.
    #[inline]
    pub(crate) fn handle_after(&mut self, before: Value, old: Term, term: Term) -> Value {
        if !term.is_grown_from(old) {
            return self.handle(term);
        }
        if before >= GROWING && before % STRETCH != STRETCH - 1 {
            return before + 1;
        }
        self.start(term)
    }

    fn start(&mut self, term: Term) -> Value {
        if term.products() < SHORT {
            return self.handle(term);
        }
        let next = GROWING as usize + self.growing.len() * STRETCH as usize;
        if next + STRETCH as usize > LIMIT as usize {
            return self.run_out();
        }
        self.growing.push(term);
        next as Value
    }

    /// The sum of the first lane, if those of the others are in the lists after it and as long.
    #[inline]
    pub(crate) fn row(&mut self, values: &Values) -> Option<Term> {
        let first = values[0];
        // One pass without an early end: it uses vector instructions.
        let apart =
            |(lane, value): (usize, &Value)| value.wrapping_sub(lane as Value * STRETCH) ^ first;
        if first < GROWING
            || values.iter().enumerate().map(apart).fold(0, |all, one| all | one) != 0
        {
            return None;
        }
        let (stretch, length) = ((first - GROWING) / STRETCH, (first - GROWING) % STRETCH);
        let is_row = match self.rows.get(stretch as usize) {
            Some(Some(known)) => *known,
            _ => self.find_row(stretch as usize),
        };
        is_row.then(|| self.growing[stretch as usize].grown(length))
    }

    #[cold]
    fn find_row(&mut self, stretch: usize) -> bool {
        let Some(lanes) = self.growing.get(stretch..stretch + LANES) else { return false };
        let is_row = (0..).zip(lanes).all(|(lane, term)| term.is_beside(lanes[0], lane));
        self.rows.resize(self.growing.len(), None);
        self.rows[stretch] = Some(is_row);
        is_row
    }

    /// Handles for the sums of a row with one product more; `first` is the first lane's.
    #[inline]
    pub(crate) fn handles_after(&mut self, before: &Values, first: Term, out: &mut Values) {
        if before[0] % STRETCH != STRETCH - 1 {
            *out = before.map(|value| value + 1);
            return;
        }
        for (lane, value) in out.iter_mut().enumerate() {
            *value = self.start(first.beside(lane as u32));
        }
    }

    /// Any handle will do: nothing is concluded from a run that has too many values.
    #[cold]
    fn run_out(&mut self) -> Value {
        self.exhausted = true;
        self.inputs.max(1)
    }
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
            assert_eq!(handles.find(&terms, value), Behind::Term(sum));
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
            assert_eq!(handles.find(&terms, value), Behind::Term(term));
        }
    }
}
