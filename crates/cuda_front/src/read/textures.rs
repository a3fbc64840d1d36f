//! Fetches from textures (CUDA C++ Programming Guide, "Texture Functions"): each fetched scalar is a function of the
//! texture, the type, the component and the coordinates ([`kir::is_fetch`]).

use super::diagnostics::{Result, unsupported};
use super::intrinsics::pointee;
use super::lowerer::Lowerer;
use super::memory_model::{Item, Value};
use super::types::int;
use base::Span;
use cuda::tree;
use kir::{Expr, ExprKind, FETCH_OF_INDEX, Scalar, Stmt, Type};

/// Fetches at float coordinates. The prelude (`prelude.cuh`) calls `__texel_at` with a position in this list.
const FETCHES: &[&str] = &[
    "tex1D",
    "tex2D",
    "tex3D",
    "tex1DLayered",
    "tex2DLayered",
    "texCubemap",
    "texCubemapLayered",
    "tex1DLod",
    "tex2DLod",
    "tex3DLod",
];

/// Arguments of a fetch before the layer: the number of the reference's type (0 for an object), the texture, x, y, z
/// and the level.
const BEFORE_LAYER: usize = 6;

/// Prefix of functions that the prelude calls.
pub(super) const OF_PRELUDE: &str = "__texel";

impl Lowerer<'_> {
    /// A fetch into the variable that the first argument points to.
    pub(super) fn fetch(
        &mut self,
        name: &str,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let Some((fetch, skipped)) = fetch_of(name, arguments) else {
            return Err(unsupported(span, format!("the function `{name}` is not supported")));
        };
        let mut values = self.values(arguments, out)?.into_iter();
        let Some(Item::Pointer(pointer)) = values.next().and_then(|one| one.into_iter().next())
        else {
            return Err(unsupported(span, "this pointer is not supported"));
        };
        let mut given = Vec::new();
        // Calls from the prelude have the number of the reference's type; other calls take texture objects.
        if !name.starts_with(OF_PRELUDE) {
            given.push(int(0, Type::INT, span));
        }
        for value in values.skip(skipped) {
            match value.into_iter().next() {
                Some(Item::Scalar(value)) => {
                    let var = self.keep("coordinate", value, out);
                    given.push(self.var(var, span));
                }
                _ => return Err(unsupported(span, "this coordinate is not supported")),
            }
        }
        if fetch != FETCH_OF_INDEX {
            let zero = Expr { kind: ExprKind::Float(0.0), ty: Type::Float, span };
            given.resize(given.len().max(BEFORE_LAYER), zero);
            given.resize(BEFORE_LAYER + 1, int(0, Type::INT, span));
        }
        let place = self.deref(&pointer, &pointee(arguments.first(), span)?, span)?;
        let texel = self.texel(fetch, &given, &place.ty, span, out)?;
        self.write(&place, texel, span, out)?;
        Ok(super::memory::nothing(span))
    }

    /// The fetched value, scalar by scalar.
    fn texel(
        &mut self,
        fetch: &'static str,
        given: &[Expr],
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let leaves = self.leaves(ty, span)?;
        let mut value = Vec::new();
        for (component, leaf) in leaves.iter().enumerate() {
            let known = self.scalar(&leaf.ty).zip(self.memory_scalar(&leaf.ty));
            let Some((scalar, layout)) = known.filter(|_| leaf.dimensions.is_empty()) else {
                return Err(unsupported(span, "a fetch of this type is not supported"));
            };
            let number = type_number(layout, leaves.len(), component);
            let mut arguments = vec![int(number, Type::LONG, span)];
            arguments.extend(given.iter().cloned());
            let call = Expr { kind: ExprKind::Call(fetch, arguments), ty: scalar, span };
            let var = self.keep("texel", call, out);
            value.push(Item::Scalar(self.var(var, span)));
        }
        Ok(value)
    }
}

/// The fetch function of a call, and the number of arguments after the pointer that only select it.
fn fetch_of(name: &str, arguments: &[tree::Expr]) -> Option<(&'static str, usize)> {
    match (name, arguments) {
        ("__texel_of_index" | FETCH_OF_INDEX, _) => Some((FETCH_OF_INDEX, 0)),
        ("__texel_at", [_, number, ..]) => {
            let number = usize::try_from(super::tables::literal(number)?).ok()?;
            Some((FETCHES.get(number)?, 1))
        }
        _ => FETCHES.iter().find(|one| **one == name).map(|one| (*one, 0)),
    }
}

/// A number that identifies one component of a fetched type.
fn type_number(layout: Scalar, components: usize, component: usize) -> i128 {
    let kind = match layout {
        Scalar::Bool => 0,
        Scalar::Int { signed: false, .. } => 1,
        Scalar::Int { signed: true, .. } => 2,
        Scalar::Float { .. } => 3,
        Scalar::Bfloat16 => 4,
    };
    let bytes = i128::from(layout.bytes());
    ((kind * 256 + bytes) * 256 + components as i128) * 256 + component as i128
}
