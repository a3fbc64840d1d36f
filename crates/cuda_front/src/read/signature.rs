//! Calling convention of a kernel, for running the same text compiled by another compiler. Sizes and offsets are
//! those that `cuda` gave the types (Itanium C++ ABI, with CUDA's alignments of built-in vectors).
//!
//! A kernel whose parameters have arrays inside structs is not described, so its lowering is not cross-checked.

use super::lowerer::Lowerer;
use super::memory_model::{Place, Spot, Target, TargetLeaf};
use cuda::tree::{self, FloatKind, Function};
use kir::{
    ArrayId, Parameter, Part, Records, Scalar, Signature, SignatureError, TemplateParameter,
};

type Described<T> = Result<T, SignatureError>;

impl Lowerer<'_> {
    /// The signature, or why it is unknown. The frame is still the kernel's.
    pub(super) fn signature(&self, function: &Function) -> Described<Signature> {
        let mut signature = Signature {
            name: format!("{}{}", function.namespace, function.name),
            ..Signature::default()
        };
        for (id, symbol) in self.program.symbols.enumerate().filter(|(_, one)| !one.of_template) {
            let var = self.symbols.get(&id);
            let var = var.ok_or_else(|| SignatureError::NoScalar(symbol.name.to_string()))?;
            signature.macros.push((symbol.name.clone(), *var));
        }
        for argument in &function.arguments {
            signature.template.push(match argument.symbol {
                None => TemplateParameter::Fixed(argument.text.clone()),
                // A parameter that the kernel does not use may be anything.
                Some(symbol) => match self.symbols.get(&symbol) {
                    None => TemplateParameter::Fixed("1".to_owned()),
                    Some(var) => TemplateParameter::Number(*var),
                },
            });
        }
        for id in &function.parameters {
            let Some(local) = function.locals.get(*id) else { continue };
            let place = self.frames.first().and_then(|frame| frame.bindings.get(id));
            let place = place.ok_or_else(|| unknown(&local.name))?;
            signature.parameters.push(self.parameter(&local.name, place)?);
        }
        for (id, place) in &self.globals {
            let Some(global) = self.program.globals.get(*id) else { continue };
            use tree::GlobalSpace::{Constant, Device};
            let holds_init = global.is_const && global.init.is_some();
            let unknown = |array| matches!(self.initials.get(array), Some(None));
            if cells(place).iter().any(unknown) {
                return Err(SignatureError::Initialiser(global.name.to_string()));
            }
            if matches!(global.space, Device | Constant) && !holds_init {
                let name = format!("{}{}", global.namespace, global.name);
                let records = self.records(&name, &place.ty, &cells(place))?;
                signature.variables.push((name, records));
            }
        }
        if let Some((_, place)) = &self.dynamic {
            signature.dynamic = Some(self.records("shared memory", &place.ty, &cells(place))?);
        }
        Ok(signature)
    }

    fn parameter(&self, name: &str, place: &Place) -> Described<Parameter> {
        let bytes = self.size(&place.ty).ok_or_else(|| unknown(name))?;
        let [spots] = &place.choices[..] else { return Err(unknown(name)) };
        let scalars = self.scalars_of(&place.ty).ok_or_else(|| unknown(name))?;
        let mut parts = Vec::new();
        for ((offset, ty), spot) in scalars.iter().zip(spots) {
            let part = match spot {
                Spot::Var(var) => self.memory_scalar(ty).map(|scalar| Part::Number(*var, scalar)),
                Spot::Slot(slot) => self.pointer_target(*slot, ty, name)?.map(Part::Pointer),
                _ => None,
            };
            parts.push((*offset, part.ok_or_else(|| unknown(name))?));
        }
        match parts.len() == spots.len() {
            true => Ok(Parameter { name: name.to_owned(), bytes, parts }),
            false => Err(unknown(name)),
        }
    }

    /// The memory that a launch pointer points to.
    fn pointer_target(
        &self,
        slot: usize,
        ty: &tree::Type,
        name: &str,
    ) -> Described<Option<Records>> {
        let tree::Type::Pointer(pointee) = ty else { return Ok(None) };
        // The first target is the launch's.
        let target = self.slots.get(slot).and_then(|slot| slot.targets.first());
        let Some(Target::Elements { leaves, .. }) = target else { return Ok(None) };
        let arrays: Vec<ArrayId> = leaves.iter().map(|TargetLeaf { array, .. }| *array).collect();
        self.records(name, &pointee.ty, &arrays).map(Some)
    }

    /// Consecutive elements of a type, whose scalars are elements of these arrays.
    fn records(&self, name: &str, ty: &tree::Type, arrays: &[ArrayId]) -> Described<Records> {
        let mut element = ty;
        while let tree::Type::Array(inner, _) = element {
            element = inner;
        }
        let scalars = self.scalars_of(element).filter(|all| all.len() == arrays.len());
        let stride = self.size(element).ok_or_else(|| unknown(name))?;
        let mut fields = Vec::new();
        for ((offset, ty), array) in scalars.ok_or_else(|| unknown(name))?.iter().zip(arrays) {
            let scalar = self.memory_scalar(ty).ok_or_else(|| unknown(name))?;
            fields.push((*offset, *array, scalar));
        }
        Ok(Records { stride, fields })
    }

    /// The scalars and pointers of a type with their offsets, in the order of `leaves`; `None` if it has arrays.
    fn scalars_of(&self, ty: &tree::Type) -> Option<Vec<(u64, tree::Type)>> {
        match ty {
            tree::Type::Array(..) => None,
            tree::Type::Record(id) => {
                let record = self.program.records.get(*id).filter(|one| !one.is_union)?;
                let mut all = Vec::new();
                for field in &record.fields {
                    let inner = self.scalars_of(&field.ty)?;
                    all.extend(inner.into_iter().map(|(at, ty)| (field.offset + at, ty)));
                }
                Some(all)
            }
            _ => Some(vec![(0, ty.clone())]),
        }
    }

    /// The scalar as it is stored in memory; `None` for other types.
    pub(super) fn memory_scalar(&self, ty: &tree::Type) -> Option<Scalar> {
        let integer =
            |kind: tree::IntKind| Scalar::Int { bits: kind.bits(), signed: kind.is_signed() };
        match ty {
            tree::Type::Bool => Some(Scalar::Bool),
            tree::Type::Int(kind) => Some(integer(*kind)),
            tree::Type::Enum(id) => self.program.enums.get(*id).map(|one| integer(one.underlying)),
            tree::Type::Float(FloatKind::Bfloat16) => Some(Scalar::Bfloat16),
            tree::Type::Float(FloatKind::Half) => Some(Scalar::Float { bits: 16 }),
            tree::Type::Float(FloatKind::Float) => Some(Scalar::Float { bits: 32 }),
            tree::Type::Float(FloatKind::Double) => Some(Scalar::Float { bits: 64 }),
            _ => None,
        }
    }
}

/// The arrays of a variable.
fn cells(place: &Place) -> Vec<ArrayId> {
    let spots = place.choices.iter().flatten();
    spots
        .filter_map(|spot| match spot {
            Spot::Cell(array, _) => Some(*array),
            _ => None,
        })
        .collect()
}

fn unknown(name: &str) -> SignatureError {
    SignatureError::Layout(name.to_owned())
}
