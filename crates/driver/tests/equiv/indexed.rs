//! Reads through integers that are data, checked against all their values: random chains of integer operations
//! between an index and an address. A proof must hold for every choice of the indices, run on numbers; a refutation
//! must be right for one.

use crate::answer;
use crate::corpus::Flags;
use driver::arguments::{Arguments, Invocation, MissingData, Request, build_launch, select_kernel};
use driver::check;
use driver::{Colour, Exit, Input};
use exec::{Contents, Limits};
use testing::Random;

/// The number of pairs. At least a third must be settled, or the test shows little.
const PAIRS: u64 = 300;

/// Elements of the table.
const ROWS: usize = 24;

/// A chain from `%r2` and `%r3`, two indices, to `%r4`, and its conversion to a byte offset.
#[derive(Clone)]
struct Chain {
    steps: Vec<String>,
    widening: usize,
}

fn step(random: &mut Random) -> String {
    let small = random.below(8_u32);
    match random.below(16_u32) {
        0 => format!("add.s32 %r4, %r4, {small};"),
        1 => format!("sub.s32 %r4, %r4, {};", small % 3),
        2 => format!("sub.s32 %r4, {}, %r4;", small + 4),
        3 => format!("mul.lo.s32 %r4, %r4, {};", small % 4 + 1),
        4 => "add.s32 %r4, %r4, %r3;".to_owned(),
        5 => "sub.s32 %r4, %r4, %r3;".to_owned(),
        6 => format!("min.s32 %r4, %r4, {};", small + 2),
        7 => format!("max.s32 %r4, %r4, {};", small % 3),
        8 => format!("and.b32 %r4, %r4, {};", [1, 3, 7, 15][small as usize % 4]),
        9 => format!("shr.u32 %r4, %r4, {};", small % 3),
        10 => format!("shr.s32 %r4, %r4, {};", small % 3),
        11 => "shl.b32 %r4, %r4, 30; shr.u32 %r4, %r4, 30;".to_owned(),
        12 => "shl.b32 %r4, %r4, 29; shr.s32 %r4, %r4, 29;".to_owned(),
        13 => format!("setp.lt.s32 %p1, %r4, {small}; selp.b32 %r4, %r4, %r3, %p1;"),
        14 => "mul.lo.s32 %r4, %r4, 65537; and.b32 %r4, %r4, 65535;".to_owned(),
        _ => "cvt.s16.s8 %h1, %r4; cvt.s32.s16 %r4, %h1;".to_owned(),
    }
}

const WIDENINGS: [&str; 5] = [
    "mul.wide.s32 %rd6, %r4, 4; add.s64 %rd7, %rd1, %rd6;",
    "mul.wide.u32 %rd6, %r4, 4; add.s64 %rd7, %rd6, %rd1;",
    "cvt.s64.s32 %rd6, %r4; shl.b64 %rd6, %rd6, 2; add.s64 %rd7, %rd1, %rd6;",
    "cvt.u64.u32 %rd6, %r4; mad.lo.s64 %rd7, %rd6, 4, %rd1;",
    "shl.b32 %r5, %r4, 2; cvt.s64.s32 %rd6, %r5; sub.s64 %rd8, 0, %rd6; sub.s64 %rd7, %rd1, %rd8;",
];

fn chain(random: &mut Random) -> Chain {
    let steps = (0..random.below(4_u32)).map(|_| step(random)).collect();
    Chain { steps, widening: random.below(WIDENINGS.len()) }
}

/// Makes a twin of a chain: written in another way, or with another meaning.
fn twin(chain: &Chain, random: &mut Random) -> Chain {
    let mut twin = chain.clone();
    if random.below(2_u32) == 0 {
        twin.widening = random.below(WIDENINGS.len());
    }
    if random.below(2_u32) == 0 && !twin.steps.is_empty() {
        let at = random.below(twin.steps.len());
        twin.steps[at] = step(random);
    }
    twin
}

