//! A sparse array: something for every few bytes of an allocation, of which most are never touched.

use rustc_hash::FxHashMap;

/// Elements of a page.
const PAGE: usize = 256;
const PAGE_BITS: u32 = PAGE.trailing_zeros();

/// Allocations with at most this many pages find them by position.
const MOST_DIRECT: u64 = 1 << 20;

/// A sparse array of elements that are as by default until touched.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T> {
    /// Where each page is, one more; zero if it was never touched.
    direct: Vec<u32>,
    /// The same where pages have large or odd numbers.
    sparse: FxHashMap<u64, u32>,
    pages: Vec<(u64, Box<[T]>)>,
}

impl<T: Clone + Default> Pages<T> {
    /// An array for `length` elements; more are possible, at some cost.
    pub(crate) fn new(length: u64) -> Self {
        let pages = length.div_ceil(PAGE as u64);
        let direct = if pages <= MOST_DIRECT { vec![0; pages as usize] } else { Vec::new() };
        Self { direct, sparse: FxHashMap::default(), pages: Vec::new() }
    }

    /// An element, to be changed.
    #[inline]
    pub(crate) fn get(&mut self, index: u64) -> &mut T {
        let slot = self.slot(index >> PAGE_BITS);
        &mut self.pages[slot as usize - 1].1[index as usize % PAGE]
    }

    /// Where a page is, one more.
    #[inline]
    fn slot(&mut self, page: u64) -> u32 {
        let slot = match self.direct.get(page as usize) {
            Some(&slot) => slot,
            None => self.sparse.get(&page).copied().unwrap_or(0),
        };
        if slot == 0 { self.touch(page) } else { slot }
    }

    /// Elements one after the other, to be changed, if they are on one page.
    #[inline]
    pub(crate) fn range(&mut self, index: u64, count: usize) -> Option<&mut [T]> {
        let position = index as usize % PAGE;
        if position + count > PAGE {
            return None;
        }
        let slot = self.slot(index >> PAGE_BITS);
        Some(&mut self.pages[slot as usize - 1].1[position..position + count])
    }

    /// An element as it is; none if its page was never touched.
    pub(crate) fn peek(&self, index: u64) -> Option<&T> {
        let page = index >> PAGE_BITS;
        let slot = match self.direct.get(page as usize) {
            Some(&slot) => slot,
            None => self.sparse.get(&page).copied().unwrap_or(0),
        };
        let (_, elements) = self.pages.get((slot as usize).checked_sub(1)?)?;
        elements.get(index as usize % PAGE)
    }

    /// The page of an element.
    pub(crate) fn page(index: u64) -> u64 {
        index >> PAGE_BITS
    }

    /// All elements of a page; none if it was never touched.
    pub(crate) fn elements(&self, page: u64) -> Option<&[T]> {
        let slot = match self.direct.get(page as usize) {
            Some(&slot) => slot,
            None => self.sparse.get(&page).copied().unwrap_or(0),
        };
        let (_, elements) = self.pages.get((slot as usize).checked_sub(1)?)?;
        Some(elements)
    }

    /// Whether no page was touched.
    pub(crate) fn is_untouched(&self) -> bool {
        self.pages.is_empty()
    }

    /// Makes an untouched array one for at least `length` elements.
    pub(crate) fn make_room(&mut self, length: u64) {
        let pages = length.div_ceil(PAGE as u64);
        if self.is_untouched() && pages <= MOST_DIRECT && pages > self.direct.len() as u64 {
            self.direct.resize(pages as usize, 0);
        }
    }

    #[cold]
    fn touch(&mut self, page: u64) -> u32 {
        self.pages.push((page, vec![T::default(); PAGE].into_boxed_slice()));
        let slot = self.pages.len() as u32;
        match self.direct.get_mut(page as usize) {
            Some(entry) => *entry = slot,
            None => {
                self.sparse.insert(page, slot);
            }
        }
        slot
    }

    /// All elements of touched pages, with their index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.pages.iter().flat_map(|(page, elements)| {
            elements.iter().enumerate().map(move |(at, one)| ((page << PAGE_BITS) + at as u64, one))
        })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        for (page, _) in self.pages.drain(..) {
            if let Some(entry) = self.direct.get_mut(page as usize) {
                *entry = 0;
            }
        }
        self.sparse.clear();
    }
}
