//! The answer for two kernels: for each on its own, and for their equivalence in every array.
//!
//! Parameters of the same name have the same value, arrays of the same name the same contents; each kernel has a
//! launch of its own. A difference is only reported if two runs show it. A proof is tested by such runs.

use crate::answer::{Answer, Options, Verdict, prove};
use crate::engine::{OpenClaim, Property, values};
use crate::merge::{PairError, apply_relation, merge_arrays, with_contents_of_both};
use crate::prover::Stats;
use crate::search;
use interp::{self, Launch, Value};
use kir::{ArrayId, Builtin, Compare, Expr, ExprKind, Kernel, Requirement, Space, Type, VarId};
use kir::{partial, relevance};
use smt::Solver;
use std::collections::BTreeMap;

/// Launches of the first kernel for which a partner is searched.
const LAUNCHES: usize = 96;
/// Launches of the second kernel for each of them.
const PARTNERS: usize = 3;
/// Number of pairs to run, if that many are found.
const ENOUGH: usize = 8;
/// Limit on runs, and on the instructions of one.
const RUNS: usize = 96;
const MAX_RUN_STEPS: u64 = 400_000;
const MAX_LARGE_RUN_STEPS: u64 = 5_000_000;

/// An element with different final values in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The launch of each kernel.
    pub launches: [Launch; 2],
    /// The array's name.
    pub name: String,
    /// The element's index.
    pub index: Vec<i128>,
    /// The final value of each kernel.
    pub values: [f64; 2],
}

/// The answer for two kernels.
#[derive(Clone, Debug)]
pub struct PairAnswer {
    /// The answer for each kernel on its own.
    pub answers: [Answer; 2],
    /// The verdict on equivalence: the same final contents in every array.
    pub verdict: Verdict,
    /// Open claims, each with its kernel.
    pub open: Vec<(usize, OpenClaim)>,
    /// Arrays that were compared.
    pub outputs: Vec<String>,
    /// Invariants that were inferred and proved, each with its kernel and the place of its loop.
    pub learnt: Vec<(usize, base::Span, String)>,
    /// Two runs with different results.
    pub difference: Option<Difference>,
    /// Set if the equality was proved and runs show a difference: a bug of ours.
    pub contradiction: bool,
    /// Pairs of launches that were run.
    pub tested: usize,
    /// A pair of launches that both contracts allow, if one was found.
    pub example: Option<[Launch; 2]>,
    /// Statistics of the queries about values.
    pub stats: Stats,
    /// Set if queries about values were left open because there is no solver.
    pub missed_solver: bool,
    /// Set if the solver stopped answering.
    pub solver_died: bool,
}

impl PairAnswer {
    /// The answer for two kernels if the work was given up: nothing is known.
    #[must_use]
    pub fn given_up(kernels: [&Kernel; 2]) -> Self {
        Self {
            answers: kernels.map(Answer::given_up),
            verdict: Verdict::Unknown,
            open: vec![(
                1,
                OpenClaim::of_values(kernels[1].span, "anything before the time limit"),
            )],
            outputs: Vec::new(),
            learnt: Vec::new(),
            difference: None,
            contradiction: false,
            tested: 0,
            example: None,
            stats: Stats::default(),
            missed_solver: false,
            solver_died: false,
        }
    }
}

/// The relation between two kernels. Parameters and arrays of the same name are related already.
#[derive(Clone, Debug, Default)]
pub struct Relation {
    /// Names of the first kernel with the second's names for the same parameters.
    pub names: Vec<(String, String)>,
    /// Set if both have the same launch.
    pub same_launch: bool,
}

/// Compares two kernels; returns the solver.
///
/// # Errors
/// If arrays of the same name cannot be the same array.
pub fn compare(
    kernels: [&Kernel; 2],
    solver: Option<Solver>,
    options: Options,
) -> Result<(PairAnswer, Option<Solver>), PairError> {
    compare_as(kernels, &Relation::default(), solver, options)
}

