//! Writes the cases of some seeds into a folder: `cargo run -p metamorph --example cases -- FIRST END FOLDER`.
//!
//! Each case has a folder of its own, named by its seed, and a line in `cases.txt`:
//! `SEED QUESTION BASE LABEL MUTATION BREAKS TRANSFORMATIONS FILES`, separated by tabs.

#![allow(clippy::print_stderr, reason = "a tool for people")]

use metamorph::{Case, Effort, Label};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, end, folder] = arguments.as_slice() else {
        return Err("arguments: FIRST END FOLDER".into());
    };
    let (first, end): (u64, u64) = (first.parse()?, end.parse()?);
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    let (mut lines, mut wrong) = (String::new(), 0);
    for seed in first..end {
        match Case::draw(seed, Effort::default()) {
            Ok(case) => lines.push_str(&write(&case, folder)?),
            Err(error) => {
                wrong += 1;
                eprintln!("{error}");
            }
        }
    }
    std::fs::write(folder.join("cases.txt"), lines)?;
    if wrong > 0 {
        return Err(format!("{wrong} transformations changed the meaning").into());
    }
    Ok(())
}

fn write(case: &Case, folder: &Path) -> std::io::Result<String> {
    let case_folder = folder.join(case.seed.to_string());
    std::fs::create_dir_all(&case_folder)?;
    let mut names = Vec::new();
    for (name, text) in case.files() {
        std::fs::write(case_folder.join(name), text)?;
        names.push(format!("{}/{name}", case.seed));
    }
    let (label, mutation, fault) = match case.label {
        Label::Correct => ("correct", "-", "-"),
        Label::Broken { mutation, fault } => ("broken", mutation, fault.name()),
        Label::Discarded { mutation } => ("discarded", mutation, "-"),
    };
    let applied: Vec<String> =
        case.applied().map(|applied| format!("{}:{}", applied.group, applied.name)).collect();
    Ok(format!(
        "{}\t{}\t{}:{}\t{label}\t{mutation}\t{fault}\t{}\t{}\n",
        case.seed,
        case.question.name(),
        case.base.kind.name(),
        case.base.variant,
        applied.join(" "),
        names.join(" ")
    ))
}
