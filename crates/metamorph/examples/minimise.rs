//! Drops transformations of a case as long as the answer stays the same (`unknown`, usually):
//! `cargo run -p metamorph --example minimise -- BINARY FOLDER SEED …`.
//!
//! For each seed, the smallest case is written to the folder, and a line lists the remaining transformations and
//! Warpproof's answer.

#![allow(clippy::print_stdout, reason = "a tool for people")]

use metamorph::chain::{Dropped, STEPS};
use metamorph::{Case, Effort, Question};
use std::path::Path;
use std::process::Command;

const EFFORT: Effort = Effort { correct: 60, mutant: 0 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [binary, folder, seeds @ ..] = arguments.as_slice() else {
        return Err("arguments: BINARY FOLDER SEED …".into());
    };
    for seed in seeds {
        minimise(binary, &Path::new(folder).join(seed), seed.parse()?)?;
    }
    Ok(())
}

fn minimise(binary: &str, folder: &Path, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut dropped = [Dropped::default(); 2];
    let (mut best, first_status, mut reason) = ask(binary, folder, seed, dropped)?;
    for chain in 0..2 {
        for step in (0..STEPS).rev() {
            let mut fewer = dropped;
            fewer[chain].0 |= 1 << step;
            let (case, status, its_reason) = ask(binary, folder, seed, fewer)?;
            if status == first_status {
                (dropped, best, reason) = (fewer, case, its_reason);
            }
        }
    }
    write(&best, folder)?;
    let left: Vec<&str> = best.applied().map(|applied| applied.name).collect();
    println!(
        "{seed}\t{}\t{}\t{}\t{reason}",
        best.question.name(),
        best.base.variant,
        left.join(" ")
    );
    Ok(())
}

fn write(case: &Case, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, text) in case.files() {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Asks about a case; returns it with the exit status and the first line that begins with `unknown:`.
fn ask(
    binary: &str,
    folder: &Path,
    seed: u64,
    dropped: [Dropped; 2],
) -> Result<(Case, i32, String), Box<dyn std::error::Error>> {
    let case = Case::draw_without(seed, EFFORT, dropped)?;
    write(&case, folder)?;
    let mut command = Command::new(binary);
    if case.question == Question::Pair {
        command.args(["equiv", "--for-all-sizes"]);
    } else {
        command.arg("prove");
    }
    command.args(["--timeout", "20", "--no-compare", "-j", "1"]);
    command.args(case.files().iter().map(|(name, _)| folder.join(name)));
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let reason = text.lines().find(|line| line.starts_with("unknown:")).unwrap_or("").to_string();
    Ok((case, output.status.code().unwrap_or(-1), reason))
}
