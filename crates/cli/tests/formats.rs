//! Results for programs: SARIF, GitHub's annotations, JUnit. Expected results are in `formats/`; `SNAPSHOTS=overwrite
//! cargo test -p warpproof` rewrites them after a deliberate change.

mod schema;

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;
use testing::corpus::root;

/// Commands for each possible outcome, and their exit status.
const COMMANDS: &[(&str, i32, &str)] = &[
    (
        "proved",
        0,
        "check corpus/memory/missing_guard_fixed.ptx --grid 2 --block 128 --arg x=f32[250] \
         --arg y=f32[250]:out --arg a=f32 --arg n=250",
    ),
    (
        "race",
        1,
        "check docs/errors/examples/WP0109.ptx --grid 1 --block 64 --arg x=f32[64] \
         --arg y=f32[64]:out",
    ),
    (
        "unwritten",
        1,
        "check docs/errors/examples/WP0130.ptx --grid 1 --block 128 --arg x=f32[200] \
         --arg y=f32[200]:out",
    ),
    (
        "unknown",
        3,
        "check docs/errors/examples/WP0020.ptx --grid 1 --block 32 --arg next=s32[32] \
         --arg y=f32[32]:out",
    ),
    ("arguments", 2, "check docs/errors/examples/WP0109.ptx --grid 1 --block 64 --arg x=7.5"),
    ("malformed", 2, "check docs/errors/examples/WP0001.ptx --grid 1 --block 64"),
    (
        "different",
        1,
        "equiv docs/errors/examples/WP0140.ptx::mean docs/errors/examples/WP0140.ptx::mean_of_four \
         --grid 1 --block 1 --arg x=f32[8] --arg y=f32[1]:out --arg n=8",
    ),
];

