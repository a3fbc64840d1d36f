//! Files of the repository for tests: the corpus, the manual, folders of expected answers.
//!
//! Lists are sorted, so that a test does the same on every machine. A walk that finds nothing panics, because a test
//! over no files would pass without testing anything.

use std::path::{Path, PathBuf};

/// Returns the root of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    let manifest_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest_folder.ancestors().nth(2).unwrap_or(manifest_folder).to_owned()
}

/// Returns the files of a folder with `.extension`, sorted. The folder is relative to the root of the workspace.
///
/// # Panics
/// If the folder cannot be read or has no such file.
#[must_use]
pub fn files_in(folder: impl AsRef<Path>, extension: &str) -> Vec<PathBuf> {
    walk(folder.as_ref(), extension, false)
}

/// Returns the files with `.extension` in a folder and below it, sorted. The folder is relative to the root of the
/// workspace.
///
/// # Panics
/// If a folder cannot be read or no such file is found.
#[must_use]
pub fn files_below(folder: impl AsRef<Path>, extension: &str) -> Vec<PathBuf> {
    walk(folder.as_ref(), extension, true)
}

/// Returns the names, without the extension, of the files found by [`files_in`].
///
/// # Panics
/// As [`files_in`], and if a name is not text.
#[must_use]
pub fn names_in(folder: impl AsRef<Path>, extension: &str) -> Vec<String> {
    let name = |path: &PathBuf| match path.file_stem().and_then(|stem| stem.to_str()) {
        Some(name) => name.to_owned(),
        None => panic!("{} has no name", path.display()),
    };
    files_in(folder, extension).iter().map(name).collect()
}

fn walk(folder: &Path, extension: &str, deep: bool) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let mut found = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            match path.is_dir() {
                true if deep => folders.push(path),
                false if path.extension().is_some_and(|own| own == extension) => found.push(path),
                _ => {}
            }
        }
    }
    assert!(!found.is_empty(), "{} has no `.{extension}` files", folder.display());
    found.sort();
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).and_then(|all| {
        let paths = all.map(|entry| entry.map(|entry| entry.path()));
        paths.collect::<Result<Vec<PathBuf>, _>>()
    });
    entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_has_the_manifest_of_the_workspace() {
        let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(text.contains("[workspace]"), "{}", root().display());
    }

    #[test]
    fn walks_are_sorted_and_deep_only_if_asked() {
        let sources: Vec<String> = names_in("crates/testing/src", "rs");
        assert_eq!(sources, ["corpus", "lib", "random"]);
        let shallow = files_in("crates/testing", "toml");
        assert_eq!(shallow, [root().join("crates/testing/Cargo.toml")]);
        let deep = files_below("crates/testing", "rs");
        let expected =
            sources.iter().map(|name| root().join(format!("crates/testing/src/{name}.rs")));
        assert_eq!(deep, expected.collect::<Vec<_>>());
    }

    #[test]
    #[should_panic = "has no `.ptx` files"]
    fn a_walk_that_finds_nothing_fails() {
        let _ = files_below("crates/testing", "ptx");
    }

    #[test]
    #[should_panic = "crates/testing/nowhere: "]
    fn a_folder_that_is_missing_fails() {
        let _ = files_in("crates/testing/nowhere", "rs");
    }
}
