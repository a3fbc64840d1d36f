//! The state of lowering: enclosing functions, variables and arrays so far, clauses.

use super::diagnostics::{Result, unsupported};
use super::memory_model::{ArrayInfo, Place, Slot, Spots, Target};
use base::{Index, IndexVec, Span};
use cuda::tree::{self, Function, FunctionId, GlobalId, LocalId, Program, SymbolId};
use kir::{
    Array, ArrayId, Builtin, Claim, Contract, Expr, ExprKind, Footprint, Lemma, Monoid, Precision,
    Requirement, Stmt, Type, Unfollowed, Var, VarId, When,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Target of an inlined function's `return`.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    /// The place of the returned value.
    pub(super) returned: Option<Place>,
    /// Set if a reference is returned; then `returned` holds a pointer.
    pub(super) is_reference: bool,
    /// Set when a loop is left by `return`.
    pub(super) flag: Option<VarId>,
}

/// A function whose statements are being lowered.
pub(super) struct Frame {
    pub(super) id: FunctionId,
    pub(super) function: Rc<Function>,
    pub(super) bindings: BTreeMap<LocalId, Place>,
    /// Number of enclosing loops in this function.
    pub(super) loops: usize,
    /// Target of `return`, unless this is a kernel.
    pub(super) exit: Option<Exit>,
}

/// Identifies a log across repeated lowering: the array's name, its declaration, and `true` for writes.
pub(super) type LogKey = (String, Span, bool);

/// The variables of a log.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) key: LogKey,
    /// 1 if there was an access, else 0. An integer, because analyses of loops support integers only.
    pub(super) happened: VarId,
    /// The offset of that access in the array, in bytes.
    pub(super) offset: VarId,
}

/// The array named by an `extent` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtentArray {
    Local(LocalId),
    Global(GlobalId),
}

/// Results of earlier passes.
#[derive(Default)]
pub(super) struct Hints {
    /// Possible targets of each pointer variable, in order of creation.
    pub(super) targets: Vec<Vec<Target>>,
    /// Element type of `extern __shared__` memory, if it differs from the declaration.
    pub(super) dynamic: Option<tree::Type>,
    /// Arrays whose accesses are logged for clauses.
    pub(super) logged: Vec<LogKey>,
}

/// State while a kernel is lowered.
pub(super) struct Lowerer<'p> {
    pub(super) program: &'p Program,
    pub(super) vars: IndexVec<VarId, Var>,
    pub(super) arrays: IndexVec<ArrayId, Array>,
    /// The C types of each array's elements.
    pub(super) infos: Vec<ArrayInfo>,
    pub(super) frames: Vec<Frame>,
    /// Functions without `switch`.
    pub(super) functions: BTreeMap<FunctionId, Rc<Function>>,
    pub(super) globals: BTreeMap<GlobalId, Place>,
    pub(super) symbols: BTreeMap<SymbolId, VarId>,
    /// Shared variables: a function that is inlined twice has them once.
    pub(super) shared: BTreeMap<(FunctionId, LocalId), Place>,
    /// Number of inlined calls.
    pub(super) inlined_calls: usize,
    /// The array whose size the launch gives.
    pub(super) dynamic: Option<(tree::Type, Place)>,
    pub(super) extents: Vec<(ExtentArray, Expr)>,
    /// All sizes that clauses give to arrays: spans of the array and of the size.
    pub(super) stated_sizes: Vec<(Span, Span)>,
    pub(super) slots: Vec<Slot>,
    /// Variables that pointers may point to.
    pub(super) objects: Vec<Spots>,
    pub(super) hints: Hints,
    pub(super) logs: Vec<Log>,
    /// Set if the kernel must be lowered again: a pointer variable got another target after it was used, or a hint was
    /// added.
    pub(super) needs_another_pass: bool,
    /// The first use of a pointer without targets.
    pub(super) use_without_target: Option<Span>,
    /// Arrays without elements, which null pointers point to.
    pub(super) null_targets: BTreeMap<u8, ArrayId>,
    /// The Boolean variables `p == nullptr` for pointers of the launch, by their array.
    pub(super) nulls: BTreeMap<ArrayId, VarId>,
    /// Initialisers of variables of the file.
    pub(super) initials: BTreeMap<ArrayId, Option<Vec<Expr>>>,
    /// Arrays with non-coherent reads.
    pub(super) incoherent: Vec<(ArrayId, Span)>,
    pub(super) mentioned: Vec<(Builtin, usize)>,
    /// Inside an annotation: integers are unbounded, elements may be named.
    pub(super) in_annotation: bool,
    pub(super) requires: Vec<Requirement>,
    pub(super) ensures: Vec<Claim>,
    /// Claims for the next barrier, from calls of `__barrier_invariant` before it.
    pub(super) pending: Vec<Claim>,
    pub(super) footprints: Vec<Footprint>,
    pub(super) contracts: Vec<Contract>,
    pub(super) lemmas: Vec<Lemma>,
    pub(super) monoids: Vec<(FunctionId, Monoid)>,
    pub(super) unfollowed: Vec<Unfollowed>,
    /// Inside a claim: equations with elements have the element's type.
    pub(super) in_claim: bool,
    /// Inside a clause of a barrier, where another thread may be named, and not already inside its expression.
    pub(super) may_name_other: bool,
    /// The moment at which annotations refer to elements.
    pub(super) when: When,
    /// Inside an annotation of a loop.
    pub(super) in_loop_clause: bool,
    /// Inside a contract, where pointers have not moved yet.
    pub(super) in_contract: bool,
    /// Return values of functions whose contracts are being translated.
    pub(super) results: Vec<VarId>,
    /// The functions behind the numbers in tables of functions.
    pub(super) function_tables: BTreeMap<ArrayId, Vec<Target>>,
    /// Set if there is a fence.
    pub(super) fences: bool,
    /// The limits of the floating-point types seen so far.
    pub(super) precision: Cell<Precision>,
    pub(super) scalars: Vec<VarId>,
}

