//! Replaces calls of undefined math functions (`__nv_expf`, `vt_expf`) by the function itself.
//!
//! A module that was not linked with libdevice calls its functions; so does one compiled with
//! `tools/warpproof_math.h`. They read their arguments and write their result, and nothing else. A call stays if its
//! function has a body, or if its signature does not fit its name.

mod names;
mod parameters;

use crate::Lifted;
use ir::{
    Address, AddressBase, Argument, FloatBinary, FloatMode, Format, FuncId, Function, Instr, Load,
    Op, Operand, Ordering, Param, Program, RealFunction, Reg, Register, Space, Store, VarId, Width,
};
use names::{Routine, routine};
use std::collections::BTreeSet;

/// Replaces calls in functions of a program.
pub(crate) fn lift(lifted: &mut Lifted, functions: &[FuncId]) {
    let mut found = BTreeSet::new();
    for &id in functions {
        let mut function = lifted.program.functions[id].clone();
        let names = replace(&lifted.program, &mut function);
        if !names.is_empty() {
            parameters::forward(&lifted.program, &mut function);
            lifted.program.functions[id] = function;
            found.extend(names);
        }
    }
    if !found.is_empty() {
        let computes = match found.len() {
            1 => "computes the function of its name",
            _ => "compute the functions of their names",
        };
        // The header adds the prefix `vt_`; the user did not write it.
        let shown = |name: String| format!("`{}`", name.strip_prefix("vt_").unwrap_or(&name));
        let names: BTreeSet<String> = found.into_iter().map(shown).collect();
        let names = names.into_iter().collect::<Vec<String>>().join(", ");
        let clause = format!("{names}, defined elsewhere, {computes}");
        lifted.assumptions.insert(clause);
    }
}

/// Replaces the calls in a function; returns the names of the replaced callees.
fn replace(program: &Program, function: &mut Function) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let blocks: Vec<ir::BlockId> = function.blocks.indices().collect();
    for block in blocks {
        let old = std::mem::take(&mut function.blocks[block].instructions);
        let mut new = Vec::with_capacity(old.len());
        for instruction in old {
            match inline_call(program, function, &instruction) {
                Some((name, ops)) => {
                    found.insert(name.to_owned());
                    let same = |op| Instr { op, ..instruction.clone() };
                    new.extend(ops.into_iter().map(same));
                }
                None => new.push(instruction),
            }
        }
        function.blocks[block].instructions = new;
    }
    found
}

/// Returns the operations that replace a call of a known function.
fn inline_call<'p>(
    program: &'p Program,
    caller: &mut Function,
    instruction: &Instr,
) -> Option<(&'p str, Vec<Op>)> {
    let Op::Call { callee, arguments, returns } = &instruction.op else { return None };
    let callee = &program.functions[*callee];
    let (routine, format) = routine(&callee.name).filter(|_| !callee.is_defined())?;
    let declared = callee.params.iter().chain(&callee.returns);
    let passed = arguments.iter().chain(returns);
    let fits = callee.params.len() == routine.arguments()
        && arguments.len() == callee.params.len()
        && callee.returns.len() == 1
        && returns.len() == 1
        && declared.zip(passed).all(|(param, argument)| fits(program, format, *param, argument));
    if !fits {
        return None;
    }
    let mut ops = Vec::new();
    let mut operands = Vec::new();
    for argument in arguments {
        operands.push(match argument {
            Argument::Operand(operand) => *operand,
            Argument::Variable(variable) => {
                let register = fresh(caller, format.width());
                ops.push(load(*variable, register, format.width()));
                register.into()
            }
        });
    }
    let result = fresh(caller, format.width());
    emit_routine(routine, format, &operands, result, caller, &mut ops)?;
    ops.push(match returns.first()? {
        Argument::Operand(Operand::Register(register)) => {
            Op::Copy { dst: *register, src: result.into() }
        }
        Argument::Operand(Operand::Constant(_)) => return None,
        Argument::Variable(variable) => store(*variable, result, format.width()),
    });
    Some((&callee.name, ops))
}

/// Returns `true` if an argument and its parameter are as wide as the format.
fn fits(program: &Program, format: Format, param: Param, argument: &Argument) -> bool {
    let is_wide =
        |variable: VarId| program.variables[variable].size == Some(format.width().bytes().into());
    let param = match param {
        Param::Register(_, width) => width == format.width(),
        Param::Variable(variable) => is_wide(variable),
    };
    let argument = match argument {
        Argument::Operand(_) => true,
        Argument::Variable(variable) => is_wide(*variable),
    };
    param && argument
}

/// Emits the operations of a routine; `None` if an operand is missing.
fn emit_routine(
    routine: Routine,
    format: Format,
    operands: &[Operand],
    dst: Reg,
    caller: &mut Function,
    ops: &mut Vec<Op>,
) -> Option<()> {
    let (lanes, mode) = (1, FloatMode::NEAREST);
    let a = *operands.first()?;
    let b = operands.get(1).copied();
    let real = |function, dst, a, b| Op::Real { function, format, range: None, dst, a, b };
    let last = match routine {
        Routine::Real(function) => real(function, dst, a, b),
        Routine::Unary(op, rounding) => {
            let mode = FloatMode { rounding, ..mode };
            Op::FloatUnary { op, format, lanes, mode, dst, a }
        }
        Routine::Binary(op) => Op::FloatBinary { op, format, lanes, mode, dst, a, b: b? },
        Routine::Fma => Op::Fma { format, lanes, mode, dst, a, b: b?, c: *operands.get(2)? },
        Routine::FastPower => {
            let width = format.width();
            let (log, product) = (fresh(caller, width), fresh(caller, width));
            let (a_log, b, op) = (log.into(), b?, FloatBinary::Mul);
            ops.push(real(RealFunction::Log2, log, a, None));
            ops.push(Op::FloatBinary { op, format, lanes, mode, dst: product, a: a_log, b });
            real(RealFunction::Exp2, dst, product.into(), None)
        }
    };
    ops.push(last);
    Some(())
}

fn fresh(function: &mut Function, width: Width) -> Reg {
    let name = format!("%called{}", function.registers.len());
    function.registers.push(Register { name, width })
}

fn address(variable: VarId) -> Address {
    Address { base: AddressBase::Variable(variable), offset: 0 }
}

fn load(variable: VarId, register: Reg, width: Width) -> Op {
    Op::Load(Load {
        dsts: vec![Some(register)],
        width,
        signed: false,
        space: Space::ParamFunc,
        address: address(variable),
        ordering: Ordering::Weak,
        non_coherent: false,
    })
}

fn store(variable: VarId, register: Reg, width: Width) -> Op {
    Op::Store(Store {
        srcs: vec![register.into()],
        width,
        space: Space::ParamFunc,
        address: address(variable),
        ordering: Ordering::Weak,
    })
}