fn kernel(chain: &Chain) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n
        .entry k(.param .u64 table, .param .u64 idx, .param .u64 out) {{
        .reg .b32 %r<9>; .reg .b64 %rd<12>; .reg .f32 %f<3>; .reg .pred %p<3>; .reg .b16 %h<3>;
        ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [idx]; ld.param.u64 %rd3, [out];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;
        add.s64 %rd5, %rd2, %rd4; ld.global.u32 %r2, [%rd5];
        xor.b32 %r6, %r1, 1; mul.wide.u32 %rd9, %r6, 4; add.s64 %rd10, %rd2, %rd9;
        ld.global.u32 %r3, [%rd10]; mov.u32 %r4, %r2;
        {}
        {}
        ld.global.f32 %f1, [%rd7];
        add.s64 %rd11, %rd3, %rd4; st.global.f32 [%rd11], %f1; ret; }}",
        chain.steps.join("\n"),
        WIDENINGS[chain.widening]
    )
}

/// Builds the launch of the only kernel of a text.
pub(crate) fn launch(text: &str, flags: &str) -> (ir::Program, exec::Launch) {
    let program = ptx::lower(&ptx::syntax::parse(text).module).program;
    let flags = Flags::parse(flags);
    let arguments = Arguments { specs: flags.arguments, ..Arguments::default() };
    let built = build_launch(&Request {
        program: &program,
        kernel: select_kernel(&program, None).unwrap(),
        launch: &flags.launch,
        arguments: &arguments,
        declared: &[],
        others: &[],
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "check", file: "" },
    });
    let launch = built.unwrap().launch;
    (program, launch)
}

/// Returns the output of a kernel for given indices; `None` if it has a fault.
fn run(text: &str, indices: [i32; 2]) -> Option<Vec<u8>> {
    let flags = "--grid 1 --block 2 --arg table=f32[24] --arg idx=s32[2] --arg out=f32[2]:out";
    let (program, mut launch) = launch(text, flags);
    let table: Vec<u8> = (0..ROWS).flat_map(|at| (at as f32 + 1.0).to_le_bytes()).collect();
    launch.buffers[0].contents = Contents::Known(table);
    let indices = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    launch.buffers[1].contents = Contents::Known(indices);
    let outcome = exec::check(&program, &launch, Limits::default());
    assert!(outcome.gap.is_none(), "{:?} {text}", outcome.gap);
    outcome.findings.is_empty().then(|| outcome.buffers[2].clone())
}

#[test]
fn verdicts_hold_for_all_indices() {
    let mut random = Random::new(0x1d3);
    let mut settled = [0_u64; 2];
    for number in 0..PAIRS {
        let one = chain(&mut random);
        let other = twin(&one, &mut random);
        let texts = [&one, &other].map(kernel);
        let low = random.below(3_i64) - 1;
        let high = low + 1 + random.below(5_i64);
        let arguments =
            format!("--arg table=f32[24] --arg idx=s32[2]:{low}..{high} --arg out=f32[2]:out");
        let flags = Flags::parse(&format!("--grid 1 --block 2 {arguments}"));
        let indices = || (low..high).flat_map(|a| (low..high).map(move |b| [a as i32, b as i32]));
        let left =
            texts.each_ref().map(|text| indices().map(|at| run(text, at)).collect::<Vec<_>>());
        let inputs = texts
            .each_ref()
            .map(|text| Input::from_bytes("k.ptx", text.clone().into_bytes()).unwrap());
        for (input, left) in inputs.iter().zip(&left) {
            let outcome = flags
                .hand(input, None, |one| check::run(one, check::Options::default(), Colour::Plain));
            let fails = left.iter().any(Option::is_none);
            let case = format!("{number} {arguments}\n{}{}", outcome.output, input.source.text());
            match outcome.exit {
                Exit::Success => assert!(!fails, "{case}"),
                Exit::Refuted => assert!(fails, "{case}"),
                _ => continue,
            }
            settled[0] += 1;
        }
        let (exit, text) = answer(inputs.each_ref(), [None; 2], &[flags.clone(), flags.clone()]);
        let fails = left.iter().flatten().any(Option::is_none);
        let case = format!("{number} {arguments}\n{text}\n{}\n{}", texts[0], texts[1]);
        match exit {
            Exit::Success => assert!(!fails && left[0] == left[1], "{case}"),
            Exit::Refuted => assert!(fails || left[0] != left[1], "{case}"),
            _ => continue,
        }
        settled[1] += 1;
    }
    assert!(settled[0] >= PAIRS && settled[1] >= PAIRS / 3, "{settled:?}");
}
