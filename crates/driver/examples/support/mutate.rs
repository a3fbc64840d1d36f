//! Mutations of one instruction of a kernel, on the text of its PTX.
//!
//! Leaves out changes that cannot matter over the reals: exchanged operands of commutative operations, rounding of
//! sums and products, signedness if the lowest bits are the same.

#![allow(dead_code, reason = "the test uses some of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use testing::Random;

/// A change of one line.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The kind of change, as named in the report.
    pub(crate) kind: &'static str,
    /// The line, from 0.
    pub(crate) line: usize,
    pub(crate) new: String,
}

/// Applies a change to a text.
pub(crate) fn changed(text: &str, change: &Change) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[change.line] = &change.new;
    lines.join("\n") + "\n"
}

/// The lines of a kernel's body.
pub(crate) fn body(text: &str, kernel: Option<&str>) -> Option<Range<usize>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_named = |line: &str, name: &str| {
        let mangled = format!("{}{name}", name.len());
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == name || word.starts_with(&format!("_Z{mangled}")))
    };
    let is_start =
        |line: &&str| line.contains(".entry") && kernel.is_none_or(|name| is_named(line, name));
    let start = lines.iter().position(is_start)?;
    let end = start + lines[start..].iter().position(|line| line.starts_with('}'))?;
    Some(start..end)
}

/// `was` becomes `is` in an opcode that begins with `start`.
struct Word {
    kind: &'static str,
    start: &'static str,
    was: &'static str,
    is: &'static str,
}

const fn word(
    kind: &'static str,
    start: &'static str,
    was: &'static str,
    is: &'static str,
) -> Word {
    Word { kind, start, was, is }
}

const WORDS: [Word; 46] = [
    word("comparison", "setp", ".lt.", ".le."),
    word("comparison", "setp", ".lt.", ".gt."),
    word("comparison", "setp", ".le.", ".lt."),
    word("comparison", "setp", ".gt.", ".ge."),
    word("comparison", "setp", ".gt.", ".lt."),
    word("comparison", "setp", ".ge.", ".gt."),
    word("comparison", "setp", ".eq.", ".ne."),
    word("comparison", "setp", ".eq.", ".ge."),
    word("comparison", "setp", ".ne.", ".eq."),
    word("comparison", "setp", ".ne.", ".lt."),
    word("comparison", "setp", ".neu.", ".equ."),
    word("operation", "add", "add.", "sub."),
    word("operation", "sub", "sub.", "add."),
    word("operation", "mul.f32", "mul", "add"),
    word("operation", "mul.ftz.f32", "mul", "add"),
    word("operation", "max", "max.", "min."),
    word("operation", "min", "min.", "max."),
    word("operation", "shl.b32", "shl.b32", "shr.u32"),
    word("operation", "shr.u32", "shr.u32", "shl.b32"),
    word("operation", "shr.s32", "shr.s32", "shl.b32"),
    word("operation", "and", "and.", "or."),
    word("operation", "or", "or.", "and."),
    word("operation", "or", "or.", "xor."),
    word("operation", "xor", "xor.", "or."),
    word("operation", "div.rn", "div.rn", "mul.rn"),
    word("operation", "div.approx", "div.approx", "mul"),
    word("operation", "div.s32", "div.s32", "rem.s32"),
    word("operation", "rem", "rem.", "div."),
    word("operation", "ex2", "ex2.", "lg2."),
    word("operation", "lg2", "lg2.", "ex2."),
    word("operation", "sqrt.rn.f32", "sqrt.rn", "rcp.rn"),
    word("operation", "sqrt.approx", "sqrt.approx", "rsqrt.approx"),
    word("operation", "rsqrt.approx", "rsqrt.approx", "sqrt.approx"),
    word("operation", "rcp", "rcp.", "sqrt."),
    word("operation", "sin", "sin.", "cos."),
    word("operation", "cos", "cos.", "sin."),
    word("operation", "neg.f32", "neg.", "abs."),
    word("operation", "abs.f32", "abs.", "neg."),
    word("operation", "shfl", ".bfly", ".down"),
    word("operation", "shfl", ".down", ".up"),
    word("operation", "shfl", ".up", ".down"),
    word("rounding", "cvt.rzi", ".rzi", ".rni"),
    word("rounding", "cvt.rni", ".rni", ".rzi"),
    word("rounding", "cvt.rmi", ".rmi", ".rpi"),
    word("rounding", "fma.rm", ".rm", ".rn"),
    word("rounding", "cvt.sat", ".sat", ""),
];

