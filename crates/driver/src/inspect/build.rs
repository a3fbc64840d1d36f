//! Collects the facts of an [`Inspection`].

use super::{
    Barrier, Body, Call, DeviceFunction, Inspection, Kernel, LaunchFacts, ModuleVariable,
    Parameter, PointerUse, SCHEMA, Shared, SharedArray, TensorMapUse,
};
use crate::demangle::demangle;
use crate::diagnostics::JsonDiagnostic;
use crate::pointers::{self, ParameterUse};
use base::{Diagnostic, SourceFile};
use ir::{BarrierKind, FuncId, Op, Operand, Param, Program, Space, SyncOp, Variable};
use ptx::Lowered;
use ptx::syntax::Value;
use ptx::syntax::ast::{self, Instruction, Item, Module, Statement};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

pub(super) fn inspection(
    module: &Module<'_>,
    lowered: &Lowered,
    source: &SourceFile,
) -> Inspection {
    let mut inspection = Inspection {
        schema: SCHEMA,
        file: source.name().to_owned(),
        ptx_version: String::new(),
        target: Vec::new(),
        address_size: None,
        kernels: Vec::new(),
        functions: Vec::new(),
        variables: Vec::new(),
        unsupported: Vec::new(),
    };
    head(module, &mut inspection);
    let functions = lowered.program.functions.enumerate();
    let mut shared: FxHashMap<Option<FuncId>, Vec<&Variable>> = FxHashMap::default();
    let mut local_bytes: FxHashMap<FuncId, u64> = FxHashMap::default();
    for variable in &lowered.program.variables {
        match (variable.space, variable.owner) {
            (Space::Shared, owner) => shared.entry(owner).or_default().push(variable),
            (Space::Local, Some(owner)) => {
                let bytes = local_bytes.entry(owner).or_default();
                *bytes = bytes.saturating_add(variable.size.unwrap_or(0));
            }
            _ => {}
        }
    }
    let facts = Facts {
        program: &lowered.program,
        functions: functions.map(|(id, function)| (function.name.as_str(), id)).collect(),
        source,
        shared,
        local_bytes,
        diagnostics: &lowered.diagnostics,
    };
    let mut reported = vec![false; lowered.diagnostics.len()];
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        facts.function(function, &mut inspection, &mut reported);
    }
    inspection.variables = facts.module_variables();
    let rest = lowered.diagnostics.iter().zip(reported).filter(|(_, reported)| !reported);
    inspection.unsupported =
        rest.map(|(diagnostic, _)| JsonDiagnostic::new(diagnostic, source)).collect();
    inspection
}

fn head(module: &Module<'_>, inspection: &mut Inspection) {
    for item in &module.items {
        match item {
            Item::Version(version) => inspection.ptx_version = version.text.to_owned(),
            Item::Target(names) => {
                inspection.target = names.iter().map(|name| name.text.to_owned()).collect();
            }
            Item::AddressSize(size) => {
                if let Value::Signed(size) = size.value {
                    inspection.address_size = Some(size.unsigned_abs());
                }
            }
            _ => {}
        }
    }
}

/// The sources of facts.
struct Facts<'f> {
    program: &'f Program,
    functions: FxHashMap<&'f str, FuncId>,
    source: &'f SourceFile,
    /// Shared variables by the function they belong to.
    shared: FxHashMap<Option<FuncId>, Vec<&'f Variable>>,
    /// Bytes of local variables of each function.
    local_bytes: FxHashMap<FuncId, u64>,
    /// The diagnostics, in the order of the text.
    diagnostics: &'f [Diagnostic],
}

