//! The support matrix: which instruction forms each engine takes.
//!
//! `docs/instructions.md` is this text; a test keeps the two equal.

use ptx::isa::{FAMILIES, Family, Form, Lowering};
use std::fmt::Write;

/// The matrix as Markdown.
#[must_use]
pub fn matrix() -> String {
    let forms = FAMILIES.iter().flat_map(|family| family.forms);
    let (mut lowered, mut known) = (0, 0);
    for form in forms {
        known += 1;
        lowered += u32::from(is_lowered(form));
    }
    let mut page = format!(
        "# Supported instructions\n\n\
         Generated from the catalogue (`crates/ptx/src/isa`); do not edit. Rewrite it with\n\
         `SNAPSHOTS=overwrite cargo test -p driver --test support`.\n\n\
         Of {known} instruction forms of PTX ISA 9, {lowered} are lowered to the core program. A form that\n\
         is not is refused by name, at its line, and whatever depends on it is `unknown`. The other\n\
         columns say which commands take the form. `equiv` runs what `simulate` runs, on terms: what is not\n\
         followed there (SOUNDNESS.md) is `unknown` where it is used.\n"
    );
    // What works comes first.
    let works = |family: &&Family| family.forms.iter().any(is_lowered);
    let families = FAMILIES.iter().filter(works);
    for family in families.chain(FAMILIES.iter().filter(|family| !works(family))) {
        let _ = write!(
            page,
            "\n## {}\n\n| form | manual | lowered | check | simulate |\n|---|---|---|---|---|\n",
            capitalised(family.name)
        );
        for form in family.forms {
            let lowered = if is_lowered(form) { "yes" } else { "not yet" };
            let executed = if is_executed(form) { "yes" } else { "not yet" };
            let syntax = form.syntax.replace('|', "\\|");
            let section = form.section;
            let _ =
                writeln!(page, "| `{syntax}` | {section} | {lowered} | {executed} | {executed} |");
        }
    }
    page
}

fn is_lowered(form: &Form) -> bool {
    matches!(form.lowering, Lowering::By(_))
}

/// Whether the engine executes every operation of every example.
fn is_executed(form: &Form) -> bool {
    is_lowered(form)
        && form.examples.iter().all(|example| {
            let text = ptx::isa::example_module(example, "sm_90a");
            let parsed = ptx::syntax::parse(&text);
            let lowered = ptx::lower(&parsed.module);
            let functions = lowered.program.functions.iter();
            functions
                .flat_map(|f| f.instructions())
                .all(|instruction| exec::executes(&instruction.op))
        })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
