//! Any bytes as a structure recorded from a program (`p=@params.bin{A=ADDRESS}`), and any text after the file's name.
//! The first line of the input is that text; the rest is the file.

use crate::scratch;
use warpproof::{Call, call};

const KERNEL: &[u8] = b".version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 p[48], .param .u64 A)
{
.reg .b64 %rd<5>;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [p+8];
ld.param.u64 %rd3, [A];
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
ld.global.u32 %r2, [%rd1];
st.global.u32 [%rd3+4], %r2;
ret;
}
";

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, rest) = (crate::text(&bytes[..end]), bytes.get(end + 1..).unwrap_or_default());
    let file = scratch::word(&scratch::write("params.bin", rest));
    let words = vec![
        "check".to_owned(),
        "--grid=1".to_owned(),
        "--block=2".to_owned(),
        "--jobs=1".to_owned(),
        format!("--arg=p=@{file}{line}"),
        "--arg=A=f32[16]:inout".to_owned(),
        "k.ptx".to_owned(),
    ];
    let files = vec![("k.ptx".to_owned(), KERNEL.to_vec())];
    let called = call(&mut Call::new(words, files, None));
    assert_ne!(called.exit, driver::Exit::Bug);
}