/// Like [`compare`], for kernels with an explicit relation.
///
/// # Errors
/// If arrays of the same name cannot be the same array, or a name is missing.
pub fn compare_as(
    kernels: [&Kernel; 2],
    relation: &Relation,
    solver: Option<Solver>,
    options: Options,
) -> Result<(PairAnswer, Option<Solver>), PairError> {
    let related = apply_relation(kernels, relation)?;
    let kernels = [&related[0], &related[1]];
    let pair = merge_arrays(kernels)?;
    // First, so that a difference is reported even if the proofs run out of time.
    let mut runs = Runs { same_launch: relation.same_launch, ..Runs::default() };
    let constrained = with_contents_of_both([&pair[0], &pair[1]]);
    runs.constrains_contents = constrained.iter().any(interp::constrains_contents);
    runs.run_pairs([&constrained[0], &constrained[1]]);
    if runs.tested < ENOUGH && runs.difference.is_none() {
        // Sizes that the second contract requires may not be small ones of the first.
        runs.swapped = true;
        runs.run_pairs([&constrained[1], &constrained[0]]);
    }
    let (one, solver) = prove(kernels[0], solver, options);
    let (two, solver) = prove(kernels[1], solver, options);
    let answers = [one, two];
    let mut open: Vec<(usize, OpenClaim)> = Vec::new();
    for (side, answer) in answers.iter().enumerate() {
        open.extend(first_unproved(answer, kernels[side]).map(|one| (side, one)));
    }
    for (side, kernel) in kernels.into_iter().enumerate() {
        open.extend(
            partial::never_defined(kernel)
                .map(|(span, why)| (side, OpenClaim::of_values(span, why))),
        );
    }
    open.extend(other_initials(kernels).map(|one| (1, one)));
    if runs.constrains_contents && !runs.found_contents {
        // If no contents satisfy the requirements, everything would be equal.
        runs.example = None;
    }
    let (mut outputs, mut learnt) = (Vec::new(), Vec::new());
    let mut stats = Stats::default();
    let (mut missed_solver, mut solver_died) = (false, false);
    let mut solver = solver;
    if open.is_empty() {
        let finished = deadline::until_deadline(|| {
            values::equal([&pair[0], &pair[1]], relation.same_launch, solver, options.infers)
        });
        let (equality, back) = finished.unwrap_or_else(|| {
            let open = OpenClaim::of_values(kernels[1].span, "anything before the time limit");
            (values::Equality { open: vec![(1, open)], ..values::Equality::default() }, None)
        });
        solver = back;
        (open, learnt) = (equality.open, equality.learnt);
        outputs = equality.outputs.iter().map(|id| pair[0].arrays[*id].name.clone()).collect();
        (stats, missed_solver) = (equality.stats, equality.missed_solver);
        solver_died = equality.solver_died;
        for name in &outputs {
            if let Some(side) = kernels.iter().position(|kernel| !has_global(kernel, name)) {
                let message = format!("that `{name}` is the same: this kernel has no such array");
                open.push((side, OpenClaim::of_values(kernels[side].span, message)));
            }
        }
        if outputs.is_empty() && open.is_empty() {
            let message = "that anything is equal: neither kernel stores to a global array";
            open.push((0, OpenClaim::of_values(kernels[0].span, message)));
        }
    }
    // Partial operations of the optimised kernel are assumed to be defined. So if it has some, a value that is not a
    // number does not contradict the proof.
    let defined =
        |one: &Difference| one.values[1].is_finite() || partial::operations(kernels[1]).is_empty();
    let contradiction = open.is_empty() && runs.difference.as_ref().is_some_and(defined);
    let verdict = match (&runs.difference, open.is_empty(), &runs.example) {
        (Some(_), ..) => Verdict::Refuted,
        // If no launches satisfy both contracts, everything would hold.
        (None, true, Some(_)) => Verdict::Proved,
        _ => Verdict::Unknown,
    };
    let compared = PairAnswer {
        answers,
        verdict,
        open,
        outputs,
        learnt,
        difference: runs.difference,
        contradiction,
        tested: runs.tested,
        example: runs.example,
        stats,
        missed_solver,
        solver_died,
    };
    Ok((compared, solver))
}

/// Returns an open claim if the kernels initialise a variable of the file differently: then it is not the same for
/// both.
fn other_initials([one, two]: [&Kernel; 2]) -> Option<OpenClaim> {
    one.initials.iter().find_map(|(array, values)| {
        let name = &one.arrays[*array].name;
        let mut others = two.initials.iter().filter(|(other, _)| two.arrays[**other].name == *name);
        let (other, theirs) = others.next()?;
        let same = match (values, theirs) {
            (Some(values), Some(theirs)) => {
                let pairs = || values.iter().zip(theirs);
                values.len() == theirs.len() && pairs().all(|(a, b)| same_literal(a, b))
            }
            _ => false,
        };
        let message = || format!("that `{name}` is the same for both: its initialisers differ");
        (!same).then(|| OpenClaim::of_values(two.arrays[*other].span, message()))
    })
}

