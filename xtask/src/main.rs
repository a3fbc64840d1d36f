//! Chores of the repository that are no tests.
//!
//! `cargo run -p xtask -- ptxas PATH` assembles everything the front end prints with NVIDIA's
//! assembler: each corpus file after a round trip, and each catalogue example. It needs a `ptxas`,
//! which CI has not; run it after changing the printer or the catalogue.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod ptxas;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ptxas", path] => ptxas::run(path.as_ref()),
        _ => {
            eprintln!("usage: xtask ptxas PATH_OF_PTXAS");
            ExitCode::from(2)
        }
    }
}
