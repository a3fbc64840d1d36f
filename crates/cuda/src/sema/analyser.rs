//! The state of analysis: what is declared so far, the body that is read, and the functions that are still to be read.

use super::declarations::{Arg, Class, FunctionDecl, Signature, Template, Variable};
use super::scope::{DeclId, Entity, Scope, ScopeId, ScopeKind, TemplateId, VariableId};
use super::types::QType;
use crate::syntax::ast;
use crate::tree::{Clause, Expr, FunctionId, GlobalId, Local, LocalId, Program, RecordId};
use crate::{Result, unsupported};
use base::{Diagnostic, IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// Templates nest no deeper than this (\[implimits\] recommends 1024; kernels need a few).
pub(super) const DEPTH: u32 = 64;

/// A function whose body is to be read.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub decl: DeclId,
    /// The scope of template arguments, or where it is declared.
    pub scope: ScopeId,
    pub signature: Signature,
    /// How many calls away from a kernel it was found.
    pub generation: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum BodyState {
    Waiting(Box<Task>),
    Reading,
    Read,
    Failed(Box<Diagnostic>),
}

/// What is known while a body is read.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub function: Option<FunctionId>,
    pub generation: u32,
    pub locals: IndexVec<LocalId, Local>,
    /// Values of `const` variables with constant initialisers.
    pub constants: FxHashMap<LocalId, Expr>,
    pub returns: Option<QType>,
    pub returns_auto: bool,
    /// The object of a member function, and whether it is `const`.
    pub this: Option<(LocalId, bool)>,
    pub record: Option<RecordId>,
    pub parameters: Vec<LocalId>,
    /// Shared arrays that clauses of the function brought in.
    pub declared: Vec<LocalId>,
    pub is_constructor: bool,
    pub is_kernel: bool,
    pub loops: u32,
    pub switches: u32,
    /// Named invariants of loops, which may be said again.
    pub named: FxHashMap<Box<str>, &'a ast::Expr>,
    /// What a clause may speak of.
    pub spec: SpecContext,
    /// Clauses that were found in the body.
    pub clauses: Vec<Clause>,
}

impl Body<'_> {
    pub(super) fn new() -> Self {
        Self {
            function: None,
            generation: 0,
            locals: IndexVec::new(),
            constants: FxHashMap::default(),
            returns: None,
            returns_auto: false,
            this: None,
            record: None,
            parameters: Vec::new(),
            declared: Vec::new(),
            is_constructor: false,
            is_kernel: false,
            loops: 0,
            switches: 0,
            named: FxHashMap::default(),
            spec: SpecContext::default(),
            clauses: Vec::new(),
        }
    }
}

/// What a clause may speak of.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpecContext {
    /// Whether a clause is read.
    pub active: bool,
    /// `\other` is known: in clauses of barriers.
    pub in_pair: bool,
    /// `LoopEntry` is known: in clauses of loops.
    pub of_loop: bool,
    /// `\result` is known: in postconditions of functions.
    pub has_result: bool,
}

