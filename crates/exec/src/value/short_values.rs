//! Words of values that fill the low bytes of a unit alone, with zeros above.
//!
//! Every result in half precision is such a value, so a record of each would be most of a run's memory. Values are
//! dense in a few ranges far apart: a page of consecutive values of one sort gets a page of consecutive words, and
//! both directions are one addition.

use super::unit::Sort;
use crate::handle::{Handle, Value};
use crate::lanes::{Narrow, WARP};

/// Values of a page; it divides [`crate::handle::LIMIT`], so a page has domain values or aliases, never both.
const PAGE: u32 = 1 << 12;

/// The words of all values, by sort.
#[derive(Debug, Default)]
pub(crate) struct ShortValues {
    /// By sort and page of values: the number of the page of words plus one; 0 for none.
    known: [Vec<u32>; Sort::COUNT],
    /// The values behind each page of words.
    pages: Vec<Page>,
}

/// The values of consecutive words.
#[derive(Debug)]
struct Page {
    sort: Sort,
    first: Value,
    /// The values that are now behind the words, once [`ShortValues::replace`] has changed some.
    replaced: Option<Box<[Value]>>,
}

impl ShortValues {
    /// Returns the word of a value; 0 if there are no more words.
    #[inline]
    pub(crate) fn word(&mut self, value: Value, sort: Sort) -> u32 {
        let known = self.known[sort as usize].get((value / PAGE) as usize);
        match known.copied().unwrap_or(0).checked_sub(1) {
            Some(page) => word(page, value % PAGE),
            None => self.add(value, sort),
        }
    }

    #[cold]
    fn add(&mut self, value: Value, sort: Sort) -> u32 {
        let (page, position) = (self.pages.len() as u32, (value / PAGE) as usize);
        let first = word(page, 0);
        if first == 0 {
            return 0;
        }
        self.pages.push(Page { sort, first: value - value % PAGE, replaced: None });
        let known = &mut self.known[sort as usize];
        if known.len() <= position {
            known.resize(position + 1, 0);
        }
        known[position] = page + 1;
        first + value % PAGE
    }

    /// Returns the value behind a word.
    #[inline]
    pub(crate) fn find(&self, word: u32) -> Option<(Value, Sort)> {
        let position = Handle(word).short_value()?;
        let page = self.pages.get((position / PAGE) as usize)?;
        let (sort, offset) = (page.sort, position % PAGE);
        Some(match &page.replaced {
            None => (page.first + offset, sort),
            Some(values) => (values[offset as usize], sort),
        })
    }

    /// Finds the values behind the words of all lanes. Returns `false` unless all are of this sort. Lanes often share a
    /// page.
    pub(crate) fn find_all(&self, words: &Narrow, sort: Sort, out: &mut Narrow) -> bool {
        let mut lane = 0;
        while lane < WARP {
            let Some(position) = Handle(words[lane]).short_value() else { return false };
            let number = position / PAGE;
            let page = match self.pages.get(number as usize) {
                Some(page) if page.sort == sort && page.replaced.is_none() => page,
                _ => return false,
            };
            // Words and values of a page are consecutive.
            let (start, change) = (word(number, 0), page.first.wrapping_sub(word(number, 0)));
            // A single pass without early exit can use vector instructions.
            let distances = words.iter().fold(0, |all, word| all | word.wrapping_sub(start));
            if lane == 0 && distances < PAGE {
                for (out, word) in out.iter_mut().zip(words) {
                    *out = word.wrapping_add(change);
                }
                return true;
            }
            while lane < WARP && words[lane].wrapping_sub(start) < PAGE {
                out[lane] = words[lane].wrapping_add(change);
                lane += 1;
            }
        }
        true
    }