/// Types of data in loads, stores, conversions and matrix instructions.
const TYPES: [(&str, &str); 6] = [
    (".s8", ".u8"),
    (".u8", ".s8"),
    (".f16.", ".bf16."),
    (".bf16.", ".f16."),
    (".row", ".col"),
    (".trans", ""),
];

/// An instruction, split into its parts.
#[derive(Clone)]
pub(crate) struct Instruction<'t> {
    /// `@%p1`, or empty.
    pub(crate) guard: &'t str,
    pub(crate) opcode: &'t str,
    pub(crate) operands: Vec<&'t str>,
}

impl<'t> Instruction<'t> {
    pub(crate) fn new(code: &'t str) -> Option<Self> {
        let rest = code.strip_suffix(';')?;
        if rest.is_empty() || rest.starts_with(['.', '/', '$', '{', '}']) {
            return None;
        }
        let guarded = if rest.starts_with('@') { rest.find([' ', '\t'])? + 1 } else { 0 };
        let (guard, rest) = rest.split_at(guarded);
        let (opcode, tail) = rest.trim().split_once([' ', '\t']).unwrap_or((rest.trim(), ""));
        Some(Self { guard: guard.trim(), opcode, operands: split(tail.trim()) })
    }

    fn with_opcode(&self, opcode: &str) -> String {
        self.print(opcode, &self.operands)
    }

    pub(crate) fn with(&self, position: usize, operand: &str) -> String {
        let mut operands = self.operands.clone();
        operands[position] = operand;
        self.print(self.opcode, &operands)
    }

    fn print(&self, opcode: &str, operands: &[&str]) -> String {
        let text = format!("{} {opcode} {}", self.guard, operands.join(", "));
        format!("\t{};", text.trim())
    }

    fn is(&self, starts: &[&str]) -> bool {
        starts.iter().any(|start| self.opcode.starts_with(start))
    }

    /// Returns `true` if the first operand is written.
    pub(crate) fn has_destination(&self) -> bool {
        !self
            .is(&["st", "bar", "bra", "red", "ret", "cp.async", "call", "trap", "exit", "prefetch"])
    }
}

/// Operands, separated by commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut operands) = (0, 0, Vec::new());
    for (position, letter) in text.char_indices() {
        match letter {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(text[start..position].trim());
                start = position + 1;
            }
            _ => {}
        }
    }
    operands.push(text[start..].trim());
    operands.retain(|operand| !operand.is_empty());
    operands
}

/// All changes of the instructions in some lines, shuffled. The kinds take turns, so that rare ones are not lost
/// among many.
pub(crate) fn drawn(text: &str, body: Range<usize>, random: &mut Random) -> Vec<Change> {
    let mut possible = changes(text, body, &mut |limit| random.below(limit));
    possible.values_mut().for_each(|list| random.shuffle(list));
    let mut kinds: Vec<&str> = possible.keys().copied().collect();
    random.shuffle(&mut kinds);
    let mut all = Vec::new();
    loop {
        let taken = all.len();
        for kind in &kinds {
            all.extend(possible.get_mut(kind).and_then(Vec::pop));
        }
        if all.len() == taken {
            return all;
        }
    }
}

