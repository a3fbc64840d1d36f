//! The score as a page of the manual.

use crate::{Answer, Case, Counts, interval};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Cells with a lower share are explained, in percent.
const LOW: f64 = 75.0;
/// Cases that a cell needs to be explained.
const MIN_CASES: usize = 5;
/// Remarks that explain the measured numbers.
const NOTES: &str = include_str!("notes.md");

type Asked<'a> = [(&'a Case, &'a Answer)];

/// Writes what was measured of a commit.
pub(crate) fn page(asked: &Asked<'_>, commit: &str, limit: &str) -> String {
    let mut text = String::from("# Kernels that nobody wrote\n\n");
    introduce(&mut text, asked, commit, limit);
    questions(&mut text, asked);
    cells(&mut text, asked);
    low_cells(&mut text, asked);
    reasons(&mut text, asked);
    times(&mut text, asked);
    text.push('\n');
    text.push_str(NOTES);
    text
}

/// Appends to a text; that cannot fail.
fn push_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(line);
    text.push('\n');
}

fn introduce(text: &mut String, asked: &Asked<'_>, commit: &str, limit: &str) {
    let seeds = || asked.iter().filter_map(|(case, _)| case.seed.parse::<u64>().ok());
    let (first, last) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    text.push_str(
        "`prove` and `equiv --for-all-sizes` are measured on random kernels, so a rule made for one known kernel gains nothing. Each case is a \
         *base* kernel, rewritten by transformations that keep its meaning. Some cases also have one breaking mutation. So the right \
         verdict is known by construction; it was also checked on at least 300 launches. A *safety* question is about races and memory errors, a \
         *contract* question about a postcondition, and a *pair* question about the equality of two kernels.\n\n",
    );
    push_line(
        text,
        format_args!(
            "Measured: commit `{commit}`, {} cases, seeds {first} to {last}. The first seed is the first 64 bits of the hash of the commit's tree, so nobody \
             can have looked at these kernels before. Each question had {limit} s of processor time, no cache and one thread.\n",
            asked.len()
        ),
    );
    text.push_str("To repeat it:\n\n```text\n");
    push_line(
        text,
        format_args!(
            "cargo run --release -p metamorph --example cases -- {first} {} FOLDER\n\
             cargo run --release -p metamorph --example score -- target/release/warpproof FOLDER 2 --limit {limit}\n```\n",
            last.saturating_add(1)
        ),
    );
}

fn questions(text: &mut String, asked: &Asked<'_>) {
    text.push_str("## By question\n\n| question | kernels | cases | proved | refuted | unknown | right | 95 % interval |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for (name, correct) in [("correct", true), ("broken", false)] {
        for question in ["safety", "contract", "pair", ""] {
            let mut counts = Counts::default();
            let is_counted = |case: &Case| {
                case.correct == correct && (question.is_empty() || case.question == question)
            };
            asked
                .iter()
                .filter(|(case, _)| is_counted(case))
                .for_each(|(_, one)| counts.add(one.status));
            if counts.all == 0 {
                continue;
            }
            let good = counts.of(i32::from(!correct));
            let (low, high) = interval(good, counts.all);
            let question = if question.is_empty() { "all" } else { question };
            push_line(
                text,
                format_args!(
                    "| {question} | {name} | {} | {} | {} | {} | {:.0} % | {low:.0}–{high:.0} % |",
                    counts.all,
                    counts.of(0),
                    counts.of(1),
                    counts.of(3),
                    share(good, counts.all),
                ),
            );
        }
    }
    text.push_str(
        "\n*Correct* kernels should be proved, *broken* ones refuted. A proof of a broken kernel would be a bug of Warpproof, and so would a refutation \
         of a correct one.\n\n",
    );
}

fn share(good: usize, all: usize) -> f64 {
    100.0 * good as f64 / all.max(1) as f64
}

/// Correct cases by base kernel and group of transformations.
fn by_cell<'a>(asked: &Asked<'a>) -> BTreeMap<(String, String), Vec<&'a Answer>> {
    let mut cells: BTreeMap<(String, String), Vec<&Answer>> = BTreeMap::new();
    for (case, answer) in asked.iter().filter(|(case, _)| case.correct) {
        let base = case.base.split(':').next().unwrap_or_default();
        for group in &case.groups {
            cells.entry((base.to_owned(), group.clone())).or_default().push(*answer);
        }
    }
    cells
}