impl Facts<'_> {
    fn function(
        &self,
        function: &ast::Function<'_>,
        inspection: &mut Inspection,
        reported: &mut [bool],
    ) {
        let name = function.name.text;
        let Some(&id) = self.functions.get(name) else { return };
        let lowered = &self.program.functions[id];
        // A prototype of a function defined elsewhere in the file adds nothing.
        if function.body.is_none() && lowered.is_defined() {
            return;
        }
        let body = self.body(function, id, reported);
        let (name, line) = (name.to_owned(), self.source.line(function.at.0.start));
        let demangled = demangle(&name);
        if !lowered.is_kernel {
            let defined = lowered.is_defined();
            inspection.functions.push(DeviceFunction { name, demangled, line, defined, body });
            return;
        }
        inspection.kernels.push(Kernel {
            name,
            demangled,
            line,
            source_files: self.source_files(lowered),
            parameters: self.parameters(lowered),
            launch: launch_facts(lowered.launch),
            body,
        });
    }

    fn body(&self, function: &ast::Function<'_>, id: FuncId, reported: &mut [bool]) -> Body {
        let mut body = Body::default();
        let Some(block) = &function.body else { return body };
        let mut mentioned = FxHashSet::default();
        count(block, &mut body, &mut mentioned);
        let lowered = &self.program.functions[id];
        body.shared = self.shared(id, &mentioned);
        body.local_bytes = self.local_bytes.get(&id).copied().unwrap_or(0);
        body.barriers = self.barriers(lowered);
        let calls: BTreeSet<FuncId> = lowered
            .instructions()
            .filter_map(|instruction| match instruction.op {
                Op::Call { callee, .. } => Some(callee),
                _ => None,
            })
            .collect();
        let callee = |&id: &FuncId| {
            let function = &self.program.functions[id];
            Call { name: function.name.clone(), defined: function.is_defined() }
        };
        body.calls = calls.iter().map(callee).collect();
        let position = |offset: u32| {
            self.diagnostics.partition_point(|diagnostic| diagnostic.primary.span.start < offset)
        };
        let inside = position(function.at.0.start)..position(block.at.0.end);
        reported[inside.clone()].fill(true);
        let inside = self.diagnostics[inside].iter();
        body.unsupported =
            inside.map(|diagnostic| JsonDiagnostic::new(diagnostic, self.source)).collect();
        body
    }

    fn source_files(&self, function: &ir::Function) -> Vec<String> {
        let locations = function.instructions().filter_map(|instruction| instruction.location);
        let files: BTreeSet<_> = locations
            .filter_map(|location| self.program.locations[location].file)
            .map(|file| self.program.files[file].clone())
            .collect();
        files.into_iter().collect()
    }

    fn parameters(&self, function: &ir::Function) -> Vec<Parameter> {
        let uses = pointers::uses(self.program, function);
        let maps = pointers::map_uses(self.program, function);
        let params = function.params.iter().enumerate();
        params
            .filter_map(|(index, param)| match param {
                Param::Variable(variable) => Some((index, &self.program.variables[*variable])),
                Param::Register(..) => None,
            })
            .map(|(index, variable)| Parameter {
                index,
                name: variable.name.clone(),
                ty: type_of(variable),
                size: variable.size,
                align: variable.align,
                pointer: pointer_use(variable, uses.get(&index)),
                tensor_map: maps.get(&index).map(|map| TensorMapUse {
                    rank: map.rank,
                    mode: if map.im2col { "im2col" } else { "tile" },
                    written: map.written,
                }),
            })
            .collect()
    }

    /// The shared variables that a function declares, and those of the module that it mentions, even in unsupported
    /// instructions.
    fn shared(&self, id: FuncId, mentioned: &FxHashSet<&str>) -> Shared {
        let mut shared = Shared::default();
        let of_function = self.shared.get(&Some(id)).into_iter().flatten();
        let module = self.shared.get(&None).into_iter().flatten();
        let module = module.filter(|variable| mentioned.contains(variable.name.as_str()));
        for variable in of_function.chain(module) {
            let name = variable.name.clone();
            match variable.size.filter(|_| !variable.external) {
                Some(bytes) => {
                    shared.static_bytes = shared.static_bytes.saturating_add(bytes);
                    shared.arrays.push(SharedArray { name, bytes, align: variable.align });
                }
                None => shared.dynamic.push(name),
            }
        }
        shared
    }

    fn barriers(&self, function: &ir::Function) -> Vec<Barrier> {
        let mut barriers: Vec<Barrier> = Vec::new();
        let mut known: FxHashMap<(&str, Option<u64>, String, bool), usize> = FxHashMap::default();
        for instruction in function.instructions() {
            let Op::Sync(SyncOp::Barrier { kind, id, count, aligned }) = &instruction.op else {
                continue;
            };
            let kind = match kind {
                BarrierKind::Sync => "sync",
                BarrierKind::Arrive => "arrive",
                BarrierKind::Popc { .. } => "red.popc",
                BarrierKind::And { .. } => "red.and",
                BarrierKind::Or { .. } => "red.or",
            };
            let id = match id {
                Operand::Constant(id) => Some(*id),
                Operand::Register(_) => None,
            };
            let threads = match count {
                None => "all".to_owned(),
                Some(Operand::Constant(count)) => count.to_string(),
                Some(Operand::Register(_)) => "register".to_owned(),
            };
            let line = self.source.line(instruction.span.start);
            let aligned = *aligned;
            let position =
                *known.entry((kind, id, threads.clone(), aligned)).or_insert_with(|| {
                    barriers.push(Barrier { kind, id, threads, aligned, lines: Vec::new() });
                    barriers.len() - 1
                });
            barriers[position].lines.push(line);
        }
        barriers
    }

    fn module_variables(&self) -> Vec<ModuleVariable> {
        let variables = self.program.variables.iter().filter(|variable| variable.owner.is_none());
        variables
            .map(|variable| ModuleVariable {
                name: variable.name.clone(),
                space: space_name(variable.space),
                ty: type_of(variable),
                size: variable.size,
                align: variable.align,
                external: variable.external,
                initialised: !variable.initial.is_empty(),
            })
            .collect()
    }
}

