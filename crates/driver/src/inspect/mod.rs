//! `warpproof inspect`: describes the contents of a PTX file.
//!
//! Facts come from the syntax tree (names, counts, directives) and from the core program (memory, barriers, how
//! parameters are used). The types here are also the JSON schema.

mod build;
mod text;

use crate::diagnostics::{self, JsonDiagnostic};
use crate::render::escape;
use crate::{Colour, Exit, Format, Input, Outcome, sources};
use base::Diagnostic;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON format; increases when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 1;

/// The most errors shown with their source lines.
const SHOWN_ERRORS: usize = 20;

/// The contents of a file.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The version, [`SCHEMA`].
    pub schema: u32,
    /// The file's name as given.
    pub file: String,
    /// `.version`
    pub ptx_version: String,
    /// `.target`
    pub target: Vec<String>,
    /// `.address_size`; taken as 64 if the file has none.
    pub address_size: Option<u64>,
    /// Kernels in order.
    pub kernels: Vec<Kernel>,
    /// Device functions in order.
    pub functions: Vec<DeviceFunction>,
    /// Variables of the module.
    pub variables: Vec<ModuleVariable>,
    /// Constructs outside of functions that Warpproof does not model.
    unsupported: Vec<JsonDiagnostic>,
}

/// A kernel.
#[derive(Debug, Serialize)]
pub struct Kernel {
    /// As in the PTX.
    pub name: String,
    /// As in the source, if the name was mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Line of its head.
    pub line: u32,
    /// Source files of its instructions, by `.loc`.
    pub source_files: Vec<String>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Directives about the launch.
    pub launch: LaunchFacts,
    /// Contents of its body.
    #[serde(flatten)]
    pub body: Body,
}

/// A device function.
#[derive(Debug, Serialize)]
pub struct DeviceFunction {
    /// As in the PTX.
    pub name: String,
    /// As in the source, if the name was mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Line of its head.
    pub line: u32,
    /// The file has its body.
    pub defined: bool,
    /// Contents of its body.
    #[serde(flatten)]
    pub body: Body,
}

/// Facts about the body of a function: its own instructions, without those of functions it calls.
#[derive(Debug, Default, Serialize)]
pub struct Body {
    /// Shared memory.
    pub shared: Shared,
    /// Bytes of local memory of a thread.
    pub local_bytes: u64,
    /// Barriers of the block.
    pub barriers: Vec<Barrier>,
    /// Number of PTX instructions.
    pub instructions: u64,
    /// Number of PTX instructions of each kind.
    pub instructions_by_kind: BTreeMap<&'static str, u64>,
    /// The number of occurrences of each synchronising or communicating instruction.
    pub synchronisation: BTreeMap<String, u64>,
    /// The called functions.
    pub calls: Vec<Call>,
    /// Instructions that Warpproof does not model.
    unsupported: Vec<JsonDiagnostic>,
}

/// A called function.
#[derive(Debug, Serialize)]
pub struct Call {
    /// As in the PTX.
    pub name: String,
    /// The file has its body.
    pub defined: bool,
}

/// A kernel parameter.
#[derive(Debug, Serialize)]
pub struct Parameter {
    /// Position, from 0.
    pub index: usize,
    /// As in the PTX.
    pub name: String,
    /// Type as declared, `b8[32]` for a struct of 32 bytes.
    #[serde(rename = "type")]
    pub ty: String,
    /// Bytes, if known.
    pub size: Option<u64>,
    /// Alignment in bytes.
    pub align: u64,
    /// The kernel's use of it as a pointer, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<PointerUse>,
    /// The kernel's use of it as a tensor map, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_map: Option<TensorMapUse>,
}

/// A kernel's use of a tensor map, inferred.
#[derive(Debug, Serialize)]
pub struct TensorMapUse {
    /// Number of dimensions.
    pub rank: usize,
    /// `tile` or `im2col`.
    pub mode: &'static str,
    /// Some copy writes to the tensor.
    pub written: bool,
}

/// A kernel's use of a pointer. Inferred: accesses are missed if the inference cannot follow how their address is
/// computed.
#[derive(Debug, Serialize)]
pub struct PointerUse {
    /// The state space it points to, if declared or evident from its use.
    pub space: &'static str,
    /// Declared alignment of its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<u64>,
    /// Some instruction loads through it.
    pub read: bool,
    /// Some instruction stores through it.
    pub written: bool,
    /// Size in bits of the accessed elements, if always the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_bits: Option<u32>,
}

