//! `warpproof equiv`: decides if two kernels compute the same over the reals, for all inputs.

mod contents;
mod error;
mod formats;
mod formulas;
mod grids;
mod overflow;
mod parts;
mod reasons;
mod sides;
mod steps;
mod suggest;
mod text;
mod values;

pub(crate) use sides::{ranges, single_side};
pub use steps::{FormulaStep, Step, run_sequences, run_steps};

pub(crate) use values::{rounding, values};

use crate::allow::Allow;
use crate::arguments::{AssumeSpec, PartSpec, ScalarValue};
use crate::execute::{Execution, FinishedRun, PreparedLaunch, last_writer};
use crate::properties::properties;
use crate::report::{self, Comparison, HeatMap};
use crate::unwritten::unwritten;
use crate::verdict::Verdict;
use crate::vocabulary::PropertyName;
use crate::{Colour, Exit, Limits, Outcome, heat, precision, wmma};
use equiv::{Answer, Compared, compare};
use error::SidesError;
use exec::Thread;
use std::collections::BTreeSet;

/// Options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Take a constant for the transcendental number to which it is the nearest float.
    pub snap: bool,
    /// If it is undecided where the optimised kernel is defined, the answer is open. Notes about code that the manual
    /// does not allow are errors.
    pub strict: bool,
    /// The findings that are accepted without proof.
    pub allow: Allow,
    /// Assumptions about the inputs.
    pub assumptions: &'o [AssumeSpec],
    /// Outputs and parts of them that are compared; all if there are none.
    pub parts: &'o [PartSpec],
    /// Keep the data for a picture of a difference: both kernels are run once more.
    pub pictures: bool,
    /// Check a proof once more: run both kernels on intervals at random points.
    pub recheck: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            snap: true,
            strict: false,
            allow: Allow::default(),
            assumptions: &[],
            parts: &[],
            pictures: false,
            recheck: false,
        }
    }
}

/// A comparison and everything its report needs.
struct FinishedComparison<'r> {
    /// The launches of each side, as far as they were run.
    sides: [Vec<FinishedRun<'r>>; 2],
    compared: Compared,
    /// The user's assumptions.
    assumptions: Vec<String>,
    strict: bool,
    /// Other places where they differ.
    heat: Option<HeatMap>,
}

/// The verdict on the equality of two kernels.
struct Judgement {
    verdict: Verdict,
    /// The reason, if it is unknown.
    reason: Option<String>,
}

/// Compares two kernels; results are text.
#[must_use]
pub fn run(executions: [&Execution<'_>; 2], options: &Options<'_>, colour: Colour) -> Outcome {
    run_sequences(executions.map(std::slice::from_ref), options, colour)
}

fn answer<'r>(
    executions: [&[Execution<'r>]; 2],
    prepared: [Vec<PreparedLaunch<'r>>; 2],
    options: &Options<'_>,
) -> Result<FinishedComparison<'r>, SidesError> {
    contents::check(executions, &prepared)?;
    let meanings = sides::meanings(prepared.iter().flatten())?;
    let exact = sides::exact_scalars(prepared.iter().flatten(), &meanings)?;
    let ranges;
    let (compared, heat, parts) = {
        let mut one = sides::sequence(executions[0], &prepared[0], &meanings)?;
        let mut other = sides::sequence(executions[1], &prepared[1], &meanings)?;
        ranges = sides::ranges(prepared.iter().flatten(), [&one, &other])?;
        let specs: Vec<AssumeSpec> = options.assumptions.iter().chain(&ranges).cloned().collect();
        let assumptions = sides::assumptions(&specs, [&one, &other], &meanings)?;
        if let Some(message) = equiv::impossible([&one, &other], &assumptions) {
            return Err(SidesError::Impossible(message));
        }
        let limits = executions[0].first().map_or_else(Limits::default, |first| first.limits);
        let (snap, recheck) = (options.snap, options.recheck);
        let how = equiv::Options { limits, snap, assumptions: &assumptions, recheck };
        let of_formula = prepared.each_ref().map(|side| side.iter().all(|one| one.is_formula));
        let parts = parts::select([&mut one, &mut other], of_formula, options.parts)?;
        let mut compared = compare([&one, &other], &how);
        let heat = match &compared.answer {
            Some(Answer::Different(difference)) if options.pictures && parts.is_empty() => {
                let mut outputs = prepared[1].iter().flat_map(|launch| &launch.built.outputs);
                let output = outputs.find(|output| output.name == difference.position.name);
                let shape = output.map(|output| output.shape.clone()).unwrap_or_default();
                let limits = executions[0].first().map_or_else(Limits::default, |one| one.limits);
                heat::map([&one, &other], difference, shape, limits)
            }
            _ => None,
        };
        parts::restore(&mut compared, &parts);
        (compared, heat, parts)
    };
    let checks = exec::Checks::default();
    let mut outcomes = compared.outcomes.clone();
    for (launches, ran) in prepared.iter().zip(&mut outcomes) {
        grids::settle(launches, ran)?;
    }
    let mut outcomes = outcomes.into_iter();
    let mut sides = prepared.map(|side| {
        let ran = outcomes.next().unwrap_or_default();
        side.into_iter()
            .zip(ran)
            .map(|(one, result)| one.finish(result, checks))
            .collect::<Vec<_>>()
    });
    // Elements that stay unset under some condition make an output unequal, if they are compared.
    let all_set = parts.is_empty() && matches!(compared.answer, Some(Answer::Equal));
    for launch in sides.iter_mut().flatten() {
        (launch.strict, launch.all_set) = (options.strict, all_set);
        launch.pictures = options.pictures;
        launch.allow = options.allow;
        if !parts.is_empty() {
            launch.unwritten = unwritten(&launch.built, &launch.result, Some(&parts));
        }
    }
    let mut assumptions: Vec<String> =
        options.assumptions.iter().chain(&ranges).map(ToString::to_string).collect();
    assumptions.extend(exact);
    assumptions.extend(parts::note(options.parts));
    Ok(FinishedComparison { sides, compared, assumptions, strict: options.strict, heat })
}

/// Conditions under which the optimised kernel is defined. Of those that differ only in indices: the first, and how
/// many there are.
fn definedness(conditions: &BTreeSet<String>) -> Vec<String> {
    let mut kinds: Vec<(String, &String, usize)> = Vec::new();
    for condition in conditions {
        let kind: String =
            condition.chars().filter(|character| !character.is_ascii_digit()).collect();
        match kinds.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, _, count)) => *count += 1,
            None => kinds.push((kind, condition, 1)),
        }
    }
    let notes = kinds.into_iter().flat_map(|(kind, first, count)| match count {
        1..=FEW_CONDITIONS => {
            let same = |one: &&String| {
                one.chars().filter(|character| !character.is_ascii_digit()).eq(kind.chars())
            };
            conditions.iter().filter(same).map(|one| format!("defined({one})")).collect()
        }
        _ => vec![format!("defined({first}), and {} more like it", count - 1)],
    });
    notes.collect::<Vec<String>>()
}

