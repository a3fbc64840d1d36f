//! Tests the alignment of shared arrays that declare less than an access needs. A claimed alignment must hold
//! in every order of the arrays, and for gaps up to any power of two. One that is left open must depend on
//! the order.

mod launching;

use exec::{AlignmentAssumption, Fault, Limits, Outcome, Paths};
use launching::{kernel, launch};
use testing::Random;

/// A shared array: bytes and declared alignment.
type Array = (u64, u64);

/// Stores vectors of `bytes` bytes at an offset of the first array.
fn stored(arrays: &[Array], offset: u64, bytes: u64, paths: Paths) -> Outcome {
    let declared: String = arrays
        .iter()
        .enumerate()
        .map(|(at, (size, align))| format!(".shared .align {align} .b8 s{at}[{size}];\n"))
        .collect();
    let store = match bytes {
        16 => "st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};",
        _ => "st.shared.v2.u32 [%r1], {%r2, %r2};",
    };
    // A variable that is not named has no room.
    let named: String = (0..arrays.len()).map(|at| format!("mov.u32 %r3, s{at};")).collect();
    let body = format!(
        "{declared} {named} mov.u32 %r1, s0; add.u32 %r1, %r1, {offset}; mov.u32 %r2, 0; {store}"
    );
    let program = kernel("", "", &body);
    let launch = launch(&program, "k", [1, 1, 1], [1, 1, 1], 0, &[]);
    exec::run(&program, &launch, Limits { paths, ..Limits::default() })
}

/// The start of the first array in an order, if gaps lead to the declared alignment, at least `least`.
fn begins(arrays: &[Array], order: &[usize], least: u64) -> u64 {
    let mut end = 0_u64;
    for &at in order {
        let (size, align) = arrays[at];
        let start = end.next_multiple_of(align.max(least));
        if at == 0 {
            return start;
        }
        end = start + size;
    }
    end
}

/// All orders of this many items.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let longer = shorter.iter().flat_map(|order| {
        (0..count).map(move |at| {
            let mut order = order.clone();
            order.insert(at, count - 1);
            order
        })
    });
    longer.collect()
}

#[test]
fn claims_hold_in_every_packing() {
    let mut random = Random::new(7);
    let (mut settled, mut as_placed, mut open, mut refuted) = (0, 0, 0, 0);
    for _ in 0..300 {
        let sizes = [32, 48, 64, 40, 36, 33, 128];
        let count = 1 + random.below(3_usize);
        let mut array = || (random.pick(&sizes), 1_u64 << random.below(6_u32));
        let mut arrays: Vec<Array> = (0..count).map(|_| array()).collect();
        arrays[0].1 = arrays[0].1.max(4);
        let bytes = if random.chance(50) { 16 } else { 8 };
        let offset = 4 * random.below(4_u64);
        let outcome = stored(&arrays, offset, bytes, Paths::Fast);
        assert_eq!(outcome.findings, stored(&arrays, offset, bytes, Paths::General).findings);
        let all = orders(arrays.len());
        let starts: Vec<u64> = [1, 4, 16, 64]
            .into_iter()
            .flat_map(|least| all.iter().map(move |order| (order, least)))
            .map(|(order, least)| begins(&arrays, order, least))
            .collect();
        let aligned: Vec<bool> =
            starts.iter().map(|start| (start + offset).is_multiple_of(bytes)).collect();
        let description =
            format!("{arrays:?} at {offset}, {bytes} bytes: {:?}", outcome.alignments);
        let is = |wanted| outcome.alignments.iter().any(|one| one.assumption == wanted);
        let (is_open, is_placed) =
            (is(AlignmentAssumption::Open), is(AlignmentAssumption::AsPlaced));
        // The packing of an H200.
        let declared_order: Vec<usize> = (0..arrays.len()).collect();
        let placed = (begins(&arrays, &declared_order, 1) + offset).is_multiple_of(bytes);
        match outcome.findings.as_slice() {
            [] if is_open => {
                open += 1;
                assert!(aligned.contains(&false) && !placed, "{description}");
            }
            [] if is_placed => {
                as_placed += 1;
                assert!(aligned.contains(&false) && placed, "{description}");
            }
            [] => {
                settled += 1;
                assert!(aligned.iter().all(|one| *one), "{description}");
            }
            [finding] => {
                refuted += 1;
                assert!(matches!(finding.fault, Fault::Misaligned { .. }), "{description}");
                assert!(aligned.iter().all(|one| !*one), "{description}");
            }
            more => panic!("{more:?}"),
        }
        // A claim beyond the declared alignment is reported.
        let declared = arrays[0].1 >= bytes || !offset.is_multiple_of(arrays[0].1.min(bytes));
        assert_eq!(outcome.alignments.is_empty(), declared, "{description}");
    }
    assert!(settled > 30 && as_placed > 10 && refuted > 30, "{settled} {as_placed} {refuted}");
    assert!(open > 10, "{open}");
}

