//! Any bytes as the JSON that Triton writes beside its PTX: the kernel is checked, with the shared memory that the JSON
//! states.

use crate::scratch;
use std::path::PathBuf;
use std::sync::LazyLock;
use warpproof::{Call, call};

const KERNEL: &[u8] = b".version 7.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry k(.param .u64 .ptr .global .align 1 y)
.reqntid 32
{
.reg .b64 %rd<4>;
.reg .b32 %r<5>;
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x;
mov.u32 %r2, global_smem;
shl.b32 %r3, %r1, 2;
add.u32 %r2, %r2, %r3;
st.shared.u32 [%r2], %r1;
ld.shared.u32 %r4, [%r2];
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r4;
ret;
}
";

static PTX: LazyLock<PathBuf> = LazyLock::new(|| scratch::write("k.ptx", KERNEL));

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    LazyLock::force(&PTX);
    let json = scratch::word(&scratch::write("k.json", bytes));
    let words = ["check", "--grid=1", "--jobs=1", "--arg=y=u32[32]:out"].map(str::to_owned);
    let words = words.into_iter().chain([json]).collect();
    let called = call(&mut Call::new(words, Vec::new(), None));
    assert_ne!(called.exit, driver::Exit::Bug);
}
