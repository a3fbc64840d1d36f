//! Facts about a kernel's parameters in the PTX.

use super::declared::is_pointer;
use super::{DeclaredParameter, ElementType};
use crate::pointers::{self, MapUse, ParameterUse};
use ir::{Access, AddressBase, FuncId, Op, Param, Program, Symbol, VarId, Variable};
use std::collections::BTreeMap;

/// A parameter of a kernel.
pub(super) struct Parameter<'p> {
    /// Position, from 0.
    pub(super) index: usize,
    pub(super) variable: &'p Variable,
    /// Its name in the source, or in the PTX without the prefix that compilers add, the kernel's name.
    pub(super) name: &'p str,
    /// Set if this is certainly its name.
    pub(super) is_certain: bool,
    /// Its type in the source, if known.
    pub(super) ty: Option<&'p str>,
    pub(super) bytes: u64,
    pub(super) kind: Kind,
    /// The kernel reads it.
    pub(super) used: bool,
    /// The kernel's use of it as a pointer, as far as the text shows.
    pub(super) pointer: Option<ParameterUse>,
    /// The kernel's use of it as a tensor map, as far as the text shows.
    pub(super) map: Option<MapUse>,
    /// Offsets at which the kernel loads from it, with the bytes of each load.
    pub(super) loads: BTreeMap<u64, u64>,
}

/// The type of a parameter, by declaration and use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An address; `declared` if the PTX says so, else inferred from its use, which may err.
    Pointer { declared: bool },
    /// A float.
    Float(ElementType),
    /// An integer.
    Integer,
    /// Bits of either; newer compilers declare all scalars like this.
    Bits,
    /// An array of bytes.
    Structure,
}

impl Parameter<'_> {
    /// The parameter's type as declared.
    pub(super) fn declared_type(&self) -> String {
        let element = &self.variable.element;
        match self.kind {
            Kind::Structure => format!("{element}[{}]", self.bytes),
            Kind::Pointer { .. } | Kind::Float(_) | Kind::Integer | Kind::Bits => element.clone(),
        }
    }
}

/// The parameters of a kernel, in order. The declared list is used if it fits.
pub(super) fn parameters<'p>(
    program: &'p Program,
    kernel: FuncId,
    declared: &'p [DeclaredParameter],
) -> Vec<Parameter<'p>> {
    let function = &program.functions[kernel];
    let mut uses = pointers::uses(program, function);
    let maps = pointers::map_uses(program, function);
    let prefix = format!("{}_", function.name);
    let variables = function.params.iter().enumerate().filter_map(|(index, param)| match param {
        Param::Variable(variable) => Some((index, *variable)),
        // Only device functions have parameters in registers.
        Param::Register(..) => None,
    });
    let declared = if may_be_declared_list(program, function, declared) { declared } else { &[] };
    variables
        .map(|(index, id)| {
            let variable = &program.variables[id];
            let pointer = uses.remove(&index);
            let ptx_name = variable.name.strip_prefix(&prefix).unwrap_or(&variable.name);
            let written = declared.get(index);
            let name = written.map_or("", |one| &one.name);
            Parameter {
                index,
                variable,
                name: if name.is_empty() { ptx_name } else { name },
                is_certain: written.is_none_or(|one| one.name.is_empty() || one.is_certain),
                ty: written.map(|one| one.ty.as_str()),
                bytes: variable.size.unwrap_or(0),
                kind: kind(variable, pointer.is_some()),
                used: is_mentioned(function, id),
                pointer,
                map: maps.get(&index).copied(),
                loads: loads(function, id),
            }
        })
        .collect()
}

/// Returns `true` if a list of declared parameters may be that of a kernel: it has the same length, and each pointer in
/// it has eight bytes in the PTX.
fn may_be_declared_list(
    program: &Program,
    function: &ir::Function,
    declared: &[DeclaredParameter],
) -> bool {
    let size = |param: &Param| match param {
        Param::Variable(id) => program.variables[*id].size,
        Param::Register(..) => None,
    };
    let agrees =
        |(param, one): (&Param, &DeclaredParameter)| !is_pointer(&one.ty) || size(param) == Some(8);
    declared.len() == function.params.len() && function.params.iter().zip(declared).all(agrees)
}

fn kind(variable: &Variable, is_dereferenced: bool) -> Kind {
    if !variable.dimensions.is_empty() {
        return Kind::Structure;
    }
    if variable.pointee.is_some() {
        return Kind::Pointer { declared: true };
    }
    if is_dereferenced {
        return Kind::Pointer { declared: false };
    }
    match variable.element.as_str() {
        "f64" => Kind::Float(ElementType::F64),
        "f32" => Kind::Float(ElementType::F32),
        "f16" => Kind::Float(ElementType::F16),
        "bf16" => Kind::Float(ElementType::Bf16),
        integer if integer.starts_with(['u', 's']) => Kind::Integer,
        _ => Kind::Bits,
    }
}

fn is_mentioned(function: &ir::Function, variable: VarId) -> bool {
    let mut mentioned = false;
    for instruction in function.instructions() {
        instruction.op.visit(&mut |access| {
            mentioned |= match access {
                Access::Address(address) => address.base == AddressBase::Variable(variable),
                Access::Symbol(symbol, _) => symbol == Symbol::Variable(variable),
                Access::Argument(argument) => argument == variable,
                Access::Write(_) | Access::Sink | Access::Read(_) => false,
            };
        });
        // It is unknown which operands an unsupported instruction reads.
        mentioned |= matches!(instruction.op, Op::Unsupported { .. });
    }
    mentioned
}

/// Loads from the parameter by offset. If loads of several sizes start at one offset, the smallest counts.
fn loads(function: &ir::Function, variable: VarId) -> BTreeMap<u64, u64> {
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    for instruction in function.instructions() {
        let Op::Load(load) = &instruction.op else { continue };
        if load.address.base != AddressBase::Variable(variable) {
            continue;
        }
        let bytes = u64::from(load.width.bytes());
        let Ok(mut offset) = u64::try_from(load.address.offset) else { continue };
        for _ in &load.dsts {
            let known = found.entry(offset).or_insert(bytes);
            *known = bytes.min(*known);
            offset = offset.saturating_add(bytes);
        }
    }
    found
}
