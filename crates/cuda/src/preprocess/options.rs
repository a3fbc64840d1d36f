//! Options of preprocessing: the architecture, macros, and places of headers.

use std::io;
use std::path::{Path, PathBuf};

/// Reads a file; `None` if it does not exist. An error is shown with the header's name, so it must not reveal
/// contents.
pub type Reader<'o> = dyn Fn(&Path) -> Option<io::Result<String>> + 'o;

/// Options for reading a text.
pub struct Options<'o> {
    /// The path of the main file: quoted headers are searched beside it.
    pub path: PathBuf,
    /// `__CUDA_ARCH__`: 800 for `sm_80`.
    pub arch: u32,
    /// `-D NAME=VALUE`; the name may have parameters. Without a value, `1`.
    pub defines: Vec<(String, Option<String>)>,
    /// Folders of `-I`.
    pub includes: Vec<PathBuf>,
    /// Reads included files.
    pub reader: &'o Reader<'o>,
}

/// Reads no files.
pub fn no_files(_: &Path) -> Option<io::Result<String>> {
    None
}

impl Default for Options<'_> {
    /// Options for `sm_80`, without files to include.
    fn default() -> Self {
        Self {
            path: PathBuf::from("main.cu"),
            arch: 800,
            defines: Vec::new(),
            includes: Vec::new(),
            reader: &no_files,
        }
    }
}
