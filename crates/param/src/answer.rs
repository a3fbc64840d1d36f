//! All that is said of a kernel: proofs, refutations that were seen to happen, tests of the proofs.

use crate::engine::{self, Effort, Open, Proof, Property, values};
use crate::interp::{self, Event, Launch};
use crate::kir::{ArrayId, Kernel, barrier_claims, used_lemmas};
use crate::logic::side::Stats;
use crate::logic::smt::Solver;
use crate::partial;
use crate::trials::{TESTS, Tests, is_unsigned_wrap, places, property};

/// Launches that proofs are tested on, and refutations looked for.
const LAUNCHES: usize = 160;
/// Properties of every kernel; what it leaves in memory is definite if they hold.
const PLAIN: [Property; 5] =
    [Property::Races, Property::Barriers, Property::Bounds, Property::Overflow, Property::Division];

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Facts about loops are inferred.
    pub infers: bool,
    /// For what is open, demands are looked for under which it holds.
    pub suggests: bool,
}

/// What is known of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds for every launch.
    Proved,
    /// It fails on a launch.
    Refuted,
    /// Neither is known.
    Unknown,
}

/// Something that happened on a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The launch.
    pub launch: Launch,
    /// What.
    pub event: Event,
}

/// A property and what is known of it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Which.
    pub property: Property,
    /// What is known.
    pub verdict: Verdict,
    /// What could not be shown.
    pub open: Vec<Open>,
    /// Where it failed, the smallest launch first.
    pub findings: Vec<Finding>,
    /// Demands on launches under which it was proved, if some were looked for and found.
    pub holds_if: Vec<String>,
}

/// What is said of a kernel.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Property by property.
    pub properties: Vec<Checked>,
    /// Arrays whose size nobody gave.
    pub unsized_arrays: Vec<ArrayId>,
    /// On which axes fewer than 2^31 threads are assumed.
    pub limited: [bool; 3],
    /// Launches that were run to the end.
    pub tested: usize,
    /// The smallest launch that the contract allows, if one was found.
    pub example: Option<Launch>,
    /// A proof that a run contradicts: a bug of ours.
    pub contradiction: Option<(Property, Finding)>,
    /// Invariants of loops that were guessed and proved, each with the place of its loop.
    pub learnt: Vec<(base::Span, String)>,
    /// How questions were answered.
    pub stats: Stats,
    /// Questions were left open because there is no solver.
    pub missed_solver: bool,
    /// The solver stopped answering.
    pub solver_died: bool,
}

/// Answers for a kernel; the solver comes back for the next one.
#[must_use]
pub fn prove(
    kernel: &Kernel,
    solver: Option<Solver>,
    options: Options,
) -> (Answer, Option<Solver>) {
    let (mut proof, solver) =
        engine::prove(kernel, solver, Effort { infers: options.infers, only: None });
    let solver = postconditions(kernel, &mut proof, solver, options);
    let solver = contracts(kernel, &mut proof, solver, options);
    let mut tests = Tests::default();
    tests.small(kernel, if proof.open.is_empty() { TESTS } else { LAUNCHES });
    tests.at_turns(kernel);
    if proof.open.iter().any(|open| open.property == Property::Overflow) {
        tests.large(kernel);
    }
    tests.replay(kernel, &proof.suspects);
    if kernel.fences {
        // What a fence orders is not followed, so no race was really seen.
        tests.findings.retain(|finding| property(&finding.event) != Property::Races);
    }
    // With demands that no contents fulfil everything would hold.
    if interp::demands_contents(kernel) && !tests.demanded {
        tests.example = None;
    }
    // Under assumptions that nothing fulfils, too.
    if tests.tested == 0 && tests.unmet > 0 {
        tests.example = None;
    }
    let mut claimed = barrier_claims(&kernel.body).iter().map(|one| one.span).collect::<Vec<_>>();
    claimed.extend(used_lemmas(&kernel.body));
    let used = kernel.contracts.iter();
    claimed.extend(used.flat_map(|one| one.relies.iter().copied().chain([one.span])));
    let answer = assemble(proof, tests, &claimed);
    if options.suggests && answer.example.is_some() {
        return answer.suggested(kernel, solver, options.infers);
    }
    (answer, solver)
}

