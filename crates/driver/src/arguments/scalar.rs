//! Numbers for scalar parameters.
//!
//! A plain number takes the type of its parameter. Where the PTX leaves that open (`.b32`), a number
//! with a fraction or exponent is a float and any other an integer; a stated type (`f32=1`) leaves no
//! doubt.

use super::build::{Builder, Outcome, Problem, shown, wrong};
use super::parameter::{Kind, Parameter};
use super::structure::integer_bytes;
use super::{ArgumentSpec, ElementType, MissingData, Number, parse};

impl Builder<'_> {
    pub(super) fn number(
        &mut self,
        parameter: &Parameter<'_>,
        name: &str,
        number: &Number,
    ) -> Outcome {
        let shown = shown(parameter, name);
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
                    "{shown} is {}, so the type of {number} is not clear; say it, as in \
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
        let shown = shown(parameter, name);
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
        let shown = shown(parameter, name);
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

    pub(super) fn related(
        &mut self,
        parameter: &Parameter<'_>,
        spec: &ArgumentSpec,
        expression: &str,
    ) -> Outcome {
        const CONSTANTS: [&str; 7] = ["log2e", "ln2", "log10e", "pi", "e", "sqrt", "sqrt2"];
        let shown = shown(parameter, &spec.name);
        let specs = &self.request.arguments.specs;
        let known =
            |name: &&str| CONSTANTS.contains(name) || specs.iter().any(|spec| spec.name == *name);
        if let Some(name) = parse::expression_names(expression).find(|name| !known(name)) {
            return wrong(format!("`{spec}`: no argument is called `{name}`"));
        }
        let is_float = match parameter.kind {
            Kind::Float(_) => true,
            Kind::Bits => matches!(parameter.bytes, 4 | 8),
            Kind::Integer | Kind::Pointer { .. } | Kind::Structure => false,
        };
        if !is_float {
            let ty = parameter.declared_type();
            return wrong(format!("{shown} is {ty}; only floats can be related: `{spec}`"));
        }
        match self.request.missing_data {
            MissingData::Opaque => {
                self.notes
                    .push(format!("`{spec}`: the relation is not used, any number is allowed"));
                let element = match parameter.kind {
                    Kind::Float(element) => Some(element.scalar()),
                    _ => None,
                };
                Ok(exec::Argument::Opaque(element))
            }
            MissingData::Refused => {
                wrong(format!("`{spec}`: related scalars are not supported yet; write the value"))
            }
        }
    }
}

fn encode(element: ElementType, number: &Number) -> Result<exec::Argument, String> {
    let mut bytes = Vec::new();
    element.encode(number, &mut bytes)?;
    Ok(exec::Argument::Bytes(bytes))
}
