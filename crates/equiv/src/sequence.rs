//! Runs the launches of a side in sequence: each launch finds the memory that the earlier ones left.
//!
//! All run in one domain, so the results of a launch are terms of the inputs of the whole sequence. The end
//! of a launch orders everything before everything after it. All data handed on must be known: an element
//! that was never written, or with a lost value, ends the sequence.

use crate::clock::Clock;
use crate::mismatch::Mismatch;
use crate::side::{InputKind, Output, Side};
use crate::side_run::SideRun;
use crate::symbolic::Symbolic;
use crate::table::Table;
use crate::tickets;
use exec::domain::InputSource;
use exec::{
    Contents, Doubt, Element, Fault, FinalContents, Launch, Limits, Outcome, Place, Results,
};
use ir::{Program, Space};

/// The launches of a side, ready to run.
pub(crate) struct Launches<'l, 's> {
    pub(crate) side: &'l Side<'s>,
    /// The number of the side, 0 for the reference.
    pub(crate) number: usize,
    pub(crate) table: &'l Table,
    pub(crate) clock: Clock,
}

impl Launches<'_, '_> {
    /// Runs the launches. At the places in `equal_writes`, given for each launch, the domain decides if a
    /// store leaves the present value in place.
    pub(crate) fn run(&self, domain: Symbolic, equal_writes: Option<&[Vec<Place>]>) -> SideRun {
        let mut ran = SideRun { outcomes: Vec::new(), results: Vec::new(), domain, obstacle: None };
        for (number, one) in self.side.launches().enumerate() {
            let mut launch = one.launch.clone();
            if number > 0
                && let Err(why) = self.hand_on(&mut ran, number, &mut launch)
            {
                ran.obstacle = Some(Mismatch::Launch { number: number + 1, why: Box::new(why) });
                return ran;
            }
            let places =
                equal_writes.and_then(|places| places.get(number)).filter(|one| !one.is_empty());
            let (domain, limits) = (&mut ran.domain, self.clock.limits());
            let plain = (limits, exec::Checks::default());
            let on_difference = tickets::OnDifference::Gap;
            let ticket_run = tickets::run(one.program, &launch, plain, domain, on_difference);
            let (outcome, results) = match (ticket_run, places) {
                (Some(ran), _) => ran,
                (None, None) => exec::check_in(one.program, &launch, limits, domain),
                (None, Some(places)) => {
                    let places = places.iter().copied();
                    exec::check_with_equal_writes(one.program, &launch, plain, domain, places)
                }
            };
            let outcome = with_unused_reads(one.program, &launch, limits, outcome);
            let stopped = outcome.gap.is_some();
            ran.outcomes.push(outcome);
            ran.results.push(results);
            if stopped {
                return ran;
            }
            if number > 0
                && let Some(name) = read_module_variable(one, ran.outcomes.last())
            {
                ran.obstacle =
                    Some(Mismatch::ModuleVariable { number: number + 1, name: name.to_owned() });
                return ran;
            }
        }
        ran
    }

    /// Gives a launch the data that earlier launches left in memory.
    fn hand_on(
        &self,
        ran: &mut SideRun,
        number: usize,
        launch: &mut Launch,
    ) -> Result<(), Mismatch> {
        let Some(one) = self.side.launches().nth(number) else { return Ok(()) };
        self.side.check_sequence()?;
        self.table.begin(&mut ran.domain, self.side, number, self.number)?;
        for input in &one.inputs {
            let Some((from, output)) = self.side.writer(number, &input.name) else { continue };
            let InputSource::Buffer(into) = input.source else { continue };
            let SideRun { results, domain, .. } = ran;
            let Some(results) = results.get_mut(from) else { continue };
            match final_contents(results, domain, output)? {
                FinalContents::Bytes(bytes) => {
                    if let Some(buffer) = launch.buffers.get_mut(into) {
                        buffer.contents = Contents::Known(bytes);
                    }
                }
                FinalContents::Values(values) => {
                    let terms: Vec<_> = values.iter().map(|value| domain.term(*value)).collect();
                    if let Some(at) = terms.iter().position(|term| domain.may_be_undefined(*term)) {
                        return Err(Mismatch::Conditional { name: output.name.clone(), at });
                    }
                    domain.define_input(input.source, terms);
                }
            }
        }
        Ok(())
    }
}

