//! The syntax tree: the written text, in its order.
//!
//! The tree knows directives, because they are PTX's grammar, and no instruction: an [`Instruction`] is a guard, an
//! opcode, modifiers and operands of any kind. Names and literals borrow the source text. Two trees are equal if the
//! same text was written, at any place: positions ([`At`]) are ignored in comparisons.
//!
//! Optional pieces are kept as written and in order (parentheses included), so that [printing](super::print()) a tree
//! and parsing it again gives an equal one.

use super::number::Value;
use base::Span;

/// A position that equality ignores.
#[derive(Clone, Copy, Debug, Default)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A name as written, without the leading dot if it is a directive or modifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Name<'a> {
    /// The text.
    pub text: &'a str,
    /// Its place; for dotted names the dot is included.
    pub at: At,
}

impl Name<'_> {
    /// Its place.
    #[must_use]
    pub fn span(&self) -> Span {
        self.at.0
    }
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number<'a> {
    /// The text, for printing it unchanged.
    pub text: &'a str,
    /// Its value.
    pub value: Value,
    /// Its place.
    pub at: At,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module<'a> {
    /// Everything at the outermost level, in order.
    pub items: Vec<Item<'a>>,
}

/// Something at the outermost level of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'a> {
    /// `.version 9.0`
    Version(Number<'a>),
    /// `.target sm_90a, debug`
    Target(Vec<Name<'a>>),
    /// `.address_size 64`
    AddressSize(Number<'a>),
    /// `.file 1 "x.cu", 0, 0`
    File(File<'a>),
    /// `.section .debug_str { … }`
    Section(Section<'a>),
    /// `@@DWARF …`, the debug format before `.section`; the rest of its line as text.
    Dwarf(&'a str),
    /// `.pragma "…";`
    Pragma(Vec<&'a str>),
    /// `.loc`; some producers write it before a function.
    Loc(Loc<'a>),
    /// `.alias f, g;`
    Alias(Name<'a>, Name<'a>),
    /// A variable.
    Variable(Variable<'a>),
    /// A kernel or function, defined or declared.
    Function(Box<Function<'a>>),
}

/// `.file index "path" {, time, size}`
#[derive(Clone, Debug, PartialEq)]
pub struct File<'a> {
    /// The number used in `.loc`.
    pub index: Number<'a>,
    /// The path, without quotes.
    pub path: &'a str,
    /// Modification time and size, if given.
    pub stamp: Vec<Number<'a>>,
}

/// `.section name { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Section<'a> {
    /// The name with its dot, if it has one.
    pub name: &'a str,
    /// Its lines.
    pub lines: Vec<SectionLine<'a>>,
    /// The directive.
    pub at: At,
}

/// A line of a debug section.
#[derive(Clone, Debug, PartialEq)]
pub enum SectionLine<'a> {
    /// `label:`
    Label(Name<'a>),
    /// `.b8 1, 2, 3` or `.b32 label+4`; names may keep a leading dot (`.debug_abbrev`).
    Data(Name<'a>, Vec<Expr<'a>>),
}

/// `.loc file line column {, function_name label, inlined_at file line column}`
#[derive(Clone, Debug, PartialEq)]
pub struct Loc<'a> {
    /// File, line, column.
    pub position: [Number<'a>; 3],
    /// The inlined function's name (an offset into `.debug_str`) and the call site.
    pub inlined: Option<Inlined<'a>>,
}

/// The second half of a `.loc`.
#[derive(Clone, Debug, PartialEq)]
pub struct Inlined<'a> {
    /// `label` or `label + offset`.
    pub function_name: Expr<'a>,
    /// File, line, column of the call.
    pub position: [Number<'a>; 3],
}

/// `.extern`, `.visible`, `.weak`, `.common`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Defined elsewhere.
    Extern,
    /// Visible to other modules.
    Visible,
    /// May be replaced by a definition elsewhere.
    Weak,
    /// Merged with its namesakes.
    Common,
}

/// State spaces in which variables are declared (manual §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum StateSpace {
    Reg,
    Sreg,
    Const,
    Global,
    Local,
    Param,
    Shared,
    Tex,
}

/// One variable directive, which may declare several variables of one type. Parameters use it too.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    /// Linkage, at the outermost level.
    pub linkage: Option<Linkage>,
    /// The state space of the variable.
    pub space: StateSpace,
    /// `.const[2]`: the bank of the old banked constant space.
    pub bank: Option<Number<'a>>,
    /// `.align N`
    pub align: Option<Expr<'a>>,
    /// `.attribute(…)`
    pub attributes: Vec<Attribute<'a>>,
    /// `.v2`, `.v4`, `.v8`, without the dot.
    pub vector: Option<Name<'a>>,
    /// The element type, without the dot.
    pub ty: Name<'a>,
    /// `.ptr` of a kernel parameter.
    pub pointer: Option<Pointer<'a>>,
    /// The declared names.
    pub declarators: Vec<Declarator<'a>>,
    /// The directive.
    pub at: At,
}

/// `.ptr {.space} {.align N}`
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer<'a> {
    /// The state space of its target, without the dot.
    pub space: Option<Name<'a>>,
    /// Alignment of its target.
    pub align: Option<Expr<'a>>,
}

/// `.managed` or `.unified(1, 2)` inside `.attribute(…)`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute<'a> {
    /// The name, without the dot.
    pub name: Name<'a>,
    /// Its arguments.
    pub arguments: Vec<Expr<'a>>,
}

/// A declared name with its shape and contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator<'a> {
    /// The name, or the prefix of a range; `_` for an unnamed parameter.
    pub name: Name<'a>,
    /// `%r<100>` declares `%r0` … `%r99`.
    pub range: Option<Number<'a>>,
    /// `[4][2]`; `None` is `[]`.
    pub dimensions: Vec<Option<Expr<'a>>>,
    /// `= …`
    pub initializer: Option<Initializer<'a>>,
}

/// The initial contents of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer<'a> {
    /// A scalar.
    Scalar(Expr<'a>),
    /// `{ …, … }`
    List(Vec<Initializer<'a>>),
}

/// `.entry` or `.func`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    /// A device function.
    Func,
}

/// A kernel or device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'a> {
    /// Linkage.
    pub linkage: Option<Linkage>,
    /// Kernel or function.
    pub kind: FunctionKind,
    /// `.attribute(…)`
    pub attributes: Vec<Attribute<'a>>,
    /// The results.
    pub returns: Vec<Variable<'a>>,
    /// Its name.
    pub name: Name<'a>,
    /// Its parameters.
    pub params: Vec<Variable<'a>>,
    /// `.maxntid 128, 1, 1` and similar.
    pub directives: Vec<FunctionDirective<'a>>,
    /// `None` for a declaration.
    pub body: Option<Block<'a>>,
    /// From the linkage to the name.
    pub at: At,
}

