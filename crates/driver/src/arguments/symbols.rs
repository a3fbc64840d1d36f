//! Contents of module variables at the launch.
//!
//! The module gives initial contents, and the host may change them before the launch (`cudaMemcpyToSymbol`). The
//! user's `--symbol` takes precedence. Otherwise a variable with an initialiser, or a writable one, holds the
//! module's contents; a report lists this as assumed if the kernel reads them. A constant without an initialiser
//! makes no sense unless the host writes it, so it may hold anything.

use super::build::Builder;
use super::limits::mentioned;
use super::misfit::SymbolError;
use super::{ArgumentSpec, ArgumentValue, Direction, ElementType, MissingData, Request, closest};
use super::{TensorSpec, VariableSpec, contents as tensor_contents};
use crate::demangle::demangle;
use exec::{Contents, VariableContents};
use ir::{Program, Space, VarId, Variable};
use std::collections::BTreeMap;

/// Contents of module variables, with messages about them.
#[derive(Default)]
struct Symbols {
    contents: Vec<(VarId, Contents)>,
    /// Constants with any contents of a type. Each is a tensor, like those of arguments.
    tensors: Vec<(VarId, String, TensorSpec)>,
    /// Variables that the kernel mentions or the user gives.
    variables: Vec<VariableSpec>,
    notes: Vec<String>,
    errors: Vec<String>,
    /// Symbols that the user must add.
    missing: Vec<String>,
}

impl Builder<'_> {
    /// Computes contents of module variables, and makes buffers for those that are tensors.
    pub(super) fn symbols(&mut self) -> (Vec<(VarId, VariableContents)>, Vec<VariableSpec>) {
        let Symbols { contents, tensors, variables, notes, errors, missing } =
            contents(self.request);
        self.notes.extend(notes);
        errors.into_iter().for_each(|message| self.error(message));
        missing.into_iter().for_each(|message| self.missing(message));
        let mut held: Vec<_> = contents
            .into_iter()
            .map(|(id, contents)| (id, VariableContents::Contents(contents)))
            .collect();
        for (id, name, tensor) in tensors {
            if self.buffers.has(&name) {
                self.error(format!("--symbol {name}: an argument also has that name"));
                continue;
            }
            match self.buffers.tensor(&name, &tensor) {
                Ok(buffer) => held.push((id, VariableContents::Buffer(buffer))),
                Err(why) => self.error(why.to_string()),
            }
        }
        (held, variables)
    }
}

/// Contents of the module variables of a request that differ from the module's.
fn contents(request: &Request<'_>) -> Symbols {
    let Request { program, kernel, arguments, missing_data, .. } = *request;
    let mut symbols = Symbols::default();
    let mut given: BTreeMap<VarId, Contents> = BTreeMap::new();
    let mentioned = mentioned(program, kernel);
    for spec in &arguments.symbols {
        match symbol_contents(program, spec, missing_data) {
            Ok((id, _)) if given.contains_key(&id) => {
                symbols.errors.push(format!("--symbol {spec}: it is given twice"));
            }
            Ok((id, contents)) => {
                let is_mentioned = mentioned.contains(&id);
                let mut variable = variable(program, id, is_mentioned);
                if let (Contents::Opaque(_), Some(tensor)) =
                    (&contents, constant(program, id, spec))
                {
                    variable.is_input = true;
                    if is_mentioned {
                        symbols.tensors.push((id, variable.name.clone(), tensor));
                    }
                }
                variable.is_given = true;
                symbols.variables.push(variable);
                given.insert(id, contents);
            }
            Err(reason) => symbols.errors.push(format!("--symbol {spec}: {reason}")),
        }
    }
    for id in mentioned.into_iter().filter(|id| is_of_module(&program.variables[*id])) {
        if given.contains_key(&id) {
            continue;
        }
        symbols.variables.push(variable(program, id, true));
        let variable = &program.variables[id];
        if !is_open(variable) {
            continue;
        }
        let name = demangled_name(variable);
        match missing_data {
            MissingData::Opaque => {
                symbols.notes.push(format!(
                    "module variable `{name}` has no initialiser: any contents; --symbol \
                     {name}=… gives them"
                ));
                given.insert(id, Contents::Opaque(variable.size.unwrap_or(0)));
            }
            MissingData::Refused => symbols.missing.push(format!(
                "module variable `{name}` has no initialiser and needs data: --symbol \
                 {name}=f32[4]=@{name}.npy"
            )),
        }
    }
    symbols.tensors.iter().for_each(|(id, ..)| _ = given.remove(id));
    symbols.contents = given.into_iter().collect();
    symbols
}

/// Returns a constant as a tensor, if the user stated the type of its elements. A variable that kernels may write is
/// not accepted: its final contents would be a result, and they are not compared.
fn constant(program: &Program, id: VarId, spec: &ArgumentSpec) -> Option<TensorSpec> {
    let is_constant = program.variables[id].space == Space::Const;
    let tensor = match &spec.value {
        ArgumentValue::Tensor(tensor) if tensor.shape.is_some() => tensor.clone(),
        ArgumentValue::Scalar { element, value: None } => TensorSpec {
            element: *element,
            shape: Some(vec![1]),
            strides: None,
            direction: Direction::In,
            range: None,
            is_distinct: false,
            structure: None,
            initial: None,
        },
        _ => return None,
    };
    is_constant.then_some(tensor)
}

