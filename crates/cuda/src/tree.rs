//! The typed tree: the meaning of a file, with every name resolved, every conversion explicit, every overload chosen
//! and every template instantiated (ISO C++17 \[expr\], \[conv\], \[stmt\], \[dcl\]).
//!
//! # Meaning
//!
//! An expression of category [`Category::Place`] names an object (an lvalue); [`ExprKind::Read`] takes its value.
//! Operands of arithmetic have the type of the operation. The order of evaluation is that of C++17: the right side of
//! an assignment before the left one; the left side of `&&`, `||`, `,`, `?:`, `<<`, `>>`, subscripts and member
//! accesses before the right one; all other operands, and arguments of a call, in unspecified order. If that order
//! matters, `sema` has refused the expression (an unsequenced modification), so a reader may go from left to right.
//!
//! In clauses (`spec` in the names here), integers have no bounds ([`Type::Whole`]) and floats are reals
//! ([`Type::Real`]).

mod clauses;
pub mod display;
mod operators;
mod types;
mod visit;

pub use clauses::{Clause, ClauseKind, Fold, Label, Lemma, Monoid, Predicate, Quantifier};
pub use operators::{Binary, Compare, Special, Unary};
pub use types::{Extent, FloatKind, IntKind, Qualified, Type};

use base::{IndexVec, Span, define_index};

define_index! {
    /// A variable or parameter of a function.
    pub struct LocalId;
    /// A variable outside of functions, or a `static` one in a function.
    pub struct GlobalId;
    /// A function, after template instantiation.
    pub struct FunctionId;
    /// A struct, class, union or built-in vector type.
    pub struct RecordId;
    /// An enumeration.
    pub struct EnumId;
    /// An integer that is the same everywhere in the launch, without a fixed value.
    pub struct SymbolId;
}

/// A translation unit.
#[derive(Debug, Default)]
pub struct Program {
    /// Kernels, and functions that they call.
    pub functions: IndexVec<FunctionId, Function>,
    /// Variables outside of functions.
    pub globals: IndexVec<GlobalId, Global>,
    /// Structs.
    pub records: IndexVec<RecordId, Record>,
    /// Enumerations.
    pub enums: IndexVec<EnumId, Enumeration>,
    /// Macros declared by `symbolic` clauses, and integer parameters of kernel templates.
    pub symbols: IndexVec<SymbolId, Symbol>,
    /// Kernels in the order of the file, or the reason why one cannot be read. An error in one does not affect the
    /// others.
    pub kernels: Vec<KernelEntry>,
    /// `predicate` clauses.
    pub predicates: Vec<Predicate>,
    /// `lemma` clauses.
    pub lemmas: Vec<Lemma>,
    /// `monoid` clauses.
    pub monoids: Vec<Monoid>,
    /// Assumptions made while reading, each a line for the report: the architecture if the text asks for it, types of
    /// template parameters.
    pub assumed: Vec<String>,
}

/// A kernel of the file.
#[derive(Debug)]
pub struct KernelEntry {
    /// Its name, with template arguments if it is an explicit instance.
    pub name: String,
    /// The place of its name.
    pub span: Span,
    /// The kernel.
    pub function: crate::Result<FunctionId>,
}

/// An integer that is the same everywhere in the launch.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The place of its declaration.
    pub span: Span,
    /// Set if it is a parameter of a kernel template (else a macro).
    pub of_template: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, without template arguments.
    pub name: String,
    /// The place of its name.
    pub span: Span,
    /// Set if it is `__global__`.
    pub is_kernel: bool,
    /// The result type. For a reference it is the referenced type, and `returns_reference` is set.
    pub returns: Type,
    /// It returns a reference; a call of it is then a place.
    pub returns_reference: bool,
    /// Its parameters, in order; the object of a member function is the first one, by reference.
    pub parameters: Vec<LocalId>,
    /// All its variables.
    pub locals: IndexVec<LocalId, Local>,
    /// Its contract.
    pub clauses: Vec<Clause>,
    /// Its body.
    pub body: Vec<Stmt>,
    /// Namespaces around it, each followed by `::`.
    pub namespace: String,
    /// Template arguments in order.
    pub arguments: Vec<TemplateArgument>,
    /// `__launch_bounds__(threads, …)`, if given and constant.
    pub max_threads: Option<u64>,
}

/// An argument of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateArgument {
    /// Its text.
    pub text: String,
    /// Its symbol, if it is an integer parameter of a kernel without instances.
    pub symbol: Option<SymbolId>,
}

/// The storage of a variable of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// One for each thread.
    Automatic,
    /// One for each block.
    Shared,
    /// `extern __shared__`: all of these begin at the same address, with the size given by the launch.
    DynamicShared,
}

