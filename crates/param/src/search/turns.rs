//! Launches at the numbers that a kernel's own conditions name: `if (n == 100000)` and `i >= 70000` do nothing on
//! small ones.
//!
//! For each number there is a launch with a scalar of that value, and one whose threads reach beyond it. Such launches
//! are long to run, so there are few; numbers that small launches reach, and those beyond [`MAX_NUMBER`], are left out.

use super::{Chosen, MAX_FOUND, Search, Unknown, same_sizes};
use crate::interp::Launch;
use crate::kir::{Kernel, VarId};
use std::collections::BTreeMap;

/// Numbers that launches are looked for at.
const MAX_NUMBERS: usize = 3;
/// What small launches reach.
const SMALL: i128 = 64;
/// Threads of a launch, about.
const MAX_NUMBER: i128 = 1 << 17;
/// Threads of a block of a large launch.
const BLOCK: i128 = 256;
/// How far beyond a number a launch reaches: so many elements have contents of many kinds.
const BEYOND: i128 = 40;

/// Launches that the contract allows at some of these numbers.
pub(crate) fn at(kernel: &Kernel, numbers: &[i128], given: &BTreeMap<VarId, i128>) -> Vec<Launch> {
    let mut start = Chosen::new(kernel);
    given.iter().for_each(|(var, value)| start.set(Unknown::Scalar(*var), Some(*value)));
    let large = numbers.iter().copied().filter(|one| (SMALL..=MAX_NUMBER).contains(one));
    let mut found: Vec<Launch> = Vec::new();
    for number in large.take(MAX_NUMBERS) {
        let values = vec![1, BLOCK, number, number + BEYOND, number / BLOCK + 1];
        let mut search = Search::new(kernel, MAX_FOUND, values, false);
        search.solves = true;
        search.choose(&mut start.clone(), None);
        let mut all = search.found;
        all.retain(|one| one.threads() <= MAX_NUMBER + 2 * BLOCK);
        all.sort_by_key(|one| (one.threads(), one.scalars.values().map(|v| v.abs()).sum::<i128>()));
        let named = |one: &&Launch| one.scalars.values().any(|value| *value == number);
        let reached = |one: &&Launch| {
            let beyond = |value: &i128| *value > number;
            one.threads() > number && (one.scalars.is_empty() || one.scalars.values().any(beyond))
        };
        let chosen = [all.iter().find(named), all.iter().find(reached)];
        for launch in chosen.into_iter().flatten() {
            if !found.iter().any(|one| same_sizes(one, launch)) {
                found.push(Launch { seed: found.len() as u64 * 7 + 3, ..launch.clone() });
            }
        }
    }
    found
}
