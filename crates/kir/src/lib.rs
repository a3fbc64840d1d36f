//! Kernel IR, the input of the engines: structured, typed, without names and C's syntax.
//!
//! # Meaning
//!
//! A *launch* gives a value to every parameter, to `blockDim` and `gridDim` on three axes, and contents to
//! every global array. `gridDim` blocks of `blockDim` threads execute `body`, each thread with its own
//! variables; a variable holds nothing until it is assigned. Shared arrays exist once for each block, local
//! ones once for each thread, global ones once; shared and local ones hold nothing at first.
//!
//! Expressions are pure: they read variables and built-in values and nothing else, so their order does not matter. An
//! integer operation is computed in the integers and then taken modulo 2^bits into the range of its type; if the type
//! is signed and the result was outside, the thread has *overflowed* (undefined in C). [`Type::Whole`] has no range.
//! Division truncates toward zero and has *no value* for a zero divisor. `>>` rounds down; `<<` multiplies. The right
//! side of `And` (`Or`) is evaluated only if the left one is true (false), the branches of `Select` only if chosen.
//! Floats only matter to the interpreter, which uses doubles.
//!
//! Statements run in order. `Load`, `Store` and `Atomic` access one element, given by one index for each dimension;
//! an index outside `0..dimension` is *out of bounds*. `Loop` is `loop { head; if !condition {break}; body; step }`,
//! `Continue` goes to `step`. `Barrier` waits until every thread of the block is at *this* barrier, in the same
//! iteration of all loops around it; anything else is a *divergence*. `Warp` is the same for the threads of a warp:
//! 32 threads with consecutive numbers in the block. `Return` ends the thread, `Assume` restricts the launches
//! considered, `Assert` claims. `Claims` stands before a barrier, with claims about the state when all threads of the
//! block have reached it: for every thread, and for every two different ones if [`ExprKind::Other`] occurs.
//!
//! Two accesses of one element by different threads *race* if one is a store, not both are atomic, and
//! no barrier of their block lies between them; two stores of equal values do not.

mod claims;
pub mod depth;
pub mod liveness;
pub mod partial;
mod precision;
mod range;
pub mod relevance;
mod signature;
pub mod spec;
mod textures;
mod walk;

pub use claims::{
    CallContract, Claim, Contract, Fold, FoldOp, Footprint, Lemma, Monoid, Quantifier, Unfollowed,
    When, barrier_claims, drop_claims, used_lemmas,
};

pub use precision::{Precision, significant_bits};
pub use signature::{
    Parameter, Part, Records, Scalar, Signature, SignatureError, TemplateParameter,
};
pub use textures::{FETCH_OF_INDEX, FETCH_TYPE_ARGUMENTS, is_fetch};
pub use walk::{each_expr, visit};

use base::{IndexVec, Span, define_index};
use std::collections::BTreeMap;
use std::sync::Arc;

define_index! {
    /// A variable of a thread, or a scalar parameter.
    pub struct VarId;
    /// An array.
    pub struct ArrayId;
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Truth values.
    Bool,
    /// Machine integers.
    Int {
        /// Width.
        bits: u8,
        /// Two's complement or not.
        signed: bool,
    },
    /// Unbounded integers, as in annotations.
    Whole,
    /// Floating-point numbers.
    Float,
}

impl Type {
    /// `int`.
    pub const INT: Self = Self::Int { bits: 32, signed: true };
    /// `unsigned`.
    pub const UNSIGNED: Self = Self::Int { bits: 32, signed: false };
    /// `long long`.
    pub const LONG: Self = Self::Int { bits: 64, signed: true };

    /// The type's name in C.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Bool => "bool".to_owned(),
            Self::Int { bits: 32, signed: true } => "int".to_owned(),
            Self::Int { bits: 32, signed: false } => "unsigned int".to_owned(),
            Self::Int { bits, signed: true } => format!("int{bits}_t"),
            Self::Int { bits, signed: false } => format!("uint{bits}_t"),
            Self::Whole => "integer".to_owned(),
            Self::Float => "float".to_owned(),
        }
    }
}

/// A built-in vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Builtin {
    /// `threadIdx`.
    Thread,
    /// `blockIdx`.
    Block,
    /// `blockDim`.
    BlockDim,
    /// `gridDim`.
    GridDim,
}

impl Builtin {
    /// CUDA's name with an axis.
    #[must_use]
    pub fn name(self, axis: usize) -> String {
        let name = match self {
            Self::Thread => "threadIdx",
            Self::Block => "blockIdx",
            Self::BlockDim => "blockDim",
            Self::GridDim => "gridDim",
        };
        format!("{name}.{}", ["x", "y", "z"].get(axis).copied().unwrap_or("?"))
    }
}

