//! Recognises inlined math functions (`logf`, `tanhf`, `erff`, …) by their structure and constants, and replaces them
//! by the functions ([`ir::Op::Real`]).
//!
//! The values of a function become a graph ([`values`]). It abstracts from instruction order, from registers, and
//! from the difference between a branch and a `selp`. Every value is compared with the tables of expansions
//! ([`template`], [`matching`]). A recognised value is computed in its place by the function itself. Dead code is
//! removed, and with it the branches on special values.
//!
//! # Assumptions
//!
//! An expansion of the tables *is* the function over the reals. `tests/functions.rs` runs every one of them
//! on thousands of numbers and compares. Infinities, NaN and overflow are not reals, and the results of an
//! expansion for them are given up. Where an expansion has a slow path for large arguments ([`slow`]) that is
//! not recognised, or a compiler left cases out ([`known_ranges`]), the function is known on a range of
//! arguments only. That range is part of the operation.

mod bits;
mod folding;
mod graph;
mod joins;
mod known_ranges;
mod matching;
mod operations;
mod powers;
mod rewrite;
mod slow;
mod steps;
mod template;
mod values;

use crate::Lifted;
use crate::cleanup::clean;
use crate::flow::Flow;
use ir::{Function, Op, Operand, Program, RealFunction, Terminator};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use template::{TEMPLATES, Template};
use values::Values;

/// Functions with more blocks are left as they are.
const MAX_BLOCKS: usize = 5000;

/// Replaces recognised expansions.
pub(crate) fn lift(lifted: &mut Lifted, functions: &[ir::FuncId]) {
    let mut found = BTreeSet::new();
    for &function in functions {
        let mut lifted_function = lifted.program.functions[function].clone();
        for template in lift_function(&lifted.program, &mut lifted_function) {
            found.insert(format!("{:?}", template.function).to_lowercase());
        }
        lifted.program.functions[function] = lifted_function;
    }
    if !found.is_empty() {
        let names: Vec<String> = found.into_iter().collect();
        let are = if names.len() == 1 {
            "is the real function and meets"
        } else {
            "are the real functions and meet"
        };
        lifted.assumptions.insert(format!("inlined {} {are} no infinity or NaN", names.join(", ")));
    }
}

/// Replaces recognised expansions in a function, and returns them. Expansions with cases left out are searched for in
/// the remaining code.
fn lift_function(program: &Program, function: &mut Function) -> Vec<Template> {
    if function.blocks.len() > MAX_BLOCKS {
        return Vec::new();
    }
    let mut found = Vec::new();
    for templates in [TEMPLATES.as_slice(), VARIANTS.as_slice()] {
        found.extend(lift_templates(program, function, templates));
        found.extend(lift_joined(program, function, templates));
    }
    found
}

/// Replaces expansions that are recognised once join blocks are added ([`joins`]); if there are none, the function
/// stays as it is.
fn lift_joined(
    program: &Program,
    function: &mut Function,
    templates: &[Template],
) -> Vec<Template> {
    let literals = constants(function);
    if !templates.iter().any(|template| is_possible(template, &literals)) {
        return Vec::new();
    }
    let mut joined = function.clone();
    if !joins::add_join_blocks(&mut joined) {
        return Vec::new();
    }
    let found = lift_templates(program, &mut joined, templates);
    if !found.is_empty() {
        *function = joined;
    }
    found
}

/// The expansions with cases left out.
static VARIANTS: LazyLock<Vec<Template>> =
    LazyLock::new(|| TEMPLATES.iter().flat_map(known_ranges::variants).collect());

/// Replaces the recognised expansions among `templates`, and returns them.
fn lift_templates(
    program: &Program,
    function: &mut Function,
    templates: &[Template],
) -> Vec<Template> {
    let literals = constants(function);
    let mut possible: Vec<Template> =
        templates.iter().filter(|template| is_possible(template, &literals)).cloned().collect();
    let inner: Vec<Template> = possible.iter().filter_map(Template::before_infinity).collect();
    possible.extend(inner);
    let power = templates.iter().find(|template| template.function == RealFunction::Pow);
    if possible.is_empty() && !power.is_some_and(|power| powers::may_contain(power, &literals)) {
        return Vec::new();
    }
    let flow = Flow::new(function);
    let values = Values::new(function, &flow);
    // Including folded constants.
    let constants = literals.into_iter().chain(values.graph.constants()).collect();
    for template in templates.iter().filter(|template| template.function == RealFunction::Pow) {
        let fixed =
            powers::with_constant_arguments(template, &constants, &values.graph).into_iter();
        possible.extend(fixed.filter(|template| is_possible(template, &constants)));
    }
    let plan = rewrite::plan(program, function, &values, &possible);
    let found = plan.found.iter().map(|&at| possible[at].clone()).collect();
    let edits = plan.edits;
    if edits.is_empty() {
        return Vec::new();
    }
    let branches = rewrite::apply(function, edits);
    clean(function);
    for (block, drops_code) in branches {
        if let Some(join) = slow::useless_until(function, block, &plan.regions, drops_code) {
            function.blocks[block].terminator = Terminator::Jump(join);
        }
    }
    clean(function);
    found
}

/// Returns `true` if a program contains all constants of an expansion.
fn is_possible(template: &Template, constants: &FxHashSet<u64>) -> bool {
    template.constants().all(|bits| is_present(constants, bits))
}

/// Returns `true` if a program contains a constant, signs aside. Small constants count as present: they may
/// come from elsewhere.
fn is_present(constants: &FxHashSet<u64>, bits: u64) -> bool {
    const SMALL: u64 = 1 << 16;
    let variants = [bits, bits ^ 1 << 31, bits ^ 1 << 63, bits.wrapping_sub(1)];
    bits < SMALL || variants.iter().any(|bits| constants.contains(bits))
}

/// Collects the constants of a function, with the parts that they may be made of.
fn constants(function: &Function) -> FxHashSet<u64> {
    let mut found = FxHashSet::default();
    for instruction in function.instructions() {
        instruction.op.visit(&mut |access| {
            if let ir::Access::Read(Operand::Constant(bits)) = access {
                found.insert(bits);
                // Halves of a pair, and subtracted constants.
                found.extend([bits & 0xffff_ffff, bits >> 32]);
                found.insert((bits as u32).wrapping_neg().into());
            }
        });
    }
    found
}

/// Prints the slow paths for large arguments that a function may have, in the notation of `tables/slow.txt`, for
/// adding one.
#[must_use]
pub fn slow_paths(program: &Program, function: &Function) -> Vec<String> {
    let flow = Flow::new(function);
    let values = Values::new(function, &flow);
    slow::texts(program, function, &values)
}

/// Prints the values that a function stores as steps, in the notation of the tables, for adding one.
#[must_use]
pub fn stored_steps(function: &Function, arguments: usize) -> Vec<String> {
    let flow = Flow::new(function);
    let values = Values::new(function, &flow);
    let mut all = Vec::new();
    for (block, data) in function.blocks.enumerate() {
        for instruction in &data.instructions {
            let Op::Store(store) = &instruction.op else { continue };
            for &source in &store.srcs {
                if let Some(value) = values.stored(block, source) {
                    all.push(steps::steps(&values.graph, value, arguments));
                }
            }
        }
    }
    all
}
