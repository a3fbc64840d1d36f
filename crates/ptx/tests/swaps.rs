//! Loops of compare-and-swap: some become an update, others stay.

use ir::{Atomic, AtomicOp, Function, Load, Op, Ordering, Scalar, Skips};

/// A kernel with this body.
fn kernel(body: &str) -> Function {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{ .reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>;\n\
         .reg .f64 %d<9>; .reg .b64 %x<9>;\n\
         ld.param.u64 %x1, [p]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; cvt.f64.f32 %d1, %f1; mov.u32 %r9, 0;\n\
         {body}\n}}\n"
    );
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    lowered.program.functions.iter().next().unwrap().clone()
}

/// The only atomic operation of a kernel.
fn atomic(function: &Function) -> &Atomic {
    let mut all = function.instructions().filter_map(|instruction| match &instruction.op {
        Op::Atomic(atomic) => Some(atomic),
        _ => None,
    });
    let found = all.next().unwrap();
    assert!(all.next().is_none());
    found
}

/// The loads from global memory.
fn loads(function: &Function) -> Vec<&Load> {
    let loads = function.instructions().filter_map(|instruction| match &instruction.op {
        Op::Load(load) if load.space == ir::Space::Global => Some(load),
        _ => None,
    });
    loads.collect()
}

/// A loop as compilers write it. `function` computes the new value `%r4` from the guess `%r2`.
fn swap_loop(function: &str) -> String {
    format!(
        "ld.global.u32 %r2, [%x1];
         again: {function}
         atom.global.cas.b32 %r3, [%x1], %r2, %r4;
         setp.ne.s32 %p1, %r2, %r3; mov.u32 %r2, %r3;
         @%p1 bra again;
         ret;"
    )
}

const MAXIMUM: &str = "mov.b32 %f2, %r2; max.f32 %f3, %f1, %f2; mov.b32 %r4, %f3;";

#[test]
fn a_loop_that_swaps_until_it_succeeds_is_one_update() {
    let cases = [
        (MAXIMUM, AtomicOp::Max, "f32"),
        ("mov.b32 %f2, %r2; min.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;", AtomicOp::Min, "f32"),
        ("mov.b32 %f2, %r2; add.ftz.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;", AtomicOp::Add, "f32"),
        ("mov.b32 %f2, %r2; add.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;", AtomicOp::Add, "f32"),
        ("add.s32 %r4, %r1, %r2;", AtomicOp::Add, "u32"),
        ("max.s32 %r4, %r1, %r2;", AtomicOp::Max, "s32"),
        ("xor.b32 %r4, %r2, %r1;", AtomicOp::Xor, "u32"),
        ("and.b32 %r4, %r2, 15;", AtomicOp::And, "u32"),
        ("shl.b32 %r7, %r1, 2; or.b32 %r4, %r2, %r7;", AtomicOp::Or, "u32"),
        ("ld.global.u32 %r7, [%x1+64]; or.b32 %r4, %r2, %r7;", AtomicOp::Or, "u32"),
        ("mov.b32 %r7, 0x3f803f80; fma.rn.bf16x2 %r4, %r1, %r7, %r2;", AtomicOp::Add, "bf16"),
        ("mov.u32 %r8, %r2; max.u32 %r4, %r1, %r8;", AtomicOp::Max, "u32"),
        ("mov.b32 %f2, %r2; mul.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;", AtomicOp::Mul, "f32"),
        ("mul.lo.u32 %r4, %r1, %r2;", AtomicOp::Mul, "u32"),
        ("mov.b32 %f2, %r2; sub.ftz.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;", AtomicOp::Add, "f32"),
        ("sub.s32 %r4, %r2, %r1;", AtomicOp::Add, "u32"),
        // Divisions that are never by zero, or the same in each iteration.
        ("div.u32 %r7, %r2, 3; add.s32 %r4, %r2, %r1;", AtomicOp::Add, "u32"),
        ("div.u32 %r7, 100, %r1; add.s32 %r4, %r2, %r7;", AtomicOp::Add, "u32"),
    ];
    for (function, op, scalar) in cases {
        let kernel = kernel(&swap_loop(function));
        let found = atomic(&kernel);
        let name = match found.scalar {
            Scalar::Integer { signed: true, .. } => "s32",
            Scalar::Integer { .. } => "u32",
            Scalar::Float(ir::Format::F32) => "f32",
            Scalar::Float(ir::Format::Bf16) => "bf16",
            Scalar::Float(_) => "other",
        };
        assert_eq!((found.op, name), (op, scalar), "{function}");
        // An atomic addition of floats in global memory flushes subnormals; this one behaves like the loop.
        assert!(!function.contains("add.f32") || found.keeps_subnormals, "{function}");
        assert!(!function.contains("add.ftz") || !found.keeps_subnormals, "{function}");
        assert!(found.dsts.is_empty(), "{function}: nobody uses the old value");
        assert!(loads(&kernel).iter().all(|load| load.address.offset == 64), "{function}");
    }
}

