//! The answer for a kernel: proofs, refutations with their witnesses, and tests of the proofs.

use crate::engine::{self, Effort, OpenClaim, Proof, Property, SAFETY, values};
use crate::prover::Stats;
use crate::trials::{TEST_LAUNCHES, TrialResults, is_unsigned_wrap, places, property};
use interp::{self, Event, Launch};
use kir::partial;
use kir::{ArrayId, Kernel, barrier_claims, used_lemmas};
use smt::Solver;

/// Number of launches to run if something is open: each may refute it.
const SEARCH_LAUNCHES: usize = 160;

/// Options of a proof.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Set if loop invariants are inferred.
    pub infers: bool,
    /// Set if launch preconditions are searched under which open properties hold.
    pub suggests: bool,
}

/// The verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds for every launch.
    Proved,
    /// It fails on a launch.
    Refuted,
    /// Neither is known.
    Unknown,
}

/// A failure that a run showed: a launch and the event.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The launch.
    pub launch: Launch,
    /// The event.
    pub event: Event,
}

/// A property and its verdict.
#[derive(Clone, Debug)]
pub struct PropertyVerdict {
    /// The property.
    pub property: Property,
    /// Its verdict.
    pub verdict: Verdict,
    /// Its claims that were not proved.
    pub open: Vec<OpenClaim>,
    /// Witnesses of its failure, the smallest launch first.
    pub findings: Vec<Finding>,
    /// Launch preconditions under which it was proved, if a search found some.
    pub holds_if: Vec<String>,
}

/// The answer for a kernel.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict on each property.
    pub properties: Vec<PropertyVerdict>,
    /// Arrays whose size is not stated.
    pub unsized_arrays: Vec<ArrayId>,
    /// Axes with an assumed limit of 2^31 threads.
    pub limited: [bool; 3],
    /// Launches that were run to the end.
    pub tested: usize,
    /// The smallest launch that the contract allows. If none was found, nothing counts as proved.
    pub example: Option<Launch>,
    /// A proof that a run contradicts: a bug of ours.
    pub contradiction: Option<(Property, Finding)>,
    /// Invariants of loops that were inferred and proved, each with the place of its loop.
    pub learnt: Vec<(base::Span, String)>,
    /// Statistics of the queries.
    pub stats: Stats,
    /// Set if questions were left open because there is no solver.
    pub missed_solver: bool,
    /// Set if the solver stopped answering.
    pub solver_died: bool,
}

/// Proves a kernel; returns the solver for the next one.
#[must_use]
pub fn prove(
    kernel: &Kernel,
    solver: Option<Solver>,
    options: Options,
) -> (Answer, Option<Solver>) {
    let mut tests = TrialResults::default();
    // Tests come first, so that a failing launch is reported even if the proof runs out of time.
    tests.small(kernel, TEST_LAUNCHES);
    let proved = deadline::until_deadline(|| prove_all(kernel, solver, options));
    let (proof, solver) = proved.unwrap_or_else(|| (Proof::given_up(kernel), None));
    if !proof.open.is_empty() && !deadline::is_over() {
        tests = TrialResults::default();
        tests.small(kernel, SEARCH_LAUNCHES);
    }
    if !deadline::is_over() {
        tests.at_constants(kernel);
        if proof.open.iter().any(|open| open.property == Property::Overflow) {
            tests.large(kernel);
        }
        tests.replay(kernel, &proof.candidate_launches);
    }
    if kernel.fences {
        // The interpreter does not know the order that fences make, so a race in a run may be a false alarm.
        tests.findings.retain(|finding| property(&finding.event) != Property::Races);
    }
    // If no contents satisfy the requirements, every claim would hold vacuously.
    if interp::constrains_contents(kernel) && !tests.found_contents {
        tests.example = None;
    }
    // The same holds if no run satisfies the assumptions.
    if tests.tested == 0 && tests.failed_assumptions > 0 {
        tests.example = None;
    }
    // Claims that other proofs use: at barriers, of lemmas, and in the contracts of called functions.
    let mut relied_on = barrier_claims(&kernel.body).iter().map(|one| one.span).collect::<Vec<_>>();
    relied_on.extend(used_lemmas(&kernel.body));
    let contracts = kernel.contracts.iter();
    relied_on.extend(contracts.flat_map(|one| one.relies.iter().copied().chain([one.span])));
    let converts = !tests.converted.is_empty();
    let answer = assemble(proof, tests, &relied_on);
    if options.suggests && answer.example.is_some() && !deadline::is_over() {
        return answer.with_suggestions(kernel, solver, (options.infers, converts));
    }
    (answer, solver)
}

