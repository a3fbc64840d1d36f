//! Math functions that compilers inline (`logf`, `tanhf`, `erff`, …), recognised by their structure and
//! constants and replaced by the functions ([`ir::Op::Real`]).
//!
//! The values of a function become a graph ([`values`]), in which neither order nor registers nor the
//! difference between a branch and a `selp` show. Every value is compared with the tables of expansions
//! ([`template`], [`matching`]). What is recognised is computed at its place by the function itself;
//! what then is not needed goes, and with it the branches on special values.
//!
//! # What it relies on
//!
//! That an expansion of the tables *is* the function over the reals. `tests/functions.rs` runs every
//! one of them on thousands of numbers and compares. Infinities, NaN and overflow are no reals, and
//! what an expansion does for them is given up. Functions whose expansion takes another way for large
//! arguments are recognised by the first way alone; that arguments are small is then an assumption.

mod graph;
mod matching;
mod operations;
mod powers;
mod rewrite;
mod steps;
mod template;
mod values;

use crate::Lifted;
use crate::cleanup::clean;
use crate::flow::Flow;
use ir::{Function, Op, Operand, RealFunction};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use template::Template;
use values::Values;

/// Functions with more blocks are left as they are.
const MOST_BLOCKS: usize = 5000;

/// Replaces what is recognised.
pub(crate) fn lift(lifted: &mut Lifted) {
    let templates = template::templates();
    let mut found = BTreeSet::new();
    let mut partial = BTreeSet::new();
    let functions: Vec<ir::FuncId> = lifted.program.functions.indices().collect();
    for function in functions {
        for template in lift_function(&mut lifted.program.functions[function], &templates) {
            let name = format!("{:?}", template.function).to_lowercase();
            if template.is_partial() {
                partial.insert(match template.function {
                    RealFunction::Fmod => "quotients of fmod are at most 8388608".to_owned(),
                    _ => format!("arguments of {name} are below 105615 in magnitude"),
                });
            }
            found.insert(name);
        }
    }
    if !found.is_empty() {
        let names: Vec<String> = found.into_iter().collect();
        lifted.assumptions.insert(format!(
            "inlined code of {} computes these functions, and infinities and NaN do not occur in it",
            names.join(", ")
        ));
    }
    lifted.assumptions.extend(partial);
}

/// Replaces what is recognised in a function; what that was.
fn lift_function(function: &mut Function, templates: &[Template]) -> Vec<Template> {
    let constants = constants(function);
    let is_possible =
        |template: &Template| template.constants().all(|bits| is_present(&constants, bits));
    let mut possible: Vec<Template> =
        templates.iter().filter(|template| is_possible(template)).cloned().collect();
    let powers = templates.iter().filter(|template| template.function == RealFunction::Pow);
    for template in powers.filter(|template| has_most(template, &constants)) {
        let mut exponents: Vec<u32> =
            constants.iter().filter_map(|&bits| u32::try_from(bits).ok()).collect();
        exponents.sort_unstable();
        let exponents = exponents.into_iter().filter(|&bits| f32::from_bits(bits).is_finite());
        let fixed = exponents.filter_map(|bits| powers::with_exponent(template, bits));
        possible.extend(fixed.filter(is_possible));
    }
    if possible.is_empty() || function.blocks.len() > MOST_BLOCKS {
        return Vec::new();
    }
    let flow = Flow::new(function);
    let values = Values::new(function, &flow);
    let plan = rewrite::plan(function, &values, &possible);
    let found = plan.found.iter().map(|&at| possible[at].clone()).collect();
    let edits = plan.edits;
    if edits.is_empty() {
        return Vec::new();
    }
    rewrite::apply(function, edits);
    clean(function);
    found
}

/// Whether the constants of a polynomial are there, which are most of an expansion's; those that go
/// with a constant exponent are not.
fn has_most(template: &Template, constants: &FxHashSet<u64>) -> bool {
    let missing = template.constants().filter(|&bits| !is_present(constants, bits)).count();
    missing * 4 < template.constants().count()
}

/// Whether a constant is in a program, signs aside; small ones may come from elsewhere.
fn is_present(constants: &FxHashSet<u64>, bits: u64) -> bool {
    const SMALL: u64 = 1 << 16;
    let near = [bits, bits ^ 1 << 31, bits ^ 1 << 63, bits.wrapping_sub(1)];
    bits < SMALL || near.iter().any(|bits| constants.contains(bits))
}

fn constants(function: &Function) -> FxHashSet<u64> {
    let mut found = FxHashSet::default();
    for instruction in function.instructions() {
        instruction.op.visit(&mut |access| {
            if let ir::Access::Read(Operand::Constant(bits)) = access {
                found.insert(bits);
                // Halves of a pair, and what is subtracted.
                found.extend([bits & 0xffff_ffff, bits >> 32]);
                found.insert((bits as u32).wrapping_neg().into());
            }
        });
    }
    found
}

/// The steps of the values that a function stores, as tables write them: for those who add one.
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
