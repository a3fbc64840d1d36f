//! Cases of many seeds: labels hold, texts are reproducible, every transformation occurs, mutants are found.

use metamorph::bases::{Base, BaseKind};
use metamorph::check::Fault;
use metamorph::{Case, Effort, Label, Question, chain};
use std::collections::{BTreeMap, BTreeSet};
use testing::Random;

const EFFORT: Effort = Effort { correct: 60, mutant: 300 };

fn cases(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let draw = |seed| Case::draw(seed, EFFORT).unwrap_or_else(|error| panic!("{error}"));
    seeds.map(draw).collect()
}

/// A transformation that changes the meaning fails here, with its seed.
#[test]
fn transformations_keep_the_meaning() {
    let cases = cases(0..300);
    for kind in BaseKind::ALL {
        assert!(cases.iter().any(|case| case.base.kind == kind), "{}", kind.name());
    }
    for question in [Question::Safety, Question::Contract, Question::Pair] {
        let count = cases.iter().filter(|case| case.question == question).count();
        assert!(count > 60, "{}: {count}", question.name());
    }
}

#[test]
fn mutants_are_found() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut broken, mut discarded) = (0, 0);
    for case in cases(300..700) {
        match case.label {
            Label::Correct => {}
            Label::Broken { fault, .. } => {
                broken += 1;
                *counts.entry(fault.name()).or_default() += 1;
                assert!(case.question != Question::Safety || fault.is_unsafe(), "{}", case.seed);
            }
            Label::Discarded { .. } => discarded += 1,
        }
    }
    assert!(broken > 100 && discarded < broken / 5, "{broken} broken, {discarded} discarded");
    for fault in [Fault::Race, Fault::Bounds, Fault::Barrier, Fault::Value, Fault::Uninitialised] {
        assert!(counts.contains_key(fault.name()), "{}: {counts:?}", fault.name());
    }
}

#[test]
fn a_case_is_a_function_of_its_seed() {
    for seed in 1_000..1_040 {
        let [one, other] = [(); 2].map(|()| cases(seed..seed + 1).remove(0));
        assert_eq!(one.files(), other.files());
        assert_eq!(one.label, other.label);
    }
}

/// Every transformation of the list is drawn.
#[test]
fn every_transformation_occurs() {
    let mut names = BTreeSet::new();
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let base = Base::draw(&mut random);
        let kernel = chain::draw(&base, "k", &mut random, chain::Dropped::default());
        names.extend(kernel.applied.iter().map(|applied| (applied.group, applied.name)));
    }
    let missing: Vec<_> =
        chain::TRANSFORMATIONS.iter().filter(|listed| !names.contains(*listed)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
    let unlisted: Vec<_> =
        names.iter().filter(|name| !chain::TRANSFORMATIONS.contains(name)).collect();
    assert!(unlisted.is_empty(), "not listed: {unlisted:?}");
}

/// Without any step, a case is its base kernel in the plainest form.
#[test]
fn steps_can_be_dropped() {
    for seed in 0..60 {
        let dropped = [chain::Dropped(u32::MAX); 2];
        let case =
            Case::draw_without(seed, EFFORT, dropped).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(case.applied().count(), 0, "{seed}");
        assert_eq!(case.base.variant, cases(seed..seed + 1)[0].base.variant);
    }
}