/// A variable or parameter of a function.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; empty for a parameter without one and for a temporary.
    pub name: String,
    /// Its type; of a reference, the type of its target.
    pub ty: Type,
    /// Set if it must not be written.
    pub is_const: bool,
    /// Its accesses are `volatile`.
    pub is_volatile: bool,
    /// Set if it is a reference: it is bound once, to a place.
    pub is_reference: bool,
    /// Its storage.
    pub storage: Storage,
    /// Set if it is declared in a `ghost` clause.
    pub is_ghost: bool,
    /// The place of its declaration.
    pub span: Span,
}

/// The memory space of a variable outside of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalSpace {
    /// `__device__`, `__managed__`.
    Device,
    /// `__constant__`.
    Constant,
    /// `__shared__` at file scope: one for each block.
    Shared,
    /// `extern __shared__` at file scope.
    DynamicShared,
    /// `texture<…>` reference or other read-only array that the host binds.
    Texture,
}

/// A variable outside of functions. Constants with known values are not among them: their uses are literals.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Namespaces around it, each followed by `::`.
    pub namespace: String,
    /// Its type.
    pub ty: Type,
    /// Set if it is `const`; then it holds `init` at every launch.
    pub is_const: bool,
    /// Its memory space.
    pub space: GlobalSpace,
    /// Its initialiser. A variable that is not `const` may hold anything when a kernel starts: the host may have
    /// written it.
    pub init: Option<Init>,
    /// The place of its declaration.
    pub span: Span,
}

/// A struct.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its fields. A base is a field of the base's type, before the others.
    pub fields: Vec<Field>,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Set if it is a union: all fields begin at 0.
    pub is_union: bool,
    /// The place of its declaration.
    pub span: Span,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its offset in bytes.
    pub offset: u64,
    /// Set if it must not be written.
    pub is_const: bool,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Its name.
    pub name: String,
    /// Its underlying type.
    pub underlying: IntKind,
    /// Set if it is an `enum class`.
    pub is_scoped: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its kind.
    pub kind: StmtKind,
    /// Its span.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A declaration is reached: the variable becomes undefined, or gets its initialiser. Shared variables are
    /// declared once for the function, not each time.
    Declare(LocalId, Option<Init>),
    /// An expression, evaluated for its effect.
    Expr(Expr),
    /// `if`; also `if constexpr` with a symbol in its condition.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A loop.
    Loop(Box<Loop>),
    /// `switch`: control goes to the matching label, else to `default`, else after the statement.
    Switch(Box<Switch>),
    /// `{ … }`.
    Block(Vec<Stmt>),
    /// `return`.
    Return(Option<Expr>),
    /// `break` of the innermost loop or switch.
    Break,
    /// `continue` of the innermost loop.
    Continue,
    /// Stand-alone clauses, and those before a barrier.
    Clauses(Vec<Clause>),
}

/// `for`, `while` or `do`.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Executed once before the loop.
    pub init: Vec<Stmt>,
    /// The condition; `None` for an endless loop.
    pub condition: Option<Expr>,
    /// Executed after each iteration, also after `continue`.
    pub step: Option<Expr>,
    /// The body.
    pub body: Vec<Stmt>,
    /// The condition is tested after the iteration (`do`).
    pub tests_after: bool,
    /// `loop invariant` and `loop variant`.
    pub clauses: Vec<Clause>,
}

/// A `switch`. Labels inside of nested statements (Duff's device) are refused.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Promoted value.
    pub value: Expr,
    /// The statements after each group of labels, in order; control falls through from one to the next.
    pub arms: Vec<Arm>,
}

/// Labels of a `switch` and the statements after them.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Values of `case`.
    pub values: Vec<i128>,
    /// `default` is among the labels.
    pub is_default: bool,
    /// The statements up to the next label.
    pub body: Vec<Stmt>,
}

/// The initial value of a variable.
#[derive(Clone, Debug)]
pub enum Init {
    /// A value of its type, converted; for a reference, the place it is bound to.
    Expr(Expr),
    /// Elements of an array or fields of a struct, in order; missing ones are [`Init::Zero`].
    List(Vec<Init>),
    /// All zero.
    Zero,
}

/// The value category of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// An lvalue.
    Place,
    /// A prvalue.
    Value,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Its value category.
    pub category: Category,
    /// Its span.
    pub span: Span,
}

