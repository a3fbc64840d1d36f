//! `warpproof equiv`: whether two kernels compute the same, over the reals, for all inputs.

use crate::arguments::{ArgumentValue, Direction, MissingData};
use crate::execute::{Execution, Finished, Prepared, Refusal, prepare};
use crate::properties::{Verdict, properties};
use crate::report::{self, Comparison, HeatMap};
use crate::{Colour, Exit, Outcome, heat, precision, wmma};
use equiv::{
    Answer, Compared, Difference, Input, InputKind, Output, Side, Witness, compare, confirm,
};
use exec::domain::InputSource;
use exec::{Argument, Contents};
use ir::Scalar;

/// Inputs of a difference that a report shows.
const SHOWN_INPUTS: usize = 12;

/// Compares two kernels; results are text.
#[must_use]
pub fn run(executions: [&Execution<'_>; 2], snap: bool, colour: Colour) -> Outcome {
    let mut prepared = Vec::new();
    for execution in executions {
        match prepare(execution, "equiv", MissingData::Opaque) {
            Ok(side) => prepared.push(side.lifted()),
            Err(refusal) => return refused(execution, &refusal, colour),
        }
    }
    let Ok([reference, optimised]) = <[Prepared<'_>; 2]>::try_from(prepared) else {
        return Outcome::bad_input("two kernels are needed");
    };
    if let Some(name) = executions.iter().find_map(|execution| strided_input(execution)) {
        let text =
            format!("equivalence: unknown: inputs with strides (`{name}`) are not compared yet\n");
        let report = Some(report::unknown("equiv", "equivalence", executions[1], &text));
        return Outcome { exit: Exit::Unknown, report, ..Outcome::done(text) };
    }
    let limits = executions[0].limits;
    let sides = [side(&reference), side(&optimised)];
    let compared = compare([&sides[0], &sides[1]], limits, snap);
    let witness = match &compared.answer {
        Some(Answer::Different(difference)) => confirm([&sides[0], &sides[1]], difference, limits),
        _ => None,
    };
    let heat = match &compared.answer {
        Some(Answer::Different(difference)) => {
            let outputs = &optimised.built.outputs;
            let output = outputs.iter().find(|one| one.name == difference.position.name);
            let shape = output.map(|output| output.shape.clone()).unwrap_or_default();
            heat::map([&sides[0], &sides[1]], difference, shape, limits)
        }
        _ => None,
    };
    drop(sides);
    let checks = exec::Checks::default();
    let [one, other] = compared.outcomes.clone();
    let finished = [reference.finish(one, checks), optimised.finish(other, checks)];
    tell(&finished, &compared, witness.as_ref(), heat, colour)
}

/// An input whose elements are not in the order of its indices.
fn strided_input(execution: &Execution<'_>) -> Option<String> {
    let strided = execution.arguments.specs.iter().find(|spec| match &spec.value {
        ArgumentValue::Tensor(tensor) => {
            tensor.strides.is_some() && tensor.direction != Direction::Out
        }
        _ => false,
    });
    strided.map(|spec| spec.name.clone())
}

fn refused(execution: &Execution<'_>, refusal: &Refusal, colour: Colour) -> Outcome {
    let mut outcome = refusal.tell(execution.input, colour);
    outcome.report = Some(report::refusal("equiv", execution, refusal));
    let name = execution.input.name();
    outcome.messages = format!("{name}:\n{}", outcome.messages);
    outcome
}

/// A side of the comparison, from its launch.
fn side<'p>(prepared: &'p Prepared<'_>) -> Side<'p> {
    let launch = &prepared.built.launch;
    let mut inputs = Vec::new();
    for (number, buffer) in launch.buffers.iter().enumerate() {
        let (Contents::Opaque(bytes), Some(scalar)) = (&buffer.contents, buffer.element) else {
            continue;
        };
        let count = bytes / u64::from(scalar.width().bytes().max(1));
        inputs.push(Input {
            name: buffer.name.clone(),
            source: InputSource::Buffer(number),
            scalar,
            kind: InputKind::Tensor(u32::try_from(count).unwrap_or(u32::MAX)),
        });
    }
    for (position, argument) in launch.arguments.iter().enumerate() {
        let name = prepared.built.names.get(position).cloned().unwrap_or_default();
        let mut add = |name: String, offset: u64, scalar: Scalar| {
            let source = InputSource::Argument(position, offset);
            inputs.push(Input { name, source, scalar, kind: InputKind::Scalar });
        };
        match argument {
            Argument::Opaque(Some(scalar)) => add(name, 0, *scalar),
            Argument::Struct(pieces) => {
                for (offset, piece) in pieces {
                    if let Argument::Opaque(Some(scalar)) = piece {
                        add(format!("{name}.{offset}"), *offset, *scalar);
                    }
                }
            }
            _ => {}
        }
    }
    let output = |output: &crate::arguments::OutputSpec| {
        let bytes = output.element.bytes() as usize;
        Output {
            name: output.name.clone(),
            buffer: output.buffer,
            scalar: output.element.scalar(),
            starts: output.offsets().map(|offset| offset as usize * bytes).collect(),
        }
    };
    let outputs = prepared.built.outputs.iter().map(output).collect();
    Side { program: prepared.program(), launch, inputs, outputs }
}

fn tell(
    sides: &[Finished<'_>; 2],
    compared: &Compared,
    witness: Option<&Witness>,
    heat: Option<HeatMap>,
    colour: Colour,
) -> Outcome {
    let mut text = String::new();
    let mut verdict = Verdict::Proved;
    let mut messages = String::new();
    for (finished, name) in sides.iter().zip(["reference", "optimised"]) {
        text.push_str(&finished.tell(colour));
        messages.push_str(&finished.notes());
        let all = Verdict::of_all(properties(finished).into_iter().map(|one| one.verdict));
        if all != Verdict::Proved {
            let about = properties(finished);
            let open = about.iter().filter(|one| one.verdict != Verdict::Proved);
            let open: Vec<String> =
                open.map(|one| format!("{} {}", one.name, one.verdict.name())).collect();
            text.push_str(&format!("{name}: {}\n", open.join(", ")));
        }
        verdict = Verdict::of_all([verdict, all].into_iter());
    }
    let (sentence, equality) = judge(sides, compared, witness, verdict);
    text.push_str(&sentence);
    if equality == Verdict::Proved {
        for note in precision::notes(sides[0].kernel(), sides[1].kernel()) {
            text.push_str(&format!("precision: {note}\n"));
        }
    }
    let assumptions = assumptions(sides, compared);
    for assumption in &assumptions {
        text.push_str(&format!("assumed: {assumption}\n"));
    }
    let confirmed = witness.is_some_and(Witness::shows_difference);
    let difference = match &compared.answer {
        Some(Answer::Different(difference)) if equality == Verdict::Refuted => {
            Some((&**difference, confirmed))
        }
        _ => None,
    };
    let comparison =
        Comparison { verdict: equality, sentence: &sentence, difference, assumptions, heat };
    let report = Some(report::equiv(sides, comparison));
    let exit = match Verdict::of_all([verdict, equality].into_iter()) {
        Verdict::Refuted => Exit::Refuted,
        Verdict::Unknown => Exit::Unknown,
        Verdict::Proved => Exit::Success,
    };
    let thread_instructions = compared.outcomes.iter().map(|one| one.lane_instructions).sum();
    Outcome { output: text, messages, exit, thread_instructions, report }
}

/// What is said of the outputs, and the verdict on their equality alone.
fn judge(
    sides: &[Finished<'_>; 2],
    compared: &Compared,
    witness: Option<&Witness>,
    runs: Verdict,
) -> (String, Verdict) {
    let Some(answer) = &compared.answer else {
        return ("equivalence: unknown: a run stopped\n".to_owned(), Verdict::Unknown);
    };
    // What a racy kernel computes is not a function of its inputs.
    let racy = sides.iter().any(|side| {
        properties(side)
            .iter()
            .any(|one| matches!(one.name, "races" | "barriers") && one.verdict != Verdict::Proved)
    });
    if racy {
        let text = "equivalence: unknown: the runs hold for one schedule only\n";
        return (text.to_owned(), Verdict::Unknown);
    }
    let reinterpreted = sides.iter().find_map(|side| {
        let place = wmma::uses(side.kernel()).other_kind?;
        Some(side.kernel().line(place))
    });
    if let Some(line) = reinterpreted {
        let text = format!(
            "equivalence: unknown: {line} takes a fragment of wmma for one of another kind\n"
        );
        return (text, Verdict::Unknown);
    }
    match answer {
        Answer::Equal if runs == Verdict::Refuted => {
            let text = "equivalence: unknown: a run has errors\n";
            (text.to_owned(), Verdict::Unknown)
        }
        Answer::Equal => (equal(sides, compared), Verdict::Proved),
        Answer::Different(difference) => different(difference, witness),
        Answer::Unknown(first, count) => {
            let (name, index) = (&first.position.name, first.position.index);
            let text = format!(
                "equivalence: unknown: {count} of {} elements, `{name}[{index}]` first: {}\n",
                compared.elements, first.reason
            );
            (text, Verdict::Unknown)
        }
        Answer::Mismatch(reason) => (format!("equivalence: unknown: {reason}\n"), Verdict::Unknown),
    }
}

fn equal(sides: &[Finished<'_>; 2], compared: &Compared) -> String {
    let rungs = compared.rungs.iter().map(|(name, count)| format!("{count} by {name}"));
    let rungs: Vec<String> = rungs.collect();
    let [one, other] = sides.each_ref().map(|side| side.blocks());
    format!(
        "equivalence: proved: {} output elements are equal ({}); {one} against {other}\n",
        compared.elements,
        rungs.join(", ")
    )
}

fn different(difference: &Difference, witness: Option<&Witness>) -> (String, Verdict) {
    let (name, index) = (&difference.position.name, difference.position.index);
    let shown = witness.is_some_and(Witness::shows_difference);
    // A difference of definedness must show on the kernels themselves.
    let contradicted =
        witness.is_some_and(Witness::contradicts) || difference.values[1].is_none() && !shown;
    let mut text = match contradicted {
        true => format!("equivalence: unknown: `{name}[{index}]` may differ\n"),
        false => format!("equivalence: refuted: `{name}[{index}]` differs\n"),
    };
    let sides = ["reference", "optimised"];
    for (side, expression) in sides.iter().zip(&difference.expressions) {
        text.push_str(&format!("  {side:9} = {expression}\n"));
    }
    let shown = difference.inputs.iter().take(SHOWN_INPUTS);
    let mut inputs: Vec<String> = shown.map(|(name, value)| format!("{name} = {value}")).collect();
    if difference.inputs.len() > SHOWN_INPUTS {
        inputs.push(format!("{} more", difference.inputs.len() - SHOWN_INPUTS));
    }
    text.push_str(&format!("  with {}:\n", inputs.join(", ")));
    for (side, value) in sides.iter().zip(&difference.values) {
        let value = value.map_or("undefined".to_owned(), |value| value.to_string());
        text.push_str(&format!("  {side:9} = {value}\n"));
    }
    if witness.is_some_and(Witness::shows_difference) {
        text.push_str("  both kernels, run on intervals there, give these values\n");
    }
    (text, if contradicted { Verdict::Unknown } else { Verdict::Refuted })
}

fn assumptions(sides: &[Finished<'_>; 2], compared: &Compared) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for assumption in sides.iter().flat_map(Finished::assumptions) {
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
    for side in sides {
        if let Some(place) = wmma::uses(side.kernel()).elements {
            let line = side.kernel().line(place);
            all.push(format!(
                "fragments of wmma are laid out as on sm_80 and sm_90: {line} computes with elements"
            ));
        }
    }
    all.push("floats are real numbers: rounding and overflow are not looked at".to_owned());
    if !compared.snapped.is_empty() {
        let names: Vec<&str> = compared.snapped.iter().copied().collect();
        all.push(format!("constants stand for {} (--no-snap)", names.join(", ")));
    }
    let conditions = compared.conditions.iter();
    all.extend(conditions.map(|condition| format!("the optimised kernel is defined: {condition}")));
    all
}
