//! Batches: every job is answered once, in order, with the same bytes for any number of workers. A crash of a worker
//! affects only the answer to its job.

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const LAUNCH: [&str; 10] = [
    "--grid",
    "4",
    "--block",
    "64",
    "--arg",
    "x=f32[4,256]",
    "--arg",
    "y=f32[4,256]:out",
    "--arg",
    "columns=256",
];

/// A kernel that adds forever.
const SPIN: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry spin(.param .u64 to)\n{\n\
    .reg .b64 %rd<4>;\nLOOP:\nadd.u64 %rd3, %rd3, 1;\nbra LOOP;\n}\n";

fn text(name: &str) -> String {
    fs::read_to_string(testing::corpus::root().join("examples/online_softmax").join(name)).unwrap()
}

/// A check of one of the examples.
fn check(id: &str, name: &str) -> Value {
    let command: Vec<&str> = ["check", "k.ptx"].into_iter().chain(LAUNCH).collect();
    json!({"id": id, "command": command, "files": {"k.ptx": text(name)}})
}

/// A check that never ends, with some flags.
fn spin(id: &str, flags: &[&str]) -> Value {
    let words = ["check", "k.ptx", "--grid", "1", "--block", "1", "--arg", "to=f32[1]:out"];
    let command: Vec<&str> = words.iter().chain(flags).copied().collect();
    json!({"id": id, "command": command, "files": {"k.ptx": SPIN}})
}

/// A test's own empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("batch").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn write_jobs(folder: &Path, jobs: &[Value]) {
    let lines: String = jobs.iter().map(|job| format!("{job}\n")).collect();
    fs::write(folder.join("jobs.jsonl"), lines).unwrap();
}

fn program(folder: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpproof"));
    command.current_dir(folder).args(["batch", "jobs.jsonl", "-o", "results.jsonl"]).args(flags);
    command
}

