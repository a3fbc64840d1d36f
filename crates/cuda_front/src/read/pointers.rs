//! Pointers as values, and pointer variables (`memory_model.rs` has them as data).
//!
//! A pointer is one of finitely many targets, chosen by a tag, with an index for each dimension. A pointer variable
//! becomes a variable for the tag, if it may hold several targets, and one for each index. Its targets are collected
//! over the whole kernel, flow-insensitively. A kernel is lowered again until no variable gets a new target after it
//! was read (`kernel.rs`).

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::memory::is_tagged;
use super::memory_model::{Pointer, Slot, Target};
use super::sequence::{assign_together, reads_any};
use super::types::{convert, fold, int, offset, select};
use base::Span;
use cuda::tree;
use kir::{Binary, Expr, Stmt, Type, VarId};

/// Limit on the arrays that one pointer may point to.
const MAX_TARGETS: usize = 16;

impl Lowerer<'_> {
    pub(super) fn new_slot(&mut self, name: &str) -> usize {
        let number = self.slots.len();
        let targets = self.hints.targets.get(number).cloned().unwrap_or_default();
        let (name, index) = (name.to_owned(), Vec::new());
        let (tag, base, is_read) = (None, None, false);
        let (of_launch, is_unset) = (false, false);
        self.slots.push(Slot { name, targets, tag, base, index, is_read, of_launch, is_unset });
        number
    }

    /// Marks a variable as declared without a value. It gets null as a target if it may have targets that cannot be
    /// out of bounds, because a use of the missing value would then go unnoticed.
    pub(super) fn unset_slot(
        &mut self,
        number: usize,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(slot) = self.slots.get_mut(number) else { return Ok(()) };
        slot.is_unset = true;
        let hidden = |target: &Target| match target {
            Target::Null | Target::Function(_) | Target::Object { .. } => true,
            Target::Elements { is_pinned, .. } => *is_pinned,
        };
        match slot.targets.iter().any(hidden) {
            true => self.write_slot(number, &Pointer::to(Target::Null, Vec::new()), span, out),
            false => Ok(()),
        }
    }

    pub(super) fn read_slot(&mut self, number: usize, span: Span) -> Pointer {
        let starts = self.looks_at_start();
        let Some(slot) = self.slots.get_mut(number) else { return Pointer::nothing() };
        slot.is_read = true;
        let slot = slot.clone();
        let tag = match slot.targets.len() > 1 {
            true => Some(self.slot_tag(number)),
            false => None,
        };
        let tag = tag.map(|tag| self.var(tag, span));
        if slot.of_launch && starts {
            // The array of the launch was its first target.
            let targets: Vec<Target> = slot.targets.into_iter().take(1).collect();
            let index = slot.index.iter().map(|_| int(0, Type::LONG, span)).collect();
            return Pointer { targets, tag: None, base: None, index };
        }
        let wanted = slot.targets.iter().map(rank_of).max().unwrap_or(0);
        let is_view = slot
            .targets
            .iter()
            .any(|target| matches!(target, Target::Elements { is_view: true, .. }));
        let base = is_view.then(|| self.slot_base(number));
        let base = base.map(|base| self.var(base, span));
        let index = (0..wanted).map(|at| self.slot_index(number, at));
        let index: Vec<VarId> = index.collect();
        let index = index.into_iter().map(|var| self.var(var, span)).collect();
        Pointer { targets: slot.targets, tag, base, index }
    }

    fn slot_tag(&mut self, number: usize) -> VarId {
        if let Some(tag) = self.slots.get(number).and_then(|slot| slot.tag) {
            return tag;
        }
        let tag = self.new_var("which", Type::INT);
        if let Some(slot) = self.slots.get_mut(number) {
            slot.tag = Some(tag);
        }
        tag
    }

    fn slot_base(&mut self, number: usize) -> VarId {
        if let Some(base) = self.slots.get(number).and_then(|slot| slot.base) {
            return base;
        }
        let name = self.slots.get(number).map(|slot| slot.name.clone()).unwrap_or_default();
        let base = self.new_var(&name, Type::LONG);
        if let Some(slot) = self.slots.get_mut(number) {
            slot.base = Some(base);
        }
        base
    }

    fn slot_index(&mut self, number: usize, at: usize) -> VarId {
        let name = self.slots.get(number).map(|slot| slot.name.clone()).unwrap_or_default();
        loop {
            if let Some(var) = self.slots.get(number).and_then(|slot| slot.index.get(at)) {
                return *var;
            }
            let var = self.new_var(&name, Type::LONG);
            match self.slots.get_mut(number) {
                Some(slot) => slot.index.push(var),
                None => return var,
            }
        }
    }

    /// Assigns a pointer to a variable.
    pub(super) fn write_slot(
        &mut self,
        number: usize,
        pointer: &Pointer,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let pointer = &self.flattened(pointer, span);
        let mut places = Vec::new();
        for target in &pointer.targets {
            places.push(self.add_target(number, target, span)?);
        }
        let mut assigned = Vec::new();
        if self.slots.get(number).is_some_and(|slot| slot.targets.len() > 1) && !places.is_empty() {
            let tag = self.slot_tag(number);
            assigned.push((tag, retagged(pointer, &places, span)));
        }
        for (at, index) in pointer.index.iter().enumerate() {
            assigned.push((self.slot_index(number, at), convert(index.clone(), Type::LONG)));
        }
        if let Some(base) = &pointer.base {
            assigned.push((self.slot_base(number), convert(base.clone(), Type::LONG)));
        }
        assign_together(self, assigned, out);
        Ok(())
    }

    /// Converts a pointer to a scalar in an array of arrays to one that moves through all of them, as rows are
    /// contiguous.
    fn flattened(&self, pointer: &Pointer, span: Span) -> Pointer {
        let [Target::Elements { ty, leaves, rank, inner, is_view: false, is_pinned }] =
            &pointer.targets[..]
        else {
            return pointer.clone();
        };
        let ([leaf], true, true) = (&leaves[..], *rank > 1, inner.is_empty()) else {
            return pointer.clone();
        };
        let info = self.info(leaf.array);
        let element_types = info.map(|info| &info.element_types[..]).unwrap_or_default();
        let is_plain = element_types.len() == *rank
            && element_types
                .iter()
                .rev()
                .skip(1)
                .all(|element_type| matches!(element_type, tree::Type::Array(..)));
        let sizes = self.arrays.get(leaf.array).map(|one| &one.dimensions[..]);
        let sizes = sizes.unwrap_or_default().iter().skip(1);
        let sizes: Option<Vec<i128>> = sizes.map(|size| size.as_ref().and_then(fold)).collect();
        let (true, Some(inner)) = (is_plain, sizes) else { return pointer.clone() };
        let mut indices = pointer.index.iter().cloned();
        let Some(mut flat) = indices.next() else { return pointer.clone() };
        for (index, size) in indices.zip(&inner) {
            let row = offset(Binary::Mul, int(*size, Type::LONG, span), flat);
            flat = offset(Binary::Add, row, index);
        }
        let (ty, leaves, is_pinned) = (ty.clone(), leaves.clone(), *is_pinned);
        let target = Target::Elements { ty, leaves, rank: 1, inner, is_view: false, is_pinned };
        Pointer { targets: vec![target], tag: None, base: None, index: vec![flat] }
    }

    /// Adds a target to a variable; returns its position.
    fn add_target(&mut self, number: usize, target: &Target, span: Span) -> Result<usize> {
        let too_many = "pointers that may point to this many arrays are not supported";
        let Some(slot) = self.slots.get_mut(number) else {
            return Err(unsupported(span, too_many));
        };
        if let Some(place) = slot.targets.iter().position(|one| one == target) {
            return Ok(place);
        }
        let clashes = |one: &Target| {
            let ranks = (rank_of(one), rank_of(target));
            ranks.0 != ranks.1 && ranks.0 > 0 && ranks.1 > 0
        };
        if slot.targets.iter().any(clashes) {
            let message = "a pointer into arrays of different dimensions is not supported";
            return Err(unsupported(span, message));
        }
        if slot.targets.len() >= MAX_TARGETS {
            return Err(unsupported(span, too_many));
        }
        // Earlier uses of the variable did not consider this target, or had no tag.
        let hidden = slot.is_unset
            && matches!(
                target,
                Target::Object { .. }
                    | Target::Function(_)
                    | Target::Elements { is_pinned: true, .. }
            );
        if slot.is_read || !slot.targets.is_empty() || hidden {
            self.needs_another_pass = true;
        }
        let slot = match self.slots.get_mut(number) {
            Some(slot) => slot,
            None => return Err(unsupported(span, too_many)),
        };
        slot.targets.push(target.clone());
        if hidden && !slot.targets.contains(&Target::Null) {
            slot.targets.push(Target::Null);
        }
        slot.targets.iter().position(|one| one == target).ok_or_else(|| unsupported(span, too_many))
    }
}

