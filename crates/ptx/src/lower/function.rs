//! Functions: head, statements, scopes and labels (manual §11.2–11.4).

use super::builder::{Builder, Context};
use super::scope::{Entity, RegisterDecl, Table};
use super::variable::{declare, initialize, vector_length};
use super::{constant, declared_twice};
use crate::isa::{self, Type};
use crate::syntax::ast::{
    Block, Function, FunctionDirective, Linkage, Name, StateSpace, Statement, Target, Variable,
};
use base::{Code, Diagnostic, Index, Span};
use ir::{BlockId, FuncId, Launch, Param, Reg, Space, Width};

/// The most entries of a branch table.
const MAX_TABLE: u64 = 1 << 16;

/// Declares the parameters and results of a function. Those in registers get the first numbers,
/// results before parameters; [`lower`] numbers them the same way.
pub(super) fn parameters<'a>(
    context: &mut Context<'a>,
    function: &Function<'a>,
    id: FuncId,
) -> (Vec<Param>, Vec<Param>) {
    let mut registers = 0;
    let mut declare_all = |variables: &[Variable<'a>]| {
        let mut params = Vec::new();
        for variable in variables {
            for declarator in &variable.declarators {
                if variable.space == StateSpace::Reg {
                    // An unknown type is reported at the declaration of the names.
                    let width = Type::parse(variable.ty.text).map_or(Width::B32, Type::width);
                    params.push(Param::Register(Reg::from_position(registers), width));
                    registers += usize::from(vector_length(variable));
                } else if let Some(variable) = declare(context, variable, declarator, Some(id)) {
                    params.push(Param::Variable(variable));
                }
            }
        }
        params
    };
    let returns = declare_all(&function.returns);
    let params = declare_all(&function.params);
    (params, returns)
}

/// Lowers the body of a function, if it has one.
pub(super) fn lower<'a>(context: &mut Context<'a>, function: &Function<'a>, id: FuncId) {
    let launch = launch(context, &function.directives);
    if function.body.is_some() || function.linkage != Some(Linkage::Extern) {
        context.program.functions[id].launch = launch;
    }
    let Some(body) = &function.body else { return };
    let is_kernel = context.program.functions[id].is_kernel;
    let mut builder = Builder::new(context, id, is_kernel);
    declare_parameter_names(&mut builder, function, id);
    let entry = builder.new_block();
    builder.place(entry, body.at.0);
    statements(&mut builder, body);
    let end = Span::new(body.at.0.end.saturating_sub(1), body.at.0.end);
    builder.finish(end);
}

/// Makes the names of parameters and results known in the body.
fn declare_parameter_names<'a>(builder: &mut Builder<'_, 'a>, function: &Function<'a>, id: FuncId) {
    let declared = &builder.context.program.functions[id];
    let mut variables =
        declared.returns.iter().chain(&declared.params).filter_map(|param| match param {
            Param::Variable(variable) => Some(*variable),
            Param::Register(..) => None,
        });
    let mut names = Vec::new();
    for variable in function.returns.iter().chain(&function.params) {
        for declarator in &variable.declarators {
            if variable.space == StateSpace::Reg {
                names.push((variable, declarator.name, None));
            } else if Type::parse(variable.ty.text).is_some() {
                names.push((variable, declarator.name, variables.next()));
            }
        }
    }
    for (variable, name, number) in names {
        let declared = match number {
            Some(number) => {
                builder.scopes.declare(name.text, Entity::Variable(number), name.span())
            }
            None => declare_registers(builder, variable, name, None),
        };
        if let Err(clash) = declared {
            builder.context.diagnostics.push(declared_twice(name, clash.0));
        }
        if number.is_none() {
            builder.register(name.text);
        }
    }
}

fn declare_registers<'a>(
    builder: &mut Builder<'_, 'a>,
    variable: &Variable<'a>,
    name: Name<'a>,
    range: Option<u64>,
) -> Result<(), super::scope::Clash> {
    let Some(ty) = Type::parse(variable.ty.text) else {
        let message = format!("registers of type `.{}` are not supported", variable.ty.text);
        let code = Code::UnsupportedDirective;
        let refusal = Diagnostic::unsupported(code, variable.ty.span(), message);
        builder.context.diagnostics.push(refusal);
        return Ok(());
    };
    let decl = RegisterDecl { ty, components: vector_length(variable) };
    match range {
        Some(count) => builder.scopes.declare_range(name.text, count, decl, name.span()),
        None => builder.scopes.declare(name.text, Entity::Declared(decl), name.span()),
    }
}

/// Lowers the statements of a block, in the current scope.
fn statements<'a>(builder: &mut Builder<'_, 'a>, block: &Block<'a>) {
    declare_labels(builder, block);
    for statement in &block.statements {
        match statement {
            Statement::Label(label) => {
                if let Some(target) = builder.scopes.label(label.text) {
                    builder.place(target, label.span());
                }
            }
            Statement::Instruction(instruction) => isa::lower_instruction(builder, instruction),
            Statement::Variable(variable) => local_variable(builder, variable),
            Statement::Block(inner) => {
                builder.scopes.enter();
                statements(builder, inner);
                builder.scopes.leave();
            }
            Statement::Loc(loc) => {
                let Context { locations, program, .. } = &mut *builder.context;
                builder.location = Some(locations.location(loc, program));
            }
            // Pragmas are advice to the optimiser (manual chapter 12) and change no meaning.
            Statement::Pragma(_)
            | Statement::BranchTargets(..)
            | Statement::CallTargets(..)
            | Statement::CallPrototype(_) => {}
        }
    }
}

