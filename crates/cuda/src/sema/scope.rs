//! Scopes and entities of names (\[basic.scope\]).
//!
//! Scopes form a tree that outlives the traversal, because templates and bodies are read later than they are written.
//! An entity of a namespace carries its number in the order of declaration; a lookup sees only entities declared
//! before its place.

use super::types::QType;
use crate::syntax::ast;
use crate::tree::{EnumId, Expr, GlobalId, LocalId, RecordId, SymbolId};
use base::define_index;
use rustc_hash::FxHashMap;

define_index! {
    /// A scope.
    pub(crate) struct ScopeId;
    /// A declared function or function template: one overload.
    pub(crate) struct DeclId;
    /// A template of a class, alias or variable.
    pub(crate) struct TemplateId;
    /// A constant, or a variable that is refused on use.
    pub(crate) struct VariableId;
}

/// The owner of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Namespace,
    Class(RecordId),
    /// Names of template parameters.
    Template,
    Block,
    /// Enumerators of an `enum class`.
    Enum,
}

/// The entity that a name denotes.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    Type(QType),
    Function(DeclId),
    Template(TemplateId),
    Namespace(ScopeId),
    Local(LocalId),
    Global(GlobalId),
    /// A constant of file or class scope, or one that is refused on use.
    Variable(VariableId),
    /// A value parameter of a template.
    Constant(Box<Expr>),
    Symbol(SymbolId),
    Enumerator(EnumId, i128),
    /// A field of the class, by its position.
    Field(usize),
    /// An unread entity: nothing is known of its name.
    Refused(Box<str>),
    /// A function of the host, which kernels cannot call.
    Host(Box<str>),
}

#[derive(Debug)]
pub(crate) struct Scope {
    pub parent: Option<ScopeId>,
    pub kind: ScopeKind,
    pub name: Box<str>,
    /// Entities by name, each with its number in the order of declaration.
    pub names: FxHashMap<Box<str>, Vec<(u32, Entity)>>,
    /// Namespaces with names visible here: number of the directive and the namespace.
    pub directives: Vec<(u32, ScopeId)>,
    /// Inline and unnamed namespaces; their names are names of this scope.
    pub transparent: Vec<ScopeId>,
}

/// A name as text, for messages.
pub(crate) fn spelled(name: &ast::QualifiedName) -> String {
    let parts: Vec<&str> = name.parts.iter().map(|part| part.name.text.as_ref()).collect();
    parts.join("::")
}
