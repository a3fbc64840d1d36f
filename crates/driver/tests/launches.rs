//! Every sm_80 kernel of the corpus is launched as listed in `corpus/launches.txt`, runs to its end, and everything
//! is proved, except for the entries that state another answer and the reason.
//!
//! Apart from those the kernels are correct, so a finding is a false alarm. The test also checks that launches are no
//! larger than necessary: with one element less in any tensor there is a finding. `cargo test -p driver --test
//! launches -- --nocapture` prints the cost of the runs.

mod corpus;

use corpus::Flags;
use driver::arguments::{ArgumentValue, Initial, TensorSpec};
use driver::check::{self, Options};
use driver::{Colour, Execution, Exit, Input};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Accepted reasons for a kernel without a launch that reaches its end.
const MAY_STOP: [&str; 2] = ["tensor cores", "transaction barriers"];

/// Inputs that are part of a signature but never read.
const NOT_READ: [(&str, &str); 6] = [
    ("k_h2f_exp", "b"),
    ("k_hexp", "b"),
    ("k_hlog", "b"),
    ("k_hrelu", "b"),
    ("k_hsqrt", "b"),
    ("k_htanh", "b"),
];

/// An entry of `corpus/launches.txt`.
struct Entry {
    /// Its first line, from 1.
    line: usize,
    patterns: Vec<String>,
    kernels: Vec<String>,
    flags: Flags,
    /// The answers of the check; empty if everything is proved.
    answers: Vec<Answer>,
}

/// An answer of the check: a piece of its text, and the reason.
struct Answer {
    kind: Kind,
    text: String,
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The run does not reach its end.
    Stops,
    /// The run reaches its end, but something remains unknown.
    Unknown,
    /// Something is wrong with the kernel.
    Refuted,
}

impl Entry {
    fn is(&self, kind: Kind) -> bool {
        self.answers.iter().any(|answer| answer.kind == kind)
    }

    /// Returns `true` if the entry explains a text of the answer.
    fn explains(&self, text: &str) -> bool {
        self.answers.iter().any(|answer| answer.text.contains(text))
    }
}

/// A launch of a kernel.
struct Launch<'e> {
    file: String,
    kernel: String,
    entry: &'e Entry,
}

impl Launch<'_> {
    fn name(&self) -> String {
        let Self { file, kernel, entry } = self;
        format!("{file}::{kernel}, line {} of launches.txt", entry.line)
    }

    fn stops(&self) -> bool {
        self.entry.is(Kind::Stops)
    }
}

fn entries() -> Vec<Entry> {
    let text = std::fs::read_to_string(corpus::folder().join("../launches.txt")).unwrap();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let number = number + 1;
        if let Some((patterns, kernels)) = line.split_once(" :: ") {
            let (patterns, kernels) = (words(patterns), words(kernels));
            let (flags, answers) = (Flags::default(), Vec::new());
            entries.push(Entry { line: number, patterns, kernels, flags, answers });
            continue;
        }
        let entry = entries.last_mut().unwrap_or_else(|| panic!("line {number} has no kernel"));
        let (word, rest) = line.trim().split_once(' ').unwrap_or_default();
        let (text, why) = rest.rsplit_once(" | ").unwrap_or_default();
        let kind = match word {
            "stops" => Kind::Stops,
            "unknown" => Kind::Unknown,
            "refuted" => Kind::Refuted,
            _ => {
                entry.flags = Flags::parse(line);
                continue;
            }
        };
        entry.answers.push(Answer { kind, text: text.to_owned(), why: why.to_owned() });
    }
    entries
}

/// Returns `true` if a text matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    text.char_indices().map(|(end, _)| &text[end..]).chain([""]).any(|text| matches(rest, text))
}

/// Files of the corpus for sm_80 or less, and the kernels in them.
fn kernels() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in testing::corpus::files_below("corpus/ptx", "ptx") {
        let name = path.strip_prefix(corpus::folder()).unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let names = kernels_of(&text).into_iter();
        found.extend(names.map(|kernel| (name.replace('\\', "/"), kernel)));
    }
    found.sort();
    found
}

fn kernels_of(text: &str) -> Vec<String> {
    let target = text.lines().find_map(|line| line.strip_prefix(".target sm_")).unwrap();
    let digits = target.find(|c: char| !c.is_ascii_digit()).unwrap_or(target.len());
    if target[..digits].parse::<u32>().unwrap() > 80 {
        return Vec::new();
    }
    let name = |rest: &str| rest.trim().split('(').next().unwrap_or_default().trim().to_owned();
    text.lines().filter_map(|line| line.split_once(".entry ")).map(|(_, rest)| name(rest)).collect()
}

