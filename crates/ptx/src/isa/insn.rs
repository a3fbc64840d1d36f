//! [`Insn`]: hands the modifiers and operands of an instruction to its catalogue entry, and collects the operations
//! that the entry emits.
//!
//! An entry takes modifiers and operands one by one and emits core operations. If it leaves one untaken, the
//! dispatcher refuses the instruction ([`Insn::finish`]), so that no modifier is ever dropped silently.
//!
//! Rule for entries: **read every operand before writing a destination**. Sources and destinations may be the same
//! register, so an operation that follows a write to a destination may read only temporaries. The dispatcher asserts
//! it in debug builds.

use super::types::Type;
use super::{Lower, Refusal};
use crate::lower::Builder;
use crate::syntax::ast::{Instruction, Name, Operand};
use base::{Code, Diagnostic, Severity, Span};
use ir::{Guard, IntUnary, Op, Reg, Width};

/// The instruction being lowered.
pub(crate) struct Insn<'i, 'c, 'a> {
    pub(crate) builder: &'i mut Builder<'c, 'a>,
    pub(crate) instruction: &'i Instruction<'a>,
    pub(crate) guard: Option<Guard>,
    /// The modifiers taken so far, one bit each; instructions have fewer than 64.
    taken: u64,
    /// The next operand to take.
    next: usize,
}

impl<'i, 'c, 'a> Insn<'i, 'c, 'a> {
    pub(crate) fn new(
        builder: &'i mut Builder<'c, 'a>,
        instruction: &'i Instruction<'a>,
    ) -> Lower<Self> {
        let mut insn = Self { builder, instruction, guard: None, taken: 0, next: 0 };
        if instruction.modifiers.len() > 64 {
            return Err(insn.unsupported("more than 64 modifiers"));
        }
        if let Some(guard) = instruction.guard {
            let register = insn.register_named(guard.predicate, Width::B1, Fit::Exact);
            // Only a predicate can guard, so this is wrong and not merely unsupported.
            let register = register.map_err(|refusal| {
                Box::new(Diagnostic { severity: Severity::Error, ..*refusal })
            })?;
            insn.guard = Some(Guard { register, negated: guard.negated });
        }
        Ok(insn)
    }

    pub(crate) fn span(&self) -> Span {
        self.instruction.at.0
    }

    // Modifiers.

    /// Returns the modifiers that were not taken yet, with their positions.
    fn untaken(&self) -> impl Iterator<Item = (usize, &'i Name<'a>)> + use<'i, 'a> {
        let taken_bits = self.taken;
        let modifiers = &self.instruction.modifiers;
        modifiers.iter().enumerate().filter(move |(position, _)| taken_bits >> position & 1 == 0)
    }

