//! Files beside a command's output: an HTML report, and the result in other formats.

use crate::console::Console;
use crate::proof_args::OutputArgs;
use driver::report::Report;
use driver::{Exit, Outcome, escape};

/// Writes the files that are wanted beside the output.
pub(crate) fn with_files(
    outcome: Outcome,
    command: &'static str,
    wanted: &OutputArgs,
    console: &Console,
) -> Outcome {
    let reports: Vec<Report> = outcome.report.iter().cloned().collect();
    with_files_of(outcome, (command, &reports), wanted, console)
}

/// Like [`with_files`], of several reports.
pub(crate) fn with_files_of(
    mut outcome: Outcome,
    (command, reports): (&'static str, &[Report]),
    wanted: &OutputArgs,
    console: &Console,
) -> Outcome {
    let page = wanted.report.as_deref().filter(|_| !reports.is_empty());
    let page = page.map(|path| {
        let head = console.page_head()?;
        driver::render::write_html(path, reports, &head).map_err(|error| error.to_string())
    });
    let others = wanted.also.iter().map(|(format, path)| {
        let written = driver::render::write_reports(path, command, reports, (*format).into());
        written.map_err(|error| error.to_string())
    });
    for error in page.into_iter().chain(others).filter_map(Result::err) {
        console.write_err(&format!("error: {}\n", escape::plain(&error)));
        outcome.exit = Exit::BadInput;
    }
    outcome
}