/// Up to this many conditions of one kind are listed one by one.
const FEW_CONDITIONS: usize = 4;

fn outcome_of(answered: &FinishedComparison<'_>, colour: Colour) -> Outcome {
    // A mistake in the formula says nothing about the kernel.
    if let Some(formula) =
        answered.launches().find(|launch| launch.is_formula && launch.is_refuted())
    {
        return formulas::fault_outcome(formula, colour);
    }
    let judgement = answered.equality();
    let difference = match (&answered.compared.answer, judgement.verdict) {
        (Some(Answer::Different(difference)), Verdict::Refuted) => Some(&**difference),
        _ => None,
    };
    let comparison = Comparison {
        verdict: judgement.verdict,
        reason: judgement.reason,
        difference: difference
            .map(|difference| (difference, answered.element(&difference.position))),
        likely_cause: difference
            .and_then(|difference| text::likely_cause(difference, &answered.scalars())),
        assumptions: answered.assumptions(),
        heat: answered.heat.clone(),
        precision: answered.precision(),
        overflow: answered.overflowing(),
        proof: text::proof(answered),
    };
    let exit = exit(answered.compared.answer.as_ref(), answered.verdict());
    let outcomes = answered.compared.outcomes.iter().flatten();
    let report = report::equiv(&answered.sides, comparison);
    Outcome {
        output: text::text(answered, &report.unexecuted(), colour),
        messages: answered.launches().map(FinishedRun::notes).collect(),
        exit,
        thread_instructions: outcomes.map(|outcome| outcome.lane_instructions).sum(),
        report: Some(report),
    }
}

/// The exit status. A proof that its recheck contradicts is a bug of ours, which precedes every verdict.
fn exit(answer: Option<&Answer>, verdict: Verdict) -> Exit {
    match (answer, verdict) {
        (Some(Answer::Contradicted(_)), _) => Exit::Bug,
        (_, Verdict::Refuted) => Exit::Refuted,
        (_, Verdict::Unknown) => Exit::Unknown,
        (_, Verdict::Proved) => Exit::Success,
    }
}

