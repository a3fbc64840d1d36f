//! Sorts the conditions of an answer by origin: the command, or the kernel's own file.
//!
//! A user who checks another author's kernel must know which conditions that author chose: `requires n < 0` would make
//! any claim true. `__launch_bounds__` is such a condition, unless the conditions from the command already imply it. No
//! other implications are tested. So a condition may be listed although the command implies it; none is left out.

use super::answer::Report;
use super::contract::COMMAND_LINE;
use super::statements::each_assume;
use kir::{Builtin, Compare, Expr, ExprKind};

/// A condition as it was written.
pub(super) struct Condition {
    pub(super) text: String,
    /// Set for a clause of the kernel's file.
    pub(super) is_of_file: bool,
}

impl Report<'_> {
    /// The conditions of the answer: preconditions of the contract, and assumptions in the kernel.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        let mut add = |word: &str, span| {
            let is_of_file = self.is_of_file(span);
            let text = self.written(span).map(|text| format!("{word} {text}"));
            all.extend(text.map(|text| Condition { text, is_of_file }));
        };
        for requirement in &self.kernel.requires {
            add("requires", requirement.condition.span);
        }
        each_assume(&self.kernel.body, &mut |span| add("assume", span));
        all
    }

    /// Conditions that the kernel's file states: clauses, sizes of arrays, bounds of blocks.
    pub(super) fn stated(&self) -> Vec<String> {
        let conditions = self.conditions().into_iter();
        let clauses =
            conditions.filter_map(|condition| condition.is_of_file.then_some(condition.text));
        clauses.chain(self.stated_sizes()).chain(self.narrow_blocks()).collect()
    }

    /// Sizes that clauses of the file give to arrays.
    fn stated_sizes(&self) -> impl Iterator<Item = String> {
        let of_file = self.kernel.extents.iter().filter(|(_, size)| self.is_of_file(*size));
        of_file.filter_map(|&(array, size)| {
            Some(format!("extent {}[{}]", self.written(array)?, self.written(size)?))
        })
    }

    /// `__launch_bounds__` with fewer threads than the conditions from the command leave to a block.
    fn narrow_blocks(&self) -> Option<String> {
        let requires = || self.kernel.requires.iter().map(|require| &require.condition);
        let most =
            requires().filter(|require| require.span == self.kernel.span).find_map(most_threads)?;
        let given: Vec<&Expr> =
            requires().filter(|require| !self.is_of_file(require.span)).collect();
        let largest = |axis: usize| match self.kernel.has_axis(axis) {
            true => given.iter().filter_map(|one| largest(one, axis)).min().unwrap_or(1024),
            false => 1,
        };
        let threads = (0..3).map(largest).fold(1, i128::saturating_mul).min(1024);
        (threads > most).then(|| format!("`__launch_bounds__`: blocks have at most {most} threads"))
    }

    fn is_of_file(&self, span: base::Span) -> bool {
        self.input.located(span).0.name() != COMMAND_LINE
    }

    /// A condition of the contract as the user wrote it; `None` if it is implied.
    fn written(&self, span: base::Span) -> Option<String> {
        let (file, local) = self.input.located(span);
        let text = file.text().get(local.range())?;
        let text = text.replace("//@", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Conditions made for a template's parameter carry the span of the kernel's name.
        (span != self.kernel.span && !text.is_empty()).then_some(text)
    }
}

/// The number in `blockDim.x*blockDim.y*blockDim.z <= number`.
fn most_threads(condition: &Expr) -> Option<i128> {
    match &condition.kind {
        ExprKind::Compare(Compare::Le, product, most) => match (&product.kind, &most.kind) {
            (ExprKind::Binary(..), ExprKind::Int(most)) => Some(*most),
            _ => None,
        },
        _ => None,
    }
}

/// The largest `blockDim` along an axis that a condition allows, if the condition states it directly.
fn largest(condition: &Expr, axis: usize) -> Option<i128> {
    match &condition.kind {
        ExprKind::And(one, other) => {
            largest(one, axis).into_iter().chain(largest(other, axis)).min()
        }
        ExprKind::Compare(compare, one, other) => {
            let is_block = |expr: &Expr| is_block(expr, axis);
            match (compare, number(one), number(other)) {
                (Compare::Eq | Compare::Le, _, Some(most)) if is_block(one) => Some(most),
                (Compare::Lt, _, Some(most)) if is_block(one) => most.checked_sub(1),
                (Compare::Eq, Some(most), _) if is_block(other) => Some(most),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_block(one: &Expr, axis: usize) -> bool {
    match &one.kind {
        ExprKind::Convert(inner) => is_block(inner, axis),
        ExprKind::Builtin(Builtin::BlockDim, along) => *along == axis,
        _ => false,
    }
}

fn number(one: &Expr) -> Option<i128> {
    match &one.kind {
        ExprKind::Convert(inner) => number(inner),
        ExprKind::Int(number) => Some(*number),
        _ => None,
    }
}
