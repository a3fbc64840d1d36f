//! The state of analysis: declarations so far, the current body, and functions still to be read.

use super::declarations::{Arg, Class, FunctionDecl, Signature, Template, Variable};
use super::scope::{DeclId, Entity, Scope, ScopeId, ScopeKind, TemplateId, VariableId};
use super::types::QType;
use crate::syntax::ast;
use crate::tree::{Clause, Expr, FunctionId, GlobalId, Local, LocalId, Program, RecordId};
use crate::{Result, unsupported};
use base::{Diagnostic, IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// The deepest nesting of templates (\[implimits\] recommends 1024; kernels need a few).
pub(super) const MAX_INSTANCE_DEPTH: u32 = 64;

/// A function whose body is still to be read.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub decl: DeclId,
    /// The scope of template arguments, or of the declaration.
    pub scope: ScopeId,
    pub signature: Signature,
    /// The number of calls between it and a kernel.
    pub generation: u32,
}

/// The reading state of a function's body.
#[derive(Clone, Debug)]
pub(crate) enum BodyState {
    Waiting(Box<Task>),
    Reading,
    Read,
    Failed(Box<Diagnostic>),
}

/// The state while a body is read.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    /// The function; `None` outside of bodies.
    pub function: Option<FunctionId>,
    /// The number of calls between it and a kernel.
    pub generation: u32,
    pub locals: IndexVec<LocalId, Local>,
    /// Values of `const` variables with constant initialisers.
    pub constants: FxHashMap<LocalId, Expr>,
    /// The result type; `None` while `auto` is not deduced.
    pub returns: Option<QType>,
    /// The result type is declared as `auto`.
    pub returns_auto: bool,
    /// The object of a member function, and whether it is `const`.
    pub this: Option<(LocalId, bool)>,
    /// The class of a member function.
    pub record: Option<RecordId>,
    pub parameters: Vec<LocalId>,
    /// Shared arrays declared by clauses of the function.
    pub declared: Vec<LocalId>,
    pub is_constructor: bool,
    pub is_kernel: bool,
    /// The number of loops around the current statement.
    pub loops: u32,
    /// The number of `switch` statements around the current statement.
    pub switches: u32,
    /// Named invariants of loops, which may be repeated by name.
    pub named_invariants: FxHashMap<Box<str>, &'a ast::Expr>,
    /// Names allowed in the current clause.
    pub spec: SpecContext,
    /// Clauses found in the body.
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
            named_invariants: FxHashMap::default(),
            spec: SpecContext::default(),
            clauses: Vec::new(),
        }
    }
}

/// Names allowed in a clause.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpecContext {
    /// A clause is being read.
    pub active: bool,
    /// `\other` is allowed: in clauses of barriers.
    pub may_name_other: bool,
    /// `LoopEntry` is allowed: in clauses of loops.
    pub in_loop_clause: bool,
    /// `\result` is allowed: in postconditions of functions.
    pub has_result: bool,
}

/// The traversal of a file.
pub(crate) struct Analyser<'a> {
    /// The most operands of one chain of operators, from the options.
    pub(super) longest_chain: usize,
    pub(super) program: Program,
    pub(super) scopes: IndexVec<ScopeId, Scope>,
    /// The global namespace.
    pub(super) global: ScopeId,
    /// The namespace `std`, which is also `cuda::std`.
    pub(super) standard: ScopeId,
    /// The scope of CUDA's headers, searched last.
    pub(super) headers: Option<ScopeId>,
    /// The scope that lookup starts from.
    pub(super) scope: ScopeId,
    /// The number of the last visible declaration: names of namespaces declared later are invisible.
    pub(super) limit: u32,
    /// The number of declarations read so far.
    pub(super) order: u32,
    pub(super) decls: IndexVec<DeclId, FunctionDecl<'a>>,
    pub(super) templates: IndexVec<TemplateId, Template<'a>>,
    pub(super) variables: IndexVec<VariableId, Variable>,
    pub(super) classes: Vec<Class<'a>>,
    /// Scopes of enumerations and the enumerations' names, by position.
    pub(super) enum_scopes: Vec<ScopeId>,
    /// The reading state of each function's body, by position.
    pub(super) bodies: Vec<BodyState>,
    /// Callees of each function, by position.
    pub(super) callees: Vec<Vec<FunctionId>>,
    /// Functions whose bodies are to be read.
    pub(super) queue: Vec<FunctionId>,
    /// The state of the body that is being read.
    pub(super) body: Body<'a>,
    /// The current nesting of template instances and constants.
    pub(super) instance_depth: u32,
    /// The current nesting of expressions.
    pub(super) expression_depth: u32,
    /// The kernels of the file, in order.
    pub(super) kernels: Vec<(DeclId, Span)>,
    /// Explicit instantiations of kernels.
    pub(super) instantiations: Vec<(DeclId, Vec<Arg>, Span)>,
    /// Built-in vector types by name.
    pub(super) vectors: FxHashMap<Box<str>, RecordId>,
    /// Types defined in declarations of several variables, by place.
    pub(super) defined: FxHashMap<(ScopeId, Span), QType>,
    pub(super) volatile_globals: FxHashSet<GlobalId>,
    /// An operator may be a function with an enumeration as parameter.
    pub(super) has_operators: bool,
    /// Functions declared `constexpr`.
    pub(super) constexpr: FxHashSet<FunctionId>,
    /// Result types by function; `None` while `auto` is not deduced.
    pub(super) result_types: Vec<Option<QType>>,
    /// Implicit default constructors by class.
    pub(super) implicit_constructors: FxHashMap<RecordId, FunctionId>,
    pub(super) monoid_names: Vec<Box<str>>,
    /// Clauses at file scope, read after all declarations.
    pub(super) monoids: Vec<(&'a ast::Clause, u32)>,
    /// Conditions of GPUVerify's `__axiom` for every thread, with the number of names declared before.
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
            instance_depth: 0,
            expression_depth: 0,
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

    /// Runs `inner` as if it were written at another place: in that scope, with the names declared up to `limit`.
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

    /// Runs `inner` one level deeper; refuses infinite chains of instances and constants.
    pub(super) fn with_instance_limit<T>(
        &mut self,
        span: Span,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.instance_depth >= MAX_INSTANCE_DEPTH {
            return Err(unsupported(span, "templates or constants are nested too deeply here"));
        }
        self.instance_depth += 1;
        let result = inner(self);
        self.instance_depth -= 1;
        result
    }
}