    /// Replaces the aliases behind the existing words by other values. From then on, every value gets a new word.
    pub(crate) fn replace(&mut self, with: impl Fn(Value) -> Value) {
        self.known = Default::default();
        for page in self.pages.iter_mut().filter(|page| Handle(page.first).is_alias()) {
            let original = page.first..page.first + PAGE;
            let values = match page.replaced.take() {
                None => original.map(&with).collect(),
                Some(values) => values.iter().map(|&value| with(value)).collect(),
            };
            page.replaced = Some(values);
        }
    }
}

/// The word at an offset of a page; 0 if there are fewer pages.
#[inline]
fn word(page: u32, offset: u32) -> u32 {
    let position = page.checked_mul(PAGE).map(|first| first + offset);
    position.and_then(Handle::of_short_value).map_or(0, |handle| handle.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::LIMIT;

    /// Some values: dense ones, the ends of pages, the last value of a domain.
    const VALUES: [Value; 8] =
        [1, 2, PAGE - 1, PAGE, 3 * PAGE + 7, 1 << 30, (1 << 30) + 1, LIMIT - 1];
    const SORTS: [Sort; 3] = [Sort::F16, Sort::Bf16, Sort::I8];

    #[test]
    fn words_and_values_belong_together() {
        let mut short_values = ShortValues::default();
        let mut words = Vec::new();
        for value in VALUES {
            for sort in SORTS {
                let word = short_values.word(value, sort);
                assert!(Handle(word).is_unit());
                assert_eq!(short_values.find(word), Some((value, sort)));
                assert_eq!(short_values.word(value, sort), word);
                words.push(word);
            }
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), VALUES.len() * SORTS.len());
    }

    /// Of all lanes at once the values are those of single lanes, whether the lanes share a page or not.
    #[test]
    fn words_of_a_warp_have_the_values_of_its_lanes() {
        let mut short_values = ShortValues::default();
        let mut random = testing::Random::new(1);
        for round in 0..200 {
            let first = [1, PAGE - 5, 7 * PAGE, 1 << 30][round % 4];
            let stride = [0, 1, 3, PAGE][round / 4 % 4];
            let sorts = if round % 5 == 0 { 2 } else { 1 };
            let words: Narrow = std::array::from_fn(|lane| {
                let value = first + lane as u32 * stride + random.below(2_u32);
                short_values.word(value, SORTS[random.below(sorts)])
            });
            let each = words.map(|word| short_values.find(word));
            let same = each.iter().all(|one| one.map(|one| one.1) == Some(SORTS[0]));
            let values = same.then(|| each.map(|one| one.map_or(0, |one| one.0)));
            let mut found = [0; WARP];
            let is_found = short_values.find_all(&words, SORTS[0], &mut found);
            assert_eq!(is_found.then_some(found), values);
        }
        let mut words = [short_values.word(1, Sort::F16); WARP];
        words[31] = 5;
        assert!(!short_values.find_all(&words, Sort::F16, &mut [0; WARP]));
    }

    #[test]
    fn other_words_have_no_value_here() {
        let mut short_values = ShortValues::default();
        let word = short_values.word(1, Sort::F16);
        for other in [0, 1, LIMIT, 1 << 31, word + PAGE, u32::MAX] {
            assert_eq!(short_values.find(other), None);
        }
        assert_eq!(super::word(u32::MAX / PAGE, 0), 0);
    }

    #[test]
    fn aliases_are_replaced_behind_their_words() {
        let mut short_values = ShortValues::default();
        let [one, alias] = [5, LIMIT + 5].map(|value| short_values.word(value, Sort::F16));
        short_values.replace(|value| if value == LIMIT + 5 { 77 } else { value });
        assert_eq!(short_values.find(one), Some((5, Sort::F16)));
        assert_eq!(short_values.find(alias), Some((77, Sort::F16)));
        assert_eq!(short_values.find(alias + 1), Some((LIMIT + 6, Sort::F16)));
        // A new alias of the same number is another value.
        let new = short_values.word(LIMIT + 5, Sort::F16);
        assert_ne!(new, alias);
        assert_eq!(short_values.find(new), Some((LIMIT + 5, Sort::F16)));
    }
}