fn proved(answers: &[&Answer]) -> usize {
    answers.iter().filter(|answer| answer.status == 0).count()
}

fn cells(text: &mut String, asked: &Asked<'_>) {
    let cells = by_cell(asked);
    let mut groups: Vec<&String> = cells.keys().map(|(_, group)| group).collect();
    groups.sort();
    groups.dedup();
    let mut bases: Vec<&String> = cells.keys().map(|(base, _)| base).collect();
    bases.dedup();
    text.push_str("## Correct kernels by cell\n\nA cell shows how many cases are proved, of how many, for a base kernel and a group of transformations. A case with transformations of several groups counts in each of them. *launch* maps elements to threads and blocks in another way, *loops* changes the order and partition of iterations, *memory* stages data in shared memory, *reduction* lets the threads of a block share a sum and combine it in a tree, *surface* writes the same kernel in another notation.\n\n| base |");
    groups.iter().for_each(|group| text.push_str(&format!(" {group} |")));
    text.push_str("\n|---|");
    groups.iter().for_each(|_| text.push_str("---|"));
    text.push('\n');
    for base in bases {
        text.push_str(&format!("| {base} |"));
        for group in &groups {
            match cells.get(&(base.clone(), (*group).clone())) {
                Some(answers) => {
                    text.push_str(&format!(" {}/{} |", proved(answers), answers.len()));
                }
                None => text.push_str(" – |"),
            }
        }
        text.push('\n');
    }
    text.push('\n');
}

/// The cells with a low share, and what is open there.
fn low_cells(text: &mut String, asked: &Asked<'_>) {
    let cells = by_cell(asked);
    let mut found: Vec<_> = cells
        .iter()
        .filter(|(_, answers)| {
            answers.len() >= MIN_CASES && share(proved(answers), answers.len()) < LOW
        })
        .collect();
    found.sort_by(|(_, one), (_, other)| {
        share(proved(one), one.len()).total_cmp(&share(proved(other), other.len()))
    });
    text.push_str("## Low cells\n\n");
    if found.is_empty() {
        push_line(text, format_args!("No cell with {MIN_CASES} cases is below {LOW:.0} %.\n"));
        return;
    }
    push_line(
        text,
        format_args!(
            "Cells with at least {MIN_CASES} cases of which less than {LOW:.0} % are proved, the lowest first, with the most frequent reason and its number of cases.\n"
        ),
    );
    text.push_str("| base | group | proved | most frequent reason |\n|---|---|---|---|\n");
    for ((base, group), answers) in found {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for answer in answers.iter().filter(|answer| answer.status != 0) {
            *counts.entry(reason(answer)).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let (why, count) = most.unwrap_or(("", 0));
        push_line(
            text,
            format_args!(
                "| {base} | {group} | {}/{} | {} ({count}) |",
                proved(answers),
                answers.len(),
                cell_text(why)
            ),
        );
    }
    text.push('\n');
}

fn reason(answer: &Answer) -> &str {
    answer.reasons.first().map_or("no reason was given", String::as_str)
}

/// A reason in a table.
fn cell_text(reason: &str) -> String {
    let reason = reason.strip_prefix("unknown: ").unwrap_or(reason);
    reason.replace('|', "\\|").trim().to_owned()
}

fn reasons(text: &mut String, asked: &Asked<'_>) {
    text.push_str(
        "## Reasons for `unknown`\n\nIn a reason, `FILE`, `line N` and `…` replace names that differ from case to case.\n\n| kernels | cases | first reason |\n|---|---|---|\n",
    );
    for (name, correct) in [("correct", true), ("broken", false)] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let open = asked.iter().filter(|(case, one)| case.correct == correct && one.status == 3);
        open.for_each(|(_, answer)| *counts.entry(reason(answer)).or_default() += 1);
        let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in sorted.into_iter().take(12) {
            push_line(text, format_args!("| {name} | {count} | {} |", cell_text(reason)));
        }
    }
    text.push('\n');
}

fn times(text: &mut String, asked: &Asked<'_>) {
    let mut seconds: Vec<f64> = asked.iter().map(|(_, answer)| answer.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let Some(last) = seconds.len().checked_sub(1) else { return };
    let at = |share: f64| seconds[(last as f64 * share) as usize];
    push_line(
        text,
        format_args!(
            "## Times\n\nProcessor time of a question, that of the solver included: median {:.2} s, 95 % within {:.1} s, at most {:.1} s.",
            at(0.5),
            at(0.95),
            at(1.0)
        ),
    );
}
