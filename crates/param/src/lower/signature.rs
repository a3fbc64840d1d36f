//! How a kernel is called: sizes, alignments and offsets of its parameters (Itanium C++ ABI, which CUDA follows for
//! structs without bases; CUDA's vector types of two and four are aligned to their size, up to 16).
//!
//! Alignments that attributes or pragmas give are not seen here.

use super::access::Place;
use super::{Binding, Lowerer, records};
use crate::cfront::ast::{Declarator, Function, Scalar as CScalar, TypeName};
use crate::kir::{Parameter, Part, Records, Scalar, Signature, TemplateParameter, VarId};

/// Scopes that are open where parameters are declared: the file's and theirs.
const PARAMETER_SCOPES: usize = 2;
/// Bytes of a pointer.
const POINTER: u64 = 8;

/// A scalar of a type: where it lies, how it is reached, and what it is.
type Field = (u64, records::Path, TypeName);

/// How a type lies in memory.
struct Layout {
    bytes: u64,
    align: u64,
    fields: Vec<Field>,
}

impl Lowerer<'_> {
    /// The signature, or why it is not known. Parameters are bound, and `scalars` begin with symbolic macros and the
    /// numbers of the template.
    pub(super) fn signature(
        &mut self,
        function: &Function,
        scalars: &[VarId],
    ) -> Result<Signature, String> {
        self.scopes.truncate(PARAMETER_SCOPES);
        let mut signature = Signature::default();
        let mut sizes = scalars.iter().copied();
        for name in &self.unit.symbolic {
            let var = sizes.next().ok_or("a macro without a scalar")?;
            signature.macros.push((name.clone(), var));
        }
        let sizes: Vec<VarId> = sizes.collect();
        for name in &function.template_order {
            let number = function.template.iter().position(|one| one.name == *name);
            signature.template.push(match number.map(|number| sizes.get(number)) {
                Some(Some(var)) => TemplateParameter::Number(*var),
                Some(None) => return Err(format!("the template's `{name}` has no scalar")),
                None => TemplateParameter::Type(name.clone()),
            });
        }
        for parameter in &function.parameters {
            let name = &parameter.name;
            let found = self.parameter(parameter);
            let found = found.ok_or_else(|| format!("the layout of `{name}` is not known"))?;
            signature.parameters.push(found);
        }
        for declarator in self.unit.globals.iter().flat_map(|one| &one.declarators) {
            let binding = self.scopes.first().and_then(|scope| scope.get(&declarator.name));
            let Some(binding) = binding else { continue };
            if !matches!(binding, Binding::Array(_) | Binding::RecordArray(_)) {
                continue;
            }
            let records = self.records(declarator.ty, binding);
            let name = &declarator.name;
            let records = records.ok_or_else(|| format!("the layout of `{name}` is not known"))?;
            signature.variables.push((name.clone(), records));
        }
        if let Some((declarator, binding)) = &self.dynamic {
            let records = self.records(declarator.ty, binding);
            let unknown = || format!("the layout of `{}` is not known", declarator.name);
            signature.dynamic = Some(records.ok_or_else(unknown)?);
        }
        Ok(signature)
    }

    fn parameter(&self, parameter: &Declarator) -> Option<Parameter> {
        let (name, ty) = (parameter.name.clone(), parameter.ty);
        let binding = self.lookup(&name)?;
        let layout = self.layout(ty)?;
        let mut parts = Vec::new();
        match binding {
            Binding::Var(var) => parts.push((0, Part::Number(*var, scalar(ty.scalar)?))),
            Binding::Pointer(..) | Binding::Records(..) => {
                let pointed = TypeName { pointers: 0, ..ty };
                parts.push((0, Part::Pointer(self.records(pointed, binding)?)));
            }
            Binding::Places(places) => {
                for (offset, path, ty) in layout.fields {
                    let (_, place) = places.iter().find(|(own, _)| *own == path)?;
                    let part = match place {
                        Place::Var(var) => Part::Number(*var, scalar(ty.scalar)?),
                        Place::Pointer(array, _) => {
                            let scalar = scalar(ty.scalar)?;
                            let fields = vec![(0, *array, scalar)];
                            Part::Pointer(Records { stride: scalar.bytes(), fields })
                        }
                        _ => return None,
                    };
                    parts.push((offset, part));
                }
            }
            _ => return None,
        }
        Some(Parameter { name, bytes: layout.bytes, parts })
    }

    /// The records of a type whose arrays a name is bound to.
    fn records(&self, ty: TypeName, binding: &Binding) -> Option<Records> {
        let leaves = match binding {
            Binding::Pointer(array, _) | Binding::Array(array) => {
                let scalar = scalar(ty.scalar)?;
                let fields = vec![(0, *array, scalar)];
                return Some(Records { stride: scalar.bytes(), fields });
            }
            Binding::Records(leaves, _, None) | Binding::RecordArray(leaves) => leaves,
            _ => return None,
        };
        let layout = self.layout(ty)?;
        let mut fields = Vec::new();
        for (offset, path, ty) in layout.fields {
            let leaf = leaves.iter().find(|leaf| leaf.path == path)?;
            fields.push((offset, leaf.array, scalar(ty.scalar)?));
        }
        Some(Records { stride: layout.bytes, fields })
    }

    fn layout(&self, ty: TypeName) -> Option<Layout> {
        if ty.pointers > 0 {
            let fields = vec![(0, Vec::new(), ty)];
            return Some(Layout { bytes: POINTER, align: POINTER, fields });
        }
        let CScalar::Struct(number) = ty.scalar else {
            let bytes = scalar(ty.scalar)?.bytes();
            return Some(Layout { bytes, align: bytes, fields: vec![(0, Vec::new(), ty)] });
        };
        let found = self.unit.structs.get(usize::from(number))?;
        let mut whole = Layout { bytes: 0, align: 1, fields: Vec::new() };
        for field in &found.fields {
            if !field.dimensions.is_empty() {
                return None;
            }
            let inner = self.layout(field.ty)?;
            let start = whole.bytes.next_multiple_of(inner.align);
            for (offset, path, ty) in inner.fields {
                let path = std::iter::once(field.name.clone()).chain(path).collect();
                whole.fields.push((start + offset, path, ty));
            }
            whole.bytes = start + inner.bytes;
            whole.align = whole.align.max(inner.align);
        }
        if found.is_vector && matches!(found.fields.len(), 2 | 4) {
            whole.align = whole.bytes.min(16);
        }
        whole.bytes = whole.bytes.max(1).next_multiple_of(whole.align);
        Some(whole)
    }
}

fn scalar(scalar: CScalar) -> Option<Scalar> {
    match scalar {
        CScalar::Bool => Some(Scalar::Bool),
        CScalar::Int { bits, signed } => Some(Scalar::Int { bits, signed }),
        CScalar::Float { bits } => Some(Scalar::Float { bits }),
        CScalar::Void | CScalar::Struct(_) | CScalar::Auto => None,
    }
}
