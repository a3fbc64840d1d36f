//! A matrix product 64×64×4096 built the way an interpreter of warps builds it, and decided: `cargo run --release -p
//! decide --example warp [K]`.
//!
//! Registers hold a term for each of 32 lanes; a load copies a term; one instruction is a fused multiply-add in 32
//! lanes. The naive kernel has a lane for each output. The tiled one has 16 outputs a lane, tiles of 16 in shared
//! memory, and adds each tile's sum to a total. Prints time and memory of each side and of the comparison, of the
//! same with an epilogue, of finding one wrong output, and of deciding the rows as they finish on another thread.

#[path = "support/measure.rs"]
mod measure;

use decide::{Budget, Decision, Problem, decide};
use measure::{peak_megabytes, processor_seconds};
use std::io::{self, Write};
use std::sync::{Arc, mpsc};
use std::time::Instant;
use term::{Input, Inputs, Term, Terms};

const SIDE: u32 = 64;
const LANES: usize = 32;
const TILE: u32 = 16;

/// A register of a warp.
type Register = [Term; LANES];

/// Inputs and size of the product.
struct Launch {
    inputs: Arc<Inputs>,
    a: Input,
    b: Input,
    depth: u32,
}

impl Launch {
    fn new(depth: u32) -> Self {
        let mut inputs = Inputs::new();
        let a = inputs.tensor("a", SIDE * depth).expect("fits");
        let b = inputs.tensor("b", depth * SIDE).expect("fits");
        inputs.tensor("c", SIDE * SIDE).expect("fits");
        inputs.scalar("alpha").expect("fits");
        Self { inputs: Arc::new(inputs), a, b, depth }
    }

    fn load(&self, terms: &Terms, tensor: Input, index: u32) -> Term {
        let position = tensor.position() + index as usize;
        terms.input(self.inputs.at(position).expect("in range"))
    }

    /// Builds the rows `rows` of the product, one output a lane.
    fn naive(&self, rows: std::ops::Range<u32>) -> (Terms, Vec<Term>) {
        let mut terms = Terms::new(Arc::clone(&self.inputs));
        let mut outputs = Vec::new();
        for row in rows {
            for first in (0..SIDE).step_by(LANES) {
                let mut sum: Register = [terms.zero(); LANES];
                for k in 0..self.depth {
                    let a = [self.load(&terms, self.a, row * self.depth + k); LANES];
                    let column = |lane| k * SIDE + first + lane as u32;
                    let b: Register =
                        std::array::from_fn(|lane| self.load(&terms, self.b, column(lane)));
                    terms.fused_multiply_add_lanes(&a, &b, &mut sum, u64::MAX);
                }
                outputs.extend(sum);
            }
        }
        (terms, outputs)
    }

    /// Builds the whole product: 8 warps, 4×4 outputs a lane, a total and a sum for each tile.
    fn tiled(&self) -> (Terms, Vec<Term>) {
        let mut terms = Terms::new(Arc::clone(&self.inputs));
        let zero = terms.zero();
        let mut totals: Vec<[Register; 16]> = vec![[[zero; LANES]; 16]; 8];
        for tile in (0..self.depth).step_by(TILE as usize) {
            let (a, b) = self.stage(&terms, tile);
            for (warp, total) in totals.iter_mut().enumerate() {
                let mut sums = [[zero; LANES]; 16];
                for k in 0..TILE as usize {
                    let row = |i: usize, lane: usize| (warp * LANES + lane) / 16 * 4 + i;
                    let column = |j: usize, lane: usize| lane % 16 * 4 + j;
                    let left: [Register; 4] = std::array::from_fn(|i| {
                        std::array::from_fn(|lane| a[row(i, lane) * TILE as usize + k])
                    });
                    let right: [Register; 4] = std::array::from_fn(|j| {
                        std::array::from_fn(|lane| b[k * SIDE as usize + column(j, lane)])
                    });
                    for (at, sum) in sums.iter_mut().enumerate() {
                        terms.fused_multiply_add_lanes(
                            &left[at / 4],
                            &right[at % 4],
                            sum,
                            u64::MAX,
                        );
                    }
                }
                for (total, sum) in total.iter_mut().flatten().zip(sums.iter().flatten()) {
                    *total = terms.add(*total, *sum);
                }
            }
        }
        let mut outputs = vec![zero; (SIDE * SIDE) as usize];
        for (warp, total) in totals.iter().enumerate() {
            for (at, register) in total.iter().enumerate() {
                for (lane, sum) in register.iter().enumerate() {
                    let row = (warp * LANES + lane) / 16 * 4 + at / 4;
                    outputs[row * SIDE as usize + lane % 16 * 4 + at % 4] = *sum;
                }
            }
        }
        (terms, outputs)
    }

    /// Loads a tile of each matrix into shared memory.
    fn stage(&self, terms: &Terms, tile: u32) -> (Vec<Term>, Vec<Term>) {
        let a = |at: u32| self.load(terms, self.a, at / TILE * self.depth + tile + at % TILE);
        let b = |at: u32| self.load(terms, self.b, tile * SIDE + at);
        ((0..SIDE * TILE).map(a).collect(), (0..TILE * SIDE).map(b).collect())
    }
}

