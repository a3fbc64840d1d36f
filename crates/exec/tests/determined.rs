//! Tests stores whose address determines their value: threads that write the same place write the same, which a check
//! without contents must tell, and must not tell of any other store.

mod launching;

use exec::{Fault, Limits, Outcome};
use launching::{Arg, kernel, launch};
use testing::Random;

/// Elements of the input, and words of shared memory.
const ELEMENTS: usize = 64;

/// Checks a kernel of 48 threads in two blocks, with the addresses of an input `x` in `%rd1`, of a buffer `y` that is
/// also written in `%rd2` and of shared memory in `%r8`, and the number of the thread in `%r1`. Contents are known or
/// opaque.
fn check(body: &str, known: bool) -> Outcome {
    let start =
        "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r8, smem;";
    let shared = ".shared .align 16 .b8 smem[256];";
    let text = format!("{start}\n{body}");
    let program = kernel(shared, ".param .u64 x, .param .u64 y", &text);
    let numbers = (0..ELEMENTS as u32).flat_map(|at| (at * 77 + 5).to_le_bytes());
    let x = if known { Arg::In(numbers.collect()) } else { Arg::Opaque(4 * ELEMENTS) };
    let args = [x, Arg::InOut(vec![0; 4 * ELEMENTS])];
    let launch = launch(&program, "k", [2, 1, 1], [48, 1, 1], 0, &args);
    let outcome = exec::check(&program, &launch, Limits::default());
    assert_eq!(outcome.gap, None, "{body}");
    outcome
}

/// Returns `true` if the check leaves no pair of stores open.
fn is_settled(outcome: &Outcome) -> bool {
    !outcome.undecided.iter().any(exec::Undecided::depends_on_values)
}

/// Counts races of equal and of different values.
fn races(outcome: &Outcome) -> [usize; 2] {
    let count = |same: bool| {
        let is_such = |fault: &Fault| matches!(fault, Fault::Race(race) if race.same_value == same);
        outcome.findings.iter().filter(|finding| is_such(&finding.fault)).count()
    };
    [true, false].map(count)
}

/// Loads `x[%r2]` to `%r3`.
const LOAD: &str =
    "mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r3, [%rd3];";
/// Stores `%r3` at word `%r4`.
const STORE: &str = "shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r8; st.shared.u32 [%r4], %r3;";

