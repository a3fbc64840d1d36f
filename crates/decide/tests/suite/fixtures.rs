//! Reads fixtures: a script, its sizes, its expectation, and its pairs.

use decide::{Budget, Decision, Problem, decide};
use std::path::PathBuf;
use std::sync::Arc;
use term::text::{Scope, Script, Statement, parse_script, run};
use term::{Term, Terms};

pub(crate) struct Case {
    pub(crate) terms: Terms,
    pub(crate) assumptions: Vec<Term>,
    pub(crate) pairs: Vec<(Term, Term)>,
}

pub(crate) fn corpus() -> Vec<(String, Script)> {
    let files = testing::corpus::files_in("corpus/terms", "terms");
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        // A file may hold several fixtures, each after a line `--- name`.
        let mut result = Vec::new();
        for (index, part) in text.split("\n--- ").enumerate() {
            let (title, body) = if index == 0 {
                (String::new(), part)
            } else {
                let (title, body) = part.split_once('\n').expect("a title line");
                (title.trim().to_owned(), body)
            };
            let script = parse_script(body).unwrap_or_else(|e| panic!("{name} {title}: {e}"));
            if !script.sections.is_empty() {
                result.push((format!("{name}/{title}"), script));
            }
        }
        result
    };
    files.into_iter().flat_map(read).collect()
}

/// All combinations of the sizes.
pub(crate) fn sizes(script: &Script) -> Vec<Vec<(String, i64)>> {
    let mut all = vec![Vec::new()];
    for (name, values) in &script.sizes {
        all = all
            .iter()
            .flat_map(|prefix| {
                values.iter().map(move |value| {
                    let mut next = prefix.clone();
                    next.push((name.clone(), *value));
                    next
                })
            })
            .collect();
    }
    all
}

pub(crate) fn expectation(script: &Script) -> &str {
    let found = script.directives.iter().find(|(key, _)| key == "expect");
    &found.expect("an expect line").1
}

pub(crate) fn section<'a>(script: &'a Script, name: &str) -> &'a [Statement] {
    &script.sections.iter().find(|section| section.name == name).expect("a section").body
}

/// The pairs for given sizes, the optimised side possibly replaced.
pub(crate) fn case(
    script: &Script,
    sizes: &[(String, i64)],
    optimised: &[Statement],
) -> Result<Case, term::text::Error> {
    let (mut scope, inputs) = Scope::declare(script, sizes)?;
    let mut terms = Terms::new(Arc::new(inputs));
    let mut assumptions = Vec::new();
    for assumption in &script.assumptions {
        assumptions.push(scope.term(&mut terms, assumption)?);
    }
    let reference = run(&scope, &mut terms, section(script, "reference"))?;
    let optimised = run(&scope, &mut terms, optimised)?;
    if reference.len() != optimised.len() {
        let message = "both sides must have the same number of results".to_owned();
        return Err(term::text::Error { line: 0, message });
    }
    let pairs = reference.into_iter().zip(optimised).collect();
    Ok(Case { terms, assumptions, pairs })
}

pub(crate) fn answers(case: &Case, budget: &Budget) -> Vec<Decision> {
    let problem =
        Problem { reference: &case.terms, optimised: &case.terms, assumptions: &case.assumptions };
    decide(&problem, &case.pairs, budget)
}
