//! Tests that a run records exactly its open questions as doubts.

mod launching;

use exec::{
    Contents, Doubtful, Fault, Limits, Outcome, Reason, Sink, StopReason, VariableContents,
};
use launching::{Arg, clean, kernel, launch};

const PARAMS: &str = ".param .u64 x, .param .u64 y";

/// Addresses of this thread's elements of `x` and `y`, and the element of `x`.
const START: &str = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd1];";

/// Runs one block of 32 threads on an opaque `x` and an output `y`.
fn run(body: &str) -> Outcome {
    let shared = ".shared .align 8 .b8 smem[256];";
    let program =
        kernel("", PARAMS, &format!("{shared}\n{START}\n{body}\nst.global.u32 [%rd2+4], 0;"));
    let args = [Arg::Opaque(256), Arg::Out(256)];
    clean(&program, &launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &args))
}

fn doubts(body: &str) -> Vec<Doubtful> {
    run(body).doubts.iter().map(|doubt| doubt.about).collect()
}

#[test]
fn division_by_data_may_be_by_zero() {
    for op in ["div.u32", "div.s32", "rem.u32", "rem.s32"] {
        let body = format!("{op} %r3, %r1, %r2; st.global.u32 [%rd2], %r3;");
        assert_eq!(doubts(&body), [Doubtful::Divisor(Reason::Data)], "{op}");
        let known = format!("{op} %r3, %r2, 7; st.global.u32 [%rd2], %r3;");
        assert_eq!(doubts(&known), [], "{op}");
    }
    let outcome = run("div.u32 %r3, %r1, %r2; st.global.u32 [%rd2], %r3;");
    assert_eq!((outcome.doubts[0].count, outcome.doubts[0].thread.thread), (1, [0, 0, 0]));
}

#[test]
fn division_by_an_undefined_value_is_no_less_doubtful() {
    assert_eq!(doubts("div.u32 %r3, %r1, %r4;"), [Doubtful::Divisor(Reason::Undefined)]);
}

#[test]
fn schedule_dependence_is_noted_at_the_store() {
    let output =
        |name| Doubtful::Undetermined { reaches: Sink::Output, reason: Reason::Schedule(name) };
    for (body, name) in [
        ("activemask.b32 %r3; st.global.u32 [%rd2], %r3;", "activemask"),
        (
            "mov.u32 %r3, %smid; add.u32 %r3, %r3, %r2; st.global.u32 [%rd2], %r3;",
            "%smid or %nsmid",
        ),
        ("mov.u32 %r3, %clock; add.u32 %r3, %r2, %r3; st.global.u32 [%rd2], %r3;", "a clock"),
    ] {
        assert_eq!(doubts(body), [output(name)], "{body}");
    }
    assert_eq!(doubts("mov.u32 %r3, %clock; add.u32 %r3, %r3, 1;"), []);
}

#[test]
fn schedule_dependence_survives_a_detour() {
    let undetermined = Reason::Undetermined;
    let output = [Doubtful::Undetermined { reaches: Sink::Output, reason: undetermined }];
    let through = |space: &str, address: &str| {
        format!(
            "mov.u32 %r3, %clock; st.{space}.u32 [{address}], %r3; ld.{space}.u32 %r4, [{address}];
             st.global.u32 [%rd2], %r4;"
        )
    };
    let shared = format!(
        "shl.b32 %r5, %r1, 2; mov.u32 %r6, smem; add.u32 %r5, %r5, %r6; {}",
        through("shared", "%r5")
    );
    assert_eq!(doubts(&shared), output);
    // In floats, and beside data.
    let floats = "mov.u32 %r3, %clock; cvt.rn.f32.u32 %f1, %r3; cvt.rn.f32.u32 %f2, %r2;
        fma.rn.f32 %f3, %f2, %f1, %f2; st.global.f32 [%rd2], %f3;";
    assert_eq!(doubts(floats).len(), 1);
    // In some lanes only.
    let lanes = "mov.u32 %r3, %r2; setp.eq.u32 %p1, %r1, 9; @%p1 mov.u32 %r3, %clock;
        st.global.u32 [%rd2], %r3;";
    let outcome = run(lanes);
    assert_eq!(outcome.doubts.len(), 1);
    assert_eq!(outcome.doubts[0].thread.thread, [9, 0, 0]);
    // By choice, and from another lane.
    let choice = "mov.u32 %r3, %clock; setp.lt.u32 %p1, %r3, 9; selp.u32 %r4, 1, 2, %p1;
        shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; st.global.u32 [%rd2], %r5;";
    assert_eq!(doubts(choice).len(), 1);
    let vote = "mov.u32 %r3, %clock; setp.lt.u32 %p1, %r3, 9; vote.sync.ballot.b32 %r5, %p1, -1;
        st.global.u32 [%rd2], %r5;";
    assert_eq!(doubts(vote).len(), 1);
}