/// All changes of the instructions in some lines, by kind. For a register, `pick` chooses one of those written before
/// it.
fn changes(
    text: &str,
    body: Range<usize>,
    pick: &mut dyn FnMut(usize) -> usize,
) -> BTreeMap<&'static str, Vec<Change>> {
    let mut all: BTreeMap<&'static str, Vec<Change>> = BTreeMap::new();
    let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (line, old) in text.lines().enumerate().take(body.end).skip(body.start) {
        let code = old.trim();
        let Some(instruction) = Instruction::new(code) else { continue };
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let mut add = |kind, new: String| {
            if squeezed(&new) != squeezed(code) {
                all.entry(kind).or_default().push(Change { kind, line, new });
            }
        };
        whole(&instruction, &mut add);
        words(&instruction, &mut add);
        exchanged(&instruction, &mut add);
        operands(&instruction, &mut add);
        registers(&instruction, &written, pick, &mut add);
        if instruction.has_destination() {
            for name in instruction.operands.first().into_iter().flat_map(|one| names(one)) {
                written.entry(class(name)).or_default().insert(name);
            }
        }
    }
    all
}

/// Removes the instruction or its guard, or replaces it by something weaker.
fn whole(instruction: &Instruction<'_>, add: &mut dyn FnMut(&'static str, String)) {
    let bare = Instruction { guard: "", ..instruction.clone() };
    match (instruction.guard.strip_prefix("@!"), instruction.guard.strip_prefix('@')) {
        (Some(name), _) => add("predicate", format!("\t@{name}{}", bare.printed())),
        (None, Some(name)) => add("predicate", format!("\t@!{name}{}", bare.printed())),
        (None, None) => {}
    }
    if !instruction.guard.is_empty() {
        add("guard dropped", bare.printed());
    }
    let kind = match instruction.opcode {
        opcode if opcode.starts_with("bar.warp") => "barrier",
        opcode if opcode.starts_with("bar") => {
            add("barrier", "\tbar.warp.sync -1;".to_owned());
            "barrier"
        }
        opcode if opcode.starts_with("cp.async") => {
            if let (true, Some(count)) = (opcode.contains("wait_group"), instruction.number(0)) {
                add("wait count", instruction.with(0, &(count + 1).to_string()));
            }
            "asynchronous copy dropped"
        }
        opcode if ["st", "red", "atom"].iter().any(|one| opcode.starts_with(one)) => {
            "store dropped"
        }
        opcode if opcode.starts_with("bra") || opcode.starts_with("ret") => return,
        _ => "instruction dropped",
    };
    add(kind, "\t".to_owned());
}

impl Instruction<'_> {
    fn printed(&self) -> String {
        self.print(self.opcode, &self.operands)
    }

    fn number(&self, position: usize) -> Option<i64> {
        self.operands.get(position)?.parse().ok()
    }
}

/// Changes the operation, comparison or type.
fn words(instruction: &Instruction<'_>, add: &mut dyn FnMut(&'static str, String)) {
    for Word { kind, start, was, is } in WORDS {
        if instruction.opcode.starts_with(start) {
            add(kind, instruction.with_opcode(&instruction.opcode.replacen(was, is, 1)));
        }
    }
    if instruction.is(&["ld", "cvt", "mma", "dp4a", "ldmatrix", "wmma"]) {
        for (was, is) in TYPES {
            add("type", instruction.with_opcode(&instruction.opcode.replacen(was, is, 1)));
        }
    }
}

/// Exchanges two operands, unless it cannot matter.
fn exchanged(instruction: &Instruction<'_>, add: &mut dyn FnMut(&'static str, String)) {
    let places = match instruction.operands.len() {
        3 if instruction.is(&["sub", "div", "rem", "shl", "shr"]) => (1, 2),
        3 if instruction.is(&["setp"]) && !instruction.is(&["setp.eq", "setp.ne"]) => (1, 2),
        4 if instruction.is(&["selp"]) => (1, 2),
        4 if instruction.is(&["fma", "mad"]) => (2, 3),
        _ => return,
    };
    let mut operands = instruction.operands.clone();
    operands.swap(places.0, places.1);
    add("operands swapped", instruction.print(instruction.opcode, &operands));
}

