//! The syntax tree: the written text, with its places. Names are not resolved and nothing has a type yet (ISO C++17
//! \[gram\]).
//!
//! C++ cannot be parsed without knowing which names are types and templates. The parser keeps scopes of names for
//! that alone.
//!
//! Long: the whole syntax tree, as a reader of the grammar looks for it.

use base::Span;

/// A translation unit.
#[derive(Debug, Default)]
pub struct Unit {
    /// Declarations in order. A host function is kept as [`DeclarationKind::Skipped`].
    pub declarations: Vec<Declaration>,
}

/// A declaration at file, namespace or class scope.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The kind of declaration.
    pub kind: DeclarationKind,
    /// Its span.
    pub span: Span,
}

/// The kind of a declaration.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// A function or function template, with or without a body.
    Function(Box<Function>),
    /// Variables.
    Variables(Variables),
    /// A struct, class or union, or a template of one.
    Record(Box<Record>),
    /// An enumeration.
    Enum(Box<Enumeration>),
    /// `typedef` and `using A = T`, also as a template; `namespace a = b`, with the namespace's name as type.
    Alias {
        /// Its name.
        name: Name,
        /// Parameters, if it is a template.
        template: Option<TemplateParameters>,
        /// The type it denotes.
        ty: TypeSyntax,
    },
    /// `using namespace a::b`.
    UsingNamespace(QualifiedName),
    /// `using a::b`.
    Using(QualifiedName),
    /// `namespace a { … }`; if unnamed or `inline`, its names are visible outside.
    Namespace {
        /// Its name; empty if it has none.
        name: Name,
        /// Set if it is `inline` or unnamed.
        is_transparent: bool,
        /// Its declarations.
        declarations: Vec<Declaration>,
    },
    /// `template void f<int>(int);` or `template struct S<int>;`
    ExplicitInstantiation(Box<Function>),
    /// `static_assert(e)`.
    StaticAssert(Expr),
    /// Clauses at file scope: `predicate`, `lemma`, `monoid`, `symbolic`.
    Clauses(Vec<Clause>),
    /// Text that is refused when one of its names is used: host code, or unsupported C++. Has the names it would have
    /// declared, as far as they can be determined, and the reason.
    Skipped {
        /// Names whose use is refused.
        names: Vec<Name>,
        /// The reason, a phrase for the message.
        why: &'static str,
        /// Set if it is a function of the host, which a kernel cannot call: others of its name are unaffected.
        is_host_function: bool,
    },
}

/// A name and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The word. Operators of classes are `operator+`, conversions `operator ` with a blank (the type is the result
    /// type), constructors have the class's name, destructors `~` before it.
    pub text: Box<str>,
    /// Its span.
    pub span: Span,
}

/// `::a::b<int>::c<4>`.
#[derive(Clone, Debug)]
pub struct QualifiedName {
    /// Set if it begins with `::`.
    pub is_global: bool,
    /// Its parts; at least one.
    pub parts: Vec<NamePart>,
}

/// A part of a qualified name.
#[derive(Clone, Debug)]
pub struct NamePart {
    /// The name.
    pub name: Name,
    /// Template arguments, if there are brackets.
    pub arguments: Option<Vec<TemplateArgument>>,
}

/// An argument of a template.
#[derive(Clone, Debug)]
pub enum TemplateArgument {
    /// A type.
    Type(TypeSyntax),
    /// A constant.
    Expr(Expr),
}

/// `template <…>`.
#[derive(Clone, Debug, Default)]
pub struct TemplateParameters {
    /// The parameters; none for a full specialisation.
    pub parameters: Vec<TemplateParameter>,
}

/// A parameter of a template.
#[derive(Clone, Debug)]
pub struct TemplateParameter {
    /// Its name; empty if it has none.
    pub name: Name,
    /// Its kind.
    pub kind: TemplateParameterKind,
    /// Set if it is a pack.
    pub is_pack: bool,
}

