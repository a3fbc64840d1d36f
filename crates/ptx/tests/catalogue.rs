//! Every example of every catalogue entry lowers to the recorded operations.
//!
//! `SNAPSHOTS=overwrite cargo test -p ptx` rewrites the record after a deliberate change.

use ptx::isa::{self, Form, Lowering};
use std::fmt::Write;

/// The core operations of an example, one in a line.
fn lowered(example: &str) -> Result<String, String> {
    let text = isa::example_module(example, "sm_90a");
    let parsed = ptx::syntax::parse(&text);
    if !parsed.errors.is_empty() {
        return Err(format!("does not parse: {:?}", parsed.errors));
    }
    let lowered = ptx::lower(&parsed.module);
    if let Some(diagnostic) = lowered.diagnostics.first() {
        return Err(diagnostic.message.to_string());
    }
    let problems = ir::validate(&lowered.program);
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let function = lowered.program.functions.iter().find(|f| f.is_kernel).ok_or("no kernel")?;
    let text = ir::Printed { program: &lowered.program, function }.to_string();
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("    ")).collect();
    // The frame around the example: a jump to `Done`, and the return there.
    Ok(lines.strip_suffix(&["    jump b1", "    return"]).unwrap_or(&lines).join("\n"))
}

fn is_lowered(form: &&Form) -> bool {
    matches!(form.lowering, Lowering::By(_))
}

#[test]
fn every_example_lowers_to_the_recorded_operations() {
    let mut record = String::new();
    for form in isa::catalogue().filter(is_lowered) {
        assert!(!form.examples.is_empty(), "`{}` has no example", form.syntax);
        writeln!(record, "# {} ({})", form.syntax, form.section).unwrap();
        for example in form.examples {
            let operations = lowered(example).unwrap_or_else(|why| panic!("{example}\n{why}"));
            writeln!(record, "{example}\n{operations}").unwrap();
        }
    }
    snapbox::assert_data_eq!(record, snapbox::file!["catalogue.txt"]);
}

#[test]
fn unsupported_forms_are_refused_by_name() {
    for form in isa::catalogue().filter(|form| !is_lowered(form)) {
        for example in form.examples {
            let refusal = lowered(example).expect_err("should be refused");
            assert!(refusal.contains("not supported yet"), "{example}: {refusal}");
        }
    }
}

#[test]
fn an_unknown_modifier_is_never_dropped() {
    for form in isa::catalogue().filter(is_lowered) {
        for example in form.examples {
            let (before, after) = example.split_at(opcode_end(example, form.opcode));
            let changed = format!("{before}.frobnicate{after}");
            let outcome = lowered(&changed);
            assert!(outcome.is_err(), "`.frobnicate` was dropped: {changed}\n{outcome:?}");
        }
    }
}

/// Returns the position of the first modifier of the last instruction with this opcode.
fn opcode_end(example: &str, opcode: &str) -> usize {
    let starts = example.match_indices(opcode).map(|(start, _)| start);
    let is_opcode = |&start: &usize| {
        let before = example[..start].bytes().next_back();
        let after = example[start + opcode.len()..].bytes().next();
        matches!(before, None | Some(b' ')) && matches!(after, Some(b'.' | b' ' | b';'))
    };
    starts.filter(is_opcode).last().expect("an example shows its opcode") + opcode.len()
}