/// Counts instructions of a block and the blocks in it, and collects the names they mention.
fn count<'a>(block: &ast::Block<'a>, body: &mut Body, mentioned: &mut FxHashSet<&'a str>) {
    for statement in &block.statements {
        match statement {
            Statement::Block(inner) => count(inner, body, mentioned),
            Statement::Instruction(instruction) => {
                body.instructions += 1;
                let family = ptx::isa::family_of(instruction);
                let kind = family.map_or("unknown", |family| family.name);
                *body.instructions_by_kind.entry(kind).or_default() += 1;
                if family.is_some_and(|family| family.synchronizes) {
                    *body.synchronisation.entry(mnemonic(instruction)).or_default() += 1;
                }
                instruction.operands.iter().for_each(|operand| names(operand, mentioned));
            }
            _ => {}
        }
    }
}

/// The names in an operand.
fn names<'a>(operand: &ast::Operand<'a>, found: &mut FxHashSet<&'a str>) {
    match operand {
        ast::Operand::Expr(expr) => expr_names(expr, found),
        ast::Operand::Vector(parts) | ast::Operand::List(parts) | ast::Operand::Address(parts) => {
            parts.iter().for_each(|part| names(part, found));
        }
        ast::Operand::Pair(sides) => {
            names(&sides.0, found);
            names(&sides.1, found);
        }
        ast::Operand::Qualified(inner, _) => names(inner, found),
        ast::Operand::Element(array, _) => {
            found.insert(array.text);
        }
        ast::Operand::Component(..) | ast::Operand::Sink(_) => {}
    }
}

fn expr_names<'a>(expr: &ast::Expr<'a>, found: &mut FxHashSet<&'a str>) {
    match expr {
        ast::Expr::Name(name) => {
            found.insert(name.text);
        }
        ast::Expr::Binary(_, sides) => {
            expr_names(&sides.0, found);
            expr_names(&sides.1, found);
        }
        ast::Expr::Parenthesized(inner) | ast::Expr::Generic(inner) => expr_names(inner, found),
        _ => {}
    }
}

fn mnemonic(instruction: &Instruction<'_>) -> String {
    let mut text = instruction.opcode.text.to_owned();
    for modifier in &instruction.modifiers {
        text.push('.');
        text.push_str(modifier.text);
    }
    text
}

fn launch_facts(launch: ir::Launch) -> LaunchFacts {
    LaunchFacts {
        reqntid: launch.required_block,
        maxntid: launch.max_block,
        minnctapersm: launch.min_blocks_per_sm,
        maxnreg: launch.max_registers,
        reqnctapercluster: launch.required_cluster,
        maxclusterrank: launch.max_cluster_rank,
        explicitcluster: launch.explicit_cluster,
        blocksareclusters: launch.blocks_are_clusters,
    }
}

fn pointer_use(variable: &Variable, found: Option<&ParameterUse>) -> Option<PointerUse> {
    if variable.pointee.is_none() && found.is_none() {
        return None;
    }
    let declared = variable.pointee.and_then(|(space, _)| space);
    let used = found.map(|found| found.spaces.as_slice()).unwrap_or_default();
    let space = match (declared, used) {
        (Some(space), _) => space_name(space),
        (None, [space]) => space_name(*space),
        (None, _) => "generic",
    };
    let mut widths = found.iter().flat_map(|found| found.widths.iter().copied());
    let element_bits = widths.next().filter(|_| widths.next().is_none());
    Some(PointerUse {
        space,
        align: variable.pointee.map(|(_, align)| align),
        read: found.is_some_and(|found| found.read),
        written: found.is_some_and(|found| found.written),
        element_bits,
    })
}

fn type_of(variable: &Variable) -> String {
    let mut text = variable.element.clone();
    for size in &variable.dimensions {
        match size {
            Some(size) => text.push_str(&format!("[{size}]")),
            None => text.push_str("[]"),
        }
    }
    text
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Shared | Space::SharedCluster => "shared",
        Space::Local => "local",
        Space::Const => "const",
        Space::ParamEntry | Space::ParamFunc => "param",
    }
}
