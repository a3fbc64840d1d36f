//! Semantic analysis: from the syntax tree to the typed tree (ISO C++17 \[basic.lookup\], \[conv\], \[expr\], \[over\], \[temp\]).
//!
//! Declarations are entered in the order of the file. Bodies are read later, one for each function that a kernel reaches, from a
//! queue; a body sees what was declared before it. An instance of a template is its syntax read again in a scope that binds the
//! parameters. An error in a function is kept with it and concerns the kernels that reach it.
//!
//! It errs towards refusal: a construct without a rule here is unsupported.

mod body;
mod builtins;
mod call;
mod cast;
mod class;
mod clauses;
mod constant;
mod convert;
mod copies;
mod declare;
mod deduce;
mod enums;
mod evaluate;
mod evaluate_numbers;
mod expr;
mod function_pointer;
mod gpuverify;
mod gpuverify_words;
mod init;
mod instance;
mod kernels;
mod layout;
mod names;
mod operators;
mod ordering;
mod overload;
mod pending;
mod scope;
mod sequence;
mod spec;
mod spec_call;
mod stmt;
mod switch;
mod template_text;
#[cfg(test)]
mod tests;
mod types;
mod user_operators;
mod variables;
#[cfg(test)]
mod word_tests;

use crate::Result;
use crate::syntax::ast;
use crate::tree::{Clause, Expr, FunctionId, GlobalId, Local, LocalId, Program, RecordId};
pub(crate) use crate::{error, unsupported};
use base::{Code, Diagnostic, IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use scope::{DeclId, Scope, ScopeId, ScopeKind, TemplateId, VariableId};
use types::QType;

/// Templates nest no deeper than this (\[implimits\] recommends 1024; kernels need a few).
const DEPTH: u32 = 64;

/// Calls that need new functions go no further from a kernel than this: instances of templates may have no end.
const GENERATIONS: u32 = 256;

/// How a file is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Operators of one level in a row, as in a long sum. Who walks such a tree needs a stack for it.
    pub longest_chain: usize,
}

impl Default for Options {
    /// For the stack that threads have.
    fn default() -> Self {
        Self { longest_chain: 400 }
    }
}

/// Finds out what a file means.
///
/// # Errors
///
/// Errors that concern the whole file; those of single kernels are in their entries.
pub fn analyse(unit: &ast::Unit, options: &Options) -> Result<Program> {
    let prelude = prelude()?;
    let mut analyser = Analyser::new(options);
    analyser.declare_all(&prelude.declarations)?;
    analyser.prelude_declared();
    analyser.declare_all(&unit.declarations)?;
    analyser.read_kernels()?;
    Ok(analyser.finish())
}

/// Declarations of headers that every text sees. They have no place in the user's text.
fn prelude() -> Result<ast::Unit> {
    let options = crate::preprocess::Options::default();
    let mut text = crate::preprocess::preprocess(&options, include_str!("prelude.cuh"))?;
    for token in &mut text.tokens {
        token.span = Span::default();
    }
    crate::syntax::parse(&text)
}

/// Parameters and result of a function.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub parameters: Vec<QType>,
    /// Nothing while it is to be deduced from the body (`auto`).
    pub returns: Option<QType>,
    pub is_variadic: bool,
}

/// Where the body of a function is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'a> {
    pub ast: &'a ast::Function,
    pub order: u32,
    /// The scope of its own template parameters' parent, for members defined outside of their class.
    pub scope: ScopeId,
}

/// What a member function is besides a function.
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
    /// Nothing for a template.
    pub signature: Option<Result<Signature>>,
    pub member: Option<Member>,
    pub defaults: Vec<Option<&'a ast::Expr>>,
    /// Explicit specialisations: arguments and the function.
    pub specialisations: Vec<(String, DeclId)>,
    pub instances: FxHashMap<String, FunctionId>,
}

/// What a template makes.
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
    /// Members that are defined outside of it.
    pub member_definitions: Vec<(&'a ast::Function, u32)>,
    pub instances: FxHashMap<String, Result<scope::Entity>>,
}

/// A constant: its value, a literal or made of symbols, or why it is not one.
#[derive(Debug)]
pub(crate) struct Variable {
    pub value: Result<Expr>,
}

