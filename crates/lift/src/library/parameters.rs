//! Forwards values that are stored to a `.param` variable and loaded again at once. Such pairs remain where a replaced
//! call got its arguments and returned its result. Without them, branches around them can become straight-line code.

use ir::{
    Access, AddressBase, BlockId, Function, Instr, Op, Param, Program, Register, Space, Symbol,
    VarId, Width,
};
use std::collections::BTreeMap;

/// Places where a variable is mentioned.
type Places = Vec<(BlockId, usize)>;

/// Replaces a store to an argument variable and the load after it in the same block, if nothing else mentions the
/// variable.
pub(super) fn forward(program: &Program, function: &mut Function) {
    for (variable, places) in mentions(program, function) {
        let &[(block, first), (other, second)] = places.as_slice() else { continue };
        let (stored, loaded) = {
            let instructions = &function.blocks[block].instructions;
            let at = |position: usize| instructions.get(position);
            match (at(first), at(second)) {
                (Some(stored), Some(loaded)) if block == other => (stored, loaded),
                _ => continue,
            }
        };
        let Some((src, width)) = store_to(stored, variable) else { continue };
        let Some((dst, loaded_width)) = load_from(loaded, variable) else { continue };
        if width != loaded_width || function.registers[dst].width != width {
            continue;
        }
        let name = format!("%passed{}", function.registers.len());
        let kept = function.registers.push(Register { name, width });
        let instructions = &mut function.blocks[block].instructions;
        instructions[first].op = Op::Copy { dst: kept, src };
        instructions[second].op = Op::Copy { dst, src: kept.into() };
    }
}

/// Collects the mentions of argument variables, except the function's own parameters.
fn mentions(program: &Program, function: &Function) -> BTreeMap<VarId, Places> {
    let mut places: BTreeMap<VarId, Places> = BTreeMap::new();
    for (block, data) in function.blocks.enumerate() {
        for (position, instruction) in data.instructions.iter().enumerate() {
            instruction.op.visit(&mut |access| {
                let variable = match access {
                    Access::Address(address) => match address.base {
                        AddressBase::Variable(variable) => variable,
                        _ => return,
                    },
                    Access::Symbol(Symbol::Variable(variable), _) => variable,
                    Access::Argument(variable) => variable,
                    _ => return,
                };
                places.entry(variable).or_default().push((block, position));
            });
        }
    }
    let is_own_parameter = |variable: VarId| {
        let mut params = function.params.iter().chain(&function.returns);
        params.any(|param| matches!(param, Param::Variable(one) if *one == variable))
    };
    let is_argument = |variable: VarId| program.variables[variable].space == Space::ParamFunc;
    places.retain(|&variable, _| is_argument(variable) && !is_own_parameter(variable));
    places
}

fn store_to(instruction: &Instr, variable: VarId) -> Option<(ir::Operand, Width)> {
    let Op::Store(store) = &instruction.op else { return None };
    let is_whole_variable =
        store.address.base == AddressBase::Variable(variable) && store.address.offset == 0;
    match store.srcs.as_slice() {
        &[src] if is_whole_variable && instruction.guard.is_none() => Some((src, store.width)),
        _ => None,
    }
}

fn load_from(instruction: &Instr, variable: VarId) -> Option<(ir::Reg, Width)> {
    let Op::Load(load) = &instruction.op else { return None };
    let is_whole_variable =
        load.address.base == AddressBase::Variable(variable) && load.address.offset == 0;
    match load.dsts.as_slice() {
        &[Some(dst)] if is_whole_variable && instruction.guard.is_none() => Some((dst, load.width)),
        _ => None,
    }
}
