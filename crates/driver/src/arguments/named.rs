//! Buffers of arguments: those that a structure or a tensor of pointers names, and arrays of pointers and tensor maps.

use super::build::{Builder, Outcome, Problem, parameter_name, wrong};
use super::parameter::{Kind, Parameter};
use super::{ArgumentSpec, ArgumentValue, TensorMapSpec};

impl<'r> Builder<'r> {
    /// A tensor of pointers to other arguments.
    pub(super) fn pointers(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &'r ArgumentSpec,
        targets: &'r [Option<String>],
    ) -> Outcome {
        let shown = parameter_name(parameter, &spec.name);
        if parameter.bytes != 8 || matches!(parameter.kind, Kind::Float(_)) {
            let ty = parameter.declared_type();
            return wrong(format!(
                "{shown} is {ty}, not a pointer; `{spec}` is a tensor of pointers"
            ));
        }
        self.array_of_pointers(&shown, spec, targets).map(exec::Argument::Pointer)
    }

    /// An array of tensor maps in memory.
    pub(super) fn maps_argument(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &'r ArgumentSpec,
        maps: &'r [TensorMapSpec],
    ) -> Outcome {
        let shown = parameter_name(parameter, &spec.name);
        if parameter.bytes != 8 || matches!(parameter.kind, Kind::Float(_)) {
            let ty = parameter.declared_type();
            return wrong(format!("{shown} is {ty}, not a pointer; `{spec}` is in memory"));
        }
        self.array_of_maps(&shown, spec, maps).map(exec::Argument::Pointer)
    }

    /// The buffer of an argument that a structure names; `shown` names the structure.
    pub(super) fn named_buffer(
        &mut self,
        shown: &str,
        argument: &'r ArgumentSpec,
    ) -> Result<usize, Problem> {
        let buffer = match &argument.value {
            ArgumentValue::Tensor(tensor) => self.buffers.tensor(&argument.name, tensor),
            ArgumentValue::Pointers(targets) => {
                return self.array_of_pointers(shown, argument, targets);
            }
            ArgumentValue::TensorMaps(maps) => return self.array_of_maps(shown, argument, maps),
            _ => self.buffers.unbounded(&argument.name, 1),
        };
        buffer.map_err(Problem::wrong)
    }

    /// The buffer of an array of pointers to tensors.
    fn array_of_pointers(
        &mut self,
        shown: &str,
        spec: &'r ArgumentSpec,
        targets: &'r [Option<String>],
    ) -> Result<usize, Problem> {
        let mut buffers = Vec::new();
        for target in targets {
            let Some(name) = target else {
                buffers.push(None);
                continue;
            };
            let mut specs = self.request.arguments.specs.iter();
            let Some(argument) = specs.find(|spec| spec.name == *name) else {
                return Err(Problem::Wrong(format!("{shown}: no argument is called `{name}`")));
            };
            if !matches!(argument.value, ArgumentValue::Tensor(_) | ArgumentValue::Missing) {
                return Err(Problem::Wrong(format!("{shown}: `{argument}` is not a tensor")));
            }
            buffers.push(Some(self.named_buffer(shown, argument)?));
        }
        self.buffers.pointers(&spec.name, buffers).map_err(Problem::wrong)
    }

    /// The buffer of an array of tensor maps.
    fn array_of_maps(
        &mut self,
        shown: &str,
        spec: &'r ArgumentSpec,
        maps: &'r [TensorMapSpec],
    ) -> Result<usize, Problem> {
        let offsets = (0..).step_by(ir::TENSOR_MAP_BYTES);
        let pieces = offsets.zip(maps).map(|(at, map)| Ok((at, self.tensor_map(shown, map)?)));
        let pieces = pieces.collect::<Result<Vec<_>, Problem>>()?;
        let bytes = (maps.len() * ir::TENSOR_MAP_BYTES) as u64;
        self.buffers.structures(&spec.name, bytes, pieces).map_err(Problem::wrong)
    }
}
