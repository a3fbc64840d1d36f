//! Typed tree to kernel IR: side effects taken out of expressions, pointers and structs taken apart, `__device__` functions
//! put in the place of their calls.
//!
//! `cuda::tree` has every name, overload and conversion resolved, so what is left is the model of memory (`memory.rs`): a struct is
//! its scalars, a pointer is one of finitely many arrays with indices. Which arrays a pointer variable may hold is found by
//! lowering again until nothing is added (`pointers.rs`). What is outside the model is refused with its place.

mod address;
mod arithmetic;
mod atomics;
mod bytes;
mod claims;
mod contracts;
mod conversions;
mod declare;
mod dynamic;
mod expr;
mod function_tables;
mod globals;
mod inline;
mod integers;
mod intrinsics;
mod logs;
mod loops;
mod memory;
mod parameters;
mod pointers;
mod reinterpret;
mod returns;
mod sequence;
mod shapes;
mod signature;
mod spans;
mod spec;
mod stmt;
mod switch;
mod tables;
mod textures;
mod types;
mod vectors;
mod warps;

use crate::kir::{
    Array, ArrayId, Builtin, Claim, Contract, Expr, ExprKind, Footprint, Kernel, Lemma, Monoid,
    Requirement, Stmt, Type, Unfollowed, Var, VarId, When,
};
use base::{Code, Diagnostic, Index, IndexVec, Span};
use cuda::tree::{self, Function, FunctionId, GlobalId, LocalId, Program, SymbolId};
use memory::{ArrayInfo, Place};
use pointers::{Slot, Target};
use std::collections::BTreeMap;
use std::rc::Rc;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// How often a kernel is lowered again because a pointer variable may hold one more array.
const MAX_PASSES: usize = 12;

/// A function whose statements are being lowered.
struct Frame {
    id: FunctionId,
    function: Rc<Function>,
    bindings: BTreeMap<LocalId, Place>,
    /// Loops around, in this function.
    loops: usize,
    /// Where `return` goes, if this is no kernel.
    exit: Option<inline::Exit>,
}

/// What the first passes found out.
#[derive(Default)]
struct Hints {
    /// What each pointer variable may hold, in the order in which they are made.
    targets: Vec<Vec<Target>>,
    /// What `extern __shared__` memory holds, if that is not the type it is declared with.
    dynamic: Option<tree::Type>,
    /// Arrays whose accesses clauses speak of.
    logged: Vec<logs::Logged>,
}

struct Lowerer<'p> {
    program: &'p Program,
    vars: IndexVec<VarId, Var>,
    arrays: IndexVec<ArrayId, Array>,
    /// What the elements of each array are in C.
    infos: Vec<ArrayInfo>,
    frames: Vec<Frame>,
    /// Functions without `switch`.
    functions: BTreeMap<FunctionId, Rc<Function>>,
    globals: BTreeMap<GlobalId, Place>,
    symbols: BTreeMap<SymbolId, VarId>,
    /// Shared variables: a function that is inlined twice has them once.
    shared: BTreeMap<(FunctionId, LocalId), Place>,
    /// Calls that were put in their places.
    inlined_calls: usize,
    /// The array whose size the launch gives.
    dynamic: Option<(tree::Type, Place)>,
    extents: Vec<(declare::Named, Expr)>,
    slots: Vec<Slot>,
    /// Variables that pointers may point to.
    objects: Vec<memory::Spots>,
    hints: Hints,
    logs: Vec<logs::Log>,
    /// Whether a pointer variable may hold more than was known when it was used.
    grown: bool,
    /// Where a pointer is used that holds nothing.
    empty: Option<Span>,
    /// An array without elements, which null pointers point to.
    nowhere: BTreeMap<u8, ArrayId>,
    /// Whether pointers of the launch are null, by their array.
    nulls: BTreeMap<ArrayId, VarId>,
    /// What variables of the file are initialised with.
    initials: BTreeMap<ArrayId, Option<Vec<Expr>>>,
    /// Arrays that are read without regard to what is written to them.
    incoherent: Vec<(ArrayId, Span)>,
    mentioned: Vec<(Builtin, usize)>,
    /// Inside an annotation: integers have no bounds, elements may be named.
    annotation: bool,
    requires: Vec<Requirement>,
    ensures: Vec<Claim>,
    /// What is claimed at the next barrier, by calls that stand before it.
    pending: Vec<Claim>,
    footprints: Vec<Footprint>,
    contracts: Vec<Contract>,
    lemmas: Vec<Lemma>,
    monoids: Vec<(FunctionId, Monoid)>,
    unfollowed: Vec<Unfollowed>,
    /// Inside a claim: equations with elements are of their type.
    claiming: bool,
    /// Inside a clause of a barrier, where there is another thread, or inside of what that has.
    in_pair: bool,
    /// When elements of annotations are looked at.
    when: When,
    /// In an annotation of a loop.
    of_loop: bool,
    /// In a contract, where pointers have not moved yet.
    in_contract: bool,
    /// What functions whose contracts are looked at return.
    results: Vec<VarId>,
    /// Which functions the numbers in tables of functions stand for.
    function_tables: BTreeMap<ArrayId, Vec<Target>>,
    /// Whether there is a fence.
    fences: bool,
    scalars: Vec<VarId>,
}

fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}

fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}

/// Whether more is known of a function of CUDA than the type of its result.
pub(crate) fn follows(function: &str) -> bool {
    !intrinsics::is_unknown(function)
}

/// Lowers one kernel of a program.
pub(crate) fn kernel(program: &Program, id: FunctionId) -> Result<Kernel> {
    let Some(function) = program.functions.get(id) else {
        return Err(unsupported(Span::default(), "this kernel has no body"));
    };
    by_itself(program, id, function)
}

/// Lowers a function as a kernel, its body as `function` has it.
fn by_itself(program: &Program, id: FunctionId, function: &Function) -> Result<Kernel> {
    let function = Rc::new(switch::without(function)?);
    let mut hints = Hints::default();
    for _ in 0..MAX_PASSES {
        let mut lowerer = Lowerer::new(program, hints);
        let lowered = lowerer.lower(id, &function);
        if !lowerer.grown {
            if let (Ok(_), Some(span)) = (&lowered, lowerer.empty) {
                return Err(unsupported(span, "a pointer without a value is not supported"));
            }
            return lowered;
        }
        let targets = lowerer.slots.into_iter().map(|one| one.targets).collect();
        let Hints { dynamic, logged, .. } = lowerer.hints;
        hints = Hints { targets, dynamic, logged };
    }
    Err(unsupported(function.span, "pointers that may point to so many arrays are not supported"))
}

impl<'p> Lowerer<'p> {
    fn new(program: &'p Program, hints: Hints) -> Self {
        Lowerer {
            program,
            vars: IndexVec::new(),
            arrays: IndexVec::new(),
            infos: Vec::new(),
            frames: Vec::new(),
            functions: BTreeMap::new(),
            globals: BTreeMap::new(),
            symbols: BTreeMap::new(),
            shared: BTreeMap::new(),
            inlined_calls: 0,
            dynamic: None,
            extents: Vec::new(),
            slots: Vec::new(),
            objects: Vec::new(),
            hints,
            logs: Vec::new(),
            grown: false,
            empty: None,
            nowhere: BTreeMap::new(),
            nulls: BTreeMap::new(),
            initials: BTreeMap::new(),
            incoherent: Vec::new(),
            mentioned: Vec::new(),
            annotation: false,
            requires: Vec::new(),
            ensures: Vec::new(),
            pending: Vec::new(),
            footprints: Vec::new(),
            contracts: Vec::new(),
            lemmas: Vec::new(),
            monoids: Vec::new(),
            unfollowed: Vec::new(),
            claiming: false,
            in_pair: false,
            when: When::Here,
            of_loop: false,
            in_contract: false,
            results: Vec::new(),
            function_tables: BTreeMap::new(),
            fences: false,
            scalars: Vec::new(),
        }
    }

