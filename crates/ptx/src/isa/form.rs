//! The type of a catalogue entry: a form of an instruction.

use super::Insn;
use base::Diagnostic;

/// The reason why an instruction was not lowered.
pub(crate) type Refusal = Box<Diagnostic>;

/// The outcome of lowering, or of a part of it.
pub(crate) type Lower<T = ()> = Result<T, Refusal>;

/// A form of an instruction.
#[derive(Debug)]
pub struct Form {
    /// The opcode up to the first dot.
    pub opcode: &'static str,
    /// The form matches if one of these modifiers is present; if empty, always. Among the forms of an opcode the
    /// first match wins.
    pub when: &'static [&'static str],
    /// Its syntax in the manual.
    pub syntax: &'static str,
    /// Section of the manual (PTX ISA 9).
    pub section: &'static str,
    /// Example instructions, to be read inside [`example_module`](super::example_module).
    pub examples: &'static [&'static str],
    /// Its lowering.
    pub lowering: Lowering,
}

/// The lowering of a form to core operations.
pub enum Lowering {
    /// By this function.
    By(LowerFn),
    /// Not modelled yet.
    Unsupported,
}

/// Lowers one instruction; public only as an opaque part of [`Lowering`].
pub struct LowerFn(pub(crate) fn(&mut Insn<'_, '_, '_>) -> Lower);

/// Wraps a function as a [`Lowering`]. The name is short because every row of the tables has it: `lowering: by(…)`.
pub(super) const fn by(lower: fn(&mut Insn<'_, '_, '_>) -> Lower) -> Lowering {
    Lowering::By(LowerFn(lower))
}

impl std::fmt::Debug for Lowering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::By(_) => "By",
            Self::Unsupported => "Unsupported",
        })
    }
}
