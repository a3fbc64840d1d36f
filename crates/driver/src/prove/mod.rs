//! `warpproof prove`: races, barriers, bounds and overflow of a CUDA C kernel, for every launch and size.
//!
//! What is proved holds for every launch that the kernel's contract allows. What is refuted was seen on a launch
//! that the report names.
//!
//! Long: the command from options to report in one place; what is apart is in files of its own.

mod compare;
mod definedness;
mod detached;
mod document;
mod each;
mod findings;
mod limits;
mod pair;
pub mod reading;
mod solver;
mod statements;
mod unread;

pub use compare::{Compiling, Reading, readings};
pub use each::run_each;
pub use pair::{Together, compare};

use crate::cuda::cache::SOLVER_FOLDER;
use crate::diagnostics::render;
use crate::report;
use crate::verdict::Verdict;
use crate::vocabulary::{PropertyName, listed};
use crate::{Colour, Exit, Format, Input, Outcome, Watch};
use base::{Severity, SourceFile};
use detached::Patience;
use limits::{cut_short, limit, not_in_time, on_deep_stack, scope};
use param::deadline::within;
use param::engine::Property;
use param::kir::{Builtin, Kernel, Type};
use param::{Answer, Checked};
use reading::{Refused, Text};
use statements::{each_assume, has_loop};
use std::path::Path;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Which kernel of the file.
    pub kernel: Option<&'o str>,
    /// Facts about loops are inferred.
    pub infers: bool,
    /// Where z3 is, if not where it is looked for.
    pub solver: Option<&'o Path>,
    /// Whether a solver may be used at all.
    pub use_solver: bool,
    /// A solver that is asked as well whatever z3 says is impossible.
    pub second_solver: Option<&'o Path>,
    /// Where answers of z3 are kept between runs.
    pub cache: Option<&'o Path>,
    /// Every launch that CUDA allows is meant, on all axes, with any number of threads; and what is not compared is not proved.
    pub strict: bool,
    /// How long it may take.
    pub time: Option<Duration>,
    /// Launches that are run at once.
    pub jobs: usize,
    /// Who may end it.
    pub watch: Option<&'static Watch>,
    /// How the text is compiled, to compare our reading of it; nothing if it is not to be.
    pub compiling: Option<&'o Compiling>,
    /// Macros, folders of headers and the architecture.
    pub reading: &'o reading::Reading,
    /// How results are written.
    pub format: Format,
}

/// The first version of z3 that answers well.
const MIN_SOLVER: u32 = 5;
/// Reasons that are listed for one property.
const MAX_REASONS: usize = 6;

/// What a report is made of.
struct Report<'r> {
    input: &'r Input,
    kernel: &'r Kernel,
    answer: &'r Answer,
    /// Why there is no solver.
    no_solver: Option<&'r str>,
    /// The version of a solver that is too old.
    old_solver: Option<&'r str>,
    /// What the second solver says.
    second: Option<String>,
    /// That it was ended before it was done.
    stopped: Option<String>,
    /// What was assumed when the text was read.
    read_as: Vec<String>,
    /// Our reading and a compiler's.
    compared: &'r compare::Timed,
    /// What is not compared is not proved.
    strict: bool,
}

/// Proves the kernel that is named, or the only one.
#[must_use]
pub fn run(input: &Input, options: Options<'_>, colour: Colour) -> Outcome {
    on_deep_stack(|| match options.reading.text(input) {
        Ok(text) => {
            let colour = colour.for_input(text.input.texts());
            prove(&text, options, colour).escaped(colour)
        }
        Err(refused) => not_read(refused, "prove", &options, colour),
    })
}

