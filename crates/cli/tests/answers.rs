//! What `warpproof check` answers where something stays open: small kernels in `check/`, the flags in
//! `NAME.args` or `NAME.VARIANT.args`, the expected report in `.report` beside it; and what it
//! answers for programs, in `.json`.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof` rewrites the reports after a deliberate change.

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check")
}

fn warpproof(folder: &Path) -> Command {
    Command::new(cargo_bin!("warpproof")).current_dir(folder).env_remove("NO_COLOR")
}

fn expected(name: &str) -> Data {
    Data::read_from(&folder().join(name), None).raw()
}

/// Output, messages and exit status, as one text.
fn report(name: &str) -> String {
    let flags = std::fs::read_to_string(folder().join(format!("{name}.args"))).unwrap();
    let command = warpproof(&folder());
    let file = format!("{}.ptx", name.split('.').next().unwrap());
    let output = command.args(["check", &file]).args(flags.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let exit = output.status.code().unwrap();
    format!("{}{}exit status {exit}\n", text(output.stderr), text(output.stdout))
}

#[test]
fn answers_are_those_on_record() {
    let names = testing::corpus::names_in(folder(), "args");
    assert!(names.len() >= 11, "only {} launches", names.len());
    for name in names {
        snapbox::assert_data_eq!(report(&name), expected(&format!("{name}.report")));
    }
}

#[test]
fn json_is_as_recorded() {
    let memory = testing::corpus::root().join("corpus/memory");
    let launch = |name: &str| std::fs::read_to_string(memory.join(format!("{name}.args"))).unwrap();
    let of_corpus = ["dynamic_smem_broken", "stale_output_broken", "unwritten_tail_broken"];
    for name in of_corpus {
        let arguments = ["check", "--format", "json", &format!("{name}.ptx")];
        let flags = launch(name);
        let flags = flags.split_whitespace().map(|word| word.trim_matches('\''));
        let output = warpproof(&memory).args(arguments).args(flags).assert();
        output.code(1).stderr_eq("").stdout_eq(expected(&format!("{name}.json")));
    }
    for (name, code, flags) in [
        ("endless_loop", 3, "--grid 1 --block 1 --max-instructions 100k --arg y=u32[1]:out"),
        ("selected_blocks", 3, "--grid 8 --block 1 --blocks 0..2 --arg y=u32[8]:out"),
        ("division_by_data", 1, "--grid 1 --block 2048 --arg x=u32[32] --arg y=u32[32]:out"),
        ("schedule_output", 2, "--grid 1 --block 32 --arg x=u32[32"),
        ("address_output", 2, "--grid 1 --block 32 --arg x=7.5"),
    ] {
        let arguments = ["check", "--format", "json", &format!("{name}.ptx")];
        let output = warpproof(&folder()).args(arguments).args(flags.split_whitespace()).assert();
        let output = output.code(code);
        // What clap refuses never gets as far as JSON.
        if name != "schedule_output" {
            output.stderr_eq("").stdout_eq(expected(&format!("{name}.json")));
        }
    }
}

#[test]
fn a_run_out_of_time_says_so() {
    let flags = "endless_loop.ptx --grid 1 --block 1 --timeout 0.01 --arg y=u32[1]:out";
    let output = warpproof(&folder()).arg("check").args(flags.split_whitespace()).assert();
    let output = String::from_utf8(output.code(3).get_output().stdout.clone()).unwrap();
    assert!(output.contains("in the loop at endless_loop.cu:6"), "{output}");
    assert!(output.contains("--timeout SECONDS"), "{output}");
}

/// The time of a comparison is that of all it does; what is not decided by then is open.
#[test]
fn a_comparison_out_of_time_says_so() {
    let examples = testing::corpus::root().join("examples/online_softmax");
    let flags = "equiv softmax.ptx online.ptx --grid 4 --block 64 --ref-block 1 --arg x=f32[4,256] \
                 --arg y=f32[4,256]:out --arg columns=256 --timeout 0.000001";
    let output = warpproof(&examples).args(flags.split_whitespace()).assert();
    let output = String::from_utf8(output.code(3).get_output().stdout.clone()).unwrap();
    assert!(output.contains("equivalence: unknown: "), "{output}");
    let told = output.contains("the time was up") || output.contains("--timeout SECONDS");
    assert!(told, "{output}");
}

/// Ctrl-C ends a run with what is known, as if its time were up.
#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_what_it_knows() {
    let flags =
        "check endless_loop.ptx --grid 1 --block 1 --max-instructions 900000G --arg y=u32[1]:out";
    let mut child = std::process::Command::new(cargo_bin!("warpproof"))
        .current_dir(folder())
        .args(flags.split_whitespace())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough to have begun; if it has not, the default handler ends it and the test fails.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let status = child.wait().unwrap();
    let mut output = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut output).unwrap();
    assert_eq!(status.code(), Some(3), "{output}");
    assert!(output.contains("was interrupted after") && output.contains("unknown: "), "{output}");
}
