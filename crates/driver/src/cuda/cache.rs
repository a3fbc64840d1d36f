//! Results of compilations and answers of solvers, kept on disk.
//!
//! An entry is two files: the result (`.ptx`, or what `kind` says), and everything it was made from. The name is a hash of the
//! latter, but what counts is the text itself: it must be the same, byte for byte, so no two
//! inputs can ever share a result. Whatever goes wrong with the cache is as if there were none.

use crate::graph;
use std::path::{Path, PathBuf};

/// The result for a key, if it is known.
pub(crate) fn look_up(folder: Option<&Path>, kind: &str, key: &str) -> Option<String> {
    let (key_path, result_path) = paths(folder?, kind, key);
    let known = std::fs::read_to_string(key_path).ok()?;
    (known == key).then(|| std::fs::read_to_string(result_path).ok()).flatten()
}

/// Keeps a result.
pub(crate) fn store(folder: Option<&Path>, kind: &str, key: &str, result: &str) {
    let Some(folder) = folder else { return };
    let (key_path, result_path) = paths(folder, kind, key);
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    // The key last: without it the entry does not exist. An older key must not meet a newer result.
    let _ = std::fs::remove_file(&key_path);
    if graph::write(&result_path, result).is_ok() {
        let _ = graph::write(&key_path, key);
    }
}

fn paths(folder: &Path, kind: &str, key: &str) -> (PathBuf, PathBuf) {
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (folder.join(format!("{hash:016x}.key")), folder.join(format!("{hash:016x}.{kind}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_input_is_found() {
        let folder = std::env::temp_dir().join(format!("warpproof-cache-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let kept = Some(folder.as_path());
        assert_eq!(look_up(kept, "ptx", "source"), None);
        store(kept, "ptx", "source", "ptx");
        assert_eq!(look_up(kept, "ptx", "source").as_deref(), Some("ptx"));
        assert_eq!(look_up(kept, "ptx", "sourcf"), None);
        // Another text under the same name: as if two hashes were the same.
        let (key_path, _) = paths(&folder, "ptx", "source");
        std::fs::write(key_path, "another").unwrap();
        assert_eq!(look_up(kept, "ptx", "source"), None);
        assert_eq!(look_up(None, "ptx", "source"), None);
        store(None, "ptx", "source", "ptx");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
