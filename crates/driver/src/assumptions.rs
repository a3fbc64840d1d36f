//! Assumptions of an answer about a launch that nothing has checked.

use crate::alignment;
use crate::demangle::demangle;
use crate::execute::FinishedRun;
use exec::{Contents, Doubt, Doubtful};
use ir::Op;

impl FinishedRun<'_> {
    /// The unchecked facts that the answer relies on, one sentence each.
    pub(crate) fn assumptions(&self) -> Vec<String> {
        let mut assumptions = Vec::new();
        match self.built.launch.buffers.len() {
            0 => {}
            1 => assumptions.push("the tensor begins at a multiple of 256 bytes".to_owned()),
            _ => assumptions
                .push("tensors begin at multiples of 256 bytes and do not overlap".to_owned()),
        }
        assumptions.extend(self.given());
        for input in &self.built.inputs {
            assumptions.extend(input.structure.as_ref().map(|one| one.sentence(&input.name)));
        }
        if self.checks.lock_step {
            let text = "lanes of a warp that run together stay together (--warp-synchronous)";
            assumptions.push(text.to_owned());
        }
        if self.result.shared_alignment > 0 {
            let (bytes, why) = (self.result.shared_alignment, self.needs_alignment());
            let text = match self.result.before_dynamic {
                Some(before) => format!(
                    "static shared variables are laid out in declaration order from a multiple of {bytes} \
                    bytes on, and dynamic shared memory begins {before} bytes after that ({why})"
                ),
                None => {
                    format!("dynamic shared memory begins at a multiple of {bytes} bytes ({why})")
                }
            };
            assumptions.push(text);
        }
        if self.result.shared_window {
            let text = "generic addresses of shared memory begin at a multiple of 2^24";
            assumptions.push(text.to_owned());
        }
        assumptions.extend(alignment::assumed(self));
        if let Some(place) = self.result.assumed_scopes.first() {
            let line = self.source().line(place.span.start);
            assumptions.push(format!(
                "mbarrier operations without a scope order memory between blocks of the cluster (the manual says \
                 `.cta`; first at line {line})"
            ));
        }
        if let Some(place) = self.result.assumed_parities.first() {
            let line = self.source().line(place.span.start);
            assumptions.push(format!(
                "only the lowest bit of an mbarrier's parity counts (first other than 0 and 1 at line {line})"
            ));
        }
        for &variable in &self.result.initialisers {
            let name = &self.program().variables[variable].name;
            let name = demangle(name).unwrap_or_else(|| name.clone());
            assumptions.push(format!(
                "module variable `{name}` has its contents from the module (--symbol gives other \
                 contents)"
            ));
        }
        let rounded = |doubt: &Doubt| doubt.about == Doubtful::FloatOrder;
        if self.allow.float_order && self.result.doubts.iter().any(rounded) {
            let text = "float-order: outputs may depend on the order of float additions, also through \
                comparisons of such sums (--allow float-order)";
            assumptions.push(text.to_owned());
        }
        let launch = &self.built.launch;
        let mut changes = self.program().register_changes(launch.kernel).peekable();
        if changes.peek().is_some() && !launch.threads().div_ceil(32).is_multiple_of(4) {
            let text = "setmaxnreg may be executed by a last warp group of fewer than four warps";
            assumptions.push(text.to_owned());
        }
        if changes.any(|change| change.increases) {
            assumptions.push("setmaxnreg.inc gets the registers that it waits for".to_owned());
        }
        let ops = || self.program().instructions_of(launch.kernel).map(|(_, one)| &one.op);
        if ops().any(|op| matches!(op, Op::TensorMap(_))) {
            let text = "tensor maps that the kernel changes have the layout that the driver of CUDA 13.0 writes";
            assumptions.push(text.to_owned());
        }
        if ops().any(|op| matches!(op, Op::Wgmma(_))) {
            let text = "`wgmma.wait_group` of one warp waits for the products of all four warps of its group";
            assumptions.push(text.to_owned());
        }
        if ops().any(is_sparse) {
            assumptions
                .push("metadata of sparse products is valid where it comes from data".to_owned());
        }
        assumptions.extend(self.lifting.iter().cloned());
        assumptions
    }

    /// State that the kernel leaves for its next launch, which the answer is not about.
    pub(crate) fn changed(&self) -> Vec<String> {
        let variables = self.changed_variables();
        variables
            .map(|name| {
                format!(
                    "the kernel changes module variable `{name}`: the answer does not cover \
            the next launch"
                )
            })
            .collect()
    }

    /// Names of the module variables that are left changed.
    pub(crate) fn changed_variables(&self) -> impl Iterator<Item = String> {
        let names = self.result.changed.iter().map(|id| &self.program().variables[*id].name);
        names.map(|name| demangle(name).unwrap_or_else(|| name.clone()))
    }

    /// Tensors with given contents: the answer holds for these contents only.
    fn given(&self) -> Option<String> {
        let buffers = self.built.launch.buffers.iter();
        let given = buffers.filter(|buffer| matches!(buffer.contents, Contents::Known(_)));
        let names: Vec<String> = given.map(|buffer| format!("`{}`", buffer.name)).collect();
        let verb = if names.len() == 1 { "has" } else { "have" };
        (!names.is_empty())
            .then(|| format!("{} {verb} the contents that are given", names.join(", ")))
    }

    /// The operations that need dynamic shared memory to be aligned.
    fn needs_alignment(&self) -> String {
        let kernel = self.built.launch.kernel;
        let ops = || self.program().instructions_of(kernel).map(|(_, one)| &one.op);
        let copies = ops().any(|op| matches!(op, Op::TensorCopy(_))).then_some("tensor copies");
        let products = ops().any(|op| matches!(op, Op::Wgmma(_))).then_some("products");
        let both: Vec<&str> = copies.into_iter().chain(products).collect();
        if both.is_empty() { "address arithmetic".to_owned() } else { both.join(", ") }
    }
}

/// Is an operation a product with a sparse factor?
fn is_sparse(op: &Op) -> bool {
    match op {
        Op::Mma(mma) => mma.sparsity.is_some(),
        Op::Wgmma(wgmma) => wgmma.sparsity.is_some(),
        _ => false,
    }
}