fn same_literal(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Int(one), ExprKind::Int(other)) => one == other,
        (ExprKind::Float(one), ExprKind::Float(other)) => one.to_bits() == other.to_bits(),
        _ => false,
    }
}

fn has_global(kernel: &Kernel, name: &str) -> bool {
    kernel.arrays.iter().any(|array| array.space == Space::Global && array.name == name)
}

/// The first property that equality depends on and that is not proved for a kernel.
fn first_unproved(answer: &Answer, kernel: &Kernel) -> Option<OpenClaim> {
    let names = [
        (Property::Races, "that it has no races; with a race its result is undefined"),
        (Property::Barriers, "that all threads reach its barriers"),
        (Property::Bounds, "that it stays inside its arrays"),
        (Property::Overflow, "that its indices do not overflow"),
        (Property::Division, "that it does not divide by zero"),
        (
            Property::Initialised,
            "that it reads no shared or local memory before a thread stores to it",
        ),
    ];
    let span = kernel.span;
    let open = |message: &str| OpenClaim::of_values(span, message);
    if answer.example.is_none() {
        return Some(open("anything: no launch was found that satisfies its contract"));
    }
    if !answer.unsized_arrays.is_empty() {
        return Some(open("that it stays inside its arrays: some have no stated size"));
    }
    let (_, message) = names.into_iter().find(|(property, _)| {
        let checked = answer.properties.iter().find(|one| one.property == *property);
        match checked {
            Some(one) => one.verdict != Verdict::Proved,
            // A kernel without shared and local memory has nothing to initialise.
            None => *property != Property::Initialised,
        }
    })?;
    Some(open(message))
}

/// Results of runs of both kernels.
#[derive(Default)]
struct Runs {
    difference: Option<Difference>,
    tested: usize,
    example: Option<[Launch; 2]>,
    /// Set if a contract has requirements on contents; then both kernels must have run with such contents.
    constrains_contents: bool,
    found_contents: bool,
    /// Set if the second kernel comes first.
    swapped: bool,
    same_launch: bool,
    /// Set if launches are large ones.
    large: bool,
}

impl Runs {
    fn in_order<T>(&self, [one, two]: [T; 2]) -> [T; 2] {
        if self.swapped { [two, one] } else { [one, two] }
    }

    fn run_pairs(&mut self, kernels: [&Kernel; 2]) {
        let mut left = RUNS;
        self.run_with_partners(kernels, search::small(kernels[0], LAUNCHES), &mut left);
        // Small launches do not show differences beyond a constant that a condition of either kernel names.
        let numbers = kernels.iter().flat_map(|kernel| relevance::compared_numbers(kernel));
        let mut numbers: Vec<i128> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.reverse();
        self.large = true;
        let launches = search::constants::at(kernels[0], &numbers, &BTreeMap::new());
        self.run_with_partners(kernels, launches, &mut RUNS.clone());
        self.large = false;
    }

    fn run_with_partners(
        &mut self,
        kernels: [&Kernel; 2],
        launches: Vec<Launch>,
        left: &mut usize,
    ) {
        if self.difference.is_some() {
            return;
        }
        let mut seen: Vec<Vec<(String, i128)>> = Vec::new();
        for launch in launches {
            if deadline::is_over() {
                break;
            }
            let sizes = parameters(kernels[0], &launch);
            let again = seen.iter().filter(|one| **one == sizes).count();
            if again > 1 {
                continue;
            }
            seen.push(sizes.clone());
            let mut wanted = with_sizes(kernels[1], &sizes);
            if self.same_launch {
                wanted = with_launch(&wanted, &launch);
            }
            let partners = if self.large { 1 } else { PARTNERS };
            for mut other in search::few(&wanted, partners) {
                other.seed = launch.seed;
                let pair = [launch.clone(), other];
                let example = self.in_order(pair.clone());
                self.example.get_or_insert(example);
                if self.large || pair.iter().all(search::is_runnable) {
                    self.run(kernels, pair, left);
                }
                if self.difference.is_some() || *left == 0 {
                    return;
                }
            }
        }
    }

