//! `extern __shared__` memory that is used with another element type than declared, as in `(float*)bytes`: it is an
//! array of those elements, if every use of it is such a cast. The first pass finds the type.

use super::conversions::OTHER;
use super::diagnostics::{Result, unsupported};
use super::lowerer::{ExtentArray, Lowerer};
use super::memory_model::{Place, Pointer, Spot};
use super::types::{binary, int};
use base::Span;
use cuda::tree::{self, ExprKind as Kind, Extent, GlobalSpace, Storage};
use kir::{Binary, Stmt, Type};
use std::sync::Arc;

impl Lowerer<'_> {
    /// Lowers a cast of such memory to a pointer to `ty`; `None` for any other cast.
    pub(super) fn cast_of_dynamic(
        &mut self,
        inner: &tree::Expr,
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Pointer>> {
        let mut at = inner;
        while let Kind::Convert(next) = &at.kind {
            at = next;
        }
        let Kind::Decay(array) = &at.kind else { return Ok(None) };
        let (true, tree::Type::Array(declared, Extent::Unknown)) =
            (self.is_dynamic(array), &array.ty)
        else {
            return Ok(None);
        };
        if matches!(ty, tree::Type::Void) {
            return Ok(None);
        }
        let known = self.hints.dynamic.clone();
        let used_type = known.as_ref().unwrap_or(declared);
        let layout = |one: &tree::Type| self.uniform_layout(one, span).map(|(layout, _)| layout);
        let fits = used_type == ty || layout(used_type).is_some_and(|own| layout(ty) == Some(own));
        match (known.is_some(), fits) {
            (false, true) => Ok(None),
            (true, true) => {
                let place = self.place(array, out)?;
                let pointer = self.decay(&place, span)?;
                self.cast(pointer, ty, span).map(Some)
            }
            (false, false) => {
                self.hints.dynamic = Some(ty.clone());
                self.needs_another_pass = true;
                Err(unsupported(span, OTHER))
            }
            (true, false) => Err(unsupported(span, OTHER)),
        }
    }

    fn is_dynamic(&self, array: &tree::Expr) -> bool {
        match array.kind {
            Kind::Local(id) => self
                .local(id, array.span)
                .is_ok_and(|local| local.storage == Storage::DynamicShared),
            Kind::Global(id) => {
                let global = self.program.globals.get(id);
                global.is_some_and(|global| global.space == GlobalSpace::DynamicShared)
            }
            _ => false,
        }
    }

    /// Refuses a use with the declared type of memory that is cast to another one.
    pub(super) fn check_declared(&self, place: &Place, span: Span) -> Result<()> {
        let arrays = |place: &Place| {
            let spots = place.choices.iter().flatten();
            let cells = spots.filter_map(|spot| match spot {
                Spot::Cell(array, _) => Some(*array),
                _ => None,
            });
            cells.collect::<Vec<_>>()
        };
        let dynamic_arrays =
            self.dynamic.as_ref().map(|(_, place)| arrays(place)).unwrap_or_default();
        let same = arrays(place).iter().any(|array| dynamic_arrays.contains(array));
        match same && self.hints.dynamic.is_some() {
            true => Err(unsupported(span, OTHER)),
            false => Ok(()),
        }
    }

    /// Arrays with another element type than declared. A given size counts declared elements.
    pub(super) fn retyped_arrays(
        &mut self,
        name: &str,
        declared: &tree::Type,
        element: &tree::Type,
        named: ExtentArray,
        span: Span,
    ) -> Result<Place> {
        let tree::Type::Array(old, _) = declared else {
            return Err(unsupported(span, OTHER));
        };
        let (Some(before), Some(after)) = (self.size(old), self.size(element)) else {
            return Err(unsupported(span, OTHER));
        };
        let ty = tree::Type::Array(Arc::new(element.clone()), Extent::Unknown);
        let first = self.arrays.len();
        let place = self.shared_arrays(name, &ty, named, span)?;
        if before == after {
            return Ok(place);
        }
        let count = self.arrays.len();
        for array in self.arrays.iter_mut().take(count).skip(first) {
            if let Some(Some(size)) = array.dimensions.first_mut() {
                let constant = |bytes: u64| int(i128::from(bytes), Type::Whole, span);
                let bytes = binary(Binary::Mul, size.clone(), constant(before), span);
                *size = binary(Binary::Div, bytes, constant(after), span);
            }
        }
        Ok(place)
    }
}
