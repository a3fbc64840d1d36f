//! Makes reports from runs.

use super::finding::{
    Overflowing, different, findings, input_error, overflowing, stopped, without_place,
};
use super::seen::of_launches;
use super::{
    HeatMap, KernelName, LaunchStats, PageData, ProofFact, Property, PtxText, Report, SCHEMA,
    SourceText, Stats, page_facts,
};
use crate::demangle::demangle;
use crate::execute::{Execution, FinishedRun, Refusal};
use crate::paths::relative;
use crate::properties;
use crate::verdict::Verdict;
use crate::vocabulary::{FindingKind, PropertyName};
use crate::{Exit, graph};
use base::Code;

/// The part of a report that a comparison adds to its two runs.
pub(crate) struct Comparison<'c> {
    /// The verdict on the outputs alone.
    pub(crate) verdict: Verdict,
    /// The reason, if the verdict is unknown.
    pub(crate) reason: Option<String>,
    /// A difference, and the element's name for readers.
    pub(crate) difference: Option<(&'c equiv::Difference, String)>,
    /// The likely cause of a very small difference.
    pub(crate) likely_cause: Option<String>,
    /// Assumptions of the comparison and both runs.
    pub(crate) assumptions: Vec<String>,
    /// Other places where they differ.
    pub(crate) heat: Option<HeatMap>,
    /// Places where the optimised kernel computes in fewer bits.
    pub(crate) precision: Vec<String>,
    /// Inputs on which its floats overflow.
    pub(crate) overflow: Option<Overflowing>,
    /// The method that proved equality, if any.
    pub(crate) proof: Vec<ProofFact>,
}

/// The report of a check.
pub(crate) fn check(finished: &FinishedRun<'_>) -> Report {
    let properties = of_properties(finished, None);
    let verdict = Verdict::of_all(properties.iter().map(|property| property.verdict));
    let (findings, open) = findings(finished, None);
    let mut report = Report {
        schema: SCHEMA,
        command: "check",
        name: None,
        file: finished.input().name().to_owned(),
        kernel: Some(kernel(finished)),
        reference: None,
        verdict,
        properties,
        findings,
        open,
        stopped: finished.stopped().map(|diagnostic| stopped(finished, diagnostic)),
        assumptions: finished.assumptions(),
        from_kernel: finished.changed(),
        notes: finished.built.notes.clone(),
        precision: Vec::new(),
        stats: stats(finished),
        coverage: of_launches(&[finished]),
        compared: None,
        exit: exit(verdict),
        sources: Vec::new(),
        barriers: graph::data(&finished.result.barrier_uses, finished.program(), finished.source()),
        heat: None,
        accepts_unknown: false,
        page: PageData::default(),
        pipelines: finished.pipelines(),
    };
    report.page = page_facts::of_check(finished, is_settled(&report.properties));
    report.sources = sources(finished, &report, None);
    report
}

/// Returns `true` if the results of the one schedule that ran hold for all.
fn is_settled(properties: &[Property]) -> bool {
    let orders = [PropertyName::Races, PropertyName::Barriers];
    let is_proved = |name: &PropertyName| {
        properties
            .iter()
            .any(|property| property.name == *name && property.verdict == Verdict::Proved)
    };
    orders.iter().all(is_proved)
}

