//! Tables of constants: a variable of the file that is `const` holds its initialiser at every launch.
//!
//! A load of such an element is followed by the choice of its value by the index, so that the values are known; the load stays, for
//! its bounds. Large tables are arrays of which nothing is known.

use super::Lowerer;
use super::memory::{Place, Spot, positions};
use super::types::{compare, convert, fold, int, select};
use crate::kir::{ArrayId, Compare, Expr, ExprKind, Type};
use base::{Index, Span};
use cuda::tree::{Init, Type as TreeType};

/// Tables of more elements are not followed.
const MAX_TABLE: u64 = 64;

impl Lowerer<'_> {
    /// Notes what a constant variable holds, if it is a number or an array of numbers.
    pub(super) fn tabulate(&mut self, place: &Place, init: &Init, span: Span) {
        let [spots] = &place.choices[..] else { return };
        let [Spot::Cell(array, _)] = spots[..] else { return };
        let Ok(leaves) = self.leaves(&place.ty, span) else { return };
        let Some(leaf) = leaves.first() else { return };
        let Some(ty) = self.scalar(&leaf.ty) else { return };
        let Ok(places) = positions(&leaf.dimensions, MAX_TABLE, span) else { return };
        let values = places.iter().map(|at| self.initial(init, &place.ty, at, ty, span));
        let values: Option<Vec<Expr>> = values.collect();
        if let Some(info) = self.infos.get_mut(array.position()) {
            info.table = values;
        }
    }

    /// The constant at a place of an initialiser.
    fn initial(
        &mut self,
        init: &Init,
        ty: &TreeType,
        at: &[i128],
        scalar: Type,
        span: Span,
    ) -> Option<Expr> {
        match (init, ty, at) {
            (Init::Zero, _, _) => Some(convert(int(0, Type::INT, span), scalar)),
            (Init::List(parts), TreeType::Array(inner, _), [first, rest @ ..]) => {
                match parts.get(usize::try_from(*first).ok()?) {
                    Some(part) => self.initial(part, inner, rest, scalar, span),
                    None => Some(convert(int(0, Type::INT, span), scalar)),
                }
            }
            (Init::List(parts), _, []) => match &parts[..] {
                [] => Some(convert(int(0, Type::INT, span), scalar)),
                [one] => self.initial(one, ty, at, scalar, span),
                _ => None,
            },
            (Init::Expr(expr), _, []) => {
                let mut effects = Vec::new();
                let value = convert(self.number(expr, &mut effects).ok()?, scalar);
                let value = match (&value.kind, fold(&value)) {
                    (_, Some(number)) if scalar != Type::Float => int(number, scalar, span),
                    (ExprKind::Float(_), _) => value,
                    _ => return None,
                };
                effects.is_empty().then_some(value)
            }
            _ => None,
        }
    }

    /// What was loaded from an element, as far as the table tells.
    pub(super) fn of_table(&self, array: ArrayId, index: &[Expr], loaded: Expr) -> Expr {
        let Some(table) = self.info(array).and_then(|info| info.table.as_ref()) else {
            return loaded;
        };
        let Some(dimensions) = self.arrays.get(array).map(|one| &one.dimensions) else {
            return loaded;
        };
        let sizes: Option<Vec<i128>> =
            dimensions.iter().map(|size| size.as_ref().and_then(fold)).collect();
        let Some(sizes) = sizes.filter(|sizes| sizes.len() == index.len()) else { return loaded };
        let span = loaded.span;
        let mut chosen = loaded;
        for (number, value) in table.iter().enumerate().rev() {
            let mut rest = i128::try_from(number).unwrap_or(i128::MAX);
            let mut test: Option<Expr> = None;
            for (one, size) in index.iter().zip(&sizes).rev() {
                let here =
                    compare(Compare::Eq, one.clone(), int(rest % size.max(&1), one.ty, span));
                rest /= size.max(&1);
                test = Some(match test {
                    None => here,
                    Some(inner) => Expr {
                        kind: ExprKind::And(Box::new(here), Box::new(inner)),
                        ty: Type::Bool,
                        span,
                    },
                });
            }
            chosen = match test {
                Some(test) => select(test, value.clone(), chosen),
                None => value.clone(),
            };
        }
        Expr { span, ..chosen }
    }
}

/// The number that an expression is, if it is written down.
pub(super) fn literal(expr: &cuda::tree::Expr) -> Option<i128> {
    match &expr.kind {
        cuda::tree::ExprKind::Int(value) => Some(*value),
        cuda::tree::ExprKind::Convert(inner) => match expr.ty {
            TreeType::Int(kind) => literal(inner).map(|value| kind.wrap(value)),
            _ => None,
        },
        _ => None,
    }
}
