//! Writes at addresses that depend on data, checked against all values of the indices: random kernels of three
//! threads that store and add at computed places. A proof must hold for every choice of the indices, run on numbers;
//! a refutation must be right for one.

use crate::answer;
use crate::corpus::Flags;
use crate::indexed::launch;
use driver::check;
use driver::{Colour, Exit, Input};
use exec::{Contents, Limits};
use testing::Random;

/// The number of pairs. A share of them must be settled, or the test shows little.
const PAIRS: u64 = 250;

/// The number of elements written to.
const PLACES: usize = 12;

/// A write: the computation of its place from two indices, its value, and its kind.
#[derive(Clone)]
struct Write {
    place: String,
    value: &'static str,
    adds: bool,
}

/// The writes of each thread in order, perhaps with a barrier between.
#[derive(Clone)]
struct Kernel {
    writes: Vec<Write>,
    barrier: bool,
}

fn place(random: &mut Random) -> String {
    let small = random.below(4_u32);
    let own = random.pick(&["%r2", "%r2", "%r2", "%r3"]);
    match random.below(7_u32) {
        0..3 => format!("mov.u32 %r4, {own};"),
        3 => format!("add.s32 %r4, {own}, {small};"),
        4 => format!("mad.lo.s32 %r4, {own}, 2, {};", small % 2),
        5 => format!("mad.lo.s32 %r4, {own}, {}, %r1;", small % 3 + 1),
        _ => format!("sub.s32 %r4, {}, {own};", small + 4),
    }
}

fn write(random: &mut Random, adds: bool) -> Write {
    let value = random.pick(&["%r7", "%r7", "%r1", "1", "%r8"]);
    Write { place: place(random), value, adds }
}

fn kernel(random: &mut Random) -> Kernel {
    let adds = random.chance(40);
    let count = if random.chance(30) { 2 } else { 1 };
    let writes = (0..count).map(|_| {
        let adds = adds != random.chance(5);
        write(random, adds)
    });
    let writes = writes.collect();
    Kernel { writes, barrier: random.chance(15) }
}

/// Makes a twin of a kernel: with its writes in another form, or with one of them changed.
fn twin(kernel: &Kernel, random: &mut Random) -> Kernel {
    let mut twin = kernel.clone();
    let at = random.below(twin.writes.len());
    match random.below(5_u32) {
        0 => twin.writes[at].place = place(random),
        1 => twin.writes[at] = write(random, kernel.writes[at].adds),
        2 => twin.writes.reverse(),
        3 => {
            // The same place, computed in another way.
            let more = "add.s32 %r4, %r4, 7; sub.s32 %r4, %r4, 7;";
            twin.writes[at].place.push_str(more);
        }
        _ => {}
    }
    twin
}

/// Writes a kernel. Thread `%r1` has a block of its own, or is one of three in a block. It has its own index in `%r2`
/// and the next thread's in `%r3`, and likewise numbers of `x` in `%r7` and `%r8`.
fn text(kernel: &Kernel, id: &str) -> String {
    let mut body = String::new();
    for (number, write) in kernel.writes.iter().enumerate() {
        if number > 0 && kernel.barrier {
            body += "bar.sync 0;\n";
        }
        let operation = if write.adds { "red.global.add.u32" } else { "st.global.u32" };
        body += &format!(
            "{} mul.wide.s32 %rd6, %r4, 4; add.s64 %rd7, %rd3, %rd6; mov.u32 %r6, {}; {operation} [%rd7], %r6;\n",
            write.place, write.value
        );
    }
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n
        .entry k(.param .u64 x, .param .u64 idx, .param .u64 out) {{
        .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .pred %p<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [idx]; ld.param.u64 %rd3, [out];
        mov.u32 %r1, {id}; mul.wide.u32 %rd4, %r1, 4; add.s32 %r9, %r1, 1; rem.u32 %r9, %r9, 3;
        mul.wide.u32 %rd5, %r9, 4;
        add.s64 %rd8, %rd2, %rd4; ld.global.u32 %r2, [%rd8];
        add.s64 %rd9, %rd2, %rd5; ld.global.u32 %r3, [%rd9];
        add.s64 %rd10, %rd1, %rd4; ld.global.u32 %r7, [%rd10];
        add.s64 %rd11, %rd1, %rd5; ld.global.u32 %r8, [%rd11];
        {body} ret; }}"
    )
}

/// Returns the result of a kernel for given indices; `None` if it has a fault.
fn run(text: &str, shape: &str, indices: [i32; 3]) -> Option<Vec<u8>> {
    let flags = format!("{shape} --arg x=s32[3] --arg idx=s32[3] --arg out=s32[12]:inout");
    let (program, mut launch) = launch(text, &flags);
    let bytes = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    launch.buffers[0].contents = Contents::Known(bytes(&[1000, 20_000, 300_000]));
    launch.buffers[1].contents = Contents::Known(bytes(&indices));
    let before: Vec<i32> = (0..PLACES as i32).map(|at| 70 + at).collect();
    launch.buffers[2].contents = Contents::Known(bytes(&before));
    let outcome = exec::check(&program, &launch, Limits::default());
    assert!(outcome.gap.is_none(), "{:?} {text}", outcome.gap);
    let fails = outcome.findings.iter().any(|finding| !finding.fault.is_note());
    (!fails).then(|| outcome.buffers[2].clone())
}

#[test]
fn verdicts_hold_for_all_indices() {
    let mut random = Random::new(0x5ca7);
    // Counts for single kernels and for pairs: proved, refuted.
    let mut settled = [[0_u64; 2]; 2];
    for number in 0..PAIRS {
        let one = kernel(&mut random);
        let other = twin(&one, &mut random);
        let (shape, id) = random.pick(&[
            ("--grid 3 --block 1", "%ctaid.x"),
            ("--grid 1 --block 3", "%tid.x"),
            ("--grid 1 --block 3", "%tid.x"),
        ]);
        let texts = [&one, &other].map(|kernel| text(kernel, id));
        let low = random.below(2_i64);
        let high = low + 3 + random.below(2_i64);
        let distinct = random.chance(50);
        let arguments = format!(
            "--arg x=s32[3] --arg idx=s32[3]:{low}..{high}{} --arg out=s32[12]:inout",
            if distinct { ":distinct" } else { "" }
        );
        let flags = Flags::parse(&format!("{shape} {arguments}"));
        let all = || {
            let range = low as i32..high as i32;
            let pairs = range.clone().flat_map(|a| (low as i32..high as i32).map(move |b| (a, b)));
            pairs.flat_map(move |(a, b)| range.clone().map(move |c| [a, b, c]))
        };
        let allowed =
            |at: &[i32; 3]| !distinct || at[0] != at[1] && at[1] != at[2] && at[0] != at[2];
        let left = texts
            .each_ref()
            .map(|text| all().filter(allowed).map(|at| run(text, shape, at)).collect::<Vec<_>>());
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
            settled[0][usize::from(fails)] += 1;
        }
        let (exit, text) = answer(inputs.each_ref(), [None; 2], &[flags.clone(), flags.clone()]);
        let fails = left.iter().flatten().any(Option::is_none);
        let case = format!("{number} {arguments}\n{text}\n{}\n{}", texts[0], texts[1]);
        match exit {
            Exit::Success => assert!(!fails && left[0] == left[1], "{case}"),
            Exit::Refuted => assert!(fails || left[0] != left[1], "{case}"),
            _ => continue,
        }
        settled[1][usize::from(exit == Exit::Refuted)] += 1;
    }
    let few = settled.iter().flatten().any(|count| *count < PAIRS / 8);
    assert!(!few, "{settled:?}");
}