fn prove(text: &Text, options: Options<'_>, colour: Colour) -> Outcome {
    let input = &text.input;
    let read = within(limit(&options), || selected(text, options.kernel));
    let kernel = match read.result.unwrap_or_else(|| Err(not_in_time(&options))) {
        Ok(kernel) if options.strict => kernel.for_every_launch(),
        Ok(kernel) => kernel,
        Err(Refusal::Usage(message)) => return Outcome::bad_input(&message),
        Err(Refusal::Read(diagnostic)) => {
            return refused(*diagnostic, input, "prove", &options, colour);
        }
    };
    let (found, no_solver) = match solver(&options) {
        Ok(found) => found,
        Err(reason) => return Outcome::bad_input(&reason),
    };
    let old_solver = found.as_ref().map(|solver| solver.version().to_owned());
    let old_solver = old_solver.filter(|version| is_old(version));
    let how = param::Options { infers: options.infers, suggests: true };
    let asked =
        compare::Asked { source: &input.source, kernel: &kernel, compiling: options.compiling };
    let patience = Patience::of(&options);
    let ((answer, found, stopped), compared) = compare::beside(asked, patience, || {
        let done = within(limit(&options), || param::prove(&kernel, found, how));
        let (answer, found) = done.result.unwrap_or_else(|| (Answer::given_up(&kernel), None));
        (answer, found, done.is_cut)
    });
    if let Some(bug) = compare::contradiction(&compared, &kernel, (input, "prove"), colour) {
        return bug.rendered(options.format);
    }
    let no_solver = no_solver.as_deref();
    let old_solver = old_solver.as_deref();
    let second = found.as_ref().and_then(|solver| solver.second()).map(confirmed);
    let stopped = stopped.then(|| cut_short(&options));
    let (kernel, answer) = (&kernel, &answer);
    let (compared, strict) = (&compared, options.strict);
    let read_as = text.assumed(options.reading);
    let report = Report {
        input,
        kernel,
        answer,
        no_solver,
        old_solver,
        second,
        stopped,
        read_as,
        compared,
        strict,
    };
    if let Some((_, finding)) = &answer.contradiction {
        let shown = render(&findings::diagnostic(kernel, finding), input, colour);
        let messages = format!(
            "{shown}\nerror: this was proved not to happen, and a run shows it: a bug in warpproof. \
             Please report it with the file.\n"
        );
        return Outcome { messages, exit: Exit::Bug, ..Outcome::done(String::new()) };
    }
    let exit = report::exit(report.verdict());
    let text = report.text(colour);
    let report = Some(document::of_answer(&report, exit));
    let messages = compare::message(compared);
    Outcome { exit, report, messages, ..Outcome::done(text) }.rendered(options.format)
}

/// That questions stay open for want of a solver.
fn needs_solver(reason: &str) -> String {
    format!(
        "{reason}; some questions need one (`pip install \"z3-solver>=5\"` brings z3, then give \
         --solver or set WARPPROOF_Z3)"
    )
}

/// Notes and assumptions, a line each.
fn remarks(notes: Vec<String>, assumptions: Vec<String>) -> String {
    let notes = notes.into_iter().map(|note| format!("note: {note}\n"));
    notes.chain(assumptions.into_iter().map(|one| format!("assumed: {one}\n"))).collect()
}

/// A file that is not preprocessed.
fn not_read(
    refusal: Refused,
    command: &'static str,
    options: &Options<'_>,
    colour: Colour,
) -> Outcome {
    match refusal {
        Refused::Option(message) => Outcome::bad_input(&message),
        Refused::Text(diagnostic, input) => {
            let colour = colour.for_input(input.texts());
            refused(*diagnostic, &input, command, options, colour).escaped(colour)
        }
    }
}

/// A file or kernel that is not read.
fn refused(
    diagnostic: base::Diagnostic,
    input: &Input,
    command: &'static str,
    options: &Options<'_>,
    colour: Colour,
) -> Outcome {
    let diagnostic = unread::judged(diagnostic, input, options.compiling, Patience::of(options));
    let unsupported = diagnostic.severity == Severity::Unsupported;
    let exit = if unsupported { Exit::Unknown } else { Exit::BadInput };
    let messages = render(&diagnostic, input, colour) + "\n";
    let report = Some(document::of_refusal(&diagnostic, input, command, exit));
    let outcome = Outcome { output: String::new(), messages, exit, thread_instructions: 0, report };
    outcome.rendered(options.format)
}