/// Labels may be used before they are placed, so a scope's labels and tables come first.
fn declare_labels<'a>(builder: &mut Builder<'_, 'a>, block: &Block<'a>) {
    for statement in &block.statements {
        if let Statement::Label(label) = statement {
            let target = builder.new_block();
            if let Err(clash) =
                builder.scopes.declare(label.text, Entity::Label(target), label.span())
            {
                builder.context.diagnostics.push(declared_twice(*label, clash.0));
            }
        }
    }
    for statement in &block.statements {
        match statement {
            Statement::BranchTargets(name, targets) => match branch_table(builder, targets) {
                Ok(targets) => declare_table(builder, *name, Table::Branch(targets)),
                Err(diagnostic) => builder.context.diagnostics.push(*diagnostic),
            },
            Statement::CallTargets(name, _) => declare_table(builder, *name, Table::Call),
            Statement::CallPrototype(prototype) => {
                declare_table(builder, prototype.label, Table::Prototype);
            }
            _ => {}
        }
    }
}

fn declare_table<'a>(builder: &mut Builder<'_, 'a>, name: Name<'a>, table: Table) {
    if let Err(clash) = builder.scopes.declare(name.text, Entity::Table(table), name.span()) {
        builder.context.diagnostics.push(declared_twice(name, clash.0));
    }
}

fn branch_table<'a>(
    builder: &Builder<'_, 'a>,
    targets: &[Target<'a>],
) -> Result<Vec<BlockId>, Box<Diagnostic>> {
    let undeclared = |name: Name<'_>, label: &str| {
        let message = format!("label `{label}` is not declared");
        Box::new(Diagnostic::error(Code::Name, name.span(), message))
    };
    let mut blocks = Vec::new();
    for target in targets {
        let name = target.name;
        let Some(range) = &target.range else {
            let block = builder.scopes.label(name.text);
            blocks.push(block.ok_or_else(|| undeclared(name, name.text))?);
            continue;
        };
        let count = constant::integer(range.value).filter(|&count| count <= MAX_TABLE);
        let count = count.ok_or_else(|| {
            let message = format!("a branch table has at most {MAX_TABLE} entries");
            Box::new(Diagnostic::error(Code::Limit, range.at.0, message))
        })?;
        for number in 0..count {
            let label = format!("{}{number}", name.text);
            let block = builder.scopes.label(&label);
            blocks.push(block.ok_or_else(|| undeclared(name, &label))?);
        }
    }
    Ok(blocks)
}

fn local_variable<'a>(builder: &mut Builder<'_, 'a>, variable: &Variable<'a>) {
    for declarator in &variable.declarators {
        let name = declarator.name;
        let declared = if variable.space == StateSpace::Reg {
            let range = declarator.range.as_ref();
            let count = range.map(|range| constant::integer(range.value).unwrap_or(0));
            declare_registers(builder, variable, name, count)
        } else {
            let owner = Some(builder.function);
            let Some(id) = declare(builder.context, variable, declarator, owner) else { continue };
            let declared = &mut builder.context.program.variables[id];
            if declared.space == Space::ParamEntry {
                // Not a parameter of this kernel but an argument it prepares for a call.
                declared.space = Space::ParamFunc;
            }
            initialize(builder.context, variable, declarator, id);
            builder.scopes.declare(name.text, Entity::Variable(id), name.span())
        };
        if let Err(clash) = declared {
            builder.context.diagnostics.push(declared_twice(name, clash.0));
        }
    }
}

/// Returns the launch directives of a function.
fn launch(context: &mut Context<'_>, directives: &[FunctionDirective<'_>]) -> Launch {
    let mut launch = Launch::default();
    for directive in directives {
        let numbers = directive.arguments.iter().map(constant::evaluate_size);
        let numbers: Result<Vec<u64>, Diagnostic> = numbers.collect();
        let numbers = match numbers {
            Ok(numbers) => numbers,
            Err(diagnostic) => {
                context.diagnostics.push(diagnostic);
                continue;
            }
        };
        let size = |position: usize, default: u64| {
            u32::try_from(numbers.get(position).copied().unwrap_or(default)).unwrap_or(u32::MAX)
        };
        let sizes = Some([size(0, 1), size(1, 1), size(2, 1)]);
        match directive.name.text {
            "reqntid" => launch.required_block = sizes,
            "maxntid" => launch.max_block = sizes,
            "minnctapersm" => launch.min_blocks_per_sm = Some(size(0, 0)),
            "maxnreg" => launch.max_registers = Some(size(0, 0)),
            "reqnctapercluster" => launch.required_cluster = sizes,
            "maxclusterrank" => launch.max_cluster_rank = Some(size(0, 0)),
            "explicitcluster" => launch.explicit_cluster = true,
            "blocksareclusters" => launch.blocks_are_clusters = true,
            // Advice to the register allocator and the linker.
            "maxnctapersm" | "noreturn" | "pragma" | "abi_preserve" | "abi_preserve_control" => {}
            other => {
                let message = format!("directive `.{other}` is not supported");
                let (code, span) = (Code::UnsupportedDirective, directive.name.span());
                context.diagnostics.push(Diagnostic::unsupported(code, span, message));
            }
        }
    }
    launch
}
