//! Kernels of `corpus/param`: each is proved, and each of its mutants is refuted on a launch that the interpreter
//! ran. Checks that need a solver run only if there is one.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use std::path::PathBuf;
use support::{kernel, solver};
use testing::corpus::names_in;

/// One test per kernel, so that they run side by side.
macro_rules! corpus {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

corpus! {
    black_scholes blelloch brent_kung compact convolution diffusion gather grid_stride histogram kogge_stone layer_norm
    matmul_naive matmul_tiled nbody reduce_halving reduce_index reduce_modulo reverse reverse_naive saxpy shared_flag softmax
    stencil_1d stencil_2d transpose_naive transpose_padded transpose_tiled vector_add
}

/// The contents of a `.expect` file.
#[derive(Default)]
struct Expected {
    /// Properties that are unknown without a solver.
    need_solver: Vec<String>,
    /// The property that each change breaks, with the text before and after the change.
    mutants: Vec<(String, String, String)>,
}

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/param")
}

fn read(name: &str, extension: &str) -> String {
    let path = folder().join(format!("{name}.{extension}"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn expected(name: &str) -> Expected {
    let mut expected = Expected::default();
    for line in read(name, "expect").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = rest.replace("\\n", "\n");
        match word {
            "needs-solver:" => {
                expected.need_solver = rest.split_whitespace().map(str::to_owned).collect();
            }
            "mutant:" => expected.mutants.push((text, String::new(), String::new())),
            "-" => expected.mutants.last_mut().expect("a mutant").1 = text,
            "+" => expected.mutants.last_mut().expect("a mutant").2 = text,
            _ => panic!("{name}.expect: `{line}`"),
        }
    }
    expected
}

fn names(answer: &Answer, verdict: Verdict) -> Vec<String> {
    let with = answer.properties.iter().filter(|one| one.verdict == verdict);
    with.map(|one| name(one.property).to_owned()).collect()
}

fn name(property: Property) -> &'static str {
    match property {
        Property::Races => "races",
        Property::Barriers => "barriers",
        Property::Bounds => "bounds",
        Property::Overflow => "overflow",
        Property::Division => "division",
        Property::Initialised => "initialised",
        Property::Clauses => "clauses",
        Property::Invariant => "invariant",
        Property::Postcondition => "postcondition",
        Property::Values => "values",
    }
}

fn check(file: &str) {
    let (text, expected) = (read(file, "cu"), expected(file));
    let options = Options { infers: true, suggests: false };
    let kernel_itself = kernel(&text);
    let (answer, _) = allsizes::prove(&kernel_itself, None, options);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    assert!(answer.tested >= 5, "tested on {} launches", answer.tested);
    let barriers = text.matches("__syncthreads()").count() as u64;
    assert_eq!(answer.stats.intervals, barriers + 1, "intervals were not compared");
    assert_eq!(names(&answer, Verdict::Refuted), Vec::<String>::new());
    assert_eq!(names(&answer, Verdict::Unknown), expected.need_solver, "without a solver");
    assert!(expected.mutants.len() >= 4, "{file} has too few mutants");
    for (property, from, to) in &expected.mutants {
        assert_eq!(text.matches(from.as_str()).count(), 1, "`{from}`");
        let mutant = kernel(&text.replace(from.as_str(), to));
        let (answer, _) = allsizes::prove(&mutant, None, options);
        let refuted = names(&answer, Verdict::Refuted);
        assert!(refuted.contains(property), "`{from}` -> `{to}`: {refuted:?}");
        // A refutation of a proved property would be a bug in the engine.
        assert!(answer.contradiction.is_none(), "`{from}` -> `{to}`: {:?}", answer.contradiction);
    }
    if let Some(solver) = solver() {
        let (answer, _) = allsizes::prove(&kernel_itself, Some(solver), options);
        assert_eq!(names(&answer, Verdict::Unknown), Vec::<String>::new(), "with a solver");
        assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    }
}

#[test]
fn every_file_is_tested() {
    assert_eq!(names_in(folder(), "cu"), NAMES);
}