/// Builds `max(alpha · sum + c, 0)` for each output, a usual epilogue of a product.
fn epilogue(terms: &mut Terms, outputs: &[Term]) -> Vec<Term> {
    let inputs = Arc::clone(terms.inputs());
    let alpha = terms.input(inputs.find("alpha", None).expect("declared"));
    let zero = terms.zero();
    let finish = |(index, sum): (usize, &Term)| {
        let c = terms.input(inputs.find("c", Some(index as u32)).expect("declared"));
        let scaled = terms.fused_multiply_add(alpha, *sum, c);
        terms.maximum(scaled, zero)
    };
    outputs.iter().enumerate().map(finish).collect()
}

struct Report<W> {
    out: W,
    started: (Instant, f64),
}

impl<W: Write> Report<W> {
    /// Prints the duration of the step that ends now.
    fn step(&mut self, what: &str) -> io::Result<f64> {
        let processor = processor_seconds() - self.started.1;
        let clock = self.started.0.elapsed().as_secs_f64();
        let peak = peak_megabytes();
        writeln!(self.out, "{what}: {clock:.3} s ({processor:.2} s of processor), peak {peak} MB")?;
        self.out.flush()?;
        self.started = (Instant::now(), processor_seconds());
        Ok(processor)
    }
}

fn equal(stores: (&Terms, &Terms), left: &[Term], right: &[Term]) {
    let pairs: Vec<(Term, Term)> = left.iter().copied().zip(right.iter().copied()).collect();
    let problem = Problem { reference: stores.0, optimised: stores.1, assumptions: &[] };
    let answers = decide(&problem, &pairs, &Budget::default());
    let failed = answers.iter().find(|answer| !answer.is_equal());
    assert!(failed.is_none(), "not proved: {failed:?}");
}

fn main() -> io::Result<()> {
    let depth = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4096);
    let launch = Launch::new(depth);
    let mut report = Report { out: io::stdout().lock(), started: (Instant::now(), 0.0) };
    let products = f64::from(SIDE * SIDE) * f64::from(depth) / 1e6;
    let (mut naive, left) = launch.naive(0..SIDE);
    let seconds = report.step("naive kernel, built")?;
    writeln!(report.out, "  {:.0} million fused multiply-adds a second", products / seconds)?;
    let (mut tiled, mut right) = launch.tiled();
    let seconds = report.step("tiled kernel, built")?;
    writeln!(report.out, "  {:.0} million fused multiply-adds a second", products / seconds)?;
    equal((&naive, &tiled), &left, &right);
    report.step("4096 outputs, decided")?;
    wrong_output(&tiled, &naive, &left, &mut right);
    report.step("one wrong output among them, found")?;
    let (left, right) = (epilogue(&mut naive, &left), epilogue(&mut tiled, &right));
    let wrong = right.len() / 3;
    report.step("epilogue, built")?;
    equal((&naive, &tiled), &left[..wrong], &right[..wrong]);
    report.step("a third of the outputs with an epilogue, decided")?;
    let (pairs, problem) = (
        left.iter().copied().zip(right.iter().copied()).collect::<Vec<_>>(),
        Problem { reference: &naive, optimised: &tiled, assumptions: &[] },
    );
    let budget = Budget { differences: 1, ..Budget::default() };
    let answers = decide(&problem, &pairs, &budget);
    assert!(matches!(answers[wrong], Decision::Different { .. }));
    report.step("one wrong output with an epilogue, found")?;
    drop((naive, tiled));
    streamed(&launch)?;
    report
        .step("naive kernel row by row against itself, built on one thread, decided on another")?;
    Ok(())
}

/// Makes one output wrong, and checks that only it differs.
fn wrong_output(tiled: &Terms, naive: &Terms, left: &[Term], right: &mut [Term]) {
    let wrong = right.len() / 3;
    right[wrong] = right[wrong + 1];
    let pairs: Vec<(Term, Term)> = left.iter().copied().zip(right.iter().copied()).collect();
    let problem = Problem { reference: naive, optimised: tiled, assumptions: &[] };
    let answers = decide(&problem, &pairs, &Budget::default());
    let different = |answer: &&Decision| matches!(answer, Decision::Different { .. });
    assert!(different(&&answers[wrong]) && answers.iter().filter(different).count() == 1);
}

/// Builds rows here and decides them on another thread; each row's term stores are dropped once it is decided.
fn streamed(launch: &Launch) -> io::Result<()> {
    let (send, receive) = mpsc::sync_channel::<[(Terms, Vec<Term>); 2]>(2);
    let decider = std::thread::spawn(move || {
        for [left, right] in receive {
            equal((&left.0, &right.0), &left.1, &right.1);
        }
    });
    for row in 0..SIDE {
        let sides = [launch.naive(row..row + 1), launch.naive(row..row + 1)];
        send.send(sides).map_err(io::Error::other)?;
    }
    drop(send);
    decider.join().map_err(|_| io::Error::other("a row was not proved"))
}
