//! Kernels with stores at data-dependent addresses, and kernels whose blocks take tickets. Each is close to a proved
//! one: some look harmless and are not, others look wrong and are not.

use crate::answer;
use crate::corpus::Flags;
use driver::check;
use driver::{Colour, Exit, Input};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn input(text: &str) -> Input {
    Input::from_bytes("k.ptx", text.as_bytes().to_vec()).unwrap()
}

fn check(text: &str, flags: &str) -> (Exit, String) {
    let outcome = Flags::parse(flags)
        .hand(&input(text), None, |one| check::run(one, check::Options::default(), Colour::Plain));
    (outcome.exit, outcome.output)
}

/// A kernel in which each thread has an index in `%r2`, the address of that word of `out` in `%rd6`, its own number
/// of `x` in `%r3`, and the number at the index in `%r4`.
fn scatter(body: &str) -> String {
    format!(
        "{HEAD}.entry k(.param .u64 idx, .param .u64 x, .param .u64 out) {{
        .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<5>; .reg .b16 %h<2>; .reg .pred %p<3>;
        ld.param.u64 %rd1, [idx]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [out]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r2, [%rd5];
        add.s64 %rd5, %rd2, %rd4; ld.global.u32 %r3, [%rd5];
        mul.wide.s32 %rd4, %r2, 4; add.s64 %rd5, %rd2, %rd4; ld.global.u32 %r4, [%rd5];
        add.s64 %rd6, %rd3, %rd4; setp.eq.u32 %p1, %r1, 0;
        {body} ret; }}"
    )
}

const SCATTER: &str =
    "--grid 1 --block 2 --arg idx=s32[2]:0..4 --arg x=s32[4] --arg out=s32[4]:inout";

#[test]
fn writes_at_places_that_are_data() {
    let table = [
        ("st.global.u32 [%rd6], %r3;", Exit::Refuted, "own numbers"),
        ("st.global.u32 [%rd6], 7;", Exit::Success, "a constant"),
        ("red.global.add.u32 [%rd6], %r3;", Exit::Success, "a sum"),
        // Equal wherever two threads meet: this is not detected, but no race is claimed.
        ("st.global.u32 [%rd6], %r2;", Exit::Unknown, "the index"),
        ("st.global.u32 [%rd6], %r4;", Exit::Unknown, "what the index names"),
        ("xor.b32 %r5, %r3, 23130; st.global.u32 [%rd6], %r5;", Exit::Refuted, "other bits"),
        ("st.relaxed.gpu.global.u32 [%rd6], %r3;", Exit::Unknown, "strong stores"),
        ("atom.global.add.u32 %r5, [%rd6], 1; st.global.u32 [%rd3], %r5;", Exit::Unknown, "used"),
        ("atom.global.add.u32 %r5, [%rd6], 1;", Exit::Success, "not used"),
        ("st.global.u32 [%rd6], 7; ld.global.u32 %r5, [%rd3];", Exit::Unknown, "read besides"),
        ("st.global.u32 [%rd6], 7; red.global.add.u32 [%rd6], 1;", Exit::Unknown, "two kinds"),
    ];
    for (body, expected, name) in table {
        let (exit, text) = check(&scatter(body), SCATTER);
        assert_eq!(exit, expected, "{name}\n{text}");
    }
}

#[test]
fn scattered_writes_must_be_defined_and_deterministic() {
    let flags = SCATTER.replace(":0..4", ":0..4:distinct").replace("x=s32[4]", "x=s32[4]:0..4");
    for value in [
        "",
        "setp.eq.u32 %p2, %r3, 0; selp.b32 %r5, %r6, 0, %p2;",
        "setp.eq.u32 %p2, %r3, 0; @%p2 bra L; mov.u32 %r5, 1; L:",
        "mov.u32 %r5, %clock;",
        "cvt.u32.u64 %r5, %rd3;",
    ] {
        let (exit, text) = check(&scatter(&format!("{value} st.global.u32 [%rd6], %r5;")), &flags);
        assert_ne!(exit, Exit::Success, "{value}\n{text}");
    }
}

#[test]
fn two_tensors_without_repetitions_have_elements_in_common() {
    let body = "@%p1 st.global.u32 [%rd6], 5; mul.wide.s32 %rd4, %r3, 4; add.s64 %rd6, %rd3, %rd4; @!%p1 st.global.u32 [%rd6], 6;";
    let flags = SCATTER.replace(":0..4", ":0..4:distinct");
    let flags = flags.replace("x=s32[4]", "x=s32[4]:0..4:distinct");
    let (exit, text) = check(&scatter(body), &flags);
    assert_eq!(exit, Exit::Refuted, "{text}");
}