/// A solver, or why there is none; an error if one was named that cannot be had.
fn solver(options: &Options<'_>) -> Result<(Option<param::Solver>, Option<String>), String> {
    let found = match options.use_solver.then(|| solver::find(options.solver)) {
        Some(Ok(found)) => (Some(found), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, Some("no solver was to be used".to_owned())),
    };
    let mut found = match (options.solver, found) {
        (Some(_), (None, Some(reason))) => return Err(reason),
        (_, found) => found,
    };
    if let Some(solver) = &mut found.0 {
        if let Some(folder) = options.cache {
            solver.remember(Box::new(solver::Kept(folder.join(SOLVER_FOLDER))));
        }
        if let Some(path) = options.second_solver {
            solver.confirm_with(param::Second::start(path)?);
        }
    }
    Ok(found)
}

/// What the second solver says of z3's proofs.
fn confirmed(second: &param::Second) -> String {
    let param::Second { asked, confirmed, disputed, .. } = second;
    let disputed = match disputed {
        0 => String::new(),
        count => format!("; it contradicts {count}, which are not used"),
    };
    format!("what z3 showed, confirmed by {}: {confirmed} of {asked}{disputed}", second.name())
}

/// The version of the z3 that would be asked.
pub(crate) fn solver_version() -> Result<String, String> {
    solver::find(None).map(|solver| solver.version().to_owned())
}

/// Whether a z3 is one that loses answers: 4.8 leaves one question in eight open that 5.4 answers.
pub(crate) fn is_old(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_none_or(|major| major < MIN_SOLVER)
}

enum Refusal {
    Usage(String),
    Read(Box<base::Diagnostic>),
}

/// The kernel that is meant.
fn selected(text: &Text, name: Option<&str>) -> Result<Kernel, Refusal> {
    let kernels = param::kernels_in(&text.read).map_err(Refusal::Read)?;
    chosen(&text.input.source, name, kernels)
}

/// The same with more demands on launches, each if the kernel has its names; those it has are not `unused` any more.
fn demanding(
    text: &Text,
    name: Option<&str>,
    (demands, names): (&[String], &[(String, String)]),
    unused: &mut Vec<String>,
) -> Result<Kernel, Refusal> {
    let mut used = Vec::new();
    for demand in demands {
        let one = std::slice::from_ref(demand);
        let kernels = param::kernels_with(&text.read, one, names)
            .map_err(|error| Refusal::Usage(format!("--requires `{demand}`: {}", error.message)))?;
        let wanted = |kernel: &str| name.is_none_or(|name| name == kernel);
        if kernels.iter().any(|((kernel, _), has)| *has && wanted(kernel)) {
            used.push(demand.clone());
        }
    }
    unused.retain(|one| !used.contains(one));
    let kernels = param::kernels_with(&text.read, &used, names).map_err(Refusal::Read)?;
    chosen(&text.input.source, name, kernels.into_iter().map(|(parsed, _)| parsed).collect())
}

fn chosen(
    source: &SourceFile,
    name: Option<&str>,
    kernels: Vec<param::Parsed>,
) -> Result<Kernel, Refusal> {
    let names: Vec<&str> = kernels.iter().map(|(name, _)| name.as_str()).collect();
    let listed = format!("`{}`", names.join("`, `"));
    let (file, count) = (source.name(), kernels.len());
    let position = match name {
        None if count == 1 => 0,
        None if count == 0 => {
            return Err(Refusal::Usage(format!("`{file}` has no kernel (`__global__`)")));
        }
        None => {
            let message = format!("`{file}` has {count} kernels, give FILE::KERNEL: {listed}");
            return Err(Refusal::Usage(message));
        }
        Some(name) if names.iter().filter(|one| **one == name).count() > 1 => {
            let message =
                format!("`{file}` has several kernels `{name}`, which are not told apart");
            return Err(Refusal::Usage(message));
        }
        Some(name) => names.iter().position(|one| *one == name).ok_or_else(|| {
            Refusal::Usage(format!("`{file}` has no kernel `{name}`; it has {listed}"))
        })?,
    };
    match kernels.into_iter().nth(position) {
        Some((_, kernel)) => kernel.map_err(Refusal::Read),
        None => Err(Refusal::Usage(format!("`{file}` has no kernel (`__global__`)"))),
    }
}

