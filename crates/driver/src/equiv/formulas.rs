//! Formulas as launches: the tensors that a formula may name, and the kernels it is compiled to.
//!
//! A formula names the tensors and scalars of the launches on the other side or beside it, by the names of their
//! arguments, and takes their shapes, types and given contents. In the formula's own memory elements are in the order
//! of their indices, even if a kernel's tensor has other strides.

use super::steps::{FormulaStep, Step};
use crate::arguments::{
    ArgumentSpec, ArgumentValue, Arguments, BuildError, Dimensions, Direction, ElementType,
    IndexRange, InputSpec, Invocation, LaunchSpec, MissingData, Number, Request, ScalarValue,
    TensorSpec, build_launch,
};
use crate::execute::{Execution, FinishedRun, PreparedLaunch, Refusal};
use crate::verdict::Verdict;
use crate::{Colour, Exit, Input, Outcome, report};
use base::{Code, Diagnostic};
use formula::{
    BLOCK, Environment, KnownScalar, Parameter, ParameterKind, ScalarInput, Tensor, compile, parse,
};
use ir::{FuncId, Program};
use std::collections::BTreeMap;

/// A launch made from a formula.
pub(super) struct FormulaLaunch<'r> {
    /// The side, and the position of the formula among its steps.
    pub(super) place: (usize, usize),
    step: FormulaStep<'r>,
    /// A program of one kernel, for runs on terms and intervals.
    reals: Program,
    /// The program with doubles in place of reals, for runs on bits.
    bits: Program,
    launch: LaunchSpec,
    arguments: Arguments,
    built: crate::arguments::BuiltLaunch,
    literals: Vec<equiv::Literal>,
}

impl<'r> FormulaLaunch<'r> {
    pub(super) fn execution(&'r self) -> Execution<'r> {
        Execution {
            input: self.step.input,
            kernel: None,
            launch: &self.launch,
            arguments: &self.arguments,
            limits: self.step.limits,
        }
    }

    pub(super) fn prepared(&self) -> PreparedLaunch<'r> {
        let programs = [self.reals.clone(), self.bits.clone()];
        let (limits, literals) = (self.step.limits, self.literals.clone());
        PreparedLaunch::of_formula(self.step.input, programs, self.built.clone(), limits, literals)
    }
}

/// Compiles the formulas of both sides.
///
/// # Errors
/// The input and its first error.
pub(super) fn expand<'r>(
    sides: [&[Step<'r>]; 2],
    launches: &[Vec<Option<PreparedLaunch<'r>>>; 2],
    compares_all: bool,
) -> Result<Vec<FormulaLaunch<'r>>, (&'r Input, Refusal)> {
    let mut all = Vec::new();
    for (number, side) in sides.into_iter().enumerate() {
        for (position, step) in side.iter().enumerate() {
            if let Step::Formula(step) = step {
                let names = FormulaScope::new(sides, launches, (number, position), compares_all);
                let found = names.compile(*step, (number, position));
                all.extend(found.map_err(|refusal| (step.input, refusal))?);
            }
        }
    }
    Ok(all)
}

/// The outcome for a formula with an error.
pub(super) fn refusal_outcome(input: &Input, refusal: &Refusal, colour: Colour) -> Outcome {
    let (launch, arguments) = (LaunchSpec::default(), Arguments::default());
    let limits = crate::Limits::default();
    let execution =
        Execution { input, kernel: None, launch: &launch, arguments: &arguments, limits };
    let mut outcome = refusal.outcome(input, colour);
    outcome.report = Some(report::refusal("equiv", &execution, refusal));
    outcome
}

/// The outcome for a formula whose run went out of bounds.
pub(super) fn fault_outcome(formula: &FinishedRun<'_>, colour: Colour) -> Outcome {
    let mut report = report::check(formula);
    (report.command, report.verdict, report.exit) = ("equiv", Verdict::Unknown, Exit::BadInput);
    report.kernel = None;
    report.properties.clear();
    let name = formula.input().name();
    let messages =
        format!("{}error: nothing is compared: `{name}` has errors\n", formula.messages(colour));
    let exit = Exit::BadInput;
    let thread_instructions = formula.result.lane_instructions;
    Outcome { output: String::new(), messages, exit, thread_instructions, report: Some(report) }
}

/// The place of a formula among the steps.
#[derive(Clone, Copy)]
struct Role {
    /// Set if it is the only step of its side.
    is_alone: bool,
    /// In addition, the other side is a single launch, and all its outputs are compared.
    is_whole: bool,
}

/// Names that a formula may use, with their arguments.
struct FormulaScope<'n> {
    environment: Environment,
    tensors: BTreeMap<&'n str, &'n TensorSpec>,
    variables: BTreeMap<&'n str, &'n InputSpec>,
    scalars: BTreeMap<&'n str, ArgumentValue>,
}

