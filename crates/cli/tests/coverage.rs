//! A proof reports the instructions that no thread executed, in every format.

use serde_json::{Value, json};
use snapbox::cmd::{Command, cargo_bin};
use std::path::PathBuf;

/// Seventeen instructions; with `n` threads and `n` small: lines 13, 16, 22 and 23 are not executed.
const KERNEL: &str = "\
.version 7.8
.target sm_80
.address_size 64
.visible .entry guarded(.param .u64 y, .param .u32 n)
{
    .reg .pred %p<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    setp.gt.u32 %p2, %r1, 1000;
    mov.u32 %r3, 7;
    @%p2 add.u32 %r3, %r3, 1;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    setp.eq.u32 %p3, %r1, 5000;
    @!%p3 bra STORE;
    mov.u32 %r3, 1;
    add.u32 %r3, %r3, %r2;
STORE:
    st.global.u32 [%rd4], %r3;
DONE:
    ret;
}
";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-coverage-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("k.ptx"), KERNEL).unwrap();
        Self(folder)
    }

    fn run(&self, flags: &str) -> String {
        let command = Command::new(cargo_bin!("warpproof")).current_dir(&self.0);
        let output = command.args(flags.split_whitespace()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        text
    }

    fn json(&self, flags: &str) -> Value {
        serde_json::from_str(&self.run(&format!("{flags} --format json"))).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const CHECK: &str = "check k.ptx --grid 1 --block 32 --arg y=s32[32]:out --arg n=32";
const SENTENCE: &str = "4 of 17 instructions were never executed (lines 13, 16, 22-23)";

#[test]
fn every_format_says_what_was_not_executed() {
    let folder = Folder::new("formats");
    assert!(folder.run(CHECK).contains(&format!("note: {SENTENCE}\n")));
    for format in ["sarif", "github", "junit"] {
        let text = folder.run(&format!("{CHECK} --format {format}"));
        assert!(text.contains(SENTENCE), "{format}: {text}");
    }
    folder.run(&format!("{CHECK} --report page.html"));
    assert!(std::fs::read_to_string(folder.0.join("page.html")).unwrap().contains(SENTENCE));
    let expected = json!({
        "instructions": 17, "executed": 13, "unexecuted_lines": [[13, 13], [16, 16], [22, 23]],
    });
    assert_eq!(folder.json(CHECK)["coverage"], expected);
}

#[test]
fn blocks_count_together() {
    let folder = Folder::new("blocks");
    // Threads beyond the end take the first branch.
    let partly = "check k.ptx --grid 2 --block 64 --arg y=s32[32]:out --arg n=32 --blocks 0";
    let flags = partly.replace("--grid 2", "--grid 1").replace(" --blocks 0", "");
    assert_eq!(folder.json(&flags)["coverage"]["executed"], 14);
    let large = "check k.ptx --grid 1 --block 1 --arg y=s32[1]:out --arg n=5000";
    let lines = json!([[13, 13], [21, 21]]);
    assert_eq!(folder.json(large)["coverage"]["unexecuted_lines"], lines);
}

#[test]
fn both_sides_of_a_comparison_and_projects_say_it() {
    let folder = Folder::new("sides");
    let equiv =
        "equiv k.ptx k.ptx --grid 1 --ref-block 32 --opt-block 64 --arg y=s32[32]:out --arg n=32";
    let text = folder.run(equiv);
    assert!(text.contains(&format!("note: reference: {SENTENCE}\n")), "{text}");
    let optimised = "note: optimised: 3 of 17 instructions were never executed (lines 16, 22-23)\n";
    assert!(text.contains(optimised), "{text}");
    let report = folder.json(equiv);
    assert_eq!(report["reference"]["coverage"]["executed"], 13);
    assert_eq!(report["coverage"]["executed"], 14);
    let project = "[defaults]\ngrid = 1\nblock = 32\nargs = [\"y=s32[32]:out\", \"n=32\"]\n\
                   [[check]]\nname = \"one\"\nkernel = \"k.ptx\"\n\
                   [[equiv]]\nname = \"two\"\nreference = \"k.ptx\"\noptimised = \"k.ptx\"\n";
    std::fs::write(folder.0.join("warpproof.toml"), project).unwrap();
    let text = folder.run("run");
    for note in [format!("one: {SENTENCE}"), format!("two: reference: {SENTENCE}")] {
        assert!(text.contains(&format!("note: {note}\n")), "{text}");
    }
    for format in ["sarif", "github", "junit"] {
        let text = folder.run(&format!("run --format {format}"));
        assert_eq!(text.matches(SENTENCE).count(), 3, "{text}");
    }
    let all = folder.json("run");
    assert_eq!(all["reports"][0]["coverage"]["instructions"], 17);
}