fn run(folder: &Path, flags: &str, format: &str) -> (i32, String) {
    let command = Command::new(cargo_bin!("warpproof")).current_dir(folder);
    let command = command.args(flags.split_whitespace()).args(["--format", format]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{flags}");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// JSON also has the notes on a proof over the reals if the kernel computes in fewer bits.
#[test]
fn notes_about_precision_are_in_json() {
    let flags = "equiv naive.ptx::attention_16 attention.ptx::flash2_no_rescale --grid 1 --block 32 \
                 --arg Q=f16[16,16] --arg K=f16[16,16] --arg V=f16[16,16] --arg O=f32[16,16]:out \
                 --arg L=16 --arg S=16 --arg scale=f32";
    let (code, output) = run(&root().join("corpus/equiv/tensor"), flags, "json");
    assert_eq!(code, 0, "{output}");
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    let note = "attention.cu:100 narrows an intermediate value from f32 to f16";
    assert_eq!(report["precision"], serde_json::json!([note]));
}

#[test]
fn results_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    for (name, status, flags) in COMMANDS {
        for (format, extension) in [("github", "github.txt"), ("junit", "junit.xml")] {
            let (code, output) = run(&root(), flags, format);
            assert_eq!(code, *status, "{name}: {output}");
            let expected = Data::read_from(&folder.join(format!("{name}.{extension}")), None);
            snapbox::assert_data_eq!(output, expected.raw());
        }
    }
    let (_, output) = run(&root(), COMMANDS[1].2, "sarif");
    let expected = Data::read_from(&folder.join("race.sarif"), None);
    // Pages of `explain` are removed, so that they may change independently.
    snapbox::assert_data_eq!(without_help(&output), expected.raw());
}

fn without_help(sarif: &str) -> String {
    let mut document: serde_json::Value = serde_json::from_str(sarif).unwrap();
    for rule in document["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        rule.as_object_mut().unwrap().remove("help").unwrap();
        rule.as_object_mut().unwrap().remove("fullDescription").unwrap();
    }
    serde_json::to_string_pretty(&document).unwrap() + "\n"
}

/// Returns the schema of the standard (OASIS), which `.ci/run` takes from the crate `serde-sarif`. Elsewhere ours
/// alone is used, which allows nothing that we do not write.
fn standard_schema() -> Option<serde_json::Value> {
    let path = std::env::var_os("WARPPROOF_SARIF_SCHEMA")?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

#[test]
fn sarif_is_valid_and_says_no_less_than_the_exit_status() {
    let schema = include_str!("formats/sarif-essentials.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schemas: Vec<_> = [Some(schema), standard_schema()].into_iter().flatten().collect();
    for (name, status, flags) in COMMANDS {
        let (code, output) = run(&root(), flags, "sarif");
        assert_eq!(code, *status, "{name}");
        let document: serde_json::Value = serde_json::from_str(&output).unwrap();
        for schema in &schemas {
            schema::validate(&document, schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let results = document["runs"][0]["results"].as_array().unwrap();
        let loud = |result: &&serde_json::Value| result["level"] != "note";
        assert_eq!(results.iter().filter(loud).count() > 0, *status != 0, "{name}: {output}");
    }
}

/// The validator must be able to refuse, or the test above could not fail.
#[test]
fn invalid_sarif_is_refused() {
    let schema = include_str!("formats/sarif-essentials.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schemas: Vec<_> = [Some(schema), standard_schema()].into_iter().flatten().collect();
    let (_, output) = run(&root(), COMMANDS[1].2, "sarif");
    let document: serde_json::Value = serde_json::from_str(&output).unwrap();
    for (pointer, wrong) in [
        ("/version", serde_json::json!("2.0.0")),
        ("/runs/0/results/0/level", serde_json::json!("fatal")),
        ("/runs/0/results/0/message", serde_json::json!({})),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", serde_json::json!(0)),
        ("/runs/0/results/0/partialFingerprints/warpproof~1v1", serde_json::json!(7)),
        ("/runs/0/tool/driver/name", serde_json::Value::Null),
        ("/runs/0/results/0/unheard", serde_json::json!(1)),
    ] {
        let mut document = document.clone();
        match document.pointer_mut(pointer) {
            Some(place) => *place = wrong,
            None => document["runs"][0]["results"][0]["unheard"] = wrong,
        }
        for schema in &schemas {
            assert!(schema::validate(&document, schema).is_err(), "{pointer}");
        }
    }
}

/// From a folder of the repository, paths are from its root.
#[test]
fn paths_for_github_are_from_the_root_of_the_repository() {
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let folder = folder.join(format!("warpproof-paths-{}", std::process::id()));
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::create_dir_all(folder.join("a/b")).unwrap();
    let examples = root().join("docs/errors/examples");
    for name in ["WP0109.ptx", "WP0109.cu"] {
        std::fs::copy(examples.join(name), folder.join("a").join(name)).unwrap();
    }
    let flags = |path: &str| {
        format!("check {path} --grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out")
    };
    let absolute = folder.join("a/WP0109.ptx").display().to_string();
    for (from, path) in
        [("", "a/WP0109.ptx"), ("a", "WP0109.ptx"), ("a/b", "../WP0109.ptx"), ("a/b", &absolute)]
    {
        let (_, output) = run(&folder.join(from), &flags(path), "sarif");
        let document: serde_json::Value = serde_json::from_str(&output).unwrap();
        let place = "/runs/0/results/0/locations/0/physicalLocation/artifactLocation";
        let expected = serde_json::json!({ "uri": "a/WP0109.cu", "uriBaseId": "%SRCROOT%" });
        assert_eq!(document.pointer(place), Some(&expected), "{from} {path}: {output}");
        // GitHub shows annotations only at such paths.
        let (_, output) = run(&folder.join(from), &flags(path), "github");
        assert!(output.starts_with("::error file=a/WP0109.cu,line="), "{from} {path}: {output}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Each error is a failure of its own, under a name of its own.
#[test]
fn each_finding_is_one_failure_of_junit() {
    let folder = std::env::temp_dir().join(format!("warpproof-junit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let ptx = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n\
               .reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\n\
               mov.u32 %r1, %tid.x;\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
    std::fs::write(folder.join("k.ptx"), ptx).unwrap();
    let flags = "check k.ptx --grid 1 --block 64 --arg x=s32[1]:out --arg y=s32[1]:out";
    let (code, output) = run(&folder, flags, "junit");
    assert_eq!(code, 1);
    assert_eq!(output.matches("<failure ").count(), 2, "{output}");
    let (_, json) = run(&folder, flags, "json");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["findings"].as_array().unwrap().len(), 2);
    let names = output.split(" name=\"races").skip(1).map(|rest| rest.split('"').next().unwrap());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, [" (WP0109 at k.ptx:11)", " (WP0109 at k.ptx:12)"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// If lines move, or threads and sizes change, a finding keeps its fingerprint.
#[test]
fn fingerprints_survive_edits_elsewhere() {
    let folder = std::env::temp_dir().join(format!("warpproof-prints-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let examples = root().join("docs/errors/examples");
    let read = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    let prints = |flags: &str| -> Vec<String> {
        let (_, output) = run(&folder, flags, "sarif");
        let document: serde_json::Value = serde_json::from_str(&output).unwrap();
        let results = document["runs"][0]["results"].as_array().unwrap().clone();
        let print = |result: &serde_json::Value| {
            result["partialFingerprints"]["warpproof/v1"].as_str().unwrap().to_owned()
        };
        results.iter().map(print).collect()
    };
    let flags = "check WP0109.ptx --grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out";
    std::fs::write(folder.join("WP0109.ptx"), read("WP0109.ptx")).unwrap();
    std::fs::write(folder.join("WP0109.cu"), read("WP0109.cu")).unwrap();
    let before = prints(flags);
    // Three comment lines at the top of the source, and one in the PTX.
    let moved = |line: &str| match line.trim_start().strip_prefix(".loc\t1 ") {
        Some(rest) => {
            let (number, column) = rest.split_once(' ').unwrap();
            format!("\t.loc\t1 {} {column}\n", number.parse::<u32>().unwrap() + 3)
        }
        None => format!("{line}\n"),
    };
    let ptx: String = read("WP0109.ptx").lines().map(moved).collect();
    std::fs::write(folder.join("WP0109.ptx"), format!("// moved\n{ptx}")).unwrap();
    std::fs::write(folder.join("WP0109.cu"), format!("//\n//\n//\n{}", read("WP0109.cu"))).unwrap();
    assert_eq!(prints(flags), before);
    assert_eq!(prints(&flags.replace("x=f32[64]", "x=f32[100]")), before);
    // A changed line gives another fingerprint.
    let other = read("WP0109.cu").replace("tile[i] = x[i];", "tile[i] = -x[i];");
    std::fs::write(folder.join("WP0109.cu"), format!("//\n//\n//\n{other}")).unwrap();
    assert_ne!(prints(flags), before);
    std::fs::remove_dir_all(&folder).unwrap();
}
