//! Coverage: the instructions of the PTX that a run executed.
//!
//! Counts the instructions of the kernel and of the functions it calls, as written in the text. Labels, directives
//! and instructions without effect in the front end do not count. A lifted program ([`lift`]) lacks some of the
//! instructions. A removed one counts as executed only if a remaining instruction of its basic block was executed; if
//! nothing of the block remains, if control reached a block before it. So pure code with unused results may count as
//! executed without having been. Accesses to memory never do: they stay in a lifted program.
//!
//! A loop that waits for an mbarrier is one blocking operation. The instructions of its retry count as executed if
//! that operation was.

use crate::source_lines::outermost_line;
use base::{IndexVec, SourceFile, Span};
use exec::Place;
use ir::{BlockId, FuncId, Function, LocId, Op, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a kernel that a run executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Instructions of the kernel and of the functions it calls.
    pub(crate) instructions: usize,
    /// The number of them that some thread executed.
    pub(crate) executed: usize,
    /// Lines of the PTX with the others: first and last line of each range.
    pub(crate) lines: Vec<(u32, u32)>,
    /// Lines of the sources without an executed instruction, by file.
    pub(crate) sources: BTreeMap<String, Vec<(u32, u32)>>,
}

/// A program before and after lifting, and the kernel of the launch.
#[derive(Clone, Copy)]
pub(crate) struct Programs<'p> {
    pub(crate) original: &'p Program,
    pub(crate) ran: &'p Program,
    pub(crate) kernel: FuncId,
}

/// The position of an instruction in the text.
type Site = (FuncId, Span);

/// Computes coverage from the set of executed instructions.
pub(crate) fn coverage(
    programs: Programs<'_>,
    executed: &BTreeSet<Site>,
    source: &SourceFile,
) -> Coverage {
    let seen = executed_sites(programs, executed);
    let mut all: Vec<(Span, Option<LocId>, bool)> = seen
        .into_iter()
        .filter(|((_, span), _)| is_instruction(*span, source))
        .map(|((_, span), (location, seen))| (span, location, seen))
        .collect();
    all.sort_by_key(|(span, ..)| *span);
    let executed = all.iter().filter(|(.., seen)| *seen).count();
    let lines = text_ranges(&all, source);
    let sources = source_ranges(&all, programs.original);
    Coverage { instructions: all.len(), executed, lines, sources }
}

/// Lists every instruction and block end reachable from the kernel, with its source line and if it was executed.
fn executed_sites(
    Programs { original, ran, kernel }: Programs<'_>,
    executed: &BTreeSet<Site>,
) -> BTreeMap<Site, (Option<LocId>, bool)> {
    let calls = call_sites(original, kernel);
    let called_after = call_sites(ran, kernel);
    let mut all: BTreeMap<Site, (Option<LocId>, bool)> = BTreeMap::new();
    for (&id, sites) in &calls {
        let function = &original.functions[id];
        // Lifting recognised the function by name: its call became one operation.
        let replaced = !called_after.contains_key(&id);
        let by_call = sites.iter().any(|site| executed.contains(site));
        let left = remaining_spans(&ran.functions[id]);
        let entered = entered_blocks(function, id, &left, executed);
        let replaced_loops = retry_instructions(function, id, executed);
        for (block, data) in function.blocks.enumerate() {
            let instructions = data
                .instructions
                .iter()
                .map(|instruction| (instruction.span, instruction.location));
            for (span, location) in instructions.chain([(data.span, data.location)]) {
                let site = (id, span);
                let seen = match (replaced, left.contains(&span)) {
                    (true, _) => by_call,
                    (false, true) => executed.contains(&site),
                    (false, false) => entered[block],
                };
                let seen = seen || replaced_loops.contains(&span);
                all.entry(site).or_insert((location, false)).1 |= seen;
            }
        }
    }
    all
}

/// Functions that a kernel reaches, each with its call sites.
fn call_sites(program: &Program, kernel: FuncId) -> BTreeMap<FuncId, Vec<Site>> {
    let mut found: BTreeMap<FuncId, Vec<Site>> = BTreeMap::from([(kernel, Vec::new())]);
    let mut open = vec![kernel];
    while let Some(id) = open.pop() {
        for instruction in program.functions[id].instructions() {
            if let Op::Call { callee, .. } = instruction.op {
                let sites = found.entry(callee).or_insert_with(|| {
                    open.push(callee);
                    Vec::new()
                });
                sites.push((id, instruction.span));
            }
        }
    }
    found
}

