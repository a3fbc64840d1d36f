//! Lowers the syntax tree to the core program.
//!
//! Two passes over the module: declare everything (functions and variables may be mentioned before their definition),
//! then lower bodies and initialisers. The meaning of instructions is in [`crate::isa`]; here are names, memory
//! layout of variables, blocks and calls.
//!
//! Lowering never fails as a whole. A construct it cannot express becomes an [`ir::Op::Unsupported`] in the program
//! and a diagnostic of severity `Unsupported`; an error in the input becomes one of severity `Error`.

mod builder;
pub(crate) mod constant;
mod debug;
mod function;
mod recursion;
mod scope;
mod variable;

pub(crate) use builder::{Builder, Mark};
pub(crate) use scope::{Entity, Table};

use crate::syntax::Value;
use crate::syntax::ast::{Function, FunctionKind, Item, Module, Name, Number};
use base::{Code, Diagnostic, Span};
use builder::Context;
use debug::Locations;
use ir::{FuncId, Program};
use scope::Globals;

/// A module in the form for engines.
#[derive(Debug)]
pub struct Lowered {
    /// The program; well formed by [`ir::validate`].
    pub program: Program,
    /// Errors and unsupported constructs, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lowers a module that was parsed without errors.
#[must_use]
pub fn lower(module: &Module<'_>) -> Lowered {
    let mut program = Program::default();
    let locations = Locations::new(module, &mut program);
    let mut context =
        Context { program, globals: Globals::default(), locations, diagnostics: Vec::new() };
    let functions = declare(&mut context, module);
    variable::initialize_globals(&mut context, module);
    for (function, id) in functions {
        function::lower(&mut context, function, id);
    }
    recursion::refuse(&mut context.program, &mut context.diagnostics);
    let Context { mut program, mut diagnostics, .. } = context;
    ir::find_waits(&mut program);
    ir::find_updates(&mut program);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    ir::assert_valid(&program);
    Lowered { program, diagnostics }
}

/// Gives every function and variable of the module its number; returns the functions.
fn declare<'m, 'a>(
    context: &mut Context<'a>,
    module: &'m Module<'a>,
) -> Vec<(&'m Function<'a>, FuncId)> {
    let mut functions = Vec::new();
    for item in &module.items {
        match item {
            Item::Variable(variable) => variable::declare_global(context, variable),
            Item::Function(function) => {
                if let Some(id) = declare_function(context, function) {
                    functions.push((&**function, id));
                }
            }
            Item::AddressSize(size) => check_address_size(context, size),
            Item::Target(names) => check_target(context, names),
            Item::Version(version) => check_version(context, version),
            Item::Alias(..)
            | Item::File(_)
            | Item::Section(_)
            | Item::Dwarf(_)
            | Item::Pragma(_)
            | Item::Loc(_) => {}
        }
    }
    // An alias may come before its function.
    for item in &module.items {
        if let Item::Alias(alias, target) = item {
            declare_alias(context, *alias, *target);
        }
    }
    functions
}

/// Declares a function; `None` if it is a second body for the same name.
fn declare_function<'a>(context: &mut Context<'a>, function: &Function<'a>) -> Option<FuncId> {
    if let Some(unknown) = variable::unknown_attribute(&function.attributes) {
        let message = format!("attribute `.{}` is not supported", unknown.text);
        let code = Code::UnsupportedDirective;
        context.diagnostics.push(Diagnostic::unsupported(code, unknown.span(), message));
    }
    if let Some(&id) = context.globals.functions.get(function.name.text) {
        let earlier = &context.program.functions[id];
        if function.body.is_some() && !context.globals.defined.insert(id) {
            let message = format!("`{}` is defined twice", function.name.text);
            let clash = Diagnostic::error(Code::Name, function.name.span(), message);
            context.diagnostics.push(clash.also(earlier.span, "first defined here"));
            return None;
        }
        // A prototype before the definition: the definition's parameter names are the valid ones.
        if function.body.is_some() {
            let (params, returns) = function::parameters(context, function, id);
            let known = &mut context.program.functions[id];
            (known.params, known.returns, known.span) = (params, returns, function.at.0);
        }
        return Some(id);
    }
    let id = context.program.functions.push(ir::Function {
        name: function.name.text.to_owned(),
        is_kernel: function.kind == FunctionKind::Entry,
        params: Vec::new(),
        returns: Vec::new(),
        launch: ir::Launch::default(),
        registers: base::IndexVec::new(),
        blocks: base::IndexVec::new(),
        span: function.at.0,
    });
    context.globals.functions.insert(function.name.text, id);
    if function.body.is_some() {
        context.globals.defined.insert(id);
    }
    let (params, returns) = function::parameters(context, function, id);
    let known = &mut context.program.functions[id];
    (known.params, known.returns) = (params, returns);
    Some(id)
}

fn declare_alias<'a>(context: &mut Context<'a>, alias: Name<'a>, target: Name<'a>) {
    match context.globals.functions.get(target.text).copied() {
        Some(id) => {
            context.globals.functions.insert(alias.text, id);
        }
        None => {
            let message = format!("`{}` is not declared", target.text);
            context.diagnostics.push(Diagnostic::error(Code::Name, target.span(), message));
        }
    }
}

/// Refuses `map_f64_to_f32`, the only target option that changes the meaning of instructions.
fn check_target(context: &mut Context<'_>, names: &[Name<'_>]) {
    for name in names.iter().filter(|name| name.text == "map_f64_to_f32") {
        let message = "`map_f64_to_f32` is not supported";
        let refusal = Diagnostic::unsupported(Code::UnsupportedDirective, name.span(), message);
        context.diagnostics.push(refusal);
    }
}

fn check_address_size(context: &mut Context<'_>, size: &Number<'_>) {
    if size.value != Value::Signed(64) {
        let message = "only 64-bit addresses are supported";
        let refusal = Diagnostic::unsupported(Code::UnsupportedDirective, size.at.0, message);
        context.diagnostics.push(refusal);
    }
}

/// Requires a version such as `8.7`: a major number of one or two digits and a minor one of one digit. Additions of
/// newer versions are refused where they are used.
fn check_version(context: &mut Context<'_>, version: &Number<'_>) {
    let is_version = version.text.split_once('.').is_some_and(|(major, minor)| {
        let are_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        (1..=2).contains(&major.len()) && minor.len() == 1 && are_digits(major) && are_digits(minor)
    });
    if !is_version {
        let message = format!("`{}` is not a version of PTX", version.text);
        let error = Diagnostic::error(Code::Syntax, version.at.0, message);
        context.diagnostics.push(error.help("a version has two numbers, such as `8.7`"));
    }
}

/// Returns the error for a name declared twice in one scope.
fn declared_twice(name: Name<'_>, earlier: Span) -> Diagnostic {
    let message = format!("`{}` is declared twice in this scope", name.text);
    Diagnostic::error(Code::Name, name.span(), message).also(earlier, "first declared here")
}