/// The walk over a file.
pub(crate) struct Analyser<'a> {
    pub(super) longest_chain: usize,
    pub(super) program: Program,
    pub(super) scopes: IndexVec<ScopeId, Scope>,
    pub(super) global: ScopeId,
    pub(super) standard: ScopeId,
    /// Names of CUDA's headers, found where nothing else is.
    pub(super) headers: Option<ScopeId>,
    /// Where names are looked up from.
    pub(super) scope: ScopeId,
    /// Names of namespaces that were declared later are not seen.
    pub(super) limit: u32,
    pub(super) order: u32,
    pub(super) decls: IndexVec<DeclId, FunctionDecl<'a>>,
    pub(super) templates: IndexVec<TemplateId, Template<'a>>,
    pub(super) variables: IndexVec<VariableId, Variable>,
    pub(super) classes: Vec<Class<'a>>,
    /// Scopes of enumerations and the enumerations' names, by position.
    pub(super) enum_scopes: Vec<ScopeId>,
    /// How far the body of each function is read, by position.
    pub(super) bodies: Vec<BodyState>,
    /// Functions of each function, by position.
    pub(super) callees: Vec<Vec<FunctionId>>,
    pub(super) queue: Vec<FunctionId>,
    pub(super) body: Body<'a>,
    pub(super) depth: u32,
    pub(super) level: u32,
    pub(super) kernels: Vec<(DeclId, Span)>,
    /// Explicit instantiations of kernels.
    pub(super) instantiations: Vec<(DeclId, Vec<Arg>, Span)>,
    pub(super) vectors: FxHashMap<Box<str>, RecordId>,
    /// Types that are defined in declarations of several variables, by place.
    pub(super) defined: FxHashMap<(ScopeId, Span), QType>,
    pub(super) volatile_globals: FxHashSet<GlobalId>,
    /// Whether an operator may be a function that takes enumerations.
    pub(super) has_operators: bool,
    pub(super) constexpr: FxHashSet<FunctionId>,
    /// Result types by function; nothing while `auto` is not deduced.
    pub(super) result_types: Vec<Option<QType>>,
    pub(super) implicit_constructors: FxHashMap<RecordId, FunctionId>,
    pub(super) monoid_names: Vec<Box<str>>,
    /// Clauses at file scope that are read when everything is declared.
    pub(super) monoids: Vec<(&'a ast::Clause, u32)>,
    /// What GPUVerify's `__axiom` says of every thread, and how many names were declared before.
    pub(super) axioms: Vec<(&'a ast::Clause, u32)>,
    /// Predicates and lemmas by name.
    pub(super) predicates: FxHashMap<Box<str>, usize>,
    pub(super) lemmas: FxHashMap<Box<str>, usize>,
}

impl<'a> Analyser<'a> {
    pub(super) fn new(longest_chain: usize) -> Self {
        let mut scopes = IndexVec::new();
        let mut scope = |parent| {
            scopes.push(Scope {
                parent,
                kind: ScopeKind::Namespace,
                name: "".into(),
                names: FxHashMap::default(),
                directives: Vec::new(),
                transparent: Vec::new(),
            })
        };
        let global = scope(None);
        let standard = scope(Some(global));
        let cuda = scope(Some(global));
        // `cuda::std` is read as `std`.
        for (within, name, inner) in
            [(global, "std", standard), (global, "cuda", cuda), (cuda, "std", standard)]
        {
            let entity = Entity::Namespace(inner);
            scopes[within].names.insert(name.into(), vec![(0, entity)]);
        }
        Self {
            longest_chain,
            program: Program::default(),
            scopes,
            global,
            standard,
            headers: None,
            scope: global,
            limit: 0,
            order: 0,
            decls: IndexVec::new(),
            templates: IndexVec::new(),
            variables: IndexVec::new(),
            classes: Vec::new(),
            enum_scopes: Vec::new(),
            bodies: Vec::new(),
            callees: Vec::new(),
            queue: Vec::new(),
            body: Body::new(),
            depth: 0,
            level: 0,
            kernels: Vec::new(),
            instantiations: Vec::new(),
            vectors: FxHashMap::default(),
            defined: FxHashMap::default(),
            volatile_globals: FxHashSet::default(),
            has_operators: false,
            constexpr: FxHashSet::default(),
            result_types: Vec::new(),
            implicit_constructors: FxHashMap::default(),
            monoid_names: Vec::new(),
            monoids: Vec::new(),
            axioms: Vec::new(),
            predicates: FxHashMap::default(),
            lemmas: FxHashMap::default(),
        }
    }

    /// Runs `inner` from another place: its scope and what was declared before it.
    pub(super) fn at_place<T>(
        &mut self,
        scope: ScopeId,
        limit: u32,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = (self.scope, self.limit);
        (self.scope, self.limit) = (scope, limit);
        let result = inner(self);
        (self.scope, self.limit) = outer;
        result
    }

    /// Guards against instances without end.
    pub(super) fn nested<T>(
        &mut self,
        span: Span,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= DEPTH {
            return Err(unsupported(span, "templates or constants are nested too deeply here"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}