fn name(property: Property) -> PropertyName {
    match property {
        Property::Races => PropertyName::Races,
        Property::Barriers => PropertyName::Barriers,
        Property::Bounds => PropertyName::Bounds,
        Property::Overflow => PropertyName::Overflow,
        Property::Division => PropertyName::Division,
        Property::Clauses => PropertyName::Clauses,
        Property::Invariant => PropertyName::Invariant,
        Property::Postcondition => PropertyName::Postcondition,
        Property::Values => PropertyName::Values,
    }
}

impl Report<'_> {
    fn verdict(&self) -> Verdict {
        let checked = self.answer.properties.iter().map(|one| self.verdict_of(one));
        Verdict::of_all(checked.chain(self.reading(None).map(|one| one.verdict)))
    }

    /// That nobody else reads the kernel as we do, if that is held against a proof.
    fn reading(&self, side: Option<&'static str>) -> Option<report::Property> {
        let reason = compare::assumption(self.compared).filter(|_| self.strict)?;
        let (name, verdict) = (PropertyName::Reading, Verdict::Unknown);
        Some(report::Property { name, verdict, reasons: vec![reason], side })
    }

    fn verdict_of(&self, checked: &Checked) -> Verdict {
        let unsized_arrays = !self.answer.unsized_arrays.is_empty();
        match checked.verdict {
            param::Verdict::Refuted => Verdict::Refuted,
            param::Verdict::Proved if checked.property == Property::Bounds && unsized_arrays => {
                Verdict::Unknown
            }
            param::Verdict::Proved
                if is_about_values(checked) && !self.undefined_somewhere().is_empty() =>
            {
                Verdict::Unknown
            }
            param::Verdict::Proved => Verdict::Proved,
            param::Verdict::Unknown => Verdict::Unknown,
        }
    }

    /// Where one or two spans are.
    fn places(&self, other: Option<base::Span>, span: base::Span) -> String {
        let place = self.input.place(span);
        let Some(other) = other.map(|other| self.input.place(other)) else { return place };
        match (other.strip_prefix("line "), place.strip_prefix("line ")) {
            _ if other == place => place,
            (Some(other), Some(place)) => format!("lines {other} and {place}"),
            _ => format!("{other} and {place}"),
        }
    }

    /// Why a property is unknown.
    fn reasons(&self, checked: &Checked) -> Vec<String> {
        let mut reasons = Vec::new();
        for open in &checked.open {
            let place = self.places(open.other, open.span);
            let reason = format!("{place}: could not show {}", open.message);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if reasons.len() > MAX_REASONS {
            let more = reasons.len() - MAX_REASONS;
            reasons.truncate(MAX_REASONS);
            reasons.push(format!("and {more} more like this"));
        }
        if checked.property == Property::Bounds {
            for array in &self.answer.unsized_arrays {
                let name = &self.kernel.arrays[*array].name;
                reasons
                    .push(format!("the size of `{name}` is not given (`//@ extent {name}[…];`)"));
            }
        }
        let spoiled = |one: &Checked| one.property == Property::Clauses && !one.open.is_empty();
        if reasons.is_empty() && is_about_values(checked) {
            reasons = self.undefined_somewhere();
        }
        if reasons.is_empty() && self.answer.properties.iter().any(spoiled) {
            reasons.push("it rests on a clause that may have no value".to_owned());
        } else if reasons.is_empty() && self.answer.example.is_none() {
            reasons.push("no launch was found that fulfils the contract".to_owned());
        } else if reasons.is_empty() {
            reasons.push("it rests on barriers that not all threads may meet".to_owned());
        }
        reasons
    }

    fn text(&self, colour: Colour) -> String {
        let text = self.found(colour) + &self.verdicts("", colour);
        text + &remarks(self.notes(), self.assumptions())
            + &compare::line("the kernel ", self.compared)
    }

    /// What was found, as people read it.
    fn found(&self, colour: Colour) -> String {
        let findings = self.answer.properties.iter().flat_map(|one| &one.findings);
        let shown = findings.map(|finding| {
            let diagnostic = findings::diagnostic(self.kernel, finding);
            render(&diagnostic, self.input, colour) + "\n\n"
        });
        shown.collect()
    }

    /// What is known of the properties, ` of` which kernel if there are two.
    fn verdicts(&self, of: &str, colour: Colour) -> String {
        let mut text = String::new();
        let properties = &self.answer.properties;
        let names = |verdict: Verdict| {
            let with = properties.iter().filter(|one| self.verdict_of(one) == verdict);
            listed(with.map(|one| name(one.property)))
        };
        let [proved, refuted, unknown] =
            [Verdict::Proved, Verdict::Refuted, Verdict::Unknown].map(|one| one.painted(colour));
        let of_proved = names(Verdict::Proved);
        if !of_proved.is_empty() {
            let scope = scope(&[self.kernel]);
            text.push_str(&format!("{proved} ({scope} and size): {of_proved}{of}\n"));
        }
        let of_refuted = names(Verdict::Refuted);
        if !of_refuted.is_empty() {
            text.push_str(&format!("{refuted}: {of_refuted}{of}\n"));
        }
        for one in properties.iter().filter(|one| self.verdict_of(one) == Verdict::Unknown) {
            for reason in self.reasons(one) {
                text.push_str(&format!("{unknown}: {}{of}: {reason}\n", name(one.property)));
            }
        }
        for reason in self.reading(None).into_iter().flat_map(|one| one.reasons) {
            text.push_str(&format!("{unknown}: reading{of}: {reason}\n"));
        }
        text
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(reason) = self.no_solver.filter(|_| self.answer.missed_solver) {
            notes.push(needs_solver(reason));
        }
        if let Some(version) = self.old_solver {
            notes.push(format!(
                "z3 {version} leaves questions open that version {MIN_SOLVER} answers (`pip install \
                 \"z3-solver>=5\"` brings one)"
            ));
        }
        for checked in self.answer.properties.iter().filter(|one| !one.holds_if.is_empty()) {
            let demands = checked.holds_if.join(" && ");
            let property = name(checked.property);
            notes.push(format!("{property}: holds if `{demands}` (`//@ requires {demands};`)"));
        }
        for (span, clause) in &self.answer.learnt {
            let place = self.input.place(*span);
            notes.push(format!("found and proved before {place}: `//@ {clause}`"));
        }
        if self.answer.solver_died && self.stopped.is_none() {
            notes.push("the solver stopped answering".to_owned());
        }
        notes.extend(self.second.clone());
        notes.extend(self.stopped.clone());
        match self.answer.tested {
            0 => notes.push("no launch was run to test this".to_owned()),
            count => notes.push(format!("tested by running {count} small launches")),
        }
        notes
    }

    /// A demand that nobody wrote as one: a number of a template, or a symbolic macro, is positive; blocks are as large as is declared.
    fn implied(&self, condition: &param::kir::Expr) -> Option<String> {
        let mut name = None;
        param::kir::visit(condition, &mut |inner| {
            if let param::kir::ExprKind::Var(var) = inner.kind {
                name = Some(self.kernel.vars[var].name.clone());
            }
        });
        match (condition.span == self.kernel.span, name) {
            (false, _) => None,
            (true, Some(name)) => Some(format!("`{name}` is at least 1")),
            (true, None) => Some("blocks are no larger than `__launch_bounds__` says".to_owned()),
        }
    }

    /// What a condition of the contract says, as it is written; nothing if it is not written anywhere.
    fn written(&self, span: base::Span) -> Option<String> {
        let (file, local) = self.input.located(span);
        let text = file.text().get(local.range())?;
        let text = text.replace("//@", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // What is made for a template's parameter has the place of the kernel's name.
        (span != self.kernel.span && !text.is_empty()).then_some(text)
    }

    /// What numbers are in claims about elements, if any was proved.
    fn meant_by_numbers(&self) -> Vec<String> {
        let proved = |one: &Checked| is_about_values(one) && one.verdict == param::Verdict::Proved;
        let has = |wanted: fn(&Type) -> bool| {
            self.kernel.arrays.iter().any(|array| wanted(&array.element))
        };
        let mut all = Vec::new();
        if !self.answer.properties.iter().any(proved) {
            return all;
        }
        if has(|element| matches!(element, Type::Float)) {
            all.push("floats are real numbers: rounding and overflow are not looked at".to_owned());
        }
        all.extend(self.assumed_defined());
        if has(|element| matches!(element, Type::Int { .. })) {
            all.push("equations with elements of integer arrays are modulo 2^bits".to_owned());
        }
        all
    }

    fn assumptions(&self) -> Vec<String> {
        let mut all = Vec::new();
        let global = self.kernel.arrays.iter().filter(|one| one.space == param::kir::Space::Global);
        if global.count() > 1 {
            all.push("arrays do not overlap".to_owned());
        }
        if statements::has_fetch(&self.kernel.body) {
            all.push("the kernel does not write what its textures have".to_owned());
        }
        all.push("launches stay within CUDA's limits (1024 threads of a block)".to_owned());
        let of_axis = |axis: usize| [Builtin::BlockDim, Builtin::GridDim].map(|one| one.name(axis));
        let unused = (0..3).filter(|axis| !self.kernel.has_axis(*axis));
        let unused: Vec<String> = unused.flat_map(of_axis).collect();
        if !unused.is_empty() {
            let unused = unused.join(", ");
            all.push(format!(
                "{unused} are 1: neither the kernel nor its clauses mention them (--strict: any value)"
            ));
        }
        for axis in (0..3).filter(|axis| self.answer.limited[*axis]) {
            let [block, grid] = of_axis(axis);
            all.push(format!("{grid}*{block} < 2^31: thread numbers fit an int (--strict: any)"));
        }
        let overflow = self.answer.properties.iter().find(|one| one.property == Property::Overflow);
        if overflow.is_some_and(|one| one.verdict != param::Verdict::Proved) {
            all.push("for the other properties: nothing overflows".to_owned());
        }
        if has_loop(&self.kernel.body) {
            all.push("loops end".to_owned());
        }
        all.extend(self.meant_by_numbers());
        for name in &self.kernel.types {
            all.push(format!("`{name}` is `float`: the template is read for that type"));
        }
        for requirement in &self.kernel.requires {
            all.extend(self.implied(&requirement.condition));
        }
        if self.kernel.fences {
            all.push("fences order nothing: what they order is not followed".to_owned());
        }
        all.extend(self.read_as.iter().cloned());
        all.extend(compare::assumption(self.compared));
        for requirement in &self.kernel.requires {
            all.extend(
                self.written(requirement.condition.span).map(|text| format!("requires {text}")),
            );
        }
        each_assume(&self.kernel.body, &mut |span| {
            all.extend(self.written(span).map(|text| format!("assume {text}")));
        });
        all
    }
}

fn is_about_values(checked: &Checked) -> bool {
    matches!(checked.property, Property::Postcondition | Property::Invariant)
}
