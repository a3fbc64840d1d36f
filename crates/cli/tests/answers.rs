//! What `warpproof check` answers where something stays open: small kernels in `check/`, the flags in
//! `NAME.args`, the expected report in `NAME.report` beside the PTX.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof` rewrites the reports after a deliberate change.

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check")
}

/// Output, messages and exit status, as one text.
fn report(name: &str) -> String {
    let flags = std::fs::read_to_string(folder().join(format!("{name}.args"))).unwrap();
    let command = Command::new(cargo_bin!("warpproof")).current_dir(folder());
    let file = format!("{name}.ptx");
    let output =
        command.args(["check", &file]).args(flags.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let exit = output.status.code().unwrap();
    format!("{}{}exit status {exit}\n", text(output.stderr), text(output.stdout))
}

#[test]
fn answers_are_those_on_record() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 6, "only {} kernels", names.len());
    for name in names {
        let path = folder().join(format!("{name}.report"));
        snapbox::assert_data_eq!(report(&name), Data::read_from(&path, None).raw());
    }
}
