//! Tests that fast paths give the same results as the general code ([`exec::Paths`]): random kernels run both
//! ways, and so do small ones with past differences.
//!
//! `cargo run -p exec --example paths -- 100000 SEED` runs more of them.

mod comparing;
mod launching;

use comparing::generator::Case;
use comparing::{compare, difference_on, lowered, shrink};
use exec::{Doubtful, Fault, Launch, Limits, Outcome, Paths, Reason};
use launching::{Arg, kernel, launch, program};

/// Checks a launch with the general code, and compares the fast paths.
fn both(program: &ir::Program, launch: &Launch) -> Outcome {
    let limits = Limits::default();
    assert_eq!(compare(program, launch, limits.lane_instructions), None);
    exec::check(program, launch, Limits { paths: Paths::General, ..limits })
}

/// Checks a kernel of one buffer of 64 zero bytes at `%rd1`, with the thread's number in `%r1`.
fn small(threads: u32, body: &str) -> Outcome {
    let start = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;";
    let program = kernel("", ".param .u64 p", &format!("{start}\n{body}"));
    let args = [Arg::InOut(vec![0; 64])];
    both(&program, &launch(&program, "k", [1; 3], [threads, 1, 1], 0, &args))
}

/// Counts the races with different values.
fn races(outcome: &Outcome) -> usize {
    let harmful = |fault: &Fault| matches!(fault, Fault::Race(race) if !race.same_value);
    outcome.findings.iter().filter(|finding| harmful(&finding.fault)).count()
}

#[test]
fn random_kernels() {
    let (mut valid, mut ended) = (0, 0);
    for seed in 0..1500 {
        let case = Case::new((3 << 32) + seed);
        let Some(program) = lowered(&case) else { continue };
        valid += 1;
        let limits = Limits { lane_instructions: 400_000, ..Limits::default() };
        ended += u32::from(exec::run(&program, &case.launch(&program), limits).gap.is_none());
        if difference_on(&case).is_some() {
            let case = shrink(case);
            panic!("seed {seed}\n{}\n{}", case.text(), difference_on(&case).unwrap_or_default());
        }
    }
    assert!(valid > 1450 && ended > 750, "{valid} kernels, {ended} run to their end");
}

#[test]
fn sums_of_parts() {
    let program = program("cuda/e_reduce.sm_80.ptx");
    let args = [Arg::Opaque(4 * 1024), Arg::Out(4 * 4)];
    let launch = launch(&program, "reduce_tree", [4, 1, 1], [256, 1, 1], 0, &args);
    let outcome = both(&program, &launch);
    assert_eq!((outcome.blocks, outcome.gap), (4, None));
}

#[test]
fn a_store_that_releases_is_a_fence() {
    let body = "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;
        @%p1 st.global.u32 [%rd1], 5; @%p1 st.release.gpu.global.u32 [%rd1+32], 1;
        @%p2 ld.acquire.gpu.global.u32 %r2, [%rd1+32]; @%p2 ld.global.u32 %r3, [%rd1];";
    let outcome = small(33, body);
    assert_eq!(races(&outcome), 0);
    let reasons: Vec<&str> = outcome.undecided.iter().map(|open| open.reason).collect();
    assert!(reasons.contains(&"fences might order them"), "{reasons:?}");
}

#[test]
fn a_load_that_acquires_is_a_fence_whatever_it_loads() {
    let module = ".const .align 4 .u32 flag = 1;";
    let start = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u64 %rd2, flag;
        cvta.const.u64 %rd2, %rd2;";
    let body = "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;
        @%p1 st.global.u32 [%rd1], 5; @%p1 fence.acq_rel.gpu;
        @%p2 ld.acquire.gpu.u32 %r2, [%rd2]; @%p2 ld.global.u32 %r3, [%rd1];";
    let program = kernel(module, ".param .u64 p", &format!("{start}\n{body}"));
    let args = [Arg::InOut(vec![0; 64])];
    let outcome = both(&program, &launch(&program, "k", [1; 3], [33, 1, 1], 0, &args));
    assert_eq!(races(&outcome), 0);
}

