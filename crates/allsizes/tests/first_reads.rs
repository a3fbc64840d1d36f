//! Tests the property `initialised`: random stores and reads of shared and local memory, enumerated for small launches.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use std::collections::BTreeSet;
use support::kernel;
use testing::Random;

/// Threads of a block that are counted.
const THREADS: std::ops::Range<i128> = 1..14;

/// Returns the verdict on initialised reads.
fn verdict(text: &str) -> Option<Verdict> {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), None, options);
    assert!(answer.contradiction.is_none(), "{text}");
    let own = answer.properties.iter().find(|one| one.property == Property::Initialised)?;
    Some(own.verdict)
}

/// The elements that a thread accesses.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Its own, moved by a number, if that is below the size.
    Moved(i128),
    /// Every second one.
    Spread(i128),
    /// From the end.
    Reversed(i128),
    /// Its own and each one so many threads further on.
    Strided(i128),
    /// As many side by side.
    Chunk(i128),
}

impl Way {
    fn draw(random: &mut Random) -> Self {
        let number = random.below(3);
        random.pick(&[
            Self::Moved(number),
            Self::Spread(number),
            Self::Reversed(number),
            Self::Strided(number),
            Self::Chunk(number + 1),
        ])
    }

    /// A loop in which `k` is each element of thread `t`; there are `2*T + 2`.
    fn text(self, body: &str) -> String {
        match self {
            Self::Moved(by) => format!("{{ int k = t + {by}; {body} }}"),
            Self::Spread(by) => {
                format!("{{ int k = 2*t + {by}; if (k < 2*blockDim.x + 2) {{ {body} }} }}")
            }
            Self::Reversed(by) => format!("if (t >= {by}) {{ int k = blockDim.x - t; {body} }}"),
            Self::Strided(by) => {
                format!(
                    "for (int k = t + {by}; k < 2*blockDim.x + 2; k += blockDim.x) {{ {body} }}"
                )
            }
            Self::Chunk(size) => {
                format!(
                    "for (int k = t*{size}; k < min(t*{size} + {size}, 2*blockDim.x + 2); k++) {{ {body} }}"
                )
            }
        }
    }

    fn elements(self, t: i128, threads: i128) -> Vec<i128> {
        let end = 2 * threads + 2;
        match self {
            Self::Moved(by) => vec![t + by],
            Self::Spread(by) => Some(2 * t + by).filter(|one| *one < end).into_iter().collect(),
            Self::Reversed(by) => Some(threads - t).filter(|_| t >= by).into_iter().collect(),
            Self::Strided(by) => {
                (0..).map(|one| t + by + one * threads).take_while(|one| *one < end).collect()
            }
            Self::Chunk(size) => (t * size..(t * size + size).min(end)).collect(),
        }
    }
}

/// Threads that take part: those from `low` on, but not the last `high`.
#[derive(Clone, Copy, Debug)]
struct Guard {
    low: i128,
    high: i128,
}

impl Guard {
    fn draw(random: &mut Random) -> Self {
        let mut some = || if random.below(3) == 0 { random.below(3) } else { 0 };
        Self { low: some(), high: some() }
    }

    fn holds(self, t: i128, threads: i128) -> bool {
        t >= self.low && t + self.high < threads
    }
}

