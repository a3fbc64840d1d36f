//! Formats an [`Inspection`] for people.

use super::{
    Barrier, Body, Call, DeviceFunction, Inspection, Kernel, LaunchFacts, ModuleVariable,
    Parameter, PointerUse, Shared, TensorMapUse,
};
use crate::Colour;
use crate::demangle::demangle;
use crate::diagnostics::JsonDiagnostic;
use anstyle::{AnsiColor, Style};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Column at which the facts of a kernel start.
const MARGIN: usize = 16;

/// Longer lists are cut, and the text says so.
const LONGEST_LIST: usize = 20;

pub(super) fn render(inspection: &Inspection, colour: Colour) -> String {
    let mut page = Page { text: String::new(), colour };
    page.head(inspection);
    inspection.kernels.iter().for_each(|kernel| page.kernel(kernel));
    inspection.functions.iter().for_each(|function| page.function(function));
    page.variables(&inspection.variables);
    if !inspection.unsupported.is_empty() {
        page.text.push_str("\nmodule\n");
        page.facts("unsupported", &unsupported_lines(&inspection.unsupported));
    }
    page.text
}

struct Page {
    text: String,
    colour: Colour,
}

impl Page {
    fn styled(&self, style: Style, text: &str) -> String {
        match self.colour {
            Colour::Styled { .. } => format!("{style}{text}{style:#}"),
            Colour::Plain => text.to_owned(),
        }
    }

    fn head(&mut self, inspection: &Inspection) {
        let Inspection { file, ptx_version, target, address_size, kernels, .. } = inspection;
        let file = self.styled(Style::new().bold(), file);
        let target = target.join(", ");
        let kernels = plural(kernels.len() as u64, "kernel");
        let addresses = match address_size {
            Some(size) => format!("{size}-bit addresses"),
            None => "address size not given (taken as 64 bits)".to_owned(),
        };
        let line = format!("{file}: PTX {ptx_version} for {target}, {addresses}, {kernels}\n");
        self.text.push_str(&line);
    }

    fn kernel(&mut self, kernel: &Kernel) {
        self.title("kernel", &kernel.name, kernel.demangled.as_deref(), kernel.line);
        if !kernel.source_files.is_empty() {
            self.fact("source", &kernel.source_files.join(", "));
        }
        self.facts("parameters", &parameter_lines(&kernel.parameters));
        self.fact("launch", &launch(&kernel.launch));
        self.body(&kernel.body);
    }

    fn function(&mut self, function: &DeviceFunction) {
        self.title("function", &function.name, function.demangled.as_deref(), function.line);
        if function.defined {
            self.body(&function.body);
        } else {
            self.fact("body", "not in this file");
        }
    }

    fn title(&mut self, kind: &str, name: &str, demangled: Option<&str>, line: u32) {
        let heading = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let shown = self.styled(heading, demangled.unwrap_or(name));
        let _ = writeln!(self.text, "\n{kind} {shown}  (line {line})");
        if demangled.is_some() {
            self.fact("mangled", name);
        }
    }

    fn body(&mut self, body: &Body) {
        self.fact("shared", &shared(&body.shared));
        self.fact("local", &bytes(body.local_bytes));
        let barriers: Vec<String> = body.barriers.iter().map(barrier).collect();
        self.facts("barriers", &barriers);
        // Barriers were listed with their numbers above.
        let others = body.synchronisation.iter().filter(|(name, _)| !is_block_barrier(name));
        let others: Vec<String> = others.map(|(name, count)| format!("{name} ×{count}")).collect();
        self.fact(
            "other sync",
            &if others.is_empty() { "none".to_owned() } else { others.join(", ") },
        );
        self.fact("instructions", &instruction_counts(body));
        if !body.calls.is_empty() {
            let call = |call: &Call| {
                let elsewhere = if call.defined { "" } else { " (not in this file)" };
                format!("{}{elsewhere}", demangled_name(&call.name))
            };
            let calls: Vec<String> = body.calls.iter().map(call).collect();
            self.fact("calls", &calls.join(", "));
        }
        self.facts("unsupported", &unsupported_lines(&body.unsupported));
    }