/// A kernel of one thread that writes 7 at twice its index: at the computed place, or by testing every second
/// element.
fn doubled(by_place: bool) -> String {
    let at_place = "shl.b32 %r5, %r2, 1; mul.wide.s32 %rd4, %r5, 4; add.s64 %rd6, %rd3, %rd4; st.global.u32 [%rd6], 7;";
    let look = |at: u32| {
        let byte = 4 * at;
        format!(
            "setp.eq.s32 %p2, %r5, {at}; ld.global.u32 %r6, [%rd3+{byte}]; selp.b32 %r6, 7, %r6, %p2; st.global.u32 [%rd3+{byte}], %r6;"
        )
    };
    let looking: String = (0..8).step_by(2).map(look).collect();
    scatter(&if by_place { at_place.to_owned() } else { format!("shl.b32 %r5, %r2, 1; {looking}") })
}

#[test]
fn places_that_a_step_leaves_out_are_not_written() {
    let flags = "--grid 1 --block 1 --arg idx=s32[1]:0..4 --arg x=s32[4] --arg out=s32[8]:inout";
    let flags = [(), ()].map(|()| Flags::parse(flags));
    let kernels = [true, false].map(|by_place| input(&doubled(by_place)));
    let (exit, text) = answer([&kernels[0], &kernels[1]], [None; 2], &flags);
    assert_eq!(exit, Exit::Success, "{text}");
}

#[test]
fn mistakes_are_found_among_inputs_without_repetitions() {
    // Random numbers for 24 indices contain repetitions, so they are no counterexample.
    let body = |last: u32| format!("mad.lo.s32 %r5, %r3, {last}, %r2; st.global.u32 [%rd6], %r5;");
    let flags = "--grid 1 --block 24 --arg idx=s32[24]:0..24:distinct --arg x=s32[24] --arg out=s32[24]:inout";
    let flags = [(), ()].map(|()| Flags::parse(flags));
    let kernels = [body(3), body(5)].map(|body| input(&scatter(&body)));
    let (exit, text) = answer([&kernels[0], &kernels[1]], [None; 2], &flags);
    assert_eq!(exit, Exit::Refuted, "{text}");
}

#[test]
fn floats_that_are_equal_as_reals_are_not_the_same() {
    let body = "mov.b32 %f1, %r3; ld.global.f32 %f1, [%rd2]; ld.global.f32 %f2, [%rd2+4]; mov.f32 %f3, %f1;
        @%p1 add.rn.f32 %f3, %f1, %f2; @%p1 sub.rn.f32 %f3, %f3, %f2; st.global.f32 [%rd6], %f3;";
    let flags = SCATTER.replace("--arg x=s32", "--arg x=f32").replace("out=s32", "out=f32");
    let (exit, text) = check(&scatter(body), &flags);
    assert_eq!(exit, Exit::Unknown, "{text}");
}

#[test]
fn writes_of_a_part_of_an_element_are_seen() {
    let nothing = scatter("");
    for body in [
        "mov.u16 %h1, 7; st.global.u16 [%rd6+2], %h1;",
        "mov.u16 %h1, 7; st.global.u8 [%rd6+3], %h1;",
    ] {
        let flags = [(), ()].map(|()| Flags::parse(&SCATTER.replace(":0..4", ":0..4:distinct")));
        let (exit, text) = answer([&input(&nothing), &input(&scatter(body))], [None; 2], &flags);
        assert_eq!(exit, Exit::Unknown, "{text}");
    }
    // Two halves of a word, into halves.
    let flags = SCATTER.replace(":0..4", ":0..2:distinct").replace("out=s32[4]", "out=s16[8]");
    let flags = [(), ()].map(|()| Flags::parse(&flags));
    let whole = scatter("st.global.u32 [%rd6], 458759;");
    let halves = scatter("mov.u16 %h1, 7; st.global.v2.u16 [%rd6], {%h1, %h1};");
    let (exit, text) = answer([&input(&whole), &input(&halves)], [None; 2], &flags);
    assert_eq!(exit, Exit::Success, "{text}");
}

