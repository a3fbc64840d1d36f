//! How much of a kernel a run saw: which instructions of the PTX no thread executed.
//!
//! Counted are the instructions of the kernel and of the functions it calls, as they stand in the text: labels,
//! directives and what the front end reads without making anything of it do not count. A lifted program ([`lift`])
//! lacks some of them. One that lifting took away counts as executed only if something that is left of its basic
//! block was; of a block of which nothing is left, if control came to a block before it. That can call pure code
//! executed whose result nobody uses, and never an access to memory: those stay in a lifted program.
//!
//! A loop that waits for an mbarrier is one blocking operation: what asks again in it counts as executed if that was.

use crate::source_lines::outermost_line;
use base::{IndexVec, SourceFile, Span};
use exec::Place;
use ir::{BlockId, FuncId, Function, LocId, Op, Program};
use std::collections::{BTreeMap, BTreeSet};

/// What a run saw of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Instructions of the kernel and of the functions it calls.
    pub(crate) instructions: usize,
    /// Those that some thread executed.
    pub(crate) executed: usize,
    /// Lines of the PTX with the others: first and last line of each range.
    pub(crate) lines: Vec<(u32, u32)>,
    /// Lines of the sources of which no instruction was executed, by file.
    pub(crate) sources: BTreeMap<String, Vec<(u32, u32)>>,
}

/// A program before and after lifting, and the kernel of the launch.
#[derive(Clone, Copy)]
pub(crate) struct Programs<'p> {
    pub(crate) original: &'p Program,
    pub(crate) ran: &'p Program,
    pub(crate) kernel: FuncId,
}

/// A place of the text where an instruction stands.
type Site = (FuncId, Span);

/// What a run that executed these instructions saw.
pub(crate) fn coverage(
    programs: Programs<'_>,
    executed: &BTreeSet<Site>,
    source: &SourceFile,
) -> Coverage {
    let seen = seen(programs, executed);
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

/// Every instruction and end of a block of what the kernel reaches: its source line, and whether it was executed.
fn seen(
    Programs { original, ran, kernel }: Programs<'_>,
    executed: &BTreeSet<Site>,
) -> BTreeMap<Site, (Option<LocId>, bool)> {
    let calls = called(original, kernel);
    let called_after = called(ran, kernel);
    let mut all: BTreeMap<Site, (Option<LocId>, bool)> = BTreeMap::new();
    for (&id, sites) in &calls {
        let function = &original.functions[id];
        // A function that lifting knows by name: its call became one operation.
        let replaced = !called_after.contains_key(&id);
        let by_call = sites.iter().any(|site| executed.contains(site));
        let left = left_of(&ran.functions[id]);
        let entered = entered(function, id, &left, executed);
        let replaced_loops = replaced_loops(function, id, executed);
        for (block, data) in function.blocks.enumerate() {
            let instructions = data.instructions.iter().map(|one| (one.span, one.location));
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

/// Functions that a kernel reaches, each with the calls of it.
fn called(program: &Program, kernel: FuncId) -> BTreeMap<FuncId, Vec<Site>> {
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

/// Instructions that ask again in a loop which waits for an mbarrier. The loop is one blocking operation, so nobody executes
/// them; they count as executed if that operation was.
fn replaced_loops(function: &Function, id: FuncId, executed: &BTreeSet<Site>) -> BTreeSet<Span> {
    let ways = ir::ways_back(function).into_iter();
    ways.filter(|(wait, _)| executed.contains(&(id, *wait))).flat_map(|(_, way)| way).collect()
}

/// The instructions of the text that a function still has something of.
fn left_of(function: &Function) -> BTreeSet<Span> {
    let ends = function.blocks.iter().map(|block| block.span);
    function.instructions().map(|instruction| instruction.span).chain(ends).collect()
}

/// For each block whether control came to it: something that is left of it was executed, or nothing is left and
/// control came to a block before it.
fn entered(
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
    let mut open: Vec<BlockId> = function.blocks.indices().filter(|&one| entered[one]).collect();
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

/// A block may end where the next label stands or at the end of the function: no instruction stands there.
fn is_instruction(span: Span, source: &SourceFile) -> bool {
    let text = source.slice(span);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@' || c == '_');
    let behind = source.text().get(span.end as usize..).unwrap_or_default();
    begins && !behind.trim_start().starts_with(':')
}

/// Lines of the text with instructions that were not executed; what lies between two of them joins them.
fn text_ranges(all: &[(Span, Option<LocId>, bool)], source: &SourceFile) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut goes_on = false;
    for &(span, _, seen) in all {
        let (first, last) = (source.line(span.start), source.line(span.end.max(span.start)));
        match ranges.last_mut() {
            _ if seen => {}
            Some(range) if goes_on || range.1 >= first => range.1 = range.1.max(last),
            _ => ranges.push((first, last)),
        }
        goes_on = !seen;
    }
    ranges
}

/// Source lines of which no instruction was executed.
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
