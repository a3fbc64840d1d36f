//! Builds command lines for the user to complete: everything known from the PTX and from the user's own arguments is
//! filled in, and `?` marks each missing fact.

use super::declared;
use super::limits::shared_memory;
use super::maps::positions;
use super::parameter::{Kind, Parameter, parameters};
use super::select::short_name;
use super::symbols::open_symbols;
use super::{ArgumentSpec, DeclaredParameter, Dimensions, ElementType, MissingData, Request};
use ir::{FuncId, Program};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Facts in the PTX about the launch of a kernel; `?` where one is missing.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The shortest name that selects the kernel.
    pub kernel: String,
    /// The number of blocks, always `?`: the PTX does not contain it.
    pub grid: String,
    /// Threads of a block, unless the PTX fixes them.
    pub block: Option<String>,
    /// Dynamic shared memory, if the kernel uses it.
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

/// Values of flags that describe a launch, with `?` where a fact is missing. Element types of tensors are guessed
/// from the size of the accesses.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchFlags {
    grid: String,
    block: Option<String>,
    cluster: Option<String>,
    shared: Option<String>,
    blocks: Vec<String>,
    arguments: Vec<String>,
    /// Set if the arguments have the names of the parameters, so that their order does not matter.
    is_by_name: bool,
    aliases: Vec<String>,
    symbols: Vec<String>,
}

/// Returns the flags of a request. Gaps are filled from `others`, the arguments of the other side of a comparison, by
/// parameters of the same name and kind.
pub(crate) fn launch_flags(request: &Request<'_>, others: &[ArgumentSpec]) -> LaunchFlags {
    let Request { program, kernel, launch, arguments, .. } = *request;
    let facts = &program.functions[kernel].launch;
    let block = match (launch.block, facts.required_block, facts.max_block) {
        (Some(block), ..) => Some(block.to_string()),
        // The launch takes it from the PTX.
        (None, Some(_), _) => None,
        (None, None, Some(most)) => Some(Dimensions(most).to_string()),
        (None, None, None) => Some("?".to_owned()),
    };
    let is_dynamic = || shared_memory(program, kernel).dynamic;
    let shared = launch.shared.map(|bytes| bytes.to_string());
    let parameters = parameters(program, kernel, request.declared);
    let missing = unnamed(&parameters, &arguments.specs).map(|one| fill_in(one, others));
    let is_parameter =
        |spec: &ArgumentSpec| parameters.iter().any(|parameter| parameter.name == spec.name);
    let is_by_name = arguments.specs.iter().all(is_parameter);
    let given = arguments.specs.iter().map(ToString::to_string);
    let mut symbols: Vec<String> = arguments.symbols.iter().map(ToString::to_string).collect();
    if request.missing_data == MissingData::Refused {
        symbols.extend(open_symbols(request).iter().map(|name| format!("{name}=?")));
    }
    LaunchFlags {
        grid: launch.grid.map_or("?".to_owned(), |grid| grid.to_string()),
        block,
        cluster: launch.cluster.map(|cluster| cluster.to_string()),
        shared: shared.or_else(|| is_dynamic().then(|| "?".to_owned())),
        blocks: launch.blocks.iter().map(ToString::to_string).collect(),
        arguments: given.chain(missing).collect(),
        is_by_name,
        aliases: arguments.aliases.iter().map(ToString::to_string).collect(),
        symbols,
    }
}

/// Fills in a parameter: with the other side's argument of the same name, or else at the same place, if it is of the
/// same kind; otherwise with a template.
fn fill_in(parameter: &Parameter<'_>, others: &[ArgumentSpec]) -> String {
    let template = template(parameter);
    // Element type and direction of a tensor; `None` for a number.
    let kind = |text: &str| {
        let value = text.split_once('=').map_or("", |(_, value)| value);
        let (element, rest) = value.split_once(['[', '{', '('])?;
        let directions = [":inout", ":out", ":scratch"];
        let direction = directions.into_iter().find(|direction| rest.contains(direction));
        Some((element.to_owned(), direction))
    };
    let named = others.iter().find(|other| other.name == parameter.name);
    let other = named.or_else(|| others.get(parameter.index)).map(ToString::to_string);
    other.filter(|other| kind(other) == kind(&template)).unwrap_or(template)
}