impl FinishedComparison<'_> {
    /// Scalars that were given as numbers.
    fn scalars(&self) -> Vec<(String, f64)> {
        let all = self.launches().flat_map(|launch| &launch.built.scalars);
        let given = all.filter_map(|scalar| match scalar.value {
            ScalarValue::Float(value) => Some((scalar.name.clone(), value.abs())),
            _ => None,
        });
        given.collect()
    }

    /// The verdict on everything.
    fn verdict(&self) -> Verdict {
        let overflow = self.strict && self.compared.overflow.is_some();
        let overflow = overflow.then_some(Verdict::Refuted);
        Verdict::of_all(
            [self.verdict_of_runs(), self.equality().verdict].into_iter().chain(overflow),
        )
    }

    /// All launches that were run, those of the reference first.
    fn launches(&self) -> impl Iterator<Item = &FinishedRun<'_>> {
        self.sides.iter().flatten()
    }

    /// Returns `true` if a side is a formula, at least in part.
    fn has_formula(&self) -> bool {
        self.launches().any(|launch| launch.is_formula)
    }

    /// The verdict on all runs.
    fn verdict_of_runs(&self) -> Verdict {
        let all = self.launches().flat_map(properties);
        Verdict::of_all(all.map(|property| property.verdict))
    }

    /// The verdict on the equality alone.
    fn equality(&self) -> Judgement {
        let unknown =
            |reason: &str| Judgement { verdict: Verdict::Unknown, reason: Some(reason.to_owned()) };
        let Some(answer) = &self.compared.answer else { return unknown("a run stopped") };
        // This difference was found on numbers and checked for these numbers on its own.
        if matches!(answer, Answer::Different(difference) if difference.is_numeric) {
            return Judgement { verdict: Verdict::Refuted, reason: None };
        }
        // The result of a racy kernel is not a function of its inputs.
        let racy = self.launches().flat_map(properties).any(|one| {
            matches!(one.name, PropertyName::Races | PropertyName::Barriers)
                && one.verdict != Verdict::Proved
        });
        if racy {
            return unknown("the runs hold for one schedule only");
        }
        let reinterpreted = self.launches().find_map(|side| {
            let place = wmma::uses(side.kernel()).other_kind?;
            Some(side.kernel().line(place))
        });
        if let Some(line) = reinterpreted {
            return unknown(&format!("{line} uses a wmma fragment as one of another kind"));
        }
        match answer {
            Answer::Equal if self.verdict_of_runs() == Verdict::Refuted => {
                unknown("a run has errors")
            }
            Answer::Equal if self.strict && !self.compared.conditions.is_empty() => unknown(
                "it is not proved that the optimised kernel is defined wherever the reference is (--strict)",
            ),
            Answer::Equal if self.strict && !self.further_assumptions().is_empty() => unknown(
                &format!("it had to be assumed that {} (--strict)", self.further_assumptions()[0]),
            ),
            Answer::Equal => Judgement { verdict: Verdict::Proved, reason: None },
            Answer::Different(_) if self.may_leave_bounds() => unknown("a run has errors"),
            Answer::Different(_) => Judgement { verdict: Verdict::Refuted, reason: None },
            Answer::Unknown(first, count) => unknown(&format!(
                "{count} of {} elements, `{}` first: {}{}",
                self.compared.elements,
                self.element(&first.position),
                first.reason,
                self.line_where_lost(first)
            )),
            Answer::Constants(hidden) => {
                let [one, other] = hidden.values;
                unknown(&format!(
                    "constants: `{}` is equal if the constants stand for exact numbers, but with the \
                    constants as written it is {one:e} and {other:e} at inputs below 64 (--no-snap compares \
                    them as written)",
                    self.element(&hidden.position)
                ))
            }
            Answer::Contradicted(at) => {
                unknown(&format!("`{}`: {}", self.element(&at.position), at.reason))
            }
            Answer::Scalars(decision) => unknown(&self.explain_scalar_rounding(decision)),
            Answer::UnprovedRange(unproved) => unknown(&self.explain_unproved_range(unproved)),
            Answer::Mismatch(reason) => unknown(&reason.to_string()),
        }
    }

    /// Assumptions of the answer that nothing has checked.
    fn assumptions(&self) -> Vec<String> {
        let mut all: Vec<String> = self.assumptions.clone();
        for assumption in self.launches().flat_map(FinishedRun::assumptions) {
            if !all.contains(&assumption) {
                all.push(assumption);
            }
        }
        for side in self.launches() {
            if let Some(place) = wmma::uses(side.kernel()).elements {
                let line = side.kernel().line(place);
                all.push(format!(
                    "wmma fragments are laid out as on sm_80 and sm_90: {line} computes with \
                     elements"
                ));
            }
        }
        all.push("floats are real numbers: rounding and overflow are ignored".to_owned());
        let compared = &self.compared;
        if !compared.snapped.is_empty() {
            let names: Vec<&str> = compared.snapped.iter().map(String::as_str).collect();
            all.push(format!("constants stand for {} (--no-snap)", names.join(", ")));
        }
        all.extend(compared.meanings.iter().map(|meaning| {
            match meaning.constant.to_string() == meaning.form {
                true => format!("the float {} stands for exactly that decimal", meaning.form),
                false => format!("{} stands for {}", meaning.constant, meaning.form),
            }
        }));
        let of_formula = |name: &&String| {
            self.sides.iter().any(|side| last_writer(side, name).is_some_and(|one| one.is_formula))
        };
        let inner = compared.internal_tensors.iter().filter(|name| !of_formula(name));
        let inner: Vec<String> = inner.map(|name| format!("`{name}`")).collect();
        if !inner.is_empty() {
            let verb = if inner.len() == 1 { "is" } else { "are" };
            let names = inner.join(", ");
            all.push(format!("{names} {verb} for later launches of one side, and so not compared"));
        }
        all.extend(self.further_assumptions());
        all.extend(definedness(&compared.conditions));
        all
    }

    /// Further assumptions of the runs on real numbers.
    fn further_assumptions(&self) -> Vec<String> {
        let mut all = Vec::new();
        let compared = &self.compared;
        let mut add_lines = |places: &[BTreeSet<equiv::Instruction>; 2],
                             sentence: &dyn Fn(&str, &str) -> String| {
            let names = ["reference", "optimised"];
            for ((side, name), places) in self.sides.iter().zip(names).zip(places) {
                for (launch, place) in places {
                    let launch = side.get(*launch);
                    let line = launch.map_or_else(String::new, |one| one.kernel().line(*place));
                    all.push(sentence(&line, name));
                }
            }
        };
        add_lines(&compared.signs, &|line, name| {
            format!(
                "zero is positive where {line} ({name}) takes the sign of a number that can be zero"
            )
        });
        add_lines(&compared.nan_tests, &|line, name| {
            format!("no NaN is found where {line} ({name}) tests for one")
        });
        add_lines(&compared.infinity_tests, &|line, name| {
            format!("data stay finite where {line} ({name}) compares them with an infinity")
        });
        all.extend(self.uncompared_variables());
        for (format, largest) in &self.compared.unclamped_formats {
            all.push(format!(
                "numbers converted to {format} with `.satfinite` are between -{largest} and {largest}"
            ));
        }
        all
    }

    /// Notes beside a proof: places where the optimised kernel computes in fewer bits. A proof over the reals does not
    /// cover that.
    fn precision(&self) -> Vec<String> {
        let (Some(reference), Verdict::Proved) = (self.sides[0].last(), self.equality().verdict)
        else {
            return Vec::new();
        };
        let optimised = self.sides[1].iter().map(FinishedRun::kernel);
        let of_code = optimised.flat_map(|one| precision::notes(reference.kernel(), one));
        formats::notes(&self.sides).into_iter().chain(of_code).collect()
    }

    /// The place where each side stored an element last.
    fn stores(&self, difference: &equiv::Difference) -> Vec<String> {
        let mut lines = Vec::new();
        let named = self.sides.iter().zip(["reference", "optimised"]);
        for ((side, name), store) in named.zip(difference.stores) {
            let Some((place, thread)) = store else { continue };
            let Some(writer) = last_writer(side, &difference.position.name) else { continue };
            let (line, Thread { block: [a, b, c], thread: [x, y, z], .. }) =
                (writer.kernel().line(place), thread);
            if writer.is_formula {
                lines.push(format!("the formula defines it at {line}"));
                continue;
            }
            lines.push(format!(
                "{name} stored it at {line}, thread ({x},{y},{z}) of block ({a},{b},{c})"
            ));
        }
        lines
    }

    /// Names an element by its indices, such as `y[3,7]`.
    fn element(&self, position: &equiv::Position) -> String {
        let mut outputs = self.sides[0].iter().flat_map(|launch| &launch.built.outputs);
        let shape = outputs.find(|output| output.name == position.name);
        let shape = shape.map_or(&[][..], |output| &output.shape);
        let (name, index) = (&position.name, position.index as u64);
        match shape.len() {
            0 | 1 => format!("{name}[{index}]"),
            _ => format!("{name}[{}]", equiv::indices(index, shape)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contradicted_proof_is_a_bug() {
        let position = equiv::Position { name: "y".to_owned(), index: 0 };
        let at = equiv::OpenElement { position, reason: equiv::OpenReason::Alike, lost: None };
        let contradicted = Answer::Contradicted(Box::new(at));
        for verdict in [Verdict::Unknown, Verdict::Refuted, Verdict::Proved] {
            assert_eq!(exit(Some(&contradicted), verdict), Exit::Bug);
        }
        assert_eq!(exit(Some(&Answer::Equal), Verdict::Proved), Exit::Success);
        assert_eq!(exit(Some(&Answer::Equal), Verdict::Unknown), Exit::Unknown);
        assert_eq!(exit(None, Verdict::Refuted), Exit::Refuted);
    }
}
