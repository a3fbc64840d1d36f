//! Tests products of `wmma` fragments with differing copies of an element.

mod launching;
mod recording;

use exec::{Doubtful, Element, Fault, Limits, Outcome};
use ir::{Format, Scalar};
use launching::{Arg, launch};
use recording::Recording;

const SHAPES: [&str; 3] = ["m16n16k16", "m32n8k16", "m8n32k16"];
/// Registers of A and B, each with its 32 lanes.
type Registers = [[u32; 32]; 16];

/// A kernel whose lanes load registers of A and B from `x`, and store D to `y`.
fn program(shape: &str, before: &str, after: &str) -> ir::Program {
    let columns = &shape[shape.find('n').unwrap() + 1..shape.find('k').unwrap()];
    let names = |letter: char| {
        let names: Vec<String> = (0..8).map(|at| format!("%{letter}{at}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let loads: String = ["a", "b"]
        .iter()
        .enumerate()
        .flat_map(|(side, letter)| {
            (0..8).map(move |at| {
                let offset = 128 * (8 * side + at);
                format!("ld.global.b32 %{letter}{at}, [%rd3+{offset}];\n")
            })
        })
        .collect();
    let [a, b, c, d] = ['a', 'b', 'c', 'd'].map(names);
    let zeros: String = (0..8).map(|at| format!("mov.f32 %c{at}, 0f00000000;\n")).collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .b32 %a<8>, %b<8>, %r<9>; .reg .f32 %c<8>, %d<8>; .reg .b64 %rd<5>; .reg .pred %p<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
        mad.wide.u32 %rd3, %r1, 4, %rd1;
        {loads} {zeros} {before}
        wmma.mma.sync.aligned.row.col.{shape}.f32.f32 {d}, {a}, {b}, {c};
        {after}
        wmma.store.d.sync.aligned.row.{shape}.global.f32 [%rd2], {d}, {columns}; ret; }}"
    );
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}\n{text}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}\n{text}", lowered.diagnostics);
    lowered.program
}

