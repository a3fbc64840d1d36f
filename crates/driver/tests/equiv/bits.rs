//! Kernels in which the bits of a word matter, and not only the number in them: signs, subnormal numbers, NaNs,
//! addresses, bytes of words, clocks. Each false claim has a true one beside it.

use crate::answer;
use crate::corpus::Flags;
use driver::check;
use driver::{Colour, Exit, Input};

/// A kernel of one warp. Each thread has its number in `%r1`, the address of its element of `x` in `%rd1` and of `y` in
/// `%rd2`, the first element of `x` in `%f1` and `%h1`, and its own in `%f3`; `%p1` holds in the first thread, `%p2`
/// if its element is positive.
fn kernel(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .pred %p<6>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
        .shared .align 4 .b8 s[128];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; setp.eq.u32 %p1, %r1, 0;
        ld.param.u64 %rd4, [x]; ld.param.u64 %rd2, [y]; add.u64 %rd1, %rd4, %rd3; add.u64 %rd2, %rd2, %rd3;
        {body} ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

const LOAD: &str =
    "ld.global.f32 %f1, [%rd4]; ld.global.f32 %f3, [%rd1]; setp.gt.f32 %p2, %f3, 0f00000000;";

fn flags(x: &str) -> Flags {
    Flags::parse(&format!("--grid 1 --block 32 --arg x={x}[64] --arg y=f32[32]:out"))
}

fn check(body: &str, x: &str) -> String {
    let run = |execution: &driver::Execution<'_>| {
        check::run(execution, check::Options::default(), Colour::Plain)
    };
    flags(x).hand(&kernel(body), None, run).output
}

fn equiv(bodies: [&str; 2]) -> (Exit, String) {
    let inputs = bodies.map(|body| kernel(&format!("{LOAD} {body}")));
    answer(inputs.each_ref(), [None; 2], &[(), ()].map(|()| flags("f32")))
}

/// Returns `true` if a report of `check` proves a property.
fn proves(text: &str, property: &str) -> bool {
    let proved = text.lines().filter(|line| line.starts_with("proved"));
    proved.flat_map(|line| line.split([':', ','])).any(|word| word.trim() == property)
}

/// Some lanes have ended: their registers are no numbers.
#[test]
fn finite_is_the_opposite_of_infinite() {
    let kernel = |body: &str| {
        format!("setp.ge.u32 %p3, %r1, 16; @%p3 ret; {body} st.global.f32 [%rd2], %f2;")
    };
    let constant = |bits: &str| kernel(&format!("mov.f32 %f2, {bits};"));
    let (zero, one) = (constant("0f00000000"), constant("0f3F800000"));
    let test = |property: &str| {
        kernel(&format!(
            "testp.{property}.f32 %p4, %f3; selp.f32 %f2, 0f3F800000, 0f00000000, %p4;"
        ))
    };
    let pairs = [(&one, "finite"), (&zero, "infinite"), (&zero, "finite"), (&one, "infinite")];
    let expected = [Exit::Success, Exit::Success, Exit::Refuted, Exit::Refuted];
    let inputs = |reference: &str, property: &str| {
        let inputs =
            [reference, &test(property)].map(|body| self::kernel(&format!("{LOAD} {body}")));
        let flags = "--grid 1 --block 32 --arg x=f32[64] --arg y=f32[16]:out";
        answer(inputs.each_ref(), [None; 2], &[(), ()].map(|()| Flags::parse(flags)))
    };
    for ((reference, property), expected) in pairs.into_iter().zip(expected) {
        let (exit, text) = inputs(reference, property);
        assert_eq!(exit, expected, "{property}\n{text}");
    }
}

#[test]
fn addresses_are_not_compared_with_chosen_numbers() {
    let choose = "selp.b64 %rd5, 140000000000000, 130000000000000, %p2;";
    let store = "selp.f32 %f2, 0f3F800000, 0f00000000, %p3; st.global.f32 [%rd2], %f2;";
    let compared = |with: &str| format!("{choose} setp.lt.u64 %p3, %rd5, {with}; {store}");
    let not_positive = format!("not.pred %p3, %p2; {store}");
    let never = format!("setp.lt.u32 %p3, %r1, 0; {store}");
    let (exit, text) = equiv([&never, &compared("%rd4")]);
    assert_ne!(exit, Exit::Success, "{text}");
    let added = format!(
        "{choose} add.u64 %rd5, %rd5, %rd4; setp.lt.u64 %p3, %rd5, 150000000000000; {store}"
    );
    let (exit, text) = equiv([&never, &added]);
    assert_ne!(exit, Exit::Success, "{text}");
    let (exit, text) = equiv([&not_positive, &compared("135000000000000")]);
    assert_eq!(exit, Exit::Success, "{text}");
    let (exit, text) = equiv([&never, &compared("130000000000000")]);
    assert_eq!(exit, Exit::Success, "{text}");
}

