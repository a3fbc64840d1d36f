//! `warpproof inspect`: what a PTX file contains.
//!
//! Facts come from the syntax tree (names, counts, directives) and from the core program (memory,
//! barriers, how parameters are used). The types here are also the JSON schema.

mod build;
mod text;

use crate::diagnostics::{self, JsonDiagnostic};
use crate::render::escape;
use crate::{Colour, Exit, Format, Input, Outcome, sources};
use base::Diagnostic;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON this module writes; changes when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// How many errors are shown with their source lines; more help nobody.
const SHOWN_ERRORS: usize = 20;

/// What a file contains.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The name the file was given under.
    pub file: String,
    /// `.version`
    pub ptx_version: String,
    /// `.target`
    pub target: Vec<String>,
    /// `.address_size`; taken as 64 if the file does not say.
    pub address_size: Option<u64>,
    /// Kernels in order.
    pub kernels: Vec<Kernel>,
    /// Device functions in order.
    pub functions: Vec<DeviceFunction>,
    /// Variables of the module.
    pub variables: Vec<ModuleVariable>,
    /// What Warpproof does not model, outside functions.
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
    /// Source files its instructions come from, by `.loc`.
    pub source_files: Vec<String>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// What the PTX says about the launch.
    pub launch: LaunchFacts,
    /// Body.
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
    /// Whether the file has its body.
    pub defined: bool,
    /// Body.
    #[serde(flatten)]
    pub body: Body,
}

/// What the body of a function tells; of its own instructions, without those of functions it calls.
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
    /// The same by kind.
    pub instructions_by_kind: BTreeMap<&'static str, u64>,
    /// How often each synchronising or communicating instruction occurs.
    pub synchronisation: BTreeMap<String, u64>,
    /// Functions called.
    pub calls: Vec<Call>,
    /// What Warpproof does not model.
    unsupported: Vec<JsonDiagnostic>,
}

/// A function that is called.
#[derive(Debug, Serialize)]
pub struct Call {
    /// As in the PTX.
    pub name: String,
    /// Whether the file has its body.
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
    /// How the kernel uses it as a pointer, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<PointerUse>,
    /// How the kernel uses it as a tensor map, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_map: Option<TensorMapUse>,
}

/// How a kernel uses a tensor map, inferred.
#[derive(Debug, Serialize)]
pub struct TensorMapUse {
    /// Dimensions.
    pub rank: usize,
    /// `tile` or `im2col`.
    pub mode: &'static str,
    /// Copies go to the tensor.
    pub written: bool,
}

/// How a kernel uses a pointer. Inferred: an address computed in ways the inference does not follow
/// is not counted.
#[derive(Debug, Serialize)]
pub struct PointerUse {
    /// Where it points, if declared or used so.
    pub space: &'static str,
    /// Alignment the PTX declares for what it points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<u64>,
    /// Whether something is loaded through it.
    pub read: bool,
    /// Whether something is stored through it.
    pub written: bool,
    /// Size in bits of the elements accessed, if always the same.
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
    /// Those arrays.
    pub arrays: Vec<SharedArray>,
    /// Names through which it uses dynamic shared memory, whose size the launch gives.
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
    /// Which barrier; `None` if a register says.
    pub id: Option<u64>,
    /// How many threads: `all`, a number, or `register`.
    pub threads: String,
    /// Whether the instruction is `.aligned`.
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
        // Only a check or a comparison has results that the other formats are for.
        Format::Json | Format::Sarif | Format::Github | Format::Junit => to_json(&inspection),
    };
    Outcome::done(output)
}

/// The input is wrong: excerpts on standard error, or JSON on standard output.
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
            let shown = if count > SHOWN_ERRORS { ", the first of which are shown" } else { "" };
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
    // Serialising our own types into memory fails only on maps with non-string keys: there are none.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    escape::json(text)
}
