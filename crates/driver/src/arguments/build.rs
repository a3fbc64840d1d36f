//! Fits the arguments to a kernel's parameters.
//!
//! Arguments are matched with parameters in order. An argument named by a structure fills that field instead of a
//! parameter of its own. All problems are collected, so that a user sees them at once.

use super::command::{command_line, map_template};
use super::declared;
use super::limits;
use super::maps::{Positions, positions};
use super::memory::Buffers;
use super::parameter::{Kind, Parameter, parameters};
use super::structure::{self, Piece};
use super::{
    ArgumentSpec, ArgumentValue, Arguments, BuildError, BuiltLaunch, ElementType, Field,
    FieldValue, MissingData, RecordedSpec, Request, ScalarSpec, blocks, recorded, scalar,
};
use equiv::Formula;
use std::collections::BTreeSet;
use std::error::Error;

/// Builds a launch.
///
/// # Errors
/// If arguments do not fit the kernel or the launch cannot work.
pub fn build_launch(request: &Request<'_>) -> Result<BuiltLaunch, BuildError> {
    let mut builder = Builder {
        request,
        buffers: Buffers::new(request),
        errors: BuildError::default(),
        names: Vec::new(),
        scalars: Vec::new(),
        notes: Vec::new(),
    };
    let sizes = builder.sizes();
    let dynamic_shared = request.launch.shared.map_or(0, |bytes| bytes.0);
    let mut selected = Vec::new();
    if let Some((grid, block)) = sizes {
        let Request { program, kernel, .. } = *request;
        builder.errors.launch = limits::faults(program, kernel, grid, block, dynamic_shared);
        let given = request.launch.cluster.map(|cluster| cluster.0);
        builder.errors.launch.extend(limits::cluster_faults(program, kernel, grid, given));
        let (ranges, wrong) = blocks::selected_ranges(&request.launch.blocks, grid);
        selected = ranges;
        builder.errors.input.extend(wrong);
    }
    builder.notes.extend(limits::note(request.program, request.kernel, dynamic_shared));
    let given = request.launch.cluster.map(|cluster| cluster.0);
    let cluster = limits::cluster(request.program, request.kernel, given);
    builder.notes.extend(limits::cluster_note(cluster));
    builder.check_names();
    let arguments = builder.arguments();
    let (symbols, variables) = builder.symbols();
    let Builder { buffers, errors, mut notes, names, scalars, .. } = builder;
    let (Some((grid, block)), true, true) =
        (sizes, errors.input.is_empty(), errors.launch.is_empty())
    else {
        return Err(errors);
    };
    notes.extend(buffers.notes);
    Ok(BuiltLaunch {
        launch: exec::Launch {
            kernel: request.kernel,
            grid,
            block,
            cluster,
            dynamic_shared,
            buffers: buffers.buffers,
            arguments,
            symbols,
            selected,
        },
        names,
        inputs: buffers.inputs,
        scalars,
        outputs: buffers.outputs,
        variables,
        notes,
        given: given_arguments(request),
    })
}

/// The arguments, aliases and symbols of a request, as they are written on a command line.
fn given_arguments(request: &Request<'_>) -> Vec<String> {
    let Arguments { specs, aliases, symbols } = request.arguments;
    let aliases = aliases.iter().map(|one| format!("alias {one}"));
    let symbols = symbols.iter().map(|one| format!("symbol {one}"));
    specs.iter().map(ToString::to_string).chain(aliases).chain(symbols).collect()
}

/// A launch under construction; its scalars are in `scalar.rs`.
pub(super) struct Builder<'r> {
    pub(super) request: &'r Request<'r>,
    pub(super) buffers: Buffers<'r>,
    errors: BuildError,
    names: Vec<String>,
    pub(super) scalars: Vec<ScalarSpec>,
    pub(super) notes: Vec<String>,
}

impl<'r> Builder<'r> {
    pub(super) fn error(&mut self, message: String) {
        self.errors.input.push(message);
    }

    /// Records that something is missing: a message, and at the first time a command line to fill in.
    pub(super) fn missing(&mut self, message: String) {
        self.error(message);
        if self.errors.suggestion.is_none() {
            self.errors.suggestion = Some(command_line(self.request));
        }
    }

    /// Grid and block; a block size required by the PTX need not be given.
    fn sizes(&mut self) -> Option<([u32; 3], [u32; 3])> {
        let launch = self.request.launch;
        let required = self.request.program.functions[self.request.kernel].launch.required_block;
        let grid = launch.grid.map(|grid| grid.0);
        let block = launch.block.map(|block| block.0).or(required);
        if grid.is_none() {
            self.missing("the number of blocks is not given: --grid X[,Y[,Z]]".to_owned());
        }
        if block.is_none() {
            self.missing("the size of a block is not given: --block X[,Y[,Z]]".to_owned());
        }
        grid.zip(block)
    }