    fn lower(&mut self, id: FunctionId, function: &Rc<Function>) -> Result<Kernel> {
        self.macros(function.span);
        let macros = self.scalars.len();
        self.push_frame(id, function, None);
        self.file_variables();
        self.definitions()?;
        let mut body = Vec::new();
        self.parameters(function, &mut body)?;
        self.start_logs(function.span, &mut body);
        self.launch_bounds(function);
        self.in_contract = true;
        self.contract(function)?;
        self.in_contract = false;
        self.statements(&function.body, &mut body)?;
        if let Some((_, extent)) = self.extents.pop() {
            if self.dynamic.is_some() {
                // All `extern __shared__` arrays are one memory, which has the name of the first.
                let message = "the size of dynamic shared memory by its second name is not read: give that of the first";
                return Err(unsupported(extent.span, message));
            }
            return Err(error(extent.span, "there is no array without a size of this name"));
        }
        let kernel = self.finished(function, macros, body);
        self.check_coherence(&kernel)?;
        Ok(kernel)
    }

    fn finished(&mut self, function: &Function, macros: usize, body: Vec<Stmt>) -> Kernel {
        let (signature, layouts) = (self.signature(function), self.layouts(function));
        let take = std::mem::take::<IndexVec<VarId, Var>>;
        Kernel {
            name: function.name.clone(),
            span: function.span,
            scalars: std::mem::take(&mut self.scalars),
            macros,
            vars: take(&mut self.vars),
            arrays: std::mem::take(&mut self.arrays),
            requires: std::mem::take(&mut self.requires),
            ensures: std::mem::take(&mut self.ensures),
            footprints: std::mem::take(&mut self.footprints),
            contracts: std::mem::take(&mut self.contracts),
            lemmas: std::mem::take(&mut self.lemmas),
            monoids: std::mem::take(&mut self.monoids).into_iter().map(|(_, one)| one).collect(),
            unfollowed: std::mem::take(&mut self.unfollowed),
            body,
            mentioned: std::mem::take(&mut self.mentioned),
            types: self.assumed_types(&function.name),
            fences: self.fences,
            initials: std::mem::take(&mut self.initials),
            layouts,
            signature,
        }
    }

    fn push_frame(&mut self, id: FunctionId, function: &Rc<Function>, exit: Option<inline::Exit>) {
        let (function, bindings) = (Rc::clone(function), BTreeMap::new());
        self.frames.push(Frame { id, function, bindings, loops: 0, exit });
    }

    fn bind(&mut self, local: LocalId, place: Place) {
        if let Some(frame) = self.frames.last_mut() {
            frame.bindings.insert(local, place);
        }
    }

    /// What a variable of the function at hand is called, its type and its kind.
    fn local(&self, id: LocalId, span: Span) -> Result<tree::Local> {
        let frame = self.frames.last();
        let local = frame.and_then(|frame| frame.function.locals.get(id)).cloned();
        local.ok_or_else(|| unsupported(span, "this variable is not supported here"))
    }

    fn new_var(&mut self, name: &str, ty: Type) -> VarId {
        self.vars.push(Var { name: name.to_owned(), ty })
    }

    fn var(&self, var: VarId, span: Span) -> Expr {
        let ty = self.vars.get(var).map_or(Type::INT, |one| one.ty);
        Expr { kind: ExprKind::Var(var), ty, span }
    }

    fn var_type(&self, var: VarId) -> Type {
        self.vars.get(var).map_or(Type::INT, |one| one.ty)
    }

    /// A variable that holds a value from here on.
    fn keep(&mut self, name: &str, value: Expr, out: &mut Vec<Stmt>) -> VarId {
        let var = self.new_var(name, value.ty);
        out.push(Stmt::Assign(var, value));
        var
    }

    /// A value that may be anything of its type, another one each time.
    fn unknown(&mut self, name: &str, ty: Type, span: Span, out: &mut Vec<Stmt>) -> Expr {
        let var = self.new_var(name, ty);
        out.push(Stmt::Unknown(var));
        self.var(var, span)
    }

    /// Notes that the kernel looks at an axis. Functions of headers look at all of them, whatever the kernel does.
    fn mention(&mut self, builtin: Builtin, axis: usize) {
        let of_header =
            self.frames.last().is_some_and(|frame| frame.function.span == Span::default());
        if of_header && axis > 0 {
            return;
        }
        if !self.mentioned.contains(&(builtin, axis)) {
            self.mentioned.push((builtin, axis));
        }
    }

    fn info(&self, array: ArrayId) -> Option<&ArrayInfo> {
        self.infos.get(array.position())
    }
}
