//! `warpproof run` and `init`. Expected results are in `project/`; `SNAPSHOTS=overwrite cargo test -p warpproof`
//! rewrites them after a deliberate change.

mod schema;

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project")
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let command = Command::new(cargo_bin!("warpproof")).current_dir(folder).env_remove("NO_COLOR");
    let output = command.args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn expected(name: &str) -> Data {
    Data::read_from(&folder().join(name), None).raw()
}

#[test]
fn a_project_is_run_and_summed_up() {
    let (code, output, messages) = run(&folder(), &["run"]);
    let told = format!("{messages}{output}exit status {code}\n");
    snapbox::assert_data_eq!(told, expected("run.txt"));
    // The bytes are the same for any number of parallel jobs.
    for jobs in ["1", "7"] {
        let (_, again, _) = run(&folder(), &["run", "-j", jobs]);
        assert_eq!(again, output);
    }
}

#[test]
fn entries_are_selected_by_name() {
    for (names, code, summary) in [
        (&["scale[N=128]"][..], 0, "1 check: 1 proved\n"),
        (&["scale"], 1, "3 checks: 2 proved, 1 refuted\n"),
        (&["itself", "relu"], 0, "2 checks: 1 proved, 1 allowed\n"),
        (&["walk"], 0, "1 check: 1 unknown\n"),
        (&["in sequence"], 0, "1 check: 1 proved\n"),
    ] {
        let (status, output, _) = run(&folder(), &[&["run"][..], names].concat());
        assert!(output.ends_with(summary), "{names:?}: {output}");
        assert_eq!(status, code, "{names:?}: {output}");
    }
    let (code, _, messages) = run(&folder(), &["run", "scales"]);
    assert_eq!(code, 2);
    assert!(messages.starts_with("error: no entry is called `scales`"), "{messages}");
}

