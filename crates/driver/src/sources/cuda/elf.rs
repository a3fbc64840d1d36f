//! Recognises a shared library whose file is cut off.
//!
//! The loader maps the segments of an ELF file without comparing them with the file's length. A program that touches a
//! page behind the end is killed (SIGBUS), and no error handling helps. The field offsets are those of `Elf64_Ehdr` and
//! `Elf64_Phdr` in the System V ABI, for little-endian 64-bit files. Everything else is left to the loader: this never
//! refuses a file because it does not understand it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes of the file header.
const HEADER: usize = 64;

/// Bytes of a program header that are read: up to the size of the segment in the file.
const SEGMENT: usize = 40;

/// The type of a segment that is mapped.
const PT_LOAD: u64 = 1;

/// Returns `true` if a segment that the loader maps ends behind the end of the file.
pub(super) fn is_cut_off(path: &Path) -> bool {
    // The loader searches for a name without a folder in its own places.
    File::open(path).ok().and_then(|mut file| misses_bytes(&mut file)).unwrap_or(false)
}

/// Like [`is_cut_off`]; `None` if the file is of another kind or cannot be read.
fn misses_bytes(file: &mut File) -> Option<bool> {
    let facts = file.metadata().ok()?;
    if !facts.is_file() {
        return None;
    }
    let mut header = [0_u8; HEADER];
    file.read_exact(&mut header).ok()?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (first, size, count) =
        (number(&header[32..40]), number(&header[54..56]), number(&header[56..58]));
    for index in 0..count {
        let mut segment = [0_u8; SEGMENT];
        let at = first.checked_add(index * size)?;
        let is_read =
            file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut segment)).is_ok();
        let (kind, offset) = (number(&segment[..4]), number(&segment[8..16]));
        let end = offset.checked_add(number(&segment[32..40]));
        if !is_read || kind == PT_LOAD && end.is_none_or(|end| end > facts.len()) {
            return Some(true);
        }
    }
    Some(false)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one mapped segment of 100 bytes behind the headers.
    fn library() -> Vec<u8> {
        let mut bytes = vec![0_u8; 220];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (bytes[32], bytes[54], bytes[56]) = (64, 56, 1);
        (bytes[64], bytes[64 + 8], bytes[64 + 32]) = (1, 120, 100);
        bytes
    }

    #[test]
    fn every_prefix_is_cut_off() {
        let path = std::env::temp_dir().join(format!("warpproof-elf-{}", std::process::id()));
        let whole = library();
        for length in [0, 5, 63, 64, 100, 119, 120, 219, 220] {
            std::fs::write(&path, &whole[..length]).unwrap();
            // Without a whole header, the loader reports the error.
            assert_eq!(is_cut_off(&path), (64..220).contains(&length), "{length}");
        }
        std::fs::write(&path, "text that is longer than the header of a library".repeat(9))
            .unwrap();
        assert!(!is_cut_off(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_cut_off(&path));
        assert!(!is_cut_off(&std::env::current_exe().unwrap()));
    }
}
