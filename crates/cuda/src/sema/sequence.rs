//! Refuses expressions whose meaning depends on an order that C++ leaves open (\[intro.execution\]/15–17,
//! \[expr.call\]/5).
//!
//! Operands of most operators and arguments of calls are evaluated in any order. Two of them conflict if one writes a
//! variable or memory that the other reads or writes. Arrays declared separately, and parameters of a kernel, are
//! taken for different memory; all other memory may be the same. Errs towards refusal.

use crate::intrinsics::{self, Class};
use crate::tree::{
    Binary, Category, ClauseKind, Expr, ExprKind, Function, FunctionId, GlobalId, LocalId, Program,
    StmtKind, Storage, Type,
};
use crate::unsupported;
use base::{Diagnostic, Index};
use rustc_hash::FxHashSet;

/// The accessed object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Local(LocalId),
    Global(GlobalId),
    /// The target of a parameter's pointer or reference.
    Behind(LocalId),
    /// Any other memory.
    Memory,
}

impl Root {
    /// Returns `true` if two accesses may be to the same object. `escaped` are variables with an address; with
    /// `separate_arrays`, the parameters point to different memory.
    fn may_equal(self, other: Self, escaped: &FxHashSet<LocalId>, separate_arrays: bool) -> bool {
        match (self, other) {
            // Arrays of a function's parameters may overlap, and may be any object with an address.
            (Self::Behind(_), Self::Behind(_) | Self::Global(_))
            | (Self::Global(_), Self::Behind(_))
                if !separate_arrays =>
            {
                true
            }
            (Self::Behind(_), Self::Local(local)) | (Self::Local(local), Self::Behind(_))
                if !separate_arrays =>
            {
                escaped.contains(&local)
            }
            (Self::Memory, Self::Local(local)) | (Self::Local(local), Self::Memory) => {
                escaped.contains(&local)
            }
            (Self::Memory, _) | (_, Self::Memory) => true,
            _ => self == other,
        }
    }
}

/// The objects that an expression reads and writes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Effects {
    reads: Vec<Root>,
    writes: Vec<Root>,
}

impl Effects {
    fn add(&mut self, other: Self) {
        for one in other.reads {
            if !self.reads.contains(&one) {
                self.reads.push(one);
            }
        }
        for one in other.writes {
            if !self.writes.contains(&one) {
                self.writes.push(one);
            }
        }
    }

    fn conflicts(&self, other: &Self, escaped: &FxHashSet<LocalId>, separate_arrays: bool) -> bool {
        let meet = |writes: &[Root], others: &Self| {
            writes.iter().any(|write| {
                let all = others.reads.iter().chain(&others.writes);
                all.into_iter().any(|two| write.may_equal(*two, escaped, separate_arrays))
            })
        };
        meet(&self.writes, other) || meet(&other.writes, self)
    }
}

/// A function's effects that its caller can see: on targets of its parameters, on variables of the file, on other
/// memory.
type Summary = Effects;

