//! Storage for the values of registers of one kind.

use crate::lanes::{Mask, WARP};

/// Values of the registers of one kind, with one spare slot. A result is computed into the spare slot, which
/// is then swapped with the old value. So results are never copied, and an operation may overwrite its own
/// operand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool<T> {
    /// The last one is spare.
    words: Vec<Box<Row<T>>>,
}

/// A value for each lane, aligned for vector instructions.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Row<T>([T; WARP]);

impl<T: Copy + Default> Default for Row<T> {
    fn default() -> Self {
        Self([T::default(); WARP])
    }
}

impl<T: Copy + Default> Pool<T> {
    pub(crate) fn new(count: u32) -> Self {
        Self { words: vec![Box::default(); count as usize + 1] }
    }

    #[inline]
    pub(crate) fn get(&self, word: u32) -> &[T; WARP] {
        &self.words[word as usize].0
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, word: u32) -> &mut [T; WARP] {
        &mut self.words[word as usize].0
    }

    /// Sets some lanes of a word.
    #[inline]
    pub(crate) fn blend(&mut self, word: u32, values: &[T; WARP], lanes: Mask) {
        let old = self.get_mut(word);
        if lanes == Mask::ALL {
            return *old = *values;
        }
        lanes.iter().for_each(|lane| old[lane] = values[lane]);
    }

    /// Runs `action` on words, or buffers where there is no word, with the spare slot for the result.
    #[inline(always)]
    pub(crate) fn compute<const N: usize>(
        &mut self,
        sources: [Option<u32>; N],
        buffers: &[[T; WARP]; 3],
        action: impl FnOnce(&mut [T; WARP], [&[T; WARP]; N]),
    ) {
        let Some((spare, words)) = self.words.split_last_mut() else { return };
        let mut operands = buffers.each_ref();
        // A plain loop: other forms go through memory here.
        for position in 0..N {
            if let Some(word) = sources[position] {
                operands[position] = &words[word as usize].0;
            }
        }
        let Some(operands) = operands.first_chunk() else { return };
        action(&mut spare.0, *operands);
    }

    /// Like [`compute`](Self::compute), from words alone.
    #[inline(always)]
    pub(crate) fn compute_words<const N: usize>(
        &mut self,
        sources: [u32; N],
        action: impl FnOnce(&mut [T; WARP], [&[T; WARP]; N]),
    ) {
        let Some((spare, words)) = self.words.split_last_mut() else { return };
        action(&mut spare.0, sources.map(|source| &words[source as usize].0));
    }

    /// Makes the contents of the spare slot the value of a word.
    #[inline]
    pub(crate) fn adopt(&mut self, word: u32, lanes: Mask) {
        let Some((spare, words)) = self.words.split_last_mut() else { return };
        let old = &mut words[word as usize];
        if lanes == Mask::ALL {
            return std::mem::swap(old, spare);
        }
        lanes.iter().for_each(|lane| old.0[lane] = spare.0[lane]);
    }

    /// The latest result, before a word adopts it.
    #[inline]
    pub(crate) fn computed(&self) -> Option<&[T; WARP]> {
        self.words.last().map(|spare| &spare.0)
    }
}
