//! The two headline comparisons, timed: `cargo run --release -p decide --example headline`.
//!
//! Terms are built the way kernels build them: one fused multiply-add at a time, all accumulators in turn, nothing
//! shared that a kernel would not share. Prints seconds to build and to decide (wall clock, and processor time where
//! the system reports it), the peak memory of the process, and the exponent of the cost over four sizes.

#[path = "support/measure.rs"]
mod measure;

use decide::{Budget, Decision, Problem, Rung, decide};
use measure::{peak_megabytes, processor_seconds, slope};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;
use term::{Inputs, Term, Terms};

/// Order in which the optimised side adds its products.
#[derive(Clone, Copy, PartialEq)]
enum Shuffle {
    /// Tiles of 16 from the last to the first, as tiled kernels do.
    Tiles,
    /// No order at all, the worst for sorting.
    Random,
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let only = std::env::args().nth(1);
    let wants = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wants("products") {
        let sizes = [512, 1024, 2048, 4096];
        report(&mut out, "products, tiles reversed", &sizes, |k| products(64, k, Shuffle::Tiles))?;
    }
    if wants("shuffled") {
        let sizes = [512, 1024, 2048, 4096];
        report(&mut out, "products, random order", &sizes, |k| products(64, k, Shuffle::Random))?;
    }
    if wants("attention") {
        let sizes = [64, 128, 256, 512];
        report(&mut out, "attention 16x64, blocks", &sizes, |keys| attention(16, 64, keys, 64))?;
    }
    if wants("steps") {
        let sizes = [64, 128, 256, 512];
        report(&mut out, "attention 16x64, key by key", &sizes, |keys| attention(16, 64, keys, 1))?;
    }
    writeln!(out, "peak memory of the process: {} MB", peak_megabytes())
}

struct Timing {
    outputs: usize,
    build: f64,
    decide: f64,
    processor: f64,
    rung: Option<Rung>,
}

fn report(
    out: &mut impl Write,
    title: &str,
    sizes: &[u32],
    run: impl Fn(u32) -> Timing,
) -> io::Result<()> {
    let mut points = Vec::new();
    for size in sizes {
        let timing = run(*size);
        points.push((f64::from(*size).ln(), timing.decide.ln()));
        writeln!(
            out,
            "{title}: size {size:5}, {} outputs: build {:.3} s, decide {:.3} s ({:.2} s of processor) by {}, peak {} MB",
            timing.outputs,
            timing.build,
            timing.decide,
            timing.processor,
            timing.rung.map_or_else(|| "nothing".to_owned(), |rung| rung.to_string()),
            peak_megabytes(),
        )?;
        out.flush()?;
    }
    writeln!(out, "{title}: cost grows with size to the power {:.2}", slope(&points))
}

fn judge(reference: &Terms, optimised: &Terms, pairs: &[(Term, Term)], started: Instant) -> Timing {
    let build = started.elapsed().as_secs_f64();
    let problem = Problem { reference, optimised, assumptions: &[] };
    let (started, before) = (Instant::now(), processor_seconds());
    let answers = decide(&problem, pairs, &Budget::default());
    let (decide, processor) = (started.elapsed().as_secs_f64(), processor_seconds() - before);
    let failed = answers.iter().find(|answer| !answer.is_equal());
    assert!(failed.is_none(), "not proved: {failed:?}");
    let rung = answers.first().and_then(Decision::rung);
    Timing { outputs: pairs.len(), build, decide, processor, rung }
}

/// Compares `side × side` outputs, each a sum of `k` products.
fn products(side: u32, k: u32, shuffle: Shuffle) -> Timing {
    let started = Instant::now();
    let mut inputs = Inputs::new();
    let a = inputs.tensor("a", side * k).expect("fits").position();
    let b = inputs.tensor("b", k * side).expect("fits").position();
    let inputs = Arc::new(inputs);
    let element = |terms: &Terms, at: usize| terms.input(inputs.at(at).expect("in range"));
    let build = |order: &[u32]| {
        let mut terms = Terms::new(Arc::clone(&inputs));
        let zero = terms.integer(0);
        let mut sums = vec![zero; (side * side) as usize];
        for l in order {
            for i in 0..side {
                let left = element(&terms, a + (i * k + l) as usize);
                for j in 0..side {
                    let right = element(&terms, b + (l * side + j) as usize);
                    let sum = &mut sums[(i * side + j) as usize];
                    *sum = terms.fused_multiply_add(left, right, *sum);
                }
            }
        }
        (terms, sums)
    };
    let forward: Vec<u32> = (0..k).collect();
    let mut other: Vec<u32> = match shuffle {
        Shuffle::Tiles => forward.chunks(16).rev().flatten().copied().collect(),
        Shuffle::Random => forward.clone(),
    };
    if shuffle == Shuffle::Random {
        other.sort_by_key(|index| index.wrapping_mul(2_654_435_761));
    }
    let (reference, left) = build(&forward);
    let (optimised, right) = build(&other);
    let pairs: Vec<(Term, Term)> = left.into_iter().zip(right).collect();
    judge(&reference, &optimised, &pairs, started)
}