#[test]
fn sums_with_products_are_updates_of_their_own() {
    // The assembler may fuse them with the sum. The last two are packed, or picked from a pack.
    let functions = [
        "mul.f32 %f4, %f1, %f1; mov.b32 %f2, %r2; add.ftz.f32 %f3, %f2, %f4; mov.b32 %r4, %f3;",
        "mul.f32 %f4, %f1, %f1; neg.f32 %f5, %f4; mov.b32 %f2, %r2; add.ftz.f32 %f3, %f2, %f5; mov.b32 %r4, %f3;",
        "mul.f16 %h1, %h3, %h3; mul.f16 %h2, %h4, %h4; mov.b32 %r7, {%h1, %h2}; add.f16x2 %r4, %r2, %r7;",
        "mul.f16 %h1, %h3, %h3; cvt.u32.u16 %r7, %h1; shl.b32 %r8, %r7, 16; or.b32 %r9, %r7, %r8; add.f16x2 %r4, %r2, %r9;",
        "mul.f16x2 %r7, %r1, %r1; prmt.b32 %r8, %r7, %r7, 0x1032; add.f16x2 %r4, %r2, %r8;",
    ];
    for function in functions {
        let kernel = kernel(&swap_loop(function));
        assert_eq!(atomic(&kernel).op, AtomicOp::AddProduct, "{function}");
    }
}

#[test]
fn other_functions_keep_the_loop_and_their_first_guess_is_only_a_guess() {
    let functions = [
        "mov.b32 %f2, %r2; sub.f32 %f3, %f1, %f2; mov.b32 %r4, %f3;",
        "mov.b32 %f2, %r2; max.ftz.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;",
        "mov.b32 %f2, %r2; max.NaN.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;",
        "mov.b32 %f2, %r2; add.rz.ftz.f32 %f3, %f2, %f1; mov.b32 %r4, %f3;",
        // An iteration on another thread's value may divide by zero.
        "div.u32 %r7, 100, %r2; add.s32 %r4, %r2, %r1;",
        "add.s32 %r4, %r2, %r1; rem.s32 %r7, %r1, %r4;",
        "add.s32 %r4, %r2, %r2;",
        "add.s32 %r5, %r2, %r1; add.s32 %r4, %r5, %r2;",
        "shl.b32 %r4, %r2, %r1;",
        "mov.b32 %r7, 0x3f803f81; fma.rn.bf16x2 %r4, %r1, %r7, %r2;",
    ];
    for function in functions {
        let kernel = kernel(&swap_loop(function));
        assert_eq!(atomic(&kernel).op, AtomicOp::CompareSwap, "{function}");
        let orders: Vec<Ordering> = loads(&kernel).iter().map(|load| load.ordering).collect();
        assert!(matches!(orders[..], [Ordering::Relaxed(_)]), "{function}: {orders:?}");
    }
}

#[test]
fn the_old_value_is_there_after_the_update() {
    let body = swap_loop(MAXIMUM)
        .replace("ret;", "st.global.u32 [%x1+4], %r2; st.global.u32 [%x1+8], %r4; ret;");
    let kernel = kernel(&body);
    let found = atomic(&kernel);
    assert_eq!((found.op, found.dsts.len()), (AtomicOp::Max, 1));
    let position = |wanted: &dyn Fn(&Op) -> bool| {
        kernel.instructions().position(|instruction| wanted(&instruction.op)).unwrap()
    };
    let update = position(&|op| matches!(op, Op::Atomic(_)));
    let largest = position(&|op| matches!(op, Op::FloatBinary { .. }));
    assert!(update < largest, "what is computed of the guess takes the old value");
}