fn bytes(registers: &Registers) -> Vec<u8> {
    registers.iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs a kernel on numbers. Returns the results, and the outcome with its doubts.
fn simulate(program: &ir::Program, registers: &Registers) -> (Vec<f32>, Outcome) {
    let arguments = [Arg::In(bytes(registers)), Arg::Out(1024)];
    let launch = launch(program, "k", [1; 3], [32, 1, 1], 0, &arguments);
    let outcome = exec::run(program, &launch, Limits::default());
    assert_eq!(outcome.gap, None);
    (launching::floats(&outcome.buffers[1]), outcome)
}

fn check(program: &ir::Program, input: Arg) -> Outcome {
    let launch = launch(program, "k", [1; 3], [32, 1, 1], 0, &[input, Arg::Out(1024)]);
    exec::check(program, &launch, Limits::default())
}

/// Returns the elements of D that are lost in a run with a domain.
fn lost(program: &ir::Program, registers: &Registers) -> (Vec<bool>, Vec<Doubtful>) {
    let arguments = [Arg::In(bytes(registers)), Arg::Out(1024)];
    let launch = launch(program, "k", [1; 3], [32, 1, 1], 0, &arguments);
    let mut domain = Recording::default();
    let (outcome, mut results) = exec::check_in(program, &launch, Limits::default(), &mut domain);
    assert_eq!((outcome.gap, &outcome.findings[..]), (None, &[][..]));
    let single = Scalar::Float(Format::F32);
    let mut is_lost = |at: usize| match results.element(&mut domain, 1, 4 * at, single) {
        Element::Lost(lost) => {
            assert!(lost.reason.contains("several copies"), "{}", lost.reason);
            assert!(lost.place.is_some());
            true
        }
        _ => false,
    };
    let lost = (0..256).map(&mut is_lost).collect();
    (lost, outcome.doubts.iter().map(|doubt| doubt.about).collect())
}

/// The lowest register of A (below 8) or B with the same contents.
fn original(shape: &str, register: usize) -> usize {
    let (side, number) = (register / 8, register % 8);
    let held = match (shape, side) {
        ("m16n16k16", _) => 4,
        ("m32n8k16", 1) | ("m8n32k16", 0) => 2,
        _ => 8,
    };
    8 * side + number % held
}

/// 1, 2, 3 or 4 in half precision.
const HALVES: [u32; 4] = [0x3c00, 0x4000, 0x4200, 0x4400];

fn noise(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = testing::Random::new(seed);
    move |below| random.below(below)
}

/// Draws registers with equal copies.
fn with_equal_copies(shape: &str, next: &mut dyn FnMut(usize) -> usize) -> Registers {
    let mut registers = [[0; 32]; 16];
    for register in 0..16 {
        registers[register] = match original(shape, register) {
            first if first != register => registers[first],
            _ => std::array::from_fn(|_| HALVES[next(4)] | HALVES[next(4)] << 16),
        };
    }
    registers
}

/// One half of one lane of one copy is another number. The elements lost must be exactly those that change if
/// all copies are that number; a run on numbers takes the first copy.
#[test]
fn copies_that_differ_are_lost_where_they_matter_and_nowhere_else() {
    let mut next = noise(7);
    for shape in SHAPES {
        let program = program(shape, "", "");
        for _ in 0..60 {
            let same = with_equal_copies(shape, &mut next);
            let (before, outcome) = simulate(&program, &same);
            assert_eq!(outcome.doubts, []);
            assert_eq!(lost(&program, &same), (vec![false; 256], vec![]));
            let (register, lane, half) = (next(16), next(32), 16 * next(2) as u32);
            let first = original(shape, register);
            let has_copies = (0..16).any(|other| other != first && original(shape, other) == first);
            let (mut one, mut all) = (same, same);
            let other = (same[register][lane] >> half & 0xffff) + 0x400;
            let put = |word: &mut u32| *word = *word & !(0xffff << half) | other << half;
            put(&mut one[register][lane]);
            for number in (0..16).filter(|&number| original(shape, number) == first) {
                put(&mut all[number][lane]);
            }
            let (after, _) = simulate(&program, &all);
            let differs: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
            let (taken, outcome) = simulate(&program, &one);
            assert_eq!(taken, if register == first { after } else { before });
            let doubts: Vec<Doubtful> = outcome.doubts.iter().map(|one| one.about).collect();
            let (wanted, notes) = match has_copies {
                true => {
                    ((differs, vec![Doubtful::Copies { differ: true }]), vec![Doubtful::FirstCopy])
                }
                false => ((vec![false; 256], vec![]), vec![]),
            };
            assert_eq!(doubts, notes);
            assert_eq!(lost(&program, &one), wanted, "{shape} {register} {lane} {half}");
        }
    }
}

#[test]
fn a_branch_on_copies_that_differ_ends_the_run() {
    let mut next = noise(3);
    let mut registers = with_equal_copies(SHAPES[0], &mut next);
    registers[6][17] ^= 0x0400;
    let branch = "setp.gt.f32 %p1, %d0, 0f42C80000; @%p1 bra FAR; st.global.f32 [%rd2], %d1; FAR:";
    let program = program(SHAPES[0], "", branch);
    let outcome = check(&program, Arg::In(bytes(&registers)));
    assert!(outcome.gap.unwrap().reason.contains("several, different copies"));
    registers[6][17] ^= 0x0400;
    let outcome = check(&program, Arg::In(bytes(&registers)));
    assert_eq!((outcome.gap, outcome.doubts), (None, vec![]));
}

/// Without a domain nothing is known about copies loaded from opaque data: one doubt, and no claim that they
/// differ.
#[test]
fn copies_of_data_are_open() {
    let outcome = check(&program(SHAPES[1], "", ""), Arg::Opaque(2048));
    let doubts: Vec<Doubtful> = outcome.doubts.iter().map(|one| one.about).collect();
    assert_eq!(doubts, [Doubtful::Copies { differ: false }]);
}

/// An unwritten copy beside a written one: no finding, and no proof. All undefined: a finding.
#[test]
fn an_undefined_copy_is_neither_fine_nor_an_error() {
    let mut next = noise(5);
    let registers = with_equal_copies(SHAPES[0], &mut next);
    for (unwritten, wrong) in [("%b1", false), ("%b5", false), ("%b1 %b5", true)] {
        let text: String = unwritten
            .split(' ')
            .map(|name| format!("{{ .reg .b32 %none; mov.b32 {name}, %none; }}\n"))
            .collect();
        let program = program(SHAPES[0], &text, "");
        for input in [Arg::In(bytes(&registers)), Arg::Opaque(2048)] {
            let outcome = check(&program, input);
            let undefined =
                outcome.findings.iter().any(|one| matches!(one.fault, Fault::Undefined { .. }));
            assert_eq!(undefined, wrong, "{unwritten}");
            let doubted = outcome.doubts.iter().any(|one| one.about == Doubtful::UndefinedCopy);
            assert_eq!(doubted, !wrong, "{unwritten}");
        }
        // An H200 multiplies the first.
        let (_, outcome) = simulate(&program, &registers);
        assert_eq!(outcome.findings.is_empty(), unwritten == "%b5");
    }
}