/// Turns races of reads into notes if a run without values shows that nothing depends on the racing reads.
fn with_unused_reads(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    mut outcome: Outcome,
) -> Outcome {
    let has_errors =
        |outcome: &Outcome| outcome.findings.iter().any(|finding| !finding.fault.is_note());
    if !has_errors(&outcome) {
        return outcome;
    }
    let checks = exec::Checks::default();
    let followed = exec::follow_racing_reads(program, launch, limits, checks, outcome.clone());
    // A racing read that reaches an output is a doubt of that run.
    let is_known = |doubt: &Doubt| {
        outcome
            .doubts
            .iter()
            .any(|earlier| (earlier.place, &earlier.about) == (doubt.place, &doubt.about))
    };
    if has_errors(&followed) || followed.gap.is_some() || !followed.doubts.iter().all(is_known) {
        return outcome;
    }
    for finding in &mut outcome.findings {
        if let Fault::Race(race) = &mut finding.fault {
            race.unused |= !race.is_harmless();
        }
    }
    outcome
}

/// Returns a module variable that a launch read and that an earlier launch may have changed: our runs
/// initialise it for each launch.
fn read_module_variable<'p>(launch: &Side<'p>, outcome: Option<&Outcome>) -> Option<&'p str> {
    let variables = &launch.program.variables;
    let mut read = outcome?.initialisers.iter().map(|&variable| &variables[variable]);
    read.find(|variable| variable.space != Space::Const).map(|variable| variable.name.as_str())
}

impl Side<'_> {
    /// Checks that later launches read the data as earlier ones wrote them.
    ///
    /// # Errors
    /// The first tensor with another type, size or strides.
    pub fn check_sequence(&self) -> Result<(), Mismatch> {
        for (number, one) in self.launches().enumerate() {
            for input in &one.inputs {
                let Some((_, output)) = self.writer(number, &input.name) else { continue };
                let InputSource::Buffer(into) = input.source else {
                    let name = input.name.clone();
                    return Err(Mismatch::NoTensor { name, number: number + 1 });
                };
                if matches!(input.kind, InputKind::Tensor { structure: Some(_), .. }) {
                    return Err(Mismatch::HandedOn { name: input.name.clone() });
                }
                let plain = matches!(input.kind, InputKind::Tensor { order: None, .. });
                let buffer = one.launch.buffers.get(into);
                let bytes = buffer.map_or(0, |buffer| buffer.contents.size());
                check_layout(output, plain && input.scalar == output.scalar, bytes)?;
            }
        }
        Ok(())
    }
}

/// Checks that a launch interprets the memory of an earlier output as that output does: same type, elements in
/// order without gaps, same size.
fn check_layout(output: &Output, same_type: bool, bytes: u64) -> Result<(), Mismatch> {
    let size = output.scalar.width().bytes() as usize;
    let in_order = output.starts.iter().enumerate().all(|(at, start)| *start == at * size);
    if !same_type || !in_order || bytes != (output.starts.len() * size) as u64 {
        return Err(Mismatch::Layout { name: output.name.clone() });
    }
    Ok(())
}

/// Returns the final contents of an output, all of which must be known.
fn final_contents(
    results: &mut Results,
    domain: &mut Symbolic,
    output: &Output,
) -> Result<FinalContents, Mismatch> {
    let name = output.name.clone();
    results.final_contents(domain, output.buffer, output.scalar).map_err(|(at, element)| {
        match element {
            Element::Lost(lost) => Mismatch::Lost { name, at, reason: lost.reason },
            _ => Mismatch::Unwritten { name, at },
        }
    })
}
