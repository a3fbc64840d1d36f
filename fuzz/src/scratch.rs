//! Files for targets that read them by name: in a folder of this process, on `TMPDIR`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("warpproof-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
});

/// Returns the path of a file, whether it exists or not.
pub(crate) fn path(name: &str) -> PathBuf {
    FOLDER.join(name)
}

/// Writes a file.
pub(crate) fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    path
}

/// The path as a word of a command line.
pub(crate) fn word(path: &Path) -> String {
    path.display().to_string()
}