#[test]
fn other_loops_stay() {
    let plain = swap_loop(MAXIMUM);
    let cases = [
        // Repeats while the swap succeeds.
        plain.replace("setp.ne", "setp.eq"),
        plain.replace("@%p1 bra", "@!%p1 bra"),
        // The old value is not the next guess.
        plain.replace("mov.u32 %r2, %r3;", ""),
        plain.replace("mov.u32 %r2, %r3;", "mov.u32 %r2, %r4;"),
        // Compares something else.
        plain.replace("setp.ne.s32 %p1, %r2, %r3", "setp.ne.s32 %p1, %r2, %r4"),
        plain.replace("setp.ne.s32 %p1, %r2, %r3", "setp.ne.s32 %p1, %r2, 0"),
        plain.replace("setp.ne.s32 %p1, %r2, %r3", "setp.ne.u16 %p1, %h1, %h2"),
        // Counts its iterations.
        plain.replace("mov.u32 %r2, %r3;", "mov.u32 %r2, %r3; add.s32 %r9, %r9, 1;"),
        // Walks along an array.
        plain.replace("mov.u32 %r2, %r3;", "mov.u32 %r2, %r3; add.s64 %x1, %x1, 4;"),
        // Has other effects, or is conditional.
        plain.replace("again:", "again: st.global.u32 [%x1+4], %r1;"),
        plain.replace("again:", "again: @%p2 mov.u32 %r5, 0;"),
        plain.replace("atom.global", "@%p2 atom.global"),
        // The address of its load depends on the guess.
        plain.replace(
            "again:",
            "again: cvt.u64.u32 %x2, %r2; add.s64 %x3, %x2, %x1; ld.global.f32 %f1, [%x3];",
        ),
        // Loads behind the swap see writes of other threads.
        plain.replace("setp.ne", "ld.global.u32 %r8, [%x1+4]; setp.ne"),
        // Swaps in a value that does not depend on the guess.
        plain.replace("%r2, %r4;", "%r2, %r1;"),
    ];
    for body in cases {
        assert_ne!(body, plain);
        assert_eq!(atomic(&kernel(&body)).op, AtomicOp::CompareSwap, "{body}");
    }
}

#[test]
fn a_first_guess_that_others_use_is_kept() {
    let plain = swap_loop(MAXIMUM);
    let cases = [
        plain.replace("again:", "st.global.u32 [%x1+4], %r2; again:"),
        plain.replace("ld.global.u32 %r2, [%x1];", "ld.global.u32 %r2, [%x1+4];"),
        plain.replace("ld.global.u32 %r2, [%x1];", "ld.global.nc.u32 %r2, [%x1];"),
        plain.replace("ld.global.u32 %r2, [%x1];", "ld.acquire.gpu.global.u32 %r2, [%x1];"),
        plain.replace("again:", "add.s64 %x1, %x1, 4; again:"),
        plain.replace("again:", "bar.sync 0; again:"),
        plain.replace("again:", "cp.async.wait_all; again:"),
        plain.replace("again:", "st.global.u32 [%x1+4], %r1; again:"),
        plain
            .replace("again:", "setp.eq.u32 %p3, %r1, 0; @%p3 bra out; again:")
            .replace("ret;", "out: ret;"),
    ];
    for body in cases {
        assert_ne!(body, plain);
        let kernel = kernel(&body);
        assert_eq!((atomic(&kernel).op, loads(&kernel).len()), (AtomicOp::Max, 1), "{body}");
    }
}