/// Operators on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`.
    Neg,
    /// `!`.
    Not,
    /// `~`.
    Complement,
    /// `true` if the operand is a power of two: 1, 2, 4, 8, …
    IsPow2,
    /// 2 to the power of the operand; only in annotations.
    Pow2,
    /// The greatest power of two that divides the operand, 0 for 0; only in annotations.
    LowBit,
}

/// Operators on two values of the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Min,
    Max,
}

/// Comparisons of two values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its operator and operands.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Its span in the source.
    pub span: Span,
}

/// The operator and operands of an expression.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the module's header has the meaning")]
pub enum ExprKind {
    Int(i128),
    Float(f64),
    Var(VarId),
    Builtin(Builtin, usize),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Compare(Compare, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion to the type of this expression.
    Convert(Box<Expr>),
    /// A mathematical function of floats, by C's name, or a fetch ([`is_fetch`]).
    Call(&'static str, Vec<Expr>),
    /// An element of an array; only in annotations, where uninitialised elements have no value.
    Element(ArrayId, When, Vec<Expr>),
    /// A quantified condition over integers; only in annotations.
    Quantified(Quantifier, Vec<VarId>, Box<Expr>),
    /// The combination of values over a range of integers; only in annotations.
    Fold(Box<Fold>),
    /// A call of a function that a clause declares to be a monoid.
    Combine(Arc<Monoid>, Vec<Expr>),
    /// A variable of another thread of the block; only in annotations.
    Other(Box<Expr>),
}

/// The update of an atomic operation; proofs only use whether it commutes with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum AtomicOp {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    /// `old >= operand ? 0 : old + 1`.
    Increment,
    /// `old == 0 || old > operand ? operand : old - 1`.
    Decrement,
}

/// An element of an array.
#[derive(Clone, Debug)]
pub struct Element {
    /// The array.
    pub array: ArrayId,
    /// An index for each dimension.
    pub index: Vec<Expr>,
    /// Its span in the source.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the module's header has the meaning")]
pub enum Stmt {
    Assign(VarId, Expr),
    Load(VarId, Element),
    Store(Element, Expr),
    /// The old value goes to the variable; operands are those of CUDA's function.
    Atomic {
        result: VarId,
        op: AtomicOp,
        element: Element,
        operands: Vec<Expr>,
    },
    /// Gives the variable an unknown value of its type, different each time.
    Unknown(VarId),
    /// A bit function of CUDA: an unknown value of its type in a proof, its result in a run.
    Bits(VarId, &'static str, Vec<Expr>),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    Loop(Box<Loop>),
    /// Claims at the next barrier, when all threads of the block have reached it.
    Claims(Vec<Claim>),
    /// The contract of a called function, at the next barrier, which ends the function.
    Given(Box<CallContract>),
    Barrier(Span),
    Warp(Span),
    Return,
    Break,
    Continue,
    Assert(Expr),
    /// An instance of a lemma, used as a fact; the span is the lemma's.
    Used(Expr, Span),
    Assume(Expr),
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Statements before each test of the condition.
    pub head: Vec<Stmt>,
    /// The condition to continue.
    pub condition: Expr,
    /// One iteration.
    pub body: Vec<Stmt>,
    /// Statements after it.
    pub step: Vec<Stmt>,
    /// Invariants at the head about integer variables alone.
    pub invariants: Vec<Expr>,
    /// Invariants about elements, real numbers, folds or all integers.
    pub claims: Vec<Claim>,
    /// Its span in the source.
    pub span: Span,
}

/// The memory space of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Visible to all threads.
    Global,
    /// One for each block.
    Shared,
    /// One for each thread.
    Local,
}

/// An array.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name in the source.
    pub name: String,
    /// Its memory space.
    pub space: Space,
    /// Type of its elements.
    pub element: Type,
    /// Its sizes in [`Type::Whole`], outermost first; `None` for one that is not stated.
    pub dimensions: Vec<Option<Expr>>,
    /// Set if the array is read-only for the kernel.
    pub constant: bool,
    /// Span of its declaration.
    pub span: Span,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name in the source, or a generated one.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A requirement of a contract on launches.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Variables that stand for all integers.
    pub forall: Vec<VarId>,
    /// The condition.
    pub condition: Expr,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Span of its name.
    pub span: Span,
    /// Scalars given by the launch: parameters, symbolic macros, template parameters.
    pub scalars: Vec<VarId>,
    /// Number of symbolic macros and template parameters: these are the first scalars.
    pub macros: usize,
    /// All variables.
    pub vars: IndexVec<VarId, Var>,
    /// All arrays; global ones first, in the order of parameters.
    pub arrays: IndexVec<ArrayId, Array>,
    /// Requirements of its contract.
    pub requires: Vec<Requirement>,
    /// Sizes that clauses give to arrays: spans of the array and of the size.
    pub extents: Vec<(Span, Span)>,
    /// The contract's claims about the end of the launch, one for each conjunct.
    pub ensures: Vec<Claim>,
    /// The contract's allowed accesses, if stated.
    pub footprints: Vec<Footprint>,
    /// Contracts of functions that are assumed at their calls.
    pub contracts: Vec<Contract>,
    /// Lemmas of the file.
    pub lemmas: Vec<Lemma>,
    /// Monoids of the file.
    pub monoids: Vec<Monoid>,
    /// Unsupported clauses.
    pub unfollowed: Vec<Unfollowed>,
    /// The statements of each thread.
    pub body: Vec<Stmt>,
    /// Axes of built-in vectors that occur in the kernel or its contract.
    pub mentioned: Vec<(Builtin, usize)>,
    /// Type parameters of its template that are assumed to be floating-point types.
    pub types: Vec<String>,
    /// The limits of its floating-point types together, at most those of `float`.
    pub precision: Precision,
    /// Set if the kernel has a fence. The ordering by fences is not modelled.
    pub fences: bool,
    /// Initialisers of variables of the file, element by element; `None` if unsupported. A variable that is not
    /// `const` has unknown contents when the kernel starts; these are its contents if nothing wrote it.
    pub initials: BTreeMap<ArrayId, Option<Vec<Expr>>>,
    /// Memory layouts of its parameters and variables of the file, by name.
    pub layouts: BTreeMap<String, String>,
    /// Its calling convention, or why that is unknown.
    pub signature: Result<Signature, SignatureError>,
}

impl Kernel {
    /// Returns `true` if launches may have more than one thread or block on an axis: always on x; on y and z if the
    /// kernel or its contract mentions the axis in any way.
    #[must_use]
    pub fn has_axis(&self, axis: usize) -> bool {
        axis == 0 || self.is_strict() || self.mentioned.iter().any(|(_, at)| *at == axis)
    }

