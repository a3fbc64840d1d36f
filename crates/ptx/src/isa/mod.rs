//! The catalogue of instructions: the only place that knows opcodes.
//!
//! An instruction form is one [`Form`]: its syntax in the manual, examples that a test lowers, and the function that
//! turns it into core operations. Forms live in one file for each family; adding one touches nothing else. Every
//! opcode of the manual is here. Unsupported ones are listed too, so that a refusal can name them
//! ([`Lowering::Unsupported`]).

mod address;
mod form;
mod insn;
mod operand;
mod redux_float;
mod special;
mod types;

mod atomic;
mod bulk;
mod cache;
mod cluster;
mod compare;
mod control;
mod convert;
mod convert_pair;
mod data;
mod extended;
mod float;
mod functions;
mod half;
mod integer;
mod logic;
mod map_change;
mod matrix;
mod mbarrier;
mod memory;
mod mma;
mod sync;
mod tensor_copy;
mod tensor_memory;
mod unsupported;
mod video;
mod warp;
mod wgmma;
mod wmma;

use form::by;
pub use form::{Form, LowerFn, Lowering};
pub(crate) use form::{Lower, Refusal};
pub(crate) use insn::{Fit, Insn};
pub(crate) use types::Type;

use crate::lower::{Builder, Mark};
use crate::syntax::ast::Instruction;
use base::{Code, Diagnostic};
use ir::{Access, Address, AddressBase, Op};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Registers and memory for the examples.
const EXAMPLE_DECLARATIONS: &str = "\
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<33>; .reg .b64 %rd<9>; .reg .b128 %q<5>;
.reg .f32 %f<33>; .reg .f64 %fd<9>; .shared .align 16 .b8 smem[1024]; .local .align 16 .b8 stack[64];
";

/// Builds a module whose only kernel executes a catalogue example and returns at the label `Done`.
#[must_use]
pub fn example_module(example: &str, target: &str) -> String {
    format!(
        ".version 9.0\n.target {target}\n.address_size 64\n\
         .func (.param .b32 result) callee(.param .b64 x, .param .b32 y) {{ ret; }}\n\
         .global .align 16 .b8 gmem[1024];\n.const .align 16 .b8 cmem[64];\n\
         .entry example(.param .u64 p0, .param .u32 p1) {{\n\
         {EXAMPLE_DECLARATIONS}\n{example}\nDone: ret;\n}}\n"
    )
}

/// Forms that belong together.
#[derive(Debug)]
pub struct Family {
    /// Their common subject, in a few words.
    pub name: &'static str,
    /// Set if the forms wait for, or communicate with, other threads or asynchronous agents.
    pub synchronizes: bool,
    /// The forms.
    pub forms: &'static [Form],
}

const fn family(name: &'static str, forms: &'static [Form]) -> Family {
    Family { name, synchronizes: false, forms }
}

const fn sync_family(name: &'static str, forms: &'static [Form]) -> Family {
    Family { name, synchronizes: true, forms }
}

/// The families, in the order in which their forms are tried. Unsupported ones come first, because they claim some
/// modifiers of supported opcodes. Mixed-precision forms come before those of one precision, and packed conversions
/// before the others. A `static`, because [`family_of`] compares addresses, and a constant may be copied to several.
pub static FAMILIES: &[Family] = &[
    family("memory of several devices", unsupported::ADDRESSES),
    sync_family("changes of tensor maps", map_change::FORMS),
    family("textures and surfaces", unsupported::TEXTURES),
    sync_family("tensor copies", tensor_copy::FORMS),
    sync_family("bulk copies", bulk::FORMS),
    sync_family("clusters", cluster::FORMS),
    sync_family("restricted fences and launch control", unsupported::SYNCHRONISATION),
    sync_family("products of warp groups", wgmma::FORMS),
    family("stack", unsupported::STACK),
    sync_family("tensor memory", tensor_memory::FORMS),
    family("video", video::FORMS),
    family("extended-precision integer arithmetic", extended::FORMS),
    family("integer arithmetic", integer::FORMS),
    family("floating point", float::FORMS),
    family("roots and functions", functions::FORMS),
    family("half precision", half::FORMS),
    family("comparison and selection", compare::FORMS),
    family("logic and shift", logic::FORMS),
    family("data movement", data::FORMS),
    family("packed conversion", convert_pair::FORMS),
    family("conversion", convert::FORMS),
    family("memory", memory::FORMS),
    family("cache policies", cache::FORMS),
    family("control flow", control::FORMS),
    sync_family("transaction barriers", mbarrier::FORMS),
    sync_family("barriers and asynchronous copies", sync::FORMS),
    sync_family("warp collectives", warp::FORMS),
    sync_family("atomics", atomic::FORMS),
    family("fragments of unspecified layout", wmma::FORMS),
    family("matrix multiplication", mma::FORMS),
    family("matrix movement", matrix::FORMS),
];