fn launches(entries: &[Entry]) -> Vec<Launch<'_>> {
    let kernels = kernels();
    let mut launches = Vec::new();
    for entry in entries {
        let wanted = |(file, kernel): &&(String, String)| {
            let matches = |pattern: &String| matches(pattern, file);
            entry.kernels.contains(kernel) && entry.patterns.iter().any(matches)
        };
        let found = kernels.iter().filter(wanted);
        launches.extend(found.map(|(file, kernel)| {
            let (file, kernel) = (file.clone(), kernel.clone());
            Launch { file, kernel, entry }
        }));
    }
    launches
}

/// Runs `work` for every launch, on all processors.
fn for_each(launches: &[Launch<'_>], work: impl Fn(&Launch<'_>, &Input) + Sync) {
    let mut files: BTreeMap<&str, Vec<&Launch<'_>>> = BTreeMap::new();
    launches.iter().for_each(|launch| files.entry(&launch.file).or_default().push(launch));
    let files: Vec<_> = files.into_iter().collect();
    let next = AtomicUsize::new(0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some((file, launches)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let input = corpus::input(file);
                    launches.iter().for_each(|launch| work(launch, &input));
                }
            });
        }
    });
}

#[test]
fn every_kernel_has_a_launch_and_every_entry_a_kernel() {
    let (kernels, entries) = (kernels(), entries());
    assert!(kernels.len() >= 257, "only {} kernels", kernels.len());
    let launches = launches(&entries);
    let launched: BTreeSet<_> = launches.iter().map(|l| (&l.file, &l.kernel)).collect();
    let forgotten: Vec<_> = kernels.iter().filter(|(f, k)| !launched.contains(&(f, k))).collect();
    assert!(forgotten.is_empty(), "no launch: {forgotten:?}");
    for entry in &entries {
        let own = || launches.iter().filter(|launch| std::ptr::eq(launch.entry, entry));
        let line = entry.line;
        for pattern in &entry.patterns {
            assert!(own().any(|l| matches(pattern, &l.file)), "line {line}: no {pattern}");
        }
        for kernel in &entry.kernels {
            assert!(own().any(|launch| launch.kernel == *kernel), "line {line}: no {kernel}");
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "what the runs cost is for people who ask")]
fn kernels_run_to_their_end_without_a_finding() {
    let entries = entries();
    let launches = launches(&entries);
    let costs = Mutex::new(BTreeMap::new());
    let wrong = Mutex::new(Vec::new());
    for_each(&launches, |launch, input| {
        let (name, flags) = (launch.name(), &launch.entry.flags);
        let outcome = flags.run(input, &launch.kernel, |execution| {
            check::run(execution, Options::default(), Colour::Plain)
        });
        let answer = format!("{}{}", outcome.messages, outcome.output);
        costs.lock().unwrap().insert(name.clone(), outcome.thread_instructions);
        if let Err(why) = compare(launch, &answer, outcome.exit) {
            wrong.lock().unwrap().push(format!("{name}: {why}\n{answer}"));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} launches:\n{}", wrong.len(), wrong.join("\n"));
    println!("{}", summary(&launches, &costs.into_inner().unwrap()));
}

/// The code for common cases must give the answer of the code for all cases.
#[test]
fn both_paths_of_the_interpreter_report_the_same() {
    let entries = entries();
    let sampled = launches(&entries).into_iter().enumerate();
    let sampled: Vec<_> = sampled.filter(|(at, _)| corpus::is_sampled(*at)).collect();
    let launches: Vec<_> = sampled.into_iter().map(|(_, launch)| launch).collect();
    let wrong = Mutex::new(Vec::new());
    for_each(&launches, |launch, input| {
        launch.entry.flags.run(input, &launch.kernel, |execution| {
            let check = |execution: &Execution<'_>| {
                check::run(execution, Options::default(), Colour::Plain)
            };
            corpus::by_both_paths(execution, check, |fast, general| {
                wrong.lock().unwrap().push(format!("{}:\n{fast}\n{general}", launch.name()));
            })
        });
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} launches:\n{}", wrong.len(), wrong.join("\n"));
}

/// Compares an answer with the entry's, and checks that everything unproved is explained there.
fn compare(launch: &Launch<'_>, answer: &str, exit: Exit) -> Result<(), String> {
    let entry = launch.entry;
    let wanted = match entry.answers.is_empty() {
        true => Exit::Success,
        false if entry.is(Kind::Refuted) => Exit::Refuted,
        false => Exit::Unknown,
    };
    if exit != wanted {
        return Err(format!("{exit:?} instead of {wanted:?}"));
    }
    if answer.contains(": the run stopped") != entry.is(Kind::Stops) {
        return Err("stops or does not".to_owned());
    }
    if let Some(missing) = entry.answers.iter().find(|said| !answer.contains(&said.text)) {
        return Err(format!("does not say `{}`", missing.text));
    }
    for property in ["unknown: alignment", "unknown: races", "unknown: determinism"] {
        let follows = entry.is(Kind::Stops) || entry.is(Kind::Refuted);
        if !follows && answer.contains(property) && !entry.explains(property) {
            return Err(format!("`{property}` is not explained"));
        }
    }
    Ok(())
}

#[test]
fn outcomes_do_not_depend_on_how_many_blocks_run_at_the_same_time() {
    let entries = entries();
    let launches = launches(&entries);
    for_each(&launches, |launch, input| {
        let name = launch.name();
        assert!(launch.entry.flags.same_for_all_jobs(input, Some(&launch.kernel)), "{name}");
    });
    for folder in ["sync", "memory"] {
        for path in testing::corpus::files_in(format!("corpus/{folder}"), "ptx") {
            let Ok(flags) = std::fs::read_to_string(path.with_extension("args")) else { continue };
            let input = Input::from_bytes("k.ptx", std::fs::read(&path).unwrap()).unwrap();
            let same = Flags::parse(&flags).same_for_all_jobs(&input, None);
            assert!(same, "{}", path.display());
        }
    }
}

/// The number of kernels that reach their end, reasons why launches stop or leave something open, and the cost of
/// each.
fn summary(launches: &[Launch<'_>], costs: &BTreeMap<String, u64>) -> String {
    let kernel = |launch: &Launch<'_>| (launch.file.clone(), launch.kernel.clone());
    let all: BTreeSet<_> = launches.iter().map(kernel).collect();
    let ended = launches.iter().filter(|launch| !launch.stops());
    let ended: BTreeSet<_> = ended.map(kernel).collect();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for launch in launches {
        for Answer { kind, why, .. } in &launch.entry.answers {
            let kind = match kind {
                Kind::Stops => "stop",
                Kind::Unknown => "leave something open",
                Kind::Refuted => "are wrong",
            };
            let may_stop = ended.contains(&kernel(launch)) || MAY_STOP.contains(&why.as_str());
            assert!(may_stop, "{} never comes to its end: {why}", launch.name());
            *reasons.entry(format!("{kind}: {why}")).or_default() += 1;
        }
    }
    let lines =
        costs.iter().map(|(name, cost)| format!("{cost:>10} thread instructions: {name}\n"));
    let reasons = reasons.iter().map(|(why, count)| format!("{count:>10} launches {why}\n"));
    let (all, ended, total) = (all.len(), ended.len(), costs.values().sum::<u64>());
    let dearest = costs.values().max().unwrap();
    let count = launches.len();
    lines.chain(reasons).collect::<String>()
        + &format!(
            "{ended} of {all} kernels come to their end; {count} launches cost {total} thread \
             instructions, at most {dearest} each"
        )
}

#[test]
fn with_one_element_less_there_is_a_finding() {
    let entries = entries();
    let mut launches = launches(&entries);
    launches.retain(|launch| !launch.stops() && !launch.entry.is(Kind::Refuted));
    let count = AtomicUsize::new(0);
    for_each(&launches, |launch, input| {
        for position in 0..launch.entry.flags.arguments.len() {
            let mut flags = launch.entry.flags.clone();
            let argument = &mut flags.arguments[position];
            let ArgumentValue::Tensor(tensor) = &mut argument.value else { continue };
            if NOT_READ.contains(&(&launch.kernel, &argument.name)) || !shorten(tensor) {
                continue;
            }
            let name = argument.name.clone();
            let outcome = flags.run(input, &launch.kernel, |execution| {
                check::run(execution, Options::default(), Colour::Plain)
            });
            let answer = format!("{}{}", outcome.messages, outcome.output);
            assert_eq!(outcome.exit, Exit::Refuted, "{}, `{name}`:\n{answer}", launch.name());
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(count.into_inner() > 500);
}

/// Removes the last element, or the last column if there are strides; never the only element.
fn shorten(tensor: &mut TensorSpec) -> bool {
    let count = tensor.elements().unwrap_or_default();
    if count < 2 {
        return false;
    }
    match (&mut tensor.shape, &tensor.strides) {
        (Some(shape), Some(_)) => *shape.last_mut().unwrap() -= 1,
        (shape, _) => *shape = Some(vec![count - 1]),
    }
    if let Some(Initial::List(numbers)) = &mut tensor.initial {
        numbers.pop();
    }
    true
}
