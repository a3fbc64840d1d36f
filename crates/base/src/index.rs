//! Tables addressed by their own index type, so that a block number cannot index registers.

use std::marker::PhantomData;
use std::ops;

/// An index into an [`IndexVec`]; made by [`crate::define_index!`].
pub trait Index: Copy {
    /// The `position`-th element.
    fn from_position(position: usize) -> Self;
    /// The position this index stands for.
    fn position(self) -> usize;
}

/// Defines 32-bit index types: `define_index! { /// Doc. pub struct Reg; }`.
#[macro_export]
macro_rules! define_index {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $crate::Index for $name {
            #[inline]
            fn from_position(position: usize) -> Self {
                Self(u32::try_from(position).expect("a table outgrew its 32-bit index"))
            }
            #[inline]
            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

/// A vector whose elements are addressed by `I` alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    index: PhantomData<fn(I)>,
}

impl<I: Index, T> IndexVec<I, T> {
    /// An empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self { items: Vec::new(), index: PhantomData }
    }

    /// Appends `item` and returns its index.
    pub fn push(&mut self, item: T) -> I {
        let index = self.next_index();
        self.items.push(item);
        index
    }

    /// The index the next [`push`](Self::push) will return.
    #[must_use]
    pub fn next_index(&self) -> I {
        I::from_position(self.items.len())
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns `true` if the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The element at `index`, if the table is that long.
    #[must_use]
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.position())
    }

    /// All elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All elements in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All elements with their indices, in order.
    pub fn enumerate(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(position, item)| (I::from_position(position), item))
    }

    /// All indices in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_position)
    }

    /// Drops every element from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }
}

impl<I: Index, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Index, T> ops::Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        &self.items[index.position()]
    }
}

impl<I: Index, T> ops::IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.position()]
    }
}

impl<I: Index, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self { items: iter.into_iter().collect(), index: PhantomData }
    }
}

impl<'a, I: Index, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
