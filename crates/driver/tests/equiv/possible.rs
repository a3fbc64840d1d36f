//! Accesses at addresses that depend on data, in memory that the launch writes: shared memory, local arrays, copied
//! tables. Each kernel has a reference that reads the tensor itself or compares every index, or is false for some
//! contents of `x`, by construction.

use crate::corpus::Flags;
use crate::{answer, answer_with};
use driver::check;
use driver::equiv::Options;
use driver::{Colour, Exit, Input};

/// A kernel of one warp. Each thread has its element of `x` in `%r2`, that of `v` in `%r3`, the address of `s` in
/// `%r5`, and the address of its element of `out` in `%rd3`.
fn kernel(body: &str) -> Input {
    let text = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 v, .param .u64 out) {{
        .reg .pred %p<6>; .reg .b32 %r<16>; .reg .b64 %rd<9>; .shared .align 16 .b8 s[32]; .shared .align 16 .b8 t[32]; .local .align 16 .b8 l[32];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6;
        ld.param.u64 %rd1, [x]; add.s64 %rd2, %rd1, %rd4; ld.global.s32 %r2, [%rd2];
        ld.param.u64 %rd5, [v]; add.s64 %rd6, %rd5, %rd4; ld.global.s32 %r3, [%rd6];
        ld.param.u64 %rd1, [out]; add.s64 %rd3, %rd1, %rd4;
        {body} ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

/// Eight threads; indices from 0 to 7, and from -2 to 5.
const PLAIN: &str = "--grid 1 --block 8 --arg x=s32[8]:0..8 --arg v=s32[8] --arg out=s32[8]:out";
const SIGNED: &str = "--grid 1 --block 8 --arg x=s32[8]:-2..6 --arg v=s32[8] --arg out=s32[8]:out";

fn check(body: &str, flags: &str) -> (Exit, String) {
    let outcome = Flags::parse(flags)
        .hand(&kernel(body), None, |one| check::run(one, check::Options::default(), Colour::Plain));
    (outcome.exit, outcome.output)
}

fn equiv(bodies: [&str; 2], flags: &str) -> (Exit, String) {
    let inputs = bodies.map(kernel);
    answer(inputs.each_ref(), [None; 2], &[(), ()].map(|()| Flags::parse(flags)))
}

const COPY: &str = "st.shared.u32 [%r7], %r3; bar.sync 0;";
const PLACE: &str = "shl.b32 %r8, %r2, 2; add.u32 %r8, %r8, %r5;";
const STORE: &str = "st.global.u32 [%rd3], %r9;";
/// `out[i] = v[x[i]]`
const GATHER: &str = "mul.wide.s32 %rd7, %r2, 4; add.s64 %rd7, %rd5, %rd7; ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd3], %r9;";

/// Each step of a checksum divides the last one by 2, under a condition on it. The masked result is in the table, and
/// the bounds of the steps are not computed anew for each step after them: 32 steps would never end.
#[test]
fn checksums_are_indices() {
    let step = "and.b32 %r8, %r2, 1; setp.eq.u32 %p1, %r8, 1; shr.u32 %r8, %r2, 1;
        xor.b32 %r9, %r8, 0xedb88320; selp.b32 %r2, %r9, %r8, %p1; ";
    let flags = "--grid 1 --block 1 --arg x=u32[1] --arg v=s32[8] --arg out=s32[1]:out";
    let checked = |mask: u32| {
        let steps = step.repeat(32);
        check(&format!("{steps} and.b32 %r2, %r2, {mask}; {GATHER}"), flags)
    };
    let (exit, text) = checked(7);
    assert_eq!(exit, Exit::Success, "{text}");
    let (exit, text) = checked(15);
    assert_ne!(exit, Exit::Success, "{text}");
}

#[test]
fn tables_in_shared_and_local_memory_are_read() {
    let local: String = (0..8)
        .map(|at| {
            format!("ld.global.u32 %r9, [%rd5+{}]; st.local.u32 [l+{}], %r9; ", 4 * at, 4 * at)
        })
        .collect();
    let window = "mov.u64 %rd7, l; mul.wide.s32 %rd8, %r2, 4; add.s64 %rd7, %rd7, %rd8; ld.local.u32 %r9, [%rd7];";
    let generic = "mov.u64 %rd7, l; cvta.local.u64 %rd7, %rd7; mul.wide.s32 %rd8, %r2, 4; add.s64 %rd7, %rd7, %rd8; ld.u32 %r9, [%rd7];";
    let bodies = [
        format!("{COPY} {PLACE} ld.shared.u32 %r9, [%r8]; {STORE}"),
        format!("{local} {window} {STORE}"),
        format!("{local} {generic} {STORE}"),
    ];
    for body in &bodies {
        assert_eq!(check(body, PLAIN).0, Exit::Success, "{body}\n{}", check(body, PLAIN).1);
        let (exit, text) = equiv([GATHER, body], PLAIN);
        assert_eq!(exit, Exit::Success, "{body}\n{text}");
    }
    let wrong = [
        // Two elements of the table are exchanged.
        format!(
            "xor.b32 %r10, %r6, 4; add.u32 %r7, %r5, %r10; {COPY} {PLACE} ld.shared.u32 %r9, [%r8]; {STORE}"
        ),
        // The last is not copied.
        format!(
            "setp.lt.u32 %p1, %r1, 7; @%p1 st.shared.u32 [%r7], %r3; @!%p1 st.shared.u32 [%r7], 0; bar.sync 0; {PLACE} ld.shared.u32 %r9, [%r8]; {STORE}"
        ),
        format!("{COPY} {PLACE} xor.b32 %r8, %r8, 4; ld.shared.u32 %r9, [%r8]; {STORE}"),
    ];
    for body in &wrong {
        let (exit, text) = equiv([GATHER, body], PLAIN);
        assert_ne!(exit, Exit::Success, "{body}\n{text}");
    }
}

#[test]
fn errors_at_possible_places_are_not_proved_absent() {
    let property = |text: &str, name: &str| {
        let proved = text.lines().filter(|line| line.starts_with("proved"));
        proved.flat_map(|line| line.split([':', ','])).any(|word| word.trim() == name)
    };
    let table = [
        // The ninth element belongs to another array.
        (
            "bounds",
            PLAIN.replace("0..8", "0..9"),
            format!("{COPY} {PLACE} ld.shared.u32 %r9, [%r8]; {STORE}"),
        ),
        ("bounds", SIGNED.to_owned(), format!("{COPY} {PLACE} ld.shared.u32 %r9, [%r8]; {STORE}")),
        (
            "bounds",
            PLAIN.replace("0..8", "0..9"),
            format!("{COPY} {PLACE} st.shared.u32 [%r8], 1; ld.shared.u32 %r9, [%r7]; {STORE}"),
        ),
        // The last element is never written, or none is.
        (
            "initialised",
            PLAIN.to_owned(),
            format!(
                "setp.lt.u32 %p1, %r1, 7; @%p1 st.shared.u32 [%r7], %r3; bar.sync 0; {PLACE} ld.shared.u32 %r9, [%r8]; {STORE}"
            ),
        ),
        ("initialised", PLAIN.to_owned(), format!("{PLACE} ld.shared.u32 %r9, [%r8]; {STORE}")),
        (
            "initialised",
            PLAIN.to_owned(),
            format!(
                "{PLACE} red.shared.add.u32 [%r8], 1; bar.sync 0; ld.shared.u32 %r9, [%r7]; {STORE}"
            ),
        ),
        (
            "initialised",
            PLAIN.to_owned(),
            format!(
                "{PLACE} st.shared.u32 [%r8], 1; bar.sync 0; ld.shared.u32 %r9, [%r7]; {STORE}"
            ),
        ),
        // Other threads may write or read the same element.
        (
            "races",
            PLAIN.to_owned(),
            format!(
                "{COPY} {PLACE} st.shared.u32 [%r8], %r1; bar.sync 0; ld.shared.u32 %r9, [%r7]; {STORE}"
            ),
        ),
        (
            "races",
            PLAIN.to_owned(),
            format!("{COPY} {PLACE} ld.shared.u32 %r9, [%r8]; st.shared.u32 [%r7], 5; {STORE}"),
        ),
        (
            "races",
            PLAIN.to_owned(),
            format!(
                "{COPY} {PLACE} red.shared.add.u32 [%r8], 1; ld.shared.u32 %r9, [%r7]; {STORE}"
            ),
        ),
        // An update of unwritten memory is an access like any other, in either order.
        (
            "races",
            PLAIN.to_owned(),
            format!(
                "setp.eq.u32 %p1, %r1, 0; @%p1 bra A; {PLACE} red.shared.add.u32 [%r8], 1; bra B; A: st.shared.u32 [%r5+20], 7; B: mov.u32 %r9, 1; {STORE}"
            ),
        ),
        (
            "races",
            PLAIN.to_owned(),
            format!(
                "setp.ne.u32 %p1, %r1, 0; @%p1 bra A; {PLACE} red.shared.add.u32 [%r8], 1; bra B; A: st.shared.u32 [%r5+20], 7; B: mov.u32 %r9, 1; {STORE}"
            ),
        ),
        ("initialised", PLAIN.replace("0..8", "0..4"), halves("red.shared.max.u64 [%r8], 1;")),
        // For some contents, not a multiple of the access size.
        (
            "alignment",
            PLAIN.to_owned(),
            format!(
                "{COPY} shl.b32 %r8, %r2, 1; add.u32 %r8, %r8, %r5; ld.shared.u32 %r9, [%r8]; {STORE}"
            ),
        ),
        // The value that an update finds depends on the schedule.
        (
            "determinism",
            PLAIN.to_owned(),
            format!("{COPY} {PLACE} atom.shared.add.u32 %r9, [%r8], 1; {STORE}"),
        ),
    ];
    for (name, flags, body) in &table {
        let (exit, text) = check(body, flags);
        assert!(exit != Exit::Success && !property(&text, name), "{name}\n{body}\n{text}");
    }
    let (exit, text) = check(&table[0].2, &table[0].1);
    assert!(exit == Exit::Refuted && text.contains("is 8"), "{text}");
    let (exit, text) = check(&table[5].2, &table[5].1);
    assert_eq!(exit, Exit::Refuted, "{text}");
}

/// Elements of 64 bits with written lower halves. Thread 0 performs `done` on one of them, and reads the lower half
/// of the second.
fn halves(done: &str) -> String {
    let written = "st.shared.u32 [%r5], 12; st.shared.u32 [%r5+8], 12; st.shared.u32 [%r5+16], 12; st.shared.u32 [%r5+24], 12;";
    format!(
        "mov.u32 %r9, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra E; {written} shl.b32 %r8, %r2, 3; add.u32 %r8, %r8, %r5; {done} ld.shared.u32 %r9, [%r5+8]; E: {STORE}"
    )
}

#[test]
fn updates_of_what_is_partly_written_are_followed() {
    let flags = PLAIN.replace("0..8", "0..4");
    for done in ["red.shared.or.b64 [%r8], 1;", "red.shared.add.u64 [%r8], 1;"] {
        let (exit, text) = equiv([&halves(""), &halves(done)], &flags);
        assert_ne!(exit, Exit::Success, "{done}\n{text}");
    }
}

#[test]
fn addresses_of_32_bits_wrap_around() {
    let read = "add.u32 %r8, %r5, %r8; ld.shared.u32 %r9, [%r8+32]; st.global.u32 [%rd3], %r9;";
    // The index is `7 - x`, written as `~x + 8`; and the largest multiple of 8 below a number, from -8 on.
    let body = format!("{COPY} xor.b32 %r8, %r2, -1; shl.b32 %r8, %r8, 2; {read}");
    let (exit, text) = check(&body, PLAIN);
    assert_ne!(exit, Exit::Refuted, "{text}");
    let body = format!("{COPY} and.b32 %r8, %r2, -8; {read}");
    let (exit, text) = check(&body, &PLAIN.replace("0..8", "-8..0"));
    assert_ne!(exit, Exit::Refuted, "{text}");
    let (exit, text) = check(&body, PLAIN);
    assert_ne!(exit, Exit::Success, "{text}");
}

#[test]
fn consequences_of_an_access_out_of_bounds_are_not_reported() {
    let body = format!(
        "mov.u32 %r9, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra E; {PLACE} st.shared.u32 [%r8], 1; max.s32 %r10, %r2, 0; shl.b32 %r10, %r10, 2; add.u32 %r10, %r10, %r5; ld.shared.u32 %r9, [%r10]; E: {STORE}"
    );
    let (exit, text) = check(&body, &PLAIN.replace("0..8", "-1..2"));
    assert!(exit == Exit::Refuted && !text.contains("undefined value"), "{text}");
}

/// If one side goes out of bounds, there is nothing to compare.
#[test]
fn inputs_that_go_out_of_bounds_are_no_difference() {
    let one = "mov.u32 %r9, 17; st.shared.u32 [%r7], %r9; bar.sync 0; shl.b32 %r8, %r2, 2; add.u32 %r8, %r8, %r5; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd3], %r9;";
    let other = "setp.eq.s32 %p1, %r2, 8; selp.b32 %r9, 99, 17, %p1; st.global.u32 [%rd3], %r9;";
    let (exit, text) = equiv([one, other], &PLAIN.replace("0..8", "7..9"));
    assert!(exit == Exit::Refuted && !text.contains("equivalence: refuted"), "{text}");
}

/// A register that is undefined for some contents is undefined in `equiv` too.
#[test]
fn undefined_values_are_open_in_comparisons() {
    let one = format!("setp.eq.s32 %p1, %r2, 0; @%p1 bra L; mov.u32 %r9, 3; L: {STORE}");
    let other = format!("mov.u32 %r9, 3; {STORE}");
    let (exit, text) = equiv([&one, &other], PLAIN);
    assert_ne!(exit, Exit::Success, "{text}");
    assert!(text.contains("reference: initialised unknown"), "{text}");
}

/// `out[i]`: the number of elements of `x` equal to `i`.
fn counted(scale: &str) -> String {
    let one = |at: u32| {
        format!(
            "ld.global.s32 %r10, [%rd8+{}]; setp.eq.s32 %p1, %r10, %r1; selp.u32 %r11, {scale}, 0, %p1; add.u32 %r9, %r9, %r11; ",
            4 * at
        )
    };
    let all: String = (0..8).map(one).collect();
    format!("ld.param.u64 %rd8, [x]; mov.u32 %r9, 0; {all} {STORE}")
}

#[test]
fn counters_in_shared_memory_are_sums() {
    let count = format!(
        "st.shared.u32 [%r7], 0; bar.sync 0; {PLACE} red.shared.add.u32 [%r8], 1; bar.sync 0; ld.shared.u32 %r9, [%r7]; {STORE}"
    );
    assert_eq!(check(&count, PLAIN).0, Exit::Success);
    let (exit, text) = equiv([&counted("1"), &count], PLAIN);
    assert_eq!(exit, Exit::Success, "{text}");
    assert_eq!(equiv([&counted("2"), &count], PLAIN).0, Exit::Refuted);
    let twice = count.replace("red.shared.add.u32 [%r8], 1;", "red.shared.add.u32 [%r8], 2;");
    assert_eq!(equiv([&counted("1"), &twice], PLAIN).0, Exit::Refuted);
    // Only elements that pass a condition.
    let some = count
        .replace("red.shared", "setp.gt.s32 %p2, %r2, 3; @!%p2 bra L; red.shared")
        .replace("bar.sync 0; ld", "L: bar.sync 0; ld");
    assert_eq!(check(&some, PLAIN).0, Exit::Success, "{}", check(&some, PLAIN).1);
    assert_eq!(equiv([&counted("1"), &some], PLAIN).0, Exit::Refuted);
}

/// Compilers' forms of arithmetic on indices, against the plain form.
#[test]
fn bit_operations_on_indices_are_arithmetic() {
    let read = "mul.wide.s32 %rd7, %r8, 4; add.s64 %rd7, %rd5, %rd7; ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd3], %r9;";
    let table = [
        (
            PLAIN,
            "and.b32 %r8, %r2, 3;",
            "shr.u32 %r10, %r2, 2; shl.b32 %r10, %r10, 2; sub.s32 %r8, %r2, %r10;",
        ),
        (
            PLAIN,
            "shr.u32 %r10, %r2, 1; shl.b32 %r10, %r10, 1; and.b32 %r11, %r1, 1; or.b32 %r8, %r10, %r11;",
            "and.b32 %r10, %r2, 6; and.b32 %r11, %r1, 1; add.s32 %r8, %r10, %r11;",
        ),
        (PLAIN, "xor.b32 %r8, %r2, 7;", "mov.u32 %r10, 7; sub.s32 %r8, %r10, %r2;"),
        (
            PLAIN,
            "shr.s32 %r10, %r2, 31; shr.u32 %r10, %r10, 30; add.s32 %r10, %r10, %r2; and.b32 %r10, %r10, -4; sub.s32 %r8, %r2, %r10;",
            "and.b32 %r8, %r2, 3;",
        ),
        (PLAIN, "bfe.u32 %r8, %r2, 1, 2;", "shr.u32 %r8, %r2, 1;"),
        (
            PLAIN,
            "and.b32 %r10, %r2, 3; mov.u32 %r11, 0; bfi.b32 %r8, %r10, %r11, 1, 2;",
            "and.b32 %r10, %r2, 3; shl.b32 %r8, %r10, 1;",
        ),
        // The same for numbers that may be negative.
        (
            SIGNED,
            "shr.s32 %r10, %r2, 31; and.b32 %r10, %r10, 8; add.s32 %r8, %r2, %r10;",
            "setp.lt.s32 %p1, %r2, 0; selp.b32 %r10, 8, 0, %p1; add.s32 %r8, %r2, %r10;",
        ),
        (
            SIGNED,
            "and.b32 %r8, %r2, 7;",
            "shr.s32 %r10, %r2, 3; shl.b32 %r10, %r10, 3; sub.s32 %r8, %r2, %r10;",
        ),
    ];
    for (flags, one, other) in table {
        let bodies = [one, other].map(|index| format!("{index} {read}"));
        for body in &bodies {
            let (exit, text) = check(body, flags);
            assert_eq!(exit, Exit::Success, "{body}\n{text}");
        }
        let (exit, text) = equiv([&bodies[0], &bodies[1]], flags);
        assert_eq!(exit, Exit::Success, "{bodies:?}\n{text}");
        let shifted = format!("{one} xor.b32 %r8, %r8, 1; {read}");
        let (exit, text) = equiv([&shifted, &bodies[1]], flags);
        assert_ne!(exit, Exit::Success, "{shifted}\n{text}");
    }
}

/// `for (c = 0; c < n[t]; c++) s += v[c]`, as compilers unroll it: four at a time, and the rest.
#[test]
fn loops_whose_bound_is_data_are_left_where_ranges_say() {
    let head = "mov.u32 %r9, 0; mov.u64 %rd7, %rd5; setp.lt.s32 %p1, %r2, 1; @%p1 bra E; add.s32 %r10, %r2, -1; and.b32 %r11, %r2, 3; setp.lt.u32 %p2, %r10, 3; @%p2 bra R; sub.s32 %r12, %r2, %r11;";
    let four: String = (0..4)
        .map(|at| format!("ld.global.u32 %r13, [%rd7+{}]; add.u32 %r9, %r9, %r13; ", 4 * at))
        .collect();
    let rest = "R: setp.eq.s32 %p3, %r11, 0; @%p3 bra E; Q: ld.global.u32 %r13, [%rd7]; add.u32 %r9, %r9, %r13; add.s64 %rd7, %rd7, 4; add.s32 %r11, %r11, -1; setp.ne.s32 %p4, %r11, 0; @%p4 bra Q;";
    let unrolled = format!(
        "{head} L: {four} add.s64 %rd7, %rd7, 16; add.s32 %r12, %r12, -4; setp.ne.s32 %p5, %r12, 0; @%p5 bra L; {rest} E: {STORE}"
    );
    let one: String = (0..8)
        .map(|at| format!("setp.gt.s32 %p1, %r2, {at}; ld.global.u32 %r13, [%rd5+{}]; selp.u32 %r13, %r13, 0, %p1; add.u32 %r9, %r9, %r13; ", 4 * at))
        .collect();
    let plain = format!("mov.u32 %r9, 0; {one} {STORE}");
    let (exit, text) = check(&unrolled, PLAIN);
    assert_eq!(exit, Exit::Success, "{text}");
    // There are eight elements, and a loop of nine is wrong.
    assert_ne!(check(&unrolled, &PLAIN.replace("0..8", "0..9")).0, Exit::Refuted);
    assert_ne!(check(&unrolled, &PLAIN.replace("0..8", "0..10")).0, Exit::Success);
    let (exit, text) = equiv([&plain, &unrolled], &PLAIN.replace("0..8", "0..9"));
    assert_ne!(exit, Exit::Refuted, "{text}");
    let short = unrolled.replace("setp.lt.s32 %p1, %r2, 1;", "setp.lt.s32 %p1, %r2, 2;");
    assert_ne!(equiv([&plain, &short], PLAIN).0, Exit::Success);
}

#[test]
fn a_number_that_is_excluded_bounds_an_index() {
    let read = "mul.wide.s32 %rd7, %r2, 4; add.s64 %rd7, %rd5, %rd7; ld.global.u32 %r9, [%rd7];";
    let flags = PLAIN.replace("0..8", "-1..8");
    let guarded = |number: i32| {
        format!("mov.u32 %r9, 0; setp.eq.s32 %p1, %r2, {number}; @%p1 bra L; {read} L: {STORE}")
    };
    let (exit, text) = check(&guarded(-1), &flags);
    assert_eq!(exit, Exit::Success, "{text}");
    for number in [0, 7, 3] {
        assert_ne!(check(&guarded(number), &flags).0, Exit::Success, "{number}");
    }
    // Nothing follows from `4·x != 6`.
    let doubled = guarded(-1)
        .replace("setp.eq.s32 %p1, %r2, -1", "shl.b32 %r10, %r2, 2; setp.eq.s32 %p1, %r10, -6");
    assert_ne!(check(&doubled, &flags).0, Exit::Success);
    let options = Options { strict: true, ..Options::default() };
    let inputs = [guarded(-1), guarded(-1)].map(|body| kernel(&body));
    let both = [(), ()].map(|()| Flags::parse(&flags));
    assert_eq!(answer_with(inputs.each_ref(), [None; 2], &both, &options).0, Exit::Success);
}

/// An end of the type lies in the gap before a number that the type does not have.
#[test]
fn numbers_beyond_the_type_are_no_ends_of_a_range() {
    let flags = PLAIN.replace(":0..8", "");
    let inputs = [kernel(GATHER), kernel(GATHER)];
    let answered = |condition: &str| {
        let assumptions = [condition.parse().unwrap()];
        let options = Options { assumptions: &assumptions, ..Options::default() };
        let flags = [(), ()].map(|()| Flags::parse(&flags));
        answer_with(inputs.each_ref(), [None; 2], &flags, &options)
    };
    for condition in
        ["0 <= x and x < 8 or x == 10000000000", "0 <= x and x < 8 or x == -10000000000"]
    {
        let (exit, text) = answered(condition);
        assert_eq!(exit, Exit::Success, "{text}");
    }
    assert_ne!(answered("0 <= x and x < 8 or x == 8").0, Exit::Success);
}
