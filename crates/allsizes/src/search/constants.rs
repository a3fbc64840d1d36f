//! Launches at the constants in a kernel's own conditions: `if (n == 100000)` and `i >= 70000` have no effect in
//! small launches.
//!
//! For each constant there is a launch with a scalar of that value, and one whose threads reach beyond it. Such
//! launches take long, so there are few. Constants that small launches reach, and those beyond [`MAX_NUMBER`], are
//! left out.

use super::{MAX_FOUND, PartialAssignment, Search, Unknown, same_sizes};
use interp::Launch;
use kir::{Kernel, VarId};
use std::collections::BTreeMap;

/// Limit on the constants.
const MAX_NUMBERS: usize = 3;
/// Range of small launches.
const SMALL: i128 = 64;
/// Approximate limit on the threads of a launch.
const MAX_NUMBER: i128 = 1 << 17;
/// Threads of a block of a large launch.
const BLOCK: i128 = 256;
/// Distance that a launch reaches beyond a constant, so that its elements have contents of many kinds.
const BEYOND: i128 = 40;

/// Launches that the contract allows at some of these constants.
pub(crate) fn at(kernel: &Kernel, numbers: &[i128], given: &BTreeMap<VarId, i128>) -> Vec<Launch> {
    let mut start = PartialAssignment::new(kernel);
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
