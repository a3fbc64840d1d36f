//! Room for the values of registers of one kind.

use crate::lanes::{Mask, WARP};

/// Values of the registers of one kind, and room for one more: a result is computed into the spare
/// room, which then changes places with the old value. So results are never copied, and an
/// operation may overwrite its own operand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool<T> {
    words: Vec<[T; WARP]>,
    /// Where each word of the layout currently is.
    places: Vec<u32>,
    /// Where there is room.
    spare: u32,
}

impl<T: Copy + Default> Pool<T> {
    pub(crate) fn new(count: u32) -> Self {
        Self {
            words: vec![[T::default(); WARP]; count as usize + 1],
            places: (0..count).collect(),
            spare: count,
        }
    }

    #[inline]
    pub(crate) fn get(&self, word: u32) -> &[T; WARP] {
        &self.words[self.places[word as usize] as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, word: u32) -> &mut [T; WARP] {
        &mut self.words[self.places[word as usize] as usize]
    }

    /// Lets `action` compute into the spare room from words, or buffers where there is no word.
    #[inline(always)]
    pub(crate) fn compute<const N: usize>(
        &mut self,
        sources: [Option<u32>; N],
        buffers: &[[T; WARP]; 3],
        action: impl FnOnce(&mut [T; WARP], [&[T; WARP]; N]),
    ) {
        let spare = self.spare as usize;
        let (below, rest) = self.words.split_at_mut(spare);
        let Some((result, above)) = rest.split_first_mut() else { return };
        let mut operands = buffers.each_ref();
        // A plain loop: anything else goes through memory here.
        for position in 0..N {
            if let Some(word) = sources[position] {
                let place = self.places[word as usize] as usize;
                operands[position] =
                    if place < spare { &below[place] } else { &above[place - spare - 1] };
            }
        }
        let Some(operands) = operands.first_chunk() else { return };
        action(result, *operands);
    }

    /// As [`compute`](Self::compute), from words alone.
    #[inline(always)]
    pub(crate) fn compute_words<const N: usize>(
        &mut self,
        sources: [u32; N],
        action: impl FnOnce(&mut [T; WARP], [&[T; WARP]; N]),
    ) {
        let spare = self.spare as usize;
        let (below, rest) = self.words.split_at_mut(spare);
        let Some((result, above)) = rest.split_first_mut() else { return };
        let operands = std::array::from_fn(|position| {
            let place = self.places[sources[position] as usize] as usize;
            if place < spare { &below[place] } else { &above[place - spare - 1] }
        });
        action(result, operands);
    }

    /// Makes what is in the spare room the value of a word.
    #[inline]
    pub(crate) fn adopt(&mut self, word: u32, lanes: Mask) {
        if lanes == Mask::ALL {
            return std::mem::swap(&mut self.places[word as usize], &mut self.spare);
        }
        let values = self.words[self.spare as usize];
        let old = self.get_mut(word);
        lanes.iter().for_each(|lane| old[lane] = values[lane]);
    }

    /// What was computed last and is nobody's value yet.
    #[inline]
    pub(crate) fn computed(&self) -> &[T; WARP] {
        &self.words[self.spare as usize]
    }
}