/// A kernel whose thread 0 stores a number and takes a ticket. The last of three blocks adds up all numbers.
fn ticket([module, before, take, after, last]: [&str; 5]) -> String {
    format!(
        "{HEAD}{module}
        .entry k(.param .u64 x, .param .u64 partial, .param .u64 count, .param .u64 out) {{
        .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .pred %p<5>; .shared .align 4 .b32 last; .shared .align 4 .b32 own;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [partial]; ld.param.u64 %rd3, [count]; ld.param.u64 %rd4, [out];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;
        mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd2, %rd5;
        @%p1 bra meet;
        ld.global.u32 %r3, [%rd6]; st.global.u32 [%rd7], %r3;
        {before} {take} st.shared.u32 [last], %r4;
        meet: bar.sync 0; ld.shared.u32 %r5, [last]; setp.ne.u32 %p2, %r5, 2; @%p2 bra done; @%p1 bra done;
        {after} ld.global.u32 %r6, [%rd2]; ld.global.u32 %r7, [%rd2+4]; ld.global.u32 %r8, [%rd2+8];
        add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8; {last} st.global.u32 [%rd4], %r6;
        done: ret; }}"
    )
}

const FENCE: &str = "fence.acq_rel.gpu;";
const TAKE: &str = "atom.global.add.u32 %r4, [%rd3], 1;";
const TICKET: &str = "--grid 3 --block 32 --arg x=s32[3] --arg partial=s32[3]:scratch --arg count=u32[1]:inout=[0] --arg out=s32[1]:out";

#[test]
fn tickets_release_what_is_behind_a_fence() {
    let acquire = "fence.acquire.gpu;";
    let elsewhere = "st.release.gpu.shared.u32 [own], 1;";
    let table = [
        ([FENCE, TAKE, FENCE], Exit::Success, "fences on both sides"),
        ([FENCE, TAKE, ""], Exit::Success, "a note"),
        (["", TAKE, FENCE], Exit::Refuted, "no fence before"),
        (["membar.cta;", TAKE, FENCE], Exit::Refuted, "the scope of a block"),
        ([acquire, TAKE, FENCE], Exit::Refuted, "a fence that does not release"),
        ([elsewhere, TAKE, FENCE], Exit::Refuted, "a release of another place"),
        (["", "atom.acq_rel.gpu.global.add.u32 %r4, [%rd3], 1;", ""], Exit::Success, "by itself"),
        (["", "atom.acquire.gpu.global.add.u32 %r4, [%rd3], 1;", ""], Exit::Refuted, "acquires"),
        ([FENCE, "atom.global.inc.u32 %r4, [%rd3], 2;", FENCE], Exit::Success, "an increment"),
        ([FENCE, "atom.global.inc.u32 %r4, [%rd3], 1;", FENCE], Exit::Unknown, "comes round"),
        ([FENCE, "atom.global.add.u32 %r4, [%rd3], 2;", FENCE], Exit::Unknown, "steps of two"),
        // Which of the two stores is released is not tracked.
        (["fence.acq_rel.gpu; st.global.u32 [%rd7], 5;", TAKE, FENCE], Exit::Unknown, "behind it"),
    ];
    for ([before, take, after], expected, name) in table {
        let (exit, text) = check(&ticket(["", before, take, after, ""]), TICKET);
        assert_eq!(exit, expected, "{name}\n{text}");
        assert!(name != "a note" || text.contains("note[WP0109]"), "{text}");
    }
}

#[test]
fn the_last_block_must_not_show() {
    let whole = |last: &str, module: &str| ticket([module, FENCE, TAKE, FENCE, last]);
    let table = [
        ("", "", Exit::Success),
        ("add.u32 %r6, %r6, %r1;", "", Exit::Unknown),
        ("add.u32 %r6, %r6, %r5;", "", Exit::Success),
        // Only if block 0 is the last: two threads race there.
        (
            "setp.eq.u32 %p3, %r1, 0; @%p3 st.relaxed.gpu.global.u32 [%rd4], 1; @%p3 red.relaxed.gpu.global.add.u32 [%rd4], 0;",
            "",
            Exit::Success,
        ),
        ("st.global.u32 [who], %r1;", ".global .align 4 .b32 who;", Exit::Unknown),
        (
            "ld.global.nc.u32 %r9, [%rd2]; add.u32 %r6, %r6, %r9; sub.u32 %r6, %r6, %r9;",
            "",
            Exit::Unknown,
        ),
    ];
    for (last, module, expected) in table {
        let (exit, text) = check(&whole(last, module), TICKET);
        assert_eq!(exit, expected, "{last}\n{text}");
    }
    for contents in ["", "=[1]", "=[2147483647]", "=[4294967295]"] {
        let (exit, text) = check(&whole("", ""), &TICKET.replace("=[0]", contents));
        assert_eq!(exit, Exit::Unknown, "{contents}\n{text}");
    }
}

