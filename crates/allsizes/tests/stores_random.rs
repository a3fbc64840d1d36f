//! Elements of an array stored in random ways: one per thread, with strides, in chunks to either end, in tiles, from
//! the end, most with an off-by-one number. The stored elements are enumerated for small sizes and launches; kernels
//! proved equal must store the same ones.

mod support;

use allsizes::{Options, Verdict};
use std::collections::BTreeSet;
use support::kernel;
use testing::Random;

/// Sizes and numbers of threads to enumerate.
const LENGTHS: std::ops::Range<i128> = 1..20;
const MORE_THREADS: std::ops::Range<i128> = 0..4;

/// A way to store elements; numbers are elements per thread.
#[derive(Clone, Copy, Debug)]
enum Way {
    Each,
    Strided,
    Reversed,
    Chunk(i128),
    /// Backwards from the chunk's end.
    ChunkBack(i128),
    /// Tiles of this size; each thread stores one element of each.
    Tiles(i128),
    /// This many elements at a time, then the rest.
    Unrolled(i128),
}

/// A way to store elements, and offsets for its first and its last element.
#[derive(Clone, Copy, Debug)]
struct Stores {
    way: Way,
    start: i128,
    end: i128,
}

impl Stores {
    fn draw(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let way = random.pick(&[
            Way::Each,
            Way::Strided,
            Way::Reversed,
            Way::Chunk(count),
            Way::ChunkBack(count),
            Way::Tiles(count),
            Way::Unrolled(count),
        ]);
        let off = |random: &mut Random| if random.below(4) == 0 { 1 } else { 0 };
        Self { way, start: off(random), end: off(random) }
    }

    fn text(self) -> String {
        let (s, e) = (self.start, self.end);
        let store = "y[k] = 2.0f*x[k];";
        let body = match self.way {
            Way::Each => format!("int k = id + {s}; if (k < n + {e}) {{ {store} }}"),
            Way::Strided => {
                format!("for (int k = id + {s}; k < n + {e}; k += threads) {{ {store} }}")
            }
            Way::Reversed => format!("int k = n - 1 + {e} - id; if (k >= {s}) {{ {store} }}"),
            Way::Chunk(size) => format!(
                "for (int k = {size}*id + {s}; k < min({size}*id + {size}, n + {e}); k++) {{ {store} }}"
            ),
            Way::ChunkBack(size) => format!(
                "int first = {size}*id; for (int k = min(first + {size}, n + {e}) - 1; k >= first + {s}; k--) {{ {store} }}"
            ),
            Way::Tiles(size) => format!(
                "for (int m = {size}*id; m < n; m += {size}*threads) for (int j = {s}; j < {size}; j++) {{ int k = m + j; if (k < n + {e}) {{ {store} }} }}"
            ),
            Way::Unrolled(size) => {
                let each =
                    (0..size).map(|at| format!("y[{size}*k + {at}] = 2.0f*x[{size}*k + {at}];"));
                let each: String = each.collect();
                format!(
                    "for (int k = id; k < n/{size}; k += threads) {{ {each} }} for (int k = n/{size}*{size} + id + {s}; k < n + {e}; k += threads) {{ {store} }}"
                )
            }
        };
        format!(
            "//@ extent x[n + 16], y[n + 16];\n\
             //@ requires n >= 1 && n <= 100000 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 200000;\n\
             __global__ void k(const float* x, float* y, int n) {{\n\
             int id = blockIdx.x*blockDim.x + threadIdx.x; int threads = gridDim.x*blockDim.x;\n{body}\n}}"
        )
    }

    /// The elements that `threads` threads store.
    fn stored(self, n: i128, threads: i128) -> BTreeSet<i128> {
        let (s, e) = (self.start, self.end);
        let of = |id: i128| -> Vec<i128> {
            match self.way {
                Way::Each => (id + s..n + e).take(1).collect(),
                Way::Strided => (id + s..n + e).step_by(threads as usize).collect(),
                Way::Reversed => (s..n + e - id).rev().take(1).collect(),
                Way::Chunk(size) | Way::ChunkBack(size) => {
                    (size * id + s..(size * id + size).min(n + e)).collect()
                }
                Way::Tiles(size) => {
                    let tiles = (size * id..n).step_by((size * threads) as usize);
                    tiles.flat_map(|m| m + s..(m + size).min(n + e)).collect()
                }
                Way::Unrolled(size) => {
                    let whole = (id..n / size).step_by(threads as usize);
                    let rest = n / size * size + id + s..n + e;
                    let whole = whole.flat_map(|k| size * k..size * k + size);
                    whole.chain(rest.step_by(threads as usize)).collect()
                }
            }
        };
        (0..threads).flat_map(of).collect()
    }
}

#[test]
fn kernels_proved_equal_store_the_same_elements() {
    let mut random = Random::new(47);
    let (mut same, mut proved, mut different) = (0, 0, 0);
    let count = if std::env::var_os("WARPPROOF_FULL").is_some() { 400 } else { 40 };
    for _ in 0..count {
        let ways = [Stores::draw(&mut random), Stores::draw(&mut random)];
        let [one, two] = ways.map(|way| kernel(&way.text()));
        let options = Options { infers: true, suggests: false };
        let compared = allsizes::compare([&one, &two], None, options).expect("a pair").0;
        let is_same = LENGTHS.into_iter().all(|n| {
            MORE_THREADS.into_iter().all(|more| {
                let [one, two] = ways.map(|way| way.stored(n, n + more));
                one == two
            })
        });
        let (is_proved, is_refuted) =
            (compared.verdict == Verdict::Proved, compared.verdict == Verdict::Refuted);
        assert!(!compared.contradiction, "{ways:?}");
        assert!(is_same || !is_proved, "wrongly proved: {ways:?}");
        assert!(!is_same || !is_refuted, "wrongly refuted: {ways:?}");
        same += usize::from(is_same);
        proved += usize::from(is_proved);
        different += usize::from(!is_same);
    }
    assert!(different * 4 > count && proved * 10 >= same * 6, "{proved} of {same}, {different}");
}