/// Launch facts in the PTX.
#[derive(Debug, Default, Serialize)]
#[expect(missing_docs, reason = "named after the directives")]
pub struct LaunchFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reqntid: Option<[u32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxntid: Option<[u32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minnctapersm: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxnreg: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reqnctapercluster: Option<[u32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxclusterrank: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explicitcluster: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocksareclusters: bool,
}

/// Shared memory of a function.
#[derive(Debug, Default, Serialize)]
pub struct Shared {
    /// Bytes of all arrays of known size that the function declares or mentions.
    pub static_bytes: u64,
    /// The arrays of known size.
    pub arrays: Vec<SharedArray>,
    /// Names through which it uses dynamic shared memory; the launch gives its size.
    pub dynamic: Vec<String>,
}

/// An array in shared memory.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SharedArray {
    pub name: String,
    pub bytes: u64,
    pub align: u64,
}

/// Uses of a barrier of the block that differ in nothing but their place.
#[derive(Debug, Serialize)]
pub struct Barrier {
    /// `sync`, `arrive`, `red.popc`, `red.and` or `red.or`
    pub kind: &'static str,
    /// The number of the barrier; `None` if it is in a register.
    pub id: Option<u64>,
    /// The number of threads: `all`, a number, or `register`.
    pub threads: String,
    /// The instruction is `.aligned`.
    pub aligned: bool,
    /// PTX lines.
    pub lines: Vec<u32>,
}

/// A variable of the module.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ModuleVariable {
    pub name: String,
    pub space: &'static str,
    #[serde(rename = "type")]
    pub ty: String,
    pub size: Option<u64>,
    pub align: u64,
    pub external: bool,
    pub initialised: bool,
}

/// Describes a file.
#[must_use]
pub fn run(input: &Input, format: Format, colour: Colour) -> Outcome {
    let colour = colour.for_input(input.texts());
    describe(input, format, colour).escaped(colour)
}

fn describe(input: &Input, format: Format, colour: Colour) -> Outcome {
    let source = &input.source;
    let parsed = ptx::syntax::parse(source.text());
    let lowered = match sources::checked(&parsed) {
        Ok(lowered) => lowered,
        Err(errors) => return refuse(input, &errors, format, colour),
    };
    let inspection = build::inspection(&parsed.module, &lowered, source);
    if inspection.kernels.is_empty() && inspection.functions.is_empty() {
        return Outcome::bad_input(&format!(
            "`{}` defines no kernel and no function",
            source.name()
        ));
    }
    let output = match format {
        Format::Text => text::render(&inspection, colour),
        // The other formats are for results of a check or a comparison.
        Format::Json | Format::Sarif | Format::Github | Format::Junit => to_json(&inspection),
    };
    Outcome::done(output)
}

/// Reports wrong input: excerpts on standard error, or JSON on standard output.
pub(crate) fn refuse(
    input: &Input,
    errors: &[Diagnostic],
    format: Format,
    colour: Colour,
) -> Outcome {
    #[derive(Serialize)]
    struct Refusal<'s> {
        schema: u32,
        file: &'s str,
        errors: Vec<JsonDiagnostic>,
    }
    let source = &input.source;
    let (mut output, mut messages) = (String::new(), String::new());
    match format {
        Format::Text => {
            for error in errors.iter().take(SHOWN_ERRORS) {
                messages.push_str(&diagnostics::render(error, input, colour));
                messages.push_str("\n\n");
            }
            let (count, name) = (errors.len(), source.name());
            let plural = if count == 1 { "" } else { "s" };
            let shown = if count > SHOWN_ERRORS { ", the first are shown" } else { "" };
            messages.push_str(&format!("error: {count} error{plural} in `{name}`{shown}\n"));
        }
        Format::Json | Format::Sarif | Format::Github | Format::Junit => {
            let errors = errors.iter().map(|error| JsonDiagnostic::new(error, source)).collect();
            output = to_json(&Refusal { schema: SCHEMA, file: source.name(), errors });
        }
    }
    Outcome { output, messages, exit: Exit::BadInput, thread_instructions: 0, report: None }
}

fn to_json(value: &impl Serialize) -> String {
    // Serialising into memory fails only on maps with non-string keys; our types have none.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    escape::json(text)
}
