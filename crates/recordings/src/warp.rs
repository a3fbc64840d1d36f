//! Draws inputs of warp instructions, a warp at a time.
//!
//! Every lane takes part under one of two complementary masks, so that partial masks occur without undefined
//! behaviour. A shuffle must not read a lane outside its mask. So partial masks consist of whole segments,
//! and lane operands stay inside a segment.

use crate::kind::InputKind;
use testing::Random;

/// Threads of a warp.
pub(crate) const LANES: usize = 32;

/// Choices shared by the lanes of a warp.
struct Plan {
    /// The lanes of the first group; the others are the second.
    group: u32,
    /// Lanes of a segment, a power of two.
    segment: u32,
    /// Set if all lanes are in the first group.
    whole: bool,
}

/// The operands of the lanes of one warp: a vector for each lane.
pub(crate) fn warp_vectors(random: &mut Random, kinds: &[InputKind]) -> Vec<Vec<u64>> {
    let plan = Plan::draw(random, kinds.contains(&InputKind::ShuffleControl));
    let columns: Vec<Vec<u64>> = kinds.iter().map(|&kind| plan.column(random, kind)).collect();
    (0..LANES).map(|lane| columns.iter().map(|column| column[lane]).collect()).collect()
}

impl Plan {
    fn draw(random: &mut Random, shuffles: bool) -> Self {
        let is_whole_warp = random.once_in(2);
        let segment = 1 << random.below(if is_whole_warp { 6 } else { 5 });
        let mut group = random.bits() as u32;
        if shuffles {
            // The first lane of a segment decides for all of it.
            let decides = |lane: u32| group >> (lane / segment * segment) & 1;
            group = (0..32).fold(0, |mask, lane| mask | decides(lane) << lane);
        }
        Self { group, segment, whole: is_whole_warp }
    }

    fn column(&self, random: &mut Random, kind: InputKind) -> Vec<u64> {
        let uniform = random.once_in(2);
        let shared = self.value(random, kind);
        let odd_lane = random.below(LANES);
        let has_odd_lane = random.once_in(3);
        let mut column: Vec<u64> = (0..LANES)
            .map(|lane| match kind {
                InputKind::Mask => self.mask(lane),
                _ if uniform => shared,
                _ => self.value(random, kind),
            })
            .collect();
        if uniform && has_odd_lane && kind != InputKind::Mask && kind != InputKind::ShuffleControl {
            column[odd_lane] = self.value(random, kind);
        }
        column
    }

    fn mask(&self, lane: usize) -> u64 {
        let group = if self.whole { u32::MAX } else { self.group };
        u64::from(if group >> lane & 1 == 1 { group } else { !group })
    }

    fn value(&self, random: &mut Random, kind: InputKind) -> u64 {
        match kind {
            InputKind::ShuffleLane if !self.whole => random.below(u64::from(self.segment)),
            InputKind::ShuffleLane if random.once_in(4) => random.bits() & 0xffff_ffff,
            InputKind::ShuffleControl => self.control(random),
            InputKind::WarpPredicate => random.below(2),
            InputKind::WarpValue { bits } => {
                // Few values, so that lanes agree often; they differ in a low or in a high bit.
                let value = random.pick(&[0, 1, 1 << (bits - 1), u64::MAX]);
                value & (u64::MAX >> (64 - bits))
            }
            _ => {
                // The number of a quarter, which selects special, edge or any values.
                let quarter = random.below(4);
                crate::sample::vector(random, &[kind], quarter, 4).first().copied().unwrap_or(0)
            }
        }
    }

    /// Draws operand `c` of a shuffle: segment mask in bits 8 to 12, clamp in bits 0 to 4.
    fn control(&self, random: &mut Random) -> u64 {
        let segments = u64::from(!(self.segment - 1) & 31);
        let segments = if self.whole && random.once_in(4) { random.below(32) } else { segments };
        let clamp = match random.below(5) {
            0 | 1 => 31,
            2 | 3 => 0,
            _ => random.below(32),
        };
        segments << 8 | clamp
    }
}
