//! `--arg` of `prove`: `C=f32[m,n]` gives the size of a tensor, `t=s32[n]:0..v` also the range of its elements,
//! `n=1024` the value of a scalar.

use crate::arguments::ElementType;
use formula::contract::{SizedScalar, SizedTensor, Sizes};
use formula::{Expression, parse_expression};
use ir::Scalar;
use kir::{self, Array, ArrayId, Kernel, Part, Space, Type};

/// Everything that a formula may name, and clauses about scalars.
///
/// # Errors
/// A sentence about the first wrong argument.
pub(super) fn read(kernel: &Kernel, arguments: &[String]) -> Result<(Sizes, Vec<String>), String> {
    let mut sizes = Sizes { tensors: Vec::new(), scalars: scalars(kernel) };
    let mut clauses = Vec::new();
    for argument in arguments {
        let wrong = |why: String| format!("--arg `{argument}`: {why}");
        let Some((name, value)) = argument.split_once('=') else {
            return Err(wrong("expected NAME=TYPE[SIZES], such as `C=f32[m,n]`".to_owned()));
        };
        let (name, value) = (name.trim(), value.trim());
        if sizes.tensors.iter().any(|tensor| tensor.name == name) {
            return Err(wrong("it is given twice".to_owned()));
        }
        if value.contains('[') {
            let tensor = tensor(kernel, name, value).map_err(wrong)?;
            sizes.tensors.push(tensor);
        } else {
            clauses.push(scalar(&sizes, name, value).map_err(wrong)?);
        }
    }
    Ok((sizes, clauses))
}

/// Arrays of known length.
pub(super) fn with_length(kernel: &Kernel) -> Vec<&str> {
    let known = |array: &&Array| array.dimensions.iter().all(Option::is_some);
    kernel.arrays.iter().filter(known).map(|array| array.name.as_str()).collect()
}

/// Finds a tensor whose pointer has a size in the file as well. Which of two sizes holds must not be guessed.
pub(super) fn sized_twice<'k>(kernel: &'k Kernel, sizes: &Sizes) -> Option<&'k str> {
    let known = with_length(kernel);
    let is_parameter = |id: ArrayId| {
        match &kernel.signature {
        Ok(signature) => signature.parameters.iter().flat_map(|parameter| &parameter.parts).any(|(_, part)| {
            matches!(part, Part::Pointer(records) if records.fields.iter().any(|field| field.1 == id))
        }),
        // The layout of parameters is unknown: any array may be one.
        Err(_) => true,
    }
    };
    let mut arrays = kernel.arrays.enumerate().filter(|(id, _)| is_parameter(*id));
    let twice = |name: &str| {
        known.contains(&name) && sizes.tensors.iter().any(|tensor| tensor.name == name)
    };
    arrays.find(|(_, array)| twice(&array.name)).map(|(_, array)| array.name.as_str())
}

fn scalars(kernel: &Kernel) -> Vec<SizedScalar> {
    let scalar = |var: &kir::VarId| {
        let var = &kernel.vars[*var];
        SizedScalar {
            name: var.name.clone(),
            is_integer: var.ty != Type::Float,
            is_unsigned: matches!(var.ty, Type::Int { signed: false, .. } | Type::Bool),
        }
    };
    kernel.scalars.iter().map(scalar).collect()
}

/// `n=1024` as a clause.
fn scalar(sizes: &Sizes, name: &str, value: &str) -> Result<String, String> {
    let known = sizes.scalars.iter().find(|scalar| scalar.name == name && scalar.is_integer);
    let value: i64 = value
        .parse()
        .map_err(|_| "expected TYPE[SIZES], such as `f32[m,n]`, or an integer".to_owned())?;
    match known {
        Some(_) => Ok(format!("requires {name} == {value}")),
        None => Err(format!("the kernel has no integer `{name}`")),
    }
}

