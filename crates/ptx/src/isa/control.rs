//! Control flow (manual §9.7.12) and instructions that stop a thread (§9.7.19).

use super::{Fit, Form, Insn, Lower, Refusal, Type, by};
use crate::lower::Table;
use crate::syntax::ast::{Expr, Operand};
use base::{Code, Diagnostic};
use ir::{
    Argument, BlockId, FuncId, Op, Param, RegisterPool, Symbol, SyncOp, Terminator, VarId, Width,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "bra",
        when: &[],
        syntax: "@p bra{.uni} label",
        section: "9.7.12.3",
        examples: &["bra Done;", "@%p1 bra Done;", "@!%p1 bra.uni Done;"],
        lowering: by(bra),
    },
    Form {
        opcode: "brx",
        when: &["idx"],
        syntax: "@p brx.idx{.uni} index, table",
        section: "9.7.12.4",
        examples: &["targets: .branchtargets Done, Done; brx.idx %r1, targets;"],
        lowering: by(brx),
    },
    Form {
        opcode: "call",
        when: &[],
        syntax: "call{.uni} (ret), function, (params)",
        section: "9.7.12.5",
        examples: &[
            "{ .param .b32 r; .param .b64 a; .param .b32 b; call.uni (r), callee, (a, b); }",
        ],
        lowering: by(call),
    },
    Form {
        opcode: "ret",
        when: &[],
        syntax: "ret{.uni}",
        section: "9.7.12.6",
        examples: &["ret;", "@%p1 ret.uni;"],
        lowering: by(|insn| {
            insn.flag("uni");
            terminate(insn, Terminator::Return)
        }),
    },
    Form {
        opcode: "exit",
        when: &[],
        syntax: "exit",
        section: "9.7.12.7",
        examples: &["exit;", "@%p1 exit;"],
        lowering: by(|insn| terminate(insn, Terminator::Exit)),
    },
    Form {
        opcode: "trap",
        when: &[],
        syntax: "trap",
        section: "9.7.19.4",
        examples: &["trap;", "@%p1 trap;"],
        lowering: by(|insn| terminate(insn, Terminator::Trap)),
    },
    Form {
        opcode: "nanosleep",
        when: &[],
        syntax: "nanosleep.u32 t",
        section: "9.7.19.2",
        examples: &["nanosleep.u32 100;", "nanosleep.u32 %r1;"],
        lowering: by(|insn| {
            insn.ty(&[Type::U32])?;
            insn.src(Type::U32)?;
            insn.emit(Op::Hint { what: "nanosleep" });
            Ok(())
        }),
    },
    Form {
        opcode: "pmevent",
        when: &[],
        syntax: "pmevent{.mask} a",
        section: "9.7.19.3",
        examples: &["pmevent 1;", "pmevent.mask 7;"],
        lowering: by(|insn| {
            insn.flag("mask");
            insn.immediate()?;
            insn.emit(Op::Hint { what: "pmevent" });
            Ok(())
        }),
    },
    Form {
        opcode: "setmaxnreg",
        when: &[],
        syntax: "setmaxnreg{.inc,.dec}.sync.aligned.u32 count",
        section: "9.7.19.5",
        examples: &["setmaxnreg.inc.sync.aligned.u32 192;", "setmaxnreg.dec.sync.aligned.u32 64;"],
        lowering: by(|insn| {
            let increases = insn.require(&[("inc", true), ("dec", false)], "`.inc` or `.dec`")?;
            insn.require(&[("sync", ())], "`.sync`")?;
            insn.require(&[("aligned", ())], "`.aligned`")?;
            insn.ty(&[Type::U32])?;
            let count = insn.immediate()?;
            if !(24..=256).contains(&count) || count % 8 != 0 {
                return Err(insn.unsupported("the count must be a multiple of 8 from 24 to 256"));
            }
            insn.emit(Op::Sync(SyncOp::RegisterPool(RegisterPool { increases, count })));
            Ok(())
        }),
    },
    // Suspends the thread for a debugger. Without one a launch that reaches it fails, as at a trap.
    Form {
        opcode: "brkpt",
        when: &[],
        syntax: "brkpt",
        section: "9.7.19.1",
        examples: &["brkpt;"],
        lowering: by(|insn| terminate(insn, Terminator::Trap)),
    },
];

fn bra(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let uniform = insn.flag("uni");
    let operand = insn.next_operand()?;
    let target = match operand {
        Operand::Expr(Expr::Name(name)) => insn.builder.scopes.label(name.text),
        _ => None,
    };
    let target = target.ok_or_else(|| unreachable_name(operand, "label"))?;
    insn.finish()?;
    jump(insn, target, uniform);
    Ok(())
}

/// Refuses a name that is not a label, table or function in scope.
fn unreachable_name(operand: &Operand<'_>, what: &str) -> Refusal {
    let message = format!("`{operand}` is not a {what} that can be reached from here");
    Box::new(Diagnostic::error(Code::Name, operand.span(), message))
}

/// Ends the block with a jump to `target`, under the instruction's guard.
fn jump(insn: &mut Insn<'_, '_, '_>, target: BlockId, uniform: bool) {
    let span = insn.span();
    let Some(guard) = insn.guard else {
        return insn.builder.terminate(Terminator::Jump(target), span);
    };
    let otherwise = insn.builder.new_block();
    let branch = Terminator::Branch { guard, then: target, otherwise, uniform };
    insn.builder.terminate(branch, span);
    insn.builder.place(otherwise, span);
}

