//! Indices that a loop advances while a guard holds, compared with all values of small parameters.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::kernel;
use testing::Random;

/// One thread per row, and an index that is carried through tiles of `S`.
fn tiles(guard: &str, inside: &str) -> String {
    format!(
        "//@ extent in[n*cols], out[cols];
         //@ requires n >= 1 && cols >= 1 && n*cols <= 1000000000 && gridDim.x*blockDim.x >= cols;
         //@ requires S >= 1 && S <= 1000000 && n <= 1000000 && cols <= 1000000;
         __global__ void k(const float* in, float* out, int n, int cols, int S) {{
           int c = blockIdx.x*blockDim.x + threadIdx.x;
           if (c < cols) {{
             float a = 0.0f;
             int at = c;
             for (int k = 0; k < n; k += S) for (int i = 0; i < S; i++) {{
               int j = k + i;
               if ({guard}) {{ {inside} }}
             }}
             out[c] = a;
           }}
         }}"
    )
}

fn compared(text: &str) -> Verdict {
    let reference = tiles("j < n", "a += in[j*cols + c];");
    let [one, two] = [kernel(&reference), kernel(text)];
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::compare([&one, &two], None, options).expect("a pair");
    assert!(!answer.contradiction, "{text}");
    answer.verdict
}

#[test]
fn an_index_is_carried_through_tiles() {
    assert_eq!(compared(&tiles("j < n", "a += in[at]; at += cols;")), Verdict::Proved);
    for (guard, inside) in [
        ("j < n", "at += cols; a += in[at];"),
        ("j < n", "a += in[at]; at += cols + 1;"),
        ("j <= n", "a += in[at]; at += cols;"),
        ("j < n - 1", "a += in[at]; at += cols;"),
        ("j < n && i != 1", "a += in[at]; at += cols;"),
        ("j < n", "a += in[at]; if (i != 1) at += cols;"),
    ] {
        let text = tiles(guard, inside);
        assert_ne!(compared(&text), Verdict::Proved, "{text}");
    }
}

/// Random guards of random growth: if an index is proved to be inside an array, it is so for all small parameters.
#[test]
fn an_index_stays_where_it_is_proved_to_be() {
    let mut random = Random::new(29);
    let (mut proved, mut tight) = (0, 0);
    for _ in 0..150 {
        let [first, step, times] = [0, 1, 1].map(|low| low + random.below(3));
        let (falls, shift) = (random.below(4) - 1, random.below(6) - 2);
        let compare = ["<", "<=", ">", "!="][random.below(4_usize)];
        let more = random.below(3);
        let end = |m: i128| {
            let mut p = first;
            for k in 0..times * 3 {
                let (left, right) = (falls * k, m + shift);
                let grows = match compare {
                    "<" => left < right,
                    "<=" => left <= right,
                    ">" => left > right,
                    _ => left != right,
                };
                p += if grows { step } else { more / 2 };
            }
            p
        };
        let greatest = (0..=5).map(end).max().unwrap();
        let size = greatest + random.below(3) - 1;
        let text = format!(
            "//@ extent a[{size}];
             //@ requires m >= 0 && m <= 5 && gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(float* a, int m) {{
               int p = {first};
               for (int k = 0; k < {times}*3; k++) {{
                 if ({falls}*k {compare} m + {shift}) p += {step}; else p += {};
               }}
               a[p] = 1.0f;
             }}",
            more / 2
        );
        if size < 1 {
            continue;
        }
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::prove(&kernel(&text), None, options);
        assert!(answer.contradiction.is_none(), "{text}");
        let own = answer.properties.iter().find(|one| one.property == Property::Bounds);
        let is_proved = own.is_some_and(|one| one.verdict == Verdict::Proved);
        assert!(!is_proved || greatest < size, "{text}: {greatest}");
        proved += usize::from(is_proved);
        tight += usize::from(is_proved && greatest + 1 == size);
    }
    assert!(proved > 10 && tight > 5, "{proved} {tight}");
}