#[test]
fn addresses_are_no_results() {
    let reason = Reason::Address;
    let output = [Doubtful::Undetermined { reaches: Sink::Output, reason }];
    assert_eq!(doubts("st.global.u64 [%rd2], %rd1;"), output);
    let bits = "shr.u64 %rd4, %rd1, 4; cvt.u32.u64 %r3, %rd4; st.global.u32 [%rd2], %r3;";
    assert_eq!(doubts(bits), output);
    // A property of an address that holds for every placement is a number.
    let low = "and.b64 %rd4, %rd1, 15; cvt.u32.u64 %r3, %rd4; st.global.u32 [%rd2], %r3;";
    assert_eq!(doubts(low), []);
    let difference = "ld.param.u64 %rd5, [x]; sub.u64 %rd4, %rd1, %rd5; cvt.u32.u64 %r3, %rd4;
        st.global.u32 [%rd2], %r3;";
    assert_eq!(doubts(difference), []);
}

#[test]
fn data_may_go_anywhere() {
    assert_eq!(doubts("add.u32 %r3, %r2, %r1; st.global.u32 [%rd2], %r3;"), []);
    assert_eq!(doubts("st.global.u32 [%rd2], %r2; red.global.add.u32 [%rd2], %r2;"), []);
}

#[test]
fn atomics_have_operands_and_results() {
    let store = "st.global.u32 [%rd2], 0;";
    let reason = Reason::Schedule("a clock");
    let operand = Doubtful::Undetermined { reaches: Sink::Atomic, reason };
    let clock = format!("{store} mov.u32 %r3, %clock; red.global.add.u32 [%rd2], %r3;");
    assert_eq!(doubts(&clock), [operand]);
    // Another schedule gives another result, which does not matter if it is unused.
    let used = format!("{store} atom.global.add.u32 %r3, [%rd2], 1; add.u32 %r4, %r3, 1;");
    assert_eq!(doubts(&used), [Doubtful::AtomicResult]);
    assert_eq!(doubts(&format!("{store} atom.global.add.u32 %r3, [%rd2], 1;")), []);
}

#[test]
fn module_variables_hold_what_the_module_says_by_assumption() {
    let module = ".const .align 4 .b32 lut[2] = {5, 6};\n.global .align 4 .b32 unread[2] = {7, 8};";
    let body = format!(
        "{START} ld.const.u32 %r3, [lut+4]; st.global.u32 [%rd2], %r3;
        st.global.u32 [%rd2+4], %r3;"
    );
    let program = kernel(module, PARAMS, &body);
    let args = [Arg::Opaque(256), Arg::Out(256)];
    let mut launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &args);
    let outcome = clean(&program, &launch);
    let names: Vec<&str> =
        outcome.initialisers.iter().map(|&id| program.variables[id].name.as_str()).collect();
    assert_eq!(names, ["lut"]);
    assert_eq!(outcome.buffers[1][..4], [6, 0, 0, 0]);
    let lut = outcome.initialisers[0];
    // Contents declared by the host are not an assumption.
    launch.symbols =
        vec![(lut, VariableContents::Contents(Contents::Known(vec![1, 0, 0, 0, 2, 0, 0, 0])))];
    let outcome = clean(&program, &launch);
    assert_eq!(outcome.initialisers, []);
    assert_eq!(outcome.buffers[1][..4], [2, 0, 0, 0]);
    launch.symbols = vec![(lut, VariableContents::Contents(Contents::Opaque(8)))];
    assert_eq!(clean(&program, &launch).initialisers, []);
}