/// The loops of `corpus/equiv/swap/forms.cu`, as nvcc compiles them.
#[test]
fn loops_of_other_forms_are_updates() {
    let path = testing::corpus::root().join("corpus/equiv/swap/forms.ptx");
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = ptx::syntax::parse(&text);
    let program = ptx::lower(&parsed.module).program;
    let found = |name: &str| -> Vec<AtomicOp> {
        let function = program.functions.iter().find(|function| function.name == name).unwrap();
        let all = function.instructions().filter_map(|instruction| match &instruction.op {
            Op::Atomic(atomic) => Some(atomic.op),
            _ => None,
        });
        all.collect()
    };
    let raise = AtomicOp::Raise;
    let table = [
        ("largest_while", vec![raise]),
        ("largest_shared", vec![raise; 2]),
        ("largest_break", vec![AtomicOp::RaiseOrNan]),
        ("largest_looks", vec![AtomicOp::RaiseOrNan]),
        ("largest_endless", vec![AtomicOp::RaiseOrNan]),
        ("largest_chosen", vec![raise]),
        ("largest_loads", vec![AtomicOp::Max]),
        ("largest_turned", vec![AtomicOp::Lower]),
        ("largest_other", vec![AtomicOp::CompareSwap]),
        ("largest_guessed", vec![AtomicOp::CompareSwap]),
        ("largest_gives_up", vec![AtomicOp::CompareSwap]),
        ("product_swap", vec![AtomicOp::Mul]),
        ("dot_swap", vec![AtomicOp::AddProduct]),
        ("dot_loads", vec![AtomicOp::AddProduct]),
        ("rest_swap", vec![AtomicOp::Add]),
        ("rest_turned", vec![AtomicOp::CompareSwap]),
        ("capped_swap", vec![AtomicOp::CompareSwap]),
        ("capped_endless", vec![AtomicOp::CompareSwap]),
    ];
    for (name, expected) in table {
        assert_eq!(found(name), expected, "{name}");
    }
}

/// A loop that compares floats and swaps while its number is larger.
const WHILE: &str = "mov.b32 %r4, %f1; ld.global.u32 %r2, [%x1]; mov.b32 %f2, %r2; setp.leu.f32 %p1, %f1, %f2; @%p1 bra out;
     again: atom.global.cas.b32 %r2, [%x1], %r2, %r4; mov.b32 %f2, %r2; setp.gt.f32 %p2, %f1, %f2; @%p2 bra again;
     out: ret;";

#[test]
fn loops_of_other_forms_that_are_no_updates_stay() {
    assert_eq!(atomic(&kernel(WHILE)).op, AtomicOp::Raise);
    assert!(loads(&kernel(WHILE)).is_empty());
    let cases = [
        // Goes on for ever once memory has its number.
        WHILE.replace("setp.gt.f32 %p2", "setp.ge.f32 %p2"),
        // Leaves although its number is larger.
        WHILE.replace("setp.gt.f32 %p2, %f1", "setp.gt.f32 %p2, %f4"),
        WHILE.replace("setp.leu.f32 %p1, %f1", "setp.leu.f32 %p1, %f4"),
        WHILE.replace("setp.leu.f32 %p1", "setp.gtu.f32 %p1"),
        // Stores another number.
        WHILE.replace("%r2, %r4;", "%r2, %r1;"),
        // The guess is used behind the loop, or stored in it.
        WHILE.replace("out: ret;", "out: st.global.u32 [%x1+4], %r2; ret;"),
        WHILE.replace("again:", "again: st.global.u32 [%x1+4], %r2;"),
        // Reads other bytes first, or in a way that may be outdated for ever.
        WHILE.replace("%r2, [%x1];", "%r2, [%x1+4];"),
        WHILE.replace("ld.global.u32 %r2", "ld.global.nc.u32 %r2"),
        WHILE.replace("ld.global.u32 %r2, [%x1];", "mov.u32 %r2, 0;"),
        WHILE.replace("mov.b32 %f2, %r2; setp.leu", "bar.sync 0; mov.b32 %f2, %r2; setp.leu"),
        // It may not swap, and then orders nothing.
        WHILE.replace("atom.global", "atom.acq_rel.gpu.global"),
        // A load that is not always executed.
        WHILE.replace("again:", "again: ld.global.u32 %r8, [%x1+64];"),
        // Compares as floats whether it has swapped.
        swap_loop(MAXIMUM)
            .replace("setp.ne.s32 %p1, %r2, %r3", "mov.b32 %f5, %r3; setp.neu.f32 %p1, %f2, %f5"),
    ];
    for body in cases {
        assert_ne!(body, WHILE);
        let kernel = kernel(&body);
        assert_eq!(atomic(&kernel).op, AtomicOp::CompareSwap, "{body}");
    }
}

