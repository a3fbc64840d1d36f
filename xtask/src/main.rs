//! Runs chores of the repository other than tests.
//!
//! `cargo run -p xtask -- ptxas PATH` assembles everything that the front end prints with NVIDIA's assembler: each
//! corpus file after a round trip, each catalogue example, and the generated kernels. It needs a `ptxas`, which CI
//! lacks; run it after changing the printer or the catalogue.
//!
//! `record-plan DIR`, `record-pack DIR` and `record-refused PATH` renew the recordings of a real GPU
//! (`crates/recordings`): they write the plan for a device, pack its outputs, and list the cases that `ptxas`
//! refuses; for all families, or for the named ones.
//!
//! `book DIR` builds the manual.
//!
//! `bench papers` measures the papers' tables and writes `docs/results.md`. With `--peers` it runs another program,
//! too; with `--only TEXT` only tables with TEXT in the title, without writing. `bench twins` compares the times of two
//! checks: of a kernel with a mistake, and of its twin without; with `--only TEXT` only pairs with TEXT in the name.
//! `weft NAME` prints a generated kernel of the tables.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod book;
mod papers;
mod ptxas;
mod record;
mod weft;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ptxas", path] => ptxas::run(path.as_ref()),
        ["record-plan", folder, families @ ..] => record::run(record::plan, folder, families),
        ["record-pack", folder, families @ ..] => record::run(record::pack, folder, families),
        ["record-refused", path, families @ ..] => record::run(record::refused, path, families),
        ["book", folder] => build_book(folder.as_ref()),
        ["bench", "papers", options @ ..] => bench_papers(options),
        ["bench", "twins"] => bench_twins(None),
        ["bench", "twins", "--only", text] => bench_twins(Some(text)),
        ["weft", name] => weft_kernel(name),
        _ => {
            eprintln!("usage: xtask ptxas PATH_OF_PTXAS");
            eprintln!("       xtask record-refused PATH_OF_PTXAS [FAMILY...]");
            eprintln!("       xtask record-plan DIR [FAMILY...] | record-pack DIR [FAMILY...]");
            eprintln!("       xtask book DIR");
            eprintln!("       xtask bench papers [--peers] [--only TEXT]");
            eprintln!("       xtask bench twins [--only TEXT]");
            eprintln!("       xtask weft NAME");
            ExitCode::from(2)
        }
    }
}

/// Prints a generated kernel, with the flags of its check as a comment.
fn weft_kernel(name: &str) -> ExitCode {
    match weft::kernel(name) {
        Some(kernel) => {
            println!("// {}\n{}", kernel.flags.join(" "), kernel.ptx);
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("error: no kernel is called `{name}`; bench/papers.txt has them");
            ExitCode::from(2)
        }
    }
}

fn bench_papers(flags: &[&str]) -> ExitCode {
    let mut options = papers::Options::default();
    let mut flags = flags.iter();
    while let Some(&flag) = flags.next() {
        match (flag, flags.as_slice().first()) {
            ("--peers", _) => options.peers = true,
            ("--only", Some(text)) => {
                options.only = Some((*text).to_owned());
                flags.next();
            }
            _ => {
                eprintln!("error: `{flag}` is not known: --peers, --only TEXT");
                return ExitCode::from(2);
            }
        }
    }
    report(papers::run(&testing::corpus::root(), &options))
}

fn bench_twins(only: Option<&str>) -> ExitCode {
    report(papers::twins::run(&testing::corpus::root(), only))
}

/// Turns an outcome into an exit status: success if everything is as expected.
fn report(outcome: Result<bool, String>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn build_book(out: &std::path::Path) -> ExitCode {
    let docs = testing::corpus::root().join("docs");
    match book::build(&docs, out) {
        Ok(chapters) => {
            let names: Vec<&str> = chapters.iter().map(|chapter| chapter.title.as_str()).collect();
            println!("{}: {}", out.display(), names.join(", "));
            ExitCode::SUCCESS
        }
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("error: {problem}"));
            ExitCode::FAILURE
        }
    }
}
