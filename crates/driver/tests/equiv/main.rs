//! Pairs of `corpus/equiv`: no answer is wrong, and most are right; and small pairs that look equal
//! and are not.
//!
//! A pair says what is true of it. `unknown` is never wrong; how many pairs are settled is counted,
//! so that it can only grow. Large pairs are left out.

#[path = "../corpus/mod.rs"]
mod corpus;
mod inputs;

use corpus::Flags;
use driver::arguments::{AssumeSpec, KernelPath};
use driver::equiv::Options;
use driver::{Colour, Exit, Input};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How many pairs are proved and refuted today.
const PROVED: usize = 175;
const REFUTED: usize = 129;

/// Pairs that take too long today.
const SLOW: &[&str] = &["softmax/log_warp.pair", "softmax/tree_warp.pair", "softmax/warp.pair"];

/// A pair, as its file describes it.
#[derive(Default)]
struct Pair {
    kernels: [String; 2],
    flags: [Flags; 2],
    assumptions: Vec<AssumeSpec>,
    expected: String,
    kind: String,
    left_out: bool,
}

impl Pair {
    /// What a report of the kind of finding has in it.
    fn sign(&self) -> &'static str {
        match self.kind.as_str() {
            "race" => "race on ",
            "different" => "differs",
            _ => "",
        }
    }
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
            "kind" => value.clone_into(&mut pair.kind),
            "size" => pair.left_out |= value == "large",
            "flags" => take(&mut pair, value),
            _ => {}
        }
    }
    pair
}

