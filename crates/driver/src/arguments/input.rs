//! The open inputs of a launch: tensors and scalars with symbols for values. Also the known values of the other
//! scalars, because expressions may name them.

use super::output::element_offsets;
use super::{ElementType, IndexRange, TensorSpec, TensorStructure};
use equiv::StructuredElement;
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
    /// The range of its elements, if stated.
    pub range: Option<IndexRange>,
    /// Set if no two elements are equal.
    pub is_distinct: bool,
    /// The pattern of elements that are zero or equal, if stated.
    pub structure: Option<TensorStructure>,
    /// The structure, element by element.
    pub cells: Option<Arc<[StructuredElement]>>,
}

impl InputSpec {
    /// For each element of the memory, the first element of the tensor at that place. `None` if the memory has the
    /// elements in the order of the indices and no structure is stated.
    #[must_use]
    pub fn order(&self) -> Option<Vec<Option<u32>>> {
        let plain = |cells: &Arc<[StructuredElement]>| (0..cells.len() as u32).map(Some).collect();
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
        // Without this check, elements that share memory would look like the plain order.
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
    /// Its value.
    pub value: ScalarValue,
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// Any number of this type.
    Any(ElementType),
    /// A number of this type, given by an expression of other scalars.
    Related(ElementType, String),
    /// This integer.
    Integer(i128),
    /// This float, rounded to its type.
    Float(f64),
}
