//! Conversions of pointers: a view of memory as another type is supported only if the layout is the same scalar by
//! scalar.
//!
//! Supported views:
//! - consecutive scalars as structs of the same scalars without gaps (`float*` as `float4*`), and back;
//! - integers as integers of the same width;
//! - floats as integers of their width (`reinterpret.rs`).
//!
//! Any other view would require splitting values into bits, and is refused. The alignment of a view is not checked.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Pointer, Target, TargetLeaf};
use super::types::{Layout, Leaf, int, offset};
use base::Span;
use cuda::tree;
use kir::{Binary, Type};

pub(super) const OTHER: &str = "a pointer to elements of another type is not supported";

impl Lowerer<'_> {
    /// Converts a pointer to one to elements of another type.
    pub(super) fn cast(
        &mut self,
        pointer: Pointer,
        ty: &tree::Type,
        span: Span,
    ) -> Result<Pointer> {
        if matches!(ty, tree::Type::Void) {
            return Ok(pointer);
        }
        let kept = |target: &Target| match target {
            Target::Null => Ok(true),
            Target::Function(_) => Ok(matches!(ty, tree::Type::Function(_))),
            Target::Object { ty: own, .. } => self.have_same_layout(own, ty, span),
            Target::Elements { ty: own, .. } => {
                Ok(self.are_bits(own, ty) || self.have_same_layout(own, ty, span)?)
            }
        };
        let kept: Result<Vec<bool>> = pointer.targets.iter().map(kept).collect();
        if kept?.into_iter().all(|one| one) {
            return Ok(self.with_element_type(pointer, ty));
        }
        match &pointer.targets[..] {
            [one] => self.view_as(one, &pointer, ty, span),
            _ => Err(unsupported(span, OTHER)),
        }
    }

    /// Gives the targets another element type, which has the same layout.
    fn with_element_type(&self, mut pointer: Pointer, ty: &tree::Type) -> Pointer {
        for target in &mut pointer.targets {
            // Types of structs stay, so that pointers to one struct compare equal.
            if let Target::Elements { ty: own, .. } | Target::Object { ty: own, .. } = target
                && !matches!(own, tree::Type::Record(_))
            {
                *own = ty.clone();
            }
        }
        pointer
    }

    /// Returns `true` if two types have the same scalars at the same offsets.
    fn have_same_layout(&self, one: &tree::Type, other: &tree::Type, span: Span) -> Result<bool> {
        if one == other {
            return Ok(true);
        }
        let (Ok(first), Ok(second)) = (self.leaves(one, span), self.leaves(other, span)) else {
            return Ok(false);
        };
        let same = |(one, other): (&Leaf, &Leaf)| {
            one.dimensions == other.dimensions
                && self.layout(&one.ty).is_some()
                && self.layout(&one.ty) == self.layout(&other.ty)
        };
        let alike = first.len() == second.len() && first.iter().zip(&second).all(same);
        Ok(alike && self.size(one) == self.size(other))
    }

    /// The layout of the scalars of a type that consists of equal scalars without gaps, and their number.
    pub(super) fn uniform_layout(&self, ty: &tree::Type, span: Span) -> Option<(Layout, i128)> {
        let leaves = self.leaves(ty, span).ok()?;
        let layout = self.layout(&leaves.first()?.ty)?;
        let scalar = self.size(&leaves.first()?.ty)?;
        let count = u64::try_from(leaves.len()).ok()?;
        let plain =
            |leaf: &Leaf| leaf.dimensions.is_empty() && self.layout(&leaf.ty) == Some(layout);
        let is_layout = leaves.iter().all(plain) && self.size(ty)? == scalar.checked_mul(count)?;
        is_layout.then_some((layout, i128::from(count)))
    }

    /// Views the elements behind a pointer as another type with the same scalar layout; refuses any other view.
    fn view_as(
        &self,
        target: &Target,
        pointer: &Pointer,
        ty: &tree::Type,
        span: Span,
    ) -> Result<Pointer> {
        let refused = || unsupported(span, OTHER);
        let Target::Elements { ty: own, leaves, rank, inner, is_view, is_pinned: false } = target
        else {
            return Err(refused());
        };
        if !inner.is_empty() {
            return Err(refused());
        }
        let (from, to) = (self.uniform_layout(own, span), self.uniform_layout(ty, span));
        let (Some((layout, old)), Some((wanted, new))) = (from, to) else { return Err(refused()) };
        let (Some(first), true) = (leaves.first(), layout == wanted) else { return Err(refused()) };
        // Structs are stored as one array for each member, so their scalars are not consecutive.
        if old > 1 && !is_view {
            return Err(unsupported(span, "reinterpreting structs as scalars is not supported"));
        }
        let mut index = pointer.index.clone();
        let Some(last) = index.pop() else { return Err(refused()) };
        let scaled = offset(Binary::Mul, int(old, Type::LONG, span), last);
        let start = match &pointer.base {
            Some(base) if *is_view => offset(Binary::Add, base.clone(), scaled),
            _ => scaled,
        };
        let array = first.array;
        let leaves = (0..new).map(|at| TargetLeaf { array, stride: new, at }).collect();
        let is_view = new > 1;
        let target = Target::Elements {
            ty: ty.clone(),
            leaves,
            rank: *rank,
            inner: Vec::new(),
            is_view,
            is_pinned: false,
        };
        index.push(if is_view { int(0, Type::LONG, span) } else { start.clone() });
        let base = is_view.then_some(start);
        Ok(Pointer { targets: vec![target], tag: None, base, index })
    }
}
