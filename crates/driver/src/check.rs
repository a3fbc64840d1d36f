//! `warpproof check`: memory errors, races and misused barriers of a kernel for one launch, for all
//! contents of its tensors.
//!
//! The run ignores values of tensors and float scalars. Control flow and addresses must not depend on them, with
//! three exceptions: branches inside functions of the math library, short branches (a lifted program has neither, see
//! [`lift`]), and branches with two sides that can both be followed ([`exec::check_conditional`]). Then the run covers
//! every access of every thread, and its results hold for all contents.
//!
//! One schedule is executed. If no access races and no barrier is misused, all other schedules do the same, so the
//! results hold for all of them.

use crate::allow::Allow;
use crate::arguments::{AssumeSpec, InputSpec, MissingData};
use crate::execute::{self, Execution, FinishedRun, PreparedLaunch, Refusal, is_race};
use crate::properties::{Property, properties};
use crate::report::{self, Report};
use crate::rerun::{self, RerunMethod};
use crate::verdict::Verdict;
use crate::vocabulary::{PropertyName, listed};
use crate::{Colour, Exit, Format, Outcome, graph, output};
use equiv::{Assumption, Side};
use exec::{Checks, StopReason, Undecided};
use ir::Scalar;
use std::path::Path;

/// Options of a check: strictness, and further outputs.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Report code that the manual does not allow as an error, even if current hardware tolerates it.
    pub strict: bool,
    /// Lanes of a warp that run together stay together.
    pub warp_synchronous: bool,
    /// The findings that are accepted without proof.
    pub allow: Allow,
    /// Where to write the graph of barriers.
    pub graph: Option<&'o Path>,
    /// The format of the results.
    pub format: Format,
    /// Keep the data for pictures of barriers.
    pub pictures: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            strict: false,
            warp_synchronous: false,
            allow: Allow::default(),
            graph: None,
            format: Format::Text,
            pictures: false,
        }
    }
}

/// Checks a kernel.
#[must_use]
pub fn run(execution: &Execution<'_>, options: Options<'_>, colour: Colour) -> Outcome {
    let colour = colour.for_input(execution.input.texts());
    check(execution, options, colour).escaped(colour)
}

fn check(execution: &Execution<'_>, options: Options<'_>, colour: Colour) -> Outcome {
    let Options { strict, warp_synchronous, allow, graph, format, pictures } = options;
    // Reports must not change findings: the same checks run for all formats, and uses of barriers are recorded
    // afterwards.
    let checks = Checks { lock_step: warp_synchronous, barrier_uses: false };
    let mut finished = match execute::run(execution, "check", MissingData::Opaque, checks) {
        Ok(finished) => finished,
        Err(mut refusal) => {
            refusal.suggestion().into_iter().for_each(|line| add_flags(line, options));
            return refused_outcome(execution, &refusal, format, colour);
        }
    };
    finished = furthest_run(execution, finished, checks, strict);
    let adopted = match settle_equal_writes(execution, &finished, checks, strict) {
        Some(EqualWrites::BitForBit(settled)) => Some(settled),
        Some(EqualWrites::AsReals(settled)) if allow.float_order => Some(settled),
        Some(EqualWrites::AsReals(_)) => {
            finished.equal_as_reals = true;
            None
        }
        None => None,
    };
    if let Some(mut settled) = adopted {
        // The first run took the program as written and reached its end, so its coverage counts.
        settled.seen = Some(finished.coverage(&[]));
        finished = settled;
    }
    if finished.has_open_copies()
        && let Some(found) = compare_fragment_copies(execution)
    {
        finished.settle_copies(&found);
    }
    (finished.strict, finished.allow, finished.pictures) = (strict, allow, pictures);
    search_for_races(execution, &mut finished, checks);
    search_out_of_bounds(execution, &mut finished);
    if graph.is_some() || pictures {
        finished.gather_barrier_uses(execution.limits);
    }
    let report = report::check(&finished);
    let mut exit = report.exit;
    let (output, mut messages) = match report.render(format) {
        Some(output) => (output, String::new()),
        None => (text(&finished, report.unexecuted().pop(), colour), finished.notes()),
    };
    if let Err(message) = graph.map_or(Ok(()), |path| draw(path, &finished)) {
        messages.push_str(&format!("error: {message}\n"));
        exit = Exit::BadInput;
    }
    let thread_instructions = finished.result.lane_instructions;
    Outcome { output, messages, exit, thread_instructions, report: Some(report) }
}