/// How the accesses of a kernel to its array `s` are settled, and the array in the way.
fn settled(module: &str, body: &str) -> (Vec<AlignmentAssumption>, Option<String>) {
    let program = kernel(module, "", &format!("mov.u32 %r2, 0; {body}"));
    let launch = launch(&program, "k", [1, 1, 1], [2, 1, 1], 0, &[]);
    let mut both = [Paths::Fast, Paths::General].map(|paths| {
        let outcome = exec::run(&program, &launch, Limits { paths, ..Limits::default() });
        assert_eq!(outcome.findings, []);
        outcome.alignments.iter().map(|one| one.assumption).collect::<Vec<_>>()
    });
    assert_eq!(both[0], both[1]);
    let way = exec::misaligning_array(&program, launch.kernel, "s", 16);
    (std::mem::take(&mut both[0]), way.map(|one| one.name.clone()))
}

const STORE: &str = "mov.u32 %r1, s; st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};";

/// Arrays that the kernel does not name have no place beside its own.
#[test]
fn arrays_that_are_not_named_do_not_count() {
    let other =
        ".entry other() { .shared .align 4 .b8 odd[12]; .reg .b32 %r1; mov.u32 %r1, odd; ret; }";
    let module = ".shared .align 4 .b8 odd[12];";
    let named = "mov.u32 %r3, odd;";
    let own = ".shared .align 4 .b8 s[64];";
    let packed = (vec![AlignmentAssumption::InEveryPacking], None);
    for text in ["", other, module] {
        assert_eq!(settled(text, &format!("{own} {STORE}")), packed, "{text}");
    }
    let unused = format!("{module} {own} {STORE}");
    assert_eq!(settled("", &unused), packed);
    // Named by the kernel, behind its array: an H200 begins with the kernel's.
    let placed = (vec![AlignmentAssumption::AsPlaced], Some("odd".to_owned()));
    assert_eq!(settled(module, &format!("{own} {STORE} {named}")), placed);
    assert_eq!(settled("", &format!("{own} {module} {STORE} {named}")), placed);
    // In code that no thread reaches.
    let dead = format!("{own} {STORE} bra E; {named} E:");
    assert_eq!(settled(module, &dead), placed);
    // Before its array, and in a function that it calls.
    let open = (vec![AlignmentAssumption::Open], Some("odd".to_owned()));
    assert_eq!(settled("", &format!("{module} {own} {STORE} {named}")), open);
    let called = format!(
        "{module} .shared .align 4 .b8 s[64];
        .func f() {{ .reg .b32 %r1; mov.u32 %r1, odd; ret; }}"
    );
    assert_eq!(settled(&called, &format!("{STORE} call f;")), open);
}

/// One access is aligned where an H200 places the array, and another at the same instruction is not.
#[test]
fn every_thread_counts() {
    let own = ".shared .align 4 .b8 s[80]; .shared .align 4 .b8 odd[12]; mov.u32 %r3, odd;";
    let body = |step: u32| {
        format!(
            "{own} mov.u32 %r4, %tid.x; mov.u32 %r1, s; mad.lo.u32 %r1, %r4, {step}, %r1;
            st.shared.v4.u32 [%r1], {{%r2, %r2, %r2, %r2}};"
        )
    };
    assert_eq!(settled("", &body(16)).0, [AlignmentAssumption::AsPlaced]);
    assert_eq!(settled("", &body(4)).0, [AlignmentAssumption::Open, AlignmentAssumption::AsPlaced]);
}

/// Final contents of module variables.
#[test]
fn module_variables_that_change_are_reported() {
    let module =
        ".global .align 4 .u32 a = 5;\n.global .align 4 .u32 b = 6;\n.const .align 4 .u32 c = 7;";
    let body =
        "mov.u32 %r1, 6; st.global.u32 [a], %r1; st.global.u32 [b], %r1; ld.const.u32 %r2, [c];";
    let program = kernel(module, "", body);
    let launch = launch(&program, "k", [1, 1, 1], [1, 1, 1], 0, &[]);
    let outcome = exec::run(&program, &launch, Limits::default());
    let names: Vec<&str> =
        outcome.changed.iter().map(|&id| program.variables[id].name.as_str()).collect();
    assert_eq!(names, ["a"], "`b` holds what it held");
}

