//! Results of declarations: functions, templates, classes and constants, by the numbers in [`super::scope::Entity`].

use super::scope::{DeclId, Entity, ScopeId, TemplateId};
use super::types::QType;
use crate::Result;
use crate::syntax::ast;
use crate::tree::{Expr, FunctionId, RecordId};
use base::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// Parameters and result of a function.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub parameters: Vec<QType>,
    /// `None` while it is to be deduced from the body (`auto`).
    pub returns: Option<QType>,
    pub is_variadic: bool,
}

/// The place of a function's body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'a> {
    pub ast: &'a ast::Function,
    /// The number of its declaration: names declared later are invisible in it.
    pub order: u32,
    /// The parent scope of its own template parameters, for members defined outside of their class.
    pub scope: ScopeId,
}

/// Properties of a member function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub record: RecordId,
    pub is_static: bool,
    pub is_const: bool,
    pub is_constructor: bool,
}

/// A declared function: one overload.
#[derive(Debug)]
pub(crate) struct FunctionDecl<'a> {
    pub name: String,
    pub scope: ScopeId,
    pub order: u32,
    pub ast: &'a ast::Function,
    pub definition: Option<Definition<'a>>,
    /// `None` for a template.
    pub signature: Option<Result<Signature>>,
    pub member: Option<Member>,
    pub defaults: Vec<Option<&'a ast::Expr>>,
    /// Explicit specialisations: arguments and the function.
    pub specialisations: Vec<(String, DeclId)>,
    pub instances: FxHashMap<String, FunctionId>,
}

/// The kind of entity that a template makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern<'a> {
    Record(&'a ast::Record),
    Alias(&'a ast::TypeSyntax),
    Variable(&'a ast::Variables, &'a ast::Declarator),
}

/// A template of a class, alias or variable.
#[derive(Debug)]
pub(crate) struct Template<'a> {
    pub pattern: Pattern<'a>,
    pub parameters: &'a ast::TemplateParameters,
    pub scope: ScopeId,
    pub order: u32,
    /// Full and partial specialisations: parameters, arguments, the class.
    pub specialisations:
        Vec<(&'a ast::TemplateParameters, &'a [ast::TemplateArgument], Pattern<'a>)>,
    /// Members defined outside of it.
    pub member_definitions: Vec<(&'a ast::Function, u32)>,
    pub instances: FxHashMap<String, Result<Entity>>,
}

/// A constant: its value, a literal or made of symbols, or the reason why it is not one.
#[derive(Debug)]
pub(crate) struct Variable {
    pub value: Result<Expr>,
}

/// A class, apart from its layout.
#[derive(Clone, Debug)]
pub(crate) struct Class<'a> {
    pub scope: ScopeId,
    /// Bases: their type, and the field for them.
    pub bases: Vec<(RecordId, usize)>,
    pub state: ClassState,
    /// The number of fields, including those of its fields' classes.
    pub parts: usize,
    /// The number of levels of nested classes.
    pub levels: usize,
    pub constructors: Vec<DeclId>,
    pub conversions: Vec<DeclId>,
    /// A base may depend on template parameters: unqualified lookup does not find its names (\[temp.dep\]/3).
    pub has_dependent_base: bool,
    /// Initialisers of fields, by position.
    pub field_inits: Vec<(usize, &'a ast::Initialiser)>,
    /// It has a destructor or virtual functions, which are not supported.
    pub refused: Option<(Span, &'static str)>,
    /// The template it is an instance of, with arguments.
    pub instance: Option<(TemplateId, Vec<Arg>)>,
}

#[derive(Clone, Debug)]
pub(crate) enum ClassState {
    Declared,
    Complete,
    Failed(Box<Diagnostic>),
}

/// An argument of a template.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Type(QType),
    /// A literal of the parameter's type, or an expression of symbols.
    Value(Expr),
}
