//! Tests source sizes of asynchronous copies: at most the size of the copy, in every copying lane.

mod launching;

use exec::{Fault, Limits, Outcome};
use launching::{Arg, kernel, launch};

fn run(size: &str, bytes: u32, guard: &str, input: Arg) -> Outcome {
    let cache = if bytes == 16 { "cg" } else { "ca" };
    let body = format!(
        "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r8, %tid.x; mov.b32 %r7, tile;
        mad.wide.u32 %rd3, %r8, {bytes}, %rd1; mad.lo.u32 %r1, %r8, {bytes}, %r7; {size}
        {guard} cp.async.{cache}.shared.global [%r1], [%rd3], {bytes}, %r2;
        cp.async.wait_all;"
    );
    let module = ".shared .align 16 .b8 tile[512];";
    let program = kernel(module, ".param .u64 x, .param .u64 y", &body);
    let launch = launch(&program, "k", [1; 3], [32, 1, 1], 0, &[input, Arg::Out(4)]);
    exec::check(&program, &launch, Limits::default())
}

fn faults(outcome: &Outcome) -> Vec<(&Fault, u32, u64)> {
    outcome.findings.iter().map(|one| (&one.fault, one.thread.thread[0], one.count)).collect()
}

#[test]
fn every_size_of_every_copy_is_compared() {
    for bytes in [4, 8, 16] {
        for source in (0..=20).chain([32, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff]) {
            let size = format!("mov.u32 %r2, {source};");
            let outcome = run(&size, bytes, "", Arg::Opaque(512));
            let fault = Fault::CopySize { source, bytes: bytes as u8 };
            let wanted = if source > bytes { vec![(&fault, 0, 1)] } else { vec![] };
            assert_eq!(faults(&outcome), wanted, "{bytes} {source}");
            assert_eq!(outcome.gap, None);
        }
    }
}

#[test]
fn only_lanes_that_copy_count() {
    let size = "add.u32 %r2, %r8, 3; setp.gt.u32 %p1, %r8, 20; setp.lt.u32 %p2, %r8, 14;";
    let outcome = run(size, 16, "", Arg::Opaque(512));
    assert_eq!(faults(&outcome), [(&Fault::CopySize { source: 17, bytes: 16 }, 14, 1)]);
    let outcome = run(size, 16, "@%p1", Arg::Opaque(512));
    assert_eq!(faults(&outcome), [(&Fault::CopySize { source: 24, bytes: 16 }, 21, 1)]);
    assert_eq!(faults(&run(size, 16, "@%p2", Arg::Opaque(512))), []);
}

/// The source of a copy with an undefined size is not accessed: one mistake, one finding.
#[test]
fn an_undefined_copy_is_reported_once() {
    let size = "mov.u32 %r2, 17; add.u64 %rd3, %rd3, 4099;";
    let outcome = run(size, 16, "", Arg::Opaque(512));
    assert_eq!(faults(&outcome), [(&Fault::CopySize { source: 17, bytes: 16 }, 0, 1)]);
    let nothing = "mov.u32 %r2, 0; add.u64 %rd3, %rd3, 4099;";
    assert_eq!(faults(&run(nothing, 16, "", Arg::Opaque(512))), []);
}

#[test]
fn a_size_that_is_data_ends_the_run() {
    let outcome = run("ld.global.u32 %r2, [%rd1];", 8, "", Arg::Opaque(512));
    let reason = outcome.gap.unwrap().reason;
    assert!(reason.starts_with("the source size of an asynchronous copy depends on"), "{reason}");
    let known = run("ld.global.u32 %r2, [%rd1];", 8, "", Arg::In(vec![9; 512]));
    let source = 0x0909_0909;
    assert_eq!(faults(&known), [(&Fault::CopySize { source, bytes: 8 }, 0, 1)]);
}
