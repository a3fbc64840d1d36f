//! Formats the answer of `prove` for one kernel: verdicts, reasons, notes and assumptions, as text and for the JSON of
//! [`super::document`].
//!
//! Verdicts can only become weaker here: a proof of bounds becomes unknown if an array has no size, and a proof about
//! values if an operation may be undefined.

use super::compare::{self, TimedComparison};
use super::contract::COMMAND_LINE;
use super::findings;
use super::limits::scope;
use super::solver::{MIN_SOLVER, NoSolver, needs_solver};
use super::statements::{self, has_loop};
use crate::diagnostics::render;
use crate::report;
use crate::verdict::Verdict;
use crate::vocabulary::{PropertyName, listed};
use crate::{Colour, Input};
use allsizes::engine::Property;
use allsizes::{Answer, PropertyVerdict};
use kir::{Builtin, Kernel, Type};

/// Reasons listed for one property.
const MAX_REASONS: usize = 6;

/// The parts of a report.
pub(super) struct Report<'r> {
    pub(super) input: &'r Input,
    pub(super) kernel: &'r Kernel,
    pub(super) answer: &'r Answer,
    /// The reason why there is no solver.
    pub(super) no_solver: Option<&'r NoSolver>,
    /// The version of a solver that is too old.
    pub(super) old_solver: Option<&'r str>,
    /// The result of the second solver.
    pub(super) second: Option<String>,
    /// A message if the proof was ended early.
    pub(super) stopped: Option<String>,
    /// Assumptions made when the text was read.
    pub(super) reading_assumptions: Vec<String>,
    /// The comparison of our reading of the kernel with NVRTC's.
    pub(super) compared: &'r TimedComparison,
    /// `--strict`: without that comparison nothing is proved.
    pub(super) strict: bool,
}

/// Notes and assumptions, a line each.
pub(super) fn remarks(notes: Vec<String>, assumptions: Vec<String>) -> String {
    let notes = notes.into_iter().map(|note| format!("note: {note}\n"));
    notes.chain(assumptions.into_iter().map(|one| format!("assumed: {one}\n"))).collect()
}

/// The name of a property in reports.
pub(super) fn name(property: Property) -> PropertyName {
    match property {
        Property::Races => PropertyName::Races,
        Property::Barriers => PropertyName::Barriers,
        Property::Bounds => PropertyName::Bounds,
        Property::Overflow => PropertyName::Overflow,
        Property::Division => PropertyName::Division,
        Property::Initialised => PropertyName::Initialised,
        Property::Clauses => PropertyName::Clauses,
        Property::Invariant => PropertyName::Invariant,
        Property::Postcondition => PropertyName::Postcondition,
        Property::Values => PropertyName::Values,
    }
}