fn tensor(kernel: &Kernel, name: &str, value: &str) -> Result<SizedTensor, String> {
    let (array, own) = array(kernel, name)?;
    let Some((ty, rest)) = value.split_once('[') else { return Err("`[` is missing".to_owned()) };
    let Some((shape, options)) = rest.split_once(']') else {
        return Err("`]` is missing".to_owned());
    };
    let element = ElementType::from_name(ty.trim()).ok_or_else(|| {
        format!("`{}` is not a type; types are f32, f16, s32 and others", ty.trim())
    })?;
    let scalar = element.scalar();
    fits(kernel, array, own, element)?;
    let sizes = shape.split(',').map(str::trim).filter(|one| !one.is_empty());
    let sizes = sizes.map(expression).collect::<Result<Vec<Expression>, String>>()?;
    let mut tensor = SizedTensor {
        name: name.to_owned(),
        scalar,
        sizes,
        range: None,
        is_output: false,
        may_change: false,
    };
    for option in options.split(':').map(str::trim).filter(|one| !one.is_empty()) {
        match (option, option.split_once("..")) {
            ("out", _) => tensor.is_output = true,
            ("inout", _) => tensor.may_change = true,
            (_, Some((low, high))) if matches!(scalar, Scalar::Integer { .. }) => {
                tensor.range = Some((expression(low)?, expression(high)?));
            }
            (_, Some(_)) => return Err("a range `0..n` is one of integers".to_owned()),
            _ => {
                let message =
                    "is not supported for every size; `:out`, `:inout` and a range `:0..n` are";
                return Err(format!("`:{option}` {message}"));
            }
        }
    }
    Ok(tensor)
}

fn expression(text: &str) -> Result<Expression, String> {
    parse_expression(text).map_err(|error| format!("`{text}`: {error}"))
}

/// Finds an array by name.
fn array<'k>(kernel: &'k Kernel, name: &str) -> Result<(ArrayId, &'k Array), String> {
    let global = |(_, array): &(ArrayId, &'k Array)| array.space == Space::Global;
    let mut arrays = kernel.arrays.enumerate().filter(global);
    match arrays.find(|(_, array)| array.name == name) {
        Some((id, array)) if array.dimensions.len() == 1 => Ok((id, array)),
        Some(_) => Err("multi-dimensional arrays are not supported here".to_owned()),
        None => {
            let names = kernel.arrays.enumerate().filter(global).map(|(_, array)| &*array.name);
            let names: Vec<&str> = names.collect();
            Err(match names.is_empty() {
                true => format!("`{}` has no array", kernel.name),
                false => format!(
                    "`{}` has no array `{name}`; it has `{}`",
                    kernel.name,
                    names.join("`, `")
                ),
            })
        }
    }
}

/// Compares a type with that of the kernel's array.
fn fits(kernel: &Kernel, id: ArrayId, array: &Array, element: ElementType) -> Result<(), String> {
    let declared_type = declared(kernel, id);
    let is_same = match declared_type {
        Some(declared_type) => declared_type == element,
        // An array of unknown layout has a kind and, for integers, a width.
        None => match (array.element, element.scalar()) {
            (Type::Float, Scalar::Float(_)) => true,
            (Type::Int { bits, signed }, Scalar::Integer { width, signed: given }) => {
                u32::from(bits) == width.bits() && signed == given
            }
            (Type::Bool, Scalar::Integer { .. }) => element == ElementType::B1,
            _ => false,
        },
    };
    let name = declared_type.map_or_else(|| array.element.name(), |one| one.name().to_owned());
    match is_same {
        true => Ok(()),
        false => Err(format!("the kernel declares elements of type {name}")),
    }
}

/// The type in the kernel's declaration.
fn declared(kernel: &Kernel, id: ArrayId) -> Option<ElementType> {
    let signature = kernel.signature.as_ref().ok()?;
    let parts = signature.parameters.iter().flat_map(|parameter| &parameter.parts);
    let records = parts.filter_map(|(_, part)| match part {
        Part::Pointer(records) => Some(records),
        Part::Number(..) => None,
    });
    let records = records.chain(signature.variables.iter().map(|(_, records)| records));
    let fields = records.flat_map(|records| &records.fields);
    let (_, _, scalar) = fields.into_iter().find(|(_, array, _)| *array == id)?;
    Some(match scalar {
        kir::Scalar::Bool => ElementType::B1,
        kir::Scalar::Bfloat16 => ElementType::Bf16,
        kir::Scalar::Float { bits: 64 } => ElementType::F64,
        kir::Scalar::Float { bits: 32 } => ElementType::F32,
        kir::Scalar::Float { .. } => ElementType::F16,
        kir::Scalar::Int { bits: 64, signed: true } => ElementType::S64,
        kir::Scalar::Int { bits: 64, signed: false } => ElementType::U64,
        kir::Scalar::Int { bits: 32, signed: true } => ElementType::S32,
        kir::Scalar::Int { bits: 32, signed: false } => ElementType::U32,
        kir::Scalar::Int { bits: 16, signed: true } => ElementType::S16,
        kir::Scalar::Int { bits: 16, signed: false } => ElementType::U16,
        kir::Scalar::Int { signed: true, .. } => ElementType::S8,
        kir::Scalar::Int { signed: false, .. } => ElementType::U8,
    })
}
