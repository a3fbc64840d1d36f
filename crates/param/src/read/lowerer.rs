//! The state of lowering: functions around, variables and arrays so far, what clauses said.

use super::diagnostics::{Result, unsupported};
use super::memory_model::{ArrayInfo, Place, Slot, Spots, Target};
use crate::kir::{
    Array, ArrayId, Builtin, Claim, Contract, Expr, ExprKind, Footprint, Lemma, Monoid,
    Requirement, Stmt, Type, Unfollowed, Var, VarId, When,
};
use base::{Index, IndexVec, Span};
use cuda::tree::{self, Function, FunctionId, GlobalId, LocalId, Program, SymbolId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where `return` of an inlined function goes.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    /// What is returned, or where it is.
    pub(super) returned: Option<Place>,
    /// Whether a reference is returned: `returned` holds a pointer.
    pub(super) is_reference: bool,
    /// Whether a loop was left by `return`.
    pub(super) flag: Option<VarId>,
}

/// A function whose statements are being lowered.
pub(super) struct Frame {
    pub(super) id: FunctionId,
    pub(super) function: Rc<Function>,
    pub(super) bindings: BTreeMap<LocalId, Place>,
    /// Loops around, in this function.
    pub(super) loops: usize,
    /// Where `return` goes, if this is no kernel.
    pub(super) exit: Option<Exit>,
}

/// An array by what stays the same when the kernel is lowered again, and whether writes are meant.
pub(super) type Logged = (String, Span, bool);

/// The variables of a log.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) of: Logged,
    /// 1 if there was an access, or else 0: loops are followed in integers.
    pub(super) happened: VarId,
    /// Where, in bytes from the beginning of the array.
    pub(super) offset: VarId,
}

/// What an `extent` clause names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Local(LocalId),
    Global(GlobalId),
}

/// What the first passes found out.
#[derive(Default)]
pub(super) struct Hints {
    /// What each pointer variable may hold, in the order in which they are made.
    pub(super) targets: Vec<Vec<Target>>,
    /// What `extern __shared__` memory holds, if that is not the type it is declared with.
    pub(super) dynamic: Option<tree::Type>,
    /// Arrays whose accesses clauses speak of.
    pub(super) logged: Vec<Logged>,
}

/// What is known while a kernel is lowered.
pub(super) struct Lowerer<'p> {
    pub(super) program: &'p Program,
    pub(super) vars: IndexVec<VarId, Var>,
    pub(super) arrays: IndexVec<ArrayId, Array>,
    /// What the elements of each array are in C.
    pub(super) infos: Vec<ArrayInfo>,
    pub(super) frames: Vec<Frame>,
    /// Functions without `switch`.
    pub(super) functions: BTreeMap<FunctionId, Rc<Function>>,
    pub(super) globals: BTreeMap<GlobalId, Place>,
    pub(super) symbols: BTreeMap<SymbolId, VarId>,
    /// Shared variables: a function that is inlined twice has them once.
    pub(super) shared: BTreeMap<(FunctionId, LocalId), Place>,
    /// Calls that were put in their places.
    pub(super) inlined_calls: usize,
    /// The array whose size the launch gives.
    pub(super) dynamic: Option<(tree::Type, Place)>,
    pub(super) extents: Vec<(Named, Expr)>,
    pub(super) slots: Vec<Slot>,
    /// Variables that pointers may point to.
    pub(super) objects: Vec<Spots>,
    pub(super) hints: Hints,
    pub(super) logs: Vec<Log>,
    /// Whether a pointer variable may hold more than was known when it was used.
    pub(super) grown: bool,
    /// Where a pointer is used that holds nothing.
    pub(super) empty: Option<Span>,
    /// An array without elements, which null pointers point to.
    pub(super) nowhere: BTreeMap<u8, ArrayId>,
    /// Whether pointers of the launch are null, by their array.
    pub(super) nulls: BTreeMap<ArrayId, VarId>,
    /// What variables of the file are initialised with.
    pub(super) initials: BTreeMap<ArrayId, Option<Vec<Expr>>>,
    /// Arrays that are read without regard to what is written to them.
    pub(super) incoherent: Vec<(ArrayId, Span)>,
    pub(super) mentioned: Vec<(Builtin, usize)>,
    /// Inside an annotation: integers have no bounds, elements may be named.
    pub(super) annotation: bool,
    pub(super) requires: Vec<Requirement>,
    pub(super) ensures: Vec<Claim>,
    /// What is claimed at the next barrier, by calls that stand before it.
    pub(super) pending: Vec<Claim>,
    pub(super) footprints: Vec<Footprint>,
    pub(super) contracts: Vec<Contract>,
    pub(super) lemmas: Vec<Lemma>,
    pub(super) monoids: Vec<(FunctionId, Monoid)>,
    pub(super) unfollowed: Vec<Unfollowed>,
    /// Inside a claim: equations with elements are of their type.
    pub(super) claiming: bool,
    /// Inside a clause of a barrier, where there is another thread, or inside of what that has.
    pub(super) in_pair: bool,
    /// When elements of annotations are looked at.
    pub(super) when: When,
    /// In an annotation of a loop.
    pub(super) of_loop: bool,
    /// In a contract, where pointers have not moved yet.
    pub(super) in_contract: bool,
    /// What functions whose contracts are looked at return.
    pub(super) results: Vec<VarId>,
    /// Which functions the numbers in tables of functions stand for.
    pub(super) function_tables: BTreeMap<ArrayId, Vec<Target>>,
    /// Whether there is a fence.
    pub(super) fences: bool,
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

    /// What a variable of the function at hand is called, its type and its kind.
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

    /// A variable that holds a value from here on.
    pub(super) fn keep(&mut self, name: &str, value: Expr, out: &mut Vec<Stmt>) -> VarId {
        let var = self.new_var(name, value.ty);
        out.push(Stmt::Assign(var, value));
        var
    }

    /// A value that may be anything of its type, another one each time.
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

    /// Notes that the kernel looks at an axis. Functions of headers look at all of them, whatever the kernel does.
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
