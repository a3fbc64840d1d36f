//! The free variables: tensors of elements and scalars, numbered once for all stores.
//!
//! Both programs of a comparison share one table, so an element is the same number on both sides
//! and needs no storage in either term store.

use crate::FloatNumbers;
use std::fmt::Write as _;

/// One free variable: an element of a tensor, or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(pub(crate) u32);

impl Input {
    /// Position in the table.
    #[must_use]
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// The table of free variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    groups: Vec<InputGroup>,
    total: u32,
}

/// A tensor or scalar: variables with consecutive numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InputGroup {
    name: String,
    first: u32,
    /// `None` for a scalar, printed without an index.
    length: Option<u32>,
    /// Sizes, if an index is printed as several.
    shape: Vec<u64>,
    numbers: Numbers,
}

/// The numbers that a variable stands for. Only the search for points uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// All reals.
    #[default]
    Reals,
    /// The integers from the first to the second, both included.
    Integers(i64, i64),
    /// Those of a float format.
    Floats(FloatNumbers),
}

/// More inputs than a store can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyInputs;

/// Inputs and nodes share numbers of 31 bits; at least half of the numbers are left to the nodes.
const MAX_INPUTS: u32 = 1 << 30;

impl Inputs {
    /// Creates an empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self { groups: Vec::new(), total: 0 }
    }

    /// Adds a tensor of `length` elements and returns the first; the others follow it.
    ///
    /// # Errors
    /// When the table would outgrow 2^30 elements.
    pub fn tensor(&mut self, name: &str, length: u32) -> Result<Input, TooManyInputs> {
        self.group(name, length, Some(length))
    }

    /// Adds a scalar.
    ///
    /// # Errors
    /// When the table would outgrow 2^30 elements.
    pub fn scalar(&mut self, name: &str) -> Result<Input, TooManyInputs> {
        self.group(name, 1, None)
    }

    /// Number of variables.
    #[must_use]
    pub fn len(&self) -> usize {
        self.total as usize
    }

    /// Returns `true` if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the variable at a position.
    #[must_use]
    #[inline]
    pub fn at(&self, position: usize) -> Option<Input> {
        u32::try_from(position).ok().filter(|position| *position < self.total).map(Input)
    }

    /// Finds `name` or `name[index]`.
    #[must_use]
    pub fn find(&self, name: &str, index: Option<u32>) -> Option<Input> {
        let group = self.groups.iter().find(|group| group.name == name)?;
        match (index, group.length) {
            (None, None) => Some(Input(group.first)),
            (Some(index), Some(length)) if index < length => Some(Input(group.first + index)),
            _ => None,
        }
    }

    /// Returns the name of a variable: `x[3]` or `scale`.
    #[must_use]
    pub fn name(&self, input: Input) -> String {
        let Some(group) = self.group_of(input) else { return format!("input#{}", input.0) };
        let mut name = group.name.clone();
        if group.length.is_some() {
            // Writing to a string cannot fail.
            let index = u64::from(input.0 - group.first);
            let _ = match group.shape.len() {
                0 | 1 => write!(name, "[{index}]"),
                _ => write!(name, "[{}]", indices(index, &group.shape)),
            };
        }
        name
    }

    /// Returns the name of the tensor or scalar a variable belongs to, and its index there.
    #[must_use]
    pub fn place(&self, input: Input) -> Option<(&str, Option<u32>)> {
        let group = self.group_of(input)?;
        Some((&group.name, group.length.map(|_| input.0 - group.first)))
    }

    /// Returns the number of variables from this one to the end of its tensor or scalar, itself among them.
    #[must_use]
    pub fn rest(&self, input: Input) -> usize {
        self.group_of(input).map_or(0, |group| {
            (group.first + group.length.unwrap_or(1)).saturating_sub(input.0) as usize
        })
    }

    /// Returns the variable `places` after another, if it is in the same tensor.
    #[must_use]
    pub fn behind(&self, first: Input, places: i64) -> Option<Input> {
        let places = usize::try_from(places).ok().filter(|places| *places < self.rest(first))?;
        self.at(first.position() + places)
    }

    /// Returns the sizes of the tensor a variable belongs to, if they were given.
    #[must_use]
    pub fn shape(&self, input: Input) -> &[u64] {
        self.group_of(input).map_or(&[], |group| &group.shape)
    }

    /// Returns the numbers that a variable stands for.
    #[must_use]
    pub fn numbers(&self, input: Input) -> Numbers {
        self.group_of(input).map_or(Numbers::Reals, |group| group.numbers)
    }

    /// Returns `true` if any variable stands for less than all reals.
    #[must_use]
    pub fn has_types(&self) -> bool {
        self.groups.iter().any(|group| group.numbers != Numbers::Reals)
    }

    /// Sets how the indices of the last added tensor or scalar are printed, and which numbers it consists of. A shape
    /// that does not fit its length is ignored.
    pub fn describe(&mut self, shape: &[u64], numbers: Numbers) {
        let Some(group) = self.groups.last_mut() else { return };
        let count = shape.iter().try_fold(1_u64, |all, size| all.checked_mul(*size));
        if count == group.length.map(u64::from) {
            group.shape = shape.to_vec();
        }
        group.numbers = numbers;
    }

    fn group_of(&self, input: Input) -> Option<&InputGroup> {
        let after = self.groups.partition_point(|group| group.first <= input.0);
        after.checked_sub(1).and_then(|index| self.groups.get(index))
    }

    fn group(
        &mut self,
        name: &str,
        size: u32,
        length: Option<u32>,
    ) -> Result<Input, TooManyInputs> {
        let first = self.total;
        let total = first.checked_add(size).filter(|total| *total <= MAX_INPUTS);
        self.total = total.ok_or(TooManyInputs)?;
        // An empty tensor would share its first number with the next group and hide it.
        if size > 0 {
            let (name, shape) = (name.to_owned(), Vec::new());
            self.groups.push(InputGroup { name, first, length, shape, numbers: Numbers::Reals });
        }
        Ok(Input(first))
    }
}

/// Prints a row-major index as one for each dimension: `3,17`.
#[must_use]
pub fn indices(index: u64, shape: &[u64]) -> String {
    let mut left = index;
    let mut parts: Vec<String> = Vec::new();
    for size in shape.iter().rev() {
        parts.push((left % size.max(&1)).to_string());
        left /= size.max(&1);
    }
    parts.reverse();
    parts.join(",")
}
