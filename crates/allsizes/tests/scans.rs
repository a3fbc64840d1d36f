//! Scans of `corpus/param/scans`: their postconditions are proved for every size, with found or given invariants, and
//! no mutant is proved. Checks that need a solver run only if there is one.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use std::path::PathBuf;
use support::{kernel, solver};
use testing::corpus::names_in;

/// One test per file, so that they run side by side.
macro_rules! scans {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

scans! {
    blelloch blelloch_given blelloch_monoid brent_kung brent_kung_monoid kogge_stone kogge_stone_given kogge_stone_monoid reduce_distance reduce_halves reduce_monoid
}

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/param/scans")
}

fn read(name: &str, extension: &str) -> String {
    let path = folder().join(format!("{name}.{extension}"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A change and its expected outcome: `refuted PROPERTY`, or part of the message about the open obligation.
struct Mutant {
    said: String,
    from: String,
    to: String,
}

fn mutants(name: &str) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = Vec::new();
    for line in read(name, "expect").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = rest.replace("\\n", "\n");
        match (word, found.last_mut()) {
            ("mutant:", _) => {
                found.push(Mutant { said: text, from: String::new(), to: String::new() });
            }
            ("-", Some(last)) => last.from = text,
            ("+", Some(last)) => last.to = text,
            _ => panic!("{name}.expect: `{line}`"),
        }
    }
    found
}

fn answer(text: &str) -> Option<Answer> {
    let options = Options { infers: true, suggests: false };
    let answer = allsizes::prove(&kernel(text), Some(solver()?), options).0;
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    Some(answer)
}

fn with(answer: &Answer, verdict: Verdict) -> Vec<Property> {
    let found = answer.properties.iter().filter(|one| one.verdict == verdict);
    found.map(|one| one.property).collect()
}

fn check(name: &str) {
    let text = read(name, "cu");
    let mutants = mutants(name);
    assert!(mutants.len() >= 4, "{name} has too few mutants");
    for one in &mutants {
        assert_eq!(text.matches(&one.from).count(), 1, "`{}`", one.from);
    }
    let Some(own) = answer(&text) else { return };
    for one in &own.properties {
        assert_eq!(one.verdict, Verdict::Proved, "{:?}: {:?}", one.property, one.open);
    }
    assert!(with(&own, Verdict::Proved).contains(&Property::Postcondition));
    assert!(own.tested >= 3, "tested on {} launches", own.tested);
    let given = text.contains("loop invariant");
    assert_eq!(own.learnt.is_empty(), given, "{:?}", own.learnt);
    for one in &mutants {
        let Some(answer) = answer(&text.replace(&one.from, &one.to)) else { return };
        let open: Vec<String> = answer
            .properties
            .iter()
            .flat_map(|one| one.open.iter().map(|open| open.message.clone()))
            .collect();
        let refuted = with(&answer, Verdict::Refuted);
        let told = match one.said.strip_prefix("refuted ") {
            Some(property) => {
                refuted.iter().any(|one| format!("{one:?}").to_lowercase() == property)
            }
            None => open.iter().any(|message| message.contains(&one.said)),
        };
        assert!(told, "`{}` -> `{}`: refuted {refuted:?}, open {open:#?}", one.from, one.to);
    }
}

/// Invariants that are found can be pasted into the source. Then nothing is guessed any more and everything is
/// proved.
#[test]
fn inferred_invariants_can_be_pasted() {
    for name in NAMES.iter().filter(|name| !name.ends_with("_given")) {
        let text = read(name, "cu");
        let Some(own) = answer(&text) else { return };
        let mut places: Vec<(usize, String)> =
            own.learnt.iter().map(|(span, text)| (span.start as usize, text.clone())).collect();
        assert!(!places.is_empty(), "{name}");
        places.sort();
        let mut pasted = text.clone();
        for (place, clause) in places.iter().rev() {
            pasted.insert_str(*place, &format!("/*@ {clause} @*/\n"));
        }
        let Some(again) = answer(&pasted) else { return };
        for one in &again.properties {
            assert_eq!(one.verdict, Verdict::Proved, "{pasted}{:?}", one.open);
        }
        assert!(again.learnt.is_empty(), "{:?}", again.learnt);
    }
}

#[test]
fn every_file_is_tested() {
    assert_eq!(names_in(folder(), "cu"), NAMES);
}
