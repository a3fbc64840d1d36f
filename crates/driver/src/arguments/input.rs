//! What a launch leaves open: tensors and scalars whose values are symbols, and what is known of the
//! other scalars, because expressions may name them.

use super::output::element_offsets;
use super::{ElementType, IndexRange, TensorSpec, TensorStructure};
use equiv::Cell;
use std::sync::Arc;

/// A tensor with any contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSpec {
    /// The argument's name.
    pub name: String,
    /// Its buffer: a position in [`exec::Launch::buffers`].
    pub buffer: usize,
    /// Type of its elements.
    pub element: ElementType,
    /// Sizes.
    pub shape: Vec<u64>,
    /// Elements from one index to the next in each dimension; `None` for row-major.
    pub strides: Option<Vec<u64>>,
    /// Numbers that its elements lie between, if stated.
    pub range: Option<IndexRange>,
    /// Set if no two elements are the same.
    pub is_distinct: bool,
    /// Which of its elements are zero or the same, if stated.
    pub structure: Option<TensorStructure>,
    /// The structure, element by element.
    pub cells: Option<Arc<[Cell]>>,
}

impl InputSpec {
    /// For each element of the memory, the first element of the tensor that is there; `None` if
    /// the memory has the elements in the order of the indices and no structure is said of them.
    #[must_use]
    pub fn order(&self) -> Option<Vec<Option<u32>>> {
        let plain = |cells: &Arc<[Cell]>| (0..cells.len() as u32).map(Some).collect();
        self.strided_order().or_else(|| self.cells.as_ref().map(plain))
    }

    fn strided_order(&self) -> Option<Vec<Option<u32>>> {
        let strides = self.strides.as_deref()?;
        let extent = TensorSpec::extent(&self.shape, Some(strides))?;
        let mut order = vec![None; usize::try_from(extent).ok()?];
        for (index, offset) in element_offsets(&self.shape, Some(strides)).enumerate() {
            let place = &mut order[offset as usize];
            if place.is_none() {
                *place = u32::try_from(index).ok();
            }
        }
        let in_order = order.iter().enumerate().all(|(at, one)| *one == u32::try_from(at).ok());
        // Elements that share their memory are more than there is memory.
        let is_plain = in_order && extent == TensorSpec::count(&self.shape);
        (!is_plain).then_some(order)
    }
}

/// A scalar argument, or a scalar field of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarSpec {
    /// Its name.
    pub name: String,
    /// The parameter.
    pub argument: usize,
    /// Bytes from the start of the parameter.
    pub offset: u64,
    /// What it is.
    pub value: ScalarValue,
}

/// What is known of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// Any number of this type.
    Any(ElementType),
    /// A number of this type that is an expression of other scalars.
    Related(ElementType, String),
    /// This integer.
    Integer(i128),
    /// This float, rounded to its type.
    Float(f64),
}