/// Lists refused functions with the reason.
pub(crate) fn check(program: &Program) -> Vec<(FunctionId, Box<Diagnostic>)> {
    let mut summaries: Vec<Summary> = vec![Summary::default(); program.functions.len()];
    loop {
        let mut changed = false;
        for (id, function) in program.functions.enumerate() {
            let mut checker = Checker::new(program, function, &summaries);
            let effects = checker.function_effects();
            let next = checker.visible_to_caller(effects);
            if let Some(known) = summaries.get_mut(id.position())
                && *known != next
            {
                *known = next;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut refused = Vec::new();
    for (id, function) in program.functions.enumerate() {
        let mut checker = Checker::new(program, function, &summaries);
        checker.function_effects();
        if let Some(why) = checker.refusal {
            refused.push((id, why));
        }
    }
    refused
}

struct Checker<'p> {
    program: &'p Program,
    function: &'p Function,
    summaries: &'p [Summary],
    /// Variables that may be reached through a pointer or reference.
    escaped: FxHashSet<LocalId>,
    /// Variables that are written: as pointers, they may point to anything.
    reassigned: FxHashSet<LocalId>,
    /// An `alias` clause allows arrays of parameters to overlap.
    may_overlap: bool,
    refusal: Option<Box<Diagnostic>>,
}

impl<'p> Checker<'p> {
    fn new(program: &'p Program, function: &'p Function, summaries: &'p [Summary]) -> Self {
        let mut checker = Self {
            program,
            function,
            summaries,
            escaped: FxHashSet::default(),
            reassigned: FxHashSet::default(),
            may_overlap: function
                .clauses
                .iter()
                .any(|clause| matches!(clause.kind, ClauseKind::Alias(_))),
            refusal: None,
        };
        checker.find_escapes();
        checker
    }

    /// Finds variables that may be reached through a pointer or reference.
    fn find_escapes(&mut self) {
        let mut escaped = FxHashSet::default();
        let mut reassigned = FxHashSet::default();
        let function = self.function;
        let is_reference =
            |id: LocalId| function.locals.get(id).is_some_and(|one| one.is_reference);
        let mut visit = |expr: &Expr| {
            expr.walk(&mut |inner| match &inner.kind {
                ExprKind::AddressOf(place) | ExprKind::Decay(place) => {
                    escaped.extend(root_local(place));
                }
                ExprKind::Call(_, arguments) => {
                    for argument in arguments {
                        if argument.category == Category::Place {
                            escaped.extend(root_local(argument));
                        }
                    }
                }
                // A choice of places is only known as some memory.
                ExprKind::Select(_, one, other) => {
                    escaped.extend(root_local(one));
                    escaped.extend(root_local(other));
                }
                ExprKind::Assign(place, _)
                | ExprKind::AssignOp { place, .. }
                | ExprKind::Step { place, .. } => {
                    reassigned.extend(root_local(place));
                }
                _ => {}
            });
        };
        for stmt in &function.body {
            stmt.each_expr(&mut visit);
        }
        for stmt in &function.body {
            find_bound_variables(stmt, &is_reference, &mut escaped);
        }
        self.escaped = escaped;
        self.reassigned = reassigned;
    }

    /// The effects of the whole function. Records a refusal for conflicts on the way.
    fn function_effects(&mut self) -> Effects {
        let mut all = Effects::default();
        let function = self.function;
        for stmt in &function.body {
            let mut found: Vec<Effects> = Vec::new();
            stmt.each_expr(&mut |expr| found.push(self.effects(expr)));
            for one in found {
                all.add(one);
            }
        }
        all
    }

    /// The accesses visible to a caller, in terms of parameters.
    fn visible_to_caller(&self, effects: Effects) -> Summary {
        let mut seen = Summary::default();
        let outside = |root: Root| match root {
            Root::Local(id) => {
                let local = self.function.locals.get(id)?;
                (local.storage != Storage::Automatic).then_some(Root::Memory)
            }
            other => Some(other),
        };
        let reads = effects.reads.into_iter().filter_map(outside).collect();
        let writes = effects.writes.into_iter().filter_map(outside).collect();
        seen.add(Effects { reads, writes });
        seen
    }

    /// Returns `true` if different parameters point to different memory, as in a kernel without an `alias` clause.
    fn has_separate_arrays(&self) -> bool {
        self.function.is_kernel && !self.may_overlap
    }

    /// Returns the reads and writes of an expression, and records conflicts between unsequenced parts.
    fn effects(&mut self, expr: &Expr) -> Effects {
        let mut made = Effects::default();
        match &expr.kind {
            ExprKind::Read(place) => {
                made.add(self.place_effects(place));
                let root = self.root(place);
                made.reads.push(root);
            }
            ExprKind::And(one, other) | ExprKind::Or(one, other) | ExprKind::Comma(one, other) => {
                made.add(self.effects(one));
                made.add(self.effects(other));
            }
            ExprKind::Select(condition, one, other) => {
                for part in [condition, one, other] {
                    made.add(self.effects(part));
                }
            }
            ExprKind::Assign(place, from) => {
                made.add(self.effects(from));
                made.add(self.place_effects(place));
                let root = self.root(place);
                made.writes.push(root);
            }
            ExprKind::AssignOp { place, value, .. } => {
                made.add(self.effects(value));
                made.add(self.place_effects(place));
                let root = self.root(place);
                made.writes.push(root);
                made.reads.push(root);
            }
            ExprKind::Step { place, .. } => {
                made.add(self.place_effects(place));
                let root = self.root(place);
                made.writes.push(root);
                made.reads.push(root);
            }
            ExprKind::Binary(Binary::Shl | Binary::Shr, one, other) => {
                made.add(self.effects(one));
                made.add(self.effects(other));
            }
            ExprKind::Call(function, arguments) => {
                made.add(self.unsequenced(expr));
                self.add_call_effects(*function, arguments, &mut made);
            }
            // It may be any function of that type.
            ExprKind::CallPointer(callee, arguments) => {
                made.add(self.unsequenced(expr));
                for function in self.functions_of(&callee.ty) {
                    self.add_call_effects(function, arguments, &mut made);
                }
            }
            ExprKind::Intrinsic(name, _) => {
                made.add(self.unsequenced(expr));
                self.add_intrinsic_effects(name, expr, &mut made);
            }
            _ if expr.category == Category::Place => {
                made.add(self.place_effects(expr));
            }
            _ => made.add(self.unsequenced(expr)),
        }
        made
    }

    /// Adds the effects of a CUDA function on memory, beyond those of computing its arguments.
    fn add_intrinsic_effects(&self, name: &str, expr: &Expr, made: &mut Effects) {
        let class = intrinsics::all().find(|one| one.canonical == name);
        match class.map(|one| one.class) {
            Some(Class::Atomic) => {
                let root = self.pointee(expr.operands().first().copied());
                made.reads.push(root);
                made.writes.push(root);
            }
            Some(Class::Barrier | Class::Fence | Class::Control) => {
                made.writes.push(Root::Memory);
            }
            Some(Class::Memory) if name.starts_with("__ld") => {
                let root = self.pointee(expr.operands().first().copied());
                made.reads.push(root);
            }
            Some(Class::Memory) => {
                made.reads.push(Root::Memory);
                made.writes.push(Root::Memory);
            }
            // Second results: `frexp`, `sincos`, `__match_all_sync`.
            Some(Class::Math | Class::Warp) => {
                let pointers = expr.operands().into_iter();
                for pointer in pointers.filter(|pointer| matches!(pointer.ty, Type::Pointer(_))) {
                    made.writes.push(self.pointee(Some(pointer)));
                }
                if name == "__syncwarp" {
                    made.writes.push(Root::Memory);
                }
            }
            _ => {}
        }
    }

    /// Functions that a pointer of a type may hold.
    fn functions_of(&self, pointer: &Type) -> Vec<FunctionId> {
        let Type::Pointer(to) = pointer else { return Vec::new() };
        let Type::Function(wanted) = &to.ty else { return Vec::new() };
        let fits = |function: &Function| {
            let types =
                function.parameters.iter().map(|id| function.locals.get(*id).map(|one| &one.ty));
            !function.is_kernel
                && function.returns == wanted.0
                && types.eq(wanted.1.iter().map(Some))
        };
        let all = self.program.functions.enumerate();
        all.filter(|(_, function)| fits(function)).map(|(id, _)| id).collect()
    }

    /// Effects of evaluating which object a place names.
    fn place_effects(&mut self, place: &Expr) -> Effects {
        match &place.kind {
            ExprKind::Local(_) | ExprKind::Global(_) | ExprKind::Text(_) => Effects::default(),
            ExprKind::Field(inner, _) if inner.category == Category::Place => {
                self.place_effects(inner)
            }
            ExprKind::Deref(pointer) => self.effects(pointer),
            ExprKind::Temporary(inner) => self.effects(inner),
            ExprKind::Assign(..)
            | ExprKind::AssignOp { .. }
            | ExprKind::Step { .. }
            | ExprKind::Comma(..)
            | ExprKind::Select(..)
            | ExprKind::Call(..) => self.effects(place),
            _ => self.unsequenced(place),
        }
    }

    /// Operands in any order: none may write an object that another one uses.
    fn unsequenced(&mut self, expr: &Expr) -> Effects {
        let mut parts: Vec<Effects> = Vec::new();
        for operand in expr.operands() {
            let next = match operand.category {
                Category::Place => self.place_effects(operand),
                Category::Value => self.effects(operand),
            };
            let separate_arrays = self.has_separate_arrays();
            if parts.iter().any(|part| part.conflicts(&next, &self.escaped, separate_arrays)) {
                let message =
                    "the result depends on the order of evaluation, which C++ leaves open";
                self.refusal.get_or_insert_with(|| unsupported(expr.span, message));
            }
            parts.push(next);
        }
        let mut all = Effects::default();
        for part in parts {
            all.add(part);
        }
        all
    }

    /// Adds the effects of a called function, with its parameters replaced by the arguments.
    fn add_call_effects(&mut self, function: FunctionId, arguments: &[Expr], made: &mut Effects) {
        let summary = self.summaries.get(function.position()).cloned().unwrap_or_default();
        let parameters = self.program.functions.get(function).map(|one| &one.parameters);
        let outside = |root: Root| match root {
            Root::Behind(id) => {
                let at = parameters.and_then(|all| all.iter().position(|one| *one == id));
                match at.and_then(|at| arguments.get(at)) {
                    Some(place) if place.category == Category::Place => self.root(place),
                    pointer => self.pointee(pointer),
                }
            }
            other => other,
        };
        let reads = summary.reads.into_iter().map(outside).collect();
        let writes = summary.writes.into_iter().map(outside).collect();
        made.add(Effects { reads, writes });
    }

    /// The object that a place belongs to.
    fn root(&self, place: &Expr) -> Root {
        match &place.kind {
            ExprKind::Local(id) => match self.function.locals.get(*id) {
                Some(local) if local.is_reference => match self.function.parameters.contains(id) {
                    true => Root::Behind(*id),
                    false => Root::Memory,
                },
                _ => Root::Local(*id),
            },
            ExprKind::Global(id) => Root::Global(*id),
            ExprKind::Field(inner, _) => self.root(inner),
            ExprKind::Deref(pointer) => self.pointee(Some(pointer)),
            ExprKind::Assign(inner, _)
            | ExprKind::AssignOp { place: inner, .. }
            | ExprKind::Step { place: inner, .. }
            | ExprKind::Comma(_, inner) => self.root(inner),
            _ => Root::Memory,
        }
    }

    /// The target of a pointer.
    fn pointee(&self, pointer: Option<&Expr>) -> Root {
        let Some(pointer) = pointer else { return Root::Memory };
        match &pointer.kind {
            ExprKind::PointerAdd(base, _)
            | ExprKind::PointerSub(base, _)
            | ExprKind::Convert(base) => self.pointee(Some(base)),
            ExprKind::Decay(place) | ExprKind::AddressOf(place) => self.root(place),
            ExprKind::Read(place) => match &place.kind {
                ExprKind::Local(id)
                    if self.function.parameters.contains(id)
                        && !self.reassigned.contains(id)
                        && !self.escaped.contains(id) =>
                {
                    Root::Behind(*id)
                }
                _ => Root::Memory,
            },
            _ => Root::Memory,
        }
    }
}

/// The variable that contains a place.
fn root_local(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(id) => Some(*id),
        ExprKind::Field(inner, _) => root_local(inner),
        ExprKind::Select(_, one, other) => root_local(one).or_else(|| root_local(other)),
        ExprKind::Assign(inner, _)
        | ExprKind::AssignOp { place: inner, .. }
        | ExprKind::Step { place: inner, .. }
        | ExprKind::Comma(_, inner) => root_local(inner),
        _ => None,
    }
}

/// Variables that references are bound to.
fn find_bound_variables(
    stmt: &crate::tree::Stmt,
    is_reference: &impl Fn(LocalId) -> bool,
    escaped: &mut FxHashSet<LocalId>,
) {
    let mut all = |stmts: &[crate::tree::Stmt]| {
        for stmt in stmts {
            find_bound_variables(stmt, is_reference, escaped);
        }
    };
    match &stmt.kind {
        StmtKind::Declare(local, Some(crate::tree::Init::Expr(place))) if is_reference(*local) => {
            escaped.extend(root_local(place));
        }
        StmtKind::If(_, then, otherwise) => {
            all(then);
            all(otherwise);
        }
        StmtKind::Loop(inner) => {
            all(&inner.init);
            all(&inner.body);
        }
        StmtKind::Switch(inner) => inner.arms.iter().for_each(|arm| all(&arm.body)),
        StmtKind::Block(inner) => all(inner),
        _ => {}
    }
}
