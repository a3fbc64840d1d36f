//! Runs the compiler's PTX: translates a launch of our reading into a launch of the engine for PTX.

use super::bytes::{decode, encode};
use super::data::Discrepancy;
use super::error::{NotCompared, Skip};
use crate::demangle::demangle;
use crate::execute;
use exec::{Access, Argument, Buffer, Contents, Fault, VariableContents};
use interp::{self, CompiledResults, Launch, Value};
use ir::{FuncId, Param, Space};
use kir::{self, ArrayId, Part, Records, Scalar, Signature};
use std::collections::BTreeMap;

/// Instructions of one run, counted for each thread.
const INSTRUCTIONS: u64 = 16_000_000;
/// Dynamic shared memory if its size is not stated.
const MAX_SHARED: u64 = 48 << 10;

/// A compiled module.
pub(super) struct Program(ir::Program);

/// A kernel of the module.
pub(super) struct Kernel<'p> {
    program: &'p ir::Program,
    function: FuncId,
}

/// The result of a run.
pub(super) struct CompiledRun {
    /// A fault in it, if there is one.
    pub(super) fault: Option<String>,
    pub(super) arrays: BTreeMap<ArrayId, Vec<Value>>,
}

impl Program {
    /// Reads PTX.
    pub(super) fn read(ptx: &str) -> Result<Self, NotCompared> {
        let parsed = ptx::syntax::parse(ptx);
        let lowered = ptx::lower(&parsed.module);
        let is_error = |one: &&base::Diagnostic| one.severity == base::Severity::Error;
        match parsed.errors.iter().chain(lowered.diagnostics.iter().filter(is_error)).next() {
            Some(error) => Err(NotCompared::Ptx(error.message.to_string())),
            None => Ok(Self(lowered.program)),
        }
    }

    /// Finds a kernel by name.
    pub(super) fn kernel(&self, name: &str) -> Result<Kernel<'_>, NotCompared> {
        let mut functions = self.0.functions.enumerate();
        let found = functions.find(|(_, one)| one.is_kernel && one.name == name);
        let (function, _) = found.ok_or_else(|| NotCompared::NoKernel { name: name.to_owned() })?;
        Ok(Kernel { program: &self.0, function })
    }
}

#[cfg(test)]
impl Program {
    /// The first kernel of the module.
    pub(super) fn first_kernel(&self) -> Kernel<'_> {
        let mut functions = self.0.functions.enumerate();
        let (function, _) = functions.find(|(_, one)| one.is_kernel).expect("a kernel");
        Kernel { program: &self.0, function }
    }
}

