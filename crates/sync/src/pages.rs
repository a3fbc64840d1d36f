//! A sparse array with an element for every few bytes of an allocation. Most elements are never touched.
//!
//! A page of equal elements may be kept as a single one: bulk copies fill and refill whole pages, and then
//! all elements share their history. The page is expanded when a single element is accessed for a change.

use rustc_hash::FxHashMap;

/// The number of elements of a page.
const PAGE: usize = 256;
const PAGE_BITS: u32 = PAGE.trailing_zeros();

/// The largest number of pages that are found by their position; more are found by hashing.
const MAX_DIRECT: u64 = 1 << 20;

/// A sparse array; untouched elements have the default value.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T> {
    /// The position of each page plus one; zero if it was never touched.
    direct: Vec<u32>,
    /// Like `direct`, for large page numbers, including wrapped negative ones.
    sparse: FxHashMap<u64, u32>,
    /// The number of each page and its elements: all of them, or one that stands for all.
    pages: Vec<(u64, Box<[T]>)>,
}

impl<T: Clone + Default> Pages<T> {
    /// Creates an array for `length` elements. Larger indices work too, at some cost.
    pub(crate) fn new(length: u64) -> Self {
        let pages = length.div_ceil(PAGE as u64);
        let direct = if pages <= MAX_DIRECT { vec![0; pages as usize] } else { Vec::new() };
        Self { direct, sparse: FxHashMap::default(), pages: Vec::new() }
    }

    /// Returns an element for changes.
    #[inline]
    pub(crate) fn get(&mut self, index: u64) -> &mut T {
        &mut self.page_mut(index >> PAGE_BITS)[index as usize % PAGE]
    }

    /// Returns all elements of a page for changes.
    #[inline(always)]
    fn page_mut(&mut self, page: u64) -> &mut [T] {
        let slot = self.slot(page);
        let elements = &mut self.pages[slot as usize - 1].1;
        if elements.len() == 1 {
            expand(elements);
        }
        elements
    }

