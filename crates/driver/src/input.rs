//! Reading PTX, and saying in one line what else a file is if it is not PTX.

use crate::arguments::closest;
use base::SourceFile;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Larger files are not shown in excerpts.
const LARGEST_SOURCE: u64 = 16 << 20;

/// A text to work on.
#[derive(Debug)]
pub struct Input {
    /// The text and the name it goes by.
    pub source: SourceFile,
    /// The folder it is in, if it is a file: where the source it was compiled from may be.
    folder: Option<PathBuf>,
    /// Sources that were asked for.
    sources: Mutex<BTreeMap<String, Option<Arc<SourceFile>>>>,
}

/// Why there is no text to work on; displays as one line.
#[derive(Debug)]
pub struct InputError {
    name: String,
    reason: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name, self.reason)
    }
}

impl std::error::Error for InputError {}

impl Input {
    /// Reads a file, or standard input if the path is `-`.
    ///
    /// # Errors
    /// If there is nothing to read or what there is cannot be PTX.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let fail = |reason: String| InputError { name: name.clone(), reason };
        if path.is_dir() {
            return Err(fail("is a directory; give a PTX file".to_owned()));
        }
        let bytes = if path == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(path)
        };
        let bytes = bytes.map_err(|error| {
            let similar = similar(path).map(|name| format!("; did you mean `{name}`?"));
            fail(format!("cannot be read: {error}{}", similar.unwrap_or_default()))
        })?;
        if path.extension().is_some_and(|extension| extension == "py") {
            return Err(fail(
                "is a Python file; write the PTX to a file first: \
                 open(\"kernel.ptx\", \"w\").write(kernel.asm[\"ptx\"])"
                    .to_owned(),
            ));
        }
        let name = if name == "-" { "<stdin>".to_owned() } else { name };
        let mut input = Self::from_bytes(&name, bytes)?;
        input.folder = path.parent().map(Path::to_path_buf);
        Ok(input)
    }

    /// The source file that `.file` names so, if it is at hand: where it says, from the working
    /// folder or from that of the PTX, or beside the PTX. Whether it is still what was compiled
    /// nobody knows.
    pub(crate) fn source_file(&self, name: &str) -> Option<Arc<SourceFile>> {
        let folder = self.folder.as_ref()?;
        let mut sources = self.sources.lock().ok()?;
        let found = sources.entry(name.to_owned()).or_insert_with(|| {
            let path = Path::new(name);
            let beside = path.file_name().map(|name| folder.join(name));
            let candidates = [Some(path.to_path_buf()), Some(folder.join(path)), beside];
            candidates.into_iter().flatten().find_map(|path| read_source(&path)).map(Arc::new)
        });
        found.clone()
    }

    /// Takes bytes that were read elsewhere.
    ///
    /// # Errors
    /// If the bytes cannot be PTX.
    pub fn from_bytes(name: &str, mut bytes: Vec<u8>) -> Result<Self, InputError> {
        // Some editors put a byte-order mark before the text.
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let fail = |reason: &str| InputError { name: name.to_owned(), reason: reason.to_owned() };
        if let Some(reason) = not_ptx(&bytes) {
            return Err(fail(reason));
        }
        let text = String::from_utf8(bytes).map_err(|_| fail("is not text, so it is not PTX"))?;
        let source = SourceFile::new(name, text).ok_or_else(|| fail("exceeds 4 GiB"))?;
        Ok(Self { source, folder: None, sources: Mutex::default() })
    }
}

/// A file of the same folder whose name is nearly that of a file that is not there.
fn similar(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let wanted = path.file_name()?.to_str()?;
    let name = closest(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(name).display().to_string())
}

fn read_source(path: &Path) -> Option<SourceFile> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > LARGEST_SOURCE {
        return None;
    }
    SourceFile::new(path.display().to_string(), std::fs::read_to_string(path).ok()?)
}

/// Recognises what users give us by mistake.
fn not_ptx(bytes: &[u8]) -> Option<&'static str> {
    const FATBINARY: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some("is empty");
    }
    if bytes.starts_with(b"\x7fELF") {
        return Some(
            "is an ELF file; `cuobjdump -xptx all FILE` extracts the PTX it holds, if any",
        );
    }
    if bytes.starts_with(&FATBINARY) {
        return Some("is a fat binary; `cuobjdump -xptx all FILE` extracts the PTX it holds");
    }
    let head = &bytes[..bytes.len().min(4096)];
    if head.contains(&0) {
        return Some("is a binary file, not PTX");
    }
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    if !has(b".version") && has(b"__global__") {
        return Some("is CUDA C++; compile it first: nvcc -ptx -lineinfo FILE");
    }
    if !has(b".version") && (has(b"target triple") || has(b"target datalayout")) {
        return Some("is LLVM IR; compile it first: llc -march=nvptx64 FILE");
    }
    None
}