#[test]
fn copies_of_the_same_element_to_the_same_place_are_equal() {
    for body in [
        format!("and.b32 %r2, %r1, 7; mov.u32 %r4, %r2; {LOAD} {STORE}"),
        format!("rem.u32 %r2, %r1, 5; {LOAD} mad.lo.u32 %r4, %r2, 3, 1; {STORE}"),
        // The same in all threads of a block.
        format!("mov.u32 %r2, %ctaid.x; {LOAD} mov.u32 %r4, 9; {STORE}"),
        format!("mov.u32 %r5, %ctaid.x; shl.b32 %r5, %r5, 3; and.b32 %r4, %r1, 7; add.u32 %r2, %r5, %r4; {LOAD} {STORE}"),
        // In any iteration of a loop.
        format!("mov.u32 %r0, 0; A: and.b32 %r2, %r0, 7; mov.u32 %r4, %r2; {LOAD} {STORE}
            add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 4; @%p1 bra A;"),
        // Under a guard.
        format!("and.b32 %r2, %r1, 7; {LOAD} mov.u32 %r4, %r2; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r8;
            setp.lt.u32 %p1, %r1, 40; @%p1 st.shared.u32 [%r4], %r3;"),
    ] {
        let outcome = check(&body, false);
        assert!(is_settled(&outcome), "{body}\n{:?}", outcome.undecided);
        assert_eq!(races(&outcome), [1, 0], "{body}");
    }
}

#[test]
fn stores_of_other_elements_stay_open() {
    for body in [
        // Another element than the place tells.
        format!("and.b32 %r2, %r1, 15; and.b32 %r4, %r1, 7; {LOAD} {STORE}"),
        // The product wraps around: all threads write word 0.
        format!("and.b32 %r2, %r1, 15; {LOAD} shl.b32 %r4, %r2, 31; shl.b32 %r4, %r4, 1; {STORE}"),
        format!("and.b32 %r2, %r1, 15; {LOAD} mul.lo.u32 %r4, %r2, 1073741824; {STORE}"),
        // The iteration decides, too.
        format!(
            "mov.u32 %r0, 0; A: and.b32 %r4, %r1, 7; add.u32 %r2, %r4, %r0; {LOAD} {STORE}
            add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 4; @%p1 bra A;"
        ),
        // The index of the place is defined anew.
        format!("and.b32 %r2, %r1, 15; {LOAD} and.b32 %r2, %r1, 7; mov.u32 %r4, %r2; {STORE}"),
        // In some lanes.
        format!(
            "and.b32 %r2, %r1, 7; mov.u32 %r4, %r2; setp.lt.u32 %p1, %r1, 40; @%p1 add.u32 %r2, %r2, 1; {LOAD} {STORE}"
        ),
        // A value that the place does not determine is added.
        format!("and.b32 %r2, %r1, 7; mov.u32 %r4, %r2; {LOAD} add.u32 %r3, %r3, %r1; {STORE}"),
        // Two instructions.
        format!(
            "and.b32 %r2, %r1, 7; {LOAD} mov.u32 %r4, %r2; {STORE}
            xor.b32 %r2, %r2, 1; {LOAD} xor.b32 %r4, %r2, 1; {STORE}"
        ),
    ] {
        let outcome = check(&body, false);
        assert!(!is_settled(&outcome), "{body}");
    }
}

/// An update changes what the instruction has written.
#[test]
fn stores_around_an_update_stay_open() {
    let body = format!(
        "mov.u32 %r0, 0; A: and.b32 %r2, %r1, 7; {LOAD} mov.u32 %r4, %r2; {STORE} atom.shared.add.u32 %r5, [%r4], 1;
         add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 2; @%p1 bra A;"
    );
    assert!(!is_settled(&check(&body, false)));
}

/// A buffer that the launch writes is no input.
#[test]
fn elements_of_written_buffers_stay_open() {
    let body = format!(
        "mov.u32 %r2, %tid.x; and.b32 %r2, %r2, 7; mov.u32 %r4, %r2; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
         ld.global.u32 %r3, [%rd3]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd2, %rd3; st.global.u32 [%rd3], %r3;
         bar.sync 0; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd2, %rd3; ld.global.u32 %r3, [%rd3]; {STORE}"
    );
    assert!(!is_settled(&check(&body, false)));
}

/// A random kernel: operations on the thread's number and on the counter of a loop lead to an element and to a place.
fn random_kernel(random: &mut Random) -> String {
    let mut body = String::from("mov.u32 %r0, 0;\nA: shr.u32 %r2, %r1, 2; mov.u32 %r5, 3;\n");
    let registers = ["%r0", "%r1", "%r2", "%r5", "%r6", "%r7"];
    body.push_str("and.b32 %r6, %r1, 7; rem.u32 %r7, %r1, 6;\n");
    let step = |random: &mut Random, body: &mut String, target: &str, from: &str| {
        let other = match random.below(3) {
            0 => random.pick(&registers).to_owned(),
            _ => random.pick(&["0", "1", "2", "4", "7", "30", "32"]).to_owned(),
        };
        let op = ["add.u32", "sub.u32", "mul.lo.u32", "and.b32", "xor.b32", "shl.b32", "shr.u32"];
        body.push_str(&format!("{} {target}, {from}, {other};\n", random.pick(&op)));
    };
    for _ in 0..random.below(4) {
        let (target, from) = (random.pick(&registers[2..]), random.pick(&registers));
        step(random, &mut body, target, from);
    }
    body.push_str(&format!("and.b32 %r4, {}, 15;\n", random.pick(&registers)));
    match random.below(4) {
        0 => body.push_str(&format!("and.b32 %r2, {}, 15;\n", random.pick(&registers))),
        1 => {
            step(random, &mut body, "%r2", "%r4");
            body.push_str("and.b32 %r2, %r2, 31;\n");
        }
        _ => body.push_str("mov.u32 %r2, %r4;\n"),
    }
    if random.once_in(3) {
        step(random, &mut body, "%r4", "%r4");
        if random.once_in(2) {
            body.push_str("and.b32 %r4, %r4, 31;\n");
        } else {
            body.push_str("setp.lt.u32 %p2, %r4, 64;\n");
            body.push_str(&format!("{LOAD}\n{}", STORE.replace("st.shared", "@%p2 st.shared")));
            return ended(random, body);
        }
    }
    body.push_str(&format!("{LOAD}\n{STORE}"));
    ended(random, body)
}

/// Adds the end of a kernel: it may be a loop.
fn ended(random: &mut Random, mut body: String) -> String {
    if random.once_in(2) {
        body.push_str("\nadd.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 3; @%p1 bra A;");
    }
    body
}

/// Whatever counts as equal without contents is equal for contents that all differ.
#[test]
fn equal_stores_of_random_kernels_are_equal_on_numbers() {
    let (mut equal, mut open) = (0, 0);
    for seed in 0..1500 {
        let body = random_kernel(&mut Random::new(seed));
        let opaque = check(&body, false);
        if !is_settled(&opaque) {
            open += 1;
            continue;
        }
        let [same, different] = races(&opaque);
        assert_eq!(different, 0, "{body}");
        equal += same;
        assert_eq!(races(&check(&body, true)), [same, 0], "seed {seed}\n{body}");
    }
    assert!(equal > 100 && open > 300, "{equal} equal, {open} open");
}
