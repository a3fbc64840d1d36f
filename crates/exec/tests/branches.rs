//! Tests data-dependent branches, followed on both sides, against runs on numbers: random kernels with a few
//! inputs each.
//!
//! Memory after a run on values must equal, at each input, the memory after a run on that input, bit for bit.
//! Findings for all contents must hold at each of them. A lost value or a stopped run is never wrong; these
//! are counted, so that the comparison cannot become empty.

#[path = "branches/generator.rs"]
mod generator;
#[path = "branches/sampled.rs"]
mod sampled;

use exec::{
    Access, Argument, Buffer, Checks, Contents, Element, Launch, Limits, Outcome, check_conditional,
};
use generator::{Generator, PER_THREAD, THREADS};
use ir::{Program, Scalar, Width};
use sampled::{POINTS, Sampled};
use testing::Random;

/// Kernels drawn for each of the two comparisons.
const KERNELS: usize = 600;

const NUMBER: Scalar = Scalar::Integer { width: Width::B32, signed: true };

/// Contents of the read buffers.
struct InputContents {
    a: Contents,
    c: Contents,
    z: Contents,
}

fn launch(program: &Program, given: InputContents) -> Launch {
    let kernel = program.functions.enumerate().find(|(_, function)| function.is_kernel);
    let (kernel, _) = kernel.unwrap_or_else(|| panic!("no kernel"));
    let buffer = |name: &str, contents, access| Buffer {
        name: name.to_owned(),
        element_bytes: 4,
        element: Some(NUMBER),
        contents,
        access,
    };
    let size = 4 * PER_THREAD * THREADS;
    Launch {
        kernel,
        grid: [1; 3],
        block: [THREADS as u32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        buffers: vec![
            buffer("a", given.a, Access::In),
            buffer("y", Contents::Undefined(size as u64), Access::Out),
            buffer("z", given.z, Access::InOut),
            buffer("c", given.c, Access::InOut),
        ],
        arguments: (0..4).map(Argument::Pointer).collect(),
        symbols: Vec::new(),
        selected: Vec::new(),
    }
}

fn bytes(numbers: impl Iterator<Item = i32>) -> Vec<u8> {
    numbers.flat_map(i32::to_le_bytes).collect()
}

/// Inputs: each element of `a` at each point.
fn inputs(random: &mut Random) -> Vec<[i32; POINTS]> {
    let number = |random: &mut Random| random.within(-3, 4) as i32;
    (0..PER_THREAD * THREADS).map(|_| std::array::from_fn(|_| number(random))).collect()
}

/// The run at one of the inputs.
fn at_point(program: &Program, inputs: &[[i32; POINTS]], point: usize) -> Outcome {
    let a = bytes(inputs.iter().map(|numbers| numbers[point]));
    let z = bytes((0..PER_THREAD * THREADS).map(|at| at as i32 % 5 - 2));
    let given = InputContents {
        a: Contents::Known(a),
        c: Contents::Known(vec![0; 8]),
        z: Contents::Known(z),
    };
    let launch = launch(program, given);
    exec::check(program, &launch, Limits::default())
}

fn opaque(program: &Program) -> Launch {
    let size = (4 * PER_THREAD * THREADS) as u64;
    let z = bytes((0..PER_THREAD * THREADS).map(|at| at as i32 % 5 - 2));
    let given = InputContents {
        a: Contents::Opaque(size),
        c: Contents::Known(vec![0; 8]),
        z: Contents::Known(z),
    };
    launch(program, given)
}

fn program(text: &str) -> Program {
    let lowered = ptx::lower(&ptx::syntax::parse(text).module);
    assert!(lowered.diagnostics.is_empty(), "{:?}\n{text}", lowered.diagnostics);
    lowered.program
}

#[test]
fn values_are_those_of_runs_on_numbers() {
    let mut random = Random::new(0xb4a);
    let (mut compared, mut lost, mut stopped) = (0_usize, 0_usize, 0_usize);
    for number in 0..KERNELS {
        let text = Generator::kernel(&mut random, number % 4 == 3);
        let program = program(&text);
        let inputs = inputs(&mut random);
        let mut domain = Sampled::new(inputs.clone());
        let (outcome, mut results) =
            exec::check_in(&program, &opaque(&program), Limits::default(), &mut domain);
        if outcome.gap.is_some() || !outcome.findings.is_empty() {
            stopped += 1;
            continue;
        }
        let runs: Vec<Outcome> =
            (0..POINTS).map(|point| at_point(&program, &inputs, point)).collect();
        for (buffer, count) in [(1, PER_THREAD * THREADS), (2, PER_THREAD * THREADS), (3, 2)] {
            for at in 0..count {
                let found = results.element(&mut domain, buffer, 4 * at, NUMBER);
                let numbers = match found {
                    Element::Bits(bits) => [Some(i128::from(bits)); POINTS],
                    Element::Value(value) => domain.at(value),
                    Element::Lost(_) | Element::Unwritten => {
                        lost += 1;
                        continue;
                    }
                };
                for (point, run) in runs.iter().enumerate() {
                    if !run.findings.is_empty() || run.gap.is_some() {
                        continue;
                    }
                    let case = format!("{number}: {buffer}[{at}] at {point}\n{text}");
                    let written = run.written[buffer].contains(4 * at..4 * at + 4);
                    let ours = numbers[point].map(|number| number as u32);
                    let theirs = &run.buffers[buffer][4 * at..4 * at + 4];
                    let theirs = u32::from_le_bytes(theirs.try_into().unwrap());
                    assert_eq!(ours, written.then_some(theirs), "{case}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 200_000 && stopped < KERNELS / 3, "{compared} {lost} {stopped}");
}

#[test]
fn checks_hold_at_every_input() {
    let mut random = Random::new(0xc4ec);
    let (mut clean, mut wrong) = (0_usize, 0_usize);
    for number in 0..KERNELS {
        let text = Generator::kernel(&mut random, number % 2 == 1);
        let program = program(&text);
        let checks = Checks::default();
        let outcome = check_conditional(&program, &opaque(&program), Limits::default(), checks);
        let inputs = inputs(&mut random);
        let settled = outcome.gap.is_none()
            && outcome.undecided.is_empty()
            && outcome.doubts.is_empty()
            && outcome.maybe_unwritten.is_empty();
        if !settled {
            // An error that was found is one whatever follows.
            let certain = !outcome.findings.is_empty();
            if certain {
                let run = at_point(&program, &inputs, 0);
                assert!(!run.findings.is_empty() || run.gap.is_some(), "{number}\n{text}");
            }
            continue;
        }
        for point in 0..POINTS {
            let run = at_point(&program, &inputs, point);
            let case =
                format!("{number} at {point}: {:?}\n{:?}\n{text}", run.findings, outcome.findings);
            assert!(run.gap.is_none(), "{:?} {case}", run.gap);
            assert_eq!(run.findings.is_empty(), outcome.findings.is_empty(), "{case}");
            assert_eq!(run.undecided.len(), 0, "{case}");
            let all = 0..4 * PER_THREAD * THREADS;
            assert_eq!(
                run.written[1].contains(all.clone()),
                outcome.written[1].contains(all),
                "{case}"
            );
        }
        if outcome.findings.is_empty() { clean += 1 } else { wrong += 1 }
    }
    assert!(clean > KERNELS / 3 && wrong > KERNELS / 100, "{clean} {wrong}");
}
