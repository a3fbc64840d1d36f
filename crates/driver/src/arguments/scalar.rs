//! Numbers for scalar parameters.
//!
//! A plain number takes the type of its parameter. If the PTX leaves the type open (`.b32`), a number with a fraction
//! or exponent is a float and any other an integer; a stated type (`f32=1`) leaves no doubt.

use super::build::{Builder, Outcome, Problem, parameter_name, wrong};
use super::parameter::{Kind, Parameter};
use super::structure::{Piece, integer_bytes};
use super::{
    ArgumentSpec, ArgumentValue, ElementType, MissingData, NearestError, Number, NumberError,
    ScalarSpec, ScalarValue,
};
use equiv::Formula;
use std::collections::BTreeMap;

impl Builder<'_> {
    pub(super) fn number(
        &mut self,
        parameter: &Parameter<'_>,
        name: &str,
        number: &Number,
    ) -> Outcome {
        let shown = parameter_name(parameter, name);
        let bytes = parameter.bytes;
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return wrong(format!(
                "{shown} is a structure of {bytes} bytes, {number} is a number; expected fields \
                 such as {name}={{0:x,8:512}}"
            ));
        }
        let element = match (parameter.kind, number, bytes) {
            (Kind::Float(element), ..) => element,
            (_, Number::Integer(value), _) => {
                return self.integer(parameter, name, *value);
            }
            (Kind::Bits, Number::Float(_), 4) => ElementType::F32,
            (Kind::Bits, Number::Float(_), 8) => ElementType::F64,
            (Kind::Bits | Kind::Structure, Number::Float(_), _) => {
                return wrong(format!(
                    "{shown} is {}, so the type of {number} is not clear; give it, as in \
                     {name}=f16={number}",
                    parameter.declared_type()
                ));
            }
            (Kind::Integer | Kind::Pointer { .. }, Number::Float(_), _) => {
                let ty = parameter.declared_type();
                return wrong(format!("{shown} is {ty}, {number} is not an integer"));
            }
        };
        encode(element, number).map_err(|reason| Problem::Wrong(format!("{shown}: {reason}")))
    }

    pub(super) fn integer(
        &mut self,
        parameter: &Parameter<'_>,
        name: &str,
        value: i128,
    ) -> Outcome {
        let shown = parameter_name(parameter, name);
        let template = super::command::template(parameter);
        match parameter.kind {
            Kind::Pointer { declared: true } if value != 0 => {
                return wrong(format!(
                    "{shown} is a pointer, {value} is a number; expected a tensor such as \
                     {template}, or 0"
                ));
            }
            Kind::Pointer { declared: false } if value != 0 => self
                .notes
                .push(format!("{shown} looks like a pointer and is given the number {value}")),
            _ => {}
        }
        let bytes = parameter.bytes;
        let plural = if bytes == 1 { "" } else { "s" };
        let message = format!("{shown} has {bytes} byte{plural}, the value {value} does not fit");
        integer_bytes(value, bytes).map(exec::Argument::Bytes).ok_or(Problem::Wrong(message))
    }

    pub(super) fn scalar(
        &mut self,
        parameter: &Parameter<'_>,
        name: &str,
        element: ElementType,
        value: Option<&Number>,
    ) -> Outcome {
        let shown = parameter_name(parameter, name);
        let (bytes, expected) = (parameter.bytes, u64::from(element.bytes()));
        if bytes != expected {
            let ty = parameter.declared_type();
            return wrong(format!("{shown} is {ty} of {bytes} bytes, {element} has {expected}"));
        }
        match parameter.kind {
            Kind::Float(declared) if declared != element => {
                return wrong(format!("{shown} is {declared}, not {element}"));
            }
            Kind::Pointer { declared: true } => {
                return wrong(format!(
                    "{shown} is a pointer, not a scalar; did you mean {name}={element}[?]?"
                ));
            }
            _ => {}
        }
        match value {
            Some(value) => encode(element, value)
                .map_err(|reason| Problem::Wrong(format!("{shown}: {reason}"))),
            None => self.symbolic(&shown, &format!("{name}={element}=0.5"), element),
        }
    }

    /// A float that may be anything.
    pub(super) fn symbolic(&self, shown: &str, example: &str, element: ElementType) -> Outcome {
        match self.request.missing_data {
            MissingData::Opaque => Ok(exec::Argument::Opaque(Some(element.scalar()))),
            MissingData::Refused => {
                Err(Problem::Missing(format!("{shown} needs a value: --arg {example}")))
            }
        }
    }

    /// An expression: of integers for an integer, of any scalars for a float. If the PTX leaves the type open, an
    /// expression of integers is an integer.
    pub(super) fn related(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &ArgumentSpec,
        expression: &str,
    ) -> Outcome {
        let shown = parameter_name(parameter, &spec.name);
        let problem = |reason: String| Problem::Wrong(format!("`{spec}`: {reason}"));
        let formula = Formula::expression(expression).map_err(|why| problem(why.to_string()))?;
        let specs = || self.request.arguments.specs.iter().chain(self.request.others);
        let mut integers = BTreeMap::new();
        for name in formula.names() {
            let Some(other) = specs().find(|spec| spec.name == name) else {
                return wrong(format!("`{spec}`: no argument is called `{name}`"));
            };
            let is_scalar = matches!(
                other.value,
                ArgumentValue::Number(_) | ArgumentValue::Scalar { .. } | ArgumentValue::Related(_)
            );
            if !is_scalar {
                return wrong(format!("`{spec}`: `{name}` is not a scalar"));
            }
            if let ArgumentValue::Number(Number::Integer(value))
            | ArgumentValue::Scalar { value: Some(Number::Integer(value)), .. } = &other.value
            {
                let number = i64::try_from(*value).ok().map(equiv::Number::from);
                integers.extend(number.map(|number| (name, Formula::number(number))));
            }
        }
        let value = formula.with(&integers).value();
        let integer = value.as_ref().and_then(equiv::Number::to_i64);
        let element = match (parameter.kind, parameter.bytes) {
            (Kind::Integer, _) => {
                let Some(integer) = integer else {
                    let reason = match value {
                        Some(value) => format!("its value is {value}, not an integer"),
                        None => "an integer must be computed from given integers".to_owned(),
                    };
                    return Err(problem(reason));
                };
                return self.integer(parameter, &spec.name, integer.into());
            }
            (Kind::Bits, _) if integer.is_some() => {
                let integer = integer.unwrap_or_default();
                return self.integer(parameter, &spec.name, integer.into());
            }
            (Kind::Float(element), _) => element,
            (Kind::Bits, 4) => ElementType::F32,
            (Kind::Bits, 8) => ElementType::F64,
            (Kind::Bits | Kind::Pointer { .. } | Kind::Structure, _) => {
                let ty = parameter.declared_type();
                return wrong(format!("{shown} is {ty}; only numbers can be related: `{spec}`"));
            }
        };
        self.real(&shown, &formula, element).unwrap_or_else(|| {
            wrong(format!("`{spec}`: related scalars are not supported here; write the value"))
        })
    }

    /// An expression as the value of a float: exact for a run on real numbers, else rounded. `None` if it cannot be
    /// rounded, because it has names.
    pub(super) fn real(
        &self,
        shown: &str,
        formula: &Formula,
        element: ElementType,
    ) -> Option<Outcome> {
        let nearest = match nearest(formula, element) {
            Ok(nearest) => nearest,
            Err(reason) => return Some(wrong(format!("{shown}: {reason}"))),
        };
        match self.request.missing_data {
            MissingData::Opaque => Some(Ok(exec::Argument::Opaque(Some(element.scalar())))),
            MissingData::Refused => {
                let number = Number::Float(format!("{:e}", nearest?.number));
                Some(encode(element, &number).map_err(Problem::wrong))
            }
        }
    }

    /// Records the value of a parameter, if it is a scalar.
    pub(super) fn note_scalar(
        &mut self,
        parameter: &Parameter<'_>,
        spec: Option<&ArgumentSpec>,
        value: &exec::Argument,
    ) {
        let element = match (parameter.kind, spec.map(|spec| &spec.value)) {
            (_, Some(ArgumentValue::Scalar { element, .. })) => Some(*element),
            (Kind::Float(element), _) => Some(element),
            (_, Some(ArgumentValue::Number(Number::Integer(_)))) => None,
            (Kind::Bits, _) if parameter.bytes == 4 => Some(ElementType::F32),
            (Kind::Bits, _) if parameter.bytes == 8 => Some(ElementType::F64),
            _ => None,
        };
        let value = match (value, spec.map(|spec| &spec.value)) {
            (exec::Argument::Opaque(Some(_)), Some(ArgumentValue::Related(expression))) => {
                element.map(|element| ScalarValue::Related(element, expression.clone()))
            }
            (exec::Argument::Opaque(Some(_)), _) => element.map(ScalarValue::Any),
            // Other expressions cannot name a computed integer.
            (exec::Argument::Bytes(_), Some(ArgumentValue::Related(_))) => None,
            (exec::Argument::Bytes(bytes), _) => Some(known_value(element, bytes)),
            _ => None,
        };
        if let Some(value) = value {
            let name = spec.map_or(parameter.name, |spec| spec.name.as_str()).to_owned();
            self.scalars.push(ScalarSpec { name, argument: parameter.index, offset: 0, value });
        }
    }
}

