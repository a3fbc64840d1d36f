//! Infers the range of an index: the dimensions of tensors at which it stands alone. They must agree.

use super::Resolver;
use crate::ast::{Expression, Kind, Name};
use crate::error::Error;

/// A dimension at which an index stands alone.
struct Axis {
    size: u64,
    axis: usize,
    array: String,
    /// Set if elements outside of the tensor are allowed there.
    has_outside: bool,
}

impl Resolver<'_> {
    /// The size of the dimensions at which a name stands alone in expressions.
    pub(super) fn extent(&self, index: &Name, within: &[&Expression]) -> Result<u64, Error> {
        let mut found = Vec::new();
        for expression in within {
            self.collect(expression, &index.text, &mut found);
        }
        let name = &index.text;
        // Where elements outside have a value the size of the tensor says less.
        let certain: Vec<&Axis> = found.iter().filter(|one| !one.has_outside).collect();
        let all = if certain.is_empty() { found.iter().collect() } else { certain };
        let Some(first) = all.first() else {
            let message = format!(
                "over what does `{name}` run? It is no index of a tensor by itself; write `{name} in 0..…`"
            );
            return Err(Error::new(index.span, message));
        };
        match all.iter().find(|other| other.size != first.size) {
            None => Ok(first.size),
            Some(other) => {
                let message = format!(
                    "`{name}` runs over {} (axis {} of `{}`) and over {} (axis {} of `{}`)",
                    first.size, first.axis, first.array, other.size, other.axis, other.array
                );
                Err(Error::new(index.span, message))
            }
        }
    }

    fn collect(&self, expression: &Expression, index: &str, found: &mut Vec<Axis>) {
        expression.each(&mut |inner| self.collect(inner, index, found));
        let Kind::Element { name, indices, outside } = &expression.kind else { return };
        let Some(array) = self.array(&name.text) else { return };
        let shape = &self.typed.arrays[array].shape;
        for (axis, (one, size)) in indices.iter().zip(shape).enumerate() {
            if matches!(&one.kind, Kind::Name(name) if name == index) {
                let (array, has_outside) = (name.text.clone(), outside.is_some());
                found.push(Axis { size: *size, axis, array, has_outside });
            }
        }
    }
}
