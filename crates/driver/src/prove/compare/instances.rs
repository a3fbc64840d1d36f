//! Chooses the instances of a kernel to compile: values for symbolic macros and template parameters.
//!
//! A macro defined in the text keeps its definition. A variable added to the text is initialised with the macro, so
//! that the compiler reports its value. An undefined macro is given on the command line, a template's number in the
//! kernel's name. Both get values of small launches.

use super::data::Compiling;
use super::error::NotCompared;
use crate::cuda::locate::Library;
use crate::cuda::{CompiledInstances, InstanceRequest, compile_named, without_host};
use kir::{Kernel, Signature, TemplateParameter, VarId};
use std::collections::BTreeMap;
use std::path::Path;

/// Instances of a template or of undefined macros that are compiled.
const INSTANCES: usize = 2;
/// Launches whose values are considered.
const CANDIDATES: usize = 48;

/// The input of a compilation.
pub(super) struct Compiler<'c> {
    pub(super) path: &'c Path,
    pub(super) text: &'c str,
    pub(super) compiling: &'c Compiling,
    pub(super) library: Library,
}

/// Instances from one compilation.
pub(super) struct Group {
    /// `NAME=VALUE`.
    defines: Vec<String>,
    /// Text added to the file.
    added: String,
    pub(super) instances: Vec<Instance>,
}

/// One instance of the kernel.
pub(super) struct Instance {
    /// Its name in C++.
    expression: String,
    /// The scalars that it fixes.
    pub(super) given: BTreeMap<VarId, i128>,
    /// Variables of the PTX that hold the value of a macro.
    pub(super) probes: Vec<(VarId, String)>,
}

impl Group {
    /// Compiles all of them, with full optimisation or none.
    pub(super) fn compile(
        &self,
        compiler: &Compiler<'_>,
        optimised: bool,
    ) -> Result<CompiledInstances, NotCompared> {
        let defines = [&compiler.compiling.defines[..], &self.defines].concat();
        let probes = self.instances.iter().flat_map(|instance| &instance.probes);
        let probes = probes.map(|(_, name)| format!("&{name}"));
        let kernels = self.instances.iter().map(|instance| instance.expression.clone());
        let names: Vec<String> = kernels.chain(probes).collect();
        let compile = |text: &str| {
            let text = format!("{text}\n{}", self.added);
            let wanted = InstanceRequest {
                path: compiler.path,
                text: &text,
                defines: &defines,
                names: &names,
                options: &compiler.compiling.options,
                optimised,
            };
            compile_named(&compiler.library, &wanted)
        };
        compile(compiler.text).or_else(|reason| {
            compile(&without_host(compiler.text)).map_err(|_| NotCompared::Refused(reason))
        })
    }
}

/// Returns the instances of a kernel.
pub(super) fn groups(
    kernel: &Kernel,
    signature: &Signature,
    text: &str,
) -> Result<Vec<Group>, NotCompared> {
    let (defined, free): (Vec<_>, Vec<_>) =
        signature.macros.iter().partition(|(name, _)| is_defined(text, name));
    let mut added = String::new();
    let mut probes = Vec::new();
    for (number, (name, var)) in defined.into_iter().enumerate() {
        let probe = format!("warpproof_macro_{number}");
        added.push_str(&format!("extern \"C\" __device__ long long {probe} = ({name});\n"));
        probes.push((*var, probe));
    }
    let numbers = signature.template.iter().filter_map(|one| match one {
        TemplateParameter::Number(var) => Some(*var),
        TemplateParameter::Fixed(_) => None,
    });
    let open: Vec<VarId> = free.iter().map(|(_, var)| *var).chain(numbers).collect();
    let mut groups: Vec<Group> = Vec::new();
    for given in choices(kernel, &open)? {
        let value = |var: &VarId| given.get(var).copied().unwrap_or(1);
        let define = |(name, var): &&(String, VarId)| format!("{name}={}", value(var));
        let defines: Vec<String> = free.iter().map(define).collect();
        let expression = expression(signature, &given);
        let instance = Instance { expression, given, probes: probes.clone() };
        match groups.iter_mut().find(|group| group.defines == defines) {
            Some(group) => group.instances.push(instance),
            None => groups.push(Group { defines, added: added.clone(), instances: vec![instance] }),
        }
    }
    Ok(groups)
}

/// The kernel's name with the arguments of its template.
fn expression(signature: &Signature, given: &BTreeMap<VarId, i128>) -> String {
    let arguments = signature.template.iter().map(|one| match one {
        TemplateParameter::Fixed(text) => text.clone(),
        TemplateParameter::Number(var) => given.get(var).copied().unwrap_or(1).to_string(),
    });
    let arguments: Vec<String> = arguments.collect();
    match arguments.is_empty() {
        true => signature.name.clone(),
        false => format!("{}<{}>", signature.name, arguments.join(", ")),
    }
}

/// Values of these scalars, most frequent in small launches first.
fn choices(kernel: &Kernel, open: &[VarId]) -> Result<Vec<BTreeMap<VarId, i128>>, NotCompared> {
    if open.is_empty() {
        return Ok(vec![BTreeMap::new()]);
    }
    let mut found: Vec<(BTreeMap<VarId, i128>, usize)> = Vec::new();
    for launch in allsizes::launches(kernel, CANDIDATES) {
        let given: BTreeMap<VarId, i128> =
            open.iter().filter_map(|var| Some((*var, *launch.scalars.get(var)?))).collect();
        match found.iter_mut().find(|(one, _)| *one == given) {
            Some((_, count)) => *count += 1,
            None => found.push((given, 1)),
        }
    }
    // Size 1 hides more errors than other sizes do.
    let dull = |given: &BTreeMap<VarId, i128>| given.values().all(|value| *value == 1);
    found.sort_by_key(|(given, count)| (dull(given), std::cmp::Reverse(*count)));
    match found.is_empty() {
        true => Err(NotCompared::NoLaunch),
        false => Ok(found.into_iter().take(INSTANCES).map(|(given, _)| given).collect()),
    }
}

/// Returns `true` if a text defines a macro.
fn is_defined(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix("define"));
        let rest = rest.map(str::trim_start).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}
