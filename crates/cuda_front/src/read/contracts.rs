//! Contracts of `__device__` functions about the arrays that a block of threads writes, and uses of lemmas.
//!
//! Such a function is called by all threads of a block and ends with a barrier. Its contract is proved once, for the
//! function as a kernel of one block (`kir::Contract`), and assumed at the last barrier of each call. The function's
//! accesses and barriers are checked at each call.

use super::diagnostics::{Result, error};
use super::lowerer::Lowerer;
use super::memory_model::{Place, Spot, Target};
use super::returns::{ExitKind, may_exit};
use super::types::{compare, int, truth, whole};
use base::Span;
use cuda::tree::{self, ClauseKind, Function, FunctionId, LocalId};
use kir::spec;
use kir::{
    ArrayId, Builtin, CallContract, Claim, Compare, Contract, Expr, ExprKind, Kernel, Requirement,
    Stmt, Type, VarId,
};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Copies of parameters, with their values at the call.
pub(super) type InitialParameters = BTreeMap<LocalId, Place>;

impl Lowerer<'_> {
    /// Runs `inner` while names of parameters mean their values at the call.
    fn with_initial_parameters<T>(
        &mut self,
        before: &InitialParameters,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.frames.last().map(|frame| frame.bindings.clone());
        for (id, place) in before {
            self.bind(*id, place.clone());
        }
        let result = inner(self);
        if let (Some(frame), Some(outer)) = (self.frames.last_mut(), outer) {
            frame.bindings = outer;
        }
        result
    }

    /// Returns `true` if the contract of the function just inlined may be used instead of its body.
    pub(super) fn is_modular(
        &mut self,
        function: &Rc<Function>,
        before: &InitialParameters,
        out: &[Stmt],
    ) -> bool {
        let ends = matches!(out.last(), Some(Stmt::Barrier(_))) && ends_with_barrier(function);
        let plain = function.arguments.is_empty()
            && matches!(function.returns, tree::Type::Void)
            && !function.returns_reference;
        let has_element_claims = function.clauses.iter().any(|clause| match &clause.kind {
            ClauseKind::Ensures(condition) => {
                let claims = self.with_initial_parameters(before, |lowerer| {
                    lowerer.claims(None, condition, clause.span)
                });
                let of_elements =
                    |claim: &Claim| !claim.forall.is_empty() || !spec::is_scalar(&claim.condition);
                claims.is_ok_and(|claims| claims.iter().any(of_elements))
            }
            _ => false,
        });
        ends && plain && has_element_claims && self.are_apart(function, before)
    }

    /// Returns `true` if the arguments are distinct arrays, as the contract presumes.
    fn are_apart(&self, function: &Function, before: &InitialParameters) -> bool {
        let mut seen: Vec<ArrayId> = Vec::new();
        function.parameters.iter().all(|id| {
            let Some(place) = before.get(id) else { return false };
            match &place.choices[..] {
                [spots] => match spots[..] {
                    [Spot::Var(_)] => true,
                    [Spot::Slot(slot)] => {
                        let targets = self.slots.get(slot).map(|slot| &slot.targets[..]);
                        let Some([Target::Elements { leaves, .. }]) = targets else { return false };
                        let [leaf] = &leaves[..] else { return false };
                        let is_new = !seen.contains(&leaf.array);
                        seen.push(leaf.array);
                        // The function may also use an array of the file by its own name.
                        is_new && !self.is_of_file(leaf.array)
                    }
                    _ => false,
                },
                _ => false,
            }
        })
    }

    /// Assumes the contract's claims at the barrier that ends the function, and keeps the contract to be proved.
    pub(super) fn assume_contract(
        &mut self,
        id: FunctionId,
        function: &Rc<Function>,
        before: InitialParameters,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut relies = vec![span];
        // Contracts are identified by name, and overloads share one.
        let is_taken = self
            .contracts
            .iter()
            .any(|contract| contract.name == function.name && contract.span != function.span);
        let separate = self.as_kernel(id, function).filter(|_| !is_taken);
        let Some(kernel) = separate else {
            let why =
                format!("the contract of `{}` does not hold for a block on its own", function.name);
            self.leave_open(super::claims::About::Body, span, why);
            return Ok(());
        };
        let parameters = self.parameter_variables(&before);
        let mut claims = Vec::new();
        let stated: Result<()> = self.with_initial_parameters(&before, |lowerer| {
            for clause in &function.clauses {
                match &clause.kind {
                    ClauseKind::Ensures(condition) => {
                        claims.extend(lowerer.claims(None, condition, clause.span)?);
                    }
                    ClauseKind::Requires(condition) => {
                        relies.push(clause.span);
                        let stated = lowerer.claims(None, condition, clause.span)?;
                        relies.extend(stated.iter().map(|one| one.condition.span));
                    }
                    _ => {}
                }
            }
            Ok(())
        });
        stated?;
        let axes = [0, 1, 2].map(|axis| kernel.has_axis(axis));
        let name = function.name.clone();
        let given = CallContract { name: name.clone(), claims, parameters, axes, span };
        let at = out.len().saturating_sub(1);
        out.insert(at, Stmt::Given(Box::new(given)));
        match self.contracts.iter_mut().find(|contract| contract.name == name) {
            Some(known) => known.relies.extend(relies),
            None => {
                let (kernel, span) = (Arc::new(kernel), function.span);
                self.contracts.push(Contract { name, kernel, span, relies });
            }
        }
        Ok(())
    }

    /// The variables that hold the parameters' values at the call.
    fn parameter_variables(&self, before: &InitialParameters) -> Vec<VarId> {
        let mut vars = Vec::new();
        for spot in before.values().flat_map(|place| place.choices.iter().flatten()) {
            match spot {
                Spot::Var(var) => vars.push(*var),
                Spot::Slot(slot) => {
                    vars.extend(
                        self.slots.get(*slot).into_iter().flat_map(|slot| slot.index.iter()),
                    );
                }
                _ => {}
            }
        }
        vars
    }

    /// A function as a kernel; `None` if it uses more than its block.
    fn as_kernel(&self, id: FunctionId, function: &Function) -> Option<Kernel> {
        let kernel_form = Function { is_kernel: true, ..function.clone() };
        let mut kernel = super::kernel::lower_kernel(self.program, id, &kernel_form).ok()?;
        let of_grid = |one: &(Builtin, usize)| matches!(one.0, Builtin::Block | Builtin::GridDim);
        let is_whole = !kernel.mentioned.iter().any(of_grid) && kernel.unfollowed.is_empty();
        // It is called by one block; others have shared arrays of their own.
        kernel.requires.extend((0..3).map(|axis| one_block(axis, function.span)));
        is_whole.then_some(kernel)
    }

    /// `use name(…);`: an instance of a lemma.
    pub(super) fn lemma_instance(
        &mut self,
        lemma: usize,
        arguments: &[tree::Expr],
        span: Span,
    ) -> Result<Stmt> {
        let program = self.program;
        let Some(lemma) = program.lemmas.get(lemma) else {
            return Err(error(span, "there is no such lemma"));
        };
        let value =
            self.instantiate(lemma.scope, &lemma.parameters, &lemma.body, arguments, span)?;
        Ok(Stmt::Used(truth(value), lemma.span))
    }
}

/// Returns `true` if a function ends with a barrier.
fn ends_with_barrier(function: &Function) -> bool {
    function.body.last().is_some_and(|last| super::stmt::barrier(last).is_some())
        && !may_exit(&function.body, ExitKind::Function)
}

/// `gridDim == 1` on an axis.
fn one_block(axis: usize, span: Span) -> Requirement {
    let kind = ExprKind::Builtin(Builtin::GridDim, axis);
    let grid = whole(Expr { kind, ty: Type::UNSIGNED, span });
    let condition = compare(Compare::Eq, grid, int(1, Type::Whole, span));
    Requirement { forall: Vec::new(), condition: Expr { span, ..condition } }
}