/// Tries to prove each property, one group after the other.
fn prove_all(kernel: &Kernel, solver: Option<Solver>, options: Options) -> (Proof, Option<Solver>) {
    let (mut proof, solver) =
        engine::prove(kernel, solver, Effort { infers: options.infers, only: None });
    let solver = prove_first_reads(kernel, &mut proof, solver, options);
    let solver = prove_postconditions(kernel, &mut proof, solver, options);
    let solver = prove_contracts(kernel, &mut proof, solver, options);
    (proof, solver)
}

/// Proves that shared and local memory is stored to before it is read. This needs the safety properties: without them
/// the order of accesses is not known.
fn prove_first_reads(
    kernel: &Kernel,
    proof: &mut Proof,
    solver: Option<Solver>,
    options: Options,
) -> Option<Solver> {
    let is_unsafe = proof.open.iter().any(|open| SAFETY.contains(&open.property));
    if is_unsafe || !values::has_reads(kernel) {
        return solver;
    }
    let (reads, solver) = values::initialised(kernel, solver, options.infers);
    proof.checks_initialised = true;
    proof.open.extend(reads.open);
    proof.stats.add(reads.stats);
    proof.missed_solver |= reads.missed_solver;
    proof.solver_died |= reads.solver_died;
    solver
}

/// Proves the contract's claims about the end of the launch. This needs the safety properties: without them the final
/// memory is not determined.
fn prove_postconditions(
    kernel: &Kernel,
    proof: &mut Proof,
    solver: Option<Solver>,
    options: Options,
) -> Option<Solver> {
    let has_postconditions = !kernel.ensures.is_empty() || !kernel.footprints.is_empty();
    let has_barrier_claims = !barrier_claims(&kernel.body).is_empty();
    if !has_postconditions && !engine::has_loop_claims(kernel) && !has_barrier_claims {
        return solver;
    }
    let is_monoid = |open: &OpenClaim| kernel.monoids.iter().any(|one| one.span == open.span);
    let is_undefined =
        proof.open.iter().any(|open| SAFETY.contains(&open.property) || is_monoid(open));
    if is_undefined || !proof.unsized_arrays.is_empty() {
        let footprints = kernel.footprints.iter().map(|one| one.span);
        let spans = kernel.ensures.iter().map(|claim| claim.span).chain(footprints);
        proof.open.extend(spans.map(|span| OpenClaim {
            property: Property::Postcondition,
            span,
            other: None,
            message: "this claim: other properties are not proved, so the kernel's result may be undefined"
                .to_owned(),
        }));
        return solver;
    }
    for (span, message) in partial::never_defined(kernel) {
        proof.open.push(OpenClaim {
            property: Property::Postcondition,
            span,
            other: None,
            message,
        });
    }
    // A lemma that is not proved may not be used.
    let mut kernel = kernel.clone();
    kernel.lemmas.retain(|one| !proof.open.iter().any(|open| open.span == one.span));
    let (ensured, solver) = values::ensured(&kernel, solver, options.infers);
    proof.open.extend(ensured.open);
    proof.learnt = ensured.learnt;
    // The claims examined here get a new answer; they were open because no proof had covered them yet.
    let is_examined = |one: &OpenClaim| ensured.claims.iter().any(|(span, _)| *span == one.span);
    proof.open.retain(|one| one.property != Property::Invariant || !is_examined(one));
    for (span, why) in ensured.claims {
        proof.open.extend(why.map(|message| OpenClaim {
            property: Property::Invariant,
            span,
            other: None,
            message: format!("this invariant: {message}"),
        }));
    }
    proof.stats.add(ensured.stats);
    proof.missed_solver |= ensured.missed_solver;
    proof.solver_died |= ensured.solver_died;
    solver
}

