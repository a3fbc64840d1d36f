//! Checks rules of the project that the compiler does not check: allowed dependencies between crates, imports
//! between files, headers of modules, lengths of files, and files that must not be in the repository.

mod imports;
mod licences;

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use testing::corpus::root;

/// The crates of the workspace that each crate may use. Data flows one way; a new arrow is a decision, to be made in
/// ARCHITECTURE.md first. Tests may use any crate; their shared helpers are in `testing`.
const ARROWS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("term", &[]),
    ("decide", &["base", "term"]),
    ("ir", &["base"]),
    ("ptx", &["base", "ir"]),
    ("sync", &[]),
    ("exec", &["base", "ir", "sync"]),
    ("interval", &["decide", "exec", "ir"]),
    ("equiv", &["base", "decide", "exec", "interval", "ir", "term"]),
    ("lift", &["base", "ir"]),
    ("cuda", &["base"]),
    ("formula", &["base", "ir", "term"]),
    (
        "driver",
        &[
            "allsizes",
            "base",
            "cuda",
            "cuda_front",
            "deadline",
            "equiv",
            "exec",
            "formula",
            "interp",
            "ir",
            "kir",
            "lift",
            "ptx",
            "smt",
        ],
    ),
    ("warpproof", &["driver"]),
    ("deadline", &[]),
    ("kir", &["base", "deadline"]),
    ("cuda_front", &["base", "cuda", "deadline", "kir"]),
    ("interp", &["base", "kir"]),
    ("arith", &["base", "deadline"]),
    ("smt", &["arith", "base", "deadline"]),
    ("allsizes", &["arith", "base", "deadline", "interp", "kir", "smt"]),
    ("testing", &["base"]),
    ("recordings", &["base", "ir", "ptx", "testing"]),
    ("oracle", &["testing"]),
    ("metamorph", &["testing"]),
    ("xtask", &["ptx", "recordings", "testing"]),
];

/// The most files of a crate that may import each other in a circle: a type and the few files that are its parts. A
/// larger circle cannot be read in any order.
const LARGEST_CIRCLE: usize = 6;

/// A file with more lines needs a reason: a line of its header that starts with `//! Long:`.
const MAX_LINES: usize = 500;

#[test]
fn crates_use_only_what_they_may() {
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec();
    let metadata = metadata.expect("cargo metadata");
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let ours: BTreeSet<&str> =
        metadata.packages.iter().map(|package| package.name.as_str()).collect();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let allowed =
            allowed.get(name).unwrap_or_else(|| panic!("`{name}` has no place in ARROWS"));
        for dependency in &package.dependencies {
            let used = dependency.name.as_str();
            let counts = dependency.kind == DependencyKind::Normal && ours.contains(used);
            assert!(!counts || allowed.contains(&used), "`{name}` may not use `{used}`");
        }
    }
}

/// ARCHITECTURE.md has a row for each crate, with its allowed dependencies.
#[test]
fn the_table_of_crates_is_complete() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (name, allowed) in ARROWS {
        let start = format!("| `{name}` ");
        let row = text.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("`{name}` has no row in ARCHITECTURE.md"));
        let uses = row.split('|').nth(2).unwrap_or_default();
        let written: Vec<&str> = uses.split('`').skip(1).step_by(2).collect();
        assert_eq!(written, *allowed, "the row of `{name}` in ARCHITECTURE.md");
    }
}

#[test]
fn few_files_import_each_other() {
    let mut crates: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .chain([root().join("xtask")])
        .collect();
    crates.sort();
    for folder in crates {
        let name = folder.file_name().unwrap().to_str().unwrap();
        for circle in imports::circles(&folder.join("src")) {
            let (count, files) = (circle.len(), circle.join(", "));
            assert!(
                count <= LARGEST_CIRCLE,
                "{count} files of `{name}` import each other: {files}"
            );
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} has no header", path.display());
    }
}

#[test]
fn files_are_short_or_say_why_not() {
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        let excused = text.lines().any(|line| line.starts_with("//! Long: "));
        assert!(lines <= MAX_LINES || excused, "{} has {lines} lines", path.display());
    }
}

#[test]
fn unfinished_code_is_not_committed() {
    let unfinished = ["todo!(", "unimplemented!(", "dbg!(", "FIXME", "XXX"];
    for path in sources().into_iter().filter(|path| !path.ends_with("tests/tidy/main.rs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let found = unfinished.iter().find(|word| text.contains(*word));
        assert!(found.is_none(), "{}: {}", path.display(), found.unwrap());
    }
}

/// The project depends on nothing outside: no paths of a particular machine, no files from outside.
#[test]
fn no_machine_shows_through() {
    let elsewhere = ["/home/", "/root/", "/work/", "/Users/", "C:\\", "../shared"];
    for path in files(&root()).into_iter().filter(|path| !path.ends_with("tests/tidy/main.rs")) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let found = elsewhere.iter().find(|word| text.contains(*word));
        assert!(found.is_none(), "{}: {}", path.display(), found.unwrap());
    }
}

#[test]
fn the_repository_stays_small() {
    let bytes: u64 = files(&root()).iter().map(|path| path.metadata().map_or(0, |m| m.len())).sum();
    assert!(bytes < 40 << 20, "{bytes} bytes");
}

/// Rust files of the workspace and the fuzz targets.
fn sources() -> Vec<PathBuf> {
    let all: Vec<PathBuf> = files(&root())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    assert!(all.len() > 30, "only {} Rust files found", all.len());
    all
}

/// All files in the repository, without built or fetched ones and git's own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let built = ["__pycache__", ".mypy_cache", ".pytest_cache", ".venv", "_native.abi3.so"];
    let skipped = ["target", ".git", "artifacts", "node_modules"].into_iter().chain(built);
    let skipped: Vec<&str> = skipped.collect();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if skipped.iter().any(|skipped| name == *skipped) || path.ends_with("fuzz/corpus") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