    fn check_names(&mut self) {
        let Request { arguments, .. } = *self.request;
        let mut known = BTreeSet::new();
        for argument in &arguments.specs {
            if !known.insert(argument.name.as_str()) {
                self.error(format!("`{argument}`: `{}` is given twice", argument.name));
            }
        }
        let inline = arguments.specs.iter().flat_map(ArgumentSpec::maps);
        let inline: Vec<_> =
            inline.filter_map(|map| Some((map.tensor.as_str(), map.inline.as_ref()?))).collect();
        for (position, (name, tensor)) in inline.iter().enumerate() {
            let other = inline[..position].iter().any(|(n, t)| n == name && t != tensor);
            // A map may have the name of its tensor.
            let is_other = |spec: &ArgumentSpec| {
                spec.name == *name && !matches!(spec.value, ArgumentValue::TensorMap(_))
            };
            if arguments.specs.iter().any(is_other) || other {
                self.error(format!("tensor map: `{name}={tensor}`: `{name}` is given twice"));
            }
        }
        let mut aliased = BTreeSet::new();
        for alias in &arguments.aliases {
            for name in &alias.names {
                let found = arguments.specs.iter().find(|argument| argument.name == *name);
                match found.map(|argument| &argument.value) {
                    None if inline.iter().any(|(inline, _)| inline == name) => {}
                    None => self.error(format!("--alias {alias}: no argument is called `{name}`")),
                    Some(ArgumentValue::Tensor(_) | ArgumentValue::Missing) => {}
                    Some(_) => self.error(format!("--alias {alias}: `{name}` is not a tensor")),
                }
                if !aliased.insert(name.as_str()) {
                    self.error(format!("--alias {alias}: `{name}` is already aliased"));
                }
            }
        }
    }

    fn arguments(&mut self) -> Vec<exec::Argument> {
        let Request { program, kernel, arguments, declared, .. } = *self.request;
        let parameters = parameters(program, kernel, declared);
        let fields = named_by_structures(&arguments.specs);
        let positional: Vec<&'r ArgumentSpec> =
            arguments.specs.iter().filter(|spec| !fields.contains(spec.name.as_str())).collect();
        let Positions { positional, surplus } = positions(&parameters, &positional);
        self.check_order(&parameters, &positional);
        self.note_order(&parameters, &arguments.specs);
        if let Some(first) = surplus.first() {
            let (count, given) =
                (parameters.len(), positional.iter().flatten().count() + surplus.len());
            let plural = if count == 1 { "" } else { "s" };
            self.error(format!(
                "`{first}`: the kernel has {count} parameter{plural}, but {given} arguments are given"
            ));
        }
        let mut values = Vec::new();
        for parameter in &parameters {
            let spec = positional.get(parameter.index).copied().flatten();
            let name = spec.map(|spec| spec.name.as_str());
            self.names.push(name.unwrap_or(parameter.name).to_owned());
            let value = match spec {
                Some(spec) => self.argument(parameter, spec),
                None => self.absent(parameter, None),
            };
            match value {
                Ok(value) => {
                    self.note_scalar(parameter, spec, &value);
                    values.push(value);
                }
                Err(Problem::Wrong(message)) => self.error(message),
                Err(Problem::Missing(message)) => self.missing(message),
            }
        }
        values
    }