/// Proves the contracts that calls assume: each function alone, as a kernel of one block.
fn prove_contracts(
    kernel: &Kernel,
    proof: &mut Proof,
    solver: Option<Solver>,
    options: Options,
) -> Option<Solver> {
    let mut solver = solver;
    for contract in &kernel.contracts {
        let options = Options { suggests: false, ..options };
        let (answer, returned) = prove(&contract.kernel, solver, options);
        solver = returned;
        let failed = answer.properties.iter().find(|one| one.verdict != Verdict::Proved);
        let why = match failed {
            None if answer.unsized_arrays.is_empty() => continue,
            None => "not all of its arrays have a size".to_owned(),
            Some(one) if one.verdict == Verdict::Refuted => {
                format!("a launch of the function alone refutes {}", one.property.name())
            }
            Some(one) => match one.open.first() {
                Some(open) => format!("could not show {}", open.message),
                None if answer.example.is_none() => {
                    "no launch satisfies its preconditions".to_owned()
                }
                None => format!("{} was not proved", one.property.name()),
            },
        };
        let message = format!("the contract of `{}`: {why}", contract.name);
        let span = contract.span;
        proof.open.push(OpenClaim { property: Property::Invariant, span, other: None, message });
        proof.missed_solver |= answer.missed_solver;
    }
    proof.has_claims |= !kernel.contracts.is_empty();
    solver
}

impl Answer {
    /// The answer for a kernel if the work was given up: every property is unknown.
    #[must_use]
    pub fn given_up(kernel: &Kernel) -> Self {
        let open = Proof::given_up(kernel).open.into_iter();
        let properties = open.filter(|one| SAFETY.contains(&one.property)).map(|one| {
            let (property, verdict) = (one.property, Verdict::Unknown);
            let open = vec![one];
            PropertyVerdict { property, verdict, open, findings: Vec::new(), holds_if: Vec::new() }
        });
        Self {
            properties: properties.collect(),
            unsized_arrays: Vec::new(),
            limited: [false; 3],
            tested: 0,
            example: None,
            contradiction: None,
            learnt: Vec::new(),
            stats: Stats::default(),
            missed_solver: false,
            solver_died: false,
        }
    }

    /// Adds launch preconditions under which open properties would hold. They are also searched for failed properties
    /// that often fail only because of sizes: overflow, races and bounds. `converts` says that a run converted a number
    /// that does not fit.
    fn with_suggestions(
        mut self,
        kernel: &Kernel,
        solver: Option<Solver>,
        (infers, converts): (bool, bool),
    ) -> (Self, Option<Solver>) {
        let mut solver = solver;
        for checked in &mut self.properties {
            let may_help = match checked.verdict {
                Verdict::Proved => false,
                Verdict::Refuted => matches!(
                    checked.property,
                    Property::Overflow | Property::Races | Property::Bounds
                ),
                // Without a solver, the solver may be all that is missing.
                Verdict::Unknown => {
                    let is_converted = converts && checked.property == Property::Overflow;
                    !checked.open.is_empty() && (is_converted || !self.missed_solver)
                }
            };
            let claims = [
                Property::Initialised,
                Property::Invariant,
                Property::Postcondition,
                Property::Clauses,
            ];
            if may_help && !claims.contains(&checked.property) {
                let failed = checked.verdict == Verdict::Refuted;
                (checked.holds_if, solver) = crate::suggest::preconditions(
                    kernel,
                    (checked.property, failed),
                    solver,
                    infers,
                );
            }
        }
        (self, solver)
    }
}

