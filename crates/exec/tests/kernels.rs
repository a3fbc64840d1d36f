//! Runs kernels of the corpus on numbers and compares them with plain Rust.

mod launching;

use launching::{Arg, assert_close, bytes, clean, floats, launch, noise, program};

fn softmax_rows(x: &[f32], n: usize) -> Vec<f32> {
    let row = |row: &[f32]| {
        let sum: f32 = row.iter().map(|v| v.exp()).sum();
        row.iter().map(|v| v.exp() / sum).collect::<Vec<_>>()
    };
    x.chunks(n).flat_map(row).collect()
}

#[test]
fn softmax_of_every_producer() {
    let (rows, n) = (3usize, 300usize);
    let x = noise(rows * n, 1);
    let want = softmax_rows(&x, n);
    for file in [
        "cuda/a_softmax.sm_80.ptx",
        "cuda/a_softmax.sm_80.fast.ptx",
        "cuda/a_softmax.sm_100a.ptx",
        "cuda/clang19/a_softmax.sm_80.ptx",
    ] {
        let program = program(file);
        for kernel in ["softmax_naive", "softmax_safe", "softmax_online"] {
            let args = [Arg::In(bytes(&x)), Arg::Out(x.len() * 4), Arg::Int(n as i32)];
            let launch = launch(&program, kernel, [rows as u32, 1, 1], [128, 1, 1], 0, &args);
            let outcome = clean(&program, &launch);
            assert_close(&floats(&outcome.buffers[1]), &want);
        }
    }
}

fn product(a: &[f32], b: &[f32], (m, n, k): (usize, usize, usize)) -> Vec<f32> {
    let element = |r: usize, c: usize| (0..k).map(|i| a[r * k + i] * b[i * n + c]).sum();
    (0..m * n).map(|i| element(i / n, i % n)).collect()
}

#[test]
fn matrix_products() {
    let (m, n, k) = (128, 64, 48);
    let (a, b) = (noise(m * k, 2), noise(k * n, 3));
    let want = product(&a, &b, (m, n, k));
    for file in
        ["cuda/c_sgemm.sm_80.ptx", "cuda/c_sgemm.sm_100a.ptx", "cuda/clang19/c_sgemm.sm_80.ptx"]
    {
        let program = program(file);
        for (kernel, grid, block) in [
            ("sgemm_tiled", [n as u32 / 64, m as u32 / 64, 1], [256, 1, 1]),
            ("sgemm_naive", [n as u32 / 16, m as u32 / 16, 1], [16, 16, 1]),
        ] {
            let args = [
                Arg::In(bytes(&a)),
                Arg::In(bytes(&b)),
                Arg::Out(m * n * 4),
                Arg::Int(m as i32),
                Arg::Int(n as i32),
                Arg::Int(k as i32),
            ];
            let launch = launch(&program, kernel, grid, block, 0, &args);
            let outcome = clean(&program, &launch);
            assert_close(&floats(&outcome.buffers[2]), &want);
        }
    }
}

#[test]
fn reductions() {
    let x = noise(512, 4);
    let want: Vec<f32> = x.chunks(256).map(|block| block.iter().sum()).collect();
    let program = program("cuda/e_reduce.sm_80.ptx");
    for kernel in ["reduce_tree", "reduce_shfl", "reduce_syncwarp"] {
        let args = [Arg::In(bytes(&x)), Arg::Out(8)];
        let launch = launch(&program, kernel, [2, 1, 1], [256, 1, 1], 0, &args);
        let outcome = clean(&program, &launch);
        assert_close(&floats(&outcome.buffers[1]), &want);
    }
}

#[test]
fn triton_kernels() {
    let n = 1000;
    let (x, y) = (noise(n, 5), noise(n, 6));
    let sum: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    for file in ["triton/vadd.sm_80.ptx", "triton/vadd.sm_90.ptx", "triton/vadd.sm_100.ptx"] {
        let program = program(file);
        let args = [
            Arg::In(bytes(&x)),
            Arg::In(bytes(&y)),
            Arg::Out(n * 4),
            Arg::Int(n as i32),
            Arg::Null,
            Arg::Null,
        ];
        let launch = launch(&program, "vadd", [1, 1, 1], [128, 1, 1], 0, &args);
        let outcome = clean(&program, &launch);
        assert_close(&floats(&outcome.buffers[2]), &sum);
    }
}

