//! Chores of the repository that are no tests.
//!
//! `cargo run -p xtask -- ptxas PATH` assembles everything the front end prints with NVIDIA's
//! assembler: each corpus file after a round trip, and each catalogue example. It needs a `ptxas`,
//! which CI has not; run it after changing the printer or the catalogue.
//!
//! `record-plan DIR`, `record-pack DIR` and `record-refused PATH` renew the recordings of a real GPU
//! (`crates/recordings`): write what a device is to run, pack what came back, and ask `ptxas` which
//! cases exist.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod ptxas;
mod record;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ptxas", path] => ptxas::run(path.as_ref()),
        ["record-plan", folder] => record::run(record::plan, folder),
        ["record-pack", folder] => record::run(record::pack, folder),
        ["record-refused", path] => record::run(record::refused, path),
        _ => {
            eprintln!("usage: xtask ptxas PATH_OF_PTXAS");
            eprintln!("       xtask record-refused PATH_OF_PTXAS");
            eprintln!("       xtask record-plan DIR | record-pack DIR");
            ExitCode::from(2)
        }
    }
}
