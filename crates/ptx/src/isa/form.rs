//! A form of an instruction, as the tables have it.

use super::Insn;
use base::Diagnostic;

/// Why an instruction was not lowered.
pub(crate) type Refusal = Box<Diagnostic>;

/// The outcome of lowering, or of a part of it.
pub(crate) type Lower<T = ()> = Result<T, Refusal>;

/// A form of an instruction.
#[derive(Debug)]
pub struct Form {
    /// The opcode up to the first dot.
    pub opcode: &'static str,
    /// The form is meant if one of these modifiers is present; if empty, always. Among the forms
    /// of an opcode the first that is meant wins.
    pub when: &'static [&'static str],
    /// How the manual writes it.
    pub syntax: &'static str,
    /// Section of the manual (PTX ISA 9).
    pub section: &'static str,
    /// Instructions of this form, to be read inside [`example_module`](super::example_module).
    pub examples: &'static [&'static str],
    /// What to do with it.
    pub lowering: Lowering,
}

/// How a form becomes core operations.
pub enum Lowering {
    /// By this function.
    By(LowerFn),
    /// Not modelled yet.
    Unsupported,
}

/// Lowers one instruction; public only as an opaque part of [`Lowering`].
pub struct LowerFn(pub(crate) fn(&mut Insn<'_, '_, '_>) -> Lower);

/// Short for use in the tables.
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
