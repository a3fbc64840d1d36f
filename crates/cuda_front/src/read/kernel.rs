//! Lowers one kernel, again and again until no pointer variable gets another possible target and no hint is added.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::{Hints, Lowerer};
use super::switch;
use base::IndexVec;
use cuda::tree::{Function, FunctionId, Program};
use kir::{Kernel, Stmt, Var, VarId};
use std::rc::Rc;

/// Limit on repeated lowering of a kernel.
const MAX_PASSES: usize = 12;

/// Lowers `function` as a kernel; `id` is the function in the program whose variables it has.
pub(super) fn lower_kernel(
    program: &Program,
    id: FunctionId,
    function: &Function,
) -> Result<Kernel> {
    let function = Rc::new(switch::without_switch(function)?);
    let mut hints = Hints::default();
    for _ in 0..MAX_PASSES {
        let mut lowerer = Lowerer::new(program, hints);
        let lowered = lowerer.lower(id, &function);
        if !lowerer.needs_another_pass {
            if let (Ok(_), Some(span)) = (&lowered, lowerer.use_without_target) {
                return Err(unsupported(span, "a pointer without a value is not supported"));
            }
            return lowered;
        }
        let targets = lowerer.slots.into_iter().map(|one| one.targets).collect();
        let Hints { dynamic, logged, .. } = lowerer.hints;
        hints = Hints { targets, dynamic, logged };
    }
    Err(unsupported(function.span, "pointers that may point to this many arrays are not supported"))
}

impl Lowerer<'_> {
    fn lower(&mut self, id: FunctionId, function: &Rc<Function>) -> Result<Kernel> {
        self.macros(function.span);
        let macros = self.scalars.len();
        self.push_frame(id, function, None);
        self.file_variables();
        self.lemmas_and_monoids()?;
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
                // All `extern __shared__` arrays are one memory, under the name of the first.
                let message = "the size of dynamic shared memory must be given with its first name";
                return Err(unsupported(extent.span, message));
            }
            return Err(error(extent.span, "there is no array without a size of this name"));
        }
        let kernel = self.finish(function, macros, body);
        self.check_coherence(&kernel)?;
        Ok(kernel)
    }

    fn finish(&mut self, function: &Function, macros: usize, body: Vec<Stmt>) -> Kernel {
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
            extents: std::mem::take(&mut self.stated_sizes),
            ensures: std::mem::take(&mut self.ensures),
            footprints: std::mem::take(&mut self.footprints),
            contracts: std::mem::take(&mut self.contracts),
            lemmas: std::mem::take(&mut self.lemmas),
            monoids: std::mem::take(&mut self.monoids).into_iter().map(|(_, one)| one).collect(),
            unfollowed: std::mem::take(&mut self.unfollowed),
            body,
            mentioned: std::mem::take(&mut self.mentioned),
            types: self.assumed_types(&function.name),
            precision: self.precision.get(),
            fences: self.fences,
            initials: std::mem::take(&mut self.initials),
            layouts,
            signature,
        }
    }
}
