//! Tensor maps among the arguments of a launch: matches them and their tensors with parameters.
//!
//! A tensor of a map may be a parameter, too. It takes the next parameter that is an 8-byte pointer and used, but
//! none if a map or structure comes first. So `A`, `ta=tensormap(A, ..)` fits a kernel of the map alone and one of
//! both.

use super::build::{Builder, Outcome, Problem, parameter_name, wrong};
use super::map_layout::{self, MapError};
use super::parameter::{Kind, Parameter};
use super::{ArgumentSpec, ArgumentValue, TensorMapSpec};
use std::collections::BTreeSet;

/// The assignment of arguments to parameters.
pub(super) struct Positions<'r> {
    /// One for each parameter, as far as there are arguments.
    pub(super) positional: Vec<Option<&'r ArgumentSpec>>,
    /// Arguments without a parameter.
    pub(super) surplus: Vec<&'r ArgumentSpec>,
}

/// Gives each parameter its argument: the one of its name, if every argument has the name of a parameter, else the
/// next one that fits.
pub(super) fn positions<'r>(
    parameters: &[Parameter<'_>],
    specs: &[&'r ArgumentSpec],
) -> Positions<'r> {
    let behind_maps: BTreeSet<&str> =
        specs.iter().flat_map(|spec| spec.maps()).map(|map| map.tensor.as_str()).collect();
    let is_behind = |spec: &&'r ArgumentSpec| {
        behind_maps.contains(spec.name.as_str()) && matches!(spec.value, ArgumentValue::Tensor(_))
    };
    let is_named =
        |spec: &&'r ArgumentSpec| parameters.iter().any(|parameter| parameter.name == spec.name);
    // Arguments also go by name if the only others are tensors of maps, and every used parameter has an argument of its
    // name: then these tensors need no parameter.
    let is_given = |parameter: &Parameter<'_>| specs.iter().any(|spec| spec.name == parameter.name);
    let by_name = match specs.iter().all(is_named) {
        true => true,
        false => {
            specs.iter().all(|spec| is_named(spec) || is_behind(spec))
                && parameters.iter().all(|parameter| !parameter.used || is_given(parameter))
        }
    };
    if by_name {
        let spec_of = |parameter: &Parameter<'_>| {
            specs.iter().copied().find(|spec| spec.name == parameter.name)
        };
        return Positions {
            positional: parameters.iter().map(spec_of).collect(),
            surplus: Vec::new(),
        };
    }
    let mut rest = specs.iter().copied().peekable();
    let mut positional = Vec::new();
    for parameter in parameters {
        let takes_tensor =
            parameter.used && parameter.bytes == 8 && !matches!(parameter.kind, Kind::Float(_));
        if !takes_tensor {
            while rest.next_if(is_behind).is_some() {}
        }
        positional.push(rest.next());
    }
    Positions { positional, surplus: rest.filter(|spec| !is_behind(spec)).collect() }
}

impl<'r> Builder<'r> {
    /// A tensor map as an argument.
    pub(super) fn map_argument(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &'r ArgumentSpec,
        map: &'r TensorMapSpec,
    ) -> Outcome {
        let shown = parameter_name(parameter, &spec.name);
        if parameter.bytes != ir::TENSOR_MAP_BYTES as u64 {
            let ty = parameter.declared_type();
            return wrong(format!("{shown} is {ty}; a tensor map has 128 bytes"));
        }
        self.tensor_map(&shown, map)
    }

    /// A tensor map with its tensor; `shown` names the place.
    pub(super) fn tensor_map(&mut self, shown: &str, map: &'r TensorMapSpec) -> Outcome {
        let problem = |why: MapError| Problem::Wrong(format!("{shown}: `{map}`: {why}"));
        let tensor = match &map.inline {
            Some(tensor) => tensor,
            None => {
                let specs = &self.request.arguments.specs;
                let named = specs.iter().find(|spec| spec.name == map.tensor);
                match named.map(|spec| &spec.value) {
                    Some(ArgumentValue::Tensor(tensor)) => tensor,
                    Some(_) => return Err(problem(MapError::NotATensor(map.tensor.clone()))),
                    None => return Err(problem(MapError::UnknownTensor(map.tensor.clone()))),
                }
            }
        };
        let layout = map_layout::layout(map, tensor).map_err(problem)?;
        let buffer = self.buffers.tensor(&map.tensor, tensor).map_err(Problem::wrong)?;
        let (offset, map) = (map.keys.offset, Box::new(layout));
        Ok(exec::Argument::TensorMap { buffer, offset, map })
    }
}