    fn variables(&mut self, variables: &[ModuleVariable]) {
        if variables.is_empty() {
            return;
        }
        self.text.push_str("\nmodule variables\n");
        for variable in variables {
            let size = match (variable.size, variable.space) {
                (Some(size), _) => bytes(size),
                (None, "shared") => "dynamic, the launch gives the size".to_owned(),
                (None, _) => "size unknown".to_owned(),
            };
            let elsewhere = variable.external && variable.size.is_some();
            let external = if elsewhere { ", defined elsewhere" } else { "" };
            let initialised = if variable.initialised { ", initialised" } else { "" };
            let ModuleVariable { space, ty, .. } = variable;
            let name = demangled_name(&variable.name);
            let _ = writeln!(self.text, "  .{space} .{ty} {name}: {size}{external}{initialised}");
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        let label = self.styled(Style::new().dimmed(), name);
        let padding = " ".repeat(MARGIN.saturating_sub(2 + name.len()));
        let _ = writeln!(self.text, "  {label}{padding}{value}");
    }

    /// A fact of several lines, or `none`.
    fn facts(&mut self, name: &str, lines: &[String]) {
        let Some((first, rest)) = lines.split_first() else {
            return self.fact(name, "none");
        };
        self.fact(name, first);
        for line in rest.iter().take(LONGEST_LIST) {
            let _ = writeln!(self.text, "{:MARGIN$}{line}", "");
        }
        if rest.len() > LONGEST_LIST {
            let more = rest.len() - LONGEST_LIST;
            let _ =
                writeln!(self.text, "{:MARGIN$}… and {more} more (--format json lists all)", "");
        }
    }
}

fn is_block_barrier(mnemonic: &str) -> bool {
    let waits = ["bar.sync", "bar.arrive", "bar.red", "bar.cta", "barrier."];
    waits.iter().any(|start| mnemonic.starts_with(start))
        && !mnemonic.starts_with("barrier.cluster")
}

fn parameter_lines(parameters: &[Parameter]) -> Vec<String> {
    let widest = parameters.iter().map(|parameter| parameter.ty.len()).max().unwrap_or(0);
    let digits = parameters.len().saturating_sub(1).to_string().len();
    let line = |parameter: &Parameter| {
        let size = parameter.size.map_or("size unknown".to_owned(), bytes);
        let pointer = parameter.pointer.as_ref().map(pointer).unwrap_or_default();
        let map = parameter.tensor_map.as_ref().map(tensor_map).unwrap_or_default();
        let Parameter { index, ty, name, .. } = parameter;
        format!("{index:digits$}  {ty:widest$}  {size:>9}  {name}{pointer}{map}")
    };
    parameters.iter().map(line).collect()
}

fn tensor_map(map: &TensorMapUse) -> String {
    let TensorMapUse { rank, mode, written } = map;
    let access = if *written { "written" } else { "read" };
    format!("  → tensor map, {rank}D {mode}, {access}")
}

fn pointer(pointer: &PointerUse) -> String {
    let access = match (pointer.read, pointer.written) {
        (true, true) => "read and written",
        (true, false) => "read",
        (false, true) => "written",
        (false, false) => "no access found",
    };
    let pieces = pointer.element_bits.map(|bits| format!(", {bits} bits at a time"));
    let align = pointer.align.map(|align| format!(", aligned to {align}"));
    let (pieces, align) = (pieces.unwrap_or_default(), align.unwrap_or_default());
    format!("  → {} memory, {access}{pieces}{align}", pointer.space)
}

fn launch(launch: &LaunchFacts) -> String {
    let sizes = |[x, y, z]: [u32; 3]| format!("{x}×{y}×{z}");
    let facts = [
        launch.reqntid.map(|block| format!("block must be {}", sizes(block))),
        launch.maxntid.map(|block| format!("block at most {} threads", product(block))),
        launch
            .minnctapersm
            .map(|count| format!("at least {} per SM", plural(count.into(), "block"))),
        launch.maxnreg.map(|registers| format!("at most {registers} registers")),
        launch.reqnctapercluster.map(|cluster| format!("cluster must be {}", sizes(cluster))),
        launch.maxclusterrank.map(|rank| format!("cluster at most {rank} blocks")),
        launch.explicitcluster.then(|| "launched with clusters".to_owned()),
        launch.blocksareclusters.then(|| "grid given in clusters".to_owned()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() { "nothing fixed by the PTX".to_owned() } else { facts.join(", ") }
}

fn product([x, y, z]: [u32; 3]) -> u64 {
    u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z))
}

fn shared(shared: &Shared) -> String {
    let mut parts = Vec::new();
    if !shared.arrays.is_empty() {
        let arrays = shared.arrays.iter().take(LONGEST_LIST);
        let mut arrays: Vec<String> = arrays
            .map(|array| format!("{} {}", demangled_name(&array.name), array.bytes))
            .collect();
        if shared.arrays.len() > LONGEST_LIST {
            arrays.push("…".to_owned());
        }
        parts.push(format!("{} static ({})", bytes(shared.static_bytes), arrays.join(", ")));
    }
    if !shared.dynamic.is_empty() {
        parts.push(format!("dynamic, through {}", shared.dynamic.join(", ")));
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
}

fn barrier(barrier: &Barrier) -> String {
    let id = barrier.id.map_or("register".to_owned(), |id| id.to_string());
    let opcode = if barrier.aligned { "bar" } else { "barrier" };
    let threads = match barrier.threads.as_str() {
        "all" => "all threads".to_owned(),
        "register" => "threads from a register".to_owned(),
        count => format!("{count} threads"),
    };
    format!("{opcode}.{} {id}, {threads}: {}", barrier.kind, line_list(&barrier.lines))
}

fn instruction_counts(body: &Body) -> String {
    let mut kinds: Vec<(&str, u64)> =
        body.instructions_by_kind.iter().map(|(kind, count)| (*kind, *count)).collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    match kinds.is_empty() {
        true => "0".to_owned(),
        false => format!("{}: {}", body.instructions, kinds.join(", ")),
    }
}

/// Formats each message as a line, with the numbers of the lines it is about.
fn unsupported_lines(diagnostics: &[JsonDiagnostic]) -> Vec<String> {
    let mut messages: Vec<(&str, Vec<u32>)> = Vec::new();
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    for diagnostic in diagnostics {
        let position = *known.entry(diagnostic.message()).or_insert_with(|| {
            messages.push((diagnostic.message(), Vec::new()));
            messages.len() - 1
        });
        messages[position].1.push(diagnostic.line());
    }
    messages.iter().map(|(message, lines)| format!("{message}: {}", line_list(lines))).collect()
}

/// `line 3` or `lines 3, 5, 9`, cut if there are many.
fn line_list(lines: &[u32]) -> String {
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let shown: Vec<String> = lines.iter().take(LONGEST_LIST).map(ToString::to_string).collect();
    let more = if lines.len() > LONGEST_LIST { ", …" } else { "" };
    format!("{word} {}{more}", shown.join(", "))
}

/// A name as in the source.
fn demangled_name(name: &str) -> String {
    demangle(name).unwrap_or_else(|| name.to_owned())
}

fn bytes(count: u64) -> String {
    match count {
        0 => "none".to_owned(),
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    }
}

fn plural(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