    /// Considers every launch that CUDA allows: several threads on unmentioned axes, and 2^31 threads or more along
    /// one.
    #[must_use]
    pub fn for_every_launch(mut self) -> Self {
        if !self.is_strict() {
            self.mentioned.push(EVERY_LAUNCH);
        }
        self
    }

    fn is_strict(&self) -> bool {
        self.mentioned.contains(&EVERY_LAUNCH)
    }

    /// Returns `true` if fewer than 2^31 threads are assumed along an axis. They are if the kernel mentions all that is
    /// needed to compute a thread's global number on that axis.
    #[must_use]
    pub fn limits_threads(&self, axis: usize) -> bool {
        let mentions = |one: Builtin| self.mentioned.contains(&(one, axis));
        let of_grid = mentions(Builtin::Block) || mentions(Builtin::GridDim);
        !self.is_strict() && of_grid && mentions(Builtin::BlockDim)
    }
}

/// Marks a kernel as [`for_every_launch`](Kernel::for_every_launch): an entry of `mentioned` with an axis that no
/// launch has.
const EVERY_LAUNCH: (Builtin, usize) = (Builtin::GridDim, 3);

/// Limit on threads along an axis, if [`Kernel::limits_threads`] is true.
pub const MAX_THREADS_OF_AXIS: i128 = i32::MAX as i128;

/// Returns `true` if there is a barrier among these statements, at any depth.
#[must_use]
pub fn has_barrier(statements: &[Stmt]) -> bool {
    has(statements, |one| matches!(one, Stmt::Barrier(_)))
}

/// Returns `true` if there is a barrier of a warp among these statements, at any depth.
#[must_use]
pub fn has_warp(statements: &[Stmt]) -> bool {
    has(statements, |one| matches!(one, Stmt::Warp(_)))
}

fn has(statements: &[Stmt], wanted: fn(&Stmt) -> bool) -> bool {
    statements.iter().any(|statement| match statement {
        one if wanted(one) => true,
        Stmt::If(_, then, otherwise) => has(then, wanted) || has(otherwise, wanted),
        Stmt::Loop(inner) => {
            [&inner.head, &inner.body, &inner.step].into_iter().any(|part| has(part, wanted))
        }
        _ => false,
    })
}

/// Variables assigned among these statements, at any depth, in order and once each.
#[must_use]
pub fn assigned(statements: &[Stmt]) -> Vec<VarId> {
    let mut found = Vec::new();
    collect_assigned(statements, &mut found);
    found
}

fn collect_assigned(statements: &[Stmt], found: &mut Vec<VarId>) {
    for statement in statements {
        match statement {
            Stmt::Assign(var, _)
            | Stmt::Load(var, _)
            | Stmt::Unknown(var)
            | Stmt::Bits(var, ..)
            | Stmt::Atomic { result: var, .. }
                if !found.contains(var) =>
            {
                found.push(*var);
            }
            Stmt::If(_, then, otherwise) => {
                collect_assigned(then, found);
                collect_assigned(otherwise, found);
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    collect_assigned(part, found);
                }
            }
            _ => {}
        }
    }
}