/// The first variable may begin at the first address of its window.
#[test]
fn an_address_in_a_window_may_be_zero() {
    let store = "selp.u32 %r5, 1, 2, %p3; st.global.u32 [%rd2], %r5;";
    for (is_proved, compare) in [
        (false, "mov.u32 %r4, s; setp.eq.u32 %p3, %r4, 0;"),
        (false, "mov.u64 %rd5, s; setp.ne.u64 %p3, %rd5, 0;"),
        (true, "mov.u64 %rd5, s; cvta.shared.u64 %rd5, %rd5; setp.eq.u64 %p3, %rd5, 0;"),
        (true, "setp.ne.u64 %p3, %rd4, 0;"),
        (true, "mov.u32 %r4, s; add.u32 %r5, %r4, 4; setp.eq.u32 %p3, %r4, %r5;"),
    ] {
        let text = check(&format!("{compare} {store}"), "f32");
        assert_eq!(proves(&text, "determinism"), is_proved, "{compare}\n{text}");
    }
}

/// The first thread stores one word, all others another, without order.
fn race([first, second]: [&str; 2]) -> String {
    format!(
        "ld.global.f32 %f1, [%rd4]; ld.global.b16 %h1, [%rd4]; mov.b32 %r2, %f1;
        @%p1 bra A; {second} st.shared.b32 [s], %r3; bra J; A: {first} st.shared.b32 [s], %r3; J:
        bar.sync 0; ld.shared.f32 %f4, [s]; st.global.f32 [%rd2], %f4;"
    )
}

#[test]
fn unordered_writes_have_the_same_bits_only_if_so_have_their_operations() {
    let flip = "xor.b32 %r3, %r2, 0x80000000;";
    let clear = "and.b32 %r3, %r2, 0x7fffffff;";
    let negate = "neg.f32 %f2, %f1; mov.b32 %r3, %f2;";
    let flush = "neg.ftz.f32 %f2, %f1; mov.b32 %r3, %f2;";
    let after_flush: &str = &format!("neg.ftz.f32 %f2, %f1; {flip}");
    let after_abs: &str = &format!("abs.f32 %f2, %f1; {flip}");
    let after_clear: &str = &format!("abs.ftz.f32 %f2, %f1; {clear}");
    let size = "abs.ftz.f32 %f2, %f1; mov.b32 %r3, %f2;";
    for (is_proved, words) in [
        (true, [flip, flip]),
        (true, [flip, after_flush]),
        (true, [flip, after_abs]),
        (true, [clear, after_clear]),
        (true, [flush, flush]),
        (false, [negate, flush]),
        (false, [after_flush, flush]),
        // A NaN loses its payload and its sign.
        (false, [after_abs, negate]),
        (false, [after_clear, size]),
    ] {
        let text = check(&race(words), "f32");
        assert_eq!(proves(&text, "races"), is_proved, "{words:?}\n{text}");
    }
}

#[test]
fn halves_become_singles_bit_for_bit_only_by_the_same_conversion() {
    let convert = "cvt.f32.bf16 %f2, %h1; mov.b32 %r3, %f2;";
    let flush = "cvt.ftz.f32.bf16 %f2, %h1; mov.b32 %r3, %f2;";
    let shift = "cvt.u32.u16 %r3, %h1; shl.b32 %r3, %r3, 16;";
    for (is_proved, words) in [
        (true, [convert, convert]),
        (true, [flush, flush]),
        (true, [shift, shift]),
        (false, [convert, flush]),
        // A NaN loses its payload.
        (false, [convert, shift]),
    ] {
        let text = check(&race(words), "bf16");
        assert_eq!(proves(&text, "races"), is_proved, "{words:?}\n{text}");
    }
}

#[test]
fn a_clock_stored_under_a_condition_stays_one() {
    let kernel = |word: &str| {
        format!(
            "mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], 0;
            {word} @%p2 st.shared.u32 [%r3], %r6; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;"
        )
    };
    for (is_unknown, word) in
        [(true, "mov.u32 %r6, %clock;"), (true, "mov.u32 %r6, s;"), (false, "mov.u32 %r6, 5;")]
    {
        let body = kernel(word);
        let (_, text) = equiv([&body, &body]);
        assert_eq!(text.contains("determinism unknown"), is_unknown, "{word}\n{text}");
    }
}

#[test]
fn bytes_written_under_a_condition_stay_so_beside_written_ones() {
    let bytes: String = (0..4).map(|at| format!("st.global.u8 [%rd2+{at}], 255; ")).collect();
    let whole = "@%p2 st.global.u32 [%rd2], 1;";
    for (is_proved, body) in [
        (false, format!("{whole} st.global.u8 [%rd2], 255;")),
        (false, format!("{whole} {whole} st.global.u8 [%rd2], 255;")),
        (false, format!("{whole} st.global.u16 [%rd2+2], 255;")),
        (
            false,
            "@%p2 st.global.u8 [%rd2+1], 1; st.global.u16 [%rd2+2], 7; st.global.u8 [%rd2], 7;"
                .to_owned(),
        ),
        (true, format!("{whole} {bytes}")),
        (true, format!("{bytes} {whole} st.global.u8 [%rd2+1], 7;")),
        (true, "@%p2 st.global.u8 [%rd2+1], 1; st.global.u32 [%rd2], 7;".to_owned()),
    ] {
        let text = check(&format!("{LOAD} {body}"), "f32");
        assert_eq!(proves(&text, "frame"), is_proved, "{body}\n{text}");
    }
}
