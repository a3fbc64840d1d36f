//! A disk cache for results of compilations and answers of solvers.
//!
//! An entry is two files: the result (`.ptx`, or `kind`), and the key, all the inputs of the result. The file name is
//! a hash of the key, but the key itself decides: it must be equal byte for byte, so two inputs can never share a
//! result. If anything goes wrong with the cache, it is not used.
//!
//! An entry is trusted only if nobody but the user can have written it: the folder and both files belong to the user,
//! and neither group nor others may write to them.

use crate::bounded;
use crate::output::{self, FileAccess};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The result for a key, if it is known.
pub(crate) fn look_up(folder: Option<&Path>, kind: &str, key: &str) -> Option<String> {
    let folder = folder.filter(|folder| is_own_folder(folder))?;
    let (key_path, result_path) = paths(folder, kind, key);
    let known = read_own(&key_path)?;
    if known == key { read_own(&result_path) } else { None }
}

/// Stores a result.
pub(crate) fn store(folder: Option<&Path>, kind: &str, key: &str, result: &str) {
    let Some(folder) = folder else { return };
    let (key_path, result_path) = paths(folder, kind, key);
    if create_folder(folder).is_err() || !is_own_folder(folder) {
        return;
    }
    // The key last: without it the entry does not exist. An older key must not be paired with a newer result.
    let _ = std::fs::remove_file(&key_path);
    let write = |path: &Path, text: &str| {
        output::write_with(path, FileAccess::OwnerOnly, &mut |out| out.write_all(text.as_bytes()))
    };
    if write(&result_path, result).is_ok() {
        let _ = write(&key_path, key);
    }
}

/// The reason why the entries of an existing folder are not used, if any.
pub(crate) fn distrust(folder: &Path) -> Option<&'static str> {
    let exists = folder.symlink_metadata().is_ok();
    (exists && !is_own_folder(folder)).then_some("is writable by others, so it is not used")
}

/// Says why nothing can be kept in a folder, if that is so. Makes the folder if it does not exist.
pub(crate) fn unwritable(folder: &Path) -> Option<String> {
    if let Err(error) = create_folder(folder) {
        return Some(format!("cannot be created ({error}), so nothing is cached"));
    }
    if let Some(why) = distrust(folder) {
        return Some(why.to_owned());
    }
    let probe = folder.join(format!("doctor-{}", std::process::id()));
    let written =
        output::write_with(&probe, FileAccess::OwnerOnly, &mut |out| out.write_all(b"probe"));
    let _ = std::fs::remove_file(&probe);
    written.err().map(|error| format!("cannot be written to ({error}), so nothing is cached"))
}

/// Reads a file that only the user can have written; `None` otherwise.
fn read_own(path: &Path) -> Option<String> {
    let mut file = std::fs::File::open(path).ok()?;
    // Metadata of the open file: the name may be reassigned meanwhile.
    let facts = file.metadata().ok()?;
    if !facts.is_file() || !is_own(&facts) {
        return None;
    }
    let mut text = String::new();
    let most = bounded::MAX_TEXT + 1;
    let read = file.by_ref().take(most).read_to_string(&mut text).ok()?;
    if read as u64 == most {
        return None;
    }
    Some(text)
}

fn is_own_folder(folder: &Path) -> bool {
    // The folder of a solver's answers lies in that of the cache.
    let inner = folder.file_name().is_some_and(|name| name == SOLVER_FOLDER);
    let outer = folder.parent().filter(|outer| inner && !outer.as_os_str().is_empty());
    [Some(folder), outer]
        .into_iter()
        .flatten()
        .all(|folder| folder.symlink_metadata().is_ok_and(|facts| facts.is_dir() && is_own(&facts)))
}

/// The folder of a solver's answers, in that of the cache.
pub(crate) const SOLVER_FOLDER: &str = "z3";

#[cfg(unix)]
fn is_own(facts: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    facts.uid() == rustix::process::geteuid().as_raw() && facts.mode() & 0o022 == 0
}

/// On other systems, folders are assumed to belong to the user.
#[cfg(not(unix))]
fn is_own(_: &std::fs::Metadata) -> bool {
    true
}

/// Creates a folder that only the user can write to.
fn create_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
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

    fn temporary(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("warpproof-cache-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn only_the_very_same_input_is_found() {
        let folder = temporary("same");
        let kept = Some(folder.as_path());
        assert_eq!(look_up(kept, "ptx", "source"), None);
        store(kept, "ptx", "source", "ptx");
        assert_eq!(look_up(kept, "ptx", "source").as_deref(), Some("ptx"));
        assert_eq!(look_up(kept, "ptx", "sourcf"), None);
        // Another key under the same name, as in a hash collision.
        let (key_path, _) = paths(&folder, "ptx", "source");
        std::fs::write(key_path, "another").unwrap();
        assert_eq!(look_up(kept, "ptx", "source"), None);
        assert_eq!(look_up(None, "ptx", "source"), None);
        store(None, "ptx", "source", "ptx");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Anything that others could have written makes an entry untrusted.
    #[cfg(unix)]
    #[test]
    fn entries_writable_by_others_are_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let outer = temporary("others");
        let folder = outer.join(SOLVER_FOLDER);
        let kept = Some(folder.as_path());
        store(kept, "answer", "question", "unsat");
        let known = || look_up(kept, "answer", "question");
        assert_eq!(known().as_deref(), Some("unsat"));
        let (key, result) = paths(&folder, "answer", "question");
        for path in [&outer, &folder, &key, &result] {
            let mode = |mode| std::fs::Permissions::from_mode(mode);
            let before = path.metadata().unwrap().permissions();
            for more in [0o020, 0o002] {
                std::fs::set_permissions(path, mode(before.mode() | more)).unwrap();
                assert_eq!(known(), None, "{}", path.display());
                std::fs::set_permissions(path, before.clone()).unwrap();
            }
            assert_eq!(known().as_deref(), Some("unsat"));
        }
        // A folder that others can write to gets no entries either.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        store(kept, "answer", "other", "unsat");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(look_up(kept, "answer", "other"), None);
        assert_eq!(distrust(&folder), None);
        std::fs::remove_dir_all(&outer).unwrap();
    }
}
