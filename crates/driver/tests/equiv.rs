//! Pairs of `corpus/equiv`: no answer is wrong, and most are right.
//!
//! A pair says what is true of it. `unknown` is never wrong; how many pairs are settled is counted,
//! so that it can only grow. Pairs that need flags which do not exist yet are left out, and so are
//! large ones.

use driver::arguments::{ArgumentSpec, Arguments, KernelPath, LaunchSpec};
use driver::{Colour, Execution, Exit, Input, Limits};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How many pairs are proved and refuted today.
const PROVED: usize = 140;
const REFUTED: usize = 100;

/// A pair, as its file describes it.
#[derive(Default)]
struct Pair {
    kernels: [String; 2],
    launches: [LaunchSpec; 2],
    arguments: [Vec<ArgumentSpec>; 2],
    expected: String,
    left_out: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/equiv")
}

fn read(path: &Path) -> Pair {
    let mut pair = Pair::default();
    let text = std::fs::read_to_string(path).unwrap();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(": ") else { continue };
        match key {
            "ref" => pair.kernels[0] = value.to_owned(),
            "opt" => pair.kernels[1] = value.to_owned(),
            "expect" => {
                let first = value.split([' ', ':', ',']).next().unwrap_or_default();
                pair.expected = first.to_owned();
            }
            "size" => pair.left_out |= value == "large",
            "flags" => flags(&mut pair, value),
            _ => {}
        }
    }
    pair
}

fn flags(pair: &mut Pair, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    for two in words.chunks(2) {
        let [flag, value] = two else { panic!("`{text}`: a flag without a value") };
        let (sides, flag) = match flag.strip_prefix("--ref-").or(flag.strip_prefix("--opt-")) {
            Some(rest) => (vec![usize::from(flag.starts_with("--opt"))], rest),
            None => (vec![0, 1], flag.trim_start_matches('-')),
        };
        for side in sides {
            let launch = &mut pair.launches[side];
            match flag {
                "grid" => launch.grid = Some(value.parse().unwrap()),
                "block" => launch.block = Some(value.parse().unwrap()),
                "smem" => launch.shared = Some(value.parse().unwrap()),
                "arg" => pair.arguments[side].push(value.parse().unwrap()),
                _ => pair.left_out = true,
            }
        }
    }
}

fn answer(folder: &Path, pair: &Pair) -> (Exit, String) {
    let paths: [KernelPath; 2] = pair.kernels.each_ref().map(|name| name.parse().unwrap());
    let inputs = paths.each_ref().map(|path| Input::read(&folder.join(&path.file)).unwrap());
    let arguments = pair.arguments.clone().map(|specs| Arguments { specs, ..Arguments::default() });
    let execution = |side: usize| Execution {
        input: &inputs[side],
        kernel: paths[side].kernel.as_deref(),
        launch: &pair.launches[side],
        arguments: &arguments[side],
        limits: Limits::default(),
    };
    let outcome = driver::equiv::run([&execution(0), &execution(1)], true, Colour::Plain);
    (outcome.exit, outcome.output + &outcome.messages)
}

/// Pairs that take too long today.
const SLOW: &[&str] = &["softmax/log_warp.pair", "softmax/tree_warp.pair", "softmax/warp.pair"];

#[test]
fn no_answer_is_wrong_and_most_are_given() {
    let mut files: Vec<PathBuf> = Vec::new();
    for family in std::fs::read_dir(folder()).unwrap().flatten() {
        let Ok(entries) = std::fs::read_dir(family.path()) else { continue };
        let pairs = entries.flatten().map(|entry| entry.path());
        files.extend(pairs.filter(|path| path.extension().is_some_and(|end| end == "pair")));
    }
    files.sort();
    let (next, counts) = (Mutex::new(files.into_iter()), Mutex::new([0, 0]));
    let wrong = Mutex::new(Vec::new());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let Some(path) = next.lock().unwrap().next() else { break };
                    let pair = read(&path);
                    let name = path.strip_prefix(folder()).unwrap().display().to_string();
                    if pair.left_out || SLOW.contains(&name.as_str()) {
                        continue;
                    }
                    let (exit, text) = answer(path.parent().unwrap(), &pair);
                    match (pair.expected.as_str(), exit) {
                        ("proved", Exit::Success) => counts.lock().unwrap()[0] += 1,
                        ("refuted", Exit::Refuted) => counts.lock().unwrap()[1] += 1,
                        // Arguments of one side that the other's depend on are not taken yet.
                        (_, Exit::Unknown | Exit::BadInput) => {}
                        (expected, exit) => wrong
                            .lock()
                            .unwrap()
                            .push(format!("{name}: {expected}, not {exit:?}\n{text}")),
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let [proved, refuted] = counts.into_inner().unwrap();
    assert!(proved >= PROVED && refuted >= REFUTED, "{proved} proved, {refuted} refuted");
}