/// Returns the run that gets furthest. There are five candidates: the given run; a run that encloses floats without
/// fixed bits; a run of the lifted program; both together; and a run that follows both sides of branches on data.
fn furthest_run<'r>(
    execution: &Execution<'r>,
    first: FinishedRun<'r>,
    checks: Checks,
    strict: bool,
) -> FinishedRun<'r> {
    let unfixed = first.result.unfixed;
    let stopped = first.result.gap.is_some();
    let open = !first.result.doubts.is_empty() || !first.result.undecided.is_empty();
    if first.errors().next().is_some() || !(stopped || unfixed && open) {
        return first;
    }
    let mut best = first;
    for (lifted, enclosed) in [(false, true), (true, false), (true, true)] {
        if enclosed && !unfixed || lifted && !stopped {
            continue;
        }
        let again = RerunMethod { lifted, enclosed, conditional: false };
        let Some(run) = rerun::run_again(execution, "check", checks, again) else { continue };
        match &run.result.gap {
            None => return run,
            // Prefer this run: its reason for the stop is more precise.
            Some(gap) if gap.stop == StopReason::NotFixed => best = run,
            // Prefer this run: it passed the place where the unlifted program stopped.
            Some(gap) if lifted && best.is_stopped_elsewhere(gap) => best = run,
            Some(_) => {}
        }
    }
    let is_open = |gap: &exec::Gap| gap.stop.is_not_followed() || gap.stop == StopReason::NotFixed;
    if best.result.gap.as_ref().is_some_and(is_open) {
        let again = RerunMethod { lifted: false, enclosed: false, conditional: true };
        let run = rerun::run_again(execution, "check", checks, again);
        match run.map(|run| (run.result.gap.as_ref().map(|gap| gap.stop), run)) {
            Some((None, run)) => return run,
            // Prefer this run: it took the branch, and has a reason for stopping later.
            Some((Some(StopReason::Conditional), run)) => best = run,
            _ => {}
        }
    }
    let best = run_with_tickets(execution, best, checks, strict);
    run_with_index_ranges(execution, best, checks)
}

/// Returns the run that gets furthest if blocks take tickets from a counter. It runs on terms, with each block in
/// turn as the last one.
fn run_with_tickets<'r>(
    execution: &Execution<'r>,
    best: FinishedRun<'r>,
    checks: Checks,
    strict: bool,
) -> FinishedRun<'r> {
    if best.result.gap.is_none() || !exec::may_take_tickets(best.program()) {
        return best;
    }
    if let Some(run) = run_with_tickets_bit_for_bit(execution, checks, strict) {
        return run;
    }
    for lifted in [false, true] {
        let prepared = execute::prepare(execution, &[], "check", MissingData::Opaque);
        let Ok(prepared) = prepared.map(PreparedLaunch::without_relations) else { break };
        let mut prepared = if lifted { prepared.lifted() } else { prepared };
        if lift::drops_code(prepared.program()) {
            break;
        }
        let Some((outcome, ranges)) = on_terms(execution, &prepared, checks, equiv::check_tickets)
        else {
            continue;
        };
        for range in ranges {
            prepared = prepared.assuming(&range);
        }
        let found = outcome.findings.iter().any(|finding| !finding.fault.is_note());
        if outcome.gap.is_none() || found || lifted {
            return prepared.finish(outcome, checks);
        }
    }
    best
}

/// Returns a run that completes if blocks take several tickets each, and gives the same bits for every order of them.
fn run_with_tickets_bit_for_bit<'r>(
    execution: &Execution<'r>,
    checks: Checks,
    strict: bool,
) -> Option<FinishedRun<'r>> {
    let prepared = execute::prepare(execution, &[], "check", MissingData::Opaque).ok()?;
    let mut prepared = prepared.without_relations();
    let settings = (execution.limits, checks);
    let found = equiv::check_bit_for_bit(prepared.program(), &prepared.built.launch, settings)?;
    // The manual fixes neither the fusion nor the order of sums inside a matrix instruction.
    if strict && (found.relies_on_alike_fusion || found.relies_on_repeatable_products) {
        return None;
    }
    if found.relies_on_alike_fusion {
        prepared = prepared.assuming(ALIKE_FUSION);
    }
    if found.relies_on_repeatable_products {
        prepared = prepared.assuming(REPEATABLE_PRODUCTS);
    }
    Some(prepared.finish(found.outcome, checks))
}

