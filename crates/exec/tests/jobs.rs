//! Tests parallel blocks: with any number of jobs, a check has the same findings as in ascending order.

mod launching;

use exec::{Launch, Limits, Outcome};
use launching::{Arg, kernel, launch, program};

const JOBS: [usize; 3] = [2, 3, 7];

/// Checks with one job, and compares with others.
fn checked(program: &ir::Program, launch: &Launch, limits: Limits) -> Outcome {
    let alone = exec::check(program, launch, limits);
    for jobs in JOBS {
        let together = exec::check(program, launch, Limits { jobs, ..limits });
        assert_eq!(together, alone, "{jobs} jobs");
    }
    alone
}

/// A kernel of one buffer of words, `%rd1`, with the block's number in `%r1` and its word at `%rd2`.
fn of_blocks(body: &str) -> ir::Program {
    let start = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd2, %rd1, %rd2;";
    kernel("", ".param .u64 p", &format!("{start}\n{body}"))
}

fn over(program: &ir::Program, blocks: u32, threads: u32) -> Launch {
    let words = Arg::InOut(vec![0; 4 * 64]);
    launch(program, "k", [blocks, 1, 1], [threads, 1, 1], 0, &[words])
}

fn words(outcome: &Outcome) -> Vec<u32> {
    let words = outcome.buffers[0].chunks_exact(4);
    words.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn blocks_that_share_nothing() {
    let program = of_blocks("st.global.u32 [%rd2], %r1;");
    let outcome = checked(&program, &over(&program, 64, 1), Limits::default());
    assert_eq!(words(&outcome), (0..64).collect::<Vec<u32>>());
    assert!(outcome.findings.is_empty() && outcome.blocks == 64);
}

#[test]
fn blocks_that_read_what_those_before_wrote() {
    let body = "ld.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 1; st.global.u32 [%rd2+4], %r2;";
    let program = of_blocks(body);
    let outcome = checked(&program, &over(&program, 63, 1), Limits::default());
    assert_eq!(words(&outcome), (0..64).collect::<Vec<u32>>());
    assert!(!outcome.findings.is_empty(), "a race between blocks");
}

#[test]
fn blocks_that_update_the_same_word() {
    let program = of_blocks("red.global.add.u32 [%rd1], 3;");
    let outcome = checked(&program, &over(&program, 50, 40), Limits::default());
    assert_eq!(words(&outcome)[0], 50 * 40 * 3);
}

#[test]
fn few_blocks_that_meet() {
    // Every eighth block writes the same word, and all write their own.
    let body = "st.global.u32 [%rd2], %r1; and.b32 %r2, %r1, 7; setp.eq.u32 %p1, %r2, 5;
        @%p1 st.global.u32 [%rd1+252], %r1;";
    let program = of_blocks(body);
    let outcome = checked(&program, &over(&program, 60, 2), Limits::default());
    assert_eq!(words(&outcome)[63], 53);
}

#[test]
fn unwritten_registers_are_stored() {
    let body = "setp.eq.u32 %p1, %r1, 3; @%p1 mov.u32 %r2, 77; st.global.u32 [%rd2], %r2;";
    let program = of_blocks(body);
    checked(&program, &over(&program, 40, 1), Limits::default());
}

#[test]
fn a_block_in_the_middle_stops() {
    let body = "setp.eq.u32 %p1, %r1, 20; @%p1 trap; st.global.u32 [%rd2], 1;
        @%p1 st.global.u32 [%rd2+4096], 1;";
    let program = of_blocks(body);
    let outcome = checked(&program, &over(&program, 40, 1), Limits::default());
    assert_eq!((outcome.blocks, outcome.gap.is_some()), (20, true));
}

#[test]
fn the_budget_ends_in_the_middle() {
    let program = of_blocks("st.global.u32 [%rd2], %r1;");
    let launch = over(&program, 40, 1);
    let all = exec::check(&program, &launch, Limits::default()).lane_instructions;
    // Clearing registers is charged, too.
    let mut blocks = std::collections::BTreeSet::new();
    for part in 0..100 {
        let limits = Limits { lane_instructions: 1 + part * all / 20, ..Limits::default() };
        let outcome = checked(&program, &launch, limits);
        assert_eq!(outcome.gap.is_none(), outcome.blocks == 40);
        blocks.insert(outcome.blocks);
    }
    assert!(blocks.len() > 20 && blocks.contains(&40), "{blocks:?}");
}

#[test]
fn a_loop_without_end_in_the_middle() {
    let body = "setp.ne.u32 %p1, %r1, 9; @%p1 bra over; again: bra again; over:";
    let program = of_blocks(body);
    let limits = Limits { lane_instructions: 100_000, ..Limits::default() };
    let outcome = checked(&program, &over(&program, 40, 1), limits);
    assert_eq!(outcome.blocks, 9);
}

#[test]
fn accesses_of_different_widths() {
    let body = "cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd1, %rd3; and.b32 %r2, %r1, 1;
        setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u8 [%rd3], %r1; @!%p1 st.global.u32 [%rd2+4], %r1;
        mov.u32 %r3, %tid.x; st.global.u16 [%rd1+250], %r3;";
    let program = of_blocks(body);
    let outcome = checked(&program, &over(&program, 60, 3), Limits::default());
    assert!(!outcome.findings.is_empty());
}

#[test]
fn sums_of_parts() {
    let program = program("cuda/e_reduce.sm_80.ptx");
    let args = [Arg::Opaque(4 * 4096), Arg::Out(4 * 16)];
    let launch = launch(&program, "reduce_tree", [16, 1, 1], [256, 1, 1], 0, &args);
    checked(&program, &launch, Limits::default());
}
