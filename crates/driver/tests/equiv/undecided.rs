//! Branches and choices on data. Values that are undefined for some contents, or that the schedule decides, are
//! tracked through all operations on them. Each kernel is false for some contents of `x`, or right for all of them,
//! by construction.

use crate::corpus::Flags;
use crate::{answer, answer_with};
use driver::arguments::AssumeSpec;
use driver::check;
use driver::equiv::Options;
use driver::{Colour, Exit, Input};

/// A kernel whose threads have their element of `x` in `%r2` and the address of their element of `out` in `%rd3`.
fn kernel(body: &str) -> Input {
    let text = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 out) {{
        .reg .pred %p<6>; .reg .b16 %h<3>; .reg .b128 %q1; .reg .b32 %r<12>; .reg .b64 %rd<9>; .shared .align 8 .b8 s[64]; .local .align 4 .b8 l[8];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4; mov.u32 %r5, s; shl.b32 %r6, %r1, 3; add.u32 %r5, %r5, %r6;
        ld.param.u64 %rd1, [x]; add.s64 %rd2, %rd1, %rd4; ld.param.u64 %rd1, [out]; add.s64 %rd3, %rd1, %rd4;
        ld.global.s32 %r2, [%rd2]; setp.gt.s32 %p1, %r2, 1; setp.gt.s32 %p2, %r2, 2; mov.u32 %r7, 0; cvt.u64.u32 %rd5, %r2;
        {body} ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

const OUT: &str = "--grid 1 --block 8 --arg x=s32[8]:0..4 --arg out=u32[8]:out";

fn check(body: &str, flags: &str) -> (Exit, String) {
    let outcome = Flags::parse(flags)
        .hand(&kernel(body), None, |one| check::run(one, check::Options::default(), Colour::Plain));
    (outcome.exit, outcome.output)
}

fn proves(text: &str, property: &str) -> bool {
    let proved = text.lines().filter(|line| line.starts_with("proved"));
    proved.flat_map(|line| line.split([':', ','])).any(|word| word.trim() == property)
}

#[test]
fn possibly_undefined_values_are_not_proved_initialised() {
    let store = "st.global.u32 [%rd3], %r4;";
    let table = [
        format!("@!%p2 mov.u32 %r4, 5; @%p1 {store} @!%p1 st.global.u32 [%rd3], 0;"),
        format!("@%p2 st.shared.u32 [%r5], 1; ld.shared.u32 %r4, [%r5]; @%p1 {store}"),
        "@%p1 st.global.u32 [%rd3], 0; red.global.add.u32 [%rd3], 1;".to_owned(),
        format!("selp.u32 %r4, %r8, 0, %p1; {store}"),
        format!("@!%p1 bra L; add.u32 %r4, %r2, 3; L: {store}"),
        format!("mov.b16 %h1, 5; @%p1 mov.b16 %h2, 7; mov.b32 %r4, {{%h1, %h2}}; {store}"),
        format!("@%p1 mov.u32 %r8, 1; and.b32 %r4, %r8, 255; {store}"),
        format!("@%p1 mov.u32 %r8, 1; bfe.u32 %r4, %r8, 8, 8; {store}"),
        format!("@%p1 mov.u32 %r8, 1; prmt.b32 %r4, %r8, %r7, 0x5410; {store}"),
        format!("@%p1 mov.u32 %r8, 1; cvt.u8.u32 %r4, %r8; {store}"),
        format!("@%p1 mov.u32 %r8, 1; mul.wide.u32 %rd6, %r8, 3; cvt.u32.u64 %r4, %rd6; {store}"),
        format!(
            "@%p1 mov.u32 %r8, 1; st.shared.u32 [%r5], 0; st.shared.u8 [%r5+1], %r8; ld.shared.u32 %r4, [%r5]; {store}"
        ),
        format!(
            "@%p1 mov.u32 %r8, 1; st.local.u32 [l], %r8; st.local.u32 [l+4], 0; ld.local.u64 %rd6, [l]; cvt.u32.u64 %r4, %rd6; {store}"
        ),
        format!(
            "@%p1 st.shared.u64 [%r5], %rd5; @!%p1 st.shared.u32 [%r5], %r2; ld.shared.u64 %rd6, [%r5]; shr.u64 %rd6, %rd6, 32; cvt.u32.u64 %r4, %rd6; {store}"
        ),
        // Local memory used by only one side.
        format!("@!%p1 bra L; st.local.u32 [l+4], %r1; L: ld.local.u32 %r4, [l+4]; {store}"),
        format!("@%p1 bra L; st.local.u32 [l+4], %r1; L: ld.local.u32 %r4, [l+4]; {store}"),
        // Beside a number, in a register of 128 bits.
        format!(
            "@%p1 bra L; add.u32 %r7, %r7, 1; L: @%p2 mov.u32 %r8, 3; cvt.u64.u32 %rd6, %r8; mov.b128 %q1, {{%rd4, %rd6}}; mov.b128 {{%rd7, %rd8}}, %q1; cvt.u32.u64 %r4, %rd8; {store}"
        ),
        // An undefined condition; its branch has no visible effect.
        format!(
            "@!%p3 bra L; mov.u32 %r9, 1; L: @%p1 bra M; mov.u32 %r7, 3; M: mov.u32 %r4, %r7; {store}"
        ),
        // The same with unwritten memory, alone and on a side of another branch.
        format!(
            "ld.shared.u32 %r9, [%r5]; setp.gt.s32 %p3, %r9, 0; @!%p3 bra L; mov.u32 %r9, 1; L: @%p1 bra M; mov.u32 %r7, 3; M: mov.u32 %r4, %r7; {store}"
        ),
        format!(
            "ld.shared.u32 %r9, [%r5]; setp.gt.s32 %p3, %r9, 0; mov.u32 %r7, 2; @!%p1 bra M; @!%p3 bra L; mov.u32 %r9, 1; L: mov.u32 %r7, 3; M: mov.u32 %r4, %r7; {store}"
        ),
    ];
    for body in &table {
        let others = [":inout", ":scratch"].map(|other| OUT.replace(":out", other));
        for flags in [OUT, &others[0], &others[1], &OUT.replace(":0..4", "")] {
            let (_, text) = check(body, flags);
            let is_given = body.contains("red.") && flags.contains(":inout");
            assert!(is_given || !proves(&text, "initialised"), "{body}\n{flags}\n{text}");
        }
    }
}

#[test]
fn schedule_dependent_values_are_not_proved_deterministic() {
    let store = "st.global.u32 [%rd3], %r4;";
    let clock = "mov.u32 %r3, %clock;";
    let table = [
        format!("{clock} @%p1 st.global.u32 [%rd3], %r3; @!%p1 st.global.u32 [%rd3], %r3;"),
        "cvt.u32.u64 %r3, %rd3; @%p1 st.global.u32 [%rd3], %r3; @!%p1 st.global.u32 [%rd3], %r3;"
            .to_owned(),
        format!("{clock} selp.b32 %r4, %r3, 1, %p1; {store}"),
        format!("{clock} and.b32 %r4, %r3, 255; {store}"),
        format!("{clock} @%p1 bra L; add.u32 %r7, %r7, 1; L: and.b32 %r4, %r3, 255; {store}"),
        format!(
            "{clock} and.b32 %r3, %r3, 1; setp.eq.u32 %p3, %r3, 1; bar.red.popc.u32 %r4, 0, %p3; {store}"
        ),
        format!(
            "{clock} and.b32 %r3, %r3, 1; setp.eq.u32 %p3, %r3, 1; bar.red.and.pred %p4, 0, %p3; selp.b32 %r4, 1, 2, %p4; {store}"
        ),
        format!(
            "{clock} st.shared.u32 [%r5], 0; st.shared.u8 [%r5], %r3; ld.shared.u32 %r4, [%r5]; {store}"
        ),
    ];
    for body in &table {
        let (_, text) = check(body, OUT);
        assert!(!proves(&text, "determinism"), "{body}\n{text}");
    }
}

#[test]
fn values_defined_for_all_contents_are_not_errors() {
    let store = "st.global.u32 [%rd3], %r4;";
    let table = [
        // The undefined side is not chosen.
        format!("@!%p1 bra L; mov.u32 %r8, 5; L: selp.u32 %r4, %r8, 0, %p1; {store}"),
        format!(
            "mul.lo.s32 %r9, %r2, %r2; setp.eq.s32 %p3, %r9, 2; selp.u32 %r4, %r8, 0, %p3; {store}"
        ),
        // The undefined value is not reached, or does not matter there.
        format!(
            "setp.gt.s32 %p3, %r2, 10; mov.u32 %r4, 1; @!%p3 bra L; @%p4 mov.u32 %r4, 2; L: {store}"
        ),
        format!(
            "setp.gt.s32 %p3, %r2, 10; and.pred %p5, %p4, %p3; mov.u32 %r4, 1; @%p5 mov.u32 %r4, 2; {store}"
        ),
        // A branch that no allowed contents reach.
        format!(
            "ld.shared.u32 %r9, [%r5]; setp.gt.s32 %p4, %r9, 0; setp.gt.s32 %p3, %r2, 10; mov.u32 %r4, 1; @!%p3 bra M; @!%p4 bra L; mov.u32 %r9, 1; L: mov.u32 %r4, 3; M: {store}"
        ),
    ];
    for body in &table {
        let (exit, text) = check(body, OUT);
        assert_ne!(exit, Exit::Refuted, "{body}\n{text}");
        let flags = [(), ()].map(|()| Flags::parse(OUT));
        let (exit, text) = answer([&kernel(body), &kernel(body)], [None; 2], &flags);
        assert_ne!(exit, Exit::Refuted, "{body}\n{text}");
    }
}

#[test]
fn races_under_conditions_are_refuted_for_contents_that_are_allowed() {
    // All threads with an element above a bound write their number, or the same one, to one place.
    let race = |bound: u32, value: &str| {
        format!(
            "setp.gt.s32 %p3, %r2, {bound}; mov.u32 %r8, {value}; @!%p3 bra L; st.shared.u32 [s], %r8; L: bar.sync 0; st.global.u32 [%rd3], %r1;"
        )
    };
    let of_range = |range: &str| OUT.replace(":0..4", range);
    let table = [
        (race(1, "%r1"), of_range(":0..4"), Exit::Refuted),
        (race(1, "%r1"), of_range(""), Exit::Refuted),
        (race(9, "%r1"), of_range(":0..20"), Exit::Refuted),
        // No contents of the range are above the bound.
        (race(3, "%r1"), of_range(":0..4"), Exit::Unknown),
        (race(9, "%r1"), of_range(":0..4"), Exit::Unknown),
        // They write equal values.
        (race(1, "7"), of_range(":0..4"), Exit::Unknown),
    ];
    for (body, flags, expected) in table {
        let (exit, text) = check(&body, &flags);
        let is_right = exit == expected || expected == Exit::Unknown && exit == Exit::Success;
        assert!(is_right, "{body}\n{flags}\n{text}");
        assert!(expected != Exit::Refuted || text.contains("others are 0"), "{text}");
    }
}

#[test]
fn comparisons_of_rounded_numbers_bound_no_integer() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 t, .param .u64 out) {
        .reg .pred %p1; .reg .b16 %h<3>; .reg .b32 %r<3>; .reg .b64 %rd<5>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [t]; ld.param.u64 %rd3, [out]; ld.global.s32 %r1, [%rd1]; mov.u32 %r2, 7;
        cvt.rn.f16.s32 %h1, %r1; mov.b16 %h2, 0x6800; setp.gt.f16 %p1, %h1, %h2; @%p1 bra L;
        mul.wide.s32 %rd4, %r1, 4; add.s64 %rd4, %rd4, %rd2; ld.global.s32 %r2, [%rd4];
        L: st.global.s32 [%rd3], %r2; ret; }";
    let input = Input::from_bytes("k.ptx", text.as_bytes().to_vec()).unwrap();
    let flags = "--grid 1 --block 1 --arg x=s32[1]:0..4000 --arg t=s32[2049] --arg out=s32[1]:out";
    let (exit, text) = answer([&input, &input], [None; 2], &[(), ()].map(|()| Flags::parse(flags)));
    assert_ne!(exit, Exit::Success, "2049 is 2048 in 16 bits\n{text}");
}

