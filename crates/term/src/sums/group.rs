//! Lists that grow together: the accumulators of a warp's lanes.
//!
//! A warp multiplies and adds in all its lanes at once, mostly to sums with the same history. A list is stored in
//! *runs* of consecutive slots. When the lists of all lanes fill their runs together, their next runs are taken side
//! by side. From then on one record has the end of all of them: appending to all lanes is one test and one store a
//! lane. A list that is appended to alone dissolves its group; the lists may form another at the end of a run.
//! Products are stored in the same slots and order as without groups.

use super::{IN_GROUP, LARGEST_RUN, List, PAGE, Sums};
use crate::{Factors, ListId, NodeId, Sum};
use multiversion::multiversion;

/// Lists of a group: one for each lane of a warp.
pub const LANES: usize = 32;

/// The ends of the lists of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The list of the first lane; those of the others follow it.
    first: u32,
    length: u32,
    /// The next slot of the first lane; those of the others are `run` apart.
    next: u32,
    left: u32,
    run: u32,
}

impl Sums {
    /// Appends a product of two inputs to a sum in each lane. The inputs have the numbers `factors` minus `base`.
    /// Returns `false` if one is not below `limit`, or the sums do not grow together.
    ///
    /// `first` is the sum of the first lane. Those of the other lanes are in the lists after it and have its length.
    #[inline]
    pub(crate) fn append_to_all(
        &mut self,
        first: Sum,
        factors: [&[u32; LANES]; 2],
        (base, limit): (u32, u32),
    ) -> bool {
        let mut products = [Factors::link(0); LANES];
        if !multiply(factors, base, limit, &mut products) {
            return false;
        }
        let Some(number) = self.group_of(first) else { return false };
        if self.groups[number].left == 0 {
            self.add_runs(number);
        }
        let group = &mut self.groups[number];
        let (slot, run) = (group.next as usize, group.run as usize);
        group.next += 1;
        group.left -= 1;
        group.length += 1;
        let slots = self.pages[slot / PAGE][slot % PAGE..].iter_mut().step_by(run);
        slots.zip(&products).for_each(|(slot, product)| *slot = *product);
        true
    }

    /// Finds the group whose first lane has this sum, if the sum is all of its list; forms a group if possible.
    #[inline]
    fn group_of(&mut self, first: Sum) -> Option<usize> {
        let list = self.lists[first.list.0 as usize];
        if list.length != IN_GROUP {
            return if list.left == 0 { self.form_group(first) } else { None };
        }
        let group = self.groups[list.group as usize];
        let ends = group.first == first.list.0 && group.length == first.length;
        (ends && group.length < IN_GROUP - 1).then_some(list.group as usize)
    }

    /// Makes a group of lists that are at the ends of runs of the same size.
    #[cold]
    fn form_group(&mut self, first: Sum) -> Option<usize> {
        let start = first.list.0 as usize;
        let lists = self.lists.get(start..start + LANES)?;
        let List { run, .. } = lists[0];
        let alike = |list: &List| list.length == first.length && (list.left, list.run) == (0, run);
        if first.length >= IN_GROUP - 1 || !lists.iter().all(alike) {
            return None;
        }
        let number = self.groups.len();
        // These lists have grown alone so far, so each list's link to its new run is at the end of its own last run.
        let ends: Vec<u32> = lists.iter().map(|list| list.next).collect();
        let (next, run) = self.take_runs(run, &ends);
        self.groups.push(Group {
            first: first.list.0,
            length: first.length,
            next,
            left: run - 1,
            run,
        });
        for list in &mut self.lists[start..start + LANES] {
            (list.length, list.group) = (IN_GROUP, number as u32);
        }
        Some(number)
    }

    #[cold]
    fn add_runs(&mut self, number: usize) {
        let Group { next, run, .. } = self.groups[number];
        let ends: Vec<u32> = (0..LANES as u32).map(|lane| next + lane * run).collect();
        let (next, run) = self.take_runs(run, &ends);
        let group = &mut self.groups[number];
        (group.next, group.left, group.run) = (next, run - 1, run);
    }

    /// Takes a run for each lane, side by side, and links it from the end of the lane's list; returns the first slot
    /// and the size.
    fn take_runs(&mut self, before: u32, ends: &[u32]) -> (u32, u32) {
        let size = (before * 4).min(LARGEST_RUN);
        let start = self.take_run(size * LANES as u32);
        for (lane, &end) in ends.iter().enumerate() {
            self.write(end, Factors::link(start + lane as u32 * size));
        }
        (start, size)
    }

    /// Returns the length of a list, and its next slot.
    pub(super) fn end(&self, list: ListId) -> (u32, u32) {
        let list_end = self.lists[list.0 as usize];
        if list_end.length != IN_GROUP {
            return (list_end.length, list_end.next);
        }
        let group = self.groups[list_end.group as usize];
        (group.length, group.next + (list.0 - group.first) * group.run)
    }

    /// Dissolves the group of a list, so that each of its lists grows alone.
    pub(super) fn leave_group(&mut self, list: ListId) {
        let List { length, group, .. } = self.lists[list.0 as usize];
        if length != IN_GROUP {
            return;
        }
        let Group { first, length, next, left, run } = self.groups[group as usize];
        let lists = &mut self.lists[first as usize..first as usize + LANES];
        for (lane, list) in lists.iter_mut().enumerate() {
            list.length = length;
            (list.next, list.left, list.run) = (next + lane as u32 * run, left, run);
        }
    }
}

/// Multiplies inputs `base` before these positions; returns `true` if all are below `limit`.
#[multiversion(targets("x86_64+avx2"))]
fn multiply(
    factors: [&[u32; LANES]; 2],
    base: u32,
    limit: u32,
    products: &mut [Factors; LANES],
) -> bool {
    let [left, right] = factors;
    for (product, (left, right)) in products.iter_mut().zip(left.iter().zip(right)) {
        let (left, right) = (left.wrapping_sub(base), right.wrapping_sub(base));
        *product = Factors::new(false, NodeId(left), NodeId(right));
    }
    all_below(left.iter().chain(right).map(|position| position.wrapping_sub(base)), limit)
}

/// Returns `true` if all positions are below `limit`, which is less than 2^31.
///
/// Uses no comparisons, because not every processor has unsigned vector comparisons. The difference of two numbers
/// below 2^31 has its sign bit set if the first is smaller.
#[inline(always)]
pub(crate) fn all_below(positions: impl Iterator<Item = u32>, limit: u32) -> bool {
    let (any, all) = positions.fold((0, u32::MAX), |(any, all), position: u32| {
        (any | position, all & position.wrapping_sub(limit))
    });
    any >> 31 == 0 && all >> 31 == 1
}

#[cfg(test)]
mod tests {
    use super::all_below;

    #[test]
    fn positions_are_below_a_limit() {
        let edges = [0, 1, 5, 6, 7, (1 << 31) - 1, 1 << 31, u32::MAX - 5, u32::MAX];
        for limit in [0, 1, 6, (1 << 31) - 1] {
            for a in edges {
                for b in edges {
                    assert_eq!(
                        all_below([a, b].into_iter(), limit),
                        a.max(b) < limit,
                        "{a} {b} {limit}"
                    );
                }
            }
        }
    }
}