/// Names of the kernel's module variables that need contents and have none.
pub(super) fn open_symbols(request: &Request<'_>) -> Vec<String> {
    let Request { program, kernel, arguments, .. } = *request;
    let is_given = |variable: &Variable| {
        let names = [variable.name.clone(), demangled_name(variable)];
        arguments.symbols.iter().any(|spec| names.contains(&spec.name))
    };
    let mentioned = mentioned(program, kernel).into_iter().map(|id| &program.variables[id]);
    mentioned.filter(|v| is_open(v) && !is_given(v)).map(demangled_name).collect()
}

/// Returns `true` if the module gives a variable no contents, so that only the host can.
fn is_open(variable: &Variable) -> bool {
    let empty = variable.initial.is_empty() && variable.relocations.is_empty();
    let constant = variable.space == Space::Const && empty;
    constant || variable.external && matches!(variable.space, Space::Global | Space::Const)
}

/// Returns a variable without given contents.
fn variable(program: &Program, id: VarId, is_mentioned: bool) -> VariableSpec {
    let name = canonical(program, id);
    VariableSpec { id, name, is_given: false, is_input: false, is_mentioned }
}

/// Returns the name of a variable in inputs and comparisons, however the user spelt it.
fn canonical(program: &Program, id: VarId) -> String {
    let variable = &program.variables[id];
    let name = demangled_name(variable);
    let others = program.variables.enumerate().filter(|(other, _)| *other != id);
    let is_taken = others
        .filter(|(_, other)| is_of_module(other))
        .any(|(_, other)| other.name == name || demangled_name(other) == name);
    if is_taken { variable.name.clone() } else { name }
}

fn is_of_module(variable: &Variable) -> bool {
    matches!(variable.space, Space::Global | Space::Const)
}

/// The name as the programmer wrote it.
fn demangled_name(variable: &Variable) -> String {
    demangle(&variable.name).unwrap_or_else(|| variable.name.clone())
}

fn symbol_contents(
    program: &Program,
    spec: &ArgumentSpec,
    missing_data: MissingData,
) -> Result<(VarId, Contents), SymbolError> {
    let (id, variable) = find_variable(program, &spec.name)?;
    let size = variable.size;
    let contents = match &spec.value {
        ArgumentValue::Missing => Contents::Opaque(size.unwrap_or(0)),
        ArgumentValue::Number(number) => {
            let element = scalar_type(variable)?;
            let mut bytes = Vec::new();
            element.encode(number, &mut bytes)?;
            Contents::Known(bytes)
        }
        ArgumentValue::Scalar { element, value: Some(number) } => {
            let mut bytes = Vec::new();
            element.encode(number, &mut bytes)?;
            Contents::Known(bytes)
        }
        ArgumentValue::Scalar { element, value: None } => Contents::Opaque(element.bytes().into()),
        ArgumentValue::Tensor(tensor) => tensor_of(variable, tensor)?,
        ArgumentValue::Structure(_)
        | ArgumentValue::Pointers(_)
        | ArgumentValue::Recorded(_)
        | ArgumentValue::Related(_)
        | ArgumentValue::TensorMap(_)
        | ArgumentValue::TensorMaps(_) => {
            return Err(SymbolError::NotContents);
        }
    };
    if let Some(size) = size.filter(|&size| size != contents.size()) {
        return Err(SymbolError::Size { size, given: contents.size() });
    }
    if missing_data == MissingData::Refused && !matches!(contents, Contents::Known(_)) {
        return Err(SymbolError::NeedsData);
    }
    Ok((id, contents))
}

fn tensor_of(variable: &Variable, tensor: &TensorSpec) -> Result<Contents, SymbolError> {
    if tensor.direction != Direction::In {
        return Err(SymbolError::Direction);
    }
    // An open constant becomes an input ([`constant`]), which has the structure. Other variables have no elements.
    let is_open = tensor.initial.is_none() && variable.space != Space::Const;
    if tensor.structure.is_some() && is_open {
        return Err(SymbolError::Structure);
    }
    if let Some(data) = tensor_contents::data(tensor)? {
        return Ok(Contents::Known(data.bytes));
    }
    let Some(shape) = &tensor.shape else {
        return Ok(Contents::Opaque(variable.size.unwrap_or(0)));
    };
    let extent = TensorSpec::extent(shape, tensor.strides.as_deref()).unwrap_or(u64::MAX);
    Ok(Contents::Opaque(extent.saturating_mul(tensor.element.bytes().into())))
}

/// The type of a variable that holds one number.
fn scalar_type(variable: &Variable) -> Result<ElementType, SymbolError> {
    let element = match variable.element.as_str() {
        "b8" => Some(ElementType::U8),
        "b16" => Some(ElementType::U16),
        "b32" => Some(ElementType::U32),
        "b64" => Some(ElementType::U64),
        name => ElementType::from_name(name),
    };
    match element.filter(|_| variable.dimensions.is_empty()) {
        Some(element) => Ok(element),
        None => Err(SymbolError::Array),
    }
}

/// Finds a module variable by its name, mangled or not.
fn find_variable<'p>(
    program: &'p Program,
    name: &str,
) -> Result<(VarId, &'p Variable), SymbolError> {
    let module = || program.variables.enumerate().filter(|(_, variable)| is_of_module(variable));
    let found = module().find(|(_, variable)| variable.name == name);
    let found = found.or_else(|| module().find(|(_, variable)| demangled_name(variable) == name));
    found.ok_or_else(|| {
        let names: Vec<String> = module().map(|(_, variable)| demangled_name(variable)).collect();
        match closest(name, names.iter().map(String::as_str)) {
            Some(close) => SymbolError::Misspelt { meant: close.to_owned() },
            None => SymbolError::Unknown,
        }
    })
}
