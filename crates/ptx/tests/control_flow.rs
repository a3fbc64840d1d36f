//! Blocks and reconvergence points of small functions.

use base::{Index, IndexVec};
use ir::{BlockId, Terminator};

/// The terminators of a kernel with this body, and the reconvergence point of each block.
fn flow(body: &str) -> (Vec<Terminator>, Vec<Option<usize>>) {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .entry k() {{ .reg .pred %p<4>; .reg .b32 %r<4>;\n{body}\n}}\n"
    );
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    let kernel = lowered.program.functions.iter().next().unwrap();
    let points: IndexVec<BlockId, Option<BlockId>> = ir::cfg::reconvergence(kernel);
    let terminators = kernel.blocks.iter().map(|block| block.terminator.clone()).collect();
    (terminators, points.iter().map(|point| point.map(|block| block.position())).collect())
}

#[test]
fn both_ways_of_a_branch_meet_behind_it() {
    // 0: branch to 2 or 1; 1: jump to 3; 2: falls into 3; 3: end.
    let (ends, reconvergence) = flow(
        "@%p1 bra then; mov.u32 %r1, 0; bra join;
         then: mov.u32 %r1, 1;
         join: ret;",
    );
    assert_eq!(ends.len(), 4);
    assert_eq!(reconvergence, [Some(3), Some(3), Some(3), None]);
}

#[test]
fn lanes_that_leave_a_loop_meet_behind_it() {
    // 0: before; 1: loop, branches to itself or 2; 2: end.
    let (_, reconvergence) = flow(
        "mov.u32 %r1, 0;
         loop: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 10; @%p1 bra loop;
         ret;",
    );
    assert_eq!(reconvergence, [Some(1), Some(2), None]);
}

#[test]
fn an_early_end_leaves_nothing_to_meet_at() {
    // 0: branch to 1 (end) or 2; 2: end.
    let (ends, reconvergence) = flow("@%p1 exit; mov.u32 %r1, 0; ret;");
    assert!(matches!(ends[1], Terminator::Exit) && matches!(ends[2], Terminator::Return));
    assert_eq!(reconvergence, [None, None, None]);
}

#[test]
fn an_endless_loop_meets_nowhere() {
    let (_, reconvergence) = flow("@%p1 bra forever; ret; forever: bra forever;");
    assert_eq!(reconvergence[2], None);
    assert_eq!(reconvergence[0], Some(1), "the only way that ends");
}

#[test]
fn a_branch_table_has_all_its_targets() {
    let (ends, reconvergence) = flow(
        "table: .branchtargets a, b, c; brx.idx %r1, table;
         a: mov.u32 %r2, 1; bra done; b: mov.u32 %r2, 2; bra done; c: mov.u32 %r2, 3;
         done: ret;",
    );
    assert!(matches!(&ends[0], Terminator::Table { targets, .. } if targets.len() == 3));
    assert_eq!(reconvergence[0], Some(4));
}

#[test]
fn a_guard_that_is_overwritten_still_holds_for_the_whole_instruction() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {
        .reg .pred %p<4>; .reg .b32 %r<4>; @%p1 setp.lt.s32 %p1|%p2, %r1, %r2; ret; }";
    let parsed = ptx::syntax::parse(text);
    let lowered = ptx::lower(&parsed.module);
    let kernel = lowered.program.functions.iter().next().unwrap();
    let text = ir::Printed { program: &lowered.program, function: kernel }.to_string();
    let writes_second = text.lines().find(|line| line.contains("%p2 =")).unwrap();
    assert!(!writes_second.contains("@%p1"), "{text}");
}
