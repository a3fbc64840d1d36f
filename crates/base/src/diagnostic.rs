//! Diagnostics about an input, as data. Rendering (text, JSON) happens in `driver`.

use crate::Span;
use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A remark that changes no answer.
    Note,
    /// The input is fine but Warpproof cannot follow it here: everything that depends on it is `unknown`.
    Unsupported,
    /// The input is wrong.
    Error,
}

/// Stable identifier of a kind of diagnostic, printed as `WP0001`.
///
/// Numbers are never reused. `WP00xx` are about reading the input; findings about kernels start at
/// `WP0100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The text is not PTX at this place.
    Syntax = 1,
    /// A name is not declared, declared twice, or used as something it is not.
    Name = 2,
    /// A constant or literal has no meaning here.
    Constant = 3,
    /// The input exceeds a limit of the reader.
    Limit = 4,
    /// A formula has an error.
    Formula = 5,
    /// An instruction of the manual that Warpproof does not model yet.
    UnsupportedInstruction = 10,
    /// A modifier that no catalogue entry of its instruction accepts.
    UnsupportedModifier = 11,
    /// A directive Warpproof does not model.
    UnsupportedDirective = 12,
    /// Operands that do not fit the instruction.
    Operand = 13,
    /// An opcode the manual does not know.
    UnknownInstruction = 14,
    /// Control flow Warpproof does not follow, such as recursion.
    UnsupportedControlFlow = 15,
    /// A construct of CUDA C that Warpproof does not model.
    UnsupportedConstruct = 16,
    /// A run could not be followed further than this.
    NotFollowed = 20,
    /// An access outside its allocation.
    OutOfBounds = 101,
    /// An access to an address outside of all allocations.
    WildAddress = 102,
    /// An access that is not aligned to its size.
    Misaligned = 103,
    /// A write to read-only memory.
    InputModified = 104,
    /// A relevant value is undefined.
    UndefinedValue = 105,
    /// An integer division by zero.
    DivisionByZero = 106,
    /// A trap or failed assertion.
    Trap = 107,
    /// Threads that wait for each other.
    Deadlock = 108,
    /// Unordered accesses.
    Race = 109,
    /// Lanes of a warp at different barrier instructions.
    BarrierDivergence = 110,
    /// A barrier with a wrong number, count or set of threads.
    BarrierMisuse = 111,
    /// A barrier used again before its last use is complete on every schedule.
    BarrierReuse = 112,
    /// An invalid collective operation of a warp's lanes.
    WarpCollective = 113,
    /// An asynchronous copy that is started or ended incorrectly.
    AsyncCopy = 114,
    /// Integer arithmetic that leaves the range of its type.
    Overflow = 115,
    /// A claim of an annotation that does not hold.
    Assertion = 116,
    /// A result of a kernel that contradicts its contract.
    Postcondition = 117,
    /// An output with elements that are never written.
    UnwrittenOutput = 130,
    /// A launch that no GPU accepts.
    Launch = 131,
    /// Arguments that do not fit the kernel.
    Arguments = 132,
    /// Two kernels that compute different values.
    Different = 140,
    /// Floats of the optimised kernel that are infinite or NaN while the reference's are finite.
    NotFinite = 141,
}

impl Code {
    /// All of them, in order.
    pub const ALL: [Self; 35] = [
        Self::Syntax,
        Self::Name,
        Self::Constant,
        Self::Limit,
        Self::Formula,
        Self::UnsupportedInstruction,
        Self::UnsupportedModifier,
        Self::UnsupportedDirective,
        Self::Operand,
        Self::UnknownInstruction,
        Self::UnsupportedControlFlow,
        Self::UnsupportedConstruct,
        Self::NotFollowed,
        Self::OutOfBounds,
        Self::WildAddress,
        Self::Misaligned,
        Self::InputModified,
        Self::UndefinedValue,
        Self::DivisionByZero,
        Self::Trap,
        Self::Deadlock,
        Self::Race,
        Self::BarrierDivergence,
        Self::BarrierMisuse,
        Self::BarrierReuse,
        Self::WarpCollective,
        Self::AsyncCopy,
        Self::Overflow,
        Self::Assertion,
        Self::Postcondition,
        Self::UnwrittenOutput,
        Self::Launch,
        Self::Arguments,
        Self::Different,
        Self::NotFinite,
    ];

    /// Parses a code; accepts lower case and a missing `WP`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_start_matches(['w', 'W']).trim_start_matches(['p', 'P']);
        let number: u16 = digits.parse().ok()?;
        Self::ALL.into_iter().find(|&code| code as u16 == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WP{:04}", *self as u16)
    }
}

/// A line of the source from which the input was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the input names it; `None` if the input names none.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u32,
    /// Set if the line belongs to a library. It is then inlined into a line that precedes it in [`Label::origin`].
    pub in_library: bool,
}

/// A place in the input, with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The message; may be empty if the diagnostic's message is enough.
    pub message: Box<str>,
    /// The source lines that were compiled to the place: first the user's innermost line, then the call sites at which
    /// it was inlined, then the lines of libraries inlined into it.
    pub origin: Box<[SourceLine]>,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The kind.
    pub code: Code,
    /// One line that makes sense alone.
    pub message: Box<str>,
    /// The place it is about.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// An explanation, if it needs more than the places say.
    pub note: Option<Box<str>>,
    /// Advice, if there is any.
    pub help: Option<Box<str>>,
}

impl Diagnostic {
    /// A diagnostic at `span` with only a message.
    #[must_use]
    pub fn new(severity: Severity, code: Code, span: Span, message: impl Into<Box<str>>) -> Self {
        Self {
            severity,
            code,
            message: message.into(),
            primary: Label { span, message: "".into(), origin: Box::default() },
            secondary: Vec::new(),
            note: None,
            help: None,
        }
    }

    /// An error in the input.
    #[must_use]
    pub fn error(code: Code, span: Span, message: impl Into<Box<str>>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    /// A correct construct that is not modelled.
    #[must_use]
    pub fn unsupported(code: Code, span: Span, message: impl Into<Box<str>>) -> Self {
        Self::new(Severity::Unsupported, code, span, message)
    }

    /// Sets the message at the primary place.
    #[must_use]
    pub fn label(mut self, message: impl Into<Box<str>>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Sets the lines that the primary place was made from.
    #[must_use]
    pub fn origin(mut self, origin: Vec<SourceLine>) -> Self {
        self.primary.origin = origin.into_boxed_slice();
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn also(self, span: Span, message: impl Into<Box<str>>) -> Self {
        self.also_from(span, message, Vec::new())
    }

    /// Points at a second place, with the lines it was made from.
    #[must_use]
    pub fn also_from(
        mut self,
        span: Span,
        message: impl Into<Box<str>>,
        origin: Vec<SourceLine>,
    ) -> Self {
        let origin = origin.into_boxed_slice();
        self.secondary.push(Label { span, message: message.into(), origin });
        self
    }

    /// Adds an explanation.
    #[must_use]
    pub fn note(mut self, note: impl Into<Box<str>>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<Box<str>>) -> Self {
        self.help = Some(help.into());
        self
    }
}