/// The kind of a template parameter.
#[derive(Clone, Debug)]
pub enum TemplateParameterKind {
    /// `typename T = default`.
    Type(Option<TypeSyntax>),
    /// `int n = default`.
    Constant(TypeSyntax, Option<Expr>),
}

/// A written type, with its declarator.
#[derive(Clone, Debug)]
pub struct TypeSyntax {
    /// Its kind.
    pub kind: TypeKind,
    /// `const` at this level.
    pub is_const: bool,
    /// `volatile` at this level.
    pub is_volatile: bool,
    /// Its span.
    pub span: Span,
}

/// The kind of a written type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// Words of built-in types, in the order they are written: `unsigned long`, `float`.
    Words(Vec<Box<str>>),
    /// A named type, also `typename T::type`.
    Named(QualifiedName),
    /// `auto`.
    Auto,
    /// `decltype(e)`.
    Decltype(Box<Expr>),
    /// `struct { … }` or `enum { … }` defined here.
    Defined(Box<Declaration>),
    /// `T*`.
    Pointer(Box<TypeSyntax>),
    /// `T&`.
    Reference(Box<TypeSyntax>),
    /// `T&&`.
    RvalueReference(Box<TypeSyntax>),
    /// `T\[n\]`, `T[]`.
    Array(Box<TypeSyntax>, Option<Box<Expr>>),
    /// `R(A, B)`.
    Function(Box<TypeSyntax>, Vec<Parameter>),
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name; empty if it has none.
    pub name: Name,
    /// Its type.
    pub ty: TypeSyntax,
    /// Its default.
    pub default: Option<Expr>,
}

/// Words before and attributes around a declaration.
#[derive(Clone, Debug, Default)]
pub struct Specifiers {
    /// `__global__`.
    pub is_global: bool,
    /// `__device__`.
    pub is_device: bool,
    /// `__host__`.
    pub is_host: bool,
    /// `__shared__`.
    pub is_shared: bool,
    /// `__constant__`.
    pub is_constant: bool,
    /// `__managed__`.
    pub is_managed: bool,
    /// `extern`.
    pub is_extern: bool,
    /// `static`.
    pub is_static: bool,
    /// `constexpr`.
    pub is_constexpr: bool,
    /// `explicit`.
    pub is_explicit: bool,
    /// `friend`.
    pub is_friend: bool,
    /// `virtual`; refused when used.
    pub is_virtual: bool,
    /// `__align__(n)`, `alignas(n)`, `__attribute__((aligned(n)))`.
    pub align: Option<Box<Expr>>,
    /// `__attribute__((packed))`.
    pub is_packed: bool,
    /// Arguments of `__launch_bounds__`.
    pub launch_bounds: Vec<Expr>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; members defined outside of their class are qualified.
    pub name: QualifiedName,
    /// Words before it.
    pub specifiers: Specifiers,
    /// Parameters of its template.
    pub template: Option<TemplateParameters>,
    /// The result type; of constructors `void`, of conversions the type.
    pub returns: TypeSyntax,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// `...` ends its parameters.
    pub is_variadic: bool,
    /// `const` after the parameters of a member.
    pub is_const_member: bool,
    /// Initialisers of a constructor's members and bases.
    pub member_inits: Vec<(Name, Vec<Expr>)>,
    /// Its contract.
    pub clauses: Vec<Clause>,
    /// Its body; `None` for a prototype.
    pub body: Option<Vec<Stmt>>,
    /// `= default`.
    pub is_defaulted: bool,
    /// `= delete`.
    pub is_deleted: bool,
    /// If its body has unsupported C++ and was not parsed: the place and a phrase. The function is refused when used.
    pub unread: Option<(Span, String)>,
}

/// `struct S : B { … }`.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name; empty if it has none. A specialisation has arguments.
    pub name: NamePart,
    /// Words before it.
    pub specifiers: Specifiers,
    /// Set if it is a union.
    pub is_union: bool,
    /// Parameters of its template.
    pub template: Option<TemplateParameters>,
    /// Bases.
    pub bases: Vec<QualifiedName>,
    /// Members; `None` if it is only declared.
    pub members: Option<Vec<Declaration>>,
}