/// Words as a shell reads them.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (position, part) in text.split('\'').enumerate() {
        match position % 2 {
            0 => {
                for (number, piece) in part.split(' ').enumerate() {
                    if number > 0 {
                        words.push(String::new());
                    }
                    words.last_mut().unwrap().push_str(piece);
                }
            }
            _ => words.last_mut().unwrap().push_str(part),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Takes flags of both sides or of one.
fn take(pair: &mut Pair, text: &str) {
    for two in words(text).chunks(2) {
        let [flag, value] = two else { panic!("`{text}`: a flag without a value") };
        if flag == "--assume" {
            pair.assumptions.push(value.parse().unwrap());
            continue;
        }
        let common = flag.replacen("--ref-", "--", 1).replacen("--opt-", "--", 1);
        for (side, others) in pair.flags.iter_mut().zip(["--opt-", "--ref-"]) {
            let known = flag.starts_with(others) || side.set(&common, value);
            assert!(known, "`{text}`: unknown flag `{flag}`");
        }
    }
}

/// The answer about two kernels.
fn answer(inputs: [&Input; 2], kernels: [Option<&str>; 2], flags: &[Flags; 2]) -> (Exit, String) {
    answer_with(inputs, kernels, flags, &Options::default())
}

fn answer_with(
    inputs: [&Input; 2],
    kernels: [Option<&str>; 2],
    flags: &[Flags; 2],
    options: &Options<'_>,
) -> (Exit, String) {
    let outcome = flags[0].hand(inputs[0], kernels[0], |reference| {
        flags[1].hand(inputs[1], kernels[1], |optimised| {
            driver::equiv::run([reference, optimised], options, Colour::Plain)
        })
    });
    (outcome.exit, outcome.output + &outcome.messages)
}

fn answer_of(folder: &Path, pair: &Pair) -> (Exit, String) {
    let paths: [KernelPath; 2] = pair.kernels.each_ref().map(|name| name.parse().unwrap());
    let inputs = paths.each_ref().map(|path| Input::read(&folder.join(&path.file)).unwrap());
    let kernels = paths.each_ref().map(|path| path.kernel.as_deref());
    // Whatever is proved is looked at again by another road.
    let options = Options { assumptions: &pair.assumptions, recheck: true, ..Options::default() };
    answer_with(inputs.each_ref(), kernels, &pair.flags, &options)
}

/// A kernel of one thread that makes `%f2` of `%f1`, an element of `x`, and stores it to `y`.
fn kernel(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.f32 %f1, [%rd1];
        {body}
        st.global.f32 [%rd2], %f2; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn small(bodies: [&str; 2], flags: [&str; 2]) -> (Exit, String) {
    let inputs = bodies.map(kernel);
    let flags = flags.map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
    answer(inputs.each_ref(), [None; 2], &flags)
}

const X_AND_Y: [&str; 2] = ["--arg x=f32[1] --arg y=f32[1]:out"; 2];

#[test]
fn small_pairs_are_told_apart() {
    let square = "mul.f32 %f2, %f1, %f1;";
    let same = "fma.rn.f32 %f2, %f1, %f1, 0f00000000;";
    let double = "add.f32 %f2, %f1, %f1;";
    assert_eq!(small([square, same], X_AND_Y).0, Exit::Success);
    let (exit, text) = small([square, double], X_AND_Y);
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("both kernels, run on these inputs in exact intervals"), "{text}");
}

/// The steps of `expf` mean something only together: each alone is what it says.
#[test]
fn steps_of_expf_alone_are_not_taken_for_it() {
    let rest = "fma.rn.f32 %f2, %f1, 0f32A57060, 0f3F800000;";
    let one = "mov.f32 %f2, 0f3F800000;";
    assert_ne!(small([rest, one], X_AND_Y).0, Exit::Success);
    // 252·x + 12582913, rounded to nearest, or of an x that is not between 0 and 1.
    let nearest = "fma.rn.f32 %f3, %f1, 0f437C0000, 0f4B400001; add.f32 %f2, %f3, 0fCB400001;";
    let down = "cvt.sat.f32.f32 %f4, %f1; fma.rm.f32 %f3, %f4, 0f437C0000, 0f4B400001;
        add.f32 %f2, %f3, 0fCB400001;";
    let floor = "cvt.sat.f32.f32 %f4, %f1; mul.f32 %f3, %f4, 0f437C0000; cvt.rmi.f32.f32 %f2, %f3;";
    let exact = "mul.f32 %f2, %f1, 0f437C0000;";
    assert_eq!(small([down, floor], X_AND_Y).0, Exit::Success);
    assert_ne!(small([nearest, floor], X_AND_Y).0, Exit::Success);
    assert_ne!(small([down, exact], X_AND_Y).0, Exit::Success);
}

#[test]
fn nothing_compared_is_nothing_proved() {
    let copy = "mov.f32 %f2, %f1;";
    let both = "--arg x=f32[1] --arg y=f32[1]:out";
    let (exit, text) = small([copy, copy], [both, "--arg x=s32[1] --arg y=f32[1]:out"]);
    assert!(exit == Exit::Unknown && text.contains("of another type"), "{text}");
    let (exit, text) = small([copy, copy], [both, "--arg x=f32[2] --arg y=f32[1]:out"]);
    assert!(exit == Exit::Unknown && text.contains("of another size"), "{text}");
    let (exit, text) = small([copy, copy], [both, "--arg x=f32[1] --arg z=f32[1]:out"]);
    assert!(exit == Exit::Unknown && text.contains("an output of one side alone"), "{text}");
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }";
    let empty = Input::from_bytes("k.ptx", text.into()).unwrap();
    let flags = [(), ()].map(|()| Flags::parse("--grid 1 --block 1"));
    let (exit, text) = answer([&empty, &empty], [None; 2], &flags);
    assert!(exit == Exit::Unknown && text.contains("no output to compare"), "{text}");
}

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
                    let (exit, text) = answer_of(path.parent().unwrap(), &pair);
                    match (pair.expected.as_str(), exit) {
                        ("refuted", Exit::Refuted) if !text.contains(pair.sign()) => {
                            wrong.lock().unwrap().push(format!("{name}: no {}\n{text}", pair.kind))
                        }
                        ("proved", Exit::Success) if !text.contains("\nrechecked: runs") => {
                            wrong.lock().unwrap().push(format!("{name}: not rechecked\n{text}"))
                        }
                        ("proved", Exit::Success) => counts.lock().unwrap()[0] += 1,
                        ("refuted", Exit::Refuted) => counts.lock().unwrap()[1] += 1,
                        (_, Exit::Unknown) if !name.starts_with("tensor/") => {}
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
