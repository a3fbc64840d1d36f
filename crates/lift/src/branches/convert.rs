//! Turns a branch into straight-line code. Below, `r` stands for each register that is written by a side and live at
//! `to`; `hint` is an operation without effect that uses the condition.
//!
//! ```text
//!         @p bra A, C                     p' = p; @p' hint; old = r
//!     A:  …                               A; first = r; r = old
//!     C:  …                        →      C
//!     to: …                               r = p' ? first : r
//! ```

use super::liveness::{Liveness, writes_and_reads};
use super::shape::{After, Branch, End, keeps_condition, may_be_undefined};
use base::{Index, Span};
use ir::{
    Block, Function, Guard, Instr, IntBinary, IntUnary, LocId, Op, Operand, Param, Reg, Register,
    Terminator, Width,
};
use std::collections::BTreeSet;

/// Converts a branch. `live` are the live registers before the conversion.
pub(super) fn convert(function: &mut Function, branch: &Branch, live: &Liveness) {
    let undefined = may_be_undefined(function);
    let sides = branch.sides.map(|side| {
        side.map_or_else(Vec::new, |side| {
            let block = &mut function.blocks[side];
            block.terminator = Terminator::Exit;
            std::mem::take(&mut block.instructions)
        })
    });
    let Block { span, location, .. } = function.blocks[branch.from];
    let mut straight =
        StraightLine { function, out: Vec::new(), origin: (span, location), undefined };
    straight.build(branch, sides, live);
    let out = straight.out;
    let block = &mut function.blocks[branch.from];
    block.instructions.extend(out);
    block.terminator = match branch.to {
        After::Block(to) => Terminator::Jump(to),
        After::End(End::Return) => Terminator::Return,
        After::End(End::Exit) => Terminator::Exit,
    };
}

/// Straight-line code under construction.
struct StraightLine<'f> {
    function: &'f mut Function,
    out: Vec<Instr>,
    /// Position of the branch; the selections get it.
    origin: (Span, Option<LocId>),
    /// Registers that may be undefined.
    undefined: Vec<bool>,
}

