//! Infers the range of an index from the dimensions of tensors at which it occurs alone. They must agree.
//!
//! Sizes are numbers here, and expressions of parameters in contracts. Two sizes agree if they are textually equal.

use super::Resolver;
use crate::ast::{Expression, ExpressionKind, Name};
use crate::error::Error;
use std::fmt::Display;

/// A dimension at which an index occurs alone.
struct Axis<'e, S> {
    size: S,
    axis: usize,
    array: &'e str,
    /// Set if elements outside of the tensor are allowed there.
    has_outside: bool,
}

/// Returns the size of the dimensions at which an index occurs alone in an expression.
pub(crate) fn extent<S: Clone + Display>(
    index: &Name,
    within: &Expression,
    sizes: &dyn Fn(&str) -> Option<Vec<S>>,
) -> Result<S, Error> {
    let mut found = Vec::new();
    collect(within, &index.text, sizes, &mut found);
    let name = &index.text;
    // If elements outside have a value, the size of the tensor is weaker evidence.
    let certain: Vec<&Axis<'_, S>> = found.iter().filter(|one| !one.has_outside).collect();
    let all = if certain.is_empty() { found.iter().collect() } else { certain };
    let Some(first) = all.first() else {
        let message = format!(
            "the range of `{name}` is not known: it is not a plain index of a tensor; write `{name} in 0..…`"
        );
        return Err(Error::new(index.span, message));
    };
    let first_size = first.size.to_string();
    match all.iter().find(|other| other.size.to_string() != first_size) {
        None => Ok(first.size.clone()),
        Some(other) => {
            let message = format!(
                "`{name}` runs over {first_size} (axis {} of `{}`) and over {} (axis {} of `{}`)",
                first.axis, first.array, other.size, other.axis, other.array
            );
            Err(Error::new(index.span, message))
        }
    }
}

/// Collects the dimensions at which an index occurs alone.
fn collect<'e, S: Clone>(
    expression: &'e Expression,
    index: &str,
    sizes: &dyn Fn(&str) -> Option<Vec<S>>,
    found: &mut Vec<Axis<'e, S>>,
) {
    expression.each_child(&mut |inner| collect(inner, index, sizes, found));
    let ExpressionKind::Element { name, indices, outside } = &expression.kind else { return };
    let Some(sizes) = sizes(&name.text) else { return };
    for (axis, (one, size)) in indices.iter().zip(sizes).enumerate() {
        if matches!(&one.kind, ExpressionKind::Name(name) if name == index) {
            let (array, has_outside) = (name.text.as_str(), outside.is_some());
            found.push(Axis { size, axis, array, has_outside });
        }
    }
}

impl Resolver<'_> {
    /// Returns the size of the dimensions at which a name occurs alone in an expression.
    pub(super) fn extent(&self, index: &Name, within: &Expression) -> Result<u64, Error> {
        let sizes = |name: &str| self.array(name).map(|id| self.typed.arrays[id].shape.clone());
        extent(index, within, &sizes)
    }
}