/// Number of indices of a target.
pub(super) fn rank_of(target: &Target) -> usize {
    match target {
        Target::Elements { rank, .. } => *rank,
        Target::Null | Target::Function(_) | Target::Object { .. } => 0,
    }
}

/// Translates a pointer's tag to the variable's, given the positions of the pointer's targets in the variable.
fn retagged(pointer: &Pointer, places: &[usize], span: Span) -> Expr {
    let number = |place: usize| int(i128::try_from(place).unwrap_or(i128::MAX), Type::INT, span);
    let Some(tag) = &pointer.tag else {
        return number(places.first().copied().unwrap_or(0));
    };
    if places.iter().enumerate().all(|(own, place)| own == *place) {
        return tag.clone();
    }
    let mut chosen: Option<Expr> = None;
    for (own, place) in places.iter().enumerate().rev() {
        chosen = Some(match chosen {
            None => number(*place),
            Some(others) => select(is_tagged(tag, own), number(*place), others),
        });
    }
    chosen.unwrap_or_else(|| tag.clone())
}

/// Returns `true` if a pointer reads one of these variables.
pub(super) fn pointer_reads(pointer: &Pointer, vars: &[VarId]) -> bool {
    let parts = pointer.index.iter().chain(&pointer.base).chain(&pointer.tag);
    parts.into_iter().any(|part| reads_any(part, vars))
}
