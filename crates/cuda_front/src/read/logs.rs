//! Access logs, for clauses about a thread's accesses (GPUVerify's `__read`, `__write_offset_bytes` and their like).
//!
//! As in GPUVerify, a log holds one access or none: each access may or may not be the logged one, so a fact about the
//! log is a fact about every access. A barrier clears the logs of shared arrays; not of global ones, because threads
//! of other blocks do not wait at it. Repeated lowering finds the arrays to log.

use super::diagnostics::{Result, unsupported};
use super::lowerer::{Log, LogKey, Lowerer};
use super::memory_model::{Spot, Target};
use super::types::{binary, compare, int, select, whole};
use base::{Index as _, Span};
use cuda::tree;
use kir::{ArrayId, Binary, Compare, Element, Expr, Space, Stmt, Type};

impl Lowerer<'_> {
    /// Creates the logs that clauses of the kernel use, initially empty.
    pub(super) fn start_logs(&mut self, span: Span, out: &mut Vec<Stmt>) {
        for key in self.hints.logged.clone() {
            let (name, _, writes) = &key;
            let word = if *writes { "written" } else { "read" };
            let happened = self.new_var(&format!("{name} {word}"), Type::Whole);
            let offset = self.new_var(&format!("{name} {word} at"), Type::Whole);
            out.push(Stmt::Assign(happened, int(0, Type::Whole, span)));
            out.push(Stmt::Assign(offset, int(0, Type::Whole, span)));
            self.logs.push(Log { key, happened, offset });
        }
    }

    fn log_key(&self, array: ArrayId, writes: bool) -> Option<LogKey> {
        let array = self.arrays.get(array)?;
        Some((array.name.clone(), array.span, writes))
    }

    /// Logs an access, nondeterministically.
    pub(super) fn log(&mut self, element: &Element, writes: bool, out: &mut Vec<Stmt>) {
        if self.logs.is_empty() {
            return;
        }
        let key = self.log_key(element.array, writes);
        let Some(at) = self.logs.iter().position(|log| Some(&log.key) == key.as_ref()) else {
            return;
        };
        let Some(log) = self.logs.get(at) else { return };
        let (happened, offset, span) = (log.happened, log.offset, element.span);
        let chosen = self.unknown("logged", Type::INT, span, out);
        let chosen = compare(Compare::Ne, chosen, int(0, Type::INT, span));
        let (before, one) = (self.var(happened, span), int(1, Type::Whole, span));
        out.push(Stmt::Assign(happened, select(chosen.clone(), one, before)));
        if let Some(bytes) = self.offset_in_bytes(element) {
            let before = self.var(offset, span);
            out.push(Stmt::Assign(offset, select(chosen, bytes, before)));
        } else {
            out.push(Stmt::Unknown(offset));
        }
    }

    /// The offset of an element in its array, in bytes; `None` for one that is a part of a struct.
    fn offset_in_bytes(&self, element: &Element) -> Option<Expr> {
        let span = element.span;
        let info = self.infos.get(element.array.position())?;
        let is_plain = |ty: &tree::Type| !matches!(ty, tree::Type::Record(_));
        if info.element_types.len() != element.index.len()
            || !info.element_types.iter().all(is_plain)
        {
            return None;
        }
        let mut sum: Option<Expr> = None;
        for (index, ty) in element.index.iter().zip(&info.element_types) {
            let size = int(i128::from(self.size(ty)?), Type::Whole, span);
            let part = binary(Binary::Mul, size, whole(index.clone()), span);
            sum = Some(match sum {
                None => part,
                Some(sum) => binary(Binary::Add, sum, part, span),
            });
        }
        sum
    }

    /// Lowers a barrier of the block, which clears the logs of shared memory.
    pub(super) fn barrier_here(&mut self, span: Span, out: &mut Vec<Stmt>) {
        out.push(Stmt::Barrier(span));
        for log in &self.logs {
            if self.is_shared(&log.key) {
                out.push(Stmt::Assign(log.happened, int(0, Type::Whole, span)));
            }
        }
    }

    fn is_shared(&self, (name, span, _): &LogKey) -> bool {
        let mut arrays = self.arrays.iter();
        arrays
            .any(|array| array.space == Space::Shared && array.name == *name && array.span == *span)
    }

    /// The only array that a pointer may point into, if there is one.
    fn single_array(&mut self, pointer: &tree::Expr) -> Result<Option<ArrayId>> {
        let place = self.place(super::parameters::named_variable(pointer), &mut Vec::new())?;
        let mut spots = place.choices.iter().flatten();
        let array = match (spots.next(), spots.next()) {
            (Some(Spot::Cell(array, _)), None) => Some(*array),
            (Some(Spot::Slot(slot)), None) => {
                match self.slots.get(*slot).map(|one| &one.targets[..]) {
                    Some([Target::Elements { leaves, .. }]) => match &leaves[..] {
                        [leaf] => Some(leaf.array),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        };
        Ok(array)
    }

    /// The offset of a pointer in its array, in bytes.
    fn pointer_offset(&mut self, pointer: &tree::Expr, span: Span) -> Result<Expr> {
        let refused =
            || unsupported(span, "not supported here: `__ptr_offset_bytes` of this pointer");
        let ty = super::intrinsics::pointee(Some(pointer), span)?;
        let pointer = self.pointer(pointer, &mut Vec::new())?;
        let place = self.deref(&pointer, &ty, span)?;
        let [spots] = &place.choices[..] else { return Err(refused()) };
        let [Spot::Cell(array, index)] = &spots[..] else { return Err(refused()) };
        let element = Element { array: *array, index: index.clone(), span };
        self.offset_in_bytes(&element).ok_or_else(refused)
    }

    /// Lowers a word of a clause about accesses, such as `__read` or `__write_offset_bytes`.
    pub(super) fn access_word(
        &mut self,
        word: &str,
        array: &tree::Expr,
        span: Span,
    ) -> Result<Expr> {
        if word == "__ptr_offset_bytes" {
            return self.pointer_offset(array, span);
        }
        let writes = word.starts_with("__write");
        let Some(array) = self.single_array(array)? else {
            return Err(unsupported(span, format!("not supported here: `{word}` of this array")));
        };
        let is_local = self.arrays.get(array).is_some_and(|one| one.space == Space::Local);
        let Some(key) = self.log_key(array, writes).filter(|_| !is_local) else {
            return Err(unsupported(span, format!("not supported here: `{word}` of this array")));
        };
        let (happened, offset) = match self.logs.iter().find(|log| log.key == key) {
            Some(log) => (log.happened, log.offset),
            // It is logged when the kernel is lowered again.
            None => {
                if !self.hints.logged.contains(&key) {
                    self.hints.logged.push(key);
                }
                self.needs_another_pass = true;
                (self.new_var("accessed", Type::Whole), self.new_var("offset", Type::Whole))
            }
        };
        match word {
            "__read" | "__write" => {
                let zero = int(0, Type::Whole, span);
                Ok(Expr { span, ..compare(Compare::Ne, self.var(happened, span), zero) })
            }
            _ => Ok(self.var(offset, span)),
        }
    }
}