/// The report of a comparison: that of the optimised side's last launch, with data of the others added.
pub(crate) fn equiv(sides: &[Vec<FinishedRun<'_>>; 2], comparison: Comparison<'_>) -> Report {
    let names = ["reference", "optimised"];
    let launches = || {
        let named = sides.iter().zip(names);
        named.flat_map(|(side, name)| side.iter().map(move |launch| (launch, name)))
    };
    let mut report = match sides[1].last().or(sides[0].last()) {
        Some(last) => check(last),
        None => empty_report("equiv", String::new(), None),
    };
    report.command = "equiv";
    report.reference = sides[0].last().map(|reference| KernelName {
        file: reference.input().name().to_owned(),
        kernel: (!reference.is_formula).then(|| kernel(reference)),
        coverage: of_launches(&sides[0].iter().collect::<Vec<_>>()),
        compared: None,
    });
    report.coverage = of_launches(&sides[1].iter().collect::<Vec<_>>());
    report.properties = compared_properties(&comparison);
    (report.findings, report.open, report.notes) = Default::default();
    (report.stopped, report.precision) = (None, comparison.precision);
    report.findings.extend(comparison.difference.map(|(difference, element)| {
        different(sides, difference, &element, comparison.likely_cause)
    }));
    report.findings.extend(comparison.overflow.map(overflowing));
    for (side, name) in sides.iter().zip(names) {
        report.properties.extend(of_side(side, name));
    }
    for (launch, name) in launches() {
        let (found, open) = findings(launch, Some(name));
        report.findings.extend(found);
        report.open.extend(open);
        report.notes.extend(launch.built.notes.iter().map(|note| format!("{name}: {note}")));
        let mut stop = launch.stopped().map(|diagnostic| stopped(launch, diagnostic));
        stop.iter_mut().for_each(|stop| stop.location.side = Some(name));
        report.stopped = report.stopped.or(stop);
    }
    let stats_of = |(launch, side): (&FinishedRun<'_>, &'static str)| LaunchStats {
        side,
        kernel: kernel(launch),
        stats: stats(launch),
    };
    add_launch_stats(&mut report.stats, launches().map(stats_of).collect());
    report.assumptions = comparison.assumptions;
    report.from_kernel = sides[1].iter().flat_map(FinishedRun::changed).collect();
    report.page = PageData {
        launches: page_facts::launches(launches()),
        proof: comparison.proof,
        ptx: page_facts::all_ptx(launches()),
    };
    let mut texts: Vec<SourceText> = Vec::new();
    for text in launches().flat_map(|(launch, name)| sources(launch, &report, Some(name))) {
        if !texts.iter().any(|one| (&one.path, one.side) == (&text.path, text.side)) {
            texts.push(text);
        }
    }
    report.sources = texts;
    report.heat = comparison.heat;
    report.verdict = Verdict::of_all(report.properties.iter().map(|property| property.verdict));
    report.exit = exit(report.verdict);
    report
}

/// The properties of a comparison itself: equivalence, and overflow if it is an error.
fn compared_properties(comparison: &Comparison<'_>) -> Vec<Property> {
    let property = |name, verdict, reasons| Property { name, verdict, reasons, side: None };
    let reasons = match comparison.verdict {
        Verdict::Unknown => comparison.reason.iter().cloned().collect(),
        Verdict::Proved | Verdict::Refuted => Vec::new(),
    };
    let overflows = comparison.overflow.as_ref().is_some_and(|found| found.is_error);
    std::iter::once(property(PropertyName::Equivalence, comparison.verdict, reasons))
        .chain(overflows.then(|| property(PropertyName::Overflow, Verdict::Refuted, Vec::new())))
        .collect()
}

/// Adds the costs of all launches, and their sums.
fn add_launch_stats(stats: &mut Stats, launches: Vec<LaunchStats>) {
    let sum = |of: fn(&Stats) -> u64| launches.iter().map(|launch| of(&launch.stats)).sum();
    stats.thread_instructions = sum(|stats| stats.thread_instructions);
    stats.block_syncs = sum(|stats| stats.block_syncs);
    stats.warp_syncs = sum(|stats| stats.warp_syncs);
    stats.launches = launches;
}

/// The joint verdicts on the launches of a side.
fn of_side(side: &[FinishedRun<'_>], name: &'static str) -> Vec<Property> {
    let mut all: Vec<Property> = Vec::new();
    let properties_of_launch = |launch: &FinishedRun<'_>| {
        // For a formula, only errors and open questions are reported.
        let mut properties = of_properties(launch, Some(name));
        properties.retain(|property| !launch.is_formula || property.verdict != Verdict::Proved);
        properties
    };
    for property in side.iter().flat_map(properties_of_launch) {
        match all.iter_mut().find(|one| one.name == property.name) {
            Some(one) => {
                one.verdict = Verdict::of_all([one.verdict, property.verdict].into_iter());
                one.reasons.extend(property.reasons);
            }
            None => all.push(property),
        }
    }
    all
}

/// A report with the reason why there was no run.
pub(crate) fn refusal(
    command: &'static str,
    execution: &Execution<'_>,
    refusal: &Refusal,
) -> Report {
    let mut report = bad_input_report(command, execution);
    match refusal {
        Refusal::Module(errors) => {
            report.findings =
                errors.iter().map(|error| input_error(error, execution.input)).collect();
        }
        Refusal::Launch(error) => {
            let input = error.input.iter();
            let input = input.map(|m| {
                without_place(
                    Code::Arguments,
                    FindingKind::InputError,
                    PropertyName::Input,
                    m.clone(),
                )
            });
            let launch = error.launch.iter();
            let launch = launch.map(|m| {
                without_place(Code::Launch, FindingKind::Launch, PropertyName::Launch, m.clone())
            });
            report.findings = input.chain(launch).collect();
            report.notes = error.suggestion.iter().cloned().collect();
            if error.input.is_empty() {
                (report.verdict, report.exit) = (Verdict::Refuted, Exit::Refuted);
            }
        }
    }
    report
}

/// A report of input that could not be read.
pub(crate) fn unreadable(command: &'static str, file: &str, message: &str) -> Report {
    let finding = without_place(
        Code::Arguments,
        FindingKind::InputError,
        PropertyName::Input,
        message.to_owned(),
    );
    Report { findings: vec![finding], ..empty_report(command, file.to_owned(), None) }
}

/// Bad input, as yet without a reason.
fn bad_input_report(command: &'static str, execution: &Execution<'_>) -> Report {
    let kernel = execution.kernel.map(str::to_owned);
    empty_report(command, execution.input.name().to_owned(), kernel)
}

pub(crate) fn empty_report(command: &'static str, file: String, kernel: Option<String>) -> Report {
    Report {
        schema: SCHEMA,
        command,
        name: None,
        file,
        kernel,
        reference: None,
        verdict: Verdict::Unknown,
        properties: Vec::new(),
        findings: Vec::new(),
        open: Vec::new(),
        stopped: None,
        assumptions: Vec::new(),
        from_kernel: Vec::new(),
        notes: Vec::new(),
        precision: Vec::new(),
        stats: Stats::default(),
        coverage: None,
        compared: None,
        exit: Exit::BadInput,
        sources: Vec::new(),
        barriers: None,
        heat: None,
        accepts_unknown: false,
        page: PageData::default(),
        pipelines: Vec::new(),
    }
}

/// The exit status for a verdict.
pub(crate) fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Refuted => Exit::Refuted,
        Verdict::Unknown => Exit::Unknown,
        Verdict::Proved => Exit::Success,
    }
}

