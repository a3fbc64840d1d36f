//! Measures the proof of each kernel of `corpus/param`, and which stage answers its queries.
//!
//! `cargo run --release -p allsizes --example speed [--users] [NAME…]`; z3 is the one that `WARPPROOF_Z3` names, or `z3`.

#![expect(clippy::print_stdout, reason = "for people")]

use allsizes::{Options, Verdict};
use smt::Solver;
use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let users = std::env::args().any(|argument| argument == "--users");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|one| one != "--users").collect();
    let folder = if users { "corpus/param/users" } else { "corpus/param" };
    let mut files = testing::corpus::files_in(folder, "cu");
    files.retain(|file| {
        wanted.is_empty()
            || wanted.iter().any(|name| file.file_stem().is_some_and(|one| one == &**name))
    });
    let z3 = std::env::var_os("WARPPROOF_Z3").map_or_else(|| find("z3"), PathBuf::from);
    println!("kernel               seconds  without solver  by solver  open  runs  proved");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a kernel");
        let (name, kernel) = cuda_front::kernels(&text).expect("a file").remove(0);
        let kernel = kernel.unwrap_or_else(|error| panic!("{name}: {}", error.message));
        let solver = Solver::start(&z3).ok();
        let start = Instant::now();
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::prove(&kernel, solver, options);
        let seconds = start.elapsed().as_secs_f64();
        let proved = answer.properties.iter().filter(|one| one.verdict == Verdict::Proved).count();
        let all = answer.properties.len();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stats = answer.stats;
        println!(
            "{stem:<20} {seconds:>7.3} {:>15} {:>10} {:>5} {:>5}  {proved}/{all}",
            stats.without_solver, stats.by_solver, stats.open, answer.tested
        );
    }
}

/// A program on the path.
fn find(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join(name));
    folders.find(|file| file.is_file()).unwrap_or_else(|| PathBuf::from(name))
}
