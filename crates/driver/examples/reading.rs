//! Reads random kernels with the front end of `prove` and with NVRTC, and compares their results.
//!
//! ```sh
//! cargo run -p driver --example reading -- 20000 1 2    # number of programs, number of the first, threads
//! ```
//!
//! Without threads (`20 1 0`) the programs are printed, and nothing is run.
//!
//! Prints the numbers of programs with the same results and of refused ones, the latter by message. The first
//! programs with different results are reduced and printed with their values; the exit status is then 1.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool")]

#[path = "../tests/reading/mod.rs"]
mod reading;

use std::process::ExitCode;

fn main() -> ExitCode {
    let numbers: Vec<usize> =
        std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [count, seed, jobs] = numbers[..] else {
        eprintln!("usage: reading COUNT SEED JOBS");
        return ExitCode::from(2);
    };
    if jobs == 0 {
        print!("{}", reading::texts(count, seed).concat());
        return ExitCode::SUCCESS;
    }
    if !reading::has_compiler() {
        eprintln!("NVRTC is not found");
        return ExitCode::from(2);
    }
    let report = reading::run(count, seed, jobs);
    print!("{}{}", report.shown, report.table());
    if report.different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