/// Retry instructions of loops that wait for an mbarrier. The loop is one blocking operation, so no thread executes
/// them; they count as executed if that operation was.
fn retry_instructions(
    function: &Function,
    id: FuncId,
    executed: &BTreeSet<Site>,
) -> BTreeSet<Span> {
    let ways = ir::retry_instructions(function).into_iter();
    ways.filter(|(wait, _)| executed.contains(&(id, *wait))).flat_map(|(_, way)| way).collect()
}

/// The instructions of the text that a function still has, at least in part.
fn remaining_spans(function: &Function) -> BTreeSet<Span> {
    let ends = function.blocks.iter().map(|block| block.span);
    function.instructions().map(|instruction| instruction.span).chain(ends).collect()
}

/// Returns for each block if control reached it. Either a remaining instruction of it was executed, or nothing remains
/// and control reached a block before it.
fn entered_blocks(
    function: &Function,
    id: FuncId,
    left: &BTreeSet<Span>,
    executed: &BTreeSet<Site>,
) -> IndexVec<BlockId, bool> {
    let spans = |block: BlockId| {
        let data = &function.blocks[block];
        let instructions = data.instructions.iter().map(|instruction| instruction.span);
        instructions.chain([data.span])
    };
    let mut entered: IndexVec<BlockId, bool> = function
        .blocks
        .indices()
        .map(|block| spans(block).any(|span| executed.contains(&(id, span))))
        .collect();
    let vanished: IndexVec<BlockId, bool> = function
        .blocks
        .indices()
        .map(|block| !spans(block).any(|span| left.contains(&span)))
        .collect();
    let mut open: Vec<BlockId> =
        function.blocks.indices().filter(|&index| entered[index]).collect();
    while let Some(block) = open.pop() {
        for next in function.blocks[block].terminator.successors() {
            if vanished[next] && !entered[next] {
                entered[next] = true;
                open.push(next);
            }
        }
    }
    entered
}

/// Returns `true` if the text at a span is an instruction. The span of a block end may hold only the next label or the
/// closing brace.
fn is_instruction(span: Span, source: &SourceFile) -> bool {
    let text = source.slice(span);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@' || c == '_');
    let behind = source.text().get(span.end as usize..).unwrap_or_default();
    begins && !behind.trim_start().starts_with(':')
}

/// Ranges of lines with unexecuted instructions, joined across lines without instructions.
fn text_ranges(all: &[(Span, Option<LocId>, bool)], source: &SourceFile) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut continues = false;
    for &(span, _, seen) in all {
        let (first, last) = (source.line(span.start), source.line(span.end.max(span.start)));
        match ranges.last_mut() {
            _ if seen => {}
            Some(range) if continues || range.1 >= first => range.1 = range.1.max(last),
            _ => ranges.push((first, last)),
        }
        continues = !seen;
    }
    ranges
}

/// Source lines without an executed instruction.
fn source_ranges(
    all: &[(Span, Option<LocId>, bool)],
    program: &Program,
) -> BTreeMap<String, Vec<(u32, u32)>> {
    let mut lines: BTreeMap<(&str, u32), bool> = BTreeMap::new();
    for &(span, location, seen) in all {
        if let Some(line) = outermost_line(Place { span, location }, program) {
            *lines.entry(line).or_default() |= seen;
        }
    }
    let mut ranges: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    for ((file, line), _) in lines.into_iter().filter(|(_, seen)| !seen) {
        let of_file = ranges.entry(file.to_owned()).or_default();
        match of_file.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => of_file.push((line, line)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Index;

    fn program(text: &str) -> (Program, SourceFile) {
        let source = SourceFile::new("k.ptx", text).unwrap();
        let lowered = ptx::lower(&ptx::syntax::parse(source.text()).module);
        (lowered.program, source)
    }

    #[test]
    fn labels_and_the_closing_brace_do_not_count() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n\
                    .reg .u32 %r<3>;\n mov.u32 %r1, 1;\nL1:\n add.u32 %r2, %r1, 1;\n}\n";
        let (program, source) = program(text);
        let kernel = FuncId::from_position(0);
        let programs = Programs { original: &program, ran: &program, kernel };
        let coverage = coverage(programs, &BTreeSet::new(), &source);
        assert_eq!((coverage.instructions, coverage.executed), (2, 0));
        assert_eq!(coverage.lines, [(6, 8)]);
    }
}