/// The command line of a request, with `?` where a fact is missing.
#[must_use]
pub fn command_line(request: &Request<'_>) -> String {
    let Request { program, kernel, invocation, .. } = *request;
    let path = shell_quoted(&format!("{}::{}", invocation.file, short_name(program, kernel)));
    let flags = launch_flags(request, &[]);
    let LaunchFlags { grid, block, cluster, shared, blocks, arguments, aliases, symbols, .. } =
        flags;
    let mut line = format!("warpproof {} {path}", invocation.command);
    append(&mut line, "grid", [grid]);
    append(&mut line, "block", block);
    append(&mut line, "cluster", cluster);
    append(&mut line, "smem", shared);
    append(&mut line, "blocks", blocks);
    append(&mut line, "arg", arguments);
    append(&mut line, "alias", aliases);
    append(&mut line, "symbol", symbols);
    line
}

/// The command line that compares a kernel with a formula.
pub(crate) fn formula_line(formula: &str, path: &str, flags: LaunchFlags) -> String {
    let mut line =
        format!("warpproof equiv --ref {} {}", shell_quoted(formula), shell_quoted(path));
    let list = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
    for (name, values) in [
        ("grid", vec![flags.grid]),
        ("block", list(flags.block)),
        ("cluster", list(flags.cluster)),
        ("smem", list(flags.shared)),
        ("arg", flags.arguments),
        ("symbol", flags.symbols),
        ("blocks", flags.blocks),
        ("alias", flags.aliases),
    ] {
        append(&mut line, name, values);
    }
    line
}

/// The command line that compares two kernels, with the user's paths. Flags common to both sides occur once.
pub(crate) fn comparison_line(paths: [&str; 2], [one, mut other]: [LaunchFlags; 2]) -> String {
    let sorted = |flags: &LaunchFlags| flags.arguments.iter().cloned().collect::<BTreeSet<_>>();
    if one.is_by_name && other.is_by_name && sorted(&one) == sorted(&other) {
        other.arguments.clone_from(&one.arguments);
    }
    let mut line = format!("warpproof equiv {} {}", shell_quoted(paths[0]), shell_quoted(paths[1]));
    let list = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
    for (name, one, other) in [
        ("grid", vec![one.grid], vec![other.grid]),
        ("block", list(one.block), list(other.block)),
        ("cluster", list(one.cluster), list(other.cluster)),
        ("smem", list(one.shared), list(other.shared)),
        ("arg", one.arguments, other.arguments),
        ("symbol", one.symbols, other.symbols),
    ] {
        if one == other {
            append(&mut line, name, one);
            continue;
        }
        append(&mut line, &format!("ref-{name}"), one);
        append(&mut line, &format!("opt-{name}"), other);
    }
    append(&mut line, "blocks", one.blocks);
    append(&mut line, "alias", one.aliases);
    line
}

/// Appends a flag once for each of its values.
pub(crate) fn append(line: &mut String, flag: &str, values: impl IntoIterator<Item = String>) {
    for value in values {
        let _ = write!(line, " --{flag} {}", shell_quoted(&value));
    }
}

/// Parameters without an argument.
fn unnamed<'a, 'p>(
    parameters: &'a [Parameter<'p>],
    specs: &[ArgumentSpec],
) -> impl Iterator<Item = &'a Parameter<'p>> {
    let named = |name: &String| specs.iter().any(|one| one.value.names().any(|one| one == name));
    let unrelated: Vec<&ArgumentSpec> = specs.iter().filter(|spec| !named(&spec.name)).collect();
    let is_given: Vec<bool> =
        positions(parameters, &unrelated).positional.iter().map(Option::is_some).collect();
    let is_open =
        move |parameter: &&Parameter<'_>| !is_given.get(parameter.index).is_some_and(|one| *one);
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

/// An argument for a parameter, as far as the PTX shows.
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
        // A tensor map, or a structure loaded through its address: the offsets of its fields are unknown.
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

/// Quotes a text that a shell would change.
pub(crate) fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/@+%".contains(c);
    // A lone `?` is left for the user to replace.
    if text == "?" || text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