impl FinishedRun<'_> {
    /// Returns `true` if this run stopped, too, but at another place.
    fn is_stopped_elsewhere(&self, gap: &exec::Gap) -> bool {
        self.result.gap.as_ref().is_some_and(|own| own.place != gap.place)
    }
}

/// Returns the run that gets furthest if addresses are computed from integers of tensors. It runs on terms, with
/// such integers confined to the ranges stated with the arguments.
fn run_with_index_ranges<'r>(
    execution: &Execution<'r>,
    best: FinishedRun<'r>,
    checks: Checks,
) -> FinishedRun<'r> {
    let is_integer = |input: &InputSpec| matches!(input.element.scalar(), Scalar::Integer { .. });
    let is_open = |stop: StopReason| stop.is_not_followed() || stop == StopReason::Conditional;
    let stopped = best.result.gap.as_ref().filter(|gap| is_open(gap.stop));
    let Some(mut place) = stopped.map(|gap| gap.place) else { return best };
    if !best.built.inputs.iter().any(is_integer) {
        return best;
    }
    let mut furthest = best;
    for lifted in [false, true] {
        let prepared = execute::prepare(execution, &[], "check", MissingData::Opaque);
        let Ok(prepared) = prepared.map(PreparedLaunch::without_relations) else { break };
        let mut prepared = if lifted { prepared.lifted() } else { prepared };
        if lift::drops_code(prepared.program()) {
            break;
        }
        let ran = on_terms(execution, &prepared, checks, equiv::check_indexed);
        let Some((outcome, ranges)) = ran else { continue };
        // A run that stops at the same place may have a more precise reason.
        let knows_more = !ranges.is_empty() || is_access(prepared.program(), place);
        for range in ranges {
            prepared = prepared.assuming(&range);
        }
        let ended = outcome.gap.is_none();
        let found = outcome.findings.iter().any(|finding| !finding.fault.is_note());
        let stopped = outcome.gap.as_ref().map(|gap| gap.place);
        let is_same = stopped == Some(place) && knows_more && !lifted;
        let went_past =
            stopped != Some(place) && outcome.executed.iter().any(|(_, span)| *span == place.span);
        if ended || found || is_same || went_past {
            place = stopped.unwrap_or(place);
            furthest = prepared.finish(outcome, checks);
        }
        if ended || found {
            break;
        }
    }
    furthest
}

/// Returns `true` if the instruction at a place has an address operand.
fn is_access(program: &ir::Program, place: exec::Place) -> bool {
    let mut all = program.functions.iter().flat_map(ir::Function::instructions);
    all.any(|one| {
        let mut has_address = false;
        one.op.visit(&mut |access| has_address |= matches!(access, ir::Access::Address(_)));
        one.span == place.span && has_address
    })
}