/// The kind of an expression. Operands are values unless stated otherwise.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer, truth value, character or enumerator, within its type.
    Int(i128),
    /// A floating literal.
    Float(f64),
    /// A null pointer.
    Null,
    /// A string literal; a place of type `const char\[n\]`.
    Text(Box<[u8]>),
    /// A variable of the function; a place.
    Local(LocalId),
    /// A variable outside of functions; a place.
    Global(GlobalId),
    /// A symbol.
    Symbol(SymbolId),
    /// A component of a built-in vector.
    Special(Special, usize),
    /// The value in a place.
    Read(Box<Expr>),
    /// `*p`; a place.
    Deref(Box<Expr>),
    /// The address of a place.
    AddressOf(Box<Expr>),
    /// A place of array type as a pointer to its first element.
    Decay(Box<Expr>),
    /// A field of a struct: a place if the struct is a place, else a value.
    Field(Box<Expr>, usize),
    /// `p + i` in elements; the index has its own integer type.
    PointerAdd(Box<Expr>, Box<Expr>),
    /// `p - i`.
    PointerSub(Box<Expr>, Box<Expr>),
    /// `p - q` in elements.
    PointerDiff(Box<Expr>, Box<Expr>),
    /// A conversion to the type of this expression: between integers (modulo 2^bits), integers and floats, floats, to
    /// `bool` (not zero), from enumerations, between pointers (`reinterpret_cast`, to and from `void*`), pointers and
    /// integers. To `void` it drops the value, and its operand may be a place. In clauses also to and from
    /// [`Type::Whole`] and [`Type::Real`].
    Convert(Box<Expr>),
    /// An operator on one value.
    Unary(Unary, Box<Expr>),
    /// An operator on two values. Both have the type of the result, except the right side of a shift.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A comparison of two values of one type, which may be pointers.
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// `&&`.
    And(Box<Expr>, Box<Expr>),
    /// `||`.
    Or(Box<Expr>, Box<Expr>),
    /// `c ? a : b`; a place if both are places.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`; a place if `b` is one.
    Comma(Box<Expr>, Box<Expr>),
    /// `place = value`; the place. Structs are copied field by field.
    Assign(Box<Expr>, Box<Expr>),
    /// `place op= value`: the place's value is converted to `ty`, combined, and converted back; the result is the
    /// place. For pointers `ty` is the pointer's and `op` is [`Binary::Add`] or [`Binary::Sub`].
    AssignOp {
        /// The operator.
        op: Binary,
        /// The type of the operation.
        ty: Type,
        /// The changed place.
        place: Box<Expr>,
        /// The right operand, of type `ty` (an integer for shifts and pointers).
        value: Box<Expr>,
    },
    /// `++x` and `--x` (the place), `x++` and `x--` (the old value).
    Step {
        /// Set if it is `++`; otherwise `--`.
        add: bool,
        /// The result is the new value.
        is_prefix: bool,
        /// The changed place.
        place: Box<Expr>,
    },
    /// The address of a function.
    Function(FunctionId),
    /// A call through a function pointer. Neither parameters nor the result are references.
    CallPointer(Box<Expr>, Vec<Expr>),
    /// A call. Arguments are converted to the parameters' types; for a reference they are places.
    Call(FunctionId, Vec<Expr>),
    /// A function of CUDA or of the standard library by its canonical name (see the table in `intrinsics`), arguments
    /// converted. `min`, `max` and other functions of two numbers have both in the type of the result; shuffles
    /// always have their width. In clauses, functions of real numbers have operands and result of type
    /// [`Type::Real`].
    Intrinsic(&'static str, Vec<Expr>),
    /// A struct made of its fields.
    Construct(Vec<Expr>),
    /// A temporary object that holds a value; a place (a `const` reference bound to a value).
    Temporary(Box<Expr>),
    /// An expression allowed only in clauses.
    Spec(Box<SpecExpr>),
}

/// Expressions of the annotation language.
#[derive(Clone, Debug)]
pub enum SpecExpr {
    /// `\forall int i, j; body`, `\exists …`: the variables are ghosts of the function, of type [`Type::Whole`].
    Quantified(Quantifier, Vec<LocalId>, Expr),
    /// `\fold(op, i, low, high, body)` and `\sum`.
    Fold(Fold),
    /// `\result`.
    Result,
    /// `\old(e)` and `\at(e, label)`.
    At(Expr, Label),
    /// `\other(e)`: in another thread of the block.
    Other(Expr),
    /// `==>`.
    Implies(Expr, Expr),
    /// `<==>`.
    Iff(Expr, Expr),
    /// A function of the annotation language by name: `is_pow2`, `pow2`, `lowbit`, `min`, `max`, `abs` …
    Function(&'static str, Vec<Expr>),
    /// A call of a `predicate`, by its position in [`Program::predicates`].
    Predicate(usize, Vec<Expr>),
    /// GPUVerify's `__read(p)`, `__write(p)` and similar: canonical name, and the array.
    Access(&'static str, Expr),
}
