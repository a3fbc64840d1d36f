//! `warpproof simulate` from a user's side.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof` rewrites the expected files after a deliberate change.

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

const SOFTMAX: &str = "corpus/ptx/cuda/a_softmax.sm_80.lineinfo.ptx::softmax_safe";

fn simulate(arguments: &[&str]) -> Command {
    let root = testing::corpus::root();
    let command = Command::new(cargo_bin!("warpproof")).current_dir(root).env_remove("NO_COLOR");
    command.arg("simulate").args(arguments)
}

fn expected(name: &str) -> Data {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/simulate/");
    Data::read_from(Path::new(&format!("{folder}{name}")), None).raw()
}

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-simulate-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The numbers in a file of single-precision numbers.
fn floats(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[header..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn outputs_go_to_files_that_can_be_read_back() {
    let scratch = Scratch::new("vadd");
    let folder = scratch.0.to_str().unwrap();
    let vadd = |x: &str| {
        let arguments = [
            "corpus/ptx/triton/vadd.sm_80.ptx",
            "--grid=1",
            &format!("--arg=x={x}"),
            "--arg=y=f32[5]=[10,20,30,40,50]",
            "--arg=z=f32[5]:out",
            "--arg=n=5",
            &format!("--out={folder}/made"),
        ];
        simulate(&arguments).assert().code(0);
        floats(&scratch.0.join("made/z.npy"))
    };
    assert_eq!(vadd("f32[5]=[1,2,3,4,5]"), [11.0, 22.0, 33.0, 44.0, 55.0]);
    let again = format!("f32[5]=@{folder}/made/z.npy");
    assert_eq!(vadd(&again), [21.0, 42.0, 63.0, 84.0, 105.0]);
}

#[test]
fn a_write_past_the_end_is_shown_with_thread_and_source_line() {
    let arguments = [
        SOFTMAX,
        "--grid=2",
        "--block=128",
        "--arg=x=f32[2,300]=iota",
        "--arg=y=f32[2,290]:out",
        "--arg=n=300",
    ];
    simulate(&arguments).assert().code(1).stdout_eq(expected("out_of_bounds.stdout"));
}

#[test]
fn outputs_that_are_not_written_are_refuted() {
    let arguments = [
        SOFTMAX,
        "--grid=1",
        "--block=128",
        "--arg=x=f32[2,300]=iota",
        "--arg=y=f32[2,300]:out",
        "--arg=n=300",
    ];
    simulate(&arguments).assert().code(1).stdout_eq(expected("unwritten.stdout"));
}

#[test]
fn missing_arguments_are_answered_with_a_command() {
    simulate(&[SOFTMAX]).assert().code(2).stdout_eq("").stderr_eq(expected("missing.stderr"));
}

#[test]
fn unsupported_instructions_are_unknown() {
    let arguments = [
        "corpus/ptx/triton/matmul_fp16.sm_100.ptx",
        "--grid=1",
        "--smem=32KiB",
        "--arg=a=f16[64,64]=0",
        "--arg=b=f16[64,64]=0",
        "--arg=c=f16[64,64]:out",
        "--arg=M=64",
        "--arg=N=64",
        "--arg=K=64",
        "--arg=sam=64",
        "--arg=sbk=64",
        "--arg=scm=64",
        "--arg=scratch=0",
        "--arg=profile=0",
    ];
    simulate(&arguments).assert().code(3).stdout_eq(expected("unknown.stdout"));
}
