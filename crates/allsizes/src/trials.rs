//! Runs launches that the contract allows: to refute wrong claims, and to test proofs against the interpreter.
//!
//! An event of a run (a race, an access out of bounds, …) is a finding. A run ends at an overflow. If that was of an
//! unsigned number, which C++ lets wrap around, the launch is run once more with the machine's arithmetic. If that was
//! of a signed number, it is run once more with conversions as compilers define them: only an overflow that happens
//! again, in arithmetic, is a finding.

use crate::answer::Finding;
use crate::engine::Property;
use crate::search;
use interp::{self, CompiledRunOptions, Draw, End, Event, Launch, Run, Thread};
use kir::relevance;
use kir::{Kernel, Type};
use std::collections::BTreeMap;

/// Number of launches for testing a proof in which nothing is open.
pub(crate) const TEST_LAUNCHES: usize = 40;
/// Limits on instructions of all runs together: for searching, and for testing proofs.
const BUDGET: u64 = 1_500_000;
const TEST_BUDGET: u64 = 200_000;
/// Limits on instructions of one run, and of one thread of a large launch.
const MAX_RUN_STEPS: u64 = 400_000;
const MAX_THREAD_STEPS: u64 = 20_000;
/// Launches to run if a contract allows only large ones: their number, threads and instructions.
const LARGE_LAUNCHES: usize = 3;
const LARGE_THREADS: i128 = 1 << 17;
const MAX_LARGE_RUN_STEPS: u64 = 5_000_000;
/// Number of contents to run a model's launch with.
const SEEDS: u64 = 3;

/// Results of runs.
#[derive(Default)]
pub(crate) struct TrialResults {
    pub(crate) findings: Vec<Finding>,
    pub(crate) tested: usize,
    pub(crate) example: Option<Launch>,
    /// Runs that ended because an `assume` of the source did not hold.
    pub(crate) failed_assumptions: usize,
    /// Events after an unsigned number had wrapped around. C++ defines that, but proofs assume that it does not happen.
    pub(crate) after_wrap: Vec<Finding>,
    /// Overflows in conversions that compilers define. Proofs exclude them too.
    pub(crate) converted: Vec<Finding>,
    /// Set if contents were found that satisfy the contract's requirements on contents.
    pub(crate) found_contents: bool,
}