/// What the contract claims of the end, once it is definite what the end is.
fn postconditions(
    kernel: &Kernel,
    proof: &mut Proof,
    solver: Option<Solver>,
    options: Options,
) -> Option<Solver> {
    let barriers = !barrier_claims(&kernel.body).is_empty();
    let plain = kernel.ensures.is_empty() && kernel.footprints.is_empty();
    if plain && !engine::has_loop_claims(kernel) && !barriers {
        return solver;
    }
    let monoid = |open: &Open| kernel.monoids.iter().any(|one| one.span == open.span);
    let unmet = proof.open.iter().any(|open| PLAIN.contains(&open.property) || monoid(open));
    if unmet || !proof.unsized_arrays.is_empty() {
        let footprints = kernel.footprints.iter().map(|one| one.span);
        let spans = kernel.ensures.iter().map(|claim| claim.span).chain(footprints);
        proof.open.extend(spans.map(|span| Open {
            property: Property::Postcondition,
            span,
            other: None,
            message: "this claim: what the kernel leaves is not definite while other properties are open"
                .to_owned(),
        }));
        return solver;
    }
    for (span, message) in partial::never(kernel) {
        proof.open.push(Open { property: Property::Postcondition, span, other: None, message });
    }
    // A lemma that is not shown says nothing.
    let mut kernel = kernel.clone();
    kernel.lemmas.retain(|one| !proof.open.iter().any(|open| open.span == one.span));
    let (ensured, solver) = values::ensured(&kernel, solver, options.infers);
    proof.open.extend(ensured.open);
    proof.learnt = ensured.learnt;
    // What was left open because nothing had looked at it yet.
    let looked_at = |one: &Open| ensured.claims.iter().any(|(span, _)| *span == one.span);
    proof.open.retain(|one| one.property != Property::Invariant || !looked_at(one));
    for (span, why) in ensured.claims {
        proof.open.extend(why.map(|message| Open {
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

/// Contracts of functions that are used where those are called: each is shown by itself.
fn contracts(
    kernel: &Kernel,
    proof: &mut Proof,
    solver: Option<Solver>,
    options: Options,
) -> Option<Solver> {
    let mut solver = solver;
    for contract in &kernel.contracts {
        let options = Options { suggests: false, ..options };
        let (answer, back) = prove(&contract.kernel, solver, options);
        solver = back;
        let wrong = answer.properties.iter().find(|one| one.verdict != Verdict::Proved);
        let why = match wrong {
            None if answer.unsized_arrays.is_empty() => continue,
            None => "not all of its arrays have a size".to_owned(),
            Some(one) if one.verdict == Verdict::Refuted => {
                format!("a launch of it alone shows that {} fails", one.property.name())
            }
            Some(one) => match one.open.first() {
                Some(open) => format!("could not show {}", open.message),
                None if answer.example.is_none() => "no launch fulfils what it requires".to_owned(),
                None => format!("{} is open", one.property.name()),
            },
        };
        let message = format!("the contract of `{}`: {why}", contract.name);
        let span = contract.span;
        proof.open.push(Open { property: Property::Invariant, span, other: None, message });
        proof.missed_solver |= answer.missed_solver;
    }
    proof.has_claims |= !kernel.contracts.is_empty();
    solver
}

impl Answer {
    /// What is said of a kernel if the work was given up: nothing.
    #[must_use]
    pub fn given_up(kernel: &Kernel) -> Self {
        let properties = PLAIN.into_iter().map(|property| {
            let (span, message) = (kernel.span, "anything in that time".to_owned());
            let open = vec![Open { property, span, other: None, message }];
            let verdict = Verdict::Unknown;
            Checked { property, verdict, open, findings: Vec::new(), holds_if: Vec::new() }
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

    /// With demands under which what is open would hold. Where something failed, only sizes can be at fault.
    fn suggested(
        mut self,
        kernel: &Kernel,
        solver: Option<Solver>,
        infers: bool,
    ) -> (Self, Option<Solver>) {
        let mut solver = solver;
        for checked in &mut self.properties {
            let wanted = match checked.verdict {
                Verdict::Proved => false,
                Verdict::Refuted => matches!(
                    checked.property,
                    Property::Overflow | Property::Races | Property::Bounds
                ),
                // Without a solver it is the solver that is missing, not a demand.
                Verdict::Unknown => !checked.open.is_empty() && !self.missed_solver,
            };
            let claims = [Property::Invariant, Property::Postcondition, Property::Clauses];
            if wanted && !claims.contains(&checked.property) {
                let about = (checked.property, checked.verdict == Verdict::Refuted);
                (checked.holds_if, solver) = crate::suggest::demands(kernel, about, solver, infers);
            }
        }
        (self, solver)
    }
}

fn assemble(proof: Proof, tests: Tests, claimed: &[base::Span]) -> Answer {
    let mut wanted = PLAIN.to_vec();
    // Told of only where something is wrong with it.
    let spoiled = |one: &Finding| property(&one.event) == Property::Clauses;
    if proof.open.iter().any(|one| one.property == Property::Clauses)
        || tests.findings.iter().any(spoiled)
    {
        wanted.push(Property::Clauses);
    }
    if proof.has_claims {
        wanted.push(Property::Invariant);
    }
    if proof.has_postconditions {
        wanted.push(Property::Postcondition);
    }
    let wraps = proof.open.iter().any(|open| open.property == Property::Overflow);
    let mut contradiction = None;
    let mut properties = Vec::new();
    for one in wanted {
        let open: Vec<Open> =
            proof.open.iter().filter(|open| open.property == one).cloned().collect();
        let findings = tests.findings.iter().filter(|finding| property(&finding.event) == one);
        // C defines that unsigned numbers wrap around: no mistake, only nothing that is followed.
        let findings: Vec<Finding> = findings
            .filter(|one| !is_unsigned_wrap(&one.event) || open.is_empty())
            .cloned()
            .collect();
        if open.is_empty()
            && let Some(finding) = findings.first()
            && is_independent(&proof, one, claimed)
            // What is inside is so if nothing wraps.
            && (one != Property::Bounds || !wraps)
        {
            contradiction = contradiction.or_else(|| Some((one, finding.clone())));
        }
        let known = |finding: &&Finding| {
            findings.iter().all(|other| places(&other.event) != places(&finding.event))
        };
        let later = tests.after_wrap.iter().filter(|finding| property(&finding.event) == one);
        let later: Vec<Finding> = later.filter(known).cloned().collect();
        let findings = [findings, later].concat();
        let verdict = match (findings.is_empty(), open.is_empty()) {
            (false, _) => Verdict::Refuted,
            // Without a launch that the contract allows, everything would hold.
            (true, true) if tests.example.is_some() && is_independent(&proof, one, claimed) => {
                Verdict::Proved
            }
            _ => Verdict::Unknown,
        };
        let holds_if = Vec::new();
        properties.push(Checked { property: one, verdict, open, findings, holds_if });
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

/// Whether what is shown of a property rests on nothing that is open. Races between threads are looked at
/// interval by interval, which presumes that barriers are met by all. What is `claimed` at barriers is used for everything, and
/// holds where it stands if nothing goes wrong before.
fn is_independent(proof: &Proof, property: Property, claimed: &[base::Span]) -> bool {
    let open = |other: Property| proof.open.iter().any(|one| one.property == other);
    let unsettled = |one: &Open| match one.property {
        Property::Invariant => claimed.contains(&one.span),
        Property::Postcondition | Property::Values => false,
        _ => true,
    };
    if !claimed.is_empty() && proof.open.iter().any(unsettled) {
        return false;
    }
    // A clause without a value may have been translated as anything.
    if open(Property::Clauses) {
        return false;
    }
    match property {
        Property::Races => !open(Property::Barriers),
        Property::Postcondition => proof.unsized_arrays.is_empty(),
        _ => true,
    }
}