impl Kernel<'_> {
    /// The number that a variable is initialised with.
    pub(super) fn probe(&self, name: &str) -> Result<i128, NotCompared> {
        let mut variables = self.program.variables.iter();
        let found = variables.find(|one| one.name == name && one.owner.is_none());
        let initial = &found.ok_or(NotCompared::UnknownMacro)?.initial;
        let scalar = Scalar::Int { bits: 64, signed: true };
        let value = decode(initial, scalar).number();
        value.ok_or(NotCompared::UnknownMacro)
    }

    /// Returns `true` if the kernel's own directives allow a launch.
    pub(super) fn accepts(&self, launch: &Launch) -> bool {
        let facts = self.program.functions[self.function].launch;
        let threads: i128 = launch.block.iter().product();
        let most = facts.max_block.map(|most| most.iter().map(|one| i128::from(*one)).product());
        facts.required_block.is_none_or(|block| block.map(i128::from) == launch.block)
            && most.is_none_or(|most: i128| threads <= most)
    }

    /// Finds a parameter with another size than we read.
    pub(super) fn parameters(
        &self,
        signature: &Signature,
    ) -> Result<Option<Discrepancy>, NotCompared> {
        let params = &self.program.functions[self.function].params;
        if params.len() != signature.parameters.len() {
            return Err(NotCompared::ParameterCount);
        }
        for (param, own) in params.iter().zip(&signature.parameters) {
            let Param::Variable(id) = param else {
                return Err(NotCompared::Register);
            };
            let compiled = self.program.variables[*id].size.unwrap_or(0);
            let (name, read) = (own.name.clone(), own.bytes);
            match (compiled == read, &own.parts[..]) {
                (true, _) => {}
                (false, [(0, _)]) => {
                    return Ok(Some(Discrepancy::Parameter { name, compiled, read }));
                }
                (false, _) => return Err(NotCompared::Layout { name }),
            }
        }
        Ok(None)
    }

    /// Runs a launch on given contents.
    pub(super) fn run(
        &self,
        kernel: &kir::Kernel,
        signature: &Signature,
        launch: &Launch,
        left: &CompiledResults,
    ) -> Result<CompiledRun, Skip> {
        let mut maker = Maker { kernel, launch, left, buffers: Vec::new(), records: Vec::new() };
        let mut arguments = Vec::new();
        for parameter in &signature.parameters {
            let mut parts = Vec::new();
            for (offset, part) in &parameter.parts {
                parts.push((*offset, maker.argument(part)));
            }
            arguments.push(match (&parameter.parts[..], parts.pop()) {
                ([(0, _)], Some((_, only))) => only,
                (_, last) => Argument::Struct(parts.into_iter().chain(last).collect()),
            });
        }
        let symbols = self.symbols(signature, &maker)?;
        let sizes = |sizes: [i128; 3]| sizes.map(|one| u32::try_from(one).unwrap_or(1));
        let compiled = exec::Launch {
            kernel: self.function,
            grid: sizes(launch.grid),
            block: sizes(launch.block),
            cluster: None,
            dynamic_shared: dynamic(kernel, signature, launch),
            buffers: std::mem::take(&mut maker.buffers),
            arguments,
            symbols,
            selected: Vec::new(),
        };
        self.compiled(&compiled, &maker.records)
    }

    fn compiled(&self, launch: &exec::Launch, records: &[Records]) -> Result<CompiledRun, Skip> {
        let limits = exec::Limits { lane_instructions: INSTRUCTIONS, ..exec::Limits::default() };
        let ran = exec::run(self.program, launch, limits);
        let mut fault = self.fault(&ran)?;
        // Checks for races too: they may show on another schedule only.
        if fault.is_none() {
            let checks = exec::Checks::default();
            fault = self.fault(&execute::check_launch(self.program, launch, limits, checks))?;
        }
        if let (None, Some(gap)) = (&fault, &ran.gap) {
            return Err(Skip::Unfollowed(gap.reason.to_string()));
        }
        let mut arrays = BTreeMap::new();
        for (bytes, records) in ran.buffers.iter().zip(records) {
            let stride = usize::try_from(records.stride).unwrap_or(0).max(1);
            for (offset, array, scalar) in &records.fields {
                let start = usize::try_from(*offset).unwrap_or(0);
                let end = start + usize::try_from(scalar.bytes()).unwrap_or(0);
                let elements = bytes.chunks_exact(stride);
                let values = elements.filter_map(|one| one.get(start..end));
                arrays.insert(*array, values.map(|one| decode(one, *scalar)).collect());
            }
        }
        Ok(CompiledRun { fault, arrays })
    }

    /// Returns a fault that our reading would have had as well. Fails on a fault of a kind that our reading does not
    /// model, because others may follow from it.
    fn fault(&self, outcome: &exec::Outcome) -> Result<Option<String>, Skip> {
        let mut first = None;
        for finding in outcome.findings.iter().filter(|one| !one.fault.is_note()) {
            let what = match &finding.fault {
                Fault::OutOfBounds { .. } => "an access out of bounds",
                Fault::WildAddress { .. } => "an access outside of every array",
                Fault::Race(race) if race.non_coherent => {
                    "a read through the read-only cache of memory that the kernel writes"
                }
                Fault::Race(_) => "a race",
                Fault::Deadlock { .. } | Fault::Barrier(_) => {
                    "a barrier that not all threads reach"
                }
                other => return Err(Skip::Fault(unknown(other).to_owned())),
            };
            let line = finding.place.location.map(|at| self.program.locations[at].line);
            let place = line.map_or(String::new(), |line| format!(" in line {line}"));
            first = first.or_else(|| Some(format!("{what}{place}")));
        }
        Ok(first)
    }

    /// Contents of variables outside of functions.
    fn symbols(
        &self,
        signature: &Signature,
        maker: &Maker<'_>,
    ) -> Result<Vec<(ir::VarId, VariableContents)>, Skip> {
        let mut symbols = Vec::new();
        for (name, records) in &signature.variables {
            let mut variables = self.program.variables.enumerate();
            let found = variables.find(|(_, one)| {
                matches!(one.space, Space::Global | Space::Const)
                    && (one.name == *name || demangle(&one.name).as_ref() == Some(name))
            });
            let Some((id, variable)) = found else {
                if self.has_namesake(name) {
                    return Err(Skip::OtherName { name: name.clone() });
                }
                // The compiler dropped the variable, because the kernel does not use it.
                continue;
            };
            let bytes = maker.bytes(records);
            if variable.size != Some(bytes.len() as u64) {
                return Err(Skip::OtherSize { name: name.clone() });
            }
            symbols.push((id, VariableContents::Contents(Contents::Known(bytes))));
        }
        Ok(symbols)
    }
}