fn run(folder: &Path, flags: &[&str]) -> Output {
    program(folder, flags).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn results(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("results.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_are_in_order_and_do_not_depend_on_the_number_of_workers() {
    let folder = folder("order");
    let mut jobs = vec![
        check("proved", "online.ptx"),
        check("refuted", "racy.ptx"),
        check("the same", "online.ptx"),
        json!({"command": ["check", "missing.ptx"]}),
        json!({"id": "odd", "command": ["run"]}),
        json!({"id": "help", "command": ["check", "--help"]}),
        spin("steps", &["--max-instructions", "1000"]),
    ];
    let command = "simulate k.ptx --grid 1 --block 2 --arg x=f32[1,2]=[1,1] --arg y=f32[1,2]:out --arg columns=2";
    let command: Vec<&str> = command.split(' ').collect();
    jobs.push(json!({"id": 8, "command": command, "files": {"k.ptx": text("online.ptx")}}));
    write_jobs(&folder, &jobs);
    let output = run(&folder, &["-j", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(
        said(&output),
        "8 jobs: 2 proved, 1 refuted, 1 unknown, 3 bad input, 1 run, 1 copied\n"
    );
    let seen = results(&folder);
    let fields = |one: &Value| ["id", "verdict", "exit", "limit"].map(|name| one[name].clone());
    let expected = [
        [json!("proved"), json!("proved"), json!(0), Value::Null],
        [json!("refuted"), json!("refuted"), json!(1), Value::Null],
        [json!("the same"), json!("proved"), json!(0), Value::Null],
        [json!(3), json!("invalid"), json!(2), Value::Null],
        [json!("odd"), json!("invalid"), json!(2), Value::Null],
        [json!("help"), json!("invalid"), json!(0), Value::Null],
        [json!("steps"), json!("unknown"), json!(3), json!("steps")],
        [json!(8), json!("ran"), json!(0), Value::Null],
    ];
    assert_eq!(seen.iter().map(fields).collect::<Vec<_>>(), expected);
    assert_eq!(seen[0]["report"], seen[2]["report"]);
    assert!(seen[3]["messages"].as_str().unwrap().contains("`missing.ptx` cannot be read"));
    // The answer of the command line about the same kernel.
    fs::write(folder.join("k.ptx"), text("racy.ptx")).unwrap();
    let mut alone = Command::new(env!("CARGO_BIN_EXE_warpproof"));
    let alone =
        alone.current_dir(&folder).args(["check", "k.ptx", "--format", "json"]).args(LAUNCH);
    let alone: Value = serde_json::from_slice(&alone.output().unwrap().stdout).unwrap();
    assert_eq!(seen[1]["report"], alone);

    let first = fs::read(folder.join("results.jsonl")).unwrap();
    fs::remove_file(folder.join("results.jsonl")).unwrap();
    assert_eq!(run(&folder, &["-j", "3"]).status.code(), Some(0));
    assert_eq!(fs::read(folder.join("results.jsonl")).unwrap(), first);
}

#[test]
fn paths_are_relative_to_the_job_file() {
    let folder = folder("paths");
    fs::create_dir(folder.join("inside")).unwrap();
    fs::write(folder.join("inside/own.ptx"), text("online.ptx")).unwrap();
    let command: Vec<&str> = ["check", "own.ptx"].into_iter().chain(LAUNCH).collect();
    write_jobs(&folder.join("inside"), &[json!({"command": command})]);
    let mut program = Command::new(env!("CARGO_BIN_EXE_warpproof"));
    let output = program
        .current_dir(&folder)
        .args(["batch", "inside/jobs.jsonl", "-o", "-"])
        .output()
        .unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["verdict"], "proved", "{result}");
}

#[test]
fn a_job_that_is_killed_answers_for_itself_alone() {
    let folder = folder("killed");
    // Its own time limit is longer than the batch's, so only the parent can end it.
    let jobs = [
        check("before", "online.ptx"),
        spin("endless", &["--timeout", "1000", "--max-instructions", "1000000G"]),
        spin("late", &["--max-instructions", "1000000G"]),
        check("after", "racy.ptx"),
    ];
    write_jobs(&folder, &jobs);
    let output = run(&folder, &["-j", "2", "--timeout", "0.5"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let seen = results(&folder);
    let verdicts: Vec<&str> = seen.iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["proved", "unknown", "unknown", "refuted"]);
    assert_eq!((&seen[1]["limit"], &seen[1]["report"]), (&json!("time"), &Value::Null));
    assert_eq!(seen[2]["limit"], json!("time"));
    assert!(seen[2]["report"].is_object(), "it ended by itself");
}

#[test]
fn a_job_without_memory_answers_for_itself_alone() {
    let folder = folder("memory");
    // Both sides have 400 MB of inputs.
    let words = "equiv k.ptx k.ptx --grid 1 --block 1 --arg x=f32[1,100000000] --arg y=f32[1,100000000]:out --arg columns=9";
    let command: Vec<&str> = words.split(' ').collect();
    let large = json!({"id": "large", "command": command, "files": {"k.ptx": text("softmax.ptx")}});
    write_jobs(&folder, &[check("before", "online.ptx"), large, check("after", "racy.ptx")]);
    let output = run(&folder, &["-j", "1", "--max-memory", "128M"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let seen = results(&folder);
    let fields = |one: &Value| [one["verdict"].clone(), one["limit"].clone()];
    let expected = [
        [json!("proved"), Value::Null],
        [json!("unknown"), json!("memory")],
        [json!("refuted"), Value::Null],
    ];
    assert_eq!(seen.iter().map(fields).collect::<Vec<_>>(), expected);
    assert!(seen[1]["messages"].as_str().unwrap().contains("--max-memory"));
}

#[test]
fn results_go_on_where_they_end() {
    let folder = folder("resume");
    let jobs = [
        check("a", "online.ptx"),
        check("b", "racy.ptx"),
        check("c", "online.ptx"),
        check("d", "broken.ptx"),
    ];
    write_jobs(&folder, &jobs);
    assert_eq!(run(&folder, &[]).status.code(), Some(0));
    let path = folder.join("results.jsonl");
    let whole = fs::read(&path).unwrap();
    // Existing results are not overwritten.
    let output = run(&folder, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--resume"), "{}", said(&output));
    assert_eq!(fs::read(&path).unwrap(), whole);
    // Several ends: a copy of an earlier answer, an incomplete line, nothing left to do, and nothing done yet.
    let ends: Vec<usize> = whole
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    for cut in [ends[1], ends[1] + 40, ends[3], ends[2] - 1, 0] {
        fs::write(&path, &whole[..cut]).unwrap();
        let output = run(&folder, &["--resume"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
    }
    // Other jobs, other limits, another order, fewer jobs.
    let refused = |flags: &[&str], why: &str| {
        let output = run(&folder, &[&["--resume"], flags].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(why), "{}", said(&output));
        assert_eq!(fs::read(&path).unwrap(), whole);
    };
    refused(&["--max-instructions", "7"], "the job or its limits have changed");
    write_jobs(&folder, &[jobs[1].clone(), jobs[0].clone()]);
    refused(&[], "result 1 belongs to \"a\", but job 1 is \"b\"");
    write_jobs(&folder, &jobs[..2]);
    refused(&[], "result 3 has no job");
    fs::write(&path, "{}\n").unwrap();
    let output = run(&folder, &["--resume"]);
    assert!(said(&output).contains("line 1 is not a result of a batch"), "{}", said(&output));
}

#[test]
fn jobs_are_answered_as_they_come() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpproof"))
        .args(["batch", "-", "-o", "-", "-j", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut jobs, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(answers));
    for (id, name) in [("one", "online.ptx"), ("two", "racy.ptx"), ("three", "online.ptx")] {
        writeln!(jobs, "{}", check(id, name)).unwrap();
        // The input is still open: answers do not wait for its end.
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
    drop(jobs);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The number of processes with a word in their command line.
fn processes_with(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_it_and_leaves_no_process_behind() {
    for (signal, status) in [("-TERM", Some(143)), ("-INT", Some(130)), ("-KILL", None)] {
        let folder = folder(&format!("signal{signal}"));
        let jobs =
            [check("first", "online.ptx"), spin("endless", &["--max-instructions", "1000000G"])];
        write_jobs(&folder, &jobs);
        // Workers get the folder as an argument, so this counts only them.
        let word = folder.display().to_string();
        let mut program = Command::new(env!("CARGO_BIN_EXE_warpproof"));
        let mut child = program
            .arg("batch")
            .arg(folder.join("jobs.jsonl"))
            .arg("-o")
            .arg(folder.join("results.jsonl"))
            .args(["-j", "2"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let wait = |what: &str, is_done: &dyn Fn() -> bool| {
            let done = (0..3000).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                is_done()
            });
            assert!(done, "{what}");
        };
        let path = folder.join("results.jsonl");
        wait("no result", &|| fs::read(&path).is_ok_and(|text| text.ends_with(b"\n")));
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), status, "{signal}");
        wait("a process is left", &|| processes_with(&word) == 0);
        assert_eq!(results(&folder).len(), 1);
    }
}

#[test]
fn a_full_disk_is_an_error_and_the_cluster_needs_python() {
    let folder = folder("full");
    write_jobs(&folder, &[check("a", "online.ptx")]);
    let mut program = Command::new(env!("CARGO_BIN_EXE_warpproof"));
    program.current_dir(&folder).args(["batch", "jobs.jsonl", "-o"]);
    if Path::new("/dev/full").exists() {
        let output = program.arg("/dev/full").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            said(&output).contains("results cannot be written to /dev/full: No space"),
            "{}",
            said(&output)
        );
    }
    let output = run(&folder, &["--ray", "auto"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--ray needs the Python package"), "{}", said(&output));
}
