//! `warpproof equiv --for-all-sizes`: decides if two CUDA C kernels leave the same contents in every array, for every
//! launch and size.

use super::answer::{Report, name, remarks};
use super::detached::Deadline;
use super::limits::{cut_short, limit, not_in_time, on_deep_stack, scope};
use super::options::Options;
use super::reading::Text;
use super::select::{Refusal, select_with_requirements};
use super::solver::{NoSolver, needs_solver};
use super::{compare as reading, document, findings, refused, solver, statements};
use crate::diagnostics::render;
use crate::report::{self, Finding, KernelName, Location, PageData, ProofFact, Property};
use crate::verdict::Verdict;
use crate::vocabulary::{FindingKind, PropertyName};
use crate::{Colour, Exit, Format, Input, Outcome};
use allsizes::{Difference, PairAnswer};
use base::{Code, Diagnostic};
use deadline::within;
use kir::Kernel;
use std::time::Instant;

/// Stores to an array that a difference names, on each side.
const MAX_STORES: usize = 4;

const SIDES: [&str; 2] = ["reference", "optimised"];

/// Two kernels and the answers about them.
struct Pair<'r> {
    sides: [Report<'r>; 2],
    compared: &'r PairAnswer,
    no_solver: Option<&'r NoSolver>,
    correspondence: &'r Correspondence,
    /// A message if the proof was ended early.
    stopped: Option<String>,
}

/// The correspondence between two kernels.
#[derive(Clone, Debug, Default)]
pub struct Correspondence {
    /// Names of the reference, with those of the same things in the optimised kernel.
    pub names: Vec<(String, String)>,
    /// Both have the same launch.
    pub same_launch: bool,
    /// Preconditions on launches in addition to those of the contracts, in the names of the reference.
    pub requires: Vec<String>,
}

/// Compares two kernels, reference first. Ignores the kernel's name in `options`.
#[must_use]
pub fn compare(
    inputs: [&Input; 2],
    names: [Option<&str>; 2],
    correspondence: &Correspondence,
    options: Options<'_>,
    colour: Colour,
) -> Outcome {
    on_deep_stack(|| {
        let mut texts = Vec::new();
        for input in inputs {
            match options.reading.text(input) {
                Ok(text) => texts.push(text),
                Err(unread) => return refused::not_read(unread, "equiv", &options, colour),
            }
        }
        let colour = colour.for_input(texts.iter().flat_map(|text| text.input.texts()));
        compare_all(&texts, names, correspondence, options, colour).escaped(colour)
    })
}

/// Compares two kernels for every launch and size, and makes the report.
fn compare_all(
    texts: &[Text],
    names: [Option<&str>; 2],
    correspondence: &Correspondence,
    options: Options<'_>,
    colour: Colour,
) -> Outcome {
    let started = Instant::now();
    let [first, second] = texts else { return Outcome::bad_input("two kernels are needed") };
    let inputs = [&first.input, &second.input];
    let kernels =
        match read_kernels([first, second], names, correspondence, (&options, started), colour) {
            Ok(kernels) => kernels,
            Err(outcome) => return *outcome,
        };
    let (found, no_solver) = match solver::start_solver(&options) {
        Ok(found) => found,
        Err(reason) => return Outcome::bad_input(&reason.to_string()),
    };
    let [reference, optimised] = &kernels;
    let how = allsizes::Options { infers: options.infers, suggests: false };
    let relation = allsizes::Relation {
        names: correspondence.names.clone(),
        same_launch: correspondence.same_launch,
    };
    let work = || allsizes::compare_as([reference, optimised], &relation, found, how);
    let compiling = options.compiling;
    let asked = |number: usize, kernel| reading::ComparisonRequest {
        source: &inputs[number].source,
        kernel,
        compiling,
    };
    let deadline = Deadline::of(&options, started);
    let ((done, second), first) = reading::compare_beside(asked(0, reference), deadline, || {
        reading::compare_beside(asked(1, optimised), deadline, || {
            within(limit(&options, started), work)
        })
    });
    let readings = [first, second];
    for ((one, kernel), input) in readings.iter().zip([reference, optimised]).zip(inputs) {
        if let Some(bug) = refused::contradiction(one, kernel, (input, "equiv"), colour) {
            return bug.rendered(options.format);
        }
    }
    let stopped = done.is_cut;
    let compared = match done.result {
        None => PairAnswer::given_up([reference, optimised]),
        Some(Ok((compared, _))) => compared,
        Some(Err(error)) => return Outcome::bad_input(&error.to_string()),
    };
    if let Some(bug) = contradiction(&compared, [reference, optimised], inputs, colour) {
        return bug;
    }
    let no_solver = no_solver.as_ref();
    let side = |number: usize| Report {
        input: inputs[number],
        kernel: &kernels[number],
        answer: &compared.answers[number],
        no_solver: None,
        old_solver: None,
        second: None,
        stopped: None,
        reading_assumptions: texts[number].assumed(options.reading),
        compared: &readings[number],
        strict: options.strict,
    };
    let stopped = stopped.then(|| cut_short(&options));
    let sides = [side(0), side(1)];
    let pair = Pair { sides, compared: &compared, no_solver, correspondence, stopped };
    pair.outcome(options.format, colour)
}