/// Runs one thread without arguments until it gives up.
fn gives_up(module: &str, body: &str) -> (String, StopReason) {
    let program = kernel(module, "", body);
    let launch = launch(&program, "k", [3, 1, 1], [1, 1, 1], 0, &[]);
    let limits = Limits { lane_instructions: 1000, ..Limits::default() };
    let gap = exec::run(&program, &launch, limits).gap.unwrap();
    // Clearing registers is charged, too.
    let count = gap.reason.strip_prefix("gave up after ").and_then(|rest| rest.split_once(' '));
    let count: u64 = count.map_or(0, |(count, _)| count.parse().unwrap());
    assert!((900..1300).contains(&count), "{}", gap.reason);
    assert_eq!(gap.thread.map(|thread| thread.block), Some([0, 0, 0]));
    // The operation at the place.
    let all = program.functions.iter().flat_map(|function| function.instructions());
    let found = all.filter(|instruction| instruction.span == gap.place.span);
    let ops: Vec<String> = found.map(|instruction| format!("{:?}", instruction.op)).collect();
    (ops.first().cloned().unwrap_or_default(), gap.stop)
}

#[test]
fn the_innermost_loop_is_named() {
    let nested = "mov.u32 %r1, 0;
        outer: add.u32 %r1, %r1, 11; mov.u32 %r2, 0;
        inner: add.u32 %r2, %r2, 22; setp.ne.u32 %p1, %r2, 1; @%p1 bra inner;
        setp.ne.u32 %p2, %r1, 1; @%p2 bra outer;";
    let (op, stop) = gives_up("", nested);
    assert!(op.contains("Constant(22)"), "{op}");
    assert_eq!(stop, StopReason::Budget { in_loop: true });
}

#[test]
fn the_loop_may_be_in_the_caller() {
    let callee = ".func leaf() { .reg .b32 %a; mov.u32 %a, 33; mov.u32 %a, 34; ret; }";
    let (op, stop) = gives_up(callee, "again: mov.u32 %r1, 44; call leaf; bra again;");
    assert!(op.contains("Constant(44)"), "{op}");
    assert_eq!(stop, StopReason::Budget { in_loop: true });
}

#[test]
fn without_a_loop_the_end_is_named() {
    let body = "mov.u32 %r1, 1;\n".repeat(1200);
    assert_eq!(gives_up("", &body).1, StopReason::Budget { in_loop: false });
}

#[test]
fn blocks_start_afresh() {
    // Block 0 writes shared and local memory and a register; block 1 must not see any of it.
    let body = ".shared .align 4 .b32 s; .local .align 4 .b32 l; ld.param.u64 %rd1, [x];
        mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra later;
        st.shared.u32 [s], 1; st.local.u32 [l], 1; mov.u32 %r2, 1; ret;
        later: ld.shared.u32 %r3, [s]; ld.local.u32 %r4, [l];
        st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+4], %r3; st.global.u32 [%rd1+8], %r4;";
    let program = kernel("", ".param .u64 x", body);
    let launch = launch(&program, "k", [2, 1, 1], [32, 1, 1], 0, &[Arg::Out(12)]);
    let outcome = exec::run(&program, &launch, Limits::default());
    let undefined = |fault: &Fault| matches!(fault, Fault::Undefined { .. });
    assert_eq!(outcome.findings.len(), 3);
    assert!(outcome.findings.iter().all(|finding| undefined(&finding.fault)));
    assert_eq!(outcome.findings[0].thread.block, [1, 0, 0]);
}

