//! Finds differences that a proof over the reals hides: places where the optimised kernel computes in fewer bits than
//! the reference.
//!
//! Works on the text of the kernels and the functions they call, not on a run. It looks for sums (multiply-adds,
//! additions, products of matrices) in a narrower format than the narrowest of the reference, and conversions to a
//! narrower format with a result that is not only stored. The notes are advice beside a verdict, never part of it:
//! one may name an instruction that is not executed, or a conversion that loses nothing.

use crate::source_lines::outermost_line;
use base::SourceFile;
use exec::Place;
use ir::{
    Access, Element, FloatBinary, Format, FuncId, Function, Instr, Op, Operand, Program, Reg,
    Scalar, Space,
};
use rustc_hash::FxHashSet;

/// A kernel of a program, with its file.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'k> {
    pub(crate) program: &'k Program,
    pub(crate) function: FuncId,
    pub(crate) source: &'k SourceFile,
    /// The source is a formula.
    pub(crate) is_formula: bool,
}

impl<'k> Kernel<'k> {
    /// The kernel and the functions it calls.
    pub(crate) fn functions(&self) -> Vec<&'k Function> {
        let mut reached = vec![self.function];
        let mut next = 0;
        while let Some(&id) = reached.get(next) {
            next += 1;
            for instruction in self.program.functions[id].instructions() {
                if let Op::Call { callee, .. } = instruction.op
                    && !reached.contains(&callee)
                {
                    reached.push(callee);
                }
            }
        }
        reached.into_iter().map(|id| &self.program.functions[id]).collect()
    }

    /// The line of a place, of the outermost call for inlined code.
    pub(crate) fn line(&self, place: Place) -> String {
        match outermost_line(place, self.program) {
            Some((file, line)) => format!("{file}:{line}"),
            None => {
                let (name, line) = (self.source.name(), self.source.line(place.span.start));
                if self.is_formula { format!("{name}:{line}") } else { format!("line {line}") }
            }
        }
    }
}

/// Bits of the significand, the precision of a format.
fn significand_bits(format: Format) -> u32 {
    match format {
        Format::F64 => 53,
        Format::F32 => 24,
        Format::Tf32 | Format::F16 => 11,
        Format::Bf16 => 8,
        Format::E4m3 => 4,
        Format::E5m2 => 3,
    }
}

fn name(format: Format) -> &'static str {
    match format {
        Format::F64 => "f64",
        Format::F32 => "f32",
        Format::Tf32 => "tf32",
        Format::F16 => "f16",
        Format::Bf16 => "bf16",
        Format::E4m3 => "e4m3",
        Format::E5m2 => "e5m2",
    }
}

/// Returns a note for each difference in precision, in the order of the text.
pub(crate) fn notes(reference: Kernel<'_>, optimised: Kernel<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let narrowest = |kernel: Kernel<'_>| {
        let all = kernel.functions().into_iter().flat_map(Function::instructions);
        all.filter_map(|instruction| Some((sums_in(&instruction.op)?, place(instruction))))
            .min_by_key(|(format, place)| (significand_bits(*format), *place))
    };
    if let Some((ours, place)) = narrowest(optimised) {
        let line = optimised.line(place);
        // A formula has no format; people expect single precision of a kernel.
        match if reference.is_formula { None } else { narrowest(reference) } {
            Some((theirs, _)) if significand_bits(ours) < significand_bits(theirs) => {
                let (ours, theirs) = (name(ours), name(theirs));
                notes.push(format!("{line} sums in {ours}, the reference in {theirs}"));
            }
            None if reference.is_formula
                && significand_bits(ours) < significand_bits(Format::F32) =>
            {
                notes.push(format!("{line} sums in {}", name(ours)));
            }
            _ => {}
        }
    }
    let known = if reference.is_formula { Vec::new() } else { narrowings(reference) };
    let known: Vec<(Format, Format)> = known.into_iter().map(|(_, formats)| formats).collect();
    for (place, formats) in narrowings(optimised) {
        if !known.contains(&formats) {
            let line = optimised.line(place);
            let (from, to) = (name(formats.0), name(formats.1));
            let note = format!("{line} narrows an intermediate value from {from} to {to}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

fn place(instruction: &Instr) -> Place {
    Place { span: instruction.span, location: instruction.location }
}

/// The format in which an operation accumulates; `None` for operations without an accumulator.
fn sums_in(op: &Op) -> Option<Format> {
    match op {
        Op::Fma { format, .. } | Op::FloatBinary { op: FloatBinary::Add, format, .. } => {
            Some(*format)
        }
        Op::Mma(mma) => accumulator(mma.d_element),
        Op::WmmaMma(mma) => accumulator(mma.d_element),
        Op::Wgmma(mma) => accumulator(mma.d_element),
        _ => None,
    }
}

fn accumulator(element: Element) -> Option<Format> {
    match element {
        Element::F64 => Some(Format::F64),
        Element::F32 => Some(Format::F32),
        Element::F16 => Some(Format::F16),
        _ => None,
    }
}

/// Conversions to a narrower format whose result is used further, with the formats.
fn narrowings(kernel: Kernel<'_>) -> Vec<(Place, (Format, Format))> {
    let mut found = Vec::new();
    for function in kernel.functions() {
        let used = registers_used_further(function);
        for instruction in function.instructions() {
            if let Op::Convert { dst, from: Scalar::Float(from), to: Scalar::Float(to), .. } =
                instruction.op
                && significand_bits(to) < significand_bits(from)
                && used.contains(&dst)
            {
                found.push((place(instruction), (from, to)));
            }
            let cut = match &instruction.op {
                Op::Mma(mma) => mma.a_element == Element::Tf32,
                Op::WmmaMma(mma) => mma.a_element == Element::Tf32,
                Op::Wgmma(mma) => mma.a_element == Element::Tf32,
                _ => false,
            };
            if cut {
                found.push((place(instruction), (Format::F32, Format::Tf32)));
            }
        }
    }
    found
}

/// Registers used for more than a store to global memory, even after packing.
fn registers_used_further(function: &Function) -> FxHashSet<Reg> {
    let mut used = FxHashSet::default();
    let mut moves: Vec<(Reg, Reg)> = Vec::new();
    for instruction in function.instructions() {
        let packs = match &instruction.op {
            Op::Store(store) if store.space != Space::Shared => continue,
            Op::Copy { dst, .. } | Op::Concat { dst, .. } | Op::Resize { dst, .. } => Some(*dst),
            _ => None,
        };
        instruction.op.visit(&mut |access| {
            if let Access::Read(Operand::Register(register)) = access {
                match packs {
                    Some(into) => moves.push((register, into)),
                    None => {
                        used.insert(register);
                    }
                }
            }
        });
    }
    while moves.iter().any(|(from, into)| used.contains(into) && used.insert(*from)) {}
    used
}
