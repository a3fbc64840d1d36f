//! Tests loops of compare-and-swap that become one update ([`ir::find_updates`]). Random loops run on
//! numbers, once as they are, and once with an instruction under a guard that never holds, which prevents the
//! pass.
//!
//! Lanes of a warp succeed in the order of their numbers, in a loop as in an atomic operation. So memory is
//! compared bit by bit, and so are the registers read after the loop.

mod launching;

use exec::{Limits, Outcome};
use ir::{AtomicOp, Op, Program};
use launching::{Arg, kernel, launch};
use testing::Random;

/// Threads of one warp and a part of another.
const THREADS: u32 = 37;

/// Writes a kernel with a random loop body. `%r1` is the guess, `%r2` the old value, `%r3` the thread's own
/// operand.
fn text(random: &mut Random, keeps_loop: bool) -> String {
    let mut body = String::new();
    let mut known = vec!["%r1", "%r3", "7", "0x80000001"];
    for target in ["%r4", "%r5", "%r6"].iter().take(random.below(3) + 1) {
        body += &operation(random, target, &known);
        known.push(target);
    }
    let new = if random.chance(90) { known[known.len() - 1] } else { random.pick(&known) };
    // The same in all lanes: a lane with an earlier correct guess precedes the others.
    let first = random.pick(&["mov.u32 %r1, 0;", "ld.global.u32 %r1, [%rd1];"]);
    let (relation, test) = random.pick(&[("ne", "@%p1"), ("eq", "@!%p1")]);
    let (a, b) = random.pick(&[("%r1", "%r2"), ("%r2", "%r1")]);
    let stays = if keeps_loop { "@%p2 mov.u32 %r8, 1;" } else { "" };
    format!(
        "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r7, %tid.x; setp.gt.u32 %p2, %r7, 1000;
         mul.wide.u32 %rd3, %r7, 20; add.u64 %rd2, %rd2, %rd3;
         ld.global.u32 %r3, [%rd2]; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;
         {first}
         again: {body} {stays}
         atom.global.cas.b32 %r2, [%rd1], %r1, {new};
         setp.{relation}.b32 %p1, {a}, {b};
         mov.b32 %r1, %r2; {test} bra again;
         st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u32 [%rd2+8], %r4;
         st.global.u32 [%rd2+12], %r5; st.global.u32 [%rd2+16], %r6;"
    )
}

/// Writes one operation on known registers, more often than not on the guess.
fn operation(random: &mut Random, target: &str, known: &[&str]) -> String {
    let a = if random.chance(60) { "%r1" } else { random.pick(known) };
    let b = random.pick(known);
    let (a, b) = if random.chance(50) { (a, b) } else { (b, a) };
    let name = random.pick(&[
        "add.u32",
        "add.s32",
        "min.s32",
        "max.s32",
        "min.u32",
        "max.u32",
        "and.b32",
        "or.b32",
        "xor.b32",
        "sub.s32",
        "mul.lo.u32",
        "shl.b32",
    ]);
    let float = random.pick(&[
        "add.rn.f32",
        "add.rn.ftz.f32",
        "add.f32",
        "add.rz.f32",
        "min.f32",
        "max.f32",
        "max.ftz.f32",
        "max.NaN.f32",
        "mul.rn.f32",
        "add.sat.f32",
    ]);
    match random.below(10) {
        0..5 => format!("{name} {target}, {a}, {b};"),
        5..9 => format!(
            "mov.b32 %f1, {a}; mov.b32 %f2, {b}; {float} %f3, %f1, %f2; mov.b32 {target}, %f3;"
        ),
        _ => format!("mov.u32 {target}, {a};"),
    }
}

/// Operands that combine special cases: small integers, infinities, NaN, subnormal numbers, zeros of both
/// signs.
fn operands(random: &mut Random) -> Vec<u8> {
    let special =
        [0, 1, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x0000_0400, 0x3f80_0000];
    let words = (0..5 * THREADS).map(|_| match random.below(4) {
        0 => random.pick(&special),
        1 => random.below(8),
        2 => (random.unit() as f32 * 8.0 - 4.0).to_bits(),
        _ => random.bits() as u32,
    });
    words.flat_map(u32::to_le_bytes).collect()
}

fn run(program: &Program, shared: &[u8], own: &[u8]) -> Outcome {
    run_threads(THREADS, program, shared, own)
}

fn run_threads(threads: u32, program: &Program, shared: &[u8], own: &[u8]) -> Outcome {
    let args = [Arg::InOut(shared.to_vec()), Arg::InOut(own.to_vec())];
    let launch = launch(program, "k", [1; 3], [threads, 1, 1], 0, &args);
    exec::run(program, &launch, Limits { lane_instructions: 2_000_000, ..Limits::default() })
}

