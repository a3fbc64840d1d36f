//! `warpproof inspect` as users run it: output, messages and exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof` rewrites the expected files after a deliberate
//! change.

use snapbox::cmd::{Command, cargo_bin};
use snapbox::{Data, IntoData};
use std::path::Path;
use testing::corpus::root;

/// The program, started in the root of the repository so that paths in its output are short.
fn warpproof() -> Command {
    Command::new(cargo_bin!("warpproof")).current_dir(root()).env_remove("NO_COLOR")
}

fn expected(name: &str) -> Data {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/");
    Data::read_from(Path::new(&format!("{folder}{name}")), None).raw()
}

/// Kernels of every producer and feature of the corpus.
const DESCRIBED: &[&str] = &[
    "cuda/a_softmax.sm_80.lineinfo.ptx",
    "cuda/c_sgemm.sm_80.ptx",
    "cuda/clang19/c_sgemm.sm_80.ptx",
    "cuda/d_mma.sm_80.ptx",
    "cuda/d_wmma.sm_80.ptx",
    "cuda/e_reduce.sm_80.ptx",
    "cuda/f_named.sm_80.ptx",
    "cuda/g_cudabarrier.sm_80.ptx",
    "cuda/g_hopper.sm_90a.ptx",
    "cuda/h_splitk.sm_80.ptx",
    "cuda/i_dynsmem.sm_80.ptx",
    "cuda/j_half.sm_100a.ptx",
    "tilelang/flash.sm_80.ptx",
    "tilelang/matmul.sm_90a.ptx",
    "triton/flash_fwd_al16.sm_100.ptx",
    "triton/softmax.sm_80.ptx",
];

#[test]
fn descriptions_are_as_recorded() {
    for file in DESCRIBED {
        let name = file.replace('/', "_");
        let output = warpproof().args(["inspect", &format!("corpus/ptx/{file}")]).assert();
        output.code(0).stderr_eq("").stdout_eq(expected(&format!("inspect/{name}.txt")));
    }
}

#[test]
fn json_is_as_recorded() {
    for file in ["cuda/f_named.sm_80.ptx", "triton/softmax.sm_80.ptx"] {
        let name = file.replace('/', "_");
        let arguments = ["inspect", "--format", "json", &format!("corpus/ptx/{file}")];
        let output = warpproof().args(arguments).assert().code(0).stderr_eq("");
        output.stdout_eq(expected(&format!("inspect/{name}.json")));
    }
}

#[test]
fn every_corpus_file_is_described() {
    let files = testing::corpus::files_below("corpus/ptx", "ptx");
    for path in &files {
        let input = driver::Input::read(path).unwrap();
        let (format, colour) = (driver::Format::Json, driver::Colour::Plain);
        let outcome = driver::inspect::run(&input, format, colour);
        assert_eq!(outcome.exit, driver::Exit::Success, "{}", path.display());
    }
    assert!(files.len() >= 430, "only {} files found", files.len());
}

#[test]
fn malformed_input_gives_a_diagnostic_and_exit_status_2() {
    let names = testing::corpus::names_in("crates/cli/tests/malformed", "ptx");
    assert!(names.len() >= 30);
    for name in names {
        let argument = format!("crates/cli/tests/malformed/{name}.ptx");
        let output = warpproof().args(["inspect", &argument]).assert().code(2).stdout_eq("");
        output.stderr_eq(expected(&format!("malformed/{name}.stderr")));
    }
}

#[test]
fn errors_are_json_too_when_asked() {
    let file = "crates/cli/tests/malformed/several_errors.ptx";
    let output = warpproof().args(["inspect", "--format=json", file]).assert();
    output.code(2).stderr_eq("").stdout_eq(expected("malformed/several_errors.json"));
}

#[test]
fn files_without_ptx_are_refused_in_one_line() {
    let scratch = std::env::temp_dir().join(format!("warpproof-inspect-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let cases: [(&str, &[u8], &str); 6] = [
        ("empty.ptx", b"", "is empty"),
        ("blank.ptx", b" \n\n\t", "is empty"),
        ("object.o", b"\x7fELF\x02\x01\x01", "contains no PTX"),
        ("fat.bin", b"\x50\xed\x55\xba\x01\x00", "contains no PTX"),
        ("noise.ptx", b"\x00\x01\x02\x03", "is a binary file"),
        ("latin1.ptx", b".version 8.0 // \xe9\xe8", "is not text"),
    ];
    for (name, contents, reason) in cases {
        let path = scratch.join(name);
        std::fs::write(&path, contents).unwrap();
        let output = warpproof().arg("inspect").arg(&path).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(message.contains(reason), "{name}: {message}");
        assert_eq!(message.lines().count(), 1, "{name}: {message}");
    }
    std::fs::remove_dir_all(&scratch).unwrap();
    warpproof().args(["inspect", "no/such/file.ptx"]).assert().code(2).stdout_eq("").stderr_eq(
        "error: `no/such/file.ptx` cannot be read: No such file or directory (os error 2)\n",
    );
    warpproof()
        .args(["inspect", "corpus"])
        .assert()
        .code(2)
        .stdout_eq("")
        .stderr_eq("error: `corpus` is a folder without a .ptx file; give a PTX file\n");
}

#[test]
fn standard_input_is_read() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n";
    // With and without the byte-order mark that some editors write.
    for text in [text.to_owned(), format!("\u{feff}{text}")] {
        let output = warpproof().args(["inspect", "-"]).stdin(text.into_data()).assert().code(0);
        output.stdout_eq(expected("inspect/stdin.txt"));
    }
}

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    let inspect = ["inspect", "examples/softmax.ptx"];
    let plain = warpproof().args(inspect).output().unwrap().stdout;
    assert!(!plain.contains(&0x1b));
    let coloured = warpproof().args(inspect).arg("--color=always").output().unwrap().stdout;
    assert!(coloured.contains(&0x1b));
}

#[test]
fn the_demonstration_needs_no_files() {
    let elsewhere = std::env::temp_dir();
    let output = warpproof().current_dir(elsewhere).arg("demo").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told = String::from_utf8(output.stdout).unwrap();
    for shown in [
        "error[WP0109]: race on `racy::parts[0]`",
        "19 |     part = parts[0];",
        "proved (4 blocks): launch, bounds",
        "equivalence: proved: 1024 output elements are equal",
        "  optimised = 0.5\n",
    ] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
}
