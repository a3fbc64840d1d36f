//! Append-only lists of products, in runs taken from a paged arena.
//!
//! An accumulator of a kernel is such a list. Appending to a sum that ends where its list ends extends the list in
//! place; the older, shorter sums stay valid. Eight bytes a product, no reallocation: the arena grows by pages, so
//! its peak is its size. The accumulators of a warp's lanes are lists that grow together; [`group`] appends to all of
//! them at once.

mod group;

use crate::{Factors, ListId, Sum};
use group::Group;
pub use group::LANES;
pub(crate) use group::all_below;

/// Slots of a page. A run never crosses a page.
const PAGE: usize = 1 << 16;
/// Slots of the largest run; the number divides [`PAGE`]. The last slot links to the next run.
const LARGEST_RUN: u32 = 256;
const SMALLEST_RUN: u32 = 4;
/// Slots before they are filled; copying many at once is faster than writing each.
static EMPTY: [Factors; 1024] = [Factors::link(0); 1024];

/// All lists of a store.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Each with room for [`PAGE`] slots, filled as runs are taken: unused memory is never touched.
    pages: Vec<Vec<Factors>>,
    /// First unused slot of the last page, counted over all pages.
    free: u32,
    lists: Vec<List>,
    groups: Vec<Group>,
}

/// A list of products.
#[derive(Clone, Copy, Debug)]
struct List {
    first_run: u32,
    /// [`IN_GROUP`] while the list grows in a group, which has its length.
    length: u32,
    /// The next slot to write, and how many are left before the link slot.
    next: u32,
    left: u32,
    /// Size of the last run, to size the one after it.
    run: u32,
    /// The shortest prefix with a partial operation below it.
    partial_from: u32,
    /// The last prefix turned into a node, and that node: sealing twice costs nothing.
    sealed: (u32, u32),
    /// The group it grows in, if its length says so.
    group: u32,
}

/// The length of a list that grows in a group. No sum is as long, so appending to one list alone fails its first test
/// and need not look for a group.
const IN_GROUP: u32 = u32::MAX;

impl Sums {
    /// Starts a list with one product.
    pub(crate) fn start(&mut self, first: Factors, partial: bool) -> Sum {
        let run = self.take_run(SMALLEST_RUN);
        self.lists.push(List {
            first_run: run,
            length: 0,
            next: run,
            left: SMALLEST_RUN - 1,
            run: SMALLEST_RUN,
            partial_from: u32::MAX,
            sealed: (0, 0),
            group: 0,
        });
        let list = ListId((self.lists.len() - 1) as u32);
        self.push(list, first, partial);
        Sum { list, length: 1 }
    }

    /// Appends if `sum` is all of its list; `None` if the list has grown past it in another way.
    #[inline]
    pub(crate) fn append(&mut self, sum: Sum, factors: Factors, partial: bool) -> Option<Sum> {
        if self.lists[sum.list.0 as usize].length != sum.length || sum.length == u32::MAX {
            return self.append_elsewhere(sum, factors, partial);
        }
        self.push(sum.list, factors, partial);
        Some(Sum { list: sum.list, length: sum.length + 1 })
    }

    /// Appends to a list that grows in a group, or finds that the product was appended before.
    #[cold]
    fn append_elsewhere(&mut self, sum: Sum, factors: Factors, partial: bool) -> Option<Sum> {
        let (length, next) = self.end(sum.list);
        if length == sum.length && length < IN_GROUP - 1 {
            self.leave_group(sum.list);
            self.push(sum.list, factors, partial);
            return Some(Sum { list: sum.list, length: length + 1 });
        }
        // Lanes of a warp may append the same product.
        let slot = (next as usize).checked_sub(1)?;
        let same = sum.length.checked_add(1) == Some(length)
            && self.pages[slot / PAGE][slot % PAGE] == factors;
        same.then_some(Sum { list: sum.list, length })
    }