fn is_update(program: &Program) -> bool {
    let mut all = program.functions.iter().flat_map(|function| function.instructions());
    all.any(|one| matches!(&one.op, Op::Atomic(atomic) if atomic.op != AtomicOp::CompareSwap))
}

/// Returns `true` if the loop of this seed becomes an update; panics if their results differ.
fn agrees(seed: u64) -> bool {
    let [plain, kept] = [false, true].map(|keeps| {
        let body = text(&mut Random::new(seed), keeps);
        kernel("", ".param .u64 p, .param .u64 q", &body)
    });
    assert!(!is_update(&kept), "seed {seed}: the loop that is to stay does not");
    let random = &mut Random::new(!seed);
    let (shared, own) = (operands(random)[..4].to_vec(), operands(random));
    let [update, by_loop] = [&plain, &kept].map(|program| run(program, &shared, &own));
    // As floats a NaN is never equal to itself, but bits are compared here; the pass ignores loops that do
    // not end.
    if by_loop.gap.is_none() {
        assert_eq!(update.gap, None, "seed {seed}");
        let text = text(&mut Random::new(seed), false);
        assert_eq!(update.buffers, by_loop.buffers, "seed {seed}\n{text}");
    }
    is_update(&plain)
}

#[test]
fn updates_leave_what_their_loops_leave() {
    let updates = (0..3000).filter(|seed| agrees(*seed)).count();
    assert!((600..2400).contains(&updates), "{updates} of 3000 loops are updates");
}

/// A loop that leaves early if the comparison `leaves` of `%r1`, the guess, and `%r3` holds, and else swaps.
fn early(first: &str, leaves: &str, swap: &str, behind: &str) -> Program {
    let body = format!(
        "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r7, %tid.x; setp.gt.u32 %p2, %r7, 1000;
         mul.wide.u32 %rd3, %r7, 20; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r3, [%rd2];
         {first}
         again: {leaves} bra done;
         {swap}
         setp.ne.b32 %p3, %r1, %r2; mov.b32 %r1, %r2; @%p3 bra again;
         done: {behind}"
    );
    kernel("", ".param .u64 p, .param .u64 q", &body)
}

const LOAD: &str = "ld.global.u32 %r1, [%rd1];";
const SWAP: &str = "atom.global.cas.b32 %r2, [%rd1], %r1, %r3;";

#[test]
fn loops_that_leave_early_are_extrema() {
    for signed in ["s32", "u32"] {
        for relation in ["lt", "le", "gt", "ge"] {
            for sides in ["%r1, %r3", "%r3, %r1"] {
                for guard in ["@%p1", "@!%p1"] {
                    let leaves = format!("setp.{relation}.{signed} %p1, {sides}; {guard}");
                    let update = early(LOAD, &leaves, SWAP, "");
                    let kept = early(LOAD, &leaves, &format!("{SWAP} @%p2 mov.u32 %r8, 1;"), "");
                    assert!(is_update(&update) && !is_update(&kept), "{leaves}");
                    for seed in 0..40 {
                        let random = &mut Random::new(seed);
                        let (shared, own) = (operands(random)[..4].to_vec(), operands(random));
                        let [update, kept] = [&update, &kept].map(|one| run(one, &shared, &own));
                        assert_eq!((update.gap.clone(), kept.gap.clone()), (None, None));
                        assert_eq!(update.buffers, kept.buffers, "{leaves} {seed}");
                        assert_eq!(update.findings, []);
                    }
                }
            }
        }
    }
}