#[test]
fn assumptions_mean_the_same_when_the_reference_is_run_again() {
    // Threads that write the same value cause a second run of the reference.
    let text = |chosen: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y, .param .u64 out, .param .u64 aux) {{
            .reg .pred %p<3>; .reg .f32 %f<4>; .reg .b32 %r1; .reg .b64 %rd<5>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [out]; ld.param.u64 %rd4, [aux]; mov.u32 %r1, %tid.x;
            ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; st.global.f32 [%rd4], %f2; setp.ne.u32 %p1, %r1, 0; @%p1 bra E;
            {chosen} st.global.f32 [%rd3], %f3; E: ret; }}"
        )
    };
    let input = |chosen: &str| Input::from_bytes("k.ptx", text(chosen).into_bytes()).unwrap();
    let small = input("setp.lt.f32 %p2, %f1, 0f40A00000; selp.f32 %f3, %f1, %f2, %p2;");
    let large = input("setp.gt.f32 %p2, %f1, 0f42C80000; selp.f32 %f3, %f1, %f2, %p2;");
    let (x, y) = (input("mov.f32 %f3, %f1;"), input("mov.f32 %f3, %f2;"));
    let flags = "--grid 1 --block 2 --arg x=f32[1] --arg y=f32[1] --arg out=f32[1]:out --arg aux=f32[1]:out";
    let ask = |kernels: [&Input; 2], condition: &str| {
        let assumptions: [AssumeSpec; 1] = [condition.parse().unwrap()];
        let options = Options { assumptions: &assumptions, ..Options::default() };
        answer_with(kernels, [None; 2], &[(), ()].map(|()| Flags::parse(flags)), &options)
    };
    // Below 100, x is at most 5 for some inputs only; below 90 it is never above 100.
    let (exit, text) = ask([&small, &x], "x < 100");
    assert_eq!(exit, Exit::Refuted, "{text}");
    let (exit, text) = ask([&large, &y], "x < 90");
    assert_eq!(exit, Exit::Success, "{text}");
}