/// Ends the block; under a guard, in a block of its own.
fn terminate(insn: &mut Insn<'_, '_, '_>, terminator: Terminator) -> Lower {
    insn.finish()?;
    let span = insn.span();
    let Some(guard) = insn.guard else {
        insn.builder.terminate(terminator, span);
        return Ok(());
    };
    let (then, otherwise) = (insn.builder.new_block(), insn.builder.new_block());
    insn.builder.terminate(Terminator::Branch { guard, then, otherwise, uniform: false }, span);
    insn.builder.place(then, span);
    insn.builder.terminate(terminator, span);
    insn.builder.place(otherwise, span);
    Ok(())
}

fn brx(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("idx");
    let uniform = insn.flag("uni");
    let index = insn.src(Type::U32)?;
    let operand = insn.next_operand()?;
    let table = match operand {
        Operand::Expr(Expr::Name(name)) => insn.builder.scopes.table(name.text),
        _ => None,
    };
    let Some(Table::Branch(targets)) = table else {
        return Err(unreachable_name(operand, "list of branch targets"));
    };
    let targets = targets.clone();
    terminate(insn, Terminator::Table { index, targets, uniform })
}

fn call(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("uni");
    let mut operand = insn.next_operand()?;
    let returns = match operand {
        Operand::List(returns) => {
            operand = insn.next_operand()?;
            returns.as_slice()
        }
        _ => &[],
    };
    let callee = callee(insn, operand)?;
    let arguments = match insn.remaining() {
        0 => &[],
        _ => match insn.next_operand()? {
            Operand::List(arguments) => arguments.as_slice(),
            other => return Err(insn.bad_operand(other, "a list of arguments is needed here")),
        },
    };
    if insn.remaining() > 0 {
        return Err(insn.unsupported("indirect calls are not supported"));
    }
    let function = &insn.builder.context.program.functions[callee];
    let (params, results) = (function.params.clone(), function.returns.clone());
    if (params.len(), results.len()) != (arguments.len(), returns.len()) {
        return Err(insn.unsupported("the call does not fit the callee's parameters"));
    }
    let returns = returns.iter().zip(&results);
    let returns = returns.map(|(operand, param)| result(insn, operand, *param));
    let returns = returns.collect::<Lower<Vec<_>>>()?;
    let arguments = arguments.iter().zip(&params);
    let arguments = arguments.map(|(operand, param)| argument(insn, operand, *param));
    let arguments = arguments.collect::<Lower<Vec<_>>>()?;
    insn.emit(Op::Call { callee, arguments, returns });
    Ok(())
}

/// Finds the called function.
fn callee<'a>(insn: &mut Insn<'_, '_, 'a>, operand: &Operand<'a>) -> Lower<FuncId> {
    let Operand::Expr(Expr::Name(name)) = operand else {
        return Err(insn.bad_operand(operand, "the name of a function is needed here"));
    };
    match insn.symbol(*name) {
        Some(Symbol::Function(function)) => Ok(function),
        Some(Symbol::Variable(_)) => Err(unreachable_name(operand, "function")),
        // A register holds the address of the function.
        None if insn.remaining() > 1 => Err(insn.unsupported("indirect calls are not supported")),
        None => Err(unreachable_name(operand, "function")),
    }
}

/// Lowers an argument of a call.
fn argument<'a>(
    insn: &mut Insn<'_, '_, 'a>,
    operand: &Operand<'a>,
    param: Param,
) -> Lower<Argument> {
    if let Operand::Expr(Expr::Name(name)) = operand
        && let Some(Symbol::Variable(variable)) = insn.symbol(*name)
    {
        return variable_argument(insn, operand, variable, param);
    }
    let width = match param {
        Param::Register(_, width) => Some(width),
        Param::Variable(variable) => {
            let size = insn.builder.context.program.variables[variable].size;
            size.and_then(|size| Width::from_bits(u32::try_from(size.checked_mul(8)?).ok()?))
        }
    };
    match width {
        Some(width) => insn.source(operand, Type::Bits(width), Fit::Exact).map(Argument::Operand),
        None => Err(insn.bad_operand(operand, "a `.param` variable is needed here")),
    }
}

/// Passes a `.param` variable for a parameter or result of the callee; the sizes must be equal.
fn variable_argument(
    insn: &Insn<'_, '_, '_>,
    operand: &Operand<'_>,
    variable: VarId,
    param: Param,
) -> Lower<Argument> {
    let variables = &insn.builder.context.program.variables;
    let wanted = match param {
        Param::Variable(formal) => variables[formal].size,
        Param::Register(_, width) => Some(u64::from(width.bytes())),
    };
    if wanted.is_some() && variables[variable].size != wanted {
        return Err(insn.bad_operand(operand, "this is not as large as the callee's parameter"));
    }
    Ok(Argument::Variable(variable))
}

/// Lowers the place for a result of a call.
fn result<'a>(insn: &mut Insn<'_, '_, 'a>, operand: &Operand<'a>, param: Param) -> Lower<Argument> {
    let Operand::Expr(Expr::Name(name)) = operand else {
        return Err(insn.bad_operand(operand, "a result goes to a parameter or register"));
    };
    if let Some(Symbol::Variable(variable)) = insn.symbol(*name) {
        return variable_argument(insn, operand, variable, param);
    }
    let Param::Register(_, width) = param else {
        return Err(insn.bad_operand(operand, "a `.param` variable is needed here"));
    };
    let register = insn.register_named(*name, width, Fit::Exact)?;
    Ok(Argument::Operand(register.into()))
}
