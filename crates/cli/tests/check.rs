//! `warpproof check` on kernels with memory errors and their repaired twins (`corpus/memory`): the
//! launch is in `NAME.args`, the expected report in `NAME.report` beside the PTX.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof` rewrites the reports after a deliberate change.

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use testing::corpus::root;

/// Output, messages and exit status of a check, as one text.
fn report(name: &str) -> String {
    let launch =
        std::fs::read_to_string(root().join(format!("corpus/memory/{name}.args"))).unwrap();
    let launch = launch.split_whitespace().map(|word| word.trim_matches('\''));
    let command = Command::new(cargo_bin!("warpproof")).current_dir(root()).env_remove("NO_COLOR");
    let output =
        command.args(["check", &format!("corpus/memory/{name}.ptx")]).args(launch).output();
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let exit = output.status.code().unwrap();
    format!("{}{}exit status {exit}\n", text(output.stderr), text(output.stdout))
}

#[test]
fn every_memory_error_is_found_and_no_twin_has_one() {
    let names = testing::corpus::names_in("corpus/memory", "args");
    assert!(names.len() >= 32, "only {} kernels", names.len());
    for name in names {
        let report = report(&name);
        let found = report.ends_with("exit status 1\n");
        assert_eq!(found, name.ends_with("_broken"), "{name}:\n{report}");
        let path = root().join(format!("corpus/memory/{name}.report"));
        snapbox::assert_data_eq!(report, Data::read_from(&path, None).raw());
    }
}
