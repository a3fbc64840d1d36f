//! A sparse array: something for every few bytes of an allocation, of which most are never touched.
//!
//! A page whose elements are all the same may be kept as one of them: bulk copies fill and refill whole pages, and then what
//! happens to one element happens to all. It is spread out when somebody touches a single element.

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
    /// The number of each page and its elements: all of them, or one that stands for all.
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
        &mut self.each(index >> PAGE_BITS)[index as usize % PAGE]
    }

    /// All elements of a page, to be changed.
    #[inline]
    fn each(&mut self, page: u64) -> &mut [T] {
        let slot = self.slot(page);
        let elements = &mut self.pages[slot as usize - 1].1;
        if elements.len() == 1 {
            spread(elements);
        }
        elements
    }

    /// The element that stands for all of a page, to be changed; none if they may differ.
    pub(crate) fn common(&mut self, page: u64) -> Option<&mut T> {
        let slot = match self.known(page) {
            0 => self.touch(page, 1),
            slot => slot,
        };
        match &mut *self.pages[slot as usize - 1].1 {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Keeps one element for all of a touched page, which are the same.
    pub(crate) fn unite(&mut self, page: u64) {
        let slot = self.slot(page);
        let elements = &mut self.pages[slot as usize - 1].1;
        if let [first, _, ..] = &**elements {
            *elements = Box::from([first.clone()]);
        }
    }

    /// Where a page is, one more.
    #[inline]
    fn slot(&mut self, page: u64) -> u32 {
        match self.known(page) {
            0 => self.touch(page, PAGE),
            slot => slot,
        }
    }

    /// Where a page is, one more; zero if it was never touched.
    #[inline]
    fn known(&self, page: u64) -> u32 {
        match self.direct.get(page as usize) {
            Some(&slot) => slot,
            None => self.sparse.get(&page).copied().unwrap_or(0),
        }
    }

    /// Elements one after the other, to be changed, if they are on one page.
    #[inline]
    pub(crate) fn range(&mut self, index: u64, count: usize) -> Option<&mut [T]> {
        let position = index as usize % PAGE;
        if position + count > PAGE {
            return None;
        }
        Some(&mut self.each(index >> PAGE_BITS)[position..position + count])
    }

    /// An element as it is; none if its page was never touched.
    pub(crate) fn peek(&self, index: u64) -> Option<&T> {
        match self.elements(index >> PAGE_BITS)? {
            [one] => Some(one),
            elements => elements.get(index as usize % PAGE),
        }
    }

    /// The number of elements from `index` on that are a whole page, if it begins there.
    pub(crate) fn whole_page(index: u64, count: u64) -> Option<u64> {
        (index as usize).is_multiple_of(PAGE).then_some(PAGE as u64).filter(|page| *page <= count)
    }

    /// How many elements there are from `index` to the end of its page.
    pub(crate) fn to_page_end(index: u64) -> u64 {
        PAGE as u64 - index % PAGE as u64
    }

    /// The page of an element.
    pub(crate) fn page(index: u64) -> u64 {
        index >> PAGE_BITS
    }

    /// All elements of a page, or one that stands for all; none if it was never touched.
    pub(crate) fn elements(&self, page: u64) -> Option<&[T]> {
        let (_, elements) = self.pages.get((self.known(page) as usize).checked_sub(1)?)?;
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

    /// All elements of touched pages, with their index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.pages.iter().flat_map(|(page, elements)| {
            let each = (0..PAGE).map(move |at| if elements.len() == 1 { 0 } else { at });
            let index = move |at: usize| (page << PAGE_BITS) + at as u64;
            each.enumerate().map(move |(at, place)| (index(at), &elements[place]))
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

/// Spreads the one element of a page out.
#[cold]
fn spread<T: Clone>(elements: &mut Box<[T]>) {
    *elements = vec![elements[0].clone(); PAGE].into_boxed_slice();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that is kept as one element is seen as all of them, and spread out by a change of one.
    #[test]
    fn one_element_stands_for_a_page() {
        let mut pages: Pages<u32> = Pages::new(4 * PAGE as u64);
        let start = 2 * PAGE as u64;
        assert_eq!(Pages::<u32>::whole_page(start, 300), Some(256));
        assert_eq!(Pages::<u32>::whole_page(start, 255), None);
        assert_eq!(Pages::<u32>::whole_page(start + 1, 300), None);
        *pages.common(2).expect("nobody touched it") = 7;
        assert_eq!(pages.peek(start + 99), Some(&7));
        assert_eq!(pages.iter().map(|(index, one)| index * u64::from(*one)).sum::<u64>(), {
            (start..start + PAGE as u64).map(|index| 7 * index).sum()
        });
        *pages.get(start + 3) = 8;
        assert_eq!(pages.common(2), None);
        assert_eq!([3, 4].map(|at| pages.peek(start + at).copied()), [Some(8), Some(7)]);
        *pages.get(start + 3) = 7;
        pages.unite(2);
        assert_eq!(pages.common(2), Some(&mut 7));
        assert_eq!(pages.range(start + 254, 2), Some(&mut [7, 7][..]));
        assert_eq!(pages.common(2), None);
    }
}