/// Each is close to a maximum, and is none.
#[test]
fn loops_that_leave_early_and_are_no_extrema() {
    let leaves = "setp.ge.s32 %p1, %r1, %r3; @%p1";
    let unchanged = (LOAD, leaves, SWAP, "");
    assert!(is_update(&early(unchanged.0, unchanged.1, unchanged.2, unchanged.3)));
    let table = [
        // A guess that memory never held: a thread with less leaves memory as it is.
        ("mov.u32 %r1, 0;", leaves, SWAP, ""),
        ("ld.global.u32 %r1, [%rd1+4];", leaves, SWAP, ""),
        ("ld.global.nc.u32 %r1, [%rd1];", leaves, SWAP, ""),
        // A guess from before a barrier.
        ("ld.global.u32 %r1, [%rd1]; bar.sync 0;", leaves, SWAP, ""),
        ("ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1;", leaves, SWAP, ""),
        // It stores something else than it compares.
        (LOAD, leaves, "atom.global.cas.b32 %r2, [%rd1], %r1, %r7;", ""),
        (LOAD, leaves, "add.u32 %r4, %r3, 1; atom.global.cas.b32 %r2, [%rd1], %r1, %r4;", ""),
        (LOAD, "setp.ge.s32 %p1, %r1, %r7; @%p1", SWAP, ""),
        (LOAD, "setp.ge.s32 %p1, %r7, %r3; @%p1", SWAP, ""),
        (LOAD, "setp.eq.s32 %p1, %r1, %r3; @%p1", SWAP, ""),
        // An equal number of the other sign is swapped.
        (LOAD, "mov.b32 %f1, %r1; mov.b32 %f2, %r3; setp.gt.f32 %p1, %f1, %f2; @%p1", SWAP, ""),
        // The result is used.
        (LOAD, leaves, SWAP, "st.global.u32 [%rd2], %r1;"),
        (LOAD, leaves, SWAP, "st.global.u32 [%rd2], %r2;"),
        // A swap that orders memory and may not happen, and a guess that orders memory.
        (LOAD, leaves, "atom.acq_rel.gpu.global.cas.b32 %r2, [%rd1], %r1, %r3;", ""),
        ("ld.acquire.gpu.global.u32 %r1, [%rd1];", leaves, SWAP, ""),
        // Another side effect, and another word.
        (LOAD, leaves, "st.global.u32 [%rd2], %r7; atom.global.cas.b32 %r2, [%rd1], %r1, %r3;", ""),
        (LOAD, leaves, "atom.global.cas.b32 %r2, [%rd1+4], %r1, %r3;", ""),
    ];
    for (first, leaves, swap, behind) in table {
        assert!(
            !is_update(&early(first, leaves, swap, behind)),
            "{first} {leaves} {swap} {behind}"
        );
    }
}

/// Loops that stay are not races, and nothing is claimed about them that the schedule decides.
#[test]
fn loops_that_leave_early_and_stay_are_open() {
    let floats = "mov.b32 %f1, %r1; mov.b32 %f2, %r3; setp.gt.f32 %p1, %f1, %f2; @%p1";
    let program = early(LOAD, floats, SWAP, "");
    let own: Vec<u8> = (0..5 * THREADS).flat_map(|at| (at as f32).to_le_bytes()).collect();
    let args = [Arg::InOut(vec![0; 4]), Arg::InOut(own)];
    let launch = launch(&program, "k", [1; 3], [THREADS, 1, 1], 0, &args);
    let outcome = exec::check(&program, &launch, Limits::default());
    assert_eq!(outcome.findings, []);
    assert!(outcome.gap.is_some() || !outcome.doubts.is_empty() || !outcome.undecided.is_empty());
}

/// A loop in several blocks, or one that loads its guess in each iteration. `relation` compares floats.
fn other_form(number: usize, relation: &str, sides: &str, keeps: bool) -> Program {
    let stays = if keeps { "@%p2 mov.u32 %r8, 1;" } else { "" };
    let test = |leaves: &str| {
        format!("mov.b32 %f1, %r1; mov.b32 %f2, %r3; setp.{relation}.f32 %p1, {sides}; {leaves}")
    };
    let (test_done, test_again) = (test("@%p1 bra done;"), test("@!%p1 bra again;"));
    let chosen = "selp.b32 %r4, %r1, %r3, %p1;";
    let body = match number {
        // while (better) old = swap
        0 => format!(
            "{LOAD} {test_done} again: {stays} atom.global.cas.b32 %r1, [%rd1], %r1, %r3; {test_again} done:"
        ),
        // for (;;) { if (!better) break; swap; if (swapped) break; }
        1 => format!(
            "{LOAD} again: {test_done} {stays} {SWAP} setp.eq.u32 %p3, %r2, %r1; mov.b32 %r1, %r2; @%p3 bra done; bra again; done:"
        ),
        // A load in each iteration.
        2 => format!(
            "again: {LOAD} {test_done} {stays} {SWAP} setp.ne.u32 %p3, %r1, %r2; @%p3 bra again; done:"
        ),
        // A choice.
        _ => format!(
            "again: {LOAD} {} {chosen} {stays} atom.global.cas.b32 %r2, [%rd1], %r1, %r4;
             setp.ne.u32 %p3, %r1, %r2; @%p3 bra again; done:",
            test("")
        ),
    };
    let body = format!(
        "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r7, %tid.x; setp.gt.u32 %p2, %r7, 1000;
         mul.wide.u32 %rd3, %r7, 20; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r3, [%rd2]; {body} ret;"
    );
    kernel("", ".param .u64 p, .param .u64 q", &body)
}