impl Report<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        let checked = self.answer.properties.iter().map(|property| self.verdict_of(property));
        Verdict::of_all(checked.chain(self.reading(None).map(|one| one.verdict)))
    }

    /// With `--strict`, returns the property `reading` as unknown if our reading was not compared with a compiler's.
    pub(super) fn reading(&self, side: Option<&'static str>) -> Option<report::Property> {
        let reason = compare::assumption(self.compared).filter(|_| self.strict)?;
        let (name, verdict) = (PropertyName::Reading, Verdict::Unknown);
        Some(report::Property { name, verdict, reasons: vec![reason], side })
    }

    pub(super) fn verdict_of(&self, checked: &PropertyVerdict) -> Verdict {
        let unsized_arrays = !self.answer.unsized_arrays.is_empty();
        match checked.verdict {
            allsizes::Verdict::Refuted => Verdict::Refuted,
            allsizes::Verdict::Proved if checked.property == Property::Bounds && unsized_arrays => {
                Verdict::Unknown
            }
            allsizes::Verdict::Proved
                if is_about_values(checked) && !self.undefined_somewhere().is_empty() =>
            {
                Verdict::Unknown
            }
            allsizes::Verdict::Proved => Verdict::Proved,
            allsizes::Verdict::Unknown => Verdict::Unknown,
        }
    }

    /// Formats the positions of one or two spans.
    fn places(&self, other: Option<base::Span>, span: base::Span) -> String {
        let place = self.input.place(span);
        let Some(other) = other.map(|other| self.input.place(other)) else { return place };
        match (other.strip_prefix("line "), place.strip_prefix("line ")) {
            _ if other == place => place,
            (Some(other), Some(place)) => format!("lines {other} and {place}"),
            _ => format!("{other} and {place}"),
        }
    }

    /// The reasons why a property is unknown.
    pub(super) fn reasons(&self, checked: &PropertyVerdict) -> Vec<String> {
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
        let is_open_clause = |property_verdict: &PropertyVerdict| {
            property_verdict.property == Property::Clauses && !property_verdict.open.is_empty()
        };
        if reasons.is_empty() && is_about_values(checked) {
            reasons = self.undefined_somewhere();
        }
        if reasons.is_empty() && self.answer.properties.iter().any(is_open_clause) {
            reasons.push("it depends on a clause that may be undefined".to_owned());
        } else if reasons.is_empty() && self.answer.example.is_none() {
            reasons.push("no launch was found that satisfies the contract".to_owned());
        } else if reasons.is_empty() {
            reasons.push("it depends on barriers that some threads may not reach".to_owned());
        }
        reasons
    }

    pub(super) fn text(&self, colour: Colour) -> String {
        let text = self.findings_text(colour) + &self.verdicts("", colour);
        text + &remarks(self.notes(), self.assumptions())
            + &compare::line("the kernel ", self.compared)
    }

    /// Formats the findings.
    pub(super) fn findings_text(&self, colour: Colour) -> String {
        let findings = self.answer.properties.iter().flat_map(|property| &property.findings);
        let shown = findings.map(|finding| {
            let diagnostic = findings::diagnostic(self.kernel, finding);
            render(&diagnostic, self.input, colour) + "\n\n"
        });
        shown.collect()
    }

    /// Formats the verdicts of the properties. `of` names the kernel if there are two.
    pub(super) fn verdicts(&self, of: &str, colour: Colour) -> String {
        let mut text = String::new();
        let properties = &self.answer.properties;
        let names = |verdict: Verdict| {
            let with = properties.iter().filter(|property| self.verdict_of(property) == verdict);
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
        for one in
            properties.iter().filter(|property| self.verdict_of(property) == Verdict::Unknown)
        {
            for reason in self.reasons(one) {
                text.push_str(&format!("{unknown}: {}{of}: {reason}\n", name(one.property)));
            }
        }
        for reason in self.reading(None).into_iter().flat_map(|one| one.reasons) {
            text.push_str(&format!("{unknown}: {}{of}: {reason}\n", PropertyName::Reading));
        }
        text
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(reason) = self.no_solver.filter(|_| self.answer.missed_solver) {
            notes.push(needs_solver(reason));
        }
        if let Some(version) = self.old_solver {
            notes.push(format!(
                "z3 {version} leaves questions open that version {MIN_SOLVER} answers (`pip install \
                 \"z3-solver>=5\"` installs it)"
            ));
        }
        for checked in
            self.answer.properties.iter().filter(|property| !property.holds_if.is_empty())
        {
            let precondition = checked.holds_if.join(" && ");
            let property = name(checked.property);
            notes.push(format!(
                "{property}: holds if `{precondition}` (`//@ requires {precondition};`)"
            ));
        }
        for (span, clause) in &self.answer.learnt {
            let place = self.input.place(*span);
            notes.push(format!("found and proved before {place}: `//@ {clause}`"));
        }
        if self.answer.solver_died {
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

    /// Describes a precondition that the reader added and no clause states: a template parameter or symbolic macro is
    /// at least 1; blocks have the declared size.
    fn implicit_precondition(&self, condition: &kir::Expr) -> Option<String> {
        let mut name = None;
        kir::visit(condition, &mut |inner| {
            if let kir::ExprKind::Var(var) = inner.kind {
                name = Some(self.kernel.vars[var].name.clone());
            }
        });
        match (condition.span == self.kernel.span, name) {
            (false, _) => None,
            (true, Some(name)) => Some(format!("`{name}` is at least 1")),
            (true, None) => {
                Some("blocks are at most as large as `__launch_bounds__` allows".to_owned())
            }
        }
    }

    /// Explains the meaning of numbers in claims about elements, if any was proved.
    fn number_semantics(&self) -> Vec<String> {
        let proved = |property_verdict: &PropertyVerdict| {
            is_about_values(property_verdict)
                && property_verdict.verdict == allsizes::Verdict::Proved
        };
        let has = |wanted: fn(&Type) -> bool| {
            self.kernel.arrays.iter().any(|array| wanted(&array.element))
        };
        let mut all = Vec::new();
        if !self.answer.properties.iter().any(proved) {
            return all;
        }
        if has(|element| matches!(element, Type::Float)) {
            all.push("floats are real numbers: rounding and overflow are ignored".to_owned());
        }
        all.extend(self.assumed_defined());
        if has(|element| matches!(element, Type::Int { .. })) {
            all.push("equations with elements of integer arrays are modulo 2^bits".to_owned());
        }
        all
    }

    pub(super) fn assumptions(&self) -> Vec<String> {
        let mut all = Vec::new();
        let global = self.kernel.arrays.iter().filter(|array| array.space == kir::Space::Global);
        if global.count() > 1 {
            all.push("arrays do not overlap".to_owned());
        }
        if statements::has_fetch(&self.kernel.body) {
            all.push("the kernel does not write the memory of its textures".to_owned());
        }
        all.push("launches stay within CUDA's limits (1024 threads of a block)".to_owned());
        let of_axis = |axis: usize| [Builtin::BlockDim, Builtin::GridDim].map(|one| one.name(axis));
        let unused = (0..3).filter(|axis| !self.kernel.has_axis(*axis));
        let unused: Vec<String> = unused.flat_map(of_axis).collect();
        if !unused.is_empty() {
            let unused = unused.join(", ");
            all.push(format!(
                "{unused} are 1: unused by the kernel and its clauses (--strict: any value)"
            ));
        }
        for axis in (0..3).filter(|axis| self.answer.limited[*axis]) {
            let [block, grid] = of_axis(axis);
            all.push(format!("{grid}*{block} < 2^31: thread numbers fit an int (--strict: any)"));
        }
        let overflow =
            self.answer.properties.iter().find(|property| property.property == Property::Overflow);
        if overflow.is_some_and(|one| one.verdict != allsizes::Verdict::Proved) {
            all.push("integer arithmetic does not overflow (for the other properties)".to_owned());
        }
        if has_loop(&self.kernel.body) {
            all.push("loops end".to_owned());
        }
        all.extend(self.number_semantics());
        for name in &self.kernel.types {
            all.push(format!("`{name}` is `float`: the template is read for that type"));
        }
        for requirement in &self.kernel.requires {
            all.extend(self.implicit_precondition(&requirement.condition));
        }
        if self.kernel.fences {
            all.push("fences order nothing: their effect is not modelled".to_owned());
        }
        all.extend(self.reading_assumptions.iter().cloned());
        all.extend(compare::assumption(self.compared));
        // With a contract on the command line, clauses of the file may be by another author: mark them.
        let is_apart = self.input.headers().any(|file| file.name() == COMMAND_LINE);
        let conditions = self.conditions().into_iter();
        all.extend(conditions.map(|condition| match condition.is_of_file && is_apart {
            true => format!("{} (stated in the file)", condition.text),
            false => condition.text,
        }));
        all
    }
}

fn is_about_values(checked: &PropertyVerdict) -> bool {
    matches!(checked.property, Property::Postcondition | Property::Invariant)
}
