//! Moves reductions that do not depend on all enclosing indices into arrays of their own, so that a row's sum is
//! computed once for each row and not once for each element.
//!
//! A reduction is moved under three conditions: it depends on fewer indices than enclose it; these have fixed ranges;
//! and no condition on indices encloses it, as such a condition may be what keeps its elements inside of their
//! tensors. The values are the same.

use crate::interval::interval;
use crate::lexer::{Token, tokens};
use crate::resolve::integer_storage;
use crate::typed::{Array, ArrayId, IndexId, IndexInfo, Node, NodeKind, Origin, Step, Type, Typed};
use ir::{Format, Scalar};
use std::collections::BTreeMap;

/// Moves reductions of all definitions. `text` is the source: reductions with equal tokens share an array.
pub(crate) fn hoist(typed: &mut Typed, format: Format, text: &str) {
    let steps = std::mem::take(&mut typed.steps);
    for mut step in steps {
        let around = step.indices.clone();
        let mut hoisting =
            Hoisting { typed: &mut *typed, format, text, known: Vec::new(), is_guarded: false };
        hoisting.visit(&mut step.value, &around);
        typed.steps.push(step);
    }
}

/// The state of a pass over one definition.
struct Hoisting<'h> {
    typed: &'h mut Typed,
    /// Format of arrays of reals.
    format: Format,
    /// The source of the formula.
    text: &'h str,
    /// Moved reductions of this definition.
    known: Vec<Moved>,
    /// Set inside of a condition on indices.
    is_guarded: bool,
}

/// A moved reduction.
struct Moved {
    tokens: Vec<Token>,
    /// Its type at this place. A text may be an integer in one place and a real in another.
    ty: Type,
    indices: Vec<IndexId>,
    array: ArrayId,
}

impl Hoisting<'_> {
    /// Moves reductions below a node, inner ones first. `around` are the indices that enclose it.
    fn visit(&mut self, node: &mut Node, around: &[IndexId]) {
        let before = self.is_guarded;
        match &mut node.kind {
            NodeKind::Reduce(reduce) => {
                let mut inner = around.to_vec();
                inner.extend(reduce.ranges.iter().map(|range| range.index));
                // Ranges are integers and depend only on indices outside of the reduction.
                self.is_guarded |= reduce.filter.is_some()
                    || reduce.ranges.iter().any(|range| !self.typed.indices[range.index].is_fixed);
                if let Some(filter) = &mut reduce.filter {
                    self.visit(filter, &inner);
                }
                self.visit(&mut reduce.body, &inner);
            }
            NodeKind::If { condition, value, otherwise } => {
                self.visit(condition, around);
                self.is_guarded |= !condition.conjuncts().0.is_empty();
                self.visit(value, around);
                self.visit(otherwise, around);
            }
            NodeKind::Element { indices, outside, .. } => {
                indices.iter_mut().for_each(|index| self.visit(index, around));
                self.is_guarded |= outside.is_some();
                outside.iter_mut().for_each(|one| self.visit(one, around));
            }
            _ => node.each_child_mut(&mut |inner| self.visit(inner, around)),
        }
        self.is_guarded = before;
        if let NodeKind::Reduce(_) = node.kind
            && !self.is_guarded
            && node.ty != Type::Truth
        {
            self.extract(node, around);
        }
    }

    /// Moves a reduction, if it depends on fewer indices than enclose it.
    fn extract(&mut self, node: &mut Node, around: &[IndexId]) {
        let free = node.free_indices();
        let used: Vec<IndexId> = around.iter().copied().filter(|one| free.contains(one)).collect();
        let is_fixed = |index: &IndexId| {
            let info = &self.typed.indices[*index];
            info.is_fixed && info.bounds.0 == 0
        };
        if used.len() >= around.len() || !used.iter().all(is_fixed) {
            return;
        }
        let span = node.span;
        let array = self.array_of(node, &used);
        let index = |id: &IndexId| Node {
            kind: NodeKind::Index(*id),
            ty: Type::Integer,
            is_data: false,
            span,
        };
        let indices = used.iter().map(index).collect();
        let kind = NodeKind::Element { array, indices, outside: None };
        *node = Node { kind, ty: node.ty, is_data: true, span };
    }

    /// Returns the array for a reduction; equal reductions share one.
    fn array_of(&mut self, node: &Node, indices_used: &[IndexId]) -> ArrayId {
        let text = self.text.get(node.span.range()).unwrap_or_default();
        let tokens: Vec<Token> =
            tokens(text).unwrap_or_default().into_iter().map(|(token, _)| token).collect();
        let is_known = |moved: &&Moved| {
            moved.tokens == tokens && moved.ty == node.ty && moved.indices == indices_used
        };
        if let Some(known) = self.known.iter().find(is_known) {
            return known.array;
        }
        let scalar = match node.ty {
            Type::Real => Scalar::Float(self.format),
            _ => integer_storage(self.typed, node),
        };
        let size =
            |index: &IndexId| u64::try_from(self.typed.indices[*index].bounds.1 + 1).unwrap_or(0);
        let shape = indices_used.iter().map(size).collect();
        let name: String = text.split_whitespace().collect();
        let name = self.unused_name(&name);
        let (origin, bounds) = (Origin::Let, interval(self.typed, node));
        let array = self.typed.arrays.push(Array { name, scalar, shape, origin, bounds });
        // The step has indices of its own, so that none belongs to two steps.
        let mut renamed = BTreeMap::new();
        for index in indices_used {
            let info: IndexInfo = self.typed.indices[*index].clone();
            renamed.insert(*index, self.typed.indices.push(info));
        }
        let mut value = node.clone();
        rename(&mut value, &renamed);
        let indices = indices_used.iter().map(|index| renamed[index]).collect();
        self.typed.steps.push(Step { array, indices, value, span: node.span });
        self.known.push(Moved { tokens, ty: node.ty, indices: indices_used.to_vec(), array });
        array
    }

    /// Returns a name that no array has: the same text in another definition may be another array.
    fn unused_name(&self, text: &str) -> String {
        let is_taken = |name: &str| self.typed.arrays.iter().any(|array| array.name == name);
        let numbered = (2..).map(|number| format!("{text} ({number})"));
        let mut names = std::iter::once(text.to_owned()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }
}

/// Replaces indices in an expression.
fn rename(node: &mut Node, names: &BTreeMap<IndexId, IndexId>) {
    if let NodeKind::Index(index) = &mut node.kind
        && let Some(new) = names.get(index)
    {
        *index = *new;
    }
    node.each_child_mut(&mut |inner| rename(inner, names));
}
