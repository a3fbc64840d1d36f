//! Any bytes as a file with PTX in it (a fat binary, an ELF file, an archive): PTX comes out, or a reason why not.

use driver::Input;
use driver::cuda::CompileOptions;

/// The first bytes of files that are taken for such.
const STARTS: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", &[0x50, 0xed, 0x55, 0xba]];

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let start = STARTS[usize::from(*choice) % STARTS.len()];
    let bytes = [start, bytes].concat();
    if let Ok(input) = Input::of_memory("file.o", bytes, None, CompileOptions::default()) {
        assert!(input.source.text().contains(".version"));
    }
}