/// A loop that loads its guess, and goes on while its number is larger than the old one.
const LOADS: &str = "ld.global.f32 %f1, [%x1+64];
     again: mov.b32 %r4, %f1; ld.volatile.global.u32 %r2, [%x1]; mov.b32 %f2, %r2; setp.leu.f32 %p1, %f1, %f2; @%p1 bra out;
     atom.global.cas.b32 %r3, [%x1], %r2, %r4; mov.b32 %f3, %r3; setp.gt.f32 %p2, %f1, %f3; @%p2 bra again;
     out: ret;";

#[test]
fn a_number_loaded_again_after_the_own_swap_may_be_another_one() {
    assert_eq!(atomic(&kernel(LOADS)).op, AtomicOp::Raise);
    let load = "ld.global.f32 %f1, [%x1+64];";
    // If the first thread of two swaps at the address that the second one loads from, the swap changes what it compares.
    let again = LOADS.replace(load, "").replace("again:", &format!("again: {load}"));
    assert_eq!(atomic(&kernel(&again)).op, AtomicOp::CompareSwap);
}

#[test]
fn two_registers_are_one_guess_only_if_they_are_equal_at_first() {
    let two = |first: &str| {
        format!(
            "{first}
             again: mov.b32 %f2, %r5; max.f32 %f3, %f1, %f2; mov.b32 %r4, %f3;
             atom.global.cas.b32 %r3, [%x1], %r2, %r4;
             setp.ne.s32 %p1, %r2, %r3; mov.u32 %r2, %r3; mov.u32 %r5, %r3;
             @%p1 bra again; ret;"
        )
    };
    let of = |first: &str| atomic(&kernel(&two(first))).op;
    assert_eq!(of("ld.global.u32 %r2, [%x1]; mov.u32 %r5, %r2;"), AtomicOp::Max);
    // The first swap may succeed with a number that is computed from another one.
    assert_eq!(of("mov.u32 %r2, 0; mov.u32 %r5, 7;"), AtomicOp::CompareSwap);
    assert_eq!(of("mov.u32 %r2, 0; ld.global.u32 %r5, [%x1];"), AtomicOp::CompareSwap);
    assert_eq!(of("ld.global.u32 %r2, [%x1]; mov.u32 %r5, 7;"), AtomicOp::CompareSwap);
}

#[test]
fn products_of_halves_that_flush_are_no_updates() {
    let product = |suffix: &str| {
        let kernel = kernel(&swap_loop(&format!("mul{suffix} %r4, %r1, %r2;")));
        atomic(&kernel).op
    };
    assert_eq!(product(".f16x2"), AtomicOp::Mul);
    assert_eq!(product(".rn.f16x2"), AtomicOp::Mul);
    assert_eq!(product(".ftz.f16x2"), AtomicOp::CompareSwap);
}

#[test]
fn a_loop_that_leaves_without_a_swap_may_not_write() {
    let skips = |body: &str| atomic(&kernel(body)).skips;
    assert_eq!(skips(WHILE), Skips::UnlessBetter);
    assert_eq!(skips(LOADS), Skips::UnlessBetter);
    assert_eq!(skips(&swap_loop(MAXIMUM)), Skips::Never);
    let early = |relation: &str| {
        format!(
            "ld.global.u32 %r2, [%x1];
             again: setp.{relation}.s32 %p2, %r2, %r1; @%p2 bra out;
             atom.global.cas.b32 %r3, [%x1], %r2, %r1;
             setp.ne.s32 %p1, %r2, %r3; mov.u32 %r2, %r3; @%p1 bra again;
             out: ret;"
        )
    };
    assert_eq!(skips(&early("ge")), Skips::UnlessBetter);
    // An equal number is swapped for itself.
    assert_eq!(skips(&early("gt")), Skips::IfWorse);
    let several =
        early("gt").replace("%r3, [%x1], %r2, %r1;", "%r3, [%x1], %r2, %r1; bra.uni next; next:");
    assert_eq!(skips(&several), Skips::Perhaps);
}
