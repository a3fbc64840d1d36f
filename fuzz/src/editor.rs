//! Any bytes as messages of an editor to the language server: each is answered or skipped, the answers are messages,
//! and the server ends.
//!
//! Seeds open `/tmp/warpproof-fuzz/k.cu`, which is written here.

use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;
use warpproof::readers;

const KERNEL: &str = "//@ extent x[n];\n//@ requires n > 0;\n__global__ void store(int* x, int n) {\n    \
    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] = i;\n}\n";

static FILE: LazyLock<()> = LazyLock::new(|| {
    let folder = Path::new("/tmp/warpproof-fuzz");
    let _ = std::fs::create_dir_all(folder);
    let _ = std::fs::write(folder.join("k.cu"), KERNEL);
});

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    LazyLock::force(&FILE);
    let mut output = Vec::new();
    readers::editor(Cursor::new(bytes.to_vec()), &mut output);
    let mut rest = output.as_slice();
    while !rest.is_empty() {
        let end = rest.windows(4).position(|part| part == b"\r\n\r\n").expect("a header ends");
        let header = std::str::from_utf8(&rest[..end]).expect("a header is text");
        let length = header.strip_prefix("Content-Length: ").expect("a header has a length");
        let length: usize = length.parse().expect("the length is a number");
        let message = &rest[end + 4..][..length];
        serde_json::from_slice::<serde_json::Value>(message).expect("a message is JSON");
        rest = &rest[end + 4 + length..];
    }
}