/// A check of one kernel on terms.
type RunOnTerms = fn(&Side<'_>, &[Assumption], exec::Limits, Checks) -> Option<exec::Outcome>;

/// Checks on terms; also returns the ranges that the result depends on.
fn on_terms(
    execution: &Execution<'_>,
    prepared: &PreparedLaunch<'_>,
    checks: Checks,
    run: RunOnTerms,
) -> Option<(exec::Outcome, Vec<String>)> {
    let side = crate::equiv::single_side(execution, prepared).ok()?;
    let (ranges, assumptions) = ranges(prepared, &side)?;
    let outcome = run(&side, &assumptions, execution.limits, checks)?;
    Some((outcome, ranges))
}

/// The ranges stated with the arguments, as text and as assumptions.
fn ranges(
    prepared: &PreparedLaunch<'_>,
    side: &Side<'_>,
) -> Option<(Vec<String>, Vec<Assumption>)> {
    let ranges = crate::equiv::ranges(std::iter::once(prepared), [side, side]).ok()?;
    let assumption = |spec: &AssumeSpec| Assumption { condition: spec.condition.clone() };
    let texts = ranges.iter().map(ToString::to_string).collect();
    Some((texts, ranges.iter().map(assumption).collect()))
}

/// A run that proves that values written at the same time are equal.
enum EqualWrites<'r> {
    /// By value numbering.
    BitForBit(FinishedRun<'r>),
    /// As real numbers: any of several results may stay, and they differ in their last bits at most.
    AsReals(FinishedRun<'r>),
}

/// The assumption of value numbering about sums that may be fused with a product.
const ALIKE_FUSION: &str =
    "ptxas fuses a product and a sum in the same way wherever the instruction is executed";

/// The assumption of value numbering about sums inside matrix instructions, if several runs are compared.
const REPEATABLE_PRODUCTS: &str = "the bits of an element of a matrix product depend on its row, its column and its element of C alone";

/// Runs with values, and returns the run if it settles the open questions about equal writes.
fn settle_equal_writes<'r>(
    execution: &Execution<'r>,
    finished: &FinishedRun<'_>,
    checks: Checks,
    strict: bool,
) -> Option<EqualWrites<'r>> {
    let places = equiv::open_stores(&finished.result);
    if places.is_empty() || finished.result.gap.is_some() {
        return None;
    }
    let prepare = || execute::prepare(execution, &[], "check", MissingData::Opaque).ok();
    for lifted in [false, true] {
        let prepared = if lifted { prepare()?.lifted() } else { prepare()? };
        if lift::drops_code(prepared.program()) {
            return None;
        }
        if lifted && prepared.is_unchanged_by_lifting() {
            break;
        }
        let (program, launch) = (prepared.program(), &prepared.built.launch);
        let places = places.iter().copied();
        let exec::NumberedOutcome { outcome, relies_on_alike_fusion } =
            exec::check_numbered(program, launch, execution.limits, checks, places);
        let settles = outcome.gap.is_none() && equiv::open_stores(&outcome).is_empty();
        if settles && !(relies_on_alike_fusion && strict) {
            let prepared = match relies_on_alike_fusion {
                true => prepared.assuming(ALIKE_FUSION),
                false => prepared,
            };
            return Some(EqualWrites::BitForBit(prepared.finish(outcome, checks)));
        }
    }
    let mut prepared = prepare()?.lifted();
    let side = crate::equiv::single_side(execution, &prepared).ok()?;
    let (ranges, assumptions) = ranges(&prepared, &side)?;
    let how = (execution.limits, checks);
    let outcome = equiv::settle(&side, &assumptions, how, &finished.result)?;
    for range in ranges {
        prepared = prepared.assuming(&range);
    }
    if outcome.findings.iter().any(|finding| is_race(&finding.fault)) {
        // The values differ as real numbers: the outcome has the race, so no allowance excuses it.
        return Some(EqualWrites::BitForBit(prepared.finish(outcome, checks)));
    }
    let real = "float-order: the values that threads write at the same time are equal up to the order of \
        float additions (--allow float-order)";
    Some(EqualWrites::AsReals(prepared.assuming(real).finish(outcome, checks)))
}

/// Searches for tensor contents on which conditional accesses race, if races are undecided.
fn search_for_races(execution: &Execution<'_>, finished: &mut FinishedRun<'_>, checks: Checks) {
    let mut open = finished.result.undecided.iter();
    let is_open = open.any(Undecided::depends_on_contents) && finished.result.gap.is_none();
    if !is_open || checks.lock_step || finished.errors().next().is_some() {
        return;
    }
    let prepared = execute::prepare(execution, &[], "check", MissingData::Opaque);
    let Ok(prepared) = prepared.map(PreparedLaunch::without_relations) else { return };
    let Ok(side) = crate::equiv::single_side(execution, &prepared) else { return };
    let Some((_, assumptions)) = ranges(&prepared, &side) else { return };
    let open = &finished.result.undecided;
    if let Some((number, race)) = equiv::show_race(&side, &assumptions, execution.limits, open) {
        finished.result.undecided.remove(number);
        finished.result.findings.push(race);
    }
}