#[test]
fn blocks_can_be_selected() {
    let body = "ld.param.u64 %rd1, [x]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1;";
    let program = kernel("", ".param .u64 x", body);
    let mut launch = launch(&program, "k", [8, 1, 1], [1, 1, 1], 0, &[Arg::Out(32)]);
    launch.selected = vec![1..3, 7..8];
    let outcome = clean(&program, &launch);
    assert_eq!(outcome.blocks, 3);
    let size = outcome.buffers[0].len();
    let written: Vec<bool> =
        (0..size).step_by(4).map(|at| outcome.written[0].contains(at..at + 4)).collect();
    assert_eq!(written, [false, true, true, false, false, false, false, true]);
}

#[test]
fn too_large_memories_are_refused() {
    for (module, body, what) in [
        ("", ".local .align 4 .b8 l[600000]; st.local.u32 [l], 0;", "local memory of a thread"),
        ("", ".shared .align 4 .b8 s[2000000]; st.shared.u32 [s], 0;", "shared memory"),
        (".global .align 4 .b8 g[5000000000];", "st.global.u32 [g], 0;", "module variables"),
    ] {
        let program = kernel(module, "", body);
        let launch = launch(&program, "k", [1, 1, 1], [1024, 1, 1], 0, &[]);
        let gap = exec::run(&program, &launch, Limits::default()).gap.unwrap();
        assert!(gap.reason.contains(what), "{}", gap.reason);
    }
    for block in [[1025, 1, 1], [32, 33, 1], [u32::MAX; 3]] {
        let program = kernel("", "", "bar.sync 0;");
        let launch = launch(&program, "k", [1, 1, 1], block, 0, &[]);
        let gap = exec::check(&program, &launch, Limits::default()).gap.unwrap();
        assert!(gap.reason.contains("the limit is 1024"), "{}", gap.reason);
    }
    let many: String = (0..4000).map(|number| format!("mov.u64 %w{number}, 1;\n")).collect();
    let program = kernel("", "", &format!(".reg .b64 %w<4000>;\n{many}"));
    let one = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[]);
    clean(&program, &one);
}

#[test]
fn undefined_values_are_found_beside_unknown_ones() {
    // One load of numbers and data mixed, one with an unwritten lane: their sum is undefined there, whatever
    // the first load has.
    let body = ".shared .align 4 .b8 a[128]; .shared .align 4 .b8 b[128];
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; ld.global.f32 %f1, [%rd1];
        shl.b32 %r2, %r1, 2; mov.u32 %r3, a; add.u32 %r3, %r3, %r2; mov.u32 %r4, b;
        add.u32 %r4, %r4, %r2; setp.lt.u32 %p1, %r1, 9; @%p1 mov.f32 %f1, 0f3F800000;
        st.shared.f32 [%r3], %f1; setp.ne.u32 %p2, %r1, 20; @%p2 st.shared.f32 [%r4], %f1;
        ld.shared.f32 %f2, [%r3]; ld.shared.f32 %f3, [%r4]; add.f32 %f4, %f2, %f3;
        st.global.f32 [%rd2], %f4;";
    let program = kernel("", PARAMS, body);
    let args = [Arg::Opaque(128), Arg::Out(128)];
    let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &args);
    let outcome = exec::run(&program, &launch, Limits::default());
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!((outcome.findings[0].thread.thread, outcome.findings[0].count), ([20, 0, 0], 1));
}

