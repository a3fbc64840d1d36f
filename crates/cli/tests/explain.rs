//! `explain`, and the examples on its pages: each must show the finding of its page.

use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

fn pages() -> PathBuf {
    testing::corpus::root().join("docs/errors")
}

fn warpproof(folder: &Path) -> Command {
    Command::new(cargo_bin!("warpproof")).current_dir(folder).env_remove("NO_COLOR")
}

fn codes() -> Vec<String> {
    let output = warpproof(&pages()).arg("explain").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split_once(' ').unwrap().0.to_owned()).collect()
}

/// The example's text and its command, from the page.
fn example(page: &str) -> (&str, &str) {
    let fenced: Vec<&str> = page.split("```").collect();
    let example = fenced[1].split_once('\n').unwrap().1;
    let command = fenced[3].strip_prefix("console\n$ warpproof ").unwrap();
    (example, command.trim())
}

#[test]
fn every_example_shows_what_its_page_is_about() {
    let codes = codes();
    assert_eq!(codes.len(), 35);
    let examples = pages().join("examples");
    for code in codes {
        let page = std::fs::read_to_string(pages().join(format!("{code}.md"))).unwrap();
        let (text, command) = example(&page);
        let source = ["cu", "ptx"].map(|end| examples.join(format!("{code}.{end}")));
        let source = source.iter().find(|path| path.exists()).unwrap();
        let source = std::fs::read_to_string(source).unwrap();
        for line in text.lines() {
            assert!(source.contains(line), "{code}: the example's file has no line `{line}`");
        }
        let command = warpproof(&examples).args(command.split(' '));
        let output = command.args(["--format", "json"]).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains(&format!("\"code\": \"{code}\"")), "{code}: {told}");
    }
}

#[test]
fn explain_says_what_to_do_about_a_misspelt_code() {
    let output = warpproof(&pages()).args(["explain", "WP0l09"]).assert();
    output
        .code(2)
        .stdout_eq("")
        .stderr_eq("error: there is no code `WP0l09`; did you mean WP0109?\n");
}

#[test]
fn completions_manual_version_and_doctor_are_printed() {
    let run = |arguments: &[&str]| {
        let output = warpproof(&pages()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(run(&["completions", shell]).contains("simulate"), "{shell}");
    }
    let man = run(&["man"]);
    assert!(man.starts_with(".ie") && man.contains(".TH warpproof 1"), "{man}");
    assert!(man.contains("\\-\\-max\\-instructions"), "{man}");
    let version = run(&["--version"]);
    assert!(version.contains("revision ") && version.contains("PTX ISA 9"), "{version}");
    assert!(run(&["doctor"]).contains("NVRTC"));
}