/// Reports of all entries, in each format.
#[test]
fn results_for_programs_have_every_entry() {
    for (format, names) in [("json", 8), ("junit", 8)] {
        let (code, output, _) = run(&folder(), &["run", "--format", format]);
        assert_eq!(code, 1);
        let of = if format == "json" { "\"command\": \"" } else { "<testsuite " };
        let count = output.matches(of).count() - usize::from(format == "json");
        assert_eq!(count, names + 1, "{output}");
    }
    let (_, output, _) = run(&folder(), &["run", "--format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&output).unwrap();
    let schema = include_str!("formats/sarif-essentials.schema.json");
    schema::validate(&sarif, &serde_json::from_str(schema).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let allowed: Vec<&serde_json::Value> =
        results.iter().filter(|result| result["suppressions"].is_array()).collect();
    assert_eq!(allowed.len(), 1);
    assert_eq!(allowed[0]["level"], "note");
}

/// An accepted answer is a skipped test with the reason: it does not fail the run, and is not proved.
#[test]
fn junit_fails_where_the_run_fails() {
    let (code, output, _) = run(&folder(), &["run", "--format", "junit", "walk"]);
    assert_eq!(code, 0);
    assert!(!output.contains("<error") && !output.contains("<failure"), "{output}");
    assert_eq!(output.matches("<skipped message=\"unknown, accepted by require").count(), 11);
    let (code, output, _) = run(&folder(), &["run", "--format", "junit", "relu"]);
    assert_eq!(code, 0);
    assert_eq!(output.matches("<skipped ").count(), 1, "{output}");
    let (code, output, _) = run(&folder(), &["run", "--format", "junit", "scale"]);
    // A read and a write out of bounds.
    assert_eq!((code, output.matches("<failure ").count()), (1, 2), "{output}");
}

#[test]
fn mistakes_in_a_project_are_told_with_their_lines() {
    let (code, output, messages) = run(&folder(), &["run", "mistakes.toml"]);
    assert_eq!((code, output.as_str()), (2, ""));
    snapbox::assert_data_eq!(messages, expected("mistakes.txt"));
}

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpproof-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_of_init_run_once_filled_in() {
    let scratch = Scratch::new("init");
    let examples = testing::corpus::root().join("docs/errors/examples");
    for name in ["WP0109.ptx", "WP0140.ptx"] {
        std::fs::copy(examples.join(name), scratch.0.join(name)).unwrap();
    }
    let (code, output, _) = run(&scratch.0, &["init", "WP0109.ptx"]);
    assert_eq!(code, 0);
    assert!(output.contains("fill in the `?` in 4 lines"), "{output}");
    let path = scratch.0.join("warpproof.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    snapbox::assert_data_eq!(text.clone(), expected("init.toml"));
    let (code, _, messages) = run(&scratch.0, &["run"]);
    assert_eq!(code, 2);
    assert_eq!(messages.matches("fill in this `?`").count(), 2, "{messages}");
    let filled = text.replace("grid = \"?\"", "grid = 1").replace("block = \"?\"", "block = 64");
    std::fs::write(&path, filled.replace("f32[?]", "f32[64]")).unwrap();
    assert_eq!(run(&scratch.0, &["run"]).0, 1);
    // Nothing is overwritten without `--force`.
    let (code, _, messages) = run(&scratch.0, &["init", "WP0140.ptx::mean", "WP0140.ptx::mean_of"]);
    assert_eq!(code, 2);
    assert!(messages.contains("already exists; --force"), "{messages}");
    let pair = ["init", "--force", "WP0140.ptx::mean(", "WP0140.ptx::mean_of"];
    assert_eq!(run(&scratch.0, &pair).0, 0);
    snapbox::assert_data_eq!(std::fs::read_to_string(&path).unwrap(), expected("init_pair.toml"));
}

#[test]
fn without_a_project_or_entries_nothing_is_proved() {
    let scratch = Scratch::new("none");
    let (code, _, messages) = run(&scratch.0, &["run"]);
    assert_eq!(code, 2);
    assert_eq!(
        messages,
        "error: there is no `warpproof.toml`\nhelp: `warpproof init KERNEL.ptx` writes one\n"
    );
    std::fs::write(scratch.0.join("warpproof.toml"), "").unwrap();
    let (code, output, _) = run(&scratch.0, &["run"]);
    assert_eq!(code, 3);
    assert!(output.starts_with("nothing to check"), "{output}");
}

/// Programs that read results learn of a missing file.
#[test]
fn a_file_that_cannot_be_read_has_a_report() {
    let scratch = Scratch::new("unreadable");
    let text = "[[check]]\nkernel = \"absent.ptx\"\ngrid = 1\nblock = 32\n";
    std::fs::write(scratch.0.join("warpproof.toml"), text).unwrap();
    let (code, output, _) = run(&scratch.0, &["run", "--format", "json"]);
    assert_eq!(code, 2);
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    let finding = &report["reports"][0]["findings"][0];
    assert_eq!(finding["kind"], "input-error");
    assert!(finding["message"].as_str().unwrap().contains("absent.ptx"), "{output}");
    let (code, output, _) = run(&scratch.0, &["run"]);
    assert!(code == 2 && output.contains("bad input absent"), "{output}");
}

/// Assumptions affect the answer, and may use the values of a matrix.
#[test]
fn an_entry_may_assume_something() {
    let scratch = Scratch::new("assume");
    let corpus = testing::corpus::root().join("corpus/equiv/activation");
    std::fs::copy(corpus.join("activation.ptx"), scratch.0.join("a.ptx")).unwrap();
    let entry = |assume: &str| {
        let text = format!(
            "[[equiv]]\nname = \"leaky\"\nreference = \"a.ptx::leaky\"\n\
             optimised = \"a.ptx::leaky_max\"\nmatrix = {{ most = [1, 2] }}\ngrid = 1\n\
             block = 32\nargs = [\"x=f32[8]\", \"y=f32[8]:out\", \"n=8\", \"alpha=f32\"]\n{assume}\n"
        );
        std::fs::write(scratch.0.join("warpproof.toml"), text).unwrap();
        run(&scratch.0, &["run"])
    };
    let (code, output, _) = entry("assume = [\"0 <= alpha <= {most}\"]");
    assert_eq!(code, 1, "{output}");
    assert!(!output.contains("refuted   leaky[most=1]"), "{output}");
    assert!(output.contains("refuted   leaky[most=2]"), "{output}");
    assert!(output.contains("assumed: 0 <= alpha <= 2\n"), "{output}");
    let (code, _, messages) = entry("assume = \"alpha\"");
    assert!(code == 2 && messages.contains("assume = \"alpha\""), "{messages}");
}

/// An entry may compare a part of the outputs: both kernels agree on y[0] and differ elsewhere.
#[test]
fn an_entry_may_compare_parts() {
    let scratch = Scratch::new("compare");
    let corpus = testing::corpus::root().join("corpus/equiv/activation");
    std::fs::copy(corpus.join("activation.ptx"), scratch.0.join("a.ptx")).unwrap();
    let entry = |compare: &str| {
        let text = format!(
            "[[equiv]]\nname = \"leaky\"\nreference = \"a.ptx::leaky\"\n\
             optimised = \"a.ptx::leaky_max\"\nmatrix = {{ at = [0, 1] }}\ngrid = 1\n\
             block = 32\nargs = [\"x=f32[8]=[0,-2,2,2,2,2,2,2]\", \"y=f32[8]:out\", \"n=8\", \"alpha=2.0\"]\n\
             {compare}\n"
        );
        std::fs::write(scratch.0.join("warpproof.toml"), text).unwrap();
        run(&scratch.0, &["run"])
    };
    let (code, output, _) = entry("");
    assert!(code == 1 && output.contains("refuted   leaky[at=0]"), "{output}");
    let (code, output, _) = entry("compare = [\"y[{at}]\"]");
    assert!(code == 1 && output.contains("refuted   leaky[at=1]"), "{output}");
    assert!(!output.contains("refuted   leaky[at=0]"), "{output}");
    assert!(output.contains("proved    leaky[at=0]"), "{output}");
    assert!(output.contains("only `y[1]` is compared"), "{output}");
    let (code, _, messages) = entry("compare = 3");
    assert!(code == 2 && messages.contains("compare = 3"), "{messages}");
}

/// Sides of several launches: the name of an entry begins with the right answer.
#[test]
fn launches_in_sequence_are_compared() {
    let corpus = testing::corpus::root().join("corpus/equiv/sequence");
    let (code, output, _) = run(&corpus, &["run"]);
    assert_eq!(code, 1);
    let (_, table) = output.rsplit_once("\n\n").unwrap();
    let is_entry = |line: &&str| line.contains(": ") && !line.starts_with("note: ");
    let entries: Vec<&str> = table.lines().filter(is_entry).collect();
    assert!(entries.len() > 15, "{table}");
    for line in entries.iter().filter(|line| !line.contains(" checks: ")) {
        let (status, name) = line.split_at(9);
        let expected = name.trim().split(':').next();
        assert_eq!(expected, Some(status.trim()), "{output}");
    }
    // Each difference was seen on the kernels themselves.
    let differences = output.matches("equivalence: refuted").count();
    assert_eq!(output.matches("both kernels, run on these inputs").count(), differences);
    assert!(output.contains("for later launches of one side, and so not compared"), "{output}");
}

/// The schema for editors has the same keys as the reader.
#[test]
fn the_schema_has_the_keys_that_are_read() {
    let (_, output, _) = run(&folder(), &["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&output).unwrap();
    for (name, keys) in driver::project::keys() {
        let table = if name == "file" { &schema } else { &schema["$defs"][name] };
        let mut known: Vec<&str> =
            table["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut keys = keys.clone();
        known.sort_unstable();
        keys.sort_unstable();
        assert_eq!(known, keys, "{name}");
    }
}

/// Every project file of the repository is as its schema says, and one with mistakes is not.
#[test]
fn project_files_are_as_the_schema_says() {
    let (_, output, _) = run(&folder(), &["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&output).unwrap();
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        schema::validate(&json_of_toml(&text), &schema)
    };
    let names = ["warpproof.toml", "init.toml", "init_pair.toml"];
    let mut files: Vec<PathBuf> = names.iter().map(|name| folder().join(name)).collect();
    for place in ["examples", "corpus"] {
        let found = testing::corpus::files_below(place, "toml").into_iter();
        files.extend(found.filter(|path| path.ends_with("warpproof.toml")));
    }
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    assert!(read(&folder().join("mistakes.toml")).is_err());
}

fn json_of_toml(text: &str) -> serde_json::Value {
    json_of_table(toml::de::DeTable::parse(text).unwrap().get_ref())
}

fn json_of_table(table: &toml::de::DeTable<'_>) -> serde_json::Value {
    let entries =
        table.iter().map(|(name, value)| (name.get_ref().to_string(), json_of(value.get_ref())));
    serde_json::Value::Object(entries.collect())
}

fn json_of(value: &toml::de::DeValue<'_>) -> serde_json::Value {
    use toml::de::DeValue;
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => number.to_string().parse::<i64>().unwrap().into(),
        DeValue::Float(number) => number.to_string().parse::<f64>().unwrap().into(),
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| json_of(item.get_ref())).collect(),
        DeValue::Table(table) => json_of_table(table),
    }
}

/// Kernels in CUDA C for all sizes, alone and in pairs, with macros and headers.
#[test]
fn entries_for_all_sizes_are_run() {
    let folder = std::env::temp_dir().join(format!("warpproof-sizes-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("include")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let kernel = |body: &str| {
        format!(
            "#include <at.cuh>\n//@ extent x[n];\n//@ requires n >= 0 && gridDim.x*blockDim.x == n;\n\
             __global__ void k(int* x, int n) {{ x[at()] = {body}; }}\n"
        )
    };
    write(
        "include/at.cuh",
        "__device__ int at() { return blockIdx.x*blockDim.x + threadIdx.x; }\n",
    );
    write("one.cu", &kernel("at()*STEP"));
    write("two.cu", &kernel("STEP*at()"));
    write("racy.cu", "__global__ void k(int* x) { x[0] = threadIdx.x; }\n");
    write(
        "warpproof.toml",
        "[defaults]\ninclude = [\"include\"]\ngrid = 4\n\
         [[prove]]\nkernel = \"one.cu::k\"\nname = \"one\"\ndefine = [\"STEP={S}\"]\nmatrix = { S = [1, 3] }\n\
         [[prove]]\nkernel = \"racy.cu\"\n\
         [[equiv]]\nname = \"pair\"\nfor-all-sizes = true\nreference = \"one.cu\"\noptimised = \"two.cu\"\n\
         define = \"STEP=2\"\nrequires = [\"n <= 1024\"]\nsame-launch = true\n",
    );
    for (names, code, summary) in [
        (&["one"][..], 0, "2 checks: 2 proved\n"),
        (&["racy"], 1, "1 check: 1 refuted\n"),
        (&["pair"], 0, "1 check: 1 proved\n"),
    ] {
        let (status, output, messages) = run(&folder, &[&["run"][..], names].concat());
        assert!(output.ends_with(summary), "{names:?}: {output}{messages}");
        assert_eq!(status, code, "{names:?}: {output}");
    }
    // These entries have no launch.
    write("warpproof.toml", "[[prove]]\nkernel = \"one.cu\"\ngrid = 4\n");
    let (code, _, messages) = run(&folder, &["run"]);
    assert_eq!(code, 2);
    assert!(messages.contains("grid"), "{messages}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// CI systems decide by failures and errors, so an allowed finding is neither; its reason is shown.
#[test]
fn allowed_findings_fail_no_junit() {
    let (status, output, _) = run(&folder(), &["run", "relu", "--format", "junit"]);
    assert_eq!(status, 0, "{output}");
    assert!(output.contains(" failures=\"0\" errors=\"0\" skipped=\"1\">"), "{output}");
    assert!(output.contains("<skipped message=\"writes `x[0]`, which is an input\">"), "{output}");
    assert!(output.contains("\n  allowed: "), "{output}");
}
