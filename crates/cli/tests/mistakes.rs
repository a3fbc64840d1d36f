//! Common mistakes, each with the one message it leads to: `mistakes/NAME.txt`.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof` rewrites the messages after a deliberate change.

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;

/// The mistake, the command, and the exit status.
const MISTAKES: &[(&str, &str, i32)] = &[
    ("missing_block", "check WP0109.ptx --grid 1 --arg x=f32[64] --arg y=f32[64]:out", 2),
    ("nothing_given", "check WP0101.ptx", 2),
    (
        "missing_integer",
        "check WP0106.ptx --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out",
        2,
    ),
    (
        "too_many_arguments",
        "check WP0109.ptx --grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out --arg n=64",
        2,
    ),
    ("wrong_kernel_name", "check WP0140.ptx::mean_of_for --grid 1 --block 1", 2),
    ("which_kernel", "check WP0140.ptx --grid 1 --block 1", 2),
    (
        "tensor_too_small",
        "check WP0101.ptx --grid 1 --block 128 --arg x=f32[100] --arg y=f32[128]:out --arg a=f32 \
         --arg n=128",
        1,
    ),
    (
        "scalar_for_a_pointer",
        "check WP0109.ptx --grid 1 --block 64 --arg x=7.5 --arg y=f32[64]:out",
        2,
    ),
    ("no_such_type", "check WP0109.ptx --grid 1 --block 64 --arg x=float33[64]", 2),
    ("no_such_file", "check WP0900.ptx --grid 1 --block 64", 2),
    ("a_cubin", "check ../../../crates/cli/tests/mistakes/kernel.cubin --grid 1 --block 64", 2),
    ("a_folder", "check .. --grid 1 --block 64", 2),
    ("a_python_file", "check ../../../tools/record.py --grid 1 --block 64", 2),
    ("an_empty_file", "check ../../../crates/cli/tests/mistakes/empty.ptx --grid 1 --block 64", 2),
    ("one_kernel_for_two", "equiv WP0140.ptx", 2),
    ("ptx_for_cuda", "prove WP0109.ptx", 2),
    ("no_such_code", "explain WP9999", 2),
    ("no_project", "run .", 2),
    ("misspelt_flag", "check WP0109.ptx --grid 1 --blok 64", 2),
    ("block_too_large", "check WP0131.ptx --grid 1 --block 2048 --arg y=f32[2048]:out", 1),
    (
        "side_without_arguments",
        "equiv WP0106.ptx WP0106.ptx --grid 1 --block 32 --ref-block 64 --arg x=f32[32] --arg y=f32[32]:out --arg param_2=32 \
         --ref-arg x=f32[64] --allow float-order --assume x>0 --compare y[0:1] --no-snap",
        2,
    ),
    ("nothing_given_of_two", "equiv WP0140.ptx::mean WP0130.ptx", 2),
    (
        "missing_integer_strictly",
        "check WP0106.ptx --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --strict --allow float-order",
        2,
    ),
    (
        "outputs_do_not_match",
        "equiv WP0140.ptx::mean WP0130.ptx --grid 1 --block 64 --ref-block 1 --ref-arg x=f32[64] \
         --ref-arg y=f32[1]:out --ref-arg n=64 --opt-arg x=f32[64] --opt-arg y=f32[64]:out",
        3,
    ),
];

#[test]
fn each_mistake_ends_in_one_helpful_message() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let folder = testing::corpus::root().join("docs/errors/examples");
    for (name, command, status) in MISTAKES {
        let program = Command::new(cargo_bin!("warpproof")).current_dir(&folder);
        let program = program.env_remove("NO_COLOR").args(command.split_whitespace());
        let output = program.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let told = format!("{}{}", text(output.stderr), text(output.stdout));
        assert_eq!(output.status.code(), Some(*status), "{name}: {told}");
        let shown = format!("$ warpproof {command}\n{told}");
        let expected = Data::read_from(&tests.join(format!("{name}.txt")), None);
        snapbox::assert_data_eq!(shown, expected.raw());
    }
}