#[test]
fn values_open_for_another_last_block_stay_open() {
    // If block 0 is the last, its threads write different numbers in an order decided by the schedule; writes into
    // shared memory are never read.
    for store in ["st.relaxed.gpu.global.u32 [%rd4], %r2;", "st.relaxed.cta.shared.u32 [own], %r2;"]
    {
        let last = format!("setp.ne.u32 %p3, %r1, 0; @%p3 bra skip; {store} skip:");
        let text = ticket(["", FENCE, TAKE, FENCE, ""])
            .replace("@%p1 bra done;", &format!("{last} @%p1 bra done;"));
        let (exit, output) = check(&text, TICKET);
        assert_ne!(exit, Exit::Success, "{store}\n{output}");
    }
}

#[test]
fn scatters_and_tickets_do_not_go_together() {
    let text = ticket(["", FENCE, TAKE, FENCE, ""]).replace(
        "st.global.u32 [%rd7], %r3;",
        "mul.wide.s32 %rd8, %r3, 4; add.s64 %rd8, %rd2, %rd8; red.global.add.u32 [%rd8], 1;",
    );
    let flags = TICKET.replace("x=s32[3]", "x=s32[3]:0..3").replace(":scratch", ":inout");
    let (exit, output) = check(&text, &flags);
    assert_eq!(exit, Exit::Unknown, "{output}");
}

/// A kernel whose thread 0 writes `q[0]`, while thread 1 concurrently reads it into `%r3`.
fn racing(body: &str) -> String {
    format!(
        "{HEAD}.entry k(.param .u64 q, .param .u64 out) {{
        .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .pred %p<4>; .shared .align 4 .b32 s[2];
        ld.param.u64 %rd1, [q]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
        mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; mov.u32 %r3, 7; mov.u32 %r4, %r1;
        @%p1 st.global.u32 [%rd1], 5; @!%p1 ld.global.u32 %r3, [%rd1];
        {body} st.global.u32 [%rd4], %r4; ret; }}"
    )
}

#[test]
fn racing_reads_are_notes_only_if_nothing_depends_on_them() {
    let through_shared =
        "mov.u32 %r2, s; st.shared.u32 [s+4], %r3; bar.sync 0; ld.shared.u32 %r4, [s+4];";
    let table = [
        ("", Exit::Success),
        ("mov.u32 %r4, %r3;", Exit::Refuted),
        ("setp.eq.u32 %p2, %r3, 5; @%p2 mov.u32 %r4, 9;", Exit::Refuted),
        ("setp.eq.u32 %p2, %r3, 5; selp.b32 %r4, 1, 2, %p2;", Exit::Refuted),
        (through_shared, Exit::Refuted),
    ];
    let flags = || Flags::parse("--grid 1 --block 2 --arg q=s32[1]:inout --arg out=s32[2]:out");
    for (body, expected) in table {
        let (one, other) = (input(&racing(body)), input(&racing(body)));
        let (exit, text) = answer([&one, &other], [None; 2], &[flags(), flags()]);
        assert_eq!(exit, expected, "{body}\n{text}");
    }
}

/// A kernel of two warps. Thread 0 takes the ticket in `%r10`, thread 32 has `%p2`; `%rd7` is the block's part,
/// `read` adds up all parts.
fn two_warps(body: &str) -> String {
    let read =
        "ld.global.u32 %r6, [%rd2]; ld.global.u32 %r7, [%rd2+4]; ld.global.u32 %r8, [%rd2+8];
        add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8; st.global.u32 [%rd4], %r6;";
    let body = body.replace("READ", read);
    format!(
        "{HEAD}.global .align 4 .u32 cnt = 0;
        .entry k(.param .u64 x, .param .u64 partial, .param .u64 count, .param .u64 out) {{
        .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .pred %p<5>; .shared .align 4 .b32 last;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [partial]; ld.param.u64 %rd3, [count]; ld.param.u64 %rd4, [out];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 32;
        mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd2, %rd5; ld.global.u32 %r3, [%rd6];
        {body} EXIT: ret; }}"
    )
}

