//! Checks small kernels of each kind: those without a bug are proved, those with one refuted by a race on shared
//! memory.

use super::dataflow::Shape;
use super::dma::{self, Buffering};
use super::stencil::Plan;
use super::{Kernel, kernel};
use driver::arguments::{ArgumentSpec, Arguments, LaunchSpec};
use driver::check::{self, Options};
use driver::{Colour, Execution, Format, Input, Limits};
use serde_json::Value;

/// The report of a check.
fn report(kernel: &Kernel) -> Value {
    let input = Input::from_bytes("kernel.ptx", kernel.ptx.clone().into()).unwrap();
    let mut launch = LaunchSpec::default();
    let mut specs: Vec<ArgumentSpec> = Vec::new();
    for pair in kernel.flags.chunks(2) {
        match (pair[0].as_str(), pair[1].as_str()) {
            ("--grid", grid) => launch.grid = Some(grid.parse().unwrap()),
            ("--block", block) => launch.block = Some(block.parse().unwrap()),
            ("--arg", argument) => specs.push(argument.parse().unwrap()),
            (flag, _) => panic!("{flag}"),
        }
    }
    let arguments = &Arguments { specs, symbols: Vec::new(), aliases: Vec::new() };
    let limits = Limits::default();
    let execution = Execution { input: &input, kernel: None, launch: &launch, arguments, limits };
    let options = Options { format: Format::Json, ..Options::default() };
    let outcome = check::run(&execution, options, Colour::Plain);
    serde_json::from_str(&outcome.report.unwrap().render(Format::Json).unwrap()).unwrap()
}

fn verdict(report: &Value) -> &str {
    report["verdict"].as_str().unwrap()
}

/// Kinds of the errors in a report.
fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap();
    let errors = findings.iter().filter(|finding| finding["severity"] == "error");
    let mut kinds: Vec<&str> = errors.map(|finding| finding["kind"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds
}

#[test]
fn transfers_are_proved() {
    use Buffering::{Double, Manual, Single};
    for buffering in [Single, Double, Manual] {
        for kernel in
            [dma::saxpy(buffering, 8), dma::vector(buffering, 64, 6), dma::both(buffering, 128, 4)]
        {
            let report = report(&kernel);
            assert_eq!(verdict(&report), "proved", "{buffering:?}: {:#}", report["findings"]);
        }
    }
}

/// The check applies to the generated text, not to the plan: loaders that do not wait are found.
#[test]
fn a_transfer_whose_loaders_do_not_wait_is_refuted() {
    let kernel = dma::saxpy(Buffering::Single, 8);
    let broken = kernel.ptx.replacen("\tbar.sync 1, 288;\n", "\tbar.arrive 1, 288;\n", 1);
    assert_ne!(broken, kernel.ptx);
    let report = report(&Kernel { ptx: broken, ..kernel });
    // Loaders that do not wait also arrive twice in one generation, and complete it before others have arrived.
    let expected = vec!["race", "barrier-reuse", "deadlock"];
    assert_eq!((verdict(&report), kinds(&report)), ("refuted", expected));
}

#[test]
fn a_stencil_that_asks_too_early_races() {
    for buffers in [1, 2, 4] {
        for (two_phases, early) in [(false, false), (true, false), (true, true)] {
            let report = report(&Plan { two_phases, early, buffers, planes: 8 }.kernel());
            let expected = if early { ("refuted", vec!["race"]) } else { ("proved", vec![]) };
            assert_eq!((verdict(&report), kinds(&report)), expected, "{:#}", report["findings"]);
            // Threads that write the same coefficient appear in a note.
            let notes = report["findings"].as_array().unwrap().iter();
            assert!(notes.clone().any(|finding| finding["severity"] == "note"));
        }
    }
}

fn small(warps: u32, seed: u64) -> Shape {
    let (words, generations, commands) = (768, 60, 40);
    let (exchange, fermi, raced) = (false, false, false);
    Shape { warps, words, generations, commands, exchange, fermi, raced, seed }
}

#[test]
fn graphs_are_proved_and_planted_races_found() {
    for seed in 0..6 {
        for warps in [2, 4, 8] {
            for fermi in [false, true] {
                let clean = Shape { fermi, ..small(warps, seed) };
                let found = report(&clean.kernel());
                assert_eq!(verdict(&found), "proved", "{clean:?}: {:#}", found["findings"]);
                let raced = Shape { raced: true, ..clean };
                let found = report(&raced.kernel());
                assert_eq!(
                    (verdict(&found), kinds(&found)),
                    ("refuted", vec!["race"]),
                    "{raced:?}"
                );
            }
        }
    }
}

#[test]
fn exchanges_are_proved_and_planted_races_found() {
    for (seed, fermi) in [(1, false), (2, true)] {
        let clean = Shape { exchange: true, fermi, ..small(6, seed) };
        assert_eq!(verdict(&report(&clean.kernel())), "proved", "{clean:?}");
        let raced = Shape { raced: true, ..clean };
        let found = report(&raced.kernel());
        assert_eq!((verdict(&found), kinds(&found)), ("refuted", vec!["race"]), "{raced:?}");
    }
}

/// Engine and generator count the same arrivals: all commands except the accesses.
#[test]
fn commands_are_what_is_executed() {
    let kernel = dma::saxpy(Buffering::Double, 8);
    // 8 transfers of two arrays: 256 threads and 32 loaders arrive at each of two barriers, and once more for each
    // buffer.
    let arrivals = 2 * 8 * 2 * 288 + 4 * 288;
    // They read a word of each array, and the loaders write two pieces of it.
    let accesses = 8 * 2 * (256 + 32 * 2);
    assert_eq!(report(&kernel)["stats"]["block_syncs"], arrivals);
    assert_eq!(kernel.counts.commands, arrivals + accesses);
}

#[test]
fn a_name_is_always_the_same_kernel() {
    for name in ["saxpy-double", "rtm-2phase-quad", "dme-diff-kepler", "dme-diff-kepler-raced"] {
        assert_eq!(kernel(name).unwrap(), kernel(name).unwrap());
    }
    assert_ne!(kernel("dme-diff-kepler"), kernel("dme-diff-kepler-raced"));
    for name in
        ["", "saxpy", "saxpy-single-raced", "rtm-1phase-single-mended", "dme-chem-kepler-raced"]
    {
        assert!(kernel(name).is_none(), "{name}");
    }
}
