//! A command line filled with everything the PTX and the user told, for pasting.

use super::declared;
use super::limits::shared_memory;
use super::maps::positions;
use super::parameter::{Kind, Parameter, parameters};
use super::select::short_name;
use super::symbols::open_symbols;
use super::{
    ArgumentSpec, Beside, DeclaredParameter, Dimensions, ElementType, MissingData, Request,
};
use ir::{FuncId, Program};
use std::fmt::Write;

/// What the PTX tells about the launch of a kernel; `?` where a fact is missing.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The shortest name that selects the kernel.
    pub kernel: String,
    /// The number of blocks, which no PTX tells.
    pub grid: String,
    /// Threads of a block, unless the PTX fixes them.
    pub block: Option<String>,
    /// Dynamic shared memory, if the kernel uses such.
    pub shared: Option<String>,
    /// An argument for each parameter.
    pub arguments: Vec<String>,
}

/// A launch to fill in.
#[must_use]
pub fn suggestion(program: &Program, kernel: FuncId, declared: &[DeclaredParameter]) -> Suggestion {
    let facts = &program.functions[kernel].launch;
    let block = match (facts.required_block, facts.max_block) {
        (Some(_), _) => None,
        (None, Some(most)) => Some(Dimensions(most).to_string()),
        (None, None) => Some("?".to_owned()),
    };
    Suggestion {
        kernel: short_name(program, kernel),
        grid: "?".to_owned(),
        block,
        shared: shared_memory(program, kernel).dynamic.then(|| "?".to_owned()),
        arguments: parameters(program, kernel, declared).iter().map(template).collect(),
    }
}

/// The command line of a request, with `?` where a fact is missing. Element types of tensors are
/// guesses from the size of the accesses.
#[must_use]
pub fn command_line(request: &Request<'_>) -> String {
    let Request { program, kernel, launch, arguments, invocation, .. } = *request;
    let function = &program.functions[kernel];
    let own = quoted(&format!("{}::{}", invocation.file, short_name(program, kernel)));
    let paths = match invocation.beside {
        None => own,
        Some(Beside { path, is_reference: true }) => format!("{} {own}", quoted(path)),
        Some(Beside { path, is_reference: false }) => format!("{own} {}", quoted(path)),
    };
    let mut line = format!("warpproof {} {paths}", invocation.command);
    let mut flag = |name: &str, value: String| {
        let _ = write!(line, " --{name} {}", quoted(&value));
    };
    flag("grid", launch.grid.map_or("?".to_owned(), |grid| grid.to_string()));
    match (launch.block, function.launch.required_block, function.launch.max_block) {
        (Some(block), ..) => flag("block", block.to_string()),
        // The launch takes it from the PTX.
        (None, Some(_), _) => {}
        (None, None, Some(most)) => flag("block", Dimensions(most).to_string()),
        (None, None, None) => flag("block", "?".to_owned()),
    }
    launch.cluster.iter().for_each(|cluster| flag("cluster", cluster.to_string()));
    match launch.shared {
        Some(bytes) => flag("smem", bytes.to_string()),
        None if shared_memory(program, kernel).dynamic => flag("smem", "?".to_owned()),
        None => {}
    }
    launch.blocks.iter().for_each(|block| flag("blocks", block.to_string()));
    arguments.specs.iter().for_each(|argument| flag("arg", argument.to_string()));
    let parameters = parameters(program, kernel, request.declared);
    for parameter in unnamed(&parameters, &arguments.specs) {
        flag("arg", template(parameter));
    }
    arguments.aliases.iter().for_each(|alias| flag("alias", alias.to_string()));
    arguments.symbols.iter().for_each(|symbol| flag("symbol", symbol.to_string()));
    if request.missing_data == MissingData::Refused {
        open_symbols(request).iter().for_each(|name| flag("symbol", format!("{name}=?")));
    }
    line
}

/// Parameters for which no argument stands.
fn unnamed<'a, 'p>(
    parameters: &'a [Parameter<'p>],
    specs: &[ArgumentSpec],
) -> impl Iterator<Item = &'a Parameter<'p>> {
    let named = |name: &String| specs.iter().any(|one| one.value.names().any(|one| one == name));
    let own: Vec<&ArgumentSpec> = specs.iter().filter(|spec| !named(&spec.name)).collect();
    let taken: Vec<bool> =
        positions(parameters, &own).positional.iter().map(Option::is_some).collect();
    let is_open =
        move |parameter: &&Parameter<'_>| !taken.get(parameter.index).is_some_and(|one| *one);
    parameters.iter().filter(is_open)
}

/// A tensor map to fill in.
pub(super) fn map_template(parameter: &Parameter<'_>) -> String {
    let Some(map) = parameter.map else { return "?".to_owned() };
    let sizes = vec!["?"; map.rank].join(",");
    let direction = if map.written { ":out" } else { "" };
    let tensor = format!("{}_tensor=f16[{sizes}]{direction}", parameter.name);
    let shape = match map.im2col {
        false => format!("box=[{sizes}]"),
        true => {
            let corners = vec!["?"; map.rank.saturating_sub(2)].join(",");
            format!("im2col(lower=[{corners}], upper=[{corners}], channels=?, pixels=?)")
        }
    };
    format!("tensormap({tensor}, {shape}, swizzle=none)")
}

/// An argument for a parameter, as far as the PTX tells.
pub(super) fn template(parameter: &Parameter<'_>) -> String {
    let name = parameter.name;
    match parameter.kind {
        _ if !parameter.used => format!("{name}=?"),
        _ if parameter.map.is_some() => format!("{name}={}", map_template(parameter)),
        Kind::Float(element) => format!("{name}={element}"),
        Kind::Integer | Kind::Bits => match parameter.ty.and_then(declared::scalar) {
            Some(element) if element.is_float() => format!("{name}={element}"),
            _ => format!("{name}=?"),
        },
        // A descriptor, or loaded through its address: nothing tells where its fields are.
        Kind::Structure if parameter.loads.is_empty() => format!("{name}=?"),
        Kind::Structure => {
            let offsets: Vec<String> =
                parameter.loads.keys().map(|offset| format!("{offset}:?")).collect();
            format!("{name}={{{}}}", offsets.join(","))
        }
        Kind::Pointer { .. } => {
            let found = parameter.pointer.as_ref();
            let mut widths = found.iter().flat_map(|found| found.widths.iter());
            let element = parameter.ty.and_then(declared::pointee).unwrap_or(match widths.next() {
                Some(8) => ElementType::U8,
                Some(16) => ElementType::F16,
                Some(64) => ElementType::F64,
                _ => ElementType::F32,
            });
            let (read, written) = found.map_or((true, false), |found| (found.read, found.written));
            let direction = match (read, written) {
                (true, true) => ":inout",
                (false, true) => ":out",
                (_, false) => "",
            };
            format!("{name}={element}[?]{direction}")
        }
    }
}

/// Quoted if a shell would read it as something else.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/@+%".contains(c);
    // A lone `?` is left for the user to replace.
    if text == "?" || text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
