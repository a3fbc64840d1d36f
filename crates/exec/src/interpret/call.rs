//! Calls: copies arguments and results, and executes functions that the module only declares.
//!
//! Such functions are known by name: `vprintf`, `__assertfail`, and libdevice functions whose result is left unknown.
//! Any other one ends the run.

use super::access::{forget_element, word_of, write_element};
use crate::address::Area;
use crate::context::Context;
use crate::finding::{Fault, Gap};
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::{Source, Tags};
use ir::{Argument, FuncId, Param, Width};

/// Executes a function that the module declares without defining it.
pub(super) fn external(
    context: &mut Context<'_, '_>,
    name: &str,
    returns: &[Argument],
) -> Result<(), Gap> {
    match name {
        "vprintf" => {
            context.report.prints.insert(context.place);
            Ok(())
        }
        "__assertfail" => {
            let lanes = context.lanes;
            context.record_fault(Fault::AssertFailed, lanes);
            Err(context.gap("an assertion failed here"))
        }
        _ if is_of_integers(name) => {
            forget(context, returns);
            Ok(())
        }
        _ => {
            // `tools/warpproof_math.h` adds this prefix; the user did not write it.
            let name = name.strip_prefix("vt_").unwrap_or(name);
            Err(context.gap(format!("function `{name}` is defined elsewhere")))
        }
    }
}

/// Returns `true` for a libdevice function (user's guide, chapter 3) that takes or returns integers, and only
/// reads its arguments. Its result is data unknown to every domain. Functions that write through a pointer
/// (`sincos`, `frexp`, `modf`, `remquo`) are not included, and functions of floats alone have been lifted before.
fn is_of_integers(name: &str) -> bool {
    const NAMES: [&str; 10] =
        ["ilogb", "jn", "yn", "powi", "ldexp", "scalbn", "lround", "llround", "lrint", "llrint"];
    let known = |name: &str| NAMES.contains(&name);
    name.strip_prefix("__nv_")
        .is_some_and(|name| known(name) || name.strip_suffix('f').is_some_and(known))
}

/// Makes the results of a call unknown data.
fn forget(context: &mut Context<'_, '_>, returns: &[Argument]) {
    for argument in returns {
        match argument {
            Argument::Operand(ir::Operand::Register(register)) => {
                let tags = Tags::unknown(Mask::ALL, Source::Data);
                context.write(*register, &[0; WARP], tags);
            }
            Argument::Operand(ir::Operand::Constant(_)) => {}
            Argument::Variable(variable) => {
                let Some(number) = local_number(context, *variable) else { continue };
                let room = context.warp.local(context.machine, number).bytes.len() / WARP;
                for lane in context.lanes.iter() {
                    forget_element(context, (Area::Local(number), lane), lane * room, room);
                }
            }
        }
    }
}

/// Copies the arguments of a call into the callee's parameters.
pub(super) fn pass_arguments(
    context: &mut Context<'_, '_>,
    callee: FuncId,
    arguments: &[Argument],
) {
    let params = context.machine.program.functions[callee].params.clone();
    let values: Vec<(Lanes, Tags)> = arguments
        .iter()
        .map(|argument| match argument {
            Argument::Operand(operand) => context.read(*operand, Width::B64),
            Argument::Variable(_) => ([0; WARP], Tags::NUMBER),
        })
        .collect();
    let cleared = context.warp.enter(context.machine, callee, context.lanes);
    context.report.charge(cleared);
    for ((argument, param), (value, tags)) in arguments.iter().zip(params).zip(values) {
        match (argument, param) {
            (Argument::Variable(from), Param::Variable(to)) => move_variable(context, *from, to),
            (_, Param::Register(register, _)) => {
                let (machine, lanes) = (context.machine, context.lanes);
                let layout = &machine.layouts[callee];
                let registers = context.warp.registers(machine, callee);
                registers.write(layout, register, &value, tags, lanes);
            }
            (Argument::Operand(_), Param::Variable(to)) => {
                fill_variable(context, to, &value, tags);
            }
        }
    }
}

/// Copies the results of a call to the caller's destinations.
pub(crate) fn return_values(context: &mut Context<'_, '_>, callee: FuncId, returns: &[Argument]) {
    let results = context.machine.program.functions[callee].returns.clone();
    for (argument, result) in returns.iter().zip(results) {
        match (argument, result) {
            (Argument::Variable(to), Param::Variable(from)) => move_variable(context, from, *to),
            (Argument::Operand(ir::Operand::Register(to)), Param::Register(from, width)) => {
                let machine = context.machine;
                let layout = &machine.layouts[callee];
                let registers = context.warp.registers(machine, callee);
                let mut buffer = [0; WARP];
                let value = *registers.word(layout, from.into(), Width::B64, &mut buffer);
                debug_assert!(width <= Width::B64);
                let tags = registers.tags(from);
                context.write_words(*to, &value, tags);
            }
            _ => {}
        }
    }
}

fn local_number(context: &Context<'_, '_>, variable: ir::VarId) -> Option<usize> {
    match context.machine.areas.get(&variable) {
        Some(Area::Local(number)) => Some(*number),
        _ => None,
    }
}

fn move_variable(context: &mut Context<'_, '_>, from: ir::VarId, to: ir::VarId) {
    let (Some(from), Some(to)) = (local_number(context, from), local_number(context, to)) else {
        return;
    };
    let lanes = context.lanes;
    let size = context.warp.local(context.machine, from).bytes.len() / WARP;
    let room = context.warp.local(context.machine, to).bytes.len() / WARP;
    let count = size.min(room);
    let units = [size, room, count].iter().all(|bytes| bytes.is_multiple_of(4));
    if let Some(valued) = &mut context.valued
        && !units
    {
        let source = context.warp.local(context.machine, from).clone();
        let target = context.warp.local(context.machine, to);
        for lane in lanes.iter() {
            let bytes = (0..count).map(|at| valued.store.byte(&source, lane * size + at));
            let bytes: Vec<_> = bytes.collect();
            valued.store.store_bytes(target, lane * room, &bytes);
        }
        return;
    }
    for lane in lanes.iter() {
        let (read, write) = (lane * size, lane * room);
        let source = context.warp.local(context.machine, from);
        let bytes = source.bytes[read..read + count].to_vec();
        let states = source.states[read..read + count].to_vec();
        let target = context.warp.local(context.machine, to);
        target.bytes[write..write + count].copy_from_slice(&bytes);
        target.states.copy(write, &states);
        context.report.charge(count);
    }
}

fn fill_variable(context: &mut Context<'_, '_>, to: ir::VarId, values: &Lanes, tags: Tags) {
    let Some(to) = local_number(context, to) else { return };
    let room = context.warp.local(context.machine, to).bytes.len() / WARP;
    for lane in context.lanes.iter() {
        let value = (values[lane], word_of(tags, lane));
        write_element(context, (Area::Local(to), lane), lane * room, room.min(8), value);
    }
}
