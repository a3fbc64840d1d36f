//! Chains of transformations: first the launch of a base kernel, then loops and surface.

use crate::bases::Base;
use crate::draft::Draft;
use crate::nest::Kernel;
use crate::transform::{carried, chunks, launch, loops, matmul, staging, surface, transpose, tree};
use testing::Random;

/// The group and name of all transformations.
pub const TRANSFORMATIONS: [(&str, &str); 65] = [
    ("launch", "2d"),
    ("launch", "3d"),
    ("launch", "axis-to-loop"),
    ("launch", "block-and-threads"),
    ("launch", "block-each"),
    ("launch", "block-stride"),
    ("launch", "coarse"),
    ("launch", "dividing"),
    ("launch", "early-return"),
    ("launch", "exact"),
    ("launch", "flatten-2"),
    ("launch", "flatten-3"),
    ("launch", "grid-stride"),
    ("launch", "macro-block"),
    ("launch", "ragged"),
    ("launch", "reversed-blocks"),
    ("launch", "thread-each"),
    ("launch", "thread-stride"),
    ("loops", "accumulators"),
    ("loops", "backwards"),
    ("loops", "carried-index"),
    ("loops", "halves"),
    ("loops", "residues"),
    ("loops", "swap"),
    ("loops", "tile-dividing"),
    ("loops", "tile-guard"),
    ("loops", "tile-min"),
    ("loops", "tile-second-condition"),
    ("loops", "unroll-rest-before"),
    ("loops", "unroll-rest-behind"),
    ("memory", "chunks-of-operand"),
    ("memory", "double-buffer"),
    ("memory", "double-buffer-choice"),
    ("memory", "double-buffer-xor"),
    ("memory", "halo-by-edge-threads"),
    ("memory", "halo-by-extra-threads"),
    ("memory", "halo-by-loop"),
    ("memory", "matmul-tiles-dividing"),
    ("memory", "matmul-tiles-ragged"),
    ("memory", "pitch+1"),
    ("memory", "pitch-symbolic"),
    ("memory", "rows-of-tile-by-loop"),
    ("memory", "stage-tile"),
    ("memory", "transposed-tile"),
    ("memory", "triple-buffer"),
    ("reduction", "dealt-in-chunks"),
    ("reduction", "tree-consecutive"),
    ("reduction", "tree-halving"),
    ("reduction", "tree-interleaved"),
    ("reduction", "tree-rounding-up"),
    ("surface", "choices"),
    ("surface", "do"),
    ("surface", "if-for-choice"),
    ("surface", "index-helper"),
    ("surface", "index-temporary"),
    ("surface", "max-helper"),
    ("surface", "names"),
    ("surface", "redundant-guard"),
    ("surface", "remainder-by-quotient"),
    ("surface", "shifts"),
    ("surface", "statement-order"),
    ("surface", "swapped-products"),
    ("surface", "unsigned"),
    ("surface", "value-temporary"),
    ("surface", "while"),
];

/// The steps of a chain that are left out, as bits; step 0 is the launch. None by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped(pub u32);

impl Dropped {
    fn keeps(self, step: u32) -> bool {
        self.0 & (1 << step) == 0
    }
}

/// The number of steps of a chain, the launch included. A step that does not apply to the kernel changes nothing.
pub const STEPS: u32 = 13;

/// Applies one to five transformations drawn at random, except those that are dropped.
///
/// Each step draws from a stream of its own, so that dropping one changes the others as little as possible.
#[must_use]
pub fn draw(base: &Base, name: &str, random: &mut Random, dropped: Dropped) -> Kernel {
    let mut length = random.below(5_usize) + 1;
    let draft = Draft::new(base, name, random);
    let mut launch_random = Random::new(random.bits());
    let mut kernel = if dropped.keeps(0) {
        draw_launch(draft, base, &mut launch_random)
    } else {
        launch::plain(draft)
    };
    length -= usize::from(!kernel.applied.is_empty() || !dropped.keeps(0));
    for step in 1..STEPS {
        let mut step_random = Random::new(random.bits());
        if length == 0 {
            continue;
        }
        let mut changed = kernel.clone();
        if draw_step(&mut changed, &mut step_random) {
            length -= 1;
            if dropped.keeps(step) {
                kernel = changed;
            }
        }
    }
    surface::revert_unsigned(&mut kernel);
    kernel
}

/// Applies a transformation of a loop or of the surface; `false` if it does not apply.
fn draw_step(kernel: &mut Kernel, random: &mut Random) -> bool {
    match random.below(100) {
        0..45 => loops::draw(kernel, random),
        45..52 => carried::draw(kernel, random),
        _ => surface::draw(kernel, random),
    }
}

/// Gives a draft a launch: through shared memory or a tree where one of these applies, else without.
fn draw_launch(draft: Draft, base: &Base, random: &mut Random) -> Kernel {
    if random.chance(50) {
        let mut stagings = [0, 1, 2, 3, 4];
        random.shuffle(&mut stagings);
        for staging in stagings {
            let result = match staging {
                0 => staging::draw(&draft, base, random),
                1 => transpose::draw(&draft, base, random),
                2 => matmul::draw(&draft, base, random),
                3 => chunks::draw(&draft, random),
                _ => tree::draw(&draft, random),
            };
            if let Some(kernel) = result {
                return kernel;
            }
        }
    }
    if random.chance(20) { launch::plain(draft) } else { launch::draw(draft, random) }
}
