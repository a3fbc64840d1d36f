//! Random producer/consumer pipelines of 1 to 8 stages: those without a mistake are proved and equal to a plain sum,
//! those with one are refuted.
//!
//! Labels are by construction: a mistake is made only if some schedule shows it (`generate.rs`). `WARPPROOF_FULL`
//! draws more of them.

#[path = "../corpus/mod.rs"]
mod corpus;
mod emit;
mod generate;

use corpus::Flags;
use driver::{Colour, Exit, Input, check, equiv};
use generate::{MISTAKES, Mistake, Pipeline};
use std::collections::BTreeMap;
use testing::Random;

fn input(text: &str) -> Input {
    Input::from_bytes("pipeline.ptx", text.as_bytes().to_vec()).unwrap()
}

/// Checks the kernel of a pipeline.
fn checked(pipeline: &Pipeline) -> (Exit, String) {
    let input = input(&emit::kernel(pipeline));
    let flags = Flags::parse(&emit::flags(pipeline));
    let outcome = flags.run_only(&input, |execution| {
        check::run(execution, check::Options::default(), Colour::Plain)
    });
    (outcome.exit, outcome.output + &outcome.messages)
}

/// Compares the kernel of a pipeline with a plain sum.
fn compared(pipeline: &Pipeline) -> (Exit, String) {
    let (text, flags) = emit::reference(pipeline);
    let inputs = [input(&text), input(&emit::kernel(pipeline))];
    let flags = [Flags::parse(&flags), Flags::parse(&emit::flags(pipeline))];
    let outcome = flags[0].hand(&inputs[0], None, |reference| {
        flags[1].hand(&inputs[1], None, |optimised| {
            equiv::run([reference, optimised], &equiv::Options::default(), Colour::Plain)
        })
    });
    (outcome.exit, outcome.output + &outcome.messages)
}

fn told(what: &str, pipeline: &Pipeline, report: &str) -> String {
    format!("{what}: {pipeline:?}\n{}\n{}\n{report}", emit::flags(pipeline), emit::kernel(pipeline))
}

#[test]
fn pipelines_are_proved_and_spoiled_ones_are_refuted() {
    let count = if std::env::var_os("WARPPROOF_FULL").is_some() { 3000 } else { 150 };
    let mut random = Random::new(4127);
    let mut made: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..count {
        let pipeline = Pipeline::draw(&mut random);
        let (exit, report) = checked(&pipeline);
        assert_eq!(exit, Exit::Success, "{}", told("not proved", &pipeline, &report));
        let (exit, report) = compared(&pipeline);
        assert_eq!(exit, Exit::Success, "{}", told("not equal", &pipeline, &report));
        let mistake = random.pick(&MISTAKES);
        let Some(spoiled) = pipeline.with(mistake) else { continue };
        let (exit, report) = match mistake {
            Mistake::OtherTile => compared(&spoiled),
            _ => checked(&spoiled),
        };
        assert_eq!(exit, Exit::Refuted, "{}", told("not refuted", &spoiled, &report));
        *made.entry(format!("{mistake:?}")).or_default() += 1;
    }
    assert!(made.len() * 2 > MISTAKES.len(), "{made:?}");
}
