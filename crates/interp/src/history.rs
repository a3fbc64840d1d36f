//! Records the stores of a run, in the order of the kernel's statements and iterations, and the variables of its
//! threads at the heads of loops.
//!
//! The order is that of `engine/values/resolve.rs` in `allsizes`: the contents of an array at the head of a loop are
//! those of the last store before that point, by any thread at any time.

use crate::code::Code;
use crate::shadow::Cell;
use crate::value::Value;
use kir::ArrayId;
use std::collections::BTreeMap;

/// A place in the order: for each enclosing loop, its start and its count; then the instruction.
type Key = Vec<u64>;

/// Limit on the recorded stores of a run.
const MAX_STORES: usize = 20_000;

/// The head of a loop, in an iteration.
#[derive(Clone, Debug)]
pub struct Head {
    /// Number of the loop, in source order.
    pub number: usize,
    /// Set before the first iteration.
    pub is_first: bool,
    /// Variables with the same value in all threads of the block.
    pub vars: Vec<Option<i128>>,
}

/// The history of one block.
#[derive(Clone, Debug, Default)]
pub struct History {
    stores: Vec<(Key, Cell, Value)>,
    heads: BTreeMap<Key, Head>,
}

/// Returns the place of an instruction in the order; `counts` has the iteration of each loop.
fn key(code: &Code<'_>, pc: usize, counts: &[u64]) -> Key {
    let loops = code.enclosing_loops(pc + 1);
    let mut key: Key = loops.iter().flat_map(|one| [code.start(*one), counts[*one]]).collect();
    key.push(pc as u64);
    key
}

impl History {
    pub(crate) fn store(&mut self, code: &Code<'_>, at: (usize, &[u64]), cell: Cell, value: Value) {
        if self.stores.len() < MAX_STORES {
            self.stores.push((key(code, at.0, at.1), cell, value));
        }
    }

    /// Records that a thread is at the head of a loop.
    pub(crate) fn head(
        &mut self,
        code: &Code<'_>,
        (pc, counts): (usize, &[u64]),
        number: usize,
        vars: &[Value],
    ) {
        let loops = code.enclosing_loops(pc + 1);
        let enclosing = loops.iter().take_while(|one| **one != number).chain([&number]);
        let key: Key = enclosing.flat_map(|one| [code.start(*one), counts[*one]]).collect();
        let values: Vec<Option<i128>> = vars.iter().map(|value| value.number()).collect();
        match self.heads.get_mut(&key) {
            None => {
                let is_first = counts[number] == 0;
                self.heads.insert(key, Head { number, is_first, vars: values });
            }
            Some(head) => {
                for (old, new) in head.vars.iter_mut().zip(values) {
                    *old = old.filter(|value| Some(*value) == new);
                }
            }
        }
    }

    /// The heads in order, each with the contents of an array there.
    pub fn heads(&self, array: ArrayId) -> Vec<(&Head, BTreeMap<i128, Value>)> {
        let mut stores: Vec<&(Key, Cell, Value)> =
            self.stores.iter().filter(|(_, cell, _)| cell.0 == array).collect();
        stores.sort_by(|one, other| one.0.cmp(&other.0));
        let mut stores = stores.into_iter().peekable();
        let mut contents = BTreeMap::new();
        let mut found = Vec::new();
        for (key, head) in &self.heads {
            while let Some((_, cell, value)) = stores.next_if(|store| store.0 < *key) {
                contents.insert(cell.1[0], *value);
            }
            found.push((head, contents.clone()));
        }
        found
    }
}
