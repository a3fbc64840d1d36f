//! Words of values by value and sort: a table in pages, because every result of a half is looked up here.
//!
//! Domain handles are dense in a few ranges far apart, so pages are created on demand.

use super::unit::Sort;
use crate::handle::Value;

/// Values of a page.
const PAGE: usize = 1 << 12;

/// A word for values of each sort; 0 for none.
#[derive(Debug, Default)]
pub(crate) struct Wholes {
    /// By sort and page.
    pages: [Vec<Option<Box<[u32; PAGE]>>>; Sort::COUNT],
}

impl Wholes {
    /// Returns the word of a value.
    #[inline]
    pub(crate) fn get(&self, value: Value, sort: Sort) -> Option<u32> {
        let value = value as usize;
        let page = self.pages[sort as usize].get(value / PAGE)?.as_deref()?;
        Some(page[value % PAGE]).filter(|&word| word != 0)
    }

    /// Sets a word.
    #[inline]
    pub(crate) fn set(&mut self, value: Value, sort: Sort, word: u32) {
        let (pages, value) = (&mut self.pages[sort as usize], value as usize);
        if pages.len() <= value / PAGE {
            pages.resize(value / PAGE + 1, None);
        }
        pages[value / PAGE].get_or_insert_with(|| Box::new([0; PAGE]))[value % PAGE] = word;
    }

    /// Forgets all words.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::LIMIT;

    #[test]
    fn words_come_back() {
        let mut wholes = Wholes::default();
        let values = [1, 2, PAGE as u32, 3 * PAGE as u32 + 7, 1 << 30, LIMIT - 1];
        for (position, &value) in values.iter().enumerate() {
            wholes.set(value, Sort::F16, position as u32 + 1);
            wholes.set(value, Sort::I8, position as u32 + 100);
        }
        for (position, &value) in values.iter().enumerate() {
            assert_eq!(wholes.get(value, Sort::F16), Some(position as u32 + 1));
            assert_eq!(wholes.get(value, Sort::I8), Some(position as u32 + 100));
            assert_eq!(wholes.get(value, Sort::Bf16), None);
        }
        assert_eq!(wholes.get(3, Sort::F16), None);
        wholes.clear();
        assert_eq!(wholes.get(1, Sort::F16), None);
    }
}