    /// Notes that arguments are taken by name, in another order than given. This is an error unless the names are
    /// certainly those of the kernel.
    fn note_order(&mut self, parameters: &[Parameter<'_>], specs: &[ArgumentSpec]) {
        let index = |spec: &ArgumentSpec| {
            parameters.iter().position(|parameter| parameter.name == spec.name)
        };
        let order: Vec<usize> = specs.iter().filter_map(index).collect();
        if order.len() == specs.len() && !order.is_sorted() {
            let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
            let names = names.join(", ");
            if parameters.iter().all(|parameter| parameter.is_certain) {
                self.notes.push(format!(
                    "arguments are taken by name; the order of the parameters is {names}"
                ));
            } else {
                self.error(format!(
                    "the source has a kernel of this name with the parameters {names}, but it may not be the \
                    one that was compiled; give the arguments in the order of the compiled kernel's \
                    parameters, with other names if it is a different one"
                ));
            }
        }
    }

    /// Checks arguments that are taken in order because not all of them have names of parameters. An argument with the
    /// name of another parameter is then a mistake.
    fn check_order(&mut self, parameters: &[Parameter<'_>], positional: &[Option<&ArgumentSpec>]) {
        for (position, spec) in positional.iter().enumerate() {
            let Some(spec) = spec else { continue };
            let same = parameters.iter().find(|parameter| parameter.name == spec.name);
            if let Some(parameter) = same.filter(|parameter| parameter.index != position) {
                let (name, index) = (&spec.name, parameter.index);
                let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
                self.error(format!(
                    "`{spec}`: argument {position} is called `{name}`, as parameter {index} is; call all \
                     arguments as the kernel does ({}), or none",
                    names.join(", ")
                ));
            }
        }
    }

    fn argument(&mut self, parameter: &Parameter<'_>, spec: &'r ArgumentSpec) -> Outcome {
        let name = spec.name.as_str();
        match &spec.value {
            ArgumentValue::Missing => self.absent(parameter, Some(spec)),
            ArgumentValue::Number(number) => self.number(parameter, name, number),
            ArgumentValue::Scalar { element, value } => {
                self.scalar(parameter, name, *element, value.as_ref())
            }
            ArgumentValue::Tensor(tensor) => {
                if parameter.bytes != 8 || matches!(parameter.kind, Kind::Float(_)) {
                    let ty = parameter.declared_type();
                    let shown = parameter_name(parameter, name);
                    return wrong(format!("{shown} is {ty}, not a pointer; `{spec}` is a tensor"));
                }
                self.note_elements(parameter, name, tensor.element);
                let buffer = self.buffers.tensor(name, tensor).map_err(Problem::wrong)?;
                Ok(exec::Argument::Pointer(buffer))
            }
            ArgumentValue::Pointers(targets) => self.pointers(parameter, spec, targets),
            ArgumentValue::TensorMap(map) => self.map_argument(parameter, spec, map),
            ArgumentValue::TensorMaps(maps) => self.maps_argument(parameter, spec, maps),
            ArgumentValue::Structure(fields) => self.structure(parameter, spec, fields),
            ArgumentValue::Recorded(recorded) => self.recorded(parameter, spec, recorded),
            ArgumentValue::Related(expression) => self.related(parameter, spec, expression),
        }
    }

    /// Warns of an element type that differs from the kernel's declaration, or is wider than all its accesses.
    fn note_elements(&mut self, parameter: &Parameter<'_>, name: &str, given: ElementType) {
        let ty = parameter.ty.unwrap_or_default();
        let contradicted = declared::pointee(ty).filter(|own| declared::contradicts(given, *own));
        let widest = parameter.pointer.as_ref().and_then(|found| found.widths.last().copied());
        if contradicted.is_some() {
            self.notes.push(format!(
                "warning: `{name}` is given as {given}, but the kernel declares {} as `{ty}`",
                parameter_name(parameter, parameter.name)
            ));
        } else if let Some(bits) = widest.filter(|bits| *bits < 8 * given.bytes()) {
            self.notes.push(format!(
                "warning: `{name}` is given as {given}, but the kernel accesses it {bits} bits at a time"
            ));
        }
    }

    /// The value of a parameter whose argument is missing or `?`.
    fn absent(&mut self, parameter: &Parameter<'_>, spec: Option<&'r ArgumentSpec>) -> Outcome {
        // A parameter that the kernel never reads may be anything: compilers append parameters of their own.
        if !parameter.used {
            return Ok(exec::Argument::Opaque(None));
        }
        let name = spec.map_or(parameter.name, |spec| spec.name.as_str());
        let shown = parameter_name(parameter, name);
        let ty = parameter.declared_type();
        match (parameter.kind, self.request.missing_data) {
            (Kind::Pointer { .. }, MissingData::Opaque) => {
                let buffer = self
                    .buffers
                    .unbounded(name, element_bytes(parameter))
                    .map_err(Problem::wrong)?;
                Ok(exec::Argument::Pointer(buffer))
            }
            (Kind::Pointer { .. }, MissingData::Refused) => Err(Problem::Missing(format!(
                "{shown} needs a size and data: --arg {name}=f32[4]=@{name}.npy"
            ))),
            (Kind::Float(element), MissingData::Opaque) => {
                self.notes.push(format!("{shown} has no argument: any finite {ty}"));
                Ok(exec::Argument::Opaque(Some(element.scalar())))
            }
            (Kind::Structure, _) if parameter.map.is_some() => {
                let template = map_template(parameter);
                Err(Problem::Missing(format!(
                    "{shown} is a tensor map and needs its tensor: --arg '{name}={template}'"
                )))
            }
            (Kind::Structure, MissingData::Opaque) if spec.is_some() => {
                self.notes.push(format!("{shown} has no argument: its contents are not known"));
                Ok(exec::Argument::Opaque(None))
            }
            (Kind::Structure, _) => Err(Problem::Missing(format!(
                "{shown} is a structure of {} bytes and needs fields: --arg {name}={{0:x,8:512}}",
                parameter.bytes
            ))),
            (Kind::Integer | Kind::Bits | Kind::Float(_), _) => {
                Err(Problem::Missing(format!("{shown} ({ty}) needs a value: --arg {name}=VALUE")))
            }
        }
    }

    /// A structure with its bytes in a file; given fields replace them.
    fn recorded(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &'r ArgumentSpec,
        recorded: &'r RecordedSpec,
    ) -> Outcome {
        let shown = parameter_name(parameter, &spec.name);
        if parameter.kind != Kind::Structure {
            let ty = parameter.declared_type();
            return wrong(format!("{shown} is {ty}, not a structure; `{spec}` is one"));
        }
        let specs = &self.request.arguments.specs;
        if let Some(field) = structure::unsized_field(&recorded.fields, parameter, specs) {
            let at = field.offset;
            return wrong(format!(
                "{shown}: the kernel does not show how many recorded bytes `{field}` replaces; state its \
                type, as in {at}:s32=64"
            ));
        }
        let read = recorded::read(recorded, parameter.bytes, specs);
        let found = read.map_err(|why| Problem::Wrong(format!("{shown}: {why}")))?;
        let mut values = vec![(0, exec::Argument::Bytes(found.bytes))];
        for one in &found.addresses {
            let buffer = self.named_buffer(&shown, one.tensor)?;
            let offset = one.offset;
            values.push((one.at, exec::Argument::PointerInto { buffer, offset }));
            let tensor = &one.tensor.name;
            self.notes.push(format!("{shown}: the word at {} is `{tensor}` + {offset}", one.at));
        }
        for (at, word) in found.suspicious {
            self.notes.push(format!(
                "{shown}: the word at {at}, {word:#x}, looks like an address, but is in no tensor"
            ));
        }
        if let exec::Argument::Struct(fields) = self.structure(parameter, spec, &recorded.fields)? {
            values.extend(fields);
        }
        Ok(exec::Argument::Struct(values))
    }

    fn structure(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &'r ArgumentSpec,
        fields: &'r [Field],
    ) -> Outcome {
        let name = spec.name.as_str();
        let shown = parameter_name(parameter, name);
        let problem = |why| Problem::Wrong(format!("{shown}: {why}"));
        let specs = &self.request.arguments.specs;
        let pieces = structure::pieces(fields, parameter, specs).map_err(problem)?;
        let mut values = Vec::new();
        for (offset, piece) in pieces {
            let field = fields.iter().find(|field| field.offset == offset);
            let called = match field.map(|field| &field.value) {
                Some(FieldValue::Name(named)) => named.clone(),
                _ => format!("{name}.{offset}"),
            };
            let known = scalar::of_piece(&piece);
            if let Some(value) = known {
                let argument = parameter.index;
                self.scalars.push(ScalarSpec { name: called, argument, offset, value });
            }
            let value = match piece {
                Piece::Bytes(bytes) => exec::Argument::Bytes(bytes),
                Piece::Related(element, expression) => {
                    let formula = Formula::expression(expression).map_err(Problem::wrong)?;
                    let no_value = || {
                        wrong(format!("{shown}: `{expression}` has names in it; write its value"))
                    };
                    self.real(&shown, &formula, element).unwrap_or_else(no_value)?
                }
                Piece::Symbolic(element) => {
                    let at = format!("{shown}, field at {offset},");
                    self.symbolic(&at, &format!("{name}={{{offset}:{element}=0.5}}"), element)?
                }
                Piece::Map(map) => self.tensor_map(&format!("{shown}, field at {offset}"), map)?,
                Piece::Pointer(argument) => {
                    exec::Argument::Pointer(self.named_buffer(&shown, argument)?)
                }
            };
            values.push((offset, value));
        }
        Ok(exec::Argument::Struct(values))
    }
}

/// The value of a parameter.
pub(super) type Outcome = Result<exec::Argument, Problem>;

/// The reason why a parameter has no value.
pub(super) enum Problem {
    /// The user must change something.
    Wrong(String),
    /// The user must add something.
    Missing(String),
}

impl Problem {
    /// An error that the user must correct.
    pub(super) fn wrong(why: impl Error) -> Self {
        Self::Wrong(why.to_string())
    }
}

pub(super) fn wrong(message: String) -> Outcome {
    Err(Problem::Wrong(message))
}

/// The name of a parameter in messages.
pub(super) fn parameter_name(parameter: &Parameter<'_>, name: &str) -> String {
    format!("parameter {} `{name}`", parameter.index)
}

/// The unit for indices of an undescribed buffer: the smallest access of the kernel.
fn element_bytes(parameter: &Parameter<'_>) -> u32 {
    let widths = parameter.pointer.as_ref().and_then(|found| found.widths.first());
    widths.map_or(1, |bits| bits / 8).max(1)
}

fn named_by_structures(specs: &[ArgumentSpec]) -> BTreeSet<&str> {
    specs.iter().flat_map(|spec| spec.value.names()).collect()
}
