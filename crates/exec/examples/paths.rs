//! Compares the interpreter's code for common cases with its general code on random kernels: `cargo run -p
//! exec --example paths -- COUNT SEED [JOBS [FIRST]]`. On a difference it prints the smallest kernel that
//! shows it, and exits with status 1.

#![expect(clippy::print_stdout, reason = "what it finds is for people")]

#[path = "../tests/comparing/mod.rs"]
mod comparing;

use comparing::generator::Case;
use comparing::{difference_on, lowered, shrink};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap_or(1));
    let (count, seed) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(1));
    let jobs = numbers.next().unwrap_or(1);
    let first = numbers.next().unwrap_or(0);
    let (next, valid, ended, different) =
        (AtomicU64::new(first), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number - first >= count || different.load(Ordering::Relaxed) >= 5 {
                        return;
                    }
                    let case = Case::new(seed.wrapping_mul(1 << 32).wrapping_add(number));
                    let Some(program) = lowered(&case) else { continue };
                    valid.fetch_add(1, Ordering::Relaxed);
                    let limits = exec::Limits { lane_instructions: 400_000, ..Default::default() };
                    let outcome = exec::run(&program, &case.launch(&program), limits);
                    ended.fetch_add(u64::from(outcome.gap.is_none()), Ordering::Relaxed);
                    if difference_on(&case).is_some() {
                        different.fetch_add(1, Ordering::Relaxed);
                        let case = shrink(case);
                        let difference = difference_on(&case).unwrap_or_default();
                        let Case { grid, block, lines, buffers, arguments } = case;
                        let lines = lines.join("\n");
                        println!("kernel {number}: {grid:?} {block:?}\n{lines}\n{difference}");
                        let buffers = buffers.iter().map(|buffer| {
                            let contents: String = format!("{:?}", buffer.contents);
                            let contents: String = contents.chars().take(60).collect();
                            format!("{contents} {:?} {:?}", buffer.element, buffer.access)
                        });
                        let buffers: Vec<String> = buffers.collect();
                        println!("{}\n{arguments:?}\n", buffers.join("\n"));
                    }
                }
            });
        }
    });
    let (valid, ended) = (valid.into_inner(), ended.into_inner());
    let different = different.into_inner();
    println!("{valid} kernels of {count}, {ended} run to their end; {different} differ");
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