/// Compares naive attention with an online one that rescales every `block` keys.
fn attention(rows: u32, width: u32, keys: u32, block: u32) -> Timing {
    let started = Instant::now();
    let mut inputs = Inputs::new();
    let q = inputs.tensor("q", rows * width).expect("fits").position();
    let k = inputs.tensor("k", keys * width).expect("fits").position();
    let v = inputs.tensor("v", keys * width).expect("fits").position();
    let inputs = Arc::new(inputs);
    let shape = Shape { inputs: Arc::clone(&inputs), q, k, v, width, keys };
    let mut reference = Terms::new(Arc::clone(&inputs));
    let mut optimised = Terms::new(inputs);
    let mut pairs = Vec::new();
    for row in 0..rows {
        let left = naive_row(&mut reference, &shape, row);
        let right = online_row(&mut optimised, &shape, row, block);
        pairs.extend(left.into_iter().zip(right));
    }
    judge(&reference, &optimised, &pairs, started)
}

struct Shape {
    inputs: Arc<Inputs>,
    q: usize,
    k: usize,
    v: usize,
    width: u32,
    keys: u32,
}

impl Shape {
    fn at(&self, terms: &Terms, base: usize, row: u32, column: u32) -> Term {
        let position = base + (row * self.width + column) as usize;
        terms.input(self.inputs.at(position).expect("in range"))
    }

    fn score(&self, terms: &mut Terms, row: u32, key: u32) -> Term {
        let mut sum = terms.integer(0);
        for column in 0..self.width {
            let (q, k) = (self.at(terms, self.q, row, column), self.at(terms, self.k, key, column));
            sum = terms.fused_multiply_add(q, k, sum);
        }
        let scale = terms.constant(term::Number::dyadic(1, -3));
        terms.multiply(sum, scale)
    }
}

fn naive_row(terms: &mut Terms, shape: &Shape, row: u32) -> Vec<Term> {
    let scores: Vec<Term> = (0..shape.keys).map(|key| shape.score(terms, row, key)).collect();
    let mut largest = terms.infinity(true);
    for score in &scores {
        largest = terms.maximum(largest, *score);
    }
    let mut total = terms.integer(0);
    let mut weights = Vec::new();
    for score in &scores {
        let gap = terms.subtract(*score, largest);
        let weight = terms.exp(gap);
        total = terms.add(total, weight);
        weights.push(weight);
    }
    (0..shape.width)
        .map(|column| {
            let mut sum = terms.integer(0);
            for (key, weight) in (0..).zip(&weights) {
                let value = shape.at(terms, shape.v, key, column);
                sum = terms.fused_multiply_add(*weight, value, sum);
            }
            terms.divide(sum, total)
        })
        .collect()
}

fn online_row(terms: &mut Terms, shape: &Shape, row: u32, block: u32) -> Vec<Term> {
    let zero = terms.integer(0);
    let mut largest = terms.infinity(true);
    let mut total = zero;
    let mut sums = vec![zero; shape.width as usize];
    for first in (0..shape.keys).step_by(block as usize) {
        let keys = first..(first + block).min(shape.keys);
        let scores: Vec<Term> = keys.clone().map(|key| shape.score(terms, row, key)).collect();
        let mut next = largest;
        for score in &scores {
            next = terms.maximum(next, *score);
        }
        let gap = terms.subtract(largest, next);
        let correction = terms.exp(gap);
        largest = next;
        total = terms.multiply(total, correction);
        for sum in &mut sums {
            *sum = terms.multiply(*sum, correction);
        }
        for (key, score) in keys.zip(scores) {
            let gap = terms.subtract(score, largest);
            let weight = terms.exp(gap);
            total = terms.add(total, weight);
            for (column, sum) in (0..).zip(&mut sums) {
                let value = shape.at(terms, shape.v, key, column);
                *sum = terms.fused_multiply_add(weight, value, *sum);
            }
        }
    }
    let one = terms.integer(1);
    let inverse = terms.divide(one, total);
    sums.into_iter().map(|sum| terms.multiply(sum, inverse)).collect()
}
