//! Accesses that a cell keeps beside its last write and this epoch's accesses: writes hidden by the last
//! write, and changes of earlier epochs, which may be invisible to a bulk copy.
//!
//! **Hidden writes.** A write E that is unordered with the last write A and writes the same value is excused
//! from A alone. If A hid a write C of another value, E may be unordered with C as well. That is a race: C
//! happens before A, but before or after E depending on the schedule. So the writes that A hid stay as long
//! as some thread may be unordered with them, and are compared with each excused write. One layer is enough.
//! All writes of a layer wrote the same value, and each was compared with the layer below. An access ordered
//! after one of them is ordered after everything before that one. A later write of the same value hides
//! nothing new.
//!
//! A copy that hides something is not tracked this way ([`HiddenValue::MayDiffer`]): the result is left open for an
//! access that is unordered with it and writes the same. That errs towards `unknown`.
//!
//! **Changes of earlier epochs.** Once all threads have passed a common barrier, updates and equal writes are ordered
//! before everything and need no comparison. To a bulk copy, however, they are visible only after a fence of their
//! threads or of its own ([`super::visible`]). They stay until a write hides them. The last one of each
//! thread is enough: a fence that makes it visible makes the thread's earlier ones visible too.

use super::{AccessOrder, Cell, mark};
use crate::entry::{Entry, HiddenValue, Lists};
use crate::lanes::Mask;
use crate::shadow::{Access, MemoryEffect, SameValue};

impl Cell {
    /// Puts aside the writes that `entry` hides. `before` is the last write, unless it is past. Returns the field
    /// `hides` for `entry`.
    #[inline]
    pub(super) fn hide(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, before): (&Entry, Option<Entry>),
    ) -> HiddenValue {
        let past = self.history_is_past(order);
        if before.is_none() && (past || self.marks & mark::UNORDERED_WRITES == 0) {
            lists.free(std::mem::take(&mut self.aside));
            return HiddenValue::Nothing;
        }
        self.hide_layer(lists, order, access, (entry, before))
    }

    /// `hide` for a cell with history: puts aside the writes that `entry` hides, unless they cannot matter.
    fn hide_layer(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, before): (&Entry, Option<Entry>),
    ) -> HiddenValue {
        if let Some(aside) = lists.get_mut(self.aside) {
            aside.retain(|one| one.hidden);
        }
        // A write of the same value with another width is not excused.
        let mixed = before.is_some_and(|before| before.extent != entry.extent);
        let same_time = !mixed && before.is_some_and(|before| before.is_same_time(entry));
        let last_hides = before.map_or(HiddenValue::Nothing, |before| before.hides);
        let same_value = match access.same_value {
            SameValue::Equal if mixed => SameValue::Undecided,
            same_value => same_value,
        };
        match same_value {
            SameValue::Equal if same_time || last_hides == HiddenValue::Nothing => {
                // Anything past is ordered before everything, and so are the accesses before it.
                if before.is_none() {
                    self.put_aside(lists, &[]);
                }
                last_hides
            }
            SameValue::Equal => {
                self.put_aside(lists, before.as_slice());
                HiddenValue::Nothing
            }
            SameValue::Different if same_time => HiddenValue::Differs,
            SameValue::Undecided if same_time => HiddenValue::MayDiffer,
            SameValue::Different | SameValue::Undecided if entry.is_copy => {
                self.put_aside(lists, &[]);
                HiddenValue::MayDiffer
            }
            SameValue::Different | SameValue::Undecided => {
                let (single, several);
                let layer = match self.marks & mark::UNORDERED_WRITES {
                    // The history has no writes. This is frequent, so it allocates nothing.
                    0 => {
                        single = hidden_last(order, access, (entry, before));
                        single.as_slice()
                    }
                    _ => {
                        several = self.layer(lists, order, access, (entry, before));
                        &several[..]
                    }
                };
                if before.is_none() || !layer.is_empty() {
                    self.put_aside(lists, layer);
                }
                HiddenValue::Nothing
            }
        }
    }

    /// Collects the writes that a write of another value hides: the last write and those that it did not
    /// hide. Writes not ordered before it that may write the same value stay in place.
    fn layer(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, before): (&Entry, Option<Entry>),
    ) -> Vec<Entry> {
        let differs = access.same_value == SameValue::Different;
        let past = self.history_is_past(order);
        let kept = (!past).then(|| self.history(lists)).into_iter().flatten();
        let kept = kept.filter(|one| one.kind == MemoryEffect::Write && one.lanes != Mask::NONE);
        let last = hidden_last(order, access, (entry, before));
        let kept = kept.map(|one| match one.hides {
            HiddenValue::Nothing if differs => Entry { hides: HiddenValue::Differs, ..*one },
            _ => *one,
        });
        let who = entry.who();
        let hidden = |one: &Entry| differs || order.unordered(one, who).is_none();
        last.into_iter().chain(kept.filter(hidden)).collect()
    }

    /// Keeps these writes as hidden and drops everything else that was aside.
    fn put_aside(&mut self, lists: &mut Lists, hidden: &[Entry]) {
        lists.free(std::mem::take(&mut self.aside));
        for one in hidden {
            let hides = match one.hides {
                HiddenValue::Nothing => HiddenValue::MayDiffer,
                hides => hides,
            };
            self.add_aside(lists, Entry { hides, hidden: true, ..*one });
        }
    }

    fn add_aside(&mut self, lists: &mut Lists, entry: Entry) {
        match lists.get_mut(self.aside) {
            Some(aside) => aside.push(entry),
            None => self.aside = lists.add(entry),
        }
    }

    /// Drops the reads and updates of a past epoch. Changes that the last write does not hide are put aside.
    pub(super) fn retire(&mut self, lists: &mut Lists) {
        let first = std::mem::take(&mut self.first);
        let list = std::mem::take(&mut self.list);
        let is_change = |one: &Entry| {
            one.kind != MemoryEffect::Read
                && !one.hidden
                && !one.is_async
                && one.lanes != Mask::NONE
        };
        let all = std::iter::once(&first).chain(lists.get(list));
        let changes: Vec<Entry> = all.filter(|one| is_change(one)).copied().collect();
        lists.free(list);
        for change in changes {
            if let Some(aside) = lists.get_mut(self.aside) {
                let earlier = |one: &&mut Entry| {
                    !one.hidden
                        && !one.is_copy
                        && one.warp == change.warp
                        && one.time <= change.time
                };
                for one in aside.iter_mut().filter(earlier) {
                    one.lanes = one.lanes.without(change.lanes);
                }
                aside.retain(|one| one.lanes != Mask::NONE);
            }
            self.add_aside(lists, change);
        }
    }
}

/// Returns the last write, if a write hides it: all of a [layer](Cell::layer) if the history has no writes.
fn hidden_last(
    order: AccessOrder<'_>,
    access: &Access,
    (entry, before): (&Entry, Option<Entry>),
) -> Option<Entry> {
    let differs = access.same_value == SameValue::Different;
    let last = before.map(|before| match differs {
        true => Entry { hides: HiddenValue::Differs, ..before },
        false => before,
    });
    last.filter(|last| differs || order.unordered(last, entry.who()).is_none())
}