    /// Takes the first untaken modifier that `wanted` recognises.
    pub(crate) fn take<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (position, value) = self.untaken().find_map(|(position, modifier)| {
            wanted(modifier.text).map(|value| (position, value))
        })?;
        self.taken |= 1 << position;
        Some(value)
    }

    /// Takes `.name` if it is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.take(|text| (text == name).then_some(())).is_some()
    }

    /// Takes the first modifier found in `table`.
    pub(crate) fn choose<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.take(|text| table.iter().find(|(name, _)| *name == text).map(|(_, value)| *value))
    }

    /// Takes the first modifier found in `table`, or refuses with the missing `what`.
    pub(crate) fn require<T: Copy>(&mut self, table: &[(&str, T)], what: &str) -> Lower<T> {
        self.choose(table).ok_or_else(|| self.missing(what))
    }

    /// Takes the first modifier that is a type, if it is one of `allowed`.
    pub(crate) fn ty(&mut self, allowed: &[Type]) -> Lower<Type> {
        let first = self.untaken().find_map(|(position, modifier)| {
            Type::parse(modifier.text).map(|ty| (position, modifier, ty))
        });
        match first {
            Some((position, _, ty)) if allowed.contains(&ty) => {
                self.taken |= 1 << position;
                Ok(ty)
            }
            Some((_, modifier, _)) => Err(self.unexpected(modifier)),
            None => Err(self.missing("a type this form takes")),
        }
    }

    /// Refuses because something is missing.
    fn missing(&self, what: &str) -> Refusal {
        // An unused modifier is a likelier reason than a missing one.
        match self.untaken().next() {
            Some((_, modifier)) => self.unexpected(modifier),
            None => self.unsupported(&format!("this form needs {what}")),
        }
    }

    fn unexpected(&self, modifier: &Name<'_>) -> Refusal {
        let message =
            format!("modifier `.{}` of `{}` is not supported", modifier.text, self.mnemonic());
        Box::new(Diagnostic::unsupported(Code::UnsupportedModifier, modifier.span(), message))
    }

    /// Refuses unless every modifier and operand was taken.
    pub(crate) fn finish(&self) -> Lower {
        if let Some((_, modifier)) = self.untaken().next() {
            return Err(self.unexpected(modifier));
        }
        match self.instruction.operands.get(self.next) {
            Some(extra) => Err(self.bad_operand(extra, "one operand too many for this form")),
            None => Ok(()),
        }
    }

    // Refusals.

    /// Returns the opcode with its modifiers, cut to a readable length.
    pub(crate) fn mnemonic(&self) -> String {
        const MAX_CHARACTERS: usize = 24;
        let modifiers = self.instruction.modifiers.iter().take(MAX_CHARACTERS);
        modifiers.fold(self.instruction.opcode.text.to_owned(), |mut text, modifier| {
            text.push('.');
            text.push_str(modifier.text);
            text
        })
    }

    pub(crate) fn unsupported(&self, why: &str) -> Refusal {
        let message = format!("`{}`: {why}", self.mnemonic());
        let span = self.instruction.opcode.span();
        Box::new(Diagnostic::unsupported(Code::UnsupportedInstruction, span, message))
    }

    pub(crate) fn bad_operand(&self, operand: &Operand<'_>, why: &str) -> Refusal {
        let span = match operand.span() {
            // Consists of punctuation alone.
            nowhere if nowhere == Span::default() => self.span(),
            somewhere => somewhere,
        };
        let message = format!("`{}`: {why}", self.mnemonic());
        Box::new(Diagnostic::unsupported(Code::Operand, span, message))
    }

    // Operands in order.

    /// Returns the number of operands left.
    pub(crate) fn remaining(&self) -> usize {
        self.instruction.operands.len() - self.next
    }

    /// Returns `true` if the next operand is in braces.
    pub(crate) fn is_list_next(&self) -> bool {
        matches!(self.instruction.operands.get(self.next), Some(Operand::Vector(_)))
    }

    /// Takes the next operand.
    pub(crate) fn next_operand(&mut self) -> Lower<&'i Operand<'a>> {
        let operand = self.instruction.operands.get(self.next);
        self.next += 1;
        operand.ok_or_else(|| {
            self.next -= 1;
            self.unsupported("an operand is missing")
        })
    }

    // Emission.

    /// Emits an operation under the instruction's guard.
    pub(crate) fn emit(&mut self, op: Op) {
        let span = self.span();
        self.builder.emit(self.guard, op, span);
    }

    /// Creates a register.
    pub(crate) fn temporary(&mut self, width: Width) -> Reg {
        self.builder.temporary(width)
    }

    /// Emits an operation that writes a new temporary of `width`.
    pub(crate) fn compute(&mut self, width: Width, op: impl FnOnce(Reg) -> Op) -> ir::Operand {
        let dst = self.temporary(width);
        self.emit(op(dst));
        ir::Operand::Register(dst)
    }

    /// Emits the lower and the upper half of a value twice as wide as `half`.
    pub(crate) fn halves(&mut self, src: ir::Operand, half: Width) -> [ir::Operand; 2] {
        let parts = [self.temporary(half), self.temporary(half)];
        self.emit(Op::Split { dsts: parts.map(Some).to_vec(), src });
        parts.map(ir::Operand::Register)
    }

    /// Emits the logical negation of a predicate.
    pub(crate) fn not(&mut self, predicate: ir::Operand) -> ir::Operand {
        match predicate {
            ir::Operand::Constant(bit) => ir::Operand::Constant(bit ^ 1),
            a @ ir::Operand::Register(_) => self.compute(Width::B1, |dst| Op::IntUnary {
                op: IntUnary::Not,
                width: Width::B1,
                dst,
                a,
            }),
        }
    }
}

/// The required fit of a register to the type of its instruction (manual §9.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Same size.
    Exact,
    /// Same size or wider: `ld`, `st` and `cvt` relax the rule.
    AtLeast,
}
