//! Proves one kernel, from options to report.

use super::answer::Report;
use super::contract::{Contracted, kernel_with_contract};
use super::detached::Deadline;
use super::limits::{cut_short, limit, not_in_time, on_deep_stack};
use super::options::Options;
use super::reading::Text;
use super::refused::{contradiction, not_read, refused};
use super::select::Refusal;
use super::{compare, document, findings, solver};
use crate::diagnostics::render;
use crate::{Colour, Exit, Input, Outcome, report};
use allsizes::Answer;
use deadline::within;
use std::time::Instant;

/// Proves the named kernel, or the only one.
#[must_use]
pub fn run(input: &Input, options: Options<'_>, colour: Colour) -> Outcome {
    on_deep_stack(|| match options.reading.text(input) {
        Ok(mut text) => {
            let colour = colour.for_input(text.input.texts());
            prove(&mut text, options, colour).escaped(colour)
        }
        Err(refused) => not_read(refused, "prove", &options, colour),
    })
}

/// Proves one kernel, and makes the report.
pub(super) fn prove(text: &mut Text, options: Options<'_>, colour: Colour) -> Outcome {
    let started = Instant::now();
    let read = within(limit(&options, started), || {
        kernel_with_contract(text, options.kernel, options.contract)
    });
    let (text, input) = (&*text, &text.input);
    let contracted = match read.result.unwrap_or_else(|| Err(not_in_time(&options))) {
        Ok(one) if options.strict => Contracted { kernel: one.kernel.for_every_launch(), ..one },
        Ok(one) => one,
        Err(Refusal::Usage(message)) => return Outcome::bad_input(&message),
        Err(Refusal::Read(diagnostic)) => {
            return refused(*diagnostic, input, "prove", &options, colour);
        }
    };
    let kernel = &contracted.kernel;
    let (found, no_solver) = match solver::start_solver(&options) {
        Ok(found) => found,
        Err(reason) => return Outcome::bad_input(&reason.to_string()),
    };
    let old_solver = found.as_ref().map(|solver| solver.version().to_owned());
    let old_solver = old_solver.filter(|version| solver::is_old(version));
    let how = allsizes::Options { infers: options.infers, suggests: true };
    let asked =
        compare::ComparisonRequest { source: &input.source, kernel, compiling: options.compiling };
    let deadline = Deadline::of(&options, started);
    let ((answer, found, stopped), compared) = compare::compare_beside(asked, deadline, || {
        let outcome = within(limit(&options, started), || allsizes::prove(kernel, found, how));
        let (answer, found) = outcome.result.unwrap_or_else(|| (Answer::given_up(kernel), None));
        (answer, found, outcome.is_cut)
    });
    if let Some(bug) = contradiction(&compared, kernel, (input, "prove"), colour) {
        return bug.rendered(options.format);
    }
    let no_solver = no_solver.as_ref();
    let old_solver = old_solver.as_deref();
    let second = found.as_ref().and_then(|solver| solver.second()).map(solver::second_solver_note);
    let stopped = stopped.then(|| cut_short(&options));
    if let Some(mistake) = contracted.mistake(&answer) {
        return refused(mistake, input, "prove", &options, colour);
    }
    let answer = &answer;
    let (compared, strict) = (&compared, options.strict);
    let reading_assumptions =
        text.assumed(options.reading).into_iter().chain(contracted.assumed.clone()).collect();
    let report = Report {
        input,
        kernel,
        answer,
        no_solver,
        old_solver,
        second,
        stopped,
        reading_assumptions,
        compared,
        strict,
    };
    if let Some((_, finding)) = &answer.contradiction {
        let shown = render(&findings::diagnostic(kernel, finding), input, colour);
        let messages = format!(
            "{shown}\nerror: this was proved impossible, but a run shows it. This is a bug in warpproof; \
            please report it with the file.\n"
        );
        return Outcome { messages, exit: Exit::Bug, ..Outcome::done(String::new()) };
    }
    let exit = report::exit(report.verdict());
    let text = report.text(colour);
    let report = Some(document::of_answer(&report, exit));
    let messages = compare::message(compared);
    Outcome { exit, report, messages, ..Outcome::done(text) }.rendered(options.format)
}
