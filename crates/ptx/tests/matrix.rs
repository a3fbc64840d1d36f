//! Wrong matrix instructions that look right: each is refused, never lowered to something else.

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
    // Products of warp groups: both qualifiers, 64 rows, 32 bytes of K, columns by eights.
    "wgmma.mma_async.sync.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.fence.aligned;",
    "wgmma.wait_group.sync.aligned -1;",
    "cp.async.wait_group -1;",
    "cp.async.bulk.wait_group 4294967296;",
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1, %f2, %f3, %f4, %f5, %f6}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20}, %rd1, %rd2, %p1;",
    // Accumulators and factors that do not go together.
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r1, %r2}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.satfinite.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1;",
    // Scales are 1 or -1; only 16-bit elements are transposed, but never registers; integers have neither.
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 2, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd2, %p1, 1, 1, 0, 1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1, 1, 1;",
    // Metadata: a pair of lanes, or all.
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r5, 2, %p1, 1, 1, 0, 0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, %r5, 1, %p1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r5, 0, %p1, 1, 1, 0, 0;",
];

#[test]
fn shapes_beyond_the_tables_are_refused() {
    for example in REFUSED {
        let text = isa::example_module(example, "sm_90a");
        let parsed = ptx::syntax::parse(&text);
        assert!(parsed.errors.is_empty(), "{example}: {:?}", parsed.errors);
        let lowered = ptx::lower(&parsed.module);
        assert_eq!(lowered.diagnostics.len(), 1, "{example}: {:?}", lowered.diagnostics);
    }
}

/// Only doubles may be rounded in a direction; otherwise the refusal names the direction.
#[test]
fn only_doubles_have_a_direction() {
    let four = "{%f1, %f2, %f3, %f4}";
    let eight = "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}";
    let words = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
    for direction in [".rn", ".rz", ".rm", ".rp"] {
        let examples = [
            format!(
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32{direction} {four}, {{%r1, %r2}}, {{%r3}}, {four};"
            ),
            format!(
                "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32{direction} {four}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, {four};"
            ),
            format!(
                "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32{direction} {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, {{%r7}}, {{%r1, %r2, %r3, %r4}};"
            ),
            format!(
                "wmma.mma.sync.aligned.row.col.m16n16k16{direction}.f32.f32 {eight}, {words}, {words}, {eight};"
            ),
            format!(
                "wmma.mma.sync.aligned.row.col.m16n16k8{direction}.f32.tf32.tf32.f32 {eight}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6, %r7, %r8}}, {eight};"
            ),
        ];
        for example in examples {
            let messages = |text: &str| -> Vec<String> {
                let module = isa::example_module(text, "sm_90a");
                let parsed = ptx::syntax::parse(&module);
                assert!(parsed.errors.is_empty(), "{text}: {:?}", parsed.errors);
                let diagnostics = ptx::lower(&parsed.module).diagnostics;
                diagnostics.into_iter().map(|diagnostic| diagnostic.message.into()).collect()
            };
            let found = messages(&example);
            assert!(
                matches!(&found[..], [one] if one.starts_with(&format!("modifier `{direction}` of `"))),
                "{example}: {found:?}"
            );
            // Nothing else is wrong with it.
            assert_eq!(messages(&example.replace(direction, "")), Vec::<String>::new());
        }
    }
}