/// Rows of matrices that are read, and then written with and without a barrier between. Rows may be the same.
#[test]
fn reads_of_matrices_are_kept_aside() {
    let start = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r7, smem;
        .reg .b16 %rs<3>; setp.lt.u32 %p1, %r1, 32;";
    let shared = ".shared .align 16 .b8 smem[2048];";
    let fill = "and.b32 %r2, %r1, 31; mad.lo.u32 %r3, %r2, 16, %r7;
        @%p1 st.shared.v4.b32 [%r3], {%r1, %r1, %r2, %r2}; bar.sync 0;";
    for same in ["", "and.b32 %r2, %r2, 15; mad.lo.u32 %r3, %r2, 16, %r7;"] {
        for trans in ["", ".trans"] {
            let load = format!(
                "ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r4, %r5, %r6, %r8}}, [%r3];"
            );
            let often = load.repeat(3);
            for barrier in ["", "bar.sync 0;"] {
                for bytes in ["b32", "u16"] {
                    let value = if bytes == "b32" { "%r4" } else { "%rs1" };
                    let store = format!(
                        "cvt.u16.u32 %rs1, %r4; and.b32 %r8, %r1, 31; mad.lo.u32 %r8, %r8, 4, %r7; @%p1 st.shared.{bytes} [%r8+64], {value};"
                    );
                    for before in ["", "ld.shared.u16 %rs1, [%r3];"] {
                        let body = format!(
                            "{start} {fill} {same} {before} {often} {barrier} {store} {barrier} {load}"
                        );
                        let program = kernel(shared, ".param .u64 p", &body);
                        let args = [Arg::InOut(vec![0; 64])];
                        let launch = launch(&program, "k", [1; 3], [64, 1, 1], 0, &args);
                        let races = races(&both(&program, &launch));
                        assert_eq!(races == 0, !barrier.is_empty(), "{body}: {races} races");
                    }
                }
            }
        }
    }
}

#[test]
fn a_value_that_stays_excuses_itself_and_not_its_neighbours() {
    // Both threads leave 7 in the second word; only one writes the first.
    let first = "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1+4], 7;";
    let second = "@!%p1 st.global.v2.u32 [%rd1], {%r2, %r3};";
    let same = small(2, &format!("mov.u32 %r2, 5; mov.u32 %r3, 7; {first} {second}"));
    assert_eq!(races(&same), 0, "{:?}", same.findings);
    let other = small(2, &format!("mov.u32 %r2, 0; mov.u32 %r3, 8; {first} {second}"));
    assert_eq!(races(&other), 1, "{:?}", other.findings);
}

#[test]
fn a_reason_comes_from_a_thread_that_is_there() {
    // A warp of 13 threads: 7 get a value that the schedule decides, the others an undefined one. In lanes without
    // a thread that one would be data.
    let body = "ld.global.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r1, 7; @!%p1 bra B;
        atom.shared.exch.b32 %r3, [smem], %r1; bra E;
        B: xor.b32 %r3, %r2, %r8;
        E: st.global.v2.u16 [%rd2], {%r2, %r3};";
    let start = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r1, %tid.x;";
    let shared = ".shared .align 4 .b8 smem[4];";
    let program = kernel(shared, ".param .u64 p, .param .u64 q", &format!("{start}\n{body}"));
    let args = [Arg::Opaque(64), Arg::InOut(vec![0; 64])];
    let outcome = both(&program, &launch(&program, "k", [1; 3], [13, 1, 1], 0, &args));
    let schedule = |doubt: &exec::Doubt| {
        matches!(
            doubt.about,
            Doubtful::Undetermined {
                reason: Reason::Schedule("the result of an atomic operation"),
                ..
            }
        )
    };
    assert!(outcome.doubts.iter().any(schedule), "{:?}", outcome.doubts);
}