/// Updates of floats by comparison are the loops to the bit: NaN, infinities, zeros of both signs, subnormal numbers.
/// With several threads, NaN and zeros are left out: there the order decides, and a loop that leaves early has another
/// one.
#[test]
fn loops_that_compare_floats_leave_the_same_bits() {
    let (mut updates, mut loops) = (0, 0);
    let relations =
        ["lt", "le", "gt", "ge", "ltu", "leu", "gtu", "geu", "lt.ftz", "gt.ftz", "leu.ftz", "eq"];
    for number in 0..4 {
        for relation in relations {
            for sides in ["%f1, %f2", "%f2, %f1"] {
                let [update, kept] =
                    [false, true].map(|keeps| other_form(number, relation, sides, keeps));
                assert!(!is_update(&kept));
                updates += usize::from(is_update(&update));
                loops += usize::from(!is_update(&update));
                // Loops that stay may never end.
                for seed in (0..30).filter(|_| is_update(&update)) {
                    let random = &mut Random::new(seed);
                    let (mut shared, mut own) = (operands(random)[..4].to_vec(), operands(random));
                    let threads = if seed < 20 { 1 } else { THREADS };
                    if threads > 1 {
                        for word in shared.chunks_exact_mut(4).chain(own.chunks_exact_mut(4)) {
                            let number = (random.below(1000_u32) as f32 + 1.0) / 8.0 - 60.0;
                            let number = if number == 0.0 { 0.5 } else { number };
                            word.copy_from_slice(&number.to_le_bytes());
                        }
                    }
                    let [one, other] =
                        [&update, &kept].map(|one| run_threads(threads, one, &shared, &own));
                    let case = format!("{number} {relation} {sides} {seed}");
                    assert_eq!((one.gap, other.gap), (None, None), "{case}");
                    assert_eq!(one.buffers, other.buffers, "{case}");
                }
            }
        }
    }
    assert!(updates >= 30 && loops >= 30, "{updates} updates, {loops} loops");
}

/// Threads raise one number to their own, in a loop that leaves early, and then run `behind`.
fn raised(top: Arg, own: &[u32], behind: &str) -> Outcome {
    raised_if("setp.ge.s32 %p1, %r1, %r3; @%p1", top, own, behind)
}

/// The same, with another condition for leaving.
fn raised_if(leaves: &str, top: Arg, own: &[u32], behind: &str) -> Outcome {
    let program = early(LOAD, leaves, SWAP, behind);
    let words = own.iter().flat_map(|&own| [own, 0, 0, 0, 0]);
    let own: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let threads = own.len() as u32 / 20;
    let args = [top, Arg::InOut(own)];
    let launch = launch(&program, "k", [1; 3], [threads, 1, 1], 0, &args);
    exec::check(&program, &launch, Limits::default())
}

/// Reads the number plainly in all threads, or in the first.
const READ: &str = "ld.global.u32 %r8, [%rd1]; st.global.u32 [%rd2+4], %r8;";
const FIRST_READS: &str = "setp.eq.u32 %p1, %r7, 0; @!%p1 bra end; ld.global.u32 %r8, [%rd1];
     st.global.u32 [%rd2+4], %r8; end: ret;";

#[test]
fn a_loop_that_swaps_nothing_only_reads() {
    let word = |number: u32| number.to_le_bytes().to_vec();
    let is_clean = |outcome: &Outcome| {
        outcome.findings.is_empty() && outcome.undecided.is_empty() && outcome.gap.is_none()
    };
    // Memory has a better number than all threads.
    assert!(is_clean(&raised(Arg::InOut(word(9)), &[1, 9, 3], READ)));
    assert!(is_clean(&raised(Arg::In(word(9)), &[1, 9, 3], "")));
    // The second thread writes in every schedule.
    let outcome = raised(Arg::InOut(word(9)), &[1, 10, 3], READ);
    assert!(!outcome.findings.is_empty());
    let outcome = raised(Arg::In(word(9)), &[1, 10, 3], "");
    assert!(!outcome.findings.is_empty());
    // The second thread writes if it is faster than the first, which then reads.
    let outcome = raised(Arg::InOut(word(0)), &[10, 3], FIRST_READS);
    assert_eq!(outcome.findings, []);
    assert!(outcome.undecided.iter().all(exec::Undecided::depends_on_contents));
    assert!(!outcome.undecided.is_empty());
    // The second thread swaps an equal number, which is a write.
    let leaves = "setp.gt.s32 %p1, %r1, %r3; @%p1";
    assert!(is_clean(&raised_if(leaves, Arg::InOut(word(9)), &[1, 8, 3], READ)));
    let outcome = raised_if(leaves, Arg::InOut(word(9)), &[1, 9, 3], READ);
    assert!(!outcome.undecided.is_empty());
    assert!(raised_if(leaves, Arg::In(word(9)), &[1, 9, 3], "").gap.is_some());
    // Nobody knows whether the threads write.
    let outcome = raised(Arg::Opaque(4), &[10, 3], "");
    assert_eq!(outcome.findings, []);
    assert!(outcome.gap.is_some());
}