/// Changes constants and offsets.
fn operands(instruction: &Instruction<'_>, add: &mut dyn FnMut(&'static str, String)) {
    let first = usize::from(instruction.has_destination());
    for (position, operand) in instruction.operands.iter().enumerate() {
        if let Some(inner) = operand.strip_prefix('[').and_then(|one| one.strip_suffix(']')) {
            if instruction.is(&["ld.param"]) {
                continue;
            }
            let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
            let Ok(offset) = offset.parse::<i64>() else { continue };
            for new in [offset + 4, offset - 4] {
                add("offset", instruction.with(position, &format!("[{base}+{new}]")));
            }
        } else if position < first || instruction.is(&["bar", "bra", "cp.async", "ld", "st"]) {
        } else if let Some(bits) =
            operand.strip_prefix("0f").and_then(|hex| u32::from_str_radix(hex, 16).ok())
        {
            for new in other_floats(bits) {
                add("float constant", instruction.with(position, &format!("0f{new:08X}")));
            }
        } else if let Ok(number) = operand.parse::<i64>() {
            for new in [number.wrapping_add(1), number.wrapping_sub(1), number.wrapping_mul(2)] {
                add("integer constant", instruction.with(position, &new.to_string()));
            }
        }
    }
}

/// The float next to it, its double, its negative; a number for an infinity, one for zero.
fn other_floats(bits: u32) -> Vec<u32> {
    let value = f32::from_bits(bits);
    if !value.is_finite() {
        return vec![0, bits ^ 0x8000_0000];
    }
    if value == 0.0 {
        return vec![1.0_f32.to_bits()];
    }
    vec![bits + 1, bits - 1, (value * 2.0).to_bits(), (-value).to_bits()]
}

/// Replaces a register that is read by another one of the same class.
fn registers(
    instruction: &Instruction<'_>,
    written: &BTreeMap<&str, BTreeSet<&str>>,
    pick: &mut dyn FnMut(usize) -> usize,
    add: &mut dyn FnMut(&'static str, String),
) {
    let guard = instruction.guard.trim_start_matches(['@', '!']);
    if let Some(other) = another(guard, written, pick).filter(|_| !guard.is_empty()) {
        let guard = instruction.guard.replace(guard, other);
        add("register", Instruction { guard: &guard, ..instruction.clone() }.printed());
    }
    let first = usize::from(instruction.has_destination());
    for (position, operand) in instruction.operands.iter().enumerate().skip(first) {
        let names: Vec<&str> = names(operand).collect();
        if names.is_empty() || instruction.is(&["bra", "call"]) {
            continue;
        }
        let name = names[pick(names.len())];
        if let Some(other) = another(name, written, pick) {
            add("register", instruction.with(position, &replaced(operand, name, other)));
        }
    }
}

fn another<'w>(
    name: &str,
    written: &BTreeMap<&str, BTreeSet<&'w str>>,
    pick: &mut dyn FnMut(usize) -> usize,
) -> Option<&'w str> {
    let others: Vec<&str> =
        written.get(class(name))?.iter().copied().filter(|other| *other != name).collect();
    (!others.is_empty()).then(|| others[pick(others.len())])
}

/// Registers in an operand.
fn names(operand: &str) -> impl Iterator<Item = &str> {
    let words = operand.split(|c: char| !c.is_alphanumeric() && !"%_.".contains(c));
    words.filter(|word| {
        word.starts_with('%') && !word.contains('.') && word.ends_with(|c: char| c.is_ascii_digit())
    })
}

/// The class of a register: `%rd` of `%rd12`.
fn class(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Replaces a register in an operand.
fn replaced(operand: &str, name: &str, other: &str) -> String {
    let start = operand.find(name).unwrap_or_default();
    // `%r1` does not match the start of `%r12`.
    let is_end = |at: usize| !operand[at..].starts_with(|c: char| c.is_ascii_digit());
    let mut at = start;
    while !is_end(at + name.len()) {
        match operand[at + 1..].find(name) {
            Some(next) => at += 1 + next,
            None => return operand.to_owned(),
        }
    }
    format!("{}{other}{}", &operand[..at], &operand[at + name.len()..])
}

/// The random stream of a seed and a name: each name is independent of the others.
pub(crate) fn random(seed: u64, name: &str) -> Random {
    let step = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_add(base::GAMMA);
    Random::new(name.bytes().fold(seed, step))
}