/// Assembles the answer from a proof and from runs: for each property a verdict, with open claims and findings.
fn assemble(proof: Proof, tests: TrialResults, relied_on: &[base::Span]) -> Answer {
    let mut reported = SAFETY.to_vec();
    // The definedness of clauses is reported only if it is open or a run refutes it.
    let about_clauses = |one: &Finding| property(&one.event) == Property::Clauses;
    if proof.open.iter().any(|one| one.property == Property::Clauses)
        || tests.findings.iter().any(about_clauses)
    {
        reported.push(Property::Clauses);
    }
    let unwritten = |one: &Finding| property(&one.event) == Property::Initialised;
    if proof.checks_initialised || tests.findings.iter().any(unwritten) {
        reported.push(Property::Initialised);
    }
    if proof.has_claims {
        reported.push(Property::Invariant);
    }
    if proof.has_postconditions {
        reported.push(Property::Postcondition);
    }
    let may_overflow = proof.open.iter().any(|open| open.property == Property::Overflow);
    let mut contradiction = None;
    let mut properties = Vec::new();
    for one in reported {
        let open: Vec<OpenClaim> =
            proof.open.iter().filter(|open| open.property == one).cloned().collect();
        // Conversions that compilers define contradict a proof, and are otherwise no findings.
        let converted = tests.converted.iter().filter(|_| open.is_empty());
        let findings = tests.findings.iter().chain(converted);
        let findings = findings.filter(|finding| property(&finding.event) == one);
        // C++ defines that unsigned numbers wrap around. If the proof is open there, that is unsupported, not a
        // mistake of the kernel.
        let findings: Vec<Finding> = findings
            .filter(|one| !is_unsigned_wrap(&one.event) || open.is_empty())
            .cloned()
            .collect();
        if open.is_empty()
            && let Some(finding) = findings.first()
            && is_independent(&proof, one, relied_on)
            // Reads were only examined if the other properties were proved.
            && (one != Property::Initialised || proof.checks_initialised)
            // Bounds are proved assuming that nothing wraps.
            && (one != Property::Bounds || !may_overflow)
        {
            contradiction = contradiction.or_else(|| Some((one, finding.clone())));
        }
        let is_new = |finding: &&Finding| {
            findings.iter().all(|other| places(&other.event) != places(&finding.event))
        };
        let later = tests.after_wrap.iter().filter(|finding| property(&finding.event) == one);
        let later: Vec<Finding> = later.filter(is_new).cloned().collect();
        let findings = [findings, later].concat();
        let verdict = match (findings.is_empty(), open.is_empty()) {
            (false, _) => Verdict::Refuted,
            // If the contract allows no launch, every property would hold vacuously.
            (true, true) if tests.example.is_some() && is_independent(&proof, one, relied_on) => {
                Verdict::Proved
            }
            _ => Verdict::Unknown,
        };
        let holds_if = Vec::new();
        properties.push(PropertyVerdict { property: one, verdict, open, findings, holds_if });
    }
    Answer {
        properties,
        unsized_arrays: proof.unsized_arrays,
        limited: proof.limited,
        tested: tests.tested,
        example: tests.example,
        contradiction,
        learnt: proof.learnt,
        stats: proof.stats,
        missed_solver: proof.missed_solver,
        solver_died: proof.solver_died,
    }
}

/// Returns `true` if the proof of a property depends on no open claim. Races are checked interval by interval, which
/// assumes that all threads reach the barriers. Proofs of every property use the claims in `relied_on`. The proofs of
/// these claims in turn assume that no other property fails before their place.
fn is_independent(proof: &Proof, property: Property, relied_on: &[base::Span]) -> bool {
    let open = |other: Property| proof.open.iter().any(|one| one.property == other);
    let endangers_claims = |one: &OpenClaim| match one.property {
        Property::Invariant => relied_on.contains(&one.span),
        Property::Postcondition | Property::Values => false,
        _ => true,
    };
    if !relied_on.is_empty() && proof.open.iter().any(endangers_claims) {
        return false;
    }
    // A clause that divides by zero, say, has no value: assuming it may prove anything.
    if open(Property::Clauses) {
        return false;
    }
    match property {
        Property::Races => !open(Property::Barriers),
        Property::Postcondition => proof.unsized_arrays.is_empty(),
        _ => true,
    }
}