#[test]
fn elements_proved_stored_are_stored() {
    let mut random = Random::new(20);
    let (mut proved, mut wrong) = (0, 0);
    for _ in 0..150 {
        let stores: Vec<(Way, Guard)> = (0..1 + random.below(3))
            .map(|_| (Way::draw(&mut random), Guard::draw(&mut random)))
            .collect();
        let (way, guard) = (Way::draw(&mut random), Guard::draw(&mut random));
        let guarded = |guard: Guard, text: String| {
            format!("if (t >= {} && t + {} < blockDim.x) {{ {text} }}\n", guard.low, guard.high)
        };
        let mut text = String::from(
            "//@ extent s[2*blockDim.x + 2], y[blockDim.x];\n//@ requires blockDim.x <= 1000;\n\
             __global__ void k(float *y) {\nextern __shared__ float s[];\nint t = threadIdx.x;\nfloat a = 0.0f;\n",
        );
        for (way, guard) in &stores {
            text.push_str(&guarded(*guard, way.text("s[k] = 1.0f;")));
            text.push_str("__syncthreads();\n");
        }
        text.push_str(&guarded(guard, way.text("a += s[k];")));
        text.push_str("y[t] = a;\n}\n");
        let is_stored = THREADS.clone().all(|threads| {
            let of = |way: Way, guard: Guard| -> BTreeSet<i128> {
                let taking_part = (0..threads).filter(|t| guard.holds(*t, threads));
                taking_part.flat_map(|t| way.elements(t, threads)).collect()
            };
            let stored: BTreeSet<i128> =
                stores.iter().flat_map(|(way, guard)| of(*way, *guard)).collect();
            of(way, guard).is_subset(&stored)
        });
        let verdict = verdict(&text);
        let shown = verdict == Some(Verdict::Proved);
        assert!(is_stored || !shown, "{text}");
        assert!(!is_stored || verdict != Some(Verdict::Refuted), "{text}");
        proved += usize::from(shown);
        wrong += usize::from(!is_stored);
    }
    assert!(proved >= 15 && wrong >= 15, "{proved} proved, {wrong} read what nobody stored");
}

#[test]
fn an_unstored_border_is_open() {
    let text = |edge: &str| {
        format!(
            "//@ extent s[blockDim.x + 1], x[blockDim.x], y[blockDim.x];
             __global__ void k(const float *x, float *y) {{
               extern __shared__ float s[];
               int t = threadIdx.x;
               s[t] = x[t];
               {edge}
               __syncthreads();
               y[t] = s[t] + s[t + 1];
             }}"
        )
    };
    assert_eq!(verdict(&text("")), Some(Verdict::Refuted));
    assert_eq!(verdict(&text("if (t == 0) s[blockDim.x] = 0.0f;")), Some(Verdict::Proved));
}

/// A loop whose condition is data may do no iteration at all.
#[test]
fn an_iteration_that_may_not_be_done_stores_nothing() {
    let text = "//@ extent s[blockDim.x], go[n], y[blockDim.x];
         //@ requires n >= 1 && n <= 100;
         __global__ void k(const int *go, float *y, int n) {
           extern __shared__ float s[];
           int t = threadIdx.x;
           int i = 0;
           int on = go[0];
           while (i < n && on > 0) { s[t] = 1.0f; on = go[i]; i++; }
           y[t] = s[t];
         }";
    assert_eq!(verdict(text), Some(Verdict::Refuted));
    let stored = text.replace("int i = 0;", "int i = 0; s[t] = 0.0f;");
    assert_ne!(verdict(&stored), Some(Verdict::Refuted));
}

/// An uninitialised value is not a fault as long as it affects no result.
#[test]
fn copied_but_unused_values_are_not_refuted() {
    let text = |stored: &str| {
        format!(
            "//@ extent s[2*blockDim.x], y[blockDim.x];
             __global__ void k(float *y) {{
               extern __shared__ float s[];
               int t = threadIdx.x;
               float a = s[t];
               s[blockDim.x + t] = a;
               __syncthreads();
               y[t] = {stored};
             }}"
        )
    };
    assert_eq!(verdict(&text("1.0f")), Some(Verdict::Unknown));
    assert_eq!(verdict(&text("t > 5000 ? s[blockDim.x + t] : 1.0f")), Some(Verdict::Unknown));
    assert_eq!(verdict(&text("s[blockDim.x + t]")), Some(Verdict::Refuted));
    assert_eq!(verdict(&text("s[blockDim.x + t] + 1.0f")), Some(Verdict::Refuted));
}

#[test]
fn global_memory_has_contents() {
    let text = "//@ extent x[blockDim.x], y[blockDim.x];
         __global__ void k(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }";
    assert_eq!(verdict(text), None);
}