/// Returns the float of a type that is nearest to an expression, or `None` if the expression has names or the type is
/// not a float.
///
/// # Errors
/// If the value is beyond the type, or its float would be zero.
pub(crate) fn nearest(
    formula: &Formula,
    element: ElementType,
) -> Result<Option<equiv::Nearest>, NearestError> {
    let ir::Scalar::Float(format) = element.scalar() else { return Ok(None) };
    match formula.nearest(format) {
        Some(nearest) if !nearest.number.is_finite() => {
            Err(NearestError::TooLarge { formula: formula.to_string(), element })
        }
        Some(nearest) if nearest.vanishes => {
            Err(NearestError::Vanishes { formula: formula.to_string(), element })
        }
        nearest => Ok(nearest),
    }
}

/// The value of a scalar in a structure.
pub(super) fn of_piece(piece: &Piece<'_>) -> Option<ScalarValue> {
    match piece {
        Piece::Symbolic(element) => Some(ScalarValue::Any(*element)),
        Piece::Related(element, expression) => {
            Some(ScalarValue::Related(*element, (*expression).to_owned()))
        }
        Piece::Bytes(_) | Piece::Pointer(_) | Piece::Map(_) => None,
    }
}

/// Decodes a number from its bytes.
fn known_value(element: Option<ElementType>, bytes: &[u8]) -> ScalarValue {
    let bits = bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    match element.map(ElementType::scalar) {
        Some(ir::Scalar::Float(format)) => {
            ScalarValue::Float(exec::concrete::to_double(format, bits))
        }
        Some(ir::Scalar::Integer { signed: false, .. }) => ScalarValue::Integer(bits.into()),
        _ => {
            let unused = 64 - 8 * bytes.len().clamp(1, 8) as u32;
            ScalarValue::Integer(((bits << unused) as i64 >> unused).into())
        }
    }
}

fn encode(element: ElementType, number: &Number) -> Result<exec::Argument, NumberError> {
    let mut bytes = Vec::new();
    element.encode(number, &mut bytes)?;
    Ok(exec::Argument::Bytes(bytes))
}
