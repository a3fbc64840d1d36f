//! Prints the answers for kernels given as files, with the time: `cargo run --release -p allsizes --example claims
//! FILE…`.

#![expect(clippy::print_stdout, reason = "for people")]

use allsizes::Options;
use smt::Solver;
use std::time::Instant;

fn main() {
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let z3 = std::env::var("WARPPROOF_Z3").unwrap_or_else(|_| "z3".to_owned());
        for (name, kernel) in cuda_front::kernels(&text).unwrap_or_default() {
            let Ok(kernel) = kernel else { continue };
            let solver = Solver::start(std::path::Path::new(&z3)).ok();
            let start = Instant::now();
            let (answer, _) =
                allsizes::prove(&kernel, solver, Options { infers: true, suggests: false });
            let seconds = start.elapsed().as_secs_f64();
            println!("{name}: {seconds:.3} s, tested {}", answer.tested);
            for one in &answer.properties {
                println!("  {:?} {:?}", one.property, one.verdict);
                for open in &one.open {
                    let line = text[..open.span.start as usize].lines().count();
                    println!("    line {line}: {}", open.message);
                }
                for finding in &one.findings {
                    println!("    {:?}", finding.event);
                }
            }
            println!("  contradiction {:?} {:?}", answer.contradiction, answer.stats);
        }
    }
}