    /// Returns the element that stands for a whole page, for changes. `None` if the elements may differ.
    pub(crate) fn shared_element(&mut self, page: u64) -> Option<&mut T> {
        let slot = match self.slot_of(page) {
            0 => self.touch(page, 1),
            slot => slot,
        };
        match &mut *self.pages[slot as usize - 1].1 {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Keeps one element for a whole page of equal elements.
    pub(crate) fn collapse(&mut self, page: u64) {
        let slot = self.slot(page);
        let elements = &mut self.pages[slot as usize - 1].1;
        if let [first, _, ..] = &**elements {
            *elements = Box::from([first.clone()]);
        }
    }

    /// Returns the position of a page plus one, creating the page if necessary.
    #[inline]
    fn slot(&mut self, page: u64) -> u32 {
        match self.slot_of(page) {
            0 => self.touch(page, PAGE),
            slot => slot,
        }
    }

    /// Returns the position of a page plus one; zero if it was never touched.
    #[inline]
    fn slot_of(&self, page: u64) -> u32 {
        match self.direct.get(page as usize) {
            Some(&slot) => slot,
            None => self.sparse.get(&page).copied().unwrap_or(0),
        }
    }

    /// Returns consecutive elements for changes, if they are on one page.
    #[inline(always)]
    pub(crate) fn range(&mut self, index: u64, count: usize) -> Option<&mut [T]> {
        let position = index as usize % PAGE;
        if position + count > PAGE {
            return None;
        }
        Some(&mut self.page_mut(index >> PAGE_BITS)[position..position + count])
    }

    /// Returns an element; `None` if its page was never touched.
    pub(crate) fn peek(&self, index: u64) -> Option<&T> {
        match self.elements(index >> PAGE_BITS)? {
            [one] => Some(one),
            elements => elements.get(index as usize % PAGE),
        }
    }

    /// Returns the size of a page if one begins at `index` and lies within `count` elements.
    pub(crate) fn whole_page(index: u64, count: u64) -> Option<u64> {
        (index as usize).is_multiple_of(PAGE).then_some(PAGE as u64).filter(|page| *page <= count)
    }

    /// Returns the number of elements from `index` to the end of its page.
    pub(crate) fn to_page_end(index: u64) -> u64 {
        PAGE as u64 - index % PAGE as u64
    }

    /// Returns the number of an element's page.
    pub(crate) fn page(index: u64) -> u64 {
        index >> PAGE_BITS
    }

    /// Returns all elements of a page, or the one that stands for all; `None` if it was never touched.
    pub(crate) fn elements(&self, page: u64) -> Option<&[T]> {
        let (_, elements) = self.pages.get((self.slot_of(page) as usize).checked_sub(1)?)?;
        Some(elements)
    }

    /// Returns `true` if no page was touched.
    pub(crate) fn is_untouched(&self) -> bool {
        self.pages.is_empty()
    }

    /// Prepares an untouched array for at least `length` elements.
    pub(crate) fn make_room(&mut self, length: u64) {
        let pages = length.div_ceil(PAGE as u64);
        if self.is_untouched() && pages <= MAX_DIRECT && pages > self.direct.len() as u64 {
            self.direct.resize(pages as usize, 0);
        }
    }

    /// Creates a page of this many elements, and returns its position plus one.
    #[cold]
    fn touch(&mut self, page: u64, elements: usize) -> u32 {
        self.pages.push((page, vec![T::default(); elements].into_boxed_slice()));
        let slot = self.pages.len() as u32;
        match self.direct.get_mut(page as usize) {
            Some(entry) => *entry = slot,
            None => {
                self.sparse.insert(page, slot);
            }
        }
        slot
    }

    /// Iterates over all elements of touched pages, with their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.pages.iter().flat_map(|(page, elements)| {
            let each = (0..PAGE).map(move |at| if elements.len() == 1 { 0 } else { at });
            let index = move |at: usize| (page << PAGE_BITS) + at as u64;
            each.enumerate().map(move |(at, place)| (index(at), &elements[place]))
        })
    }

    /// Resets all elements.
    pub(crate) fn clear(&mut self) {
        for (page, _) in self.pages.drain(..) {
            if let Some(entry) = self.direct.get_mut(page as usize) {
                *entry = 0;
            }
        }
        self.sparse.clear();
    }
}

/// Expands a page kept as one element.
#[cold]
fn expand<T: Clone>(elements: &mut Box<[T]>) {
    *elements = vec![elements[0].clone(); PAGE].into_boxed_slice();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page kept as one element has the elements of a full page; a change of one element expands it.
    #[test]
    fn one_element_stands_for_a_page() {
        let mut pages: Pages<u32> = Pages::new(4 * PAGE as u64);
        let start = 2 * PAGE as u64;
        assert_eq!(Pages::<u32>::whole_page(start, 300), Some(256));
        assert_eq!(Pages::<u32>::whole_page(start, 255), None);
        assert_eq!(Pages::<u32>::whole_page(start + 1, 300), None);
        *pages.shared_element(2).expect("the page is untouched") = 7;
        assert_eq!(pages.peek(start + 99), Some(&7));
        assert_eq!(pages.iter().map(|(index, one)| index * u64::from(*one)).sum::<u64>(), {
            (start..start + PAGE as u64).map(|index| 7 * index).sum()
        });
        *pages.get(start + 3) = 8;
        assert_eq!(pages.shared_element(2), None);
        assert_eq!([3, 4].map(|at| pages.peek(start + at).copied()), [Some(8), Some(7)]);
        *pages.get(start + 3) = 7;
        pages.collapse(2);
        assert_eq!(pages.shared_element(2), Some(&mut 7));
        assert_eq!(pages.range(start + 254, 2), Some(&mut [7, 7][..]));
        assert_eq!(pages.shared_element(2), None);
    }
}
