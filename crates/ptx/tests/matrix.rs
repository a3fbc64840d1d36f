//! Matrix instructions that look right and are not: each is refused, never lowered to something
//! else.

use ptx::isa;

const REFUSED: &[&str] = &[
    // The fragment of A has four registers.
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
    // Registers of the wrong width.
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f1, %f2}, {%fd3}, {%fd4}, {%fd5, %fd6};",
    // No such shape for the type.
    "mma.sync.aligned.m16n8k4.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1}, {%r2}, {%f1, %f2, %f3, %f4};",
    // Only `m8n8k4` has other layouts.
    "mma.sync.aligned.m16n8k8.col.row.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r1, %r2};",
    // Factors of different kinds.
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};",
    // Accumulators of different types.
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%r4, %r5};",
    // Floats are not clamped.
    "mma.sync.aligned.m16n8k8.row.col.satfinite.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r1, %r2};",
    // Bits need an operation.
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};",
    // A selector of threads that do not exist.
    "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7, %r8, %r9, %r10}, {%r1, %r2}, %r11, 2;",
    // Metadata without `.sp`.
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r1, %r2}, %r6, 0;",
    // `.sync` and `.aligned` are not optional.
    "ldmatrix.sync.m8n8.x1.shared.b16 {%r1}, [%r2];",
    "movmatrix.aligned.m8n8.trans.b16 %r1, %r2;",
    // As many registers as matrices, in shared memory.
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%r3];",
    "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r1}, [%rd1];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b8 [%r2], {%r1};",
    "movmatrix.sync.aligned.m8n8.b16 %r1, %r2;",
    // Small elements have one layout each.
    "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1];",
    "wmma.load.a.sync.aligned.row.m16n16k16.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1];",
    "wmma.load.c.sync.aligned.row.m16n16k8.f16 {%r1, %r2, %r3, %r4}, [%rd1];",
    "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
];

#[test]
fn what_does_not_fit_the_tables_is_refused() {
    for example in REFUSED {
        let text = isa::example_module(example, "sm_90a");
        let parsed = ptx::syntax::parse(&text);
        assert!(parsed.errors.is_empty(), "{example}: {:?}", parsed.errors);
        let lowered = ptx::lower(&parsed.module);
        assert_eq!(lowered.diagnostics.len(), 1, "{example}: {:?}", lowered.diagnostics);
    }
}