/// Dynamic shared memory begins at a multiple of 16 bytes on an H200, whatever it declares. What needs that is listed.
#[test]
fn dynamic_memory_begins_at_a_multiple_of_16_bytes() {
    let outcome = |align: u32, module: &str, body: &str| {
        let module = format!(".extern .shared .align {align} .b8 s[];\n{module}");
        let program = kernel(&module, "", &format!("mov.u32 %r2, 0; mov.u32 %r1, s; {body}"));
        let mut launch = launch(&program, "k", [1, 1, 1], [2, 1, 1], 0, &[]);
        launch.dynamic_shared = 64;
        let both = [Paths::Fast, Paths::General]
            .map(|paths| exec::run(&program, &launch, Limits { paths, ..Limits::default() }));
        assert_eq!(both[0].alignments, both[1].alignments);
        assert_eq!(both[0].findings, both[1].findings);
        let [outcome, _] = both;
        outcome
    };
    let settled = |outcome: &Outcome| -> Vec<AlignmentAssumption> {
        outcome.alignments.iter().map(|one| one.assumption).collect()
    };
    let wide = "st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};";
    let odd = ".shared .align 4 .b8 odd[12];";
    for (align, body, expected) in [
        (4, wide.to_owned(), vec![AlignmentAssumption::AtDynamicStart]),
        (4, format!("mov.u32 %r3, odd; {wide}"), vec![AlignmentAssumption::AtDynamicStart]),
        (16, wide.to_owned(), vec![]),
        (4, "st.shared.u32 [%r1], %r2;".to_owned(), vec![]),
    ] {
        let found = outcome(align, odd, &body);
        assert_eq!(found.findings, [], "{body}");
        assert_eq!(settled(&found), expected, "{align}: {body}");
    }
    let misplaced = outcome(4, "", &format!("add.u32 %r1, %r1, 4; {wide}"));
    assert!(matches!(misplaced.findings[0].fault, Fault::Misaligned { .. }));
    assert_eq!(settled(&misplaced), [AlignmentAssumption::AtDynamicStart]);
    // The low bits of its address are zeros only if that is assumed.
    let low =
        outcome(4, "", "and.b32 %r3, %r1, 15; add.u32 %r1, %r1, %r3; st.shared.u32 [%r1], %r2;");
    assert_eq!((low.gap, low.shared_alignment), (None, 16));
    let declared =
        outcome(16, "", "and.b32 %r3, %r1, 15; add.u32 %r1, %r1, %r3; st.shared.u32 [%r1], %r2;");
    assert_eq!((declared.gap, declared.shared_alignment), (None, 0));
}

/// Variables of other kernels of the file have no room, in no block of a cluster.
#[test]
fn variables_of_other_kernels_have_no_room() {
    let many = |count: u32| {
        let all: String = (0..count)
            .map(|at| format!(".shared .align 4 .b8 o{at}[4]; mov.u32 %r1, o{at};"))
            .collect();
        format!(".entry other() {{ .reg .b32 %r1; {all} ret; }}")
    };
    let local: String = (0..200).map(|at| format!(".local .align 4 .b8 l{at}[4];")).collect();
    let module = format!("{}\n.func unused() {{ {local} ret; }}", many(100));
    let body =
        ".shared .align 4 .b8 s[64]; mov.u32 %r1, s; mov.u32 %r2, 0; st.shared.u32 [%r1], %r2;";
    let program = kernel(&module, "", body);
    let mut launch = launch(&program, "k", [16, 1, 1], [2, 1, 1], 0, &[]);
    launch.cluster = Some([16, 1, 1]);
    let outcome = exec::run(&program, &launch, Limits::default());
    assert_eq!((outcome.gap, outcome.blocks), (None, 16));
}

/// A kernel beside others whose calls pass 150 arguments.
#[test]
fn arguments_of_calls_that_a_kernel_does_not_make_need_no_room() {
    let call = "{ .param .b32 a; st.param.b32 [a], 1; call leaf, (a); }";
    let calls = call.repeat(150);
    let module = format!(".func leaf(.param .b32 a) {{ ret; }}\n.entry other() {{ {calls} ret; }}");
    let program = kernel(&module, "", call);
    let launch = launch(&program, "k", [1; 3], [1; 3], 0, &[]);
    assert_eq!(exec::check(&program, &launch, Limits::default()).gap, None);
    let program = kernel(&module, "", &calls);
    let launch = self::launch(&program, "k", [1; 3], [1; 3], 0, &[]);
    assert!(exec::check(&program, &launch, Limits::default()).gap.is_some());
}