impl<'n> FormulaScope<'n> {
    fn new(
        sides: [&'n [Step<'_>]; 2],
        launches: &'n [Vec<Option<PreparedLaunch<'_>>>; 2],
        (own, position): (usize, usize),
        compares_all: bool,
    ) -> Self {
        let role = Role {
            is_alone: sides[own].len() == 1,
            // If there are several launches, some outputs may serve later launches only.
            is_whole: compares_all && sides.iter().all(|side| side.len() == 1),
        };
        let mut names = Self {
            environment: Environment::default(),
            tensors: BTreeMap::new(),
            variables: BTreeMap::new(),
            scalars: BTreeMap::new(),
        };
        names.environment.suffix = format!(" ({}.{position})", ["reference", "optimised"][own]);
        names.environment.aliases = aliases(sides);
        // Its own arguments take precedence over those of launches.
        let ordered = std::iter::once((own, position, &sides[own][position]));
        let rest = sides.into_iter().enumerate().flat_map(|(number, side)| {
            side.iter().enumerate().map(move |(at, step)| (number, at, step))
        });
        for (number, at, step) in ordered.chain(rest) {
            for spec in &step.arguments().specs {
                for (name, tensor) in spec.tensors() {
                    names.tensor(name, tensor, role);
                    if number == own && at < position && tensor.direction != Direction::In {
                        names.written_before(name);
                    }
                }
                if let (true, ArgumentValue::Number(Number::Integer(value))) =
                    ((number, at) == (own, position), &spec.value)
                {
                    names.scalar(&spec.name, KnownScalar::Integer(*value), spec.value.clone());
                }
            }
        }
        for launch in launches.iter().flatten().flatten() {
            // Constants of the module that the launch leaves open.
            for input in &launch.built.inputs {
                names.variable(input);
            }
            // An unsigned integer of 64 bits beyond the signed range has no number here.
            let is_huge = |name: &str| {
                let mut specs =
                    sides.into_iter().flatten().flat_map(|step| &step.arguments().specs);
                specs.any(|spec| {
                    let ArgumentValue::Number(Number::Integer(value)) = spec.value else {
                        return false;
                    };
                    spec.name == name && i64::try_from(value).is_err()
                })
            };
            for scalar in launch.built.scalars.iter().filter(|scalar| !is_huge(&scalar.name)) {
                let (known, value) = match &scalar.value {
                    ScalarValue::Integer(value) => {
                        let value = *value;
                        (KnownScalar::Integer(value), ArgumentValue::Number(Number::Integer(value)))
                    }
                    ScalarValue::Float(value) => {
                        (KnownScalar::Float(*value), ArgumentValue::Missing)
                    }
                    ScalarValue::Any(element) => {
                        let value = ArgumentValue::Scalar { element: *element, value: None };
                        (KnownScalar::Parameter(element.scalar()), value)
                    }
                    ScalarValue::Related(element, expression) => {
                        let value = ArgumentValue::Related(expression.clone());
                        (KnownScalar::Parameter(element.scalar()), value)
                    }
                };
                names.scalar(&scalar.name, known, value);
            }
        }
        names
    }

    fn tensor(&mut self, name: &'n str, spec: &'n TensorSpec, role: Role) {
        let Some(shape) = spec.shape.clone() else { return };
        let reads = matches!(spec.direction, Direction::In | Direction::InOut);
        let writes = matches!(spec.direction, Direction::Out | Direction::InOut);
        if let Some(known) = self.environment.tensors.iter_mut().find(|tensor| tensor.name == name)
        {
            known.is_input |= reads;
            known.is_output |= writes;
            known.is_required |= writes && role.is_whole;
            return;
        }
        if spec.direction == Direction::Scratch {
            return;
        }
        self.tensors.insert(name, spec);
        self.environment.tensors.push(Tensor {
            name: name.to_owned(),
            scalar: spec.element.scalar(),
            shape,
            // After another step a tensor may hold that step's result.
            range: spec.range.filter(|_| role.is_alone).map(bounds),
            is_input: reads,
            // Between launches a formula may compute an input of a later one.
            is_output: writes || !role.is_alone,
            is_required: writes && role.is_whole,
        });
    }

    /// Adds a tensor of a launch that is not one of its arguments.
    fn variable(&mut self, input: &'n InputSpec) {
        if self.environment.tensors.iter().any(|tensor| tensor.name == input.name) {
            return;
        }
        let (name, scalar, shape) =
            (input.name.clone(), input.element.scalar(), input.shape.clone());
        let (is_input, is_output, is_required) = (true, false, false);
        self.environment.tensors.push(Tensor {
            name,
            scalar,
            shape,
            range: input.range.map(bounds),
            is_input,
            is_output,
            is_required,
        });
        self.variables.insert(&input.name, input);
    }

    /// Notes that an earlier step of the side writes a tensor.
    fn written_before(&mut self, name: &str) {
        let found = self.environment.tensors.iter_mut().find(|tensor| tensor.name == name);
        found.into_iter().for_each(|one| one.is_input = true);
    }

    fn scalar(&mut self, name: &'n str, value: KnownScalar, argument: ArgumentValue) {
        if !self.scalars.contains_key(name) {
            self.environment.scalars.push(ScalarInput { name: name.to_owned(), value });
            self.scalars.insert(name, argument);
        }
    }

    fn compile<'r>(
        &self,
        step: FormulaStep<'r>,
        place: (usize, usize),
    ) -> Result<Vec<FormulaLaunch<'r>>, Refusal> {
        let text = step.input.source.text();
        let wrong = |error: formula::Error| {
            Refusal::Module(vec![Diagnostic::error(Code::Formula, error.span, error.message)])
        };
        let formula = parse(text).map_err(wrong)?;
        let compiled = compile(&formula, &self.environment, text).map_err(wrong)?;
        let literal = |(number, text): &(equiv::Number, String)| equiv::Literal {
            number: number.clone(),
            text: text.clone(),
        };
        let literals: Vec<equiv::Literal> = compiled.literals.iter().map(literal).collect();
        let mut all = Vec::new();
        let mut written: Vec<&str> = Vec::new();
        for launch in &compiled.launches {
            let specs =
                launch.parameters.iter().map(|parameter| self.argument(parameter, &written));
            let arguments = Arguments { specs: specs.collect(), ..Arguments::default() };
            let grid = launch.threads.div_ceil(u64::from(BLOCK)).max(1);
            let sizes = [u32::try_from(grid).unwrap_or(u32::MAX), 1, 1];
            let flags = LaunchSpec {
                grid: Some(Dimensions(sizes)),
                block: Some(Dimensions([BLOCK, 1, 1])),
                ..LaunchSpec::default()
            };
            let (reals, bits) = (launch.reals.clone(), launch.bits.clone());
            let built = build(&reals, launch.kernel, &flags, &arguments, step.input)?;
            all.push(FormulaLaunch {
                place,
                step,
                reals,
                bits,
                launch: flags,
                arguments,
                built,
                literals: literals.clone(),
            });
            written.extend(
                launch
                    .parameters
                    .iter()
                    .filter(|parameter| is_output(parameter))
                    .map(|parameter| parameter.name.as_str()),
            );
        }
        Ok(all)
    }

    /// The argument for a parameter.
    fn argument(&self, parameter: &Parameter, written: &[&str]) -> ArgumentSpec {
        let name = parameter.name.clone();
        let direction = if is_output(parameter) { Direction::Out } else { Direction::In };
        let value = match &parameter.kind {
            ParameterKind::Scalar => {
                self.scalars.get(name.as_str()).cloned().unwrap_or(ArgumentValue::Missing)
            }
            ParameterKind::Intermediate { shape, .. } => {
                let element = ElementType::of_scalar(parameter.scalar);
                ArgumentValue::Tensor(plain(element, Some(shape.clone()), direction))
            }
            ParameterKind::Tensor { .. } => match self.tensors.get(name.as_str()) {
                None => match self.variables.get(name.as_str()) {
                    None => ArgumentValue::Missing,
                    Some(input) => ArgumentValue::Tensor(TensorSpec {
                        range: input.range,
                        is_distinct: input.is_distinct,
                        structure: input.structure.clone(),
                        ..plain(input.element, Some(input.shape.clone()), direction)
                    }),
                },
                Some(spec) => {
                    let fresh = direction == Direction::In
                        && !written.contains(&name.as_str())
                        && matches!(spec.direction, Direction::In | Direction::InOut);
                    ArgumentValue::Tensor(match fresh {
                        true => TensorSpec { strides: None, direction, ..(*spec).clone() },
                        false => plain(spec.element, spec.shape.clone(), direction),
                    })
                }
            },
        };
        ArgumentSpec { name, value }
    }
}

