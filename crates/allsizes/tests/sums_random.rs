//! Sums and maxima of a range in random ways: unrolled, split, dealt out, backwards, in tiles, most with an
//! off-by-one number. The number of uses of each element is counted for all small ranges; kernels proved equal must
//! use the same elements.

mod support;

use allsizes::{Options, Verdict};
use std::collections::BTreeSet;
use support::kernel;
use testing::Random;

/// Ranges to count: `0 ≤ k < n` for these `n`.
const LENGTHS: std::ops::Range<i128> = 1..25;

/// A way to traverse a range.
#[derive(Clone, Copy, Debug)]
enum Way {
    Whole,
    /// From the end.
    Backwards,
    /// Up to a split point, then from there.
    Halves,
    /// One residue class after the other.
    Residues(i128),
    /// This many elements at a time, then the rest.
    Unrolled(i128),
    /// Tiles of this size, with a guard.
    Tiles(i128),
}

/// A way to traverse a range, and offsets for its last start and its last end.
#[derive(Clone, Copy, Debug)]
struct Walk {
    way: Way,
    start: i128,
    end: i128,
}

impl Walk {
    fn draw(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let way = random.pick(&[
            Way::Whole,
            Way::Backwards,
            Way::Halves,
            Way::Residues(count),
            Way::Unrolled(count),
            Way::Tiles(count),
        ]);
        let off = |random: &mut Random| if random.below(4) == 0 { 1 } else { 0 };
        Self { way, start: off(random), end: off(random) }
    }

    fn text(self, take: &str) -> String {
        let (s, e) = (self.start, self.end);
        match self.way {
            Way::Whole => format!("for (int k = {s}; k < n + {e}; k++) {{ {take} }}"),
            Way::Backwards => format!("for (int k = n - 1 + {e}; k >= {s}; k--) {{ {take} }}"),
            Way::Halves => format!(
                "int h = n/2; for (int k = 0; k < h; k++) {{ {take} }} for (int k = h + {s}; k < n + {e}; k++) {{ {take} }}"
            ),
            Way::Residues(count) => {
                let each = (0..count).map(|at| {
                    let last = at + 1 == count;
                    let (s, e) = if last { (at + s, e) } else { (at, 0) };
                    format!("for (int k = {s}; k < n + {e}; k += {count}) {{ {take} }} ")
                });
                each.collect()
            }
            Way::Unrolled(count) => {
                let each = (0..count).map(|at| take.replace("[k]", &format!("[k + {at}]")));
                let each: String = each.collect();
                format!(
                    "int k = 0; for (; k + {} < n; k += {count}) {{ {each} }} for (k += {s}; k < n + {e}; k++) {{ {take} }}",
                    count - 1
                )
            }
            Way::Tiles(size) => format!(
                "for (int m = 0; m < n; m += {size}) for (int j = {s}; j < {size}; j++) {{ int k = m + j; if (k < n + {e}) {{ {take} }} }}"
            ),
        }
    }

    /// The elements used, in order.
    fn taken(self, n: i128) -> Vec<i128> {
        let (s, e) = (self.start, self.end);
        match self.way {
            Way::Whole => (s..n + e).collect(),
            Way::Backwards => (s..n + e).rev().collect(),
            Way::Halves => (0..n / 2).chain(n / 2 + s..n + e).collect(),
            Way::Residues(count) => {
                let before = (0..count - 1).flat_map(|at| (at..n).step_by(count as usize));
                before.chain((count - 1 + s..n + e).step_by(count as usize)).collect()
            }
            Way::Unrolled(count) => {
                (0..n / count * count).chain(n / count * count + s..n + e).collect()
            }
            Way::Tiles(size) => {
                let all = (0..n).step_by(size as usize).flat_map(|m| (m + s)..(m + size));
                all.filter(|k| *k < n + e).collect()
            }
        }
    }
}

/// The operation that combines elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Sum,
    Weighted,
    Max,
}

impl Fold {
    fn kernel(self, walk: Walk) -> String {
        let (start, take) = match self {
            Self::Sum => ("0.0f", "a += x[k];"),
            Self::Weighted => ("0.0f", "a += 2.0f*x[k]*x[k];"),
            Self::Max => ("-INFINITY", "a = fmaxf(a, x[k]);"),
        };
        format!(
            "//@ extent x[n + 16], y[1];\n//@ requires n >= 1 && n <= 100000 && gridDim.x == 1 && blockDim.x == 1;\n\
             __global__ void k(const float* x, float* y, int n) {{\nfloat a = {start};\n{}\ny[0] = a;\n}}",
            walk.text(take)
        )
    }

    /// Returns `true` if two walks combine the same elements. For a maximum the number of uses does not matter.
    fn is_same(self, one: Walk, two: Walk) -> bool {
        LENGTHS.into_iter().all(|n| {
            let [mut one, mut two] = [one, two].map(|walk| walk.taken(n));
            if self == Self::Max {
                let [one, two] = [one, two].map(BTreeSet::from_iter);
                return one == two;
            }
            one.sort_unstable();
            two.sort_unstable();
            one == two
        })
    }
}

#[test]
fn sums_proved_equal_take_the_same_elements() {
    let mut random = Random::new(31);
    let (mut same, mut proved, mut different) = (0, 0, 0);
    let count = if std::env::var_os("WARPPROOF_FULL").is_some() { 1000 } else { 60 };
    for _ in 0..count {
        let fold = random.pick(&[Fold::Sum, Fold::Weighted, Fold::Max]);
        let walks = [Walk::draw(&mut random), Walk::draw(&mut random)];
        let texts = walks.map(|walk| fold.kernel(walk));
        let [one, two] = [kernel(&texts[0]), kernel(&texts[1])];
        let options = Options { infers: true, suggests: false };
        let compared = allsizes::compare([&one, &two], None, options).expect("a pair").0;
        let is_same = fold.is_same(walks[0], walks[1]);
        assert!(!compared.contradiction, "{walks:?}\n{texts:#?}");
        let (is_proved, is_refuted) =
            (compared.verdict == Verdict::Proved, compared.verdict == Verdict::Refuted);
        assert!(is_same || !is_proved, "wrongly proved: {fold:?} {walks:?}");
        assert!(!is_same || !is_refuted, "wrongly refuted: {fold:?} {walks:?}");
        same += usize::from(is_same);
        proved += usize::from(is_proved);
        different += usize::from(!is_same);
    }
    assert!(different * 4 > count && proved * 10 >= same * 9, "{proved} of {same}, {different}");
}