    /// Appends products of total factors if `sum` is all of its list; `None` otherwise.
    pub(crate) fn extend(
        &mut self,
        sum: Sum,
        mut products: impl ExactSizeIterator<Item = Factors>,
    ) -> Option<Sum> {
        let id = sum.list;
        let mut rest = u32::try_from(products.len()).ok()?;
        let length = sum.length.checked_add(rest).filter(|&length| length < IN_GROUP)?;
        if self.lists[id.0 as usize].length != sum.length {
            return None;
        }
        while rest > 0 {
            if self.lists[id.0 as usize].left == 0 {
                self.add_run(id);
            }
            let list = &mut self.lists[id.0 as usize];
            let (slot, count) = (list.next as usize, list.left.min(rest));
            list.next += count;
            list.left -= count;
            list.length += count;
            rest -= count;
            let slots = &mut self.pages[slot / PAGE][slot % PAGE..][..count as usize];
            slots.iter_mut().zip(&mut products).for_each(|(slot, factors)| *slot = factors);
        }
        Some(Sum { list: id, length })
    }

    /// Returns the products of a sum, as slices in order.
    pub(crate) fn runs(&self, sum: Sum) -> Runs<'_> {
        Runs {
            sums: self,
            run: self.lists[sum.list.0 as usize].first_run,
            size: SMALLEST_RUN,
            left: sum.length,
        }
    }

    pub(crate) fn is_partial(&self, sum: Sum) -> bool {
        sum.length >= self.lists[sum.list.0 as usize].partial_from
    }

    /// Returns the node of a sum, if it is the last one of its list that was turned into a node.
    pub(crate) fn sealed(&self, sum: Sum) -> Option<u32> {
        let (length, node) = self.lists[sum.list.0 as usize].sealed;
        (length == sum.length).then_some(node)
    }

    pub(crate) fn seal(&mut self, sum: Sum, node: u32) {
        self.lists[sum.list.0 as usize].sealed = (sum.length, node);
    }

    #[inline]
    fn push(&mut self, id: ListId, factors: Factors, partial: bool) {
        if self.lists[id.0 as usize].left == 0 {
            self.add_run(id);
        }
        let list = &mut self.lists[id.0 as usize];
        let slot = list.next as usize;
        list.next += 1;
        list.left -= 1;
        list.length += 1;
        if partial {
            list.partial_from = list.partial_from.min(list.length);
        }
        self.pages[slot / PAGE][slot % PAGE] = factors;
    }

    /// Takes another run for a list, and links it to the last one.
    #[cold]
    fn add_run(&mut self, id: ListId) {
        let list = self.lists[id.0 as usize];
        let size = (list.run * 4).min(LARGEST_RUN);
        let run = self.take_run(size);
        self.write(list.next, Factors::link(run));
        let list = &mut self.lists[id.0 as usize];
        (list.next, list.left, list.run) = (run, size - 1, size);
    }

    fn write(&mut self, slot: u32, factors: Factors) {
        let slot = slot as usize;
        self.pages[slot / PAGE][slot % PAGE] = factors;
    }

    /// The bytes of all products, taken runs included.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.free as usize * size_of::<Factors>()
    }

    /// Takes a run of unused slots. `size` is a power of two no larger than a page.
    fn take_run(&mut self, size: u32) -> u32 {
        let end_of_page = (self.pages.len() * PAGE) as u64;
        let mut start = self.free;
        if u64::from(start) + u64::from(size) > end_of_page {
            assert!(end_of_page < u64::from(u32::MAX) - PAGE as u64, "more than 2^32 products");
            start = end_of_page as u32;
            self.pages.push(Vec::with_capacity(PAGE));
        }
        self.free = start + size;
        let used = (start + size) as usize - (self.pages.len() - 1) * PAGE;
        if let Some(page) = self.pages.last_mut() {
            while page.len() < used {
                page.extend_from_slice(&EMPTY[..EMPTY.len().min(used - page.len())]);
            }
        }
        start
    }
}

/// Iterates over a sum's products, a run at a time.
pub(crate) struct Runs<'a> {
    sums: &'a Sums,
    run: u32,
    size: u32,
    left: u32,
}

impl<'a> Iterator for Runs<'a> {
    type Item = &'a [Factors];

    fn next(&mut self) -> Option<&'a [Factors]> {
        if self.left == 0 {
            return None;
        }
        let start = self.run as usize;
        let used = self.left.min(self.size - 1) as usize;
        let page = &self.sums.pages[start / PAGE];
        let slots = &page[start % PAGE..];
        self.left -= used as u32;
        if self.left > 0 {
            self.run = slots[used].linked();
            self.size = (self.size * 4).min(LARGEST_RUN);
        }
        Some(&slots[..used])
    }
}
