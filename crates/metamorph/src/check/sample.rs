//! Draws small launches that a contract allows: sizes, macros and dimensions, by backtracking, with a preference for
//! the edges of the allowed range.

use super::meaning;
use crate::expr::{Cond, Int, Var};
use crate::nest::{Dim, Kernel, VarKind};
use crate::walk;
use testing::Random;

/// Values of sizes, macros and dimensions.
#[derive(Clone, Debug)]
pub struct Launch {
    /// By variable; 0 for all that are not part of the launch.
    pub vars: Vec<i64>,
}

impl Launch {
    /// Evaluates an expression of sizes, macros and dimensions.
    #[must_use]
    pub fn number(&self, int: &Int) -> Option<i64> {
        meaning::int(int, &self.vars)
    }

    /// Lists the values.
    #[must_use]
    pub fn describe(&self, kernel: &Kernel) -> String {
        let mut parts = Vec::new();
        for index in 0..self.vars.len() {
            let name = kernel.vars.name(Var(index));
            if kernel.vars.kind(Var(index)) != VarKind::Local && !name.contains("Idx") {
                parts.push(format!("{name}={}", self.vars[index]));
            }
        }
        parts.join(" ")
    }
}

/// Draws launches of one kernel.
#[derive(Clone, Debug)]
pub struct Sampler {
    count: usize,
    /// The variables in the order in which they are drawn, with the conditions that can be tested then.
    levels: Vec<(Var, Role, Vec<Cond>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Size,
    Macro,
    Threads,
    Blocks,
    /// A dimension that the kernel does not use: always 1.
    One,
}

/// The largest block that is run.
const MAX_BLOCK_THREADS: i64 = 64;
/// The largest launch that is run.
const MAX_LAUNCH_THREADS: i64 = 700;

impl Sampler {
    /// Prepares the order of variables.
    #[must_use]
    pub fn new(kernel: &Kernel) -> Self {
        let mut order: Vec<(Var, Role)> = Vec::new();
        order.extend(kernel.vars.of_kind(VarKind::Size).map(|var| (var, Role::Size)));
        order.extend(kernel.vars.of_kind(VarKind::Macro).map(|var| (var, Role::Macro)));
        let used = Dim::ALL.map(|dim| dim == Dim::X || mentions_dim(kernel, dim));
        for (dim, used) in Dim::ALL.into_iter().zip(used) {
            order.push((dim.threads(), if used { Role::Threads } else { Role::One }));
        }
        for (dim, used) in Dim::ALL.into_iter().zip(used) {
            order.push((dim.blocks(), if used { Role::Blocks } else { Role::One }));
        }
        let mut levels: Vec<(Var, Role, Vec<Cond>)> =
            order.into_iter().map(|(var, role)| (var, role, Vec::new())).collect();
        for cond in &kernel.requires {
            let last = levels.iter().rposition(|(var, ..)| mentions_var(cond, *var)).unwrap_or(0);
            levels[last].2.push(cond.clone());
        }
        Self { count: kernel.vars.count(), levels }
    }

    /// Draws a launch; sizes are those of `given` if there is one. `None` if none was found.
    #[must_use]
    pub fn draw(&self, given: Option<&Launch>, random: &mut Random) -> Option<Launch> {
        for _ in 0..4 {
            let greatest = random.pick(&[1, 2, 3, 4, 5, 7, 9, 13]);
            let domains: Vec<Vec<i64>> = self
                .levels
                .iter()
                .map(|(var, role, _)| match (role, given) {
                    (Role::Size, Some(given)) => vec![given.vars[var.0]],
                    _ => domain(*role, greatest, random),
                })
                .collect();
            let mut vars = vec![0; self.count];
            if self.assign(0, &domains, &mut vars, &mut 3_000) == Some(true) {
                return Some(Launch { vars });
            }
        }
        None
    }

    /// Assigns the variables from a level on; `None` if the budget is used up.
    fn assign(
        &self,
        level: usize,
        domains: &[Vec<i64>],
        vars: &mut Vec<i64>,
        budget: &mut usize,
    ) -> Option<bool> {
        let Some((var, _, conds)) = self.levels.get(level) else { return Some(fits(vars)) };
        for number in &domains[level] {
            *budget = budget.checked_sub(1)?;
            vars[var.0] = *number;
            let allowed = conds.iter().all(|cond| meaning::cond(cond, vars) == Some(true));
            if allowed && self.assign(level + 1, domains, vars, budget)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// Returns `true` if the launch is small enough to be run.
fn fits(vars: &[i64]) -> bool {
    let threads: i64 = Dim::ALL.iter().map(|dim| vars[dim.threads().0]).product();
    let blocks: i64 = Dim::ALL.iter().map(|dim| vars[dim.blocks().0]).product();
    threads <= MAX_BLOCK_THREADS && threads * blocks <= MAX_LAUNCH_THREADS
}

/// Draws the order in which values are tried.
fn domain(role: Role, greatest: i64, random: &mut Random) -> Vec<i64> {
    let (low, high) = match role {
        Role::Size => (0, greatest),
        Role::Macro => (1, 8),
        Role::Threads => (1, 9),
        Role::Blocks => (1, 45),
        Role::One => (1, 1),
    };
    let mut values: Vec<i64> = (low..=high).collect();
    match (role, random.below(4)) {
        // The least allowed value.
        (Role::Blocks, 0 | 1) | (_, 0) => {}
        (Role::Blocks, _) => random.shuffle(&mut values[..6]),
        (Role::Size, 1) => values.reverse(),
        _ => random.shuffle(&mut values),
    }
    values
}

/// Returns `true` if the variable occurs in a condition.
fn mentions_var(cond: &Cond, var: Var) -> bool {
    let mut found = false;
    cond.visit(&mut |int| found |= *int == Int::Var(var));
    found
}

/// Returns `true` if a kernel or its contract mentions an axis of the launch.
fn mentions_dim(kernel: &Kernel, dim: Dim) -> bool {
    let vars = [dim.thread(), dim.block(), dim.threads(), dim.blocks()];
    let mut found = false;
    let mut visitor = |int: &Int| found |= vars.iter().any(|var| *int == Int::Var(*var));
    kernel.requires.iter().for_each(|cond| cond.visit(&mut visitor));
    walk::visit_ints(&kernel.body, &mut visitor);
    for array in &kernel.arrays {
        array.shape.iter().for_each(|extent| extent.visit(&mut visitor));
    }
    found
}
