//! Shadow memory: the accesses to each element since the last barrier, and their conflicts.
//!
//! Accesses are kept by *agent*: a thread among the threads of its block, or a block among blocks. For reads and for
//! atomics, two different agents are enough: any agent differs from one of them.

use crate::outcome::Access;
use crate::value::Value;
use kir::ArrayId;
use rustc_hash::FxHashMap;

/// An element.
pub(crate) type Cell = (ArrayId, [i128; 3]);

/// Contents of elements.
pub(crate) type Memory = FxHashMap<Cell, Value>;

/// The effect of an access on its element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AccessMode {
    Read,
    /// With the stored value: stores of equal values do not conflict.
    Write(Value),
    Atomic,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    reads: Vec<(u64, Access)>,
    atomics: Vec<(u64, Access)>,
    writes: Vec<(u64, Access, Value)>,
}

/// The accesses of an interval.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    cells: FxHashMap<Cell, Entry>,
}

impl Shadow {
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
    }

    /// Records an access; returns an earlier one that conflicts with it.
    pub(crate) fn record(
        &mut self,
        cell: &Cell,
        agent: u64,
        mode: &AccessMode,
        access: &Access,
    ) -> Option<Access> {
        let entry = self.cells.entry(*cell).or_default();
        let by_other_agent = |list: &[(u64, Access)]| {
            list.iter().find(|(one, _)| *one != agent).map(|(_, access)| access.clone())
        };
        // To refute, values must differ for certain.
        let conflicting_write = |entry: &Entry, value: Option<&Value>| {
            let mut writes = entry.writes.iter();
            let found = writes
                .find(|(one, _, old)| *one != agent && value.is_none_or(|new| differ(new, old)));
            found.map(|(_, access, _)| access.clone())
        };
        let conflict = match mode {
            AccessMode::Read => {
                conflicting_write(entry, None).or_else(|| by_other_agent(&entry.atomics))
            }
            AccessMode::Atomic => {
                conflicting_write(entry, None).or_else(|| by_other_agent(&entry.reads))
            }
            AccessMode::Write(value) => conflicting_write(entry, Some(value))
                .or_else(|| by_other_agent(&entry.reads))
                .or_else(|| by_other_agent(&entry.atomics)),
        };
        let keep = |list: &mut Vec<(u64, Access)>| {
            if list.len() < 2 && list.iter().all(|(one, _)| *one != agent) {
                list.push((agent, access.clone()));
            }
        };
        match mode {
            AccessMode::Read => keep(&mut entry.reads),
            AccessMode::Atomic => keep(&mut entry.atomics),
            AccessMode::Write(value) => {
                let known =
                    entry.writes.iter().any(|(one, _, old)| *one == agent && same(old, value));
                if !known {
                    entry.writes.push((agent, access.clone(), *value));
                }
            }
        }
        conflict
    }
}

/// Returns `true` if two values are the same to every later store. NaNs are equal.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one == other || one.is_nan() && other.is_nan(),
        _ => one == other,
    }
}

/// Returns `true` if two values are certainly not equal in memory. A value that the run does not know may be any.
fn differ(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.differs(*other),
        (Value::Undefined, _) | (_, Value::Undefined) => false,
        _ => one != other,
    }
}