impl Kernel<'_> {
    /// Returns `true` if some variable of the PTX may be this one, under the name it has without external linkage.
    fn has_namesake(&self, name: &str) -> bool {
        let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
        let is_named = |one: &ir::Variable| {
            let demangled = demangle(&one.name).unwrap_or_else(|| one.name.clone());
            last(&demangled) == last(name)
        };
        let mut variables = self.program.variables.iter();
        variables.any(|one| matches!(one.space, Space::Global | Space::Const) && is_named(one))
    }
}

/// Explains why a fault cannot distinguish the readings.
fn unknown(fault: &Fault) -> &'static str {
    match fault {
        Fault::Misaligned { .. } => "compiled code has a misaligned access",
        Fault::Undefined { .. } => "compiled code uses an undefined value",
        Fault::DivisionByZero => "compiled code divides by zero",
        Fault::Trap | Fault::AssertFailed => "compiled code traps",
        _ => "compiled code has an error of a kind that our reading does not model",
    }
}

/// Bytes of dynamic shared memory.
fn dynamic(kernel: &kir::Kernel, signature: &Signature, launch: &Launch) -> u64 {
    let Some(records) = &signature.dynamic else { return 0 };
    let sizes = records.fields.first().map(|(_, array, _)| interp::sizes(kernel, launch, *array));
    let count = sizes.flatten().map(|sizes| sizes.iter().product::<i128>());
    match count.and_then(|count| u64::try_from(count).ok()) {
        Some(count) => count.saturating_mul(records.stride),
        None => MAX_SHARED,
    }
}

/// Makes arguments and buffers.
struct Maker<'m> {
    kernel: &'m kir::Kernel,
    launch: &'m Launch,
    left: &'m CompiledResults,
    buffers: Vec<Buffer>,
    /// The contents of each buffer.
    records: Vec<Records>,
}

impl Maker<'_> {
    fn argument(&mut self, part: &Part) -> Argument {
        match part {
            Part::Number(var, scalar) => {
                let value = match self.launch.scalars.get(var) {
                    Some(value) => Value::Int { value: *value, exact: Some(*value) },
                    None => Value::float(self.launch.float(&self.kernel.vars[*var].name)),
                };
                Argument::Bytes(encode(value, *scalar))
            }
            Part::Pointer(records) => {
                let names = records.fields.first().map(|(_, array, _)| *array);
                let name = names.map(|array| self.kernel.arrays[array].name.clone());
                self.buffers.push(Buffer {
                    name: name.unwrap_or_default(),
                    element_bytes: u32::try_from(records.stride).unwrap_or(1),
                    element: None,
                    contents: Contents::Known(self.bytes(records)),
                    access: Access::InOut,
                });
                self.records.push(records.clone());
                Argument::Pointer(self.buffers.len() - 1)
            }
        }
    }

    /// Contents of records before the launch.
    fn bytes(&self, records: &Records) -> Vec<u8> {
        let empty = Vec::new();
        let values = |array: &ArrayId| self.left.before.get(array).unwrap_or(&empty);
        let count = records.fields.iter().map(|(_, array, _)| values(array).len()).max();
        let stride = usize::try_from(records.stride).unwrap_or(0);
        let mut bytes = vec![0; count.unwrap_or(0).saturating_mul(stride)];
        for (offset, array, scalar) in &records.fields {
            let start = usize::try_from(*offset).unwrap_or(0);
            for (record, value) in bytes.chunks_exact_mut(stride.max(1)).zip(values(array)) {
                let encoded = encode(*value, *scalar);
                let slots = record.iter_mut().skip(start);
                slots.zip(encoded).for_each(|(slot, byte)| *slot = byte);
            }
        }
        bytes
    }
}