/// Returns the files in which findings are shown; without findings the main source, or the PTX if no source can be
/// read.
fn sources(
    finished: &FinishedRun<'_>,
    report: &Report,
    side: Option<&'static str>,
) -> Vec<SourceText> {
    let input = finished.input();
    let known = finished.program().files.iter().filter_map(|file| input.source_file(file));
    let mut all: Vec<SourceText> = known
        .map(|file| SourceText { path: relative(file.name()), text: file.text().to_owned(), side })
        .collect();
    let ptx = relative(input.source.name());
    let findings = report.findings.iter().chain(&report.open);
    let locations = findings.flat_map(|finding| &finding.locations).filter(|one| one.side == side);
    let stopped = report.stopped.iter().map(|stopped| &stopped.location);
    let stopped = stopped.filter(|one| one.side == side);
    let shown: Vec<&str> =
        locations.chain(stopped).map(|location| location.shown.path.as_str()).collect();
    if all.is_empty() || shown.contains(&ptx.as_str()) {
        all.push(SourceText { path: ptx.clone(), text: input.source.text().to_owned(), side });
    }
    let any = all.iter().any(|one| shown.contains(&one.path.as_str()));
    match any {
        true => all.retain(|one| shown.contains(&one.path.as_str())),
        false => {
            // The file that most instructions are from; a library's only if there is no other.
            let main = report.page.ptx.iter().find(|one| one.side == side && one.path == ptx);
            let main = main.and_then(PtxText::main_source);
            all.sort_by_key(|one| Some(one.path.as_str()) != main);
            all.truncate(1);
        }
    }
    all
}

/// The kernel's name for readers.
pub(super) fn shown_kernel(finished: &FinishedRun<'_>) -> String {
    let name = kernel(finished);
    demangle(&name).unwrap_or(name)
}

fn kernel(finished: &FinishedRun<'_>) -> String {
    finished.program().functions[finished.built.launch.kernel].name.clone()
}

fn stats(finished: &FinishedRun<'_>) -> Stats {
    Stats {
        blocks: finished.result.blocks,
        grid_blocks: finished.built.launch.blocks(),
        thread_instructions: finished.result.lane_instructions,
        block_syncs: finished.result.syncs.block,
        warp_syncs: finished.result.syncs.warp,
        block_threads: finished.built.launch.threads(),
        cluster_blocks: (finished.built.launch.cluster_blocks() > 1)
            .then_some(finished.built.launch.cluster_blocks() as u64),
        launches: Vec::new(),
    }
}

fn of_properties(finished: &FinishedRun<'_>, side: Option<&'static str>) -> Vec<Property> {
    let general = match finished.result.gap {
        Some(_) => "the run stopped".to_owned(),
        None => format!("no error in {}, on one schedule", finished.blocks()),
    };
    let one = |property: properties::Property| {
        let properties::Property { name, verdict, mut reasons } = property;
        if verdict == Verdict::Unknown && reasons.is_empty() {
            reasons.push(general.clone());
        }
        Property { name, verdict, reasons, side }
    };
    properties::properties(finished).into_iter().map(one).collect()
}