    fn run(&mut self, kernels: [&Kernel; 2], launches: [Launch; 2], left: &mut usize) {
        *left = left.saturating_sub(1);
        let budget = if self.large { MAX_LARGE_RUN_STEPS } else { MAX_RUN_STEPS };
        let one = interp::decided_memory(kernels[0], &launches[0], budget);
        let two = interp::decided_memory(kernels[1], &launches[1], budget);
        // Events in a run belong to the kernel's own answer, and give no result. Neither does a run that rounding may
        // have decided.
        let (Ok((before, first)), Ok((same, second))) = (one, two) else { return };
        // If only one contract restricts the initial contents, they may differ; then the runs cannot be compared.
        let differ = |array: &ArrayId| same.get(array) != before.get(array);
        if second.keys().filter(|array| first.contains_key(array)).any(differ) {
            return;
        }
        self.tested += 1;
        if self.constrains_contents && !self.found_contents {
            let run = |side: usize| {
                interp::run(kernels[side], &launches[side], MAX_RUN_STEPS).drew_constrained
            };
            self.found_contents = run(0) || run(1);
        }
        for (array, here) in &first {
            let Some(there) = second.get(array) else { continue };
            for (at, (one, two)) in here.iter().zip(there).enumerate() {
                let [reference, result] = self.in_order([*one, *two]);
                if !is_different(reference, result) {
                    continue;
                }
                let index = vec![i128::try_from(at).unwrap_or(0)];
                let (name, values) =
                    (kernels[0].arrays[*array].name.clone(), [*one, *two].map(number));
                let (values, launches) = (self.in_order(values), self.in_order(launches));
                self.difference = Some(Difference { launches, name, index, values });
                return;
            }
        }
    }
}

/// Returns `true` if two final values certainly differ. If the reference's is not a number, there is nothing to compare;
/// if only the other kernel's is none, they differ.
fn is_different(reference: Value, result: Value) -> bool {
    match (reference, result) {
        (Value::Int { value: one, .. }, Value::Int { value: two, .. }) => one != two,
        (Value::Float(one), Value::Float(two)) => one.is_finite() && one.differs(two),
        _ => false,
    }
}

/// The number to report.
#[expect(clippy::cast_precision_loss, reason = "numbers of small runs")]
fn number(value: Value) -> f64 {
    match value {
        Value::Int { value, .. } => value as f64,
        Value::Float(real) => real.value(),
        Value::Undefined => f64::NAN,
    }
}

/// The parameters of a launch by name.
fn parameters(kernel: &Kernel, launch: &Launch) -> Vec<(String, i128)> {
    let shared = kernel.scalars.iter().skip(kernel.macros);
    let values = shared.filter_map(|var| Some((*var, *launch.scalars.get(var)?)));
    values.map(|(var, value)| (kernel.vars[var].name.clone(), value)).collect()
}

/// Requires this launch of a kernel.
fn with_launch(kernel: &Kernel, launch: &Launch) -> Kernel {
    let mut kernel = kernel.clone();
    let dimensions = [(Builtin::BlockDim, launch.block), (Builtin::GridDim, launch.grid)];
    for (builtin, extents) in dimensions {
        for (axis, extent) in extents.into_iter().enumerate() {
            let builtin_expr = (ExprKind::Builtin(builtin, axis), Type::UNSIGNED);
            require_equal(&mut kernel, builtin_expr, extent);
        }
    }
    kernel
}

/// Requires that an expression has a value.
fn require_equal(kernel: &mut Kernel, (kind, ty): (ExprKind, Type), value: i128) {
    let span = kernel.span;
    let expr = Expr { kind, ty, span };
    let expr = Expr { kind: ExprKind::Convert(Box::new(expr)), ty: Type::Whole, span };
    let value = Expr { kind: ExprKind::Int(value), ty: Type::Whole, span };
    let kind = ExprKind::Compare(Compare::Eq, Box::new(expr), Box::new(value));
    let condition = Expr { kind, ty: Type::Bool, span };
    kernel.requires.insert(0, Requirement { forall: Vec::new(), condition });
}

/// Requires these values of a kernel's parameters.
fn with_sizes(kernel: &Kernel, sizes: &[(String, i128)]) -> Kernel {
    let mut kernel = kernel.clone();
    let shared: Vec<VarId> = kernel.scalars.iter().skip(kernel.macros).copied().collect();
    for var in shared {
        let known = sizes.iter().find(|(name, _)| *name == kernel.vars[var].name);
        let Some((_, value)) = known else { continue };
        let scalar = (ExprKind::Var(var), kernel.vars[var].ty);
        require_equal(&mut kernel, scalar, *value);
    }
    kernel
}