/// Reads the kernels of both texts, with the preconditions of the correspondence. On failure returns the outcome.
fn read_kernels(
    texts: [&Text; 2],
    names: [Option<&str>; 2],
    correspondence: &Correspondence,
    (options, started): (&Options<'_>, Instant),
    colour: Colour,
) -> Result<[Kernel; 2], Box<Outcome>> {
    let mut unused = correspondence.requires.clone();
    let mut read = |number: usize| -> Result<Kernel, Box<Outcome>> {
        let (text, name) = (texts[number], names[number]);
        let renamed = if number == 1 { &correspondence.names[..] } else { &[] };
        let asked = (&correspondence.requires[..], renamed);
        let read = within(limit(options, started), || {
            select_with_requirements(text, name, asked, &mut unused)
        });
        match read.result.unwrap_or_else(|| Err(not_in_time(options))) {
            Ok(kernel) if options.strict => Ok(kernel.for_every_launch()),
            Ok(kernel) => Ok(kernel),
            Err(Refusal::Usage(message)) => Err(Box::new(Outcome::bad_input(&message))),
            Err(Refusal::Read(diagnostic)) => {
                let refused = refused::refused(*diagnostic, &text.input, "equiv", options, colour);
                Err(Box::new(refused))
            }
        }
    };
    let kernels = [read(0)?, read(1)?];
    match unused.first() {
        Some(unused) => {
            let message = format!("--requires: neither kernel has all names of `{unused}`");
            Err(Box::new(Outcome::bad_input(&message)))
        }
        None => Ok(kernels),
    }
}

/// A proof that a run contradicts.
fn contradiction(
    compared: &PairAnswer,
    kernels: [&Kernel; 2],
    inputs: [&Input; 2],
    colour: Colour,
) -> Option<Outcome> {
    let mut shown = Vec::new();
    for ((answer, kernel), input) in compared.answers.iter().zip(kernels).zip(inputs) {
        if let Some((_, finding)) = &answer.contradiction {
            shown.push(render(&findings::diagnostic(kernel, finding), input, colour));
        }
    }
    if let (true, Some(difference)) = (compared.contradiction, &compared.difference) {
        shown.push(render(&different(difference, kernels), inputs[1], colour));
    }
    let messages = format!(
        "{}\nerror: this was proved impossible, but a run shows it. This is a bug in warpproof; please \
        report it with the files.\n",
        shown.first()?
    );
    Some(Outcome { messages, exit: Exit::Bug, ..Outcome::done(String::new()) })
}

/// Two runs with different results.
fn different(difference: &Difference, kernels: [&Kernel; 2]) -> Diagnostic {
    let index: String = difference.index.iter().map(|one| format!("[{one}]")).collect();
    let [one, two] = difference.values;
    let message = format!("`{}{index}` differs", difference.name);
    let [first, second] =
        [0, 1].map(|side: usize| findings::launch(kernels[side], &difference.launches[side]));
    Diagnostic::error(Code::Different, kernels[1].span, message)
        .label(format!("leaves {two} there, {second}"))
        .note(format!("the reference `{}` leaves {one} there, {first}", kernels[0].name))
}

impl Pair<'_> {
    fn equality(&self) -> Verdict {
        match self.compared.verdict {
            allsizes::Verdict::Proved if !self.sides[1].undefined_somewhere().is_empty() => {
                Verdict::Unknown
            }
            allsizes::Verdict::Proved => Verdict::Proved,
            allsizes::Verdict::Refuted => Verdict::Refuted,
            allsizes::Verdict::Unknown => Verdict::Unknown,
        }
    }

    fn verdict(&self) -> Verdict {
        let sides = self.sides.iter();
        let properties = sides.flat_map(|side| {
            side.answer.properties.iter().map(|property| side.verdict_of(property))
        });
        let readings = self.sides.iter().filter_map(|side| side.reading(None));
        let readings = readings.map(|reading| reading.verdict);
        Verdict::of_all(properties.chain(readings).chain([self.equality()]))
    }

    /// The reasons why equality is unknown.
    fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (side, open) in &self.compared.open {
            let report = &self.sides[*side];
            let place = report.input.path_and_line(open.span);
            reasons.push(format!("{place}: could not show {}", open.message));
        }
        if reasons.is_empty() && self.compared.example.is_none() {
            reasons.push("no launches were found that satisfy both contracts".to_owned());
        }
        if reasons.is_empty() {
            reasons = self.sides[1].undefined_somewhere();
        }
        reasons
    }

    fn outcome(&self, format: Format, colour: Colour) -> Outcome {
        let exit = report::exit(self.verdict());
        let (text, report) = (self.text(colour), Some(self.document(exit)));
        let messages = self.sides.iter().map(|side| reading::message(side.compared)).collect();
        Outcome { exit, report, messages, ..Outcome::done(text) }.rendered(format)
    }

    fn kernels(&self) -> [&Kernel; 2] {
        [self.sides[0].kernel, self.sides[1].kernel]
    }

    fn text(&self, colour: Colour) -> String {
        let mut text: String = self.sides.iter().map(|side| side.findings_text(colour)).collect();
        if let Some(difference) = &self.compared.difference {
            let diagnostic = different(difference, self.kernels());
            text.push_str(&render(&diagnostic, self.sides[1].input, colour));
            text.push_str("\n\n");
        }
        let [proved, refuted, unknown] =
            [Verdict::Proved, Verdict::Refuted, Verdict::Unknown].map(|one| one.painted(colour));
        match self.equality() {
            Verdict::Proved => {
                let outputs = self.compared.outputs.join("`, `");
                let scope = scope(&self.kernels());
                text.push_str(&format!("{proved} ({scope} and size): same `{outputs}`\n"));
            }
            Verdict::Refuted => text.push_str(&format!("{refuted}: equivalence\n")),
            Verdict::Unknown => {
                for reason in self.reasons() {
                    text.push_str(&format!("{unknown}: equivalence: {reason}\n"));
                }
            }
        }
        for (side, which) in self.sides.iter().zip(SIDES) {
            text.push_str(&side.verdicts(&format!(" of the {which} kernel"), colour));
        }
        text.push_str(&remarks(self.notes(), self.assumptions()));
        for (side, which) in self.sides.iter().zip(SIDES) {
            text.push_str(&reading::line(&format!("the {which} kernel "), side.compared));
        }
        text
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let answers = self.compared.answers.iter();
        let missed = answers.clone().any(|one| one.missed_solver) || self.compared.missed_solver;
        if let Some(reason) = self.no_solver.filter(|_| missed) {
            notes.push(needs_solver(reason));
        }
        for (side, span, clause) in &self.compared.learnt {
            let input = self.sides[*side].input;
            let place = input.path_and_line(*span);
            notes.push(format!("found and proved before {place}: `//@ {clause}`"));
        }
        let mut died = answers.map(|answer| answer.solver_died).chain([self.compared.solver_died]);
        notes.extend(self.stopped.clone());
        if died.any(|died| died) {
            notes.push("the solver stopped answering".to_owned());
        }
        match self.compared.tested {
            0 => notes.push("no pair of launches was run to test this".to_owned()),
            count => notes.push(format!("tested by running {count} pairs of small launches")),
        }
        notes
    }

    fn assumptions(&self) -> Vec<String> {
        let mut all = vec![
            "parameters and arrays of the same name are the same".to_owned(),
            "floats are real numbers".to_owned(),
        ];
        if self.sides.iter().any(|side| statements::has_fetch(&side.kernel.body)) {
            all.push("neither kernel writes the memory of its textures".to_owned());
        }
        let names = self.correspondence.names.iter();
        all.extend(names.map(|(one, two)| format!("`{one}` is `{two}` of the optimised kernel")));
        if self.compared.verdict == allsizes::Verdict::Proved {
            all.extend(self.sides[1].assumed_defined());
        }
        if self.correspondence.same_launch {
            all.push("both kernels have the same launch".to_owned());
        }
        all.extend(
            self.correspondence.requires.iter().map(|one| format!("requires {one} (as given)")),
        );
        for (side, which) in self.sides.iter().zip(SIDES) {
            for one in side.assumptions() {
                let own = ["blockDim", "gridDim", "not compared"];
                let one = match own.iter().any(|start| one.starts_with(start)) {
                    true => format!("{which}: {one}"),
                    false => one,
                };
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        all
    }

    /// Conditions that the optimised kernel's text states and the reference's does not.
    fn stated(&self) -> Vec<String> {
        let [reference, optimised] = self.sides.each_ref().map(Report::stated);
        optimised.into_iter().filter(|one| !reference.contains(one)).collect()
    }

    /// The extent of the comparison with a compiler, for both readings.
    fn readings(&self) -> impl Iterator<Item = String> {
        let sides = self.sides.iter().zip(SIDES);
        sides.filter_map(|(side, which)| {
            reading::note(side.compared).map(|note| format!("the {which} kernel {note}"))
        })
    }

    fn document(&self, exit: Exit) -> report::Report {
        let unknown = self.equality() == Verdict::Unknown;
        let reasons = if unknown { self.reasons() } else { Vec::new() };
        let (verdict, side) = (self.equality(), None);
        let mut properties =
            vec![Property { name: PropertyName::Equivalence, verdict, reasons, side }];
        let mut all: Vec<Finding> = Vec::new();
        if let Some(difference) = &self.compared.difference {
            all.push(self.different(difference));
        }
        for (report, which) in self.sides.iter().zip(SIDES) {
            for checked in &report.answer.properties {
                let verdict = report.verdict_of(checked);
                let unknown = verdict == Verdict::Unknown;
                let reasons = if unknown { report.reasons(checked) } else { Vec::new() };
                let name = name(checked.property);
                properties.push(Property { name, verdict, reasons, side: Some(which) });
                for one in &checked.findings {
                    let mut found = document::finding(report, name, one);
                    found.locations.iter_mut().for_each(|location| location.side = Some(which));
                    all.push(Finding { side: Some(which), ..found });
                }
            }
            properties.extend(report.reading(Some(which)));
        }
        let [reference, optimised] = &self.sides;
        report::Report {
            command: "equiv",
            kernel: Some(optimised.kernel.name.clone()),
            reference: Some(KernelName {
                file: reference.input.name().to_owned(),
                kernel: Some(reference.kernel.name.clone()),
                coverage: None,
                compared: Some(reading::as_data(reference.compared, reference.kernel)),
            }),
            verdict: self.verdict(),
            properties,
            findings: all,
            assumptions: self.assumptions(),
            from_kernel: self.stated(),
            notes: self.notes().into_iter().chain(self.readings()).collect(),
            compared: Some(reading::as_data(optimised.compared, optimised.kernel)),
            exit,
            sources: self
                .sides
                .iter()
                .zip(SIDES)
                .flat_map(|(one, which)| document::sources(one.input, Some(which)))
                .collect(),
            page: self.page(),
            ..document::empty(optimised.input)
        }
    }

    /// A difference as a finding: the kernels, and their stores to the array.
    fn different(&self, difference: &Difference) -> Finding {
        let diagnostic = different(difference, self.kernels());
        let (kind, property) = (FindingKind::Different, PropertyName::Equivalence);
        let mut finding = document::as_finding(&diagnostic, self.sides[1].input, kind, property);
        finding.locations.iter_mut().for_each(|location| location.side = Some(SIDES[1]));
        for (side, which) in self.sides.iter().zip(SIDES).rev() {
            let arrays = side.kernel.arrays.enumerate();
            let stores = arrays
                .filter(|(_, array)| array.name == difference.name)
                .flat_map(|(id, _)| statements::stores_to(&side.kernel.body, id));
            let label = |span| base::Label {
                span,
                message: format!("the {which} kernel stores to `{}` here", difference.name).into(),
                origin: [].into(),
            };
            let places = stores.take(MAX_STORES).map(|span| Location {
                side: Some(which),
                ..report::location(&label(span), side.input)
            });
            finding.locations.extend(places);
        }
        finding
    }

    /// The facts for a page: both kernels, and how equality was proved.
    fn page(&self) -> PageData {
        let named = self.sides.iter().zip(SIDES);
        let launches =
            named.map(|(one, which)| document::launch(one.kernel, Some(which))).collect();
        let mut proof = Vec::new();
        if self.equality() == Verdict::Proved {
            let outputs = self.compared.outputs.join("`, `");
            let scope = scope(&self.kernels());
            proof = vec![
                ProofFact::new("Compared", format!("every element of `{outputs}`")),
                ProofFact::new(
                    "Holds for",
                    format!(
                        "{scope} and size that the assumptions allow, and every thread schedule"
                    ),
                ),
                ProofFact::new(
                    "Method",
                    "an arbitrary element is looked up through the stores of both kernels, down to an expression over the inputs; the two \
                     expressions are shown to be equal for every size",
                ),
            ];
        }
        PageData { launches, proof, ptx: Vec::new() }
    }
}