#[test]
fn fences_count_only_where_they_are_ordered_with_the_ticket() {
    let take = "@!%p1 bra N; atom.global.add.u32 %r10, [%rd3], 1; st.shared.u32 [last], %r10; N: bar.sync 0;
        ld.shared.u32 %r11, [last]; setp.ne.u32 %p4, %r11, 2; @%p4 bra EXIT;";
    let write = "@%p2 st.global.u32 [%rd7], %r3;";
    // The writer's fence before the barrier, and behind it.
    let right =
        format!("{write} @%p2 membar.gl; bar.sync 0; {take} @!%p1 bra EXIT; membar.gl; READ");
    let late = format!(
        "{write} bar.sync 0; @!%p2 bra A; membar.gl; A: {take} @!%p1 bra EXIT; membar.gl; READ"
    );
    let flags = TICKET.replace("--block 32", "--block 64").replace(":scratch", ":inout=0");
    let (exit, text) = check(&two_warps(&right), &flags);
    assert_eq!(exit, Exit::Success, "{text}");
    let (exit, text) = check(&two_warps(&late), &flags);
    assert_ne!(exit, Exit::Success, "{text}");
    // The thread that took the ticket must fence before the barrier of the readers.
    let written = format!("{write} @%p2 membar.gl; bar.sync 0;");
    let ordered = take.replace("st.shared", "membar.gl; st.shared");
    let table = [
        (format!("{written} {ordered} @!%p2 bra EXIT; READ"), Exit::Success),
        (
            format!("{written} {take} @!%p1 bra B; membar.gl; B: @!%p2 bra EXIT; READ"),
            Exit::Refuted,
        ),
        (
            format!(
                "{written} {} @!%p2 bra EXIT; READ",
                take.replace("N: bar", "N: @%p2 membar.gl; bar")
            ),
            Exit::Refuted,
        ),
    ];
    for (body, expected) in table {
        let options = check::Options { strict: true, ..check::Options::default() };
        let outcome = Flags::parse(&flags)
            .hand(&input(&two_warps(&body)), None, |one| check::run(one, options, Colour::Plain));
        assert_eq!(outcome.exit, expected, "{body}\n{}", outcome.output);
    }
}

#[test]
fn counters_of_the_module_do_not_decide_the_last_block() {
    let kernel = |end: &str| {
        two_warps(&format!(
            "@!%p1 bra EXIT; st.global.u32 [%rd7], %r3; membar.gl; mov.u64 %rd8, cnt; atom.global.add.u32 %r10, [%rd8], 1;
            setp.ne.u32 %p4, %r10, 2; @%p4 bra EXIT; membar.gl; READ {end}"
        ))
    };
    let table = [
        ("", true),
        ("st.global.u32 [cnt], 0;", true),
        ("st.global.u32 [cnt], %r1;", false),
        ("setp.eq.u32 %p4, %r1, 0; @%p4 st.global.u32 [cnt], 0;", false),
    ];
    for (end, is_right) in table {
        let (exit, text) = check(&kernel(end), TICKET);
        assert_eq!(exit == Exit::Success, is_right, "{end}\n{text}");
    }
}

#[test]
fn a_run_that_stops_tells_the_furthest_place_and_the_ranges() {
    // A row is gathered, which a range allows; then data decide which threads reach a barrier.
    let text = format!(
        "{HEAD}.entry k(.param .u64 idx, .param .u64 x, .param .u64 y) {{ .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p1;
        ld.param.u64 %rd1, [idx]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [y]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4];
        mul.wide.s32 %rd4, %r1, 4; add.s64 %rd4, %rd2, %rd4;
        ld.global.f32 %f1, [%rd4];
        setp.gt.s32 %p1, %r2, 3; @%p1 bra L;
        bar.sync 0;
        L:
        st.global.f32 [%rd3], %f1; ret; }}"
    );
    let flags = |range: &str| {
        format!("--grid 1 --block 2 --arg idx=s32[2]{range} --arg x=f32[8] --arg y=f32[1]:out")
    };
    let (exit, told) = check(&text, &flags(""));
    assert!(exit == Exit::Unknown && told.contains("give the range of the index"), "{told}");
    let (exit, told) = check(&text, &flags(":0..8"));
    assert!(exit == Exit::Unknown && !told.contains("give the range"), "{told}");
    assert!(told.contains("bar.sync 0;") && told.contains("assumed: 0 <= idx < 8"), "{told}");
}
