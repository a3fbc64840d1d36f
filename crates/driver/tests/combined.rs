//! Findings at one place are combined, and many are not kept: neither may hide what follows from one of them.

mod corpus;

use corpus::Flags;
use driver::check::{self, Options};
use driver::{Colour, Input};
use std::fmt::Write;

/// Checks a block of 32 or more threads: `%rd1` is this thread's 16 bytes of `x`, `%rd2` its word of `y`, `%r1` its
/// number, `%r2` its 16 bytes of shared memory.
fn check(body: &str, threads: u32) -> String {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y) {{
        .reg .pred %p<4>; .reg .b64 %rd<6>; .reg .b32 %r<9>; .shared .align 16 .b8 s[512];
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;
        mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3;
        {body} ret; }}\n"
    );
    let input = Input::from_bytes("combined.ptx", text.into()).unwrap();
    let flags = format!("--grid 1 --block {threads} --arg x=f32[128] --arg y=u32[{threads}]:inout");
    let options = Options::default();
    let flags = Flags::parse(&flags);
    let outcome = flags.run_only(&input, |execution| check::run(execution, options, Colour::Plain));
    outcome.messages + &outcome.output
}

/// The properties of the line that begins with a word.
fn listed<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.starts_with(word)).unwrap_or_default();
    let names = line.split(": ").nth(1).unwrap_or_default();
    names.split(", ").collect()
}

#[test]
fn a_note_hides_no_error_of_other_lanes() {
    for lane in [0, 31] {
        let text = check(
            &format!(
                "cp.async.cg.shared.global [%r2], [%rd1], 16; setp.eq.u32 %p1, %r1, {lane};
                @%p1 cp.async.commit_group; st.global.u32 [%rd2], %r1;"
            ),
            32,
        );
        assert_eq!(listed(&text, "refuted"), ["races"], "{text}");
    }
}

#[test]
fn a_read_out_of_bounds_hides_no_write() {
    for (reads, writes) in [(0, 1), (1, 0)] {
        let text = check(
            &format!(
                "setp.eq.u32 %p1, %r1, {reads}; @%p1 add.u64 %rd1, %rd1, 100000;
                setp.eq.u32 %p1, %r1, {writes}; @%p1 add.u32 %r2, %r2, 100000;
                cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.commit_group; cp.async.wait_all;
                st.global.u32 [%rd2], %r1;"
            ),
            32,
        );
        assert_eq!(listed(&text, "refuted"), ["bounds"], "{text}");
        assert!(listed(&text, "unknown").contains(&"frame"), "{text}");
    }
}

#[test]
fn an_undefined_output_hides_no_undefined_address() {
    for comparison in ["lt", "ge"] {
        let text = check(
            &format!(
                "setp.{comparison}.u32 %p1, %r1, 32; @%p1 mov.u64 %rd4, %rd2; @!%p1 mov.u32 %r4, 7;
                st.global.u32 [%rd4], %r4;"
            ),
            64,
        );
        assert_eq!(listed(&text, "refuted"), ["initialised"], "{text}");
        assert!(listed(&text, "unknown").contains(&"bounds"), "{text}");
    }
}

#[test]
fn nothing_is_proved_after_a_value_from_out_of_bounds_decides() {
    let text = check(
        "mul.wide.u32 %rd3, %r1, 12; ld.global.u32 %r4, [%rd1]; setp.ne.u32 %p1, %r4, 0; mov.u32 %r5, 7;
        setp.lt.u32 %p2, %r1, 32; @%p2 setp.ne.u32 %p1, %r1, %r1; @%p1 div.u32 %r5, %r5, 0;
        st.global.u32 [%rd2], %r5;",
        64,
    );
    assert_eq!(listed(&text, "refuted"), ["bounds"], "{text}");
    assert!(listed(&text, "unknown").contains(&"division"), "{text}");
}

#[test]
fn many_notes_hide_no_race() {
    let mut body = "mov.u32 %r5, 7;".to_owned();
    for thread in 0..64 {
        writeln!(body, "setp.eq.u32 %p1, %r1, {thread}; @%p1 st.shared.u32 [s], %r5;").unwrap();
    }
    body += "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s+64], 1; ld.shared.u32 %r6, [s+64]; st.global.u32 [%rd2], %r6;";
    let text = check(&body, 64);
    assert!(listed(&text, "refuted").contains(&"races"), "{text}");
    assert_eq!(listed(&text, "proved"), ["launch"], "{text}");
}
