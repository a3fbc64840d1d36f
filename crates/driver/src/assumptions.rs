//! Lists the unchecked assumptions on which an answer about a launch rests.

use crate::alignment;
use crate::demangle::demangle;
use crate::execute::FinishedRun;
use exec::{Contents, Doubt, Doubtful, Place};
use ir::Op;

impl FinishedRun<'_> {
    /// The unchecked facts that the answer relies on, one sentence each.
    pub(crate) fn assumptions(&self) -> Vec<String> {
        let mut assumptions = self.about_tensors();
        if self.checks.lock_step {
            let text = "lanes of a warp that run together stay together (--warp-synchronous)";
            assumptions.push(text.to_owned());
        }
        assumptions.extend(self.about_shared_memory());
        assumptions.extend(self.about_mbarriers());
        assumptions.extend(self.about_module_variables());
        assumptions.extend(self.about_float_order());
        assumptions.extend(self.about_instructions());
        assumptions.extend(self.lifting.iter().cloned());
        assumptions
    }

    /// Addresses, contents and structures of tensors.
    fn about_tensors(&self) -> Vec<String> {
        let places = match self.built.launch.buffers.len() {
            0 => None,
            1 => Some("the tensor begins at a multiple of 256 bytes".to_owned()),
            _ => Some("tensors begin at multiples of 256 bytes and do not overlap".to_owned()),
        };
        let structures = self.built.inputs.iter().filter_map(|input| {
            input.structure.as_ref().map(|structure| structure.sentence(&input.name))
        });
        places.into_iter().chain(self.given_contents()).chain(structures).collect()
    }

    /// Results that `--allow float-order` takes for the same.
    fn about_float_order(&self) -> Vec<String> {
        let texts = [
            (
                Doubtful::FloatOrder,
                "float-order: outputs may depend on the order of float additions, also through comparisons of \
                such sums (--allow float-order)",
            ),
            (
                Doubtful::EqualAsReals,
                "float-order: outputs of different schedules are equal as real numbers, and may differ by \
                rounding or overflow (--allow float-order)",
            ),
        ];
        let occurs = |about| self.result.doubts.iter().any(|doubt: &Doubt| doubt.about == about);
        let listed =
            texts.into_iter().filter(|(about, _)| self.allow.float_order && occurs(*about));
        listed.map(|(_, text)| text.to_owned()).collect()
    }

    /// Addresses in shared memory.
    fn about_shared_memory(&self) -> Vec<String> {
        let mut assumptions = Vec::new();
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
        if self.result.acquires_null_map {
            let text = "fence.proxy.tensormap::generic.acquire of address zero does nothing";
            assumptions.push(text.to_owned());
        }
        assumptions.extend(alignment::assumed(self));
        assumptions
    }

    /// Behaviour of mbarriers that the manual leaves open.
    fn about_mbarriers(&self) -> Vec<String> {
        let line = |place: &Place| self.source().line(place.span.start);
        let scope = self.result.assumed_scopes.first().map(line).map(|line| {
            format!(
                "mbarrier operations without a scope order memory between blocks of the cluster (the manual says \
                 `.cta`; first at line {line})"
            )
        });
        let parity = self.result.assumed_parities.first().map(line).map(|line| {
            format!(
                "only the lowest bit of an mbarrier's parity counts (first other than 0 and 1 at line {line})"
            )
        });
        scope.into_iter().chain(parity).collect()
    }

    /// Module variables that hold their initialisers.
    fn about_module_variables(&self) -> impl Iterator<Item = String> {
        self.result.initialisers.iter().map(|&variable| {
            let name = &self.program().variables[variable].name;
            let name = demangle(name).unwrap_or_else(|| name.clone());
            format!(
                "module variable `{name}` has its contents from the module (--symbol gives other \
                 contents)"
            )
        })
    }

    /// Instructions whose behaviour is only observed, or depends on the machine.
    fn about_instructions(&self) -> Vec<String> {
        let mut assumptions = Vec::new();
        let launch = &self.built.launch;
        let mut changes = self.program().register_changes(launch.kernel).peekable();
        if changes.peek().is_some() && !launch.threads().div_ceil(32).is_multiple_of(4) {
            assumptions
                .push("setmaxnreg may be executed by a last warp group of fewer than four warps");
        }
        if changes.any(|change| change.increases) {
            assumptions.push("setmaxnreg.inc gets the registers that it waits for");
        }
        let ops = || self.program().instructions_of(launch.kernel).map(|(_, one)| &one.op);
        if ops().any(|op| matches!(op, Op::TensorMap(_))) {
            assumptions.push("tensor maps that the kernel changes have the layout that the driver of CUDA 13.0 writes");
        }
        if ops().any(|op| matches!(op, Op::Wgmma(_))) {
            assumptions.push("`wgmma.wait_group` of one warp waits for the products of all four warps of its group");
        }
        if ops().any(is_sparse) {
            assumptions.push("metadata of sparse products is valid where it comes from data");
        }
        assumptions.into_iter().map(str::to_owned).collect()
    }

    /// State that the kernel leaves for its next launch. The answer does not cover that launch.
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
    fn given_contents(&self) -> Option<String> {
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

/// Returns `true` if an operation is a product with a sparse factor.
fn is_sparse(op: &Op) -> bool {
    match op {
        Op::Mma(mma) => mma.sparsity.is_some(),
        Op::Wgmma(wgmma) => wgmma.sparsity.is_some(),
        _ => false,
    }
}