impl<'p> Lowerer<'p> {
    pub(super) fn new(program: &'p Program, hints: Hints) -> Self {
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
            stated_sizes: Vec::new(),
            slots: Vec::new(),
            objects: Vec::new(),
            hints,
            logs: Vec::new(),
            needs_another_pass: false,
            use_without_target: None,
            null_targets: BTreeMap::new(),
            nulls: BTreeMap::new(),
            initials: BTreeMap::new(),
            incoherent: Vec::new(),
            mentioned: Vec::new(),
            in_annotation: false,
            requires: Vec::new(),
            ensures: Vec::new(),
            pending: Vec::new(),
            footprints: Vec::new(),
            contracts: Vec::new(),
            lemmas: Vec::new(),
            monoids: Vec::new(),
            unfollowed: Vec::new(),
            in_claim: false,
            may_name_other: false,
            when: When::Here,
            in_loop_clause: false,
            in_contract: false,
            results: Vec::new(),
            function_tables: BTreeMap::new(),
            fences: false,
            precision: Cell::new(Precision::FLOAT),
            scalars: Vec::new(),
        }
    }

    pub(super) fn push_frame(
        &mut self,
        id: FunctionId,
        function: &Rc<Function>,
        exit: Option<Exit>,
    ) {
        let (function, bindings) = (Rc::clone(function), BTreeMap::new());
        self.frames.push(Frame { id, function, bindings, loops: 0, exit });
    }

    pub(super) fn bind(&mut self, local: LocalId, place: Place) {
        if let Some(frame) = self.frames.last_mut() {
            frame.bindings.insert(local, place);
        }
    }

    /// A variable of the current function: name, type and storage.
    pub(super) fn local(&self, id: LocalId, span: Span) -> Result<tree::Local> {
        let frame = self.frames.last();
        let local = frame.and_then(|frame| frame.function.locals.get(id)).cloned();
        local.ok_or_else(|| unsupported(span, "this variable is not supported here"))
    }

    pub(super) fn new_var(&mut self, name: &str, ty: Type) -> VarId {
        self.vars.push(Var { name: name.to_owned(), ty })
    }

    pub(super) fn var(&self, var: VarId, span: Span) -> Expr {
        let ty = self.vars.get(var).map_or(Type::INT, |one| one.ty);
        Expr { kind: ExprKind::Var(var), ty, span }
    }

    pub(super) fn var_type(&self, var: VarId) -> Type {
        self.vars.get(var).map_or(Type::INT, |one| one.ty)
    }

    /// Creates a variable with a value.
    pub(super) fn keep(&mut self, name: &str, value: Expr, out: &mut Vec<Stmt>) -> VarId {
        let var = self.new_var(name, value.ty);
        out.push(Stmt::Assign(var, value));
        var
    }

    /// An unknown value of a type, different each time.
    pub(super) fn unknown(
        &mut self,
        name: &str,
        ty: Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let var = self.new_var(name, ty);
        out.push(Stmt::Unknown(var));
        self.var(var, span)
    }

    /// Records that the kernel uses an axis. Functions of headers use all axes, so their uses say nothing about the
    /// kernel.
    pub(super) fn mention(&mut self, builtin: Builtin, axis: usize) {
        let of_header =
            self.frames.last().is_some_and(|frame| frame.function.span == Span::default());
        if of_header && axis > 0 {
            return;
        }
        if !self.mentioned.contains(&(builtin, axis)) {
            self.mentioned.push((builtin, axis));
        }
    }

    pub(super) fn info(&self, array: ArrayId) -> Option<&ArrayInfo> {
        self.infos.get(array.position())
    }
}
