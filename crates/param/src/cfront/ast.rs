//! What was written: declarations, statements and expressions of CUDA C with their places.

use base::Span;

/// Scalar types, as wide as they are on CUDA's 64-bit platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Void,
    Bool,
    Int {
        bits: u8,
        signed: bool,
    },
    Float {
        bits: u8,
    },
    /// A struct or vector type of the file, by its number.
    Struct(u16),
    /// The type of what a variable is initialised with.
    Auto,
}

/// A struct or vector type.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) name: String,
    /// One of CUDA's vector types, whose alignment is their own.
    pub(crate) is_vector: bool,
    pub(crate) fields: Vec<Declarator>,
}

/// A scalar or a pointer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeName {
    pub(crate) scalar: Scalar,
    pub(crate) pointers: u8,
    /// Whether what is pointed to (or the object) may not be written.
    pub(crate) constant: bool,
    /// Whether it is another name for what it is initialised with.
    pub(crate) reference: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int {
        value: i128,
        scalar: Scalar,
    },
    Float(f64),
    Bool(bool),
    Name(String),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `=` or a compound assignment such as `+=`.
    Assign(&'static str, Box<Expr>, Box<Expr>),
    /// `++x`, `x--` and their like.
    Step {
        add: bool,
        prefix: bool,
        target: Box<Expr>,
    },
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member(Box<Expr>, String),
    Call(String, Vec<Expr>),
    /// A function template with its integers: `f<4>(x)`.
    Instance(String, Vec<Expr>, Vec<Expr>),
    /// `{1, 2}` as an initialiser.
    Braces(Vec<Expr>),
    Cast(TypeName, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// `\forall int i, j; body` or `\exists int i; body`.
    Quantified(Quantifier, Vec<String>, Box<Expr>),
    /// `\fold(op, var, low, high, body)` and `\sum(var, low, high, body)`.
    Fold(Box<Fold>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Forall,
    Exists,
}

/// What is combined over `low ≤ var < high`.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// `+`, `*`, `|`, `&`, `max`, `min`, or a function that is declared to be a monoid.
    pub(crate) op: String,
    pub(crate) var: String,
    pub(crate) low: Expr,
    pub(crate) high: Expr,
    pub(crate) body: Expr,
}

#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) ty: TypeName,
    /// Sizes in brackets; `None` for `[]`.
    pub(crate) dimensions: Vec<Option<Expr>>,
    pub(crate) init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) shared: bool,
    pub(crate) external: bool,
    pub(crate) declarators: Vec<Declarator>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Declaration(Declaration),
    Expr(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    For { init: Vec<Stmt>, condition: Option<Expr>, step: Option<Expr>, body: Vec<Stmt> },
    While(Expr, Vec<Stmt>),
    DoWhile(Vec<Stmt>, Expr),
    Block(Vec<Stmt>),
    Return(Option<Expr>),
    Break,
    Continue,
    Annotation(Vec<Clause>),
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) kind: ClauseKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ClauseKind {
    Requires(Expr),
    Ensures(Expr),
    /// An array and its number of elements.
    Extent(String, Expr),
    Assert(Expr),
    Assume(Expr),
    /// With its name, if it has one. A name alone stands for the clause of that name.
    LoopInvariant(Option<String>, Expr),
    LoopVariant(Expr),
    BarrierInvariant(Option<String>, Expr),
    /// For which threads a barrier invariant is wanted; a hint that nothing needs.
    Instantiate,
    /// Elements that a function reads or writes: array, first, last.
    Footprint(Footprint),
    GhostVar(Box<Declaration>),
    /// `use name(…);`: a lemma, for these numbers.
    Use(String, Vec<Expr>),
    GhostAssign(Expr, Expr),
    Predicate(Box<Predicate>),
    Lemma(Box<Lemma>),
    Monoid(Box<Monoid>),
    Symbolic,
    Alias,
}

/// `reads a[lo .. hi]` or `writes a[lo .. hi]`.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    pub(crate) writes: bool,
    pub(crate) array: Expr,
    pub(crate) low: Expr,
    pub(crate) high: Expr,
}

/// `predicate NAME(int x) = body`.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Declarator>,
    pub(crate) body: Expr,
}

/// `lemma NAME(int x) by induction(x): body`.
#[derive(Clone, Debug)]
pub(crate) struct Lemma {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Declarator>,
    pub(crate) induction: Option<String>,
    pub(crate) body: Expr,
    pub(crate) span: Span,
}

/// `monoid FUNCTION, unit e, commutative`.
#[derive(Clone, Debug)]
pub(crate) struct Monoid {
    pub(crate) function: String,
    pub(crate) unit: Expr,
    pub(crate) commutative: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) is_kernel: bool,
    pub(crate) returns: TypeName,
    pub(crate) parameters: Vec<Declarator>,
    /// Integer parameters of its template.
    pub(crate) template: Vec<Declarator>,
    /// Type parameters of its template.
    pub(crate) types: Vec<String>,
    /// Names of both kinds, in the order of the template.
    pub(crate) template_order: Vec<String>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) body: Vec<Stmt>,
}

/// A file.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    pub(crate) functions: Vec<Function>,
    pub(crate) globals: Vec<Declaration>,
    pub(crate) structs: Vec<Struct>,
    /// Names that `symbolic` clauses declare.
    pub(crate) symbolic: Vec<String>,
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) lemmas: Vec<Lemma>,
    pub(crate) monoids: Vec<Monoid>,
}
