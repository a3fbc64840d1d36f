//! Extracts PTX from other files: fat binaries, and files that contain them (`.o`, `.so`, programs).
//!
//! NVIDIA does not document the format. This reads the output of `nvcc` and `fatbinary` 12 and 13, all little-endian:
//!
//! | header | bytes | entry | bytes |
//! |---|---|---|---|
//! | magic `BA55ED50` | 0..4 | kind: 1 is PTX, 2 machine code | 0..2 |
//! | header size | 6..8 | header size | 4..8 |
//! | size of the entries | 8..16 | size | 8..16 |
//! | | | bytes if compressed | 16..20 |
//! | | | architecture, such as 80 | 28..32 |
//! | | | flags: 0x2000 LZ4, 0x8000 Zstandard | 40..48 |
//! | | | bytes once decompressed | 56..64 |
//!
//! A fat binary is found by its magic number anywhere in the file, so nothing about ELF is needed. A file in another
//! format gives a message and never wrong text: the result must be UTF-8 with a `.version`.

use std::io::Read;

const MAGIC: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;

/// Bytes of an entry before its PTX or machine code, at least.
const ENTRY_HEADER: usize = 64;

/// The largest decompressed module, in bytes.
const MAX_MODULE_BYTES: u64 = 1 << 28;
/// The largest sum of a file's decompressed modules, in bytes.
const MAX_TOTAL_BYTES: u64 = 1 << 30;
/// LZ4 expands a byte to at most this many.
const LZ4_RATIO: u64 = 255;

/// A PTX module of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// The architecture it was compiled for: 80 for `sm_80`.
    pub(crate) architecture: u32,
    /// The PTX.
    pub(crate) text: String,
}

/// The modules found in a file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) modules: Vec<Module>,
    /// The number of machine-code modules, which cannot be analysed.
    pub(crate) binaries: usize,
    /// The number of PTX modules that could not be extracted.
    pub(crate) damaged: usize,
    /// Bytes of the modules once decompressed, as their headers state.
    unpacked: u64,
    /// The file has more PTX than is extracted.
    pub(crate) is_too_large: bool,
}

/// Returns `true` if a file may contain PTX: an ELF file, an archive of them, or a fat binary.
pub(crate) fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<arch>\n") || bytes.starts_with(&MAGIC)
}

/// All PTX of a file.
pub(crate) fn contents(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    // An ELF file for the machine `EM_CUDA` is a cubin.
    if bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&[190, 0]) {
        contents.binaries += 1;
    }
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(find_magic) {
        let start = at + found;
        match fat_binary(&bytes[start..], &mut contents) {
            Some(length) => at = start + length.max(MAGIC.len()),
            None => at = start + MAGIC.len(),
        }
    }
    contents
}

fn find_magic(bytes: &[u8]) -> Option<usize> {
    bytes.windows(MAGIC.len()).position(|window| window == MAGIC)
}

/// Reads the entries of a fat binary. Returns its length, or `None` if the bytes are not a fat binary.
fn fat_binary(bytes: &[u8], contents: &mut Contents) -> Option<usize> {
    let head = usize::from(u16::from_le_bytes(bytes.get(6..8)?.try_into().ok()?));
    let size = usize::try_from(u64_at(bytes, 8)?).ok()?;
    let end = head.checked_add(size)?;
    let mut rest = bytes.get(head..end)?;
    while rest.len() >= ENTRY_HEADER {
        let kind = u16::from_le_bytes(rest.get(0..2)?.try_into().ok()?);
        let header = usize::try_from(u32_at(rest, 4)?).ok()?;
        // A header without a size would be read again and again.
        if header < ENTRY_HEADER {
            return None;
        }
        let size = usize::try_from(u64_at(rest, 8)?).ok()?;
        let payload = rest.get(header..header.checked_add(size)?)?;
        match kind {
            1 => match contents.module(rest, payload) {
                Some(module) => contents.modules.push(module),
                None => contents.damaged += 1,
            },
            2 => contents.binaries += 1,
            _ => {}
        }
        rest = rest.get(header + size..)?;
    }
    Some(end)
}