impl TrialResults {
    /// Runs small launches as a whole.
    pub(crate) fn small(&mut self, kernel: &Kernel, wanted: usize) {
        let launches = search::small(kernel, wanted);
        self.example = launches.first().cloned();
        let mut left = if wanted == TEST_LAUNCHES { TEST_BUDGET } else { BUDGET };
        let runnable = |one: &&Launch| search::is_runnable(one);
        let mut chosen: Vec<Launch> = launches.iter().filter(runnable).cloned().collect();
        let mut most = MAX_RUN_STEPS;
        if chosen.is_empty() {
            // The contract requires large launches: run a few of them, each for longer.
            let large: Vec<Launch> =
                launches.into_iter().filter(|one| one.threads() <= LARGE_THREADS).collect();
            // Launches next to each other in the list differ little, so take a sample of the whole list.
            let step = (large.len() / LARGE_LAUNCHES).max(1);
            chosen = large.into_iter().rev().step_by(step).take(LARGE_LAUNCHES).collect();
            chosen.reverse();
            most = MAX_LARGE_RUN_STEPS;
            left = MAX_LARGE_RUN_STEPS * LARGE_LAUNCHES as u64;
        }
        for batch in chosen.chunks(deadline::jobs()) {
            // A run without steps shows nothing, and drawing initial contents takes time.
            if left == 0 || deadline::is_over() {
                break;
            }
            for (launch, run) in batch.iter().zip(runs(kernel, batch, most.min(left))) {
                // The batch ran in parallel with the full limit. Run again with the steps that a sequential run would
                // have left, so that results do not depend on the number of threads.
                let run = match run.steps >= left {
                    true => interp::run(kernel, launch, most.min(left)),
                    false => run,
                };
                left = left.saturating_sub(self.record_run(kernel, launch, run, most.min(left)));
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// Runs a few large launches, at constants in the kernel's conditions.
    pub(crate) fn at_constants(&mut self, kernel: &Kernel) {
        let mut left = MAX_LARGE_RUN_STEPS;
        for launch in
            search::constants::at(kernel, &relevance::compared_numbers(kernel), &BTreeMap::new())
        {
            if deadline::is_over() || left == 0 {
                break;
            }
            self.example.get_or_insert_with(|| launch.clone());
            let run = interp::run(kernel, &launch, left);
            left = left.saturating_sub(self.record_run(kernel, &launch, run, left));
        }
    }

    /// Records the result of a run; returns its steps.
    fn record_run(&mut self, kernel: &Kernel, launch: &Launch, run: Run, budget: u64) -> u64 {
        let mut steps = run.steps;
        self.tested += usize::from(run.end == End::Complete);
        self.failed_assumptions += usize::from(run.end == End::Stopped(interp::ASSUMPTION_FAILS));
        self.found_contents |= run.drew_constrained && !matches!(run.end, End::Stopped(_));
        steps += self.add_events(kernel, (launch, None), run.events, budget.saturating_sub(steps));
        steps
    }

    /// Adds the events of a run, after further runs where C++ defines a number that wrapped; returns the steps of
    /// these.
    fn add_events(
        &mut self,
        kernel: &Kernel,
        (launch, thread): (&Launch, Option<Thread>),
        events: Vec<Event>,
        budget: u64,
    ) -> u64 {
        let finding = |event: Event| Finding { launch: launch.clone(), event };
        let mut steps = 0;
        if thread.is_none() && events.iter().any(is_unsigned_wrap) {
            steps += self.rerun_with_wrapping(kernel, launch, budget);
        }
        let mut real = events;
        if real.iter().any(is_signed_overflow) {
            let most = budget.max(MAX_THREAD_STEPS);
            let again = interp::run_with_conversions(kernel, launch, thread, most);
            steps += again.steps;
            let recurs = |event: &Event| again.events.iter().any(|one| is_same(one, event));
            let (kept, converted): (Vec<_>, Vec<_>) =
                real.into_iter().partition(|event| !is_signed_overflow(event) || recurs(event));
            real = kept;
            if !converted.is_empty() {
                self.converted.extend(converted.into_iter().map(finding));
                let later = again.events;
                let (overflows, others): (Vec<_>, Vec<_>) =
                    later.into_iter().partition(is_signed_overflow);
                real.extend(overflows);
                others.into_iter().for_each(|event| self.add_after_wrap(finding(event)));
            }
        }
        real.into_iter().for_each(|event| self.add_finding(finding(event)));
        steps
    }

    /// Runs a launch on which an unsigned number wraps once more, as C++ defines it; returns its steps.
    fn rerun_with_wrapping(&mut self, kernel: &Kernel, launch: &Launch, budget: u64) -> u64 {
        let options =
            CompiledRunOptions { draw: Draw::Small, significand: 24, perturbed: None, budget };
        let run = match interp::run_compiled(kernel, launch, options) {
            Ok(left) => return left.steps,
            Err(run) => run,
        };
        for event in run.events {
            self.add_after_wrap(Finding { launch: launch.clone(), event });
        }
        run.steps
    }

    /// Keeps the first of such findings about the same places.
    fn add_after_wrap(&mut self, finding: Finding) {
        let event = &finding.event;
        let is_seen =
            matches!(property(event), Property::Bounds | Property::Races | Property::Division);
        if is_seen && self.after_wrap.iter().all(|one| places(&one.event) != places(event)) {
            self.after_wrap.push(finding);
        }
    }

    /// Runs single threads of large launches.
    pub(crate) fn large(&mut self, kernel: &Kernel) {
        let known = self.findings.iter().any(|one| property(&one.event) == Property::Overflow);
        if known {
            return;
        }
        for launch in search::large(kernel, 24) {
            let last = Thread {
                block: launch.grid.map(|extent| extent - 1),
                thread: launch.block.map(|extent| extent - 1),
            };
            let first = Thread { block: [0; 3], thread: [0; 3] };
            for thread in [last, first] {
                let run = interp::run_alone(kernel, &launch, thread, MAX_THREAD_STEPS);
                let mut events = run.events;
                events.retain(|event| property(event) == Property::Overflow);
                self.add_events(kernel, (&launch, Some(thread)), events, MAX_THREAD_STEPS);
                if self.findings.iter().any(|one| property(&one.event) == Property::Overflow) {
                    return;
                }
            }
        }
    }

    /// Runs launches from a solver's models, if they are new.
    pub(crate) fn replay(&mut self, kernel: &Kernel, candidate_launches: &[(Launch, Thread)]) {
        for (launch, thread) in candidate_launches {
            if interp::is_allowed(kernel, launch) != Some(true) || !search::is_legal(kernel, launch)
            {
                continue;
            }
            if deadline::is_over() {
                break;
            }
            for seed in 1..=SEEDS {
                let launch = Launch { seed, ..launch.clone() };
                let alone = (!search::is_runnable(&launch)).then_some(*thread);
                let (run, budget) = match alone {
                    None => (interp::run(kernel, &launch, MAX_RUN_STEPS), MAX_RUN_STEPS),
                    Some(thread) => {
                        let run = interp::run_alone(kernel, &launch, thread, MAX_THREAD_STEPS);
                        (run, MAX_THREAD_STEPS)
                    }
                };
                self.add_events(kernel, (&launch, alone), run.events, budget);
            }
        }
    }

    /// Keeps the first finding about the same places.
    fn add_finding(&mut self, finding: Finding) {
        if !self.findings.iter().any(|one| is_same(&one.event, &finding.event)) {
            self.findings.push(finding);
        }
    }
}

/// Runs launches in parallel, each on a thread of its own.
fn runs(kernel: &Kernel, launches: &[Launch], budget: u64) -> Vec<Run> {
    let run = |launch: &Launch| interp::run(kernel, launch, budget);
    let [first, others @ ..] = launches else { return Vec::new() };
    std::thread::scope(|scope| {
        let started: Vec<_> = others
            .iter()
            .map(|launch| {
                let thread = std::thread::Builder::new().stack_size(kir::depth::STACK);
                (launch, thread.spawn_scoped(scope, move || run(launch)))
            })
            .collect();
        let mut all = vec![run(first)];
        all.extend(started.into_iter().map(
            |(launch, thread)| match thread.map(|one| one.join()) {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No more threads are available.
                Err(_) => run(launch),
            },
        ));
        all
    })
}

/// Returns `true` if C++, or every compiler for CUDA, defines how this value wraps. That is so for unsigned numbers,
/// and for types narrower than `int`, to which values are converted and in which nothing is computed.
pub(crate) fn is_unsigned_wrap(event: &Event) -> bool {
    match event {
        Event::Overflow { ty: Type::Int { bits, signed }, .. } => !signed || *bits < 32,
        _ => false,
    }
}

/// Returns `true` if a number overflowed in a type in which that is undefined.
fn is_signed_overflow(event: &Event) -> bool {
    matches!(event, Event::Overflow { .. }) && !is_unsigned_wrap(event)
}

/// Returns `true` if two events are about the same property and places.
fn is_same(one: &Event, other: &Event) -> bool {
    property(one) == property(other) && places(one) == places(other)
}

/// The places in the source that an event is about, in a fixed order.
pub(crate) fn places(event: &Event) -> Vec<base::Span> {
    let mut spans = match event {
        Event::Race { first, second, .. } => vec![first.span, second.span],
        Event::OutOfBounds { access, .. }
        | Event::Footprint { access, .. }
        | Event::Unwritten { access, .. } => {
            vec![access.span]
        }
        Event::Overflow { span, .. }
        | Event::DivisionByZero { span, .. }
        | Event::Assertion { span, .. }
        | Event::Barrier { span, .. }
        | Event::Postcondition { span, .. }
        | Event::NoValue { span, .. }
        | Event::Divergence { at: span, .. } => vec![*span],
    };
    spans.sort_unstable();
    spans
}

/// The property that an event is about.
pub(crate) fn property(event: &Event) -> Property {
    match event {
        Event::Race { .. } => Property::Races,
        Event::OutOfBounds { .. } => Property::Bounds,
        Event::Overflow { .. } => Property::Overflow,
        Event::DivisionByZero { .. } => Property::Division,
        Event::Divergence { .. } => Property::Barriers,
        Event::Assertion { .. } | Event::Barrier { .. } => Property::Invariant,
        Event::Postcondition { .. } | Event::Footprint { .. } => Property::Postcondition,
        Event::NoValue { .. } => Property::Clauses,
        Event::Unwritten { .. } => Property::Initialised,
    }
}
