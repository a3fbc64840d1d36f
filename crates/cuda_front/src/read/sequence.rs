//! Keeps the order of evaluation: a value that is computed before a side effect and used after it is saved in a
//! variable if the side effect may change it.

use super::diagnostics::Result;
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Pointer, Spot, Value};
use super::pointers::pointer_reads;
use cuda::tree;
use kir::{Expr, ExprKind, Stmt, VarId, assigned, visit};

/// Returns `true` if an expression reads one of these variables.
pub(super) fn reads_any(expr: &Expr, vars: &[VarId]) -> bool {
    let mut found = false;
    visit(expr, &mut |inner| {
        if let ExprKind::Var(var) = inner.kind {
            found |= vars.contains(&var);
        }
    });
    found
}

/// Assigns several variables simultaneously: all values are computed first.
pub(super) fn assign_together(
    lowerer: &mut Lowerer<'_>,
    mut assigned: Vec<(VarId, Expr)>,
    out: &mut Vec<Stmt>,
) {
    let clashes = assigned.iter().enumerate().any(|(at, (var, _))| {
        assigned.iter().skip(at + 1).any(|(_, value)| reads_any(value, &[*var]))
    });
    if clashes {
        for (_, value) in &mut assigned {
            let kept = lowerer.keep("part", value.clone(), out);
            *value = lowerer.var(kept, value.span);
        }
    }
    for (var, value) in assigned {
        if !matches!(value.kind, ExprKind::Var(own) if own == var) {
            out.push(Stmt::Assign(var, value));
        }
    }
}

impl Lowerer<'_> {
    /// Lowers two values in order; side effects of the second do not change the first.
    pub(super) fn in_order(
        &mut self,
        [left, right]: [&tree::Expr; 2],
        out: &mut Vec<Stmt>,
    ) -> Result<(Value, Value)> {
        let left = self.value(left, out)?;
        let at = out.len();
        let right = self.value(right, out)?;
        Ok((self.value_before(left, at, out), right))
    }

    /// Lowers values from left to right.
    pub(super) fn values(
        &mut self,
        list: &[tree::Expr],
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<Value>> {
        let mut values: Vec<Value> = Vec::new();
        for one in list {
            let at = out.len();
            let value = self.value(one, out)?;
            let mut earlier = Vec::new();
            for before in std::mem::take(&mut values) {
                earlier.push(self.value_before(before, at, out));
            }
            values = earlier;
            values.push(value);
        }
        Ok(values)
    }

    /// Returns a value as it was before the statements from `at` on: keeps the parts that these change in variables.
    pub(super) fn value_before(&mut self, value: Value, at: usize, out: &mut Vec<Stmt>) -> Value {
        let changed = assigned(out.get(at..).unwrap_or_default());
        if changed.is_empty() {
            return value;
        }
        let mut first = Vec::new();
        let value = value.into_iter().map(|item| match item {
            Item::Scalar(one) => Item::Scalar(self.freeze_if_changed(one, &changed, &mut first)),
            Item::Pointer(one) if pointer_reads(&one, &changed) => {
                Item::Pointer(self.freeze_pointer(one, &mut first))
            }
            other => other,
        });
        let value = value.collect();
        out.splice(at..at, first);
        value
    }

    fn freeze_if_changed(&mut self, value: Expr, changed: &[VarId], out: &mut Vec<Stmt>) -> Expr {
        match reads_any(&value, changed) {
            true => {
                let span = value.span;
                let var = self.keep("before", value, out);
                self.var(var, span)
            }
            false => value,
        }
    }

    /// A value that cannot change: a constant, or a fresh variable.
    pub(super) fn freeze(&mut self, name: &str, value: Expr, out: &mut Vec<Stmt>) -> Expr {
        match value.kind {
            ExprKind::Int(_) => value,
            _ => {
                let span = value.span;
                let var = self.keep(name, value, out);
                self.var(var, span)
            }
        }
    }

    pub(super) fn freeze_pointer(&mut self, pointer: Pointer, out: &mut Vec<Stmt>) -> Pointer {
        let Pointer { targets, tag, base, index } = pointer;
        let tag = tag.map(|one| self.freeze("which", one, out));
        let base = base.map(|one| self.freeze("at", one, out));
        let index = index.into_iter().map(|one| self.freeze("at", one, out)).collect();
        Pointer { targets, tag, base, index }
    }

    /// A place that cannot change, even if its indices do.
    pub(super) fn freeze_place(&mut self, place: Place, out: &mut Vec<Stmt>) -> Place {
        let Place { ty, tag, choices, origin } = place;
        let tag = tag.map(|one| self.freeze("which", one, out));
        // One pointer for all leaves: indices are kept once.
        if let Some(pointer) = origin {
            let pointer = self.freeze_pointer(*pointer, out);
            let span = pointer.index.first().map_or(base::Span::default(), |one| one.span);
            if let Ok(place) = self.deref(&pointer, &ty, span) {
                return place;
            }
        }
        let mut kept: Vec<(Vec<Expr>, Vec<Expr>)> = Vec::new();
        let mut all = Vec::new();
        for spots in choices {
            let mut one = Vec::new();
            for spot in spots {
                one.push(match spot {
                    Spot::Cell(array, index) => {
                        let same = kept.iter().find(|(from, _)| same_all(from, &index));
                        let index = match same.map(|(_, to)| to.clone()) {
                            Some(known) => known,
                            None => {
                                let to: Vec<Expr> = index
                                    .iter()
                                    .cloned()
                                    .map(|at| self.freeze("at", at, out))
                                    .collect();
                                kept.push((index, to.clone()));
                                to
                            }
                        };
                        Spot::Cell(array, index)
                    }
                    other => other,
                });
            }
            all.push(one);
        }
        Place { ty, tag, choices: all, origin: None }
    }
}

/// Returns `true` if two lists of indices are the same expressions. A spurious difference only costs a variable.
fn same_all(one: &[Expr], other: &[Expr]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| format!("{one:?}") == format!("{other:?}"))
}