impl Contents {
    fn module(&mut self, header: &[u8], payload: &[u8]) -> Option<Module> {
        let architecture = u32_at(header, 28)?;
        let flags = u64_at(header, 40)?;
        let bytes = match flags & (LZ4 | ZSTANDARD) {
            0 => {
                self.take(payload.len() as u64)?;
                payload.to_vec()
            }
            kind => {
                let compressed = usize::try_from(u32_at(header, 16)?).ok()?;
                let size = u64_at(header, 56).filter(|&size| size <= MAX_MODULE_BYTES)?;
                let payload = payload.get(..compressed)?;
                // The decompressor allocates the stated size first, and the header may lie: bound it twice.
                if kind == LZ4 && size > LZ4_RATIO * (payload.len() as u64 + 1) {
                    return None;
                }
                self.take(size)?;
                decompressed(payload, size, kind)?
            }
        };
        let mut text = String::from_utf8(bytes).ok()?;
        text.truncate(text.trim_end_matches('\0').len());
        text.contains(".version").then_some(Module { architecture, text })
    }

    /// Counts the bytes of another module. `None` if the file has too many: a module may lie in several fat binaries
    /// of a malformed file.
    fn take(&mut self, size: u64) -> Option<()> {
        if self.unpacked + size > MAX_TOTAL_BYTES {
            self.is_too_large = true;
            return None;
        }
        self.unpacked += size;
        Some(())
    }
}

fn decompressed(bytes: &[u8], size: u64, kind: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(size).ok()?;
    match kind {
        LZ4 => lz4_flex::block::decompress(bytes, length).ok().filter(|text| text.len() == length),
        ZSTANDARD => {
            let mut text = Vec::new();
            let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).ok()?;
            decoder.take(size).read_to_end(&mut text).ok()?;
            (text.len() == length).then_some(text)
        }
        _ => None,
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Vec<u8> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/containers/");
        std::fs::read(format!("{folder}{name}")).unwrap()
    }

    #[test]
    fn ptx_comes_out_however_it_was_compressed() {
        let plain = contents(&read("plain.fatbin"));
        assert_eq!(plain.modules.len(), 1);
        let module = &plain.modules[0];
        assert_eq!(module.architecture, 80);
        assert!(module.text.contains(".entry shift("), "{}", module.text);
        for name in ["lz4.fatbin", "zstd.fatbin", "object.o"] {
            let other = contents(&read(name)).modules;
            assert_eq!(other.len(), 1, "{name}");
            assert_eq!(other[0].text.trim(), module.text.trim(), "{name}");
        }
    }

    #[test]
    fn damage_gives_nothing_and_never_a_panic() {
        for name in ["plain.fatbin", "lz4.fatbin", "zstd.fatbin"] {
            let whole = read(name);
            for end in 0..whole.len() {
                let _ = contents(&whole[..end]);
            }
            for position in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[position] ^= 0xff;
                for module in contents(&bytes).modules {
                    assert!(module.text.contains(".version"), "{name}");
                }
            }
        }
        assert!(contents(b"").modules.is_empty());
    }

    /// Entries whose headers have no bytes: the next entry would begin where they begin.
    #[test]
    fn reading_an_entry_gets_past_it() {
        for kind in 0..3 {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&[1, 0, 16, 0]);
            bytes.extend_from_slice(&64_u64.to_le_bytes());
            bytes.extend_from_slice(&[kind, 0]);
            bytes.resize(16 + 64, 0);
            assert_eq!(contents(&bytes).binaries, 0, "{kind}");
        }
    }

    /// Many entries of 100 bytes, each with a header that claims 250 MB.
    #[test]
    fn a_small_file_does_not_unpack_to_a_huge_one() {
        let entry = |kind: u64, payload: &[u8]| {
            let mut bytes = vec![0; 64];
            bytes[0] = 1;
            bytes[4] = 64;
            bytes[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
            bytes[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
            bytes[40..48].copy_from_slice(&kind.to_le_bytes());
            bytes[56..64].copy_from_slice(&(250_u64 << 20).to_le_bytes());
            bytes.extend_from_slice(payload);
            bytes
        };
        let file = |entry: Vec<u8>| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&[1, 0, 16, 0]);
            bytes.extend_from_slice(&(entry.len() as u64 * 2000).to_le_bytes());
            bytes.extend(entry.repeat(2000));
            bytes
        };
        let found = contents(&file(entry(LZ4, &[0x1f, 0, 1, 0])));
        assert_eq!((found.damaged, found.is_too_large, found.unpacked), (2000, false, 0));
        // A frame of Zstandard that is empty.
        let found = contents(&file(entry(ZSTANDARD, &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0])));
        assert_eq!((found.damaged, found.is_too_large), (2000, true));
    }
}