/// A directive between a function's parameters and its body.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDirective<'a> {
    /// The name, without the dot.
    pub name: Name<'a>,
    /// Its numbers.
    pub arguments: Vec<Expr<'a>>,
    /// Its strings (`.pragma`).
    pub strings: Vec<&'a str>,
}

/// `{ … }`: a scope for names.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<'a> {
    /// Its statements.
    pub statements: Vec<Statement<'a>>,
    /// From brace to brace.
    pub at: At,
}

/// Something inside a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'a> {
    /// `label:`
    Label(Name<'a>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// A variable.
    Variable(Variable<'a>),
    /// A nested scope.
    Block(Block<'a>),
    /// `.loc`
    Loc(Loc<'a>),
    /// `.pragma "…";`
    Pragma(Vec<&'a str>),
    /// `label: .branchtargets A, B<4>;`
    BranchTargets(Name<'a>, Vec<Target<'a>>),
    /// `label: .calltargets f, g;`
    CallTargets(Name<'a>, Vec<Name<'a>>),
    /// `label: .callprototype (…) _ (…);`
    CallPrototype(Box<CallPrototype<'a>>),
}

/// An entry of a `.branchtargets` list: a label, or `N<5>` for `N0` … `N4`.
#[derive(Clone, Debug, PartialEq)]
pub struct Target<'a> {
    /// The label or the prefix of the range.
    pub name: Name<'a>,
    /// The number of labels in the range.
    pub range: Option<Number<'a>>,
}

/// `label: .callprototype (ret) _ (params) .noreturn;`
#[derive(Clone, Debug, PartialEq)]
pub struct CallPrototype<'a> {
    /// The name for calls.
    pub label: Name<'a>,
    /// The results of the callee.
    pub returns: Vec<Variable<'a>>,
    /// The callee's parameters.
    pub params: Vec<Variable<'a>>,
    /// `.noreturn`, `.abi_preserve N`
    pub directives: Vec<FunctionDirective<'a>>,
}

/// `@!p opcode.modifier operand, …;`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'a> {
    /// The guard predicate.
    pub guard: Option<Guard<'a>>,
    /// The opcode up to the first dot.
    pub opcode: Name<'a>,
    /// Everything dotted after it.
    pub modifiers: Vec<Name<'a>>,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// From the guard to the semicolon.
    pub at: At,
}

/// `@p` or `@!p`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard<'a> {
    /// Set if it is preceded by `!`.
    pub negated: bool,
    /// The predicate register.
    pub predicate: Name<'a>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, symbol, label, constant expression, `symbol+4` or `!p`.
    Expr(Expr<'a>),
    /// `%tid.x`, `v.r`: a component of a vector register.
    Component(Name<'a>, Name<'a>),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)` in a call.
    List(Vec<Operand<'a>>),
    /// `d|p`
    Pair(Box<(Operand<'a>, Operand<'a>)>),
    /// `[base+offset]`, or a tuple such as `[map, {x, y}]`.
    Address(Vec<Operand<'a>>),
    /// `[x].unified`
    Qualified(Box<Operand<'a>>, Name<'a>),
    /// `array[3]`
    Element(Name<'a>, Box<Operand<'a>>),
    /// `_`
    Sink(At),
}

/// A constant expression (manual §4.5.4), which may also mention names: `table+8`, `generic(x)`.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr<'a> {
    /// A literal.
    Number(Number<'a>),
    /// A register, symbol, label or `WARP_SZ`.
    Name(Name<'a>),
    /// `-x`
    Unary(UnaryOp, Box<Expr<'a>>),
    /// `x + y`
    Binary(BinaryOp, Box<(Expr<'a>, Expr<'a>)>),
    /// `c ? x : y`
    Conditional(Box<(Expr<'a>, Expr<'a>, Expr<'a>)>),
    /// `(.s64) x` or `(.u64) x`; the name is without the dot.
    Cast(Name<'a>, Box<Expr<'a>>),
    /// `(x)`
    Parenthesized(Box<Expr<'a>>),
    /// `generic(x)`
    Generic(Box<Expr<'a>>),
    /// `0xff00(x)`: the masked byte of an address.
    Mask(Number<'a>, Box<Expr<'a>>),
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the operator")]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    Complement,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the operator")]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

impl<'a> Expr<'a> {
    /// Returns the name, if the expression is only a name.
    #[must_use]
    pub fn as_name(&self) -> Option<Name<'a>> {
        match self {
            Self::Name(name) => Some(*name),
            _ => None,
        }
    }

    /// Its place.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Number(number) => number.at.0,
            Self::Name(name) => name.span(),
            Self::Unary(_, inner) | Self::Parenthesized(inner) | Self::Generic(inner) => {
                inner.span()
            }
            Self::Cast(ty, inner) => ty.span().to(inner.span()),
            Self::Mask(mask, inner) => mask.at.0.to(inner.span()),
            Self::Binary(_, sides) => sides.0.span().to(sides.1.span()),
            Self::Conditional(parts) => parts.0.span().to(parts.2.span()),
        }
    }
}

impl Operand<'_> {
    /// Its place, as far as its parts have one; an empty list has none.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Expr(expr) => expr.span(),
            Self::Component(name, component) => name.span().to(component.span()),
            Self::Vector(parts) | Self::List(parts) | Self::Address(parts) => {
                let spans = parts.iter().map(Operand::span);
                spans.reduce(Span::to).unwrap_or_default()
            }
            Self::Pair(sides) => sides.0.span().to(sides.1.span()),
            Self::Qualified(operand, qualifier) => operand.span().to(qualifier.span()),
            Self::Element(name, index) => name.span().to(index.span()),
            Self::Sink(at) => at.0,
        }
    }
}
