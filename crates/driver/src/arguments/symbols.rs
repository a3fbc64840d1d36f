//! What module variables hold at the launch.
//!
//! The module says it, and the host may change it before the launch (`cudaMemcpyToSymbol`). What the
//! user says with `--symbol` counts. Of the rest, a variable with an initialiser and a writable one
//! hold what the module says, which a report lists as assumed if the kernel reads them. A constant
//! without an initialiser makes no sense unless the host writes it: it may hold anything.

use super::limits::mentioned;
use super::misfit::SymbolError;
use super::{ArgumentSpec, ArgumentValue, Direction, ElementType, MissingData, Request, closest};
use super::{TensorSpec, contents as tensor_contents};
use crate::demangle::demangle;
use exec::Contents;
use ir::{Program, Space, VarId, Variable};
use std::collections::BTreeMap;

/// What module variables hold, and what there is to say about it.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) contents: Vec<(VarId, Contents)>,
    /// Constants with any contents of a type: each is a tensor like those of arguments.
    pub(super) tensors: Vec<(VarId, String, TensorSpec)>,
    pub(super) notes: Vec<String>,
    pub(super) errors: Vec<String>,
    /// What must be added.
    pub(super) missing: Vec<String>,
}

/// Contents of the module variables of a request that do not hold what the module says.
pub(super) fn contents(request: &Request<'_>) -> Symbols {
    let Request { program, kernel, arguments, missing_data, .. } = *request;
    let mut symbols = Symbols::default();
    let mut given: BTreeMap<VarId, Contents> = BTreeMap::new();
    let mentioned = mentioned(program, kernel);
    for spec in &arguments.symbols {
        match one(program, spec, missing_data) {
            Ok((id, _)) if given.contains_key(&id) => {
                symbols.errors.push(format!("--symbol {spec}: it is given twice"));
            }
            Ok((id, contents)) => {
                if let (Contents::Opaque(_), true, Some(tensor)) =
                    (&contents, mentioned.contains(&id), constant(program, id, spec))
                {
                    symbols.tensors.push((id, spec.name.clone(), tensor));
                }
                given.insert(id, contents);
            }
            Err(reason) => symbols.errors.push(format!("--symbol {spec}: {reason}")),
        }
    }
    for id in mentioned {
        let variable = &program.variables[id];
        if given.contains_key(&id) || !is_open(variable) {
            continue;
        }
        let name = shown(variable);
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

/// Returns a constant as a tensor, if the user stated the type of its elements. A variable that kernels may write is not one: its final contents
/// would be a result, which is not compared.
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

/// Names of the module variables of a kernel that need contents and have none.
pub(super) fn open_symbols(request: &Request<'_>) -> Vec<String> {
    let Request { program, kernel, arguments, .. } = *request;
    let is_given = |variable: &Variable| {
        let names = [variable.name.clone(), shown(variable)];
        arguments.symbols.iter().any(|spec| names.contains(&spec.name))
    };
    let mentioned = mentioned(program, kernel).into_iter().map(|id| &program.variables[id]);
    mentioned.filter(|v| is_open(v) && !is_given(v)).map(shown).collect()
}

/// Whether only the host can have given it contents.
fn is_open(variable: &Variable) -> bool {
    let empty = variable.initial.is_empty() && variable.relocations.is_empty();
    let constant = variable.space == Space::Const && empty;
    constant || variable.external && matches!(variable.space, Space::Global | Space::Const)
}

/// The name as the programmer wrote it.
fn shown(variable: &Variable) -> String {
    demangle(&variable.name).unwrap_or_else(|| variable.name.clone())
}

fn one(
    program: &Program,
    spec: &ArgumentSpec,
    missing_data: MissingData,
) -> Result<(VarId, Contents), SymbolError> {
    let (id, variable) = find(program, &spec.name)?;
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
        | ArgumentValue::TensorMap(_) => {
            return Err(SymbolError::NoContents);
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
    // Of a constant it is that of the tensor which the constant is.
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

/// The type of a number for a variable that is one.
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

/// The module variable of a name, mangled or not.
fn find<'p>(program: &'p Program, name: &str) -> Result<(VarId, &'p Variable), SymbolError> {
    let module = || {
        let all = program.variables.enumerate();
        all.filter(|(_, variable)| matches!(variable.space, Space::Global | Space::Const))
    };
    let found = module().find(|(_, variable)| variable.name == name || shown(variable) == name);
    found.ok_or_else(|| {
        let names: Vec<String> = module().map(|(_, variable)| shown(variable)).collect();
        match closest(name, names.iter().map(String::as_str)) {
            Some(close) => SymbolError::Misspelt { meant: close.to_owned() },
            None => SymbolError::Unknown,
        }
    })
}