impl StraightLine<'_> {
    /// Emits both sides and the selections after them.
    fn build(&mut self, branch: &Branch, [then, otherwise]: [Vec<Instr>; 2], live: &Liveness) {
        let holds = self.fresh("branch", Width::B1);
        self.emit(Op::Copy { dst: holds, src: branch.guard.register.into() });
        if branch.guard.negated {
            self.emit(not(holds, holds.into()));
        }
        self.use_condition(holds);
        let [in_then, in_other] = [&then, &otherwise].map(|side| written_registers(side));
        let read_in_other: BTreeSet<Reg> =
            otherwise.iter().flat_map(|instruction| writes_and_reads(instruction).1).collect();
        let returned: Vec<Reg> = self.function.returns.iter().filter_map(register_of).collect();
        let to = match branch.to {
            After::Block(to) => Some(to),
            After::End(_) => None,
        };
        let wanted = |register: Reg| match to {
            Some(to) => live.at(to, register),
            // The caller reads the returned registers.
            None => returned.contains(&register),
        };
        // Save the old values that the first side overwrites.
        let needed = |register: &Reg| wanted(*register) || read_in_other.contains(register);
        let old: Vec<(Reg, Reg)> =
            in_then.iter().copied().filter(needed).map(|one| (one, self.copy(one))).collect();
        self.emit_side(then, Guard { register: holds, negated: false });
        let selected: Vec<Reg> =
            in_then.union(&in_other).copied().filter(|register| wanted(*register)).collect();
        let first: Vec<(Reg, Reg)> =
            selected.iter().copied().map(|register| (register, self.copy(register))).collect();
        for (register, old) in old {
            self.emit(Op::Copy { dst: register, src: old.into() });
        }
        self.emit_side(otherwise, Guard { register: holds, negated: true });
        for (register, first) in first {
            self.emit_select(register, holds, first);
        }
    }

    /// Emits a use of the condition, so that an undefined condition is reported even if no result of the sides is
    /// used.
    fn use_condition(&mut self, condition: Reg) {
        let (span, location) = self.origin;
        let guard = Some(Guard { register: condition, negated: false });
        self.out.push(Instr { guard, op: Op::Hint { what: "branch" }, span, location });
    }

    /// Emits the instructions of a side. Those that must not run elsewhere get its condition as their guard.
    fn emit_side(&mut self, instructions: Vec<Instr>, condition: Guard) {
        for mut instruction in instructions {
            // A guard that is undefined is an error only where the side is taken.
            let has_undefined_guard =
                instruction.guard.is_some_and(|own| self.undefined[own.register.position()]);
            if keeps_condition(&instruction.op) || has_undefined_guard {
                self.origin = (instruction.span, instruction.location);
                instruction.guard = Some(match instruction.guard {
                    Some(own) => self.conjunction(condition, own),
                    None => {
                        self.define_results(&instruction);
                        condition
                    }
                });
            }
            self.out.push(instruction);
        }
    }

    /// Gives the results of an instruction a value for threads that do not take its side. It is never used,
    /// but without it the register would be undefined there.
    fn define_results(&mut self, instruction: &Instr) {
        let (writes, reads) = writes_and_reads(instruction);
        for register in writes.into_iter().filter(|register| !reads.contains(register)) {
            self.emit(Op::Copy { dst: register, src: Operand::Constant(0) });
        }
    }

    /// Returns a guard that holds where both do.
    fn conjunction(&mut self, a: Guard, b: Guard) -> Guard {
        let [a, b] = [a, b].map(|guard| match guard.negated {
            false => guard.register,
            true => {
                let opposite = self.fresh("not", Width::B1);
                self.emit(not(opposite, guard.register.into()));
                opposite
            }
        });
        let both = self.fresh("both", Width::B1);
        self.emit(and(both, a.into(), b.into()));
        Guard { register: both, negated: false }
    }

    /// Emits `register = holds ? first : register`.
    fn emit_select(&mut self, register: Reg, holds: Reg, first: Reg) {
        if self.function.registers[register].width != Width::B1 {
            return self.emit(Op::Select {
                dst: register,
                condition: holds.into(),
                if_true: first.into(),
                if_false: register.into(),
            });
        }
        let fails = self.fresh("not", Width::B1);
        self.emit(not(fails, holds.into()));
        self.emit(and(first, first.into(), holds.into()));
        self.emit(and(register, register.into(), fails.into()));
        self.emit(Op::IntBinary {
            op: IntBinary::Or,
            width: Width::B1,
            dst: register,
            a: register.into(),
            b: first.into(),
        });
    }

    /// Emits a copy of a register into a new one.
    fn copy(&mut self, register: Reg) -> Reg {
        let width = self.function.registers[register].width;
        let copy = self.fresh("side", width);
        self.emit(Op::Copy { dst: copy, src: register.into() });
        copy
    }

    fn fresh(&mut self, name: &str, width: Width) -> Reg {
        self.function.registers.push(Register { name: name.to_owned(), width })
    }

    fn emit(&mut self, op: Op) {
        let (span, location) = self.origin;
        self.out.push(Instr { guard: None, op, span, location });
    }
}

fn register_of(parameter: &Param) -> Option<Reg> {
    match parameter {
        Param::Register(register, _) => Some(*register),
        Param::Variable(_) => None,
    }
}

fn not(dst: Reg, a: Operand) -> Op {
    Op::IntUnary { op: IntUnary::Not, width: Width::B1, dst, a }
}

fn and(dst: Reg, a: Operand, b: Operand) -> Op {
    Op::IntBinary { op: IntBinary::And, width: Width::B1, dst, a, b }
}

fn written_registers(instructions: &[Instr]) -> BTreeSet<Reg> {
    instructions.iter().flat_map(|instruction| writes_and_reads(instruction).0).collect()
}