/// Over the reals the condition divides by zero, so the choice has no value, and nothing is claimed. Enclosures cannot
/// tell √x·√x from x.
#[test]
fn choices_by_undefined_conditions_have_no_value() {
    let condition = "sqrt.rn.f32 %f1, %f9; mul.f32 %f2, %f1, %f1; sub.f32 %f3, %f2, %f9;
        div.rn.f32 %f4, 0f3F800000, %f3; setp.gt.f32 %p1, %f4, 0f00000000;";
    let other = "setp.gt.f32 %p2, %f9, 0f40400000;";
    let kernel = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 out) {{
            .reg .pred %p<4>; .reg .f32 %f<10>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; ld.global.f32 %f9, [%rd1];
            {body}
            st.global.f32 [%rd2], %f8; ret; }}"
        );
        Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
    };
    let choose = |predicate: &str| {
        format!("{condition} {other} {predicate} selp.f32 %f8, 0f3F800000, 0f40000000, %p3;")
    };
    let five = "mov.f32 %f8, 0f40A00000;";
    for predicate in
        ["mov.pred %p3, %p1;", "and.pred %p3, %p1, %p2;", "or.pred %p3, %p2, %p1;", "not.pred %p3, %p1;"]
    {
        let inputs = [kernel(&choose(predicate)), kernel(five)];
        let flags = ["--grid 1 --block 1 --arg x=f32[1] --arg out=f32[1]:out"; 2].map(Flags::parse);
        let (exit, text) = answer(inputs.each_ref(), [None; 2], &flags);
        assert_eq!(exit, Exit::Unknown, "{predicate}\n{text}");
    }
}