/// What is known of a class besides its layout.
#[derive(Clone, Debug)]
pub(crate) struct Class<'a> {
    pub scope: ScopeId,
    /// Bases: their type and the field that holds them.
    pub bases: Vec<(RecordId, usize)>,
    pub state: ClassState,
    pub constructors: Vec<DeclId>,
    pub conversions: Vec<DeclId>,
    /// Whether a base may depend on template parameters: its names are not found by unqualified lookup (\[temp.dep\]/3).
    pub has_dependent_base: bool,
    /// Initialisers of fields, by position.
    pub field_inits: Vec<(usize, &'a ast::Initialiser)>,
    /// It has a destructor or virtual functions, which are not followed.
    pub refused: Option<(Span, &'static str)>,
    /// The template and arguments that it is an instance of.
    pub instance: Option<(TemplateId, Vec<instance::Arg>)>,
}

#[derive(Clone, Debug)]
pub(crate) enum ClassState {
    Declared,
    Complete,
    Failed(Box<Diagnostic>),
}

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
    pub spec: spec::SpecContext,
    /// Clauses that were found in the body.
    pub clauses: Vec<Clause>,
}

impl Body<'_> {
    fn new() -> Self {
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
            spec: spec::SpecContext::default(),
            clauses: Vec::new(),
        }
    }
}

/// The walk over a file.
pub(crate) struct Analyser<'a> {
    longest_chain: usize,
    program: Program,
    scopes: IndexVec<ScopeId, Scope>,
    global: ScopeId,
    standard: ScopeId,
    /// Names of CUDA's headers, found where nothing else is.
    headers: Option<ScopeId>,
    /// Where names are looked up from.
    scope: ScopeId,
    /// Names of namespaces that were declared later are not seen.
    limit: u32,
    order: u32,
    decls: IndexVec<DeclId, FunctionDecl<'a>>,
    templates: IndexVec<TemplateId, Template<'a>>,
    variables: IndexVec<VariableId, Variable>,
    classes: Vec<Class<'a>>,
    /// Scopes of enumerations and the enumerations' names, by position.
    enum_scopes: Vec<ScopeId>,
    /// The namespace in which an enumeration is declared, for argument-dependent lookup.
    bodies: Vec<BodyState>,
    /// Functions of each function, by position.
    callees: Vec<Vec<FunctionId>>,
    queue: Vec<FunctionId>,
    body: Body<'a>,
    depth: u32,
    level: u32,
    kernels: Vec<(DeclId, Span)>,
    /// Explicit instantiations of kernels.
    instantiations: Vec<(DeclId, Vec<instance::Arg>, Span)>,
    vectors: FxHashMap<Box<str>, RecordId>,
    /// Types that are defined in declarations of several variables, by place.
    defined: FxHashMap<(ScopeId, Span), QType>,
    volatile_globals: FxHashSet<GlobalId>,
    /// Whether an operator may be a function that takes enumerations.
    has_operators: bool,
    constexpr: FxHashSet<FunctionId>,
    /// Result types by function; nothing while `auto` is not deduced.
    result_types: Vec<Option<QType>>,
    implicit_constructors: FxHashMap<RecordId, FunctionId>,
    monoid_names: Vec<Box<str>>,
    /// Clauses at file scope that are read when everything is declared.
    monoids: Vec<(&'a ast::Clause, u32)>,
    /// What GPUVerify's `__axiom` says of every thread, and how many names were declared before.
    axioms: Vec<(&'a ast::Clause, u32)>,
    /// Predicates and lemmas by name.
    predicates: FxHashMap<Box<str>, usize>,
    lemmas: FxHashMap<Box<str>, usize>,
}

impl<'a> Analyser<'a> {
    fn new(options: &Options) -> Self {
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
            let entity = scope::Entity::Namespace(inner);
            scopes[within].names.insert(name.into(), vec![(0, entity)]);
        }
        Self {
            longest_chain: options.longest_chain,
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
    /// What the prelude cannot say in C++: where names of headers are, and how large states of generators are (`curand_kernel.h`).
    fn prelude_declared(&mut self) {
        use scope::Entity;
        let found = self.names_in(self.global, "__cuda");
        let Some(Entity::Namespace(headers)) = found.first() else { return };
        let headers = *headers;
        self.headers = Some(headers);
        let sizes = [
            ("curandStateXORWOW", 48, 8),
            ("curandStateMRG32k3a", 72, 8),
            ("curandStatePhilox4_32_10", 64, 16),
        ];
        for (name, size, align) in sizes {
            for entity in self.names_in(headers, name) {
                let Entity::Type(QType { ty: crate::tree::Type::Record(record), .. }) = entity
                else {
                    continue;
                };
                if let Some(known) = self.program.records.get(record).cloned() {
                    self.program.records[record] = crate::tree::Record { size, align, ..known };
                }
            }
        }
    }

    fn at_place<T>(&mut self, scope: ScopeId, limit: u32, inner: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.scope, self.limit);
        (self.scope, self.limit) = (scope, limit);
        let result = inner(self);
        (self.scope, self.limit) = outer;
        result
    }

    /// Guards against instances without end.
    fn nested<T>(&mut self, span: Span, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEPTH {
            return Err(unsupported(span, "templates or constants are nested too deeply here"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// A name that is not declared or not what it is used as.
pub(crate) fn name_error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}
