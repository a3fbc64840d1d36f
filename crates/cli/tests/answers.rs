//! Answers of `warpproof check` with open questions: small kernels in `check/`, the flags in `NAME.args` or
//! `NAME.VARIANT.args`, the expected report in `.report` beside it, and the answer for programs in `.json`.
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
        // Clap refuses the flags before there is any JSON.
        if name != "schedule_output" {
            output.stderr_eq("").stdout_eq(expected(&format!("{name}.json")));
        }
    }
}

/// Output and exit status of a comparison of kernels in `sides.ptx`.
fn compared(optimised: &str, flags: &str) -> (String, i32) {
    let words =
        format!("equiv sides.ptx::doubled sides.ptx::{optimised} --grid 1 --block 32 {flags}");
    let output = warpproof(&folder()).args(words.split_whitespace()).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

/// Module variables are results that are not compared.
#[test]
fn a_module_variable_that_is_written_is_named() {
    let flags = "--arg x=f32[32] --arg y=f32[32]:out";
    let named = "module variable `counter`, which the optimised kernel writes, is not an output";
    let (output, code) = compared("counting", flags);
    assert!(code == 0 && output.contains(named), "{output}");
    let (output, code) = compared("counting", &format!("{flags} --strict"));
    assert!(code == 3 && output.contains(named), "{output}");
    let (output, _) = compared("doubled", flags);
    assert!(!output.contains("counter"), "{output}");
}

/// A part of an output is compared alone, and reported as a part of the whole.
#[test]
fn a_part_of_an_output_is_compared() {
    let flags = "--arg x=f32[32] --arg y=f32[32]:out";
    let (output, code) = compared("first", flags);
    assert!(code == 1 && output.contains("`y[1]` differs"), "{output}");
    let (output, code) = compared("first", &format!("{flags} --compare y[0]"));
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("the only output element is equal"), "{output}");
    assert!(output.contains("assumed: only `y[0]` is compared (--compare)"), "{output}");
    let (output, code) = compared("first", &format!("{flags} --compare y[3:5] --compare y[0]"));
    assert!(code == 1 && output.contains("`y[3]` differs"), "{output}");
    for wrong in ["x[0]", "y[32]", "y[0,0]"] {
        assert_eq!(compared("first", &format!("{flags} --compare {wrong}")).1, 2, "{wrong}");
    }
}

#[test]
fn a_tensor_in_two_formats_has_a_precision_note() {
    let sides =
        "--ref-arg x=f32[32] --ref-arg y=f32[32]:out --opt-arg x=bf16[32] --opt-arg y=f32[32]:out";
    let (output, code) = compared("narrow", sides);
    assert_eq!(code, 0, "{output}");
    let note = "precision: `x` is f32 in the reference and bf16 in the optimised kernel";
    assert!(output.contains(note), "{output}");
}

/// The answer is about the given contents.
#[test]
fn given_contents_are_assumed() {
    let (output, _) = compared("tripled", "--arg x=f32[32]=0 --arg y=f32[32]:out");
    assert!(output.contains("equivalence: proved"), "{output}");
    assert!(output.contains("assumed: `x` has the contents that are given"), "{output}");
}

#[test]
fn a_difference_has_its_lines_in_every_format() {
    let flags = "--arg x=f32[32] --arg y=f32[32]:out --format";
    let (output, code) = compared("tripled", &format!("{flags} github"));
    assert_eq!(code, 1, "{output}");
    let place = "::error file=crates/cli/tests/check/sides.cu,line=28,col=3,title=WP0140";
    assert!(output.starts_with(place), "{output}");
    let (output, _) = compared("tripled", &format!("{flags} sarif"));
    assert!(
        output.contains("\"startLine\": 28") && output.contains("\"startLine\": 12"),
        "{output}"
    );
    let (output, _) = compared("tripled", &format!("{flags} json"));
    assert!(output.contains("the optimised kernel stores it, thread (0,0,0)"), "{output}");
}

/// `equiv` reports the alignment of arrays like `check`.
#[test]
fn open_alignment_is_told_of_both_sides() {
    let flags = std::fs::read_to_string(folder().join("unpacked_shared.args")).unwrap();
    let output = warpproof(&folder())
        .args(["equiv", "unpacked_shared.ptx", "unpacked_shared.ptx"])
        .args(flags.split_whitespace())
        .assert();
    let output = String::from_utf8(output.code(3).get_output().stdout.clone()).unwrap();
    let reason = "  alignment: `tile` is accessed 16 bytes at a time at unpacked_shared.cu:12";
    assert_eq!(output.matches(reason).count(), 2, "{output}");
    assert_eq!(output.matches("`__align__(16)` on its declaration would settle it").count(), 2);
}

#[test]
fn a_run_out_of_time_says_so() {
    let flags = "endless_loop.ptx --grid 1 --block 1 --timeout 0.01 --arg y=u32[1]:out";
    let output = warpproof(&folder()).arg("check").args(flags.split_whitespace()).assert();
    let output = String::from_utf8(output.code(3).get_output().stdout.clone()).unwrap();
    assert!(output.contains("in the loop at endless_loop.cu:6"), "{output}");
    assert!(output.contains("--timeout SECONDS"), "{output}");
}

/// The time limit covers the whole comparison; anything undecided by then is open.
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

/// Ctrl-C ends a run with its results so far, as if its time were up.
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
    // Long enough to have started; otherwise the default handler ends it and the test fails.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let status = child.wait().unwrap();
    let mut output = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut output).unwrap();
    assert_eq!(status.code(), Some(3), "{output}");
    assert!(output.contains("was interrupted after") && output.contains("unknown: "), "{output}");
}
