//! Results of compilations, kept on disk.
//!
//! An entry is two files: the PTX, and everything it was made from. The name is a hash of the
//! latter, but what counts is the text itself: it must be the same, byte for byte, so no two
//! inputs can ever share a result. Whatever goes wrong with the cache is as if there were none.

use crate::graph;
use std::path::{Path, PathBuf};

/// The result for a key, if it is known.
pub(super) fn look_up(folder: Option<&Path>, key: &str) -> Option<String> {
    let (key_path, ptx_path) = paths(folder?, key);
    let known = std::fs::read_to_string(key_path).ok()?;
    (known == key).then(|| std::fs::read_to_string(ptx_path).ok()).flatten()
}

/// Keeps a result.
pub(super) fn store(folder: Option<&Path>, key: &str, ptx: &str) {
    let Some(folder) = folder else { return };
    let (key_path, ptx_path) = paths(folder, key);
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    // The key last: without it the entry does not exist. An older key must not meet a newer result.
    let _ = std::fs::remove_file(&key_path);
    if graph::write(&ptx_path, ptx).is_ok() {
        let _ = graph::write(&key_path, key);
    }
}

fn paths(folder: &Path, key: &str) -> (PathBuf, PathBuf) {
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (folder.join(format!("{hash:016x}.key")), folder.join(format!("{hash:016x}.ptx")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_input_is_found() {
        let folder = std::env::temp_dir().join(format!("warpproof-cache-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let kept = Some(folder.as_path());
        assert_eq!(look_up(kept, "source"), None);
        store(kept, "source", "ptx");
        assert_eq!(look_up(kept, "source").as_deref(), Some("ptx"));
        assert_eq!(look_up(kept, "sourcf"), None);
        // Another text under the same name: as if two hashes were the same.
        let (key_path, _) = paths(&folder, "source");
        std::fs::write(key_path, "another").unwrap();
        assert_eq!(look_up(kept, "source"), None);
        assert_eq!(look_up(None, "source"), None);
        store(None, "source", "ptx");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