/// Inputs of one shape and type that `--alias` places in the same memory: each name, with the first of them.
fn aliases(sides: [&[Step<'_>]; 2]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for arguments in sides.into_iter().flatten().map(Step::arguments) {
        let input = |name: &String| {
            let spec = arguments.specs.iter().find(|spec| spec.name == *name)?;
            let ArgumentValue::Tensor(tensor) = &spec.value else { return None };
            let is_input = matches!(tensor.direction, Direction::In | Direction::InOut);
            is_input.then_some((tensor.element, &tensor.shape, &tensor.strides))
        };
        for alias in &arguments.aliases {
            let Some((first, others)) = alias.names.split_first() else { continue };
            let same =
                others.iter().filter(|name| input(name).is_some() && input(name) == input(first));
            all.extend(same.map(|name| (name.clone(), first.clone())));
        }
    }
    all
}

/// The least and the largest number of a range.
fn bounds(range: IndexRange) -> (i128, i128) {
    range.bounds()
}

fn is_output(parameter: &Parameter) -> bool {
    match parameter.kind {
        ParameterKind::Scalar => false,
        ParameterKind::Tensor { is_output } | ParameterKind::Intermediate { is_output, .. } => {
            is_output
        }
    }
}

/// A tensor with nothing stated but its shape.
fn plain(element: ElementType, shape: Option<Vec<u64>>, direction: Direction) -> TensorSpec {
    TensorSpec {
        element,
        shape,
        strides: None,
        direction,
        range: None,
        is_distinct: false,
        structure: None,
        initial: None,
    }
}

fn build(
    program: &Program,
    kernel: FuncId,
    launch: &LaunchSpec,
    arguments: &Arguments,
    input: &Input,
) -> Result<crate::arguments::BuiltLaunch, Refusal> {
    let request = Request {
        program,
        kernel,
        launch,
        arguments,
        declared: &[],
        others: &[],
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "equiv", file: input.name() },
    };
    build_launch(&request).map_err(|error| {
        // There is nothing for the user to fill in.
        Refusal::Launch(BuildError { suggestion: None, ..error })
    })
}