#[test]
fn copies_of_calls_and_clearing_of_blocks_count() {
    // Few instructions, but each call copies 100 kB in every lane.
    let callee = ".func big(.param .align 4 .b8 a[100000]) { ret; }";
    let body = "again: { .param .align 4 .b8 a[100000]; call big, (a); } bra again;";
    let program = kernel(callee, "", body);
    let one = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[]);
    let limits = Limits { lane_instructions: 10_000_000, ..Limits::default() };
    let outcome = exec::run(&program, &one, limits);
    assert!(matches!(outcome.gap.unwrap().stop, StopReason::Budget { in_loop: true }));
    assert!(outcome.lane_instructions < 10_000, "{}", outcome.lane_instructions);
    // Nothing to do, in many blocks with much to clear.
    let program = kernel("", "", ".shared .align 4 .b8 s[100000]; mov.u32 %r1, s;");
    let many = launch(&program, "k", [2000, 1, 1], [1, 1, 1], 0, &[]);
    let outcome = exec::run(&program, &many, limits);
    assert!(matches!(outcome.gap.unwrap().stop, StopReason::Budget { in_loop: false }));
    assert!(outcome.blocks < 1000, "{}", outcome.blocks);
}

#[test]
fn a_sum_stays_unknown_in_the_lanes_in_which_it_began_unknown() {
    // The result replaces an operand that is unknown in some lanes and known in others.
    for op in ["fma.rn.f32 %f1, %f2, %f2, %f1", "add.f32 %f1, %f1, %f2"] {
        let body = format!(
            "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
            add.u64 %rd1, %rd1, %rd3; ld.global.f32 %f1, [%rd1]; setp.lt.u32 %p1, %r1, 7;
            @%p1 mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; {op};
            setp.gt.f32 %p2, %f1, 0f00000000; @!%p2 bra END; st.global.f32 [%rd1], %f1; END:"
        );
        let program = kernel("", ".param .u64 x", &body);
        let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &[Arg::Opaque(128)]);
        let gap = exec::run(&program, &launch, Limits::default()).gap.unwrap();
        assert!(gap.reason.contains("depends on tensor data"), "{op}: {}", gap.reason);
    }
}

#[test]
fn a_launch_that_is_far_too_large_ends_after_its_first_block() {
    let body =
        "mov.u32 %r1, 0; AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra AGAIN;";
    let program = kernel("", "", body);
    let limits = Limits { lane_instructions: 100_000, ..Limits::default() };
    let run = |blocks: u32| {
        let launch = launch(&program, "k", [blocks, 1, 1], [32, 1, 1], 0, &[]);
        exec::run(&program, &launch, limits)
    };
    assert!(run(8).gap.is_none());
    let one = run(1).lane_instructions;
    let outcome = run(1000);
    assert_eq!(outcome.blocks, 1);
    let Some(StopReason::Estimate { needed, fitting }) = outcome.gap.map(|gap| gap.stop) else {
        panic!("no estimate")
    };
    assert_eq!((needed, fitting), (1000 * one, 100_000 / one));
    // A launch slightly over the budget is still tried.
    assert!(matches!(run(20).gap.unwrap().stop, StopReason::Budget { .. }));
}

/// An array may begin at address zero of shared memory, and a pointer below it is then a large number.
#[test]
fn pointers_below_their_array_may_wrap() {
    let branch = |relation: &str, offset: i32| {
        let body = format!(
            ".shared .align 4 .b8 s[64]; mov.u32 %r1, s; add.s32 %r2, %r1, {offset};
             setp.{relation} %p1, %r2, %r1; @%p1 bra done; mov.u32 %r3, 0;\ndone:"
        );
        let program = kernel("", "", &body);
        let launch = launch(&program, "k", [1, 1, 1], [1, 1, 1], 0, &[]);
        exec::run(&program, &launch, Limits::default()).gap.is_some()
    };
    assert!(branch("lt.u32", -4));
    assert!(!branch("lt.u32", 4));
    assert!(!branch("lt.s32", -4));
    assert!(!branch("eq.u32", -4));
}
