//! The support matrix: the instruction forms that each engine supports.
//!
//! `docs/instructions.md` is the text of [`matrix`]; a test keeps the two equal.

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
         Of {known} instruction forms of PTX ISA 9, {lowered} are lowered: translated to the [core program](glossary.md) that is\n\
         executed. The others are refused by name, at their line, and whatever depends on them is `unknown`; the table says\n\
         why. The other columns show the commands that accept the form. `equiv` accepts the same forms as `simulate`, and runs\n\
         them on terms. If it does not follow an operation ([SOUNDNESS.md](../SOUNDNESS.md#equiv)), the result is `unknown`\n\
         where it is used.\n"
    );
    // Supported families come first.
    let works = |family: &&Family| family.forms.iter().any(is_lowered);
    let families = FAMILIES.iter().filter(works);
    for family in families.chain(FAMILIES.iter().filter(|family| !works(family))) {
        let _ = write!(
            page,
            "\n## {}\n\n| form | manual | lowered | check | simulate |\n|---|---|---|---|---|\n",
            capitalised(family.name)
        );
        for form in family.forms {
            let lowered = match is_lowered(form) {
                true => "yes".to_owned(),
                false => format!("no: {}", why_not(form)),
            };
            let executed = if is_executed(form) { "yes" } else { "no" };
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

/// Returns the reason why a form is not lowered.
fn why_not(form: &Form) -> &'static str {
    let has = |text: &str| form.syntax.contains(text);
    match form.opcode {
        "tcgen05" | "clusterlaunchcontrol" => "sm_100 and later ([Blackwell](blackwell.md))",
        "st" | "cvt" | "cp" | "ldmatrix" | "stmatrix" => "sm_100 and later",
        "mma" => "sm_120 and later",
        "multimem" => "memory of several devices, which a launch on one does not have",
        "fence" if has("async::generic") => {
            "orders accesses of a cluster through the async proxy one way; no compiler is known to emit it"
        }
        "fence" => "a fence for shared memory of a cluster alone; no compiler is known to emit it",
        "fma" => {
            "a NaN with certain bits means out of bounds there; no compiler is known to emit it"
        }
        "ldu" => "its cache is not kept coherent, and no compiler emits it since sm_70",
        "shfl" | "vote" => "removed for sm_70 and later",
        "stacksave" | "stackrestore" | "alloca" => {
            "a stack whose size is not known before the launch"
        }
        "tex" | "tld4" | "txq" | "istypep" | "suld" | "sust" | "sured" | "suq" => {
            "textures and surfaces are objects of the host, and sampling is not specified to the bit"
        }
        _ if form.section.starts_with("9.7.18") => {
            "video instructions: no compiler emits them for sm_70 and later"
        }
        _ => "not modelled",
    }
}

/// Returns `true` if the engine executes every operation of every example of a form.
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