/// Searches for tensor contents for which an access is out of bounds, if the run stopped because it depends on data. All
/// integers must have stated ranges: others may be indices that the caller keeps in bounds.
fn search_out_of_bounds(execution: &Execution<'_>, finished: &mut FinishedRun<'_>) {
    let stop = finished.result.gap.as_ref().map(|gap| gap.stop);
    let is_open =
        stop.is_some_and(|stop| stop.is_not_followed() || stop == StopReason::Conditional);
    let is_integer = |input: &&InputSpec| matches!(input.element.scalar(), Scalar::Integer { .. });
    let mut integers = finished.built.inputs.iter().filter(is_integer).peekable();
    if !is_open || integers.peek().is_none() || integers.any(|input| input.range.is_none()) {
        return;
    }
    if finished.errors().next().is_some() {
        return;
    }
    let prepared = execute::prepare(execution, &[], "check", MissingData::Opaque);
    let Ok(prepared) = prepared.map(PreparedLaunch::without_relations) else { return };
    let Ok(side) = crate::equiv::single_side(execution, &prepared) else { return };
    let Some((_, assumptions)) = ranges(&prepared, &side) else { return };
    if let Some(found) = equiv::show_out_of_bounds(&side, &assumptions, execution.limits) {
        finished.result.findings.push(found);
    }
}

/// Runs on terms to compare the copies of one element in registers of matrix fragments. Returns the open doubts.
fn compare_fragment_copies(execution: &Execution<'_>) -> Option<Vec<exec::Doubt>> {
    let prepared = execute::prepare(execution, &[], "check", MissingData::Opaque).ok()?.lifted();
    if lift::drops_code(prepared.program()) {
        return None;
    }
    let side = crate::equiv::single_side(execution, &prepared).ok()?;
    equiv::doubtful_copies(&side, execution.limits)
}

/// Adds the flags for strictness to a command line.
fn add_flags(line: &mut String, options: Options<'_>) {
    line.push_str(if options.strict { " --strict" } else { "" });
    line.push_str(if options.warp_synchronous { " --warp-synchronous" } else { "" });
    options.allow.names().for_each(|name| line.push_str(&format!(" --allow {name}")));
}

/// The outcome when there was no run.
fn refused_outcome(
    execution: &Execution<'_>,
    refusal: &Refusal,
    format: Format,
    colour: Colour,
) -> Outcome {
    let report: Report = report::refusal("check", execution, refusal);
    let mut outcome = refusal.outcome(execution.input, colour);
    if let Some(output) = report.render(format) {
        (outcome.output, outcome.messages) = (output, String::new());
    }
    Outcome { report: Some(report), ..outcome }
}

/// Writes the graph of barriers.
fn draw(path: &Path, finished: &FinishedRun<'_>) -> Result<(), output::WriteError> {
    let text = (finished.program(), finished.source());
    output::write(path, &graph::render(&finished.result, &finished.pipelines(), text))
}

/// Formats findings, then the verdict of each property, then assumptions.
fn text(finished: &FinishedRun<'_>, unexecuted: Option<String>, colour: Colour) -> String {
    let mut text = finished.messages(colour);
    let properties = properties(finished);
    let with = |verdict: Verdict| properties.iter().filter(move |one| one.verdict == verdict);
    let names = |verdict: Verdict| listed(with(verdict).map(|one| one.name));
    let [proved, refuted, open] =
        [Verdict::Proved, Verdict::Refuted, Verdict::Unknown].map(|one| one.painted(colour));
    let of_proved = names(Verdict::Proved);
    if !of_proved.is_empty() {
        text.push_str(&format!("{proved} ({}): {of_proved}\n", finished.blocks()));
    }
    let of_refuted = names(Verdict::Refuted);
    if !of_refuted.is_empty() {
        text.push_str(&format!("{refuted}: {of_refuted}\n"));
    }
    for (reason, names) in reasons_of_unknown(with(Verdict::Unknown)) {
        text.push_str(&format!("{open}: {}: {reason}\n", listed(names)));
    }
    for assumption in finished.assumptions() {
        text.push_str(&format!("assumed: {assumption}\n"));
    }
    text.extend(unexecuted.map(|note| format!("note: {note}\n")));
    text
}

/// Reasons, each with the properties it concerns.
fn reasons_of_unknown<'p>(
    properties: impl Iterator<Item = &'p Property>,
) -> Vec<(&'p str, Vec<PropertyName>)> {
    let mut reasons: Vec<(&str, Vec<PropertyName>)> = Vec::new();
    for property in properties {
        for reason in &property.reasons {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(property.name),
                None => reasons.push((reason, vec![property.name])),
            }
        }
    }
    reasons
}