#[test]
fn too_large_tensors_are_a_gap_and_no_crash() {
    let program = program("cuda/e_reduce.sm_80.ptx");
    let args = [Arg::In(bytes(&[0.0])), Arg::Out(1 << 40)];
    let large = launch(&program, "reduce_tree", [1, 1, 1], [256, 1, 1], 0, &args);
    let outcome = exec::run(&program, &large, exec::Limits::default());
    assert!(outcome.gap.unwrap().reason.contains("buffers and module variables"));
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {
        .local .b8 huge[9223372036854775807]; .reg .b64 %rd<2>; st.local.b64 [huge], 1; ret; }";
    let program = ptx::lower(&ptx::syntax::parse(text).module).program;
    let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[]);
    let outcome = exec::run(&program, &launch, exec::Limits::default());
    assert!(outcome.gap.unwrap().reason.contains("local memory of a thread"));
}

#[test]
fn a_kernel_without_a_body_is_a_gap() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .entry k(.param .u64 x);";
    let program = ptx::lower(&ptx::syntax::parse(text).module).program;
    let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[Arg::Null]);
    let outcome = exec::run(&program, &launch, exec::Limits::default());
    assert_eq!(outcome.gap.unwrap().reason, "the kernel is defined elsewhere");
}

#[test]
fn a_run_that_does_not_end_gives_up() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {
        .reg .b32 %r<2>; mov.u32 %r1, 0; loop: add.s32 %r1, %r1, 1; bra loop; }";
    let program = ptx::lower(&ptx::syntax::parse(text).module).program;
    let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[]);
    let limits = exec::Limits { lane_instructions: 1_000_000, ..exec::Limits::default() };
    let outcome = exec::run(&program, &launch, limits);
    assert!(outcome.gap.unwrap().reason.contains("gave up after"));
}

/// A time limit is checked inside a long block, too. With enough time the block runs to its end, and every instruction
/// counts once.
#[test]
fn a_long_block_is_left_when_the_time_is_up() {
    let adds = "add.s32 %r1, %r1, 1;\n".repeat(10_000);
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {{
        .shared .b32 s; .reg .b32 %r<2>; mov.u32 %r1, 0; {adds} barrier.sync 0; {adds}
        st.shared.b32 [s], %r1; ret; }}"
    );
    let program = ptx::lower(&ptx::syntax::parse(&text).module).program;
    let launch = launch(&program, "k", [1, 1, 1], [64, 1, 1], 0, &[]);
    let outcome = exec::run(&program, &launch, exec::Limits::default());
    assert_eq!((outcome.gap, outcome.lane_instructions), (None, 64 * 20_004));
    let limits = exec::Limits { time: Some(std::time::Duration::ZERO), ..exec::Limits::default() };
    let gap = exec::run(&program, &launch, limits).gap.unwrap();
    let count =
        gap.reason.strip_prefix("ran out of time after ").and_then(|rest| rest.split_once(' '));
    assert!(count.unwrap().0.parse::<u32>().unwrap() < 32 * 10_000, "{}", gap.reason);
}

#[test]
fn threads_that_wait_for_each_other_are_a_deadlock() {
    // The barrier counts two warps, and there is one.
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {
        barrier.sync 1, 64; ret; }";
    let program = ptx::lower(&ptx::syntax::parse(text).module).program;
    let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[]);
    let outcome = exec::run(&program, &launch, exec::Limits::default());
    assert!(matches!(outcome.findings[0].fault, exec::Fault::Deadlock { waiting: 32, .. }));
}

/// Barriers are counted for each thread, collectives for each lane, wherever the lanes meet.
#[test]
fn synchronisation_is_counted() {
    // Two warps of 32: all shuffle, even and odd lanes meet at two warp barriers and vote at two
    // instructions, one warp arrives at a barrier where the other waits, and all wait at the last.
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {
        .reg .b32 %r<6>; .reg .pred %p<4>;
        mov.u32 %r0, %tid.x; shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;
        and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; setp.lt.u32 %p3, %r0, 32; @%p0 bra even;
        bar.warp.sync -1; vote.sync.any.pred %p1, %p0, -1; bra.uni after;
        even: bar.warp.sync -1; vote.sync.any.pred %p1, %p0, -1;
        after: @%p3 bra first; barrier.sync 1, 64; bra.uni last;
        first: barrier.arrive 1, 64;
        last: barrier.sync 0; ret; }";
    let program = ptx::lower(&ptx::syntax::parse(text).module).program;
    let launch = launch(&program, "k", [3, 1, 1], [64, 1, 1], 0, &[]);
    let outcome = clean(&program, &launch);
    assert_eq!(outcome.syncs, exec::Syncs { block: 3 * 64 * 2, warp: 3 * 64 * 3 });
    assert_eq!(exec::check(&program, &launch, exec::Limits::default()).syncs, outcome.syncs);
}