/// Returns all forms, family by family.
pub fn catalogue() -> impl Iterator<Item = &'static Form> {
    FAMILIES.iter().flat_map(|family| family.forms)
}

/// Returns the family an instruction belongs to; `None` if it is not in the manual.
#[must_use]
pub fn family_of(instruction: &Instruction<'_>) -> Option<&'static Family> {
    let form: *const Form = find(instruction).ok()?;
    FAMILIES.iter().find(|family| family.forms.as_ptr_range().contains(&form))
}

fn forms_of(opcode: &str) -> &'static [&'static Form] {
    static INDEX: OnceLock<FxHashMap<&str, Vec<&Form>>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index: FxHashMap<&str, Vec<&Form>> = FxHashMap::default();
        catalogue().for_each(|form| index.entry(form.opcode).or_default().push(form));
        index
    });
    index.get(opcode).map_or(&[], Vec::as_slice)
}

/// Finds the form of an instruction: the first one of its opcode that matches.
fn find(instruction: &Instruction<'_>) -> Lower<&'static Form> {
    let opcode = instruction.opcode;
    let forms = forms_of(opcode.text);
    if forms.is_empty() {
        // It may be of a newer version of PTX, so this is an unsupported instruction and not an error.
        let message = format!("`{}` is not an instruction that PTX ISA 9 knows", opcode.text);
        let unknown = Diagnostic::unsupported(Code::UnknownInstruction, opcode.span(), message);
        return Err(Box::new(unknown));
    }
    let has = |name: &&str| instruction.modifiers.iter().any(|modifier| modifier.text == *name);
    let matches = |form: &&&'static Form| form.when.is_empty() || form.when.iter().any(has);
    forms.iter().find(matches).copied().ok_or_else(|| {
        let message = format!("no form of `{}` has these modifiers", opcode.text);
        let span = instruction.modifiers.first().map_or(opcode.span(), |name| name.span());
        let unsupported = Diagnostic::unsupported(Code::UnsupportedModifier, span, message);
        Box::new(unsupported)
    })
}

/// Lowers one instruction into `builder`. A refusal is recorded, and [`Op::Unsupported`] replaces the instruction.
pub(crate) fn lower_instruction<'a>(builder: &mut Builder<'_, 'a>, instruction: &Instruction<'a>) {
    let mark = builder.mark();
    match try_lower(builder, instruction) {
        Ok(()) => {
            debug_assert!(
                reads_before_writes(builder, mark),
                "an entry reads an operand after writing a destination: {instruction:?}"
            );
            protect_guard(builder, instruction, mark);
        }
        Err(refusal) => {
            builder.roll_back(mark);
            let what = refusal.message.to_string();
            builder.context.diagnostics.push(*refusal);
            builder.emit(None, Op::Unsupported { what }, instruction.at.0);
        }
    }
}

/// Lowers one instruction, or refuses it.
fn try_lower<'a>(builder: &mut Builder<'_, 'a>, instruction: &Instruction<'a>) -> Lower {
    let form = find(instruction)?;
    let mut insn = Insn::new(builder, instruction)?;
    match &form.lowering {
        Lowering::By(lower) => lower.0(&mut insn)?,
        Lowering::Unsupported => {
            let why = format!("not supported yet (manual §{})", form.section);
            return Err(insn.unsupported(&why));
        }
    }
    insn.finish()
}

/// Checks that no operation reads a register of the program after an earlier one of the same instruction has written
/// one.
fn reads_before_writes(builder: &mut Builder<'_, '_>, mark: Mark) -> bool {
    let operations: Vec<Op> = builder.since(mark).iter().map(|instr| instr.op.clone()).collect();
    let mut written = false;
    for op in &operations {
        let mut reads = false;
        let mut writes = false;
        op.visit(&mut |access| match access {
            Access::Write(register) => writes |= !builder.is_temporary(register),
            Access::Read(ir::Operand::Register(register))
            | Access::Address(Address { base: AddressBase::Register(register), .. }) => {
                reads |= !builder.is_temporary(register);
            }
            _ => {}
        });
        if written && reads {
            return false;
        }
        written |= writes;
    }
    true
}

/// Copies the guard if an operation other than the last writes it: the later ones must still see the old value.
fn protect_guard(builder: &mut Builder<'_, '_>, instruction: &Instruction<'_>, mark: Mark) {
    let emitted = builder.since(mark);
    let Some(guard) = emitted.first().and_then(|instr| instr.guard) else { return };
    let Some((_, earlier)) = emitted.split_last() else { return };
    let mut overwritten = false;
    for instr in earlier {
        instr.op.visit(&mut |access| overwritten |= access == Access::Write(guard.register));
    }
    if !overwritten {
        return;
    }
    let copy = builder.temporary(ir::Width::B1);
    for instr in builder.since(mark) {
        if let Some(guard) = &mut instr.guard {
            guard.register = copy;
        }
    }
    let op = Op::Copy { dst: copy, src: guard.register.into() };
    builder.insert_at(mark, op, instruction.at.0);
}
