//! Initialisers of variables of the file. A `const` variable has its initial value at every launch; about others a
//! proof assumes nothing, and runs start with the initialiser.
//!
//! A load from a constant table is followed by a select of its value by the index, so that the values are known; the
//! load stays, for its bounds. In proofs, the values of large tables are unknown.

use super::lowerer::Lowerer;
use super::memory::positions;
use super::memory_model::{Place, Spot};
use super::types::{Leaf, compare, convert, fold, int, select};
use base::{Index, Span};
use cuda::tree::{Init, Type as TreeType};
use kir::{ArrayId, Compare, Expr, ExprKind, Type};

/// Limit on the elements of a constant table in proofs.
const MAX_TABLE: usize = 64;
/// Limit on the elements of a variable whose initialiser is evaluated.
const MAX_INITIAL: u64 = 4096;

impl Lowerer<'_> {
    /// Records the initialiser of a variable.
    pub(super) fn record_initialiser(
        &mut self,
        place: &Place,
        init: &Init,
        is_const: bool,
        span: Span,
    ) {
        let [spots] = &place.choices[..] else { return };
        let Ok(leaves) = self.leaves(&place.ty, span) else { return };
        for (number, (leaf, spot)) in leaves.iter().zip(spots).enumerate() {
            let Spot::Cell(array, _) = spot else { continue };
            let values = self.initial_values(init, &place.ty, number, leaf, span);
            let short = values.clone().filter(|all| is_const && all.len() <= MAX_TABLE);
            self.initials.insert(*array, values);
            if let Some(info) = self.infos.get_mut(array.position()) {
                info.table = short;
            }
        }
    }

    /// The initial values of one scalar of a type in all elements of the enclosing arrays.
    fn initial_values(
        &mut self,
        init: &Init,
        ty: &TreeType,
        number: usize,
        leaf: &Leaf,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let scalar = self.scalar(&leaf.ty)?;
        let places = positions(&leaf.dimensions, MAX_INITIAL, span).ok()?;
        places.iter().map(|at| self.initial_value((init, ty), number, at, scalar, span)).collect()
    }

    /// The constant at a position of an initialiser: scalar `number`, at these indices.
    fn initial_value(
        &mut self,
        (init, ty): (&Init, &TreeType),
        number: usize,
        at: &[i128],
        scalar: Type,
        span: Span,
    ) -> Option<Expr> {
        let part = |parts: &[Init], at: usize| parts.get(at).cloned().unwrap_or(Init::Zero);
        match (init, ty, at) {
            (Init::Zero, _, _) => Some(convert(int(0, Type::INT, span), scalar)),
            (Init::List(parts), TreeType::Array(inner, _), [first, rest @ ..]) => {
                let part = part(parts, usize::try_from(*first).ok()?);
                self.initial_value((&part, inner), number, rest, scalar, span)
            }
            (Init::List(parts), TreeType::Record(id), _) => {
                let fields = self.program.records.get(*id)?.fields.clone();
                let mut before = 0;
                for (position, field) in fields.iter().enumerate() {
                    let count = self.leaves(&field.ty, span).ok()?.len();
                    if number < before + count {
                        let part = part(parts, position);
                        return self.initial_value(
                            (&part, &field.ty),
                            number - before,
                            at,
                            scalar,
                            span,
                        );
                    }
                    before += count;
                }
                None
            }
            (Init::List(parts), _, []) => match &parts[..] {
                [] => Some(convert(int(0, Type::INT, span), scalar)),
                [one] => self.initial_value((one, ty), number, at, scalar, span),
                _ => None,
            },
            (Init::Expr(_), TreeType::Record(_), _) => None,
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

    /// Replaces a loaded element of a small constant table by a select of its values.
    pub(super) fn select_from_table(&self, array: ArrayId, index: &[Expr], loaded: Expr) -> Expr {
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

/// The value of an integer literal.
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
