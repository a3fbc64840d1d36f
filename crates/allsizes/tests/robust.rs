//! Sources of the corpus with random damage. Each is read or refused, in time and without a panic.

use std::time::{Duration, Instant};
use testing::{Random, corpus::files_in};

/// Number of damaged sources.
const CASES: u64 = 10_000;
/// One in this many of the readable sources is also proved and run.
const PROVED: u64 = 20;

/// Pieces to insert.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "<",
    ">",
    "=",
    "==>",
    "//@ ",
    "/*@",
    "@*/",
    "#define T ",
    "#if 1\n",
    "\\forall int i; ",
    "__syncthreads();",
    "return;",
    "break;",
    "continue;",
    "if (threadIdx.x) ",
    "while (1) ",
    "for (;;) ",
    "0xffffffffffffffff",
    "1e999f",
    "-",
    "~",
    "<<",
    "%",
    "/ 0",
    "struct S { int x; } ",
    "float4 ",
    "template <int N> ",
    "auto ",
    "extern __shared__ ",
    "__shfl_xor_sync(~0u, 1, 1)",
    "\u{e9}",
    "\"",
    "'",
    "\\\n",
    "->",
    "::",
    "requires ",
    "extent ",
    "loop invariant ",
    "i",
    "n",
    "x",
    "0",
    "1",
    "2147483647",
    "T(",
    "atomicAdd(&",
];

fn sources() -> Vec<String> {
    let mut files = files_in("corpus/param", "cu");
    files.extend(files_in("corpus/param/users", "cu"));
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).expect("a kernel")).collect()
}

/// A random position between two characters.
fn place(random: &mut Random, text: &str) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn spoilt(random: &mut Random, sources: &[String]) -> String {
    let mut text = sources[random.below(sources.len())].clone();
    for _ in 0..1 + random.below(3) {
        let (one, other) = (place(random, &text), place(random, &text));
        let (start, end) = (one.min(other), one.max(other));
        match random.below(5) {
            0 => text.replace_range(start..end.min(place_after(&text, start, 12)), ""),
            1 => {
                let piece = text[start..end.min(place_after(&text, start, 30))].to_owned();
                text.insert_str(start, &piece);
            }
            2 => {
                let source = &sources[random.below(sources.len())];
                let from = place(random, source);
                let piece = source[from..place_after(source, from, 40)].to_owned();
                text.insert_str(start, &piece);
            }
            _ => text.insert_str(start, PIECES[random.below(PIECES.len())]),
        }
    }
    text
}

fn place_after(text: &str, from: usize, most: usize) -> usize {
    let mut at = (from + most).min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[test]
fn spoilt_sources_are_read_or_refused() {
    let sources = sources();
    let mut random = Random::new(3);
    let (mut read, mut refused, mut proved) = (0, 0, 0);
    for case in 0..CASES {
        let text = spoilt(&mut random, &sources);
        let start = Instant::now();
        let kernels = cuda_front::kernels(&text);
        assert!(start.elapsed() < Duration::from_secs(5), "case {case} takes too long:\n{text}");
        let good = kernels.map(|all| all.into_iter().find_map(|(_, kernel)| kernel.ok()));
        match good {
            Ok(Some(kernel)) => {
                read += 1;
                if read % PROVED == 0 {
                    let options = allsizes::Options { infers: true, suggests: false };
                    let (answer, _) = allsizes::prove(&kernel, None, options);
                    assert!(answer.contradiction.is_none(), "case {case}:\n{text}");
                    proved += 1;
                }
            }
            _ => refused += 1,
        }
    }
    assert!(read > 300 && refused > 1000 && proved > 15, "{read} {refused} {proved}");
}
