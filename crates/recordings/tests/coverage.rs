//! Checks that every instruction form of the catalogue is recorded or listed with a reason.

use ptx::isa::{self, Form, Lowering};

/// Prefixes of forms without a case, with the reason.
const UNCOVERED: &[(&str, &str)] = &[
    ("cvta", "addresses differ from run to run; every kernel here relies on it"),
    ("isspacep", "addresses differ from run to run"),
    ("ld.global{.cop}.nc", "reads like `ld.global`; undefined on memory the kernel writes"),
    ("prefetch", "no result"),
    ("discard", "no result that is defined"),
    ("@p bra", "control flow"),
    ("@p brx", "control flow"),
    ("call", "control flow"),
    ("ret", "control flow"),
    ("exit", "control flow"),
    ("trap", "control flow"),
    ("nanosleep", "no result"),
    ("pmevent", "no result"),
    ("brkpt", "stops the grid, as trap does"),
    ("bar", "a matter of waiting, probed by hand"),
    ("membar", "a matter of order between threads"),
    ("fence", "a matter of order between threads"),
    ("cp.async", "copies bytes; a matter of order"),
    ("cp.reduce", "recorded as kernels in crates/driver/tests/hopper"),
    (
        "tensormap",
        "fields are recorded as kernels in crates/driver/tests/hopper; copies are a matter of order",
    ),
    (
        "redux.sync.{min,max}{.abs}",
        "needs sm_100a; lowered to shuffles and extrema, which are recorded",
    ),
    ("wgmma", "recorded as kernels in crates/driver/tests/hopper"),
    ("mapa", "addresses differ from run to run"),
    ("getctarank", "needs a cluster, probed by hand"),
    ("st.async", "needs a cluster, probed by hand"),
    ("red.async", "needs a cluster, probed by hand"),
    ("griddepcontrol", "a matter of order between launches"),
    ("setmaxnreg", "no result"),
    ("createpolicy", "the manual does not say what a policy is"),
    ("applypriority", "no result"),
    ("mbarrier", "recorded as sequences in crates/driver/tests/hopper; states are opaque"),
];

/// Opcode and modifiers of the instructions of a case.
fn instructions(text: &str) -> Vec<Vec<&str>> {
    let text = text.trim_start_matches("{ ").trim_end_matches(" }");
    let instructions = text.split("; ").filter(|instruction| !instruction.starts_with(".reg"));
    let words = instructions.filter_map(|instruction| instruction.split(' ').next());
    words.map(|word| word.trim_end_matches(';').split('.').collect()).collect()
}

fn is_form_of(form: &Form, words: &[&str]) -> bool {
    let has = |name: &&str| words[1..].contains(name);
    form.opcode == words[0] && (form.when.is_empty() || form.when.iter().any(has))
}

#[test]
fn every_form_is_recorded_or_has_a_reason() {
    let mut covered = std::collections::BTreeSet::new();
    for case in recordings::cases() {
        for words in instructions(&case.text) {
            let form = isa::catalogue().find(|form| is_form_of(form, &words));
            covered.insert(form.unwrap_or_else(|| panic!("{case} has no form")).syntax);
        }
    }
    let lowered = isa::catalogue().filter(|form| matches!(form.lowering, Lowering::By(_)));
    let missing: Vec<&str> =
        lowered.map(|form| form.syntax).filter(|syntax| !covered.contains(syntax)).collect();
    for syntax in &missing {
        let excuse = UNCOVERED.iter().find(|(prefix, _)| syntax.starts_with(prefix));
        assert!(excuse.is_some(), "no case executes `{syntax}`");
    }
    for (prefix, _) in UNCOVERED {
        let used = missing.iter().any(|syntax| syntax.starts_with(prefix));
        assert!(used, "`{prefix}` is recorded, and still excused");
    }
    assert!(covered.len() >= 91, "{} forms are covered", covered.len());
}