/// `enum E : T { … }`.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Its name; empty if it has none.
    pub name: Name,
    /// Set if it is an `enum class`.
    pub is_scoped: bool,
    /// Its underlying type, if given.
    pub underlying: Option<TypeSyntax>,
    /// Its values.
    pub values: Vec<(Name, Option<Expr>)>,
}

/// Variables of one declaration.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Words before them.
    pub specifiers: Specifiers,
    /// Parameters of a variable template.
    pub template: Option<TemplateParameters>,
    /// The variables, or fields.
    pub declarators: Vec<Declarator>,
}

/// A variable or field.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name.
    pub name: QualifiedName,
    /// Its type.
    pub ty: TypeSyntax,
    /// Its initialiser.
    pub init: Option<Initialiser>,
    /// Width of a bit-field.
    pub bit_width: Option<Box<Expr>>,
}

/// The initialiser of a variable.
#[derive(Clone, Debug)]
pub enum Initialiser {
    /// `= e`.
    Copy(Expr),
    /// `(a, b)`.
    Direct(Vec<Expr>),
    /// `{a, b}`, also after `=`.
    List(Vec<Expr>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its span.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer literal, with the parts of [`TokenKind::Int`](crate::token::TokenKind::Int).
    Int {
        /// Its value.
        value: u128,
        /// Written in base ten.
        decimal: bool,
        /// Suffix `u`.
        unsigned: bool,
        /// The number of `l`.
        long: u8,
    },
    /// A floating literal.
    Float {
        /// Its value.
        value: f64,
        /// Suffix `f`.
        single: bool,
    },
    /// `'a'`.
    Character(i8),
    /// `"…"`.
    Text(Box<[u8]>),
    /// `true`, `false`.
    Bool(bool),
    /// `nullptr`.
    Null,
    /// `this`.
    This,
    /// A name; `\result` keeps its backslash.
    Name(QualifiedName),
    /// `+ - ! ~ * &` before an operand.
    Unary(&'static str, Box<Expr>),
    /// An operator between operands; also `==>` and `<==>` in clauses.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `=`, `+=` and similar.
    Assign(&'static str, Box<Expr>, Box<Expr>),
    /// `++` and `--`.
    Step {
        /// Set if it is `++`; otherwise `--`.
        add: bool,
        /// Before the operand.
        is_prefix: bool,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `c ? a : b`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a\[i\]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`; `a->b` if `arrow`.
    Member {
        /// The object.
        object: Box<Expr>,
        /// The member.
        member: NamePart,
        /// `->`.
        arrow: bool,
    },
    /// `f(a, b)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `(T)e`, `static_cast<T>(e)` and the other named casts.
    Cast(CastKind, TypeSyntax, Box<Expr>),
    /// `T(a, b)`, `T{a, b}`.
    Construct {
        /// The type.
        ty: TypeSyntax,
        /// The arguments.
        arguments: Vec<Expr>,
        /// In braces.
        is_list: bool,
    },
    /// `sizeof(T)`, `alignof(T)`.
    SizeOfType(&'static str, TypeSyntax),
    /// `sizeof e`.
    SizeOf(Box<Expr>),
    /// `{a, b}` as an argument or initialiser.
    Braces(Vec<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// A lambda; refused when used.
    Lambda,
    /// `e...`.
    Pack(Box<Expr>),
    /// `\forall int i, j; body`: quantifier word, names, body. Only in clauses.
    Quantified(Box<str>, Vec<Name>, Box<Expr>),
    /// `\fold(op, i, low, high, body)` and `\sum(i, low, high, body)`. Only in clauses.
    Fold(Box<Fold>),
    /// `a[lo .. hi]`, in `reads` and `writes`.
    Range(Box<Expr>, Box<Expr>),
}

/// The kind of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum CastKind {
    C,
    Static,
    Reinterpret,
    Const,
}

/// The operator and range of a `\fold`.
#[derive(Clone, Debug)]
pub struct Fold {
    /// An operator or the name of a function.
    pub op: Box<str>,
    /// The variable.
    pub variable: Name,
    /// First value.
    pub low: Expr,
    /// One past the last value.
    pub high: Expr,
    /// The combined expression.
    pub body: Expr,
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
    /// A declaration: variables, a type, `using`, `static_assert`.
    Declaration(Declaration),
    /// An expression; `None` for `;`.
    Expr(Option<Expr>),
    /// `if`, with its init-statement.
    If {
        /// `if (init; …)`.
        init: Option<Box<Stmt>>,
        /// `if constexpr`.
        is_constexpr: bool,
        /// The condition, or a declaration in its place.
        condition: Condition,
        /// Executed if it holds.
        then: Box<Stmt>,
        /// Executed if it does not.
        otherwise: Option<Box<Stmt>>,
    },
    /// `for`.
    For {
        /// The init-statement.
        init: Option<Box<Stmt>>,
        /// The condition.
        condition: Option<Condition>,
        /// Executed after each iteration.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `for (T x : range)`.
    RangeFor {
        /// The variable.
        variable: Box<Declarator>,
        /// The range.
        range: Expr,
        /// The body.
        body: Box<Stmt>,
    },
    /// `while`.
    While(Condition, Box<Stmt>),
    /// `do`.
    DoWhile(Box<Stmt>, Expr),
    /// `switch`, with its init-statement.
    Switch(Option<Box<Stmt>>, Condition, Box<Stmt>),
    /// `case e:` before a statement.
    Case(Expr, Box<Stmt>),
    /// `default:` before a statement.
    Default(Box<Stmt>),
    /// `{ … }`.
    Block(Vec<Stmt>),
    /// `return`.
    Return(Option<Expr>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `goto`, a label, `try`, `asm`: refused when reached; its name.
    Unread(&'static str),
    /// Clauses.
    Clauses(Vec<Clause>),
}

/// The condition of `if`, `for`, `while`, `switch`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// An expression.
    Expr(Expr),
    /// `int x = e`.
    Declaration(Box<Declarator>),
}

/// A clause of an annotation.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its kind.
    pub kind: ClauseKind,
    /// Its span.
    pub span: Span,
}

/// The kind of a clause.
#[derive(Clone, Debug)]
pub enum ClauseKind {
    /// `requires P`.
    Requires(Expr),
    /// `ensures P`.
    Ensures(Expr),
    /// `extent a\[n\]`.
    Extent(Expr, Expr),
    /// `assert P`.
    Assert(Expr),
    /// `assume P`.
    Assume(Expr),
    /// `loop invariant [name:] P`.
    LoopInvariant(Option<Name>, Expr),
    /// `loop variant e`.
    LoopVariant(Expr),
    /// `barrier invariant [name:] P`.
    BarrierInvariant(Option<Name>, Expr),
    /// `instantiate …`.
    Instantiate,
    /// `reads` or `writes`: `true` for `writes`, and `a[lo .. hi]` or `a\[i\]`.
    Footprint(bool, Expr),
    /// `ghost int x = e`.
    GhostDeclare(Box<Declarator>),
    /// `ghost x = e`.
    GhostAssign(Name, Expr),
    /// `use name(…)`.
    Use(Name, Vec<Expr>),
    /// `predicate NAME(int x) = body`.
    Predicate(Name, Vec<Parameter>, Expr),
    /// `lemma NAME(int x) by induction(x): body`.
    Lemma {
        /// Its name.
        name: Name,
        /// Its parameters.
        parameters: Vec<Parameter>,
        /// The induction variable.
        induction: Option<Name>,
        /// Its statement.
        body: Expr,
    },
    /// `monoid FUNCTION, unit e, commutative`.
    Monoid {
        /// The function.
        function: Name,
        /// Its unit.
        unit: Expr,
        /// Set if it is claimed to commute.
        is_commutative: bool,
    },
    /// `symbolic A, B`.
    Symbolic(Vec<Name>),
    /// `alias a, b`.
    Alias(Vec<Expr>),
}
