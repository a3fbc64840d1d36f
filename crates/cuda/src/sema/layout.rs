//! Sizes and alignments of types, offsets of fields, and CUDA's vector types (\[expr.sizeof\], \[class.mem\], Itanium
//! C++ ABI 2.4; CUDA programming guide, "Built-in Vector Types").

use super::analyser::Analyser;
use super::declarations::ClassState;
use super::scope::Entity;
use super::types::{DOUBLE, FLOAT, INT, QType, SIZE, UNSIGNED};
use crate::tree::{Extent, Field, FloatKind, IntKind, RecordId, Type};
use crate::{Result, error, limit, unsupported};
use base::Span;

/// The most parts of a class: its fields, and those of their classes.
const MAX_PARTS: usize = 4096;
/// The most classes that are fields of each other.
const MAX_LEVELS: usize = 64;

impl<'a> Analyser<'a> {
    /// Lays out the fields.
    pub(super) fn lay_out(
        &mut self,
        id: RecordId,
        mut fields: Vec<Field>,
        is_union: bool,
        align: Option<i128>,
        span: Span,
    ) -> Result<()> {
        self.count_parts(id, &fields, span)?;
        let mut largest = 1_u64;
        let mut end = 0_u64;
        let bases: Vec<usize> = self.bases(id).iter().map(|base| base.1).collect();
        for (position, field) in fields.iter_mut().enumerate() {
            let (mut size, field_align) =
                (self.size_of(&field.ty, span)?, self.align_of(&field.ty, span)?);
            // An empty base takes no room.
            if bases.contains(&position) && self.is_empty(&field.ty) {
                size = 0;
            }
            largest = largest.max(field_align);
            let start = if is_union { 0 } else { end.next_multiple_of(field_align.max(1)) };
            field.offset = start;
            end = end.max(start.saturating_add(size));
        }
        if let Some(align) = align {
            let align = u64::try_from(align).ok().filter(|one| one.is_power_of_two());
            let align = align.ok_or_else(|| error(span, "an alignment must be a power of two"))?;
            if align < largest {
                // `alignas` forbids it, and compilers differ on `__align__`.
                let message = "an alignment below that of the members is not supported";
                return Err(unsupported(span, message));
            }
            largest = align;
        }
        let size = end.max(1).next_multiple_of(largest);
        if self.has_reused_padding(id) {
            return Err(unsupported(span, "the layout of this derived class is not modelled"));
        }
        if let Some(record) = self.program.records.get(id).cloned() {
            self.program.records[id] =
                crate::tree::Record { fields, size, align: largest, is_union, ..record };
        }
        Ok(())
    }

    /// Counts the parts of a class, and refuses too many: code that walks all of them would run for ever.
    fn count_parts(&mut self, id: RecordId, fields: &[Field], span: Span) -> Result<()> {
        let (mut parts, mut levels) = (0, 0);
        for field in fields {
            let mut inner = &field.ty;
            while let Type::Array(element, _) = inner {
                inner = element;
            }
            parts += 1;
            if let Type::Record(inner) = inner
                && let Some(inner) = self.class(*inner)
            {
                parts += inner.parts;
                levels = levels.max(inner.levels + 1);
            }
        }
        if parts > MAX_PARTS || levels > MAX_LEVELS {
            return Err(limit(span, "this class has too many members"));
        }
        if let Some(class) = self.class_mut(id) {
            (class.parts, class.levels) = (parts, levels);
        }
        Ok(())
    }

    fn is_empty(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(id) => self.program.records.get(*id).is_some_and(|one| {
                one.fields
                    .iter()
                    .all(|field| matches!(field.ty, Type::Record(_)) && self.is_empty(&field.ty))
            }),
            _ => false,
        }
    }

    /// Fields of a derived class may lie in the padding of a base that is not plain data, and two empty bases may
    /// need different addresses. Such layouts are not computed.
    fn has_reused_padding(&self, id: RecordId) -> bool {
        let bases = self.bases(id);
        bases.len() > 1
            || bases.iter().any(|(base, _)| {
                let Some(record) = self.program.records.get(*base) else { return true };
                let end = record.fields.last().map_or(0, |field| {
                    field.offset + self.size_of(&field.ty, record.span).unwrap_or(0)
                });
                !self.is_empty(&Type::Record(*base)) && end != record.size
            })
    }

    /// Types declared by CUDA's headers.
    pub(super) fn builtin_type(&mut self, name: &str) -> Option<Type> {
        Some(match name {
            "size_t" | "uintptr_t" | "uint64_t" | "ulong" => SIZE,
            "ptrdiff_t" | "intptr_t" | "int64_t" | "ssize_t" | "clock_t" => {
                Type::Int(IntKind::Long)
            }
            "int8_t" => Type::Int(IntKind::SignedChar),
            "uint8_t" => Type::Int(IntKind::UnsignedChar),
            "int16_t" => Type::Int(IntKind::Short),
            "uint16_t" | "ushort" => Type::Int(IntKind::UnsignedShort),
            "int32_t" => INT,
            "uint32_t" | "uint" => UNSIGNED,
            "half" | "__half" => Type::Float(FloatKind::Half),
            "nv_bfloat16" | "__nv_bfloat16" => Type::Float(FloatKind::Bfloat16),
            "cudaTextureObject_t" | "cudaSurfaceObject_t" => Type::Int(IntKind::UnsignedLongLong),
            _ => return self.vector_record(name).map(Type::Record),
        })
    }

    /// `float4`, `uint3`, `dim3`, `half2` and similar.
    pub(super) fn vector_record(&mut self, name: &str) -> Option<RecordId> {
        let name = match name {
            "half2" => "__half2",
            "nv_bfloat162" => "__nv_bfloat162",
            other => other,
        };
        if let Some(id) = self.vectors.get(name) {
            return Some(*id);
        }
        let (element, count) = vector_parts(name)?;
        let span = Span::default();
        let id = self.new_record(name, self.global, span);
        let scope = self.class_scope(id)?;
        let size = self.size_of(&element, span).ok()?;
        let mut fields = Vec::new();
        for (position, field) in ["x", "y", "z", "w"].into_iter().take(count).enumerate() {
            self.enter(scope, field, Entity::Field(position));
            let offset = size * position as u64;
            fields.push(Field {
                name: field.to_owned(),
                ty: element.clone(),
                offset,
                is_const: false,
            });
        }
        let align = match count {
            2 | 4 => (size * count as u64).min(16),
            _ => size,
        };
        if let Some(record) = self.program.records.get(id).cloned() {
            let size = size * count as u64;
            self.program.records[id] = crate::tree::Record { fields, size, align, ..record };
        }
        if let Some(class) = self.class_mut(id) {
            class.state = ClassState::Complete;
        }
        self.vectors.insert(name.into(), id);
        Some(id)
    }

    pub(super) fn vector_type(&mut self, name: &str) -> QType {
        let ty = self.vector_record(name).map_or(Type::Void, Type::Record);
        QType::plain(ty)
    }

    pub(super) fn is_named_record(&self, ty: &Type, name: &str) -> bool {
        matches!(ty, Type::Record(id) if self.vectors.get(name) == Some(id))
    }

    /// The size in bytes (\[expr.sizeof\]); fails for an array with a symbolic size.
    pub(super) fn size_of(&self, ty: &Type, span: Span) -> Result<u64> {
        Ok(match ty {
            Type::Bool => 1,
            Type::Int(kind) => u64::from(kind.bits() / 8),
            Type::Float(FloatKind::Half | FloatKind::Bfloat16) => 2,
            Type::Float(FloatKind::Float) => 4,
            Type::Float(FloatKind::Double) | Type::Pointer(_) => 8,
            Type::Enum(id) => match self.program.enums.get(*id) {
                Some(one) => u64::from(one.underlying.bits() / 8),
                None => return Err(unsupported(span, "the size of this type is not known")),
            },
            Type::Array(element, Extent::Known(count)) => {
                let size = self.size_of(element, span)?.checked_mul(*count);
                size.ok_or_else(|| error(span, "this array is too large"))?
            }
            Type::Record(id) => {
                self.check_usable(*id, span)?;
                self.program.records.get(*id).map_or(0, |one| one.size)
            }
            Type::Void | Type::Array(..) | Type::Function(_) | Type::Whole | Type::Real => {
                return Err(unsupported(span, "the size of this type is not known"));
            }
        })
    }

    /// The alignment in bytes.
    pub(super) fn align_of(&self, ty: &Type, span: Span) -> Result<u64> {
        match ty {
            Type::Array(element, _) => self.align_of(element, span),
            Type::Record(id) => {
                self.complete(*id, span)?;
                Ok(self.program.records.get(*id).map_or(1, |one| one.align))
            }
            other => self.size_of(other, span),
        }
    }

    /// The type of an enumeration's values.
    pub(super) fn underlying(&self, ty: &Type) -> Option<IntKind> {
        match ty {
            Type::Enum(id) => self.program.enums.get(*id).map(|one| one.underlying),
            _ => None,
        }
    }

    pub(super) fn is_scoped_enum(&self, ty: &Type) -> bool {
        match ty {
            Type::Enum(id) => self.program.enums.get(*id).is_none_or(|one| one.is_scoped),
            _ => false,
        }
    }
}

/// Element type and number of elements of a vector type.
fn vector_parts(name: &str) -> Option<(Type, usize)> {
    match name {
        "dim3" => return Some((UNSIGNED, 3)),
        "__half2" => return Some((Type::Float(FloatKind::Half), 2)),
        "__nv_bfloat162" => return Some((Type::Float(FloatKind::Bfloat16), 2)),
        _ => {}
    }
    let count = name.chars().last()?.to_digit(10).filter(|one| (1..=4).contains(one))?;
    let element = match name.get(..name.len() - 1)? {
        "char" => Type::Int(IntKind::SignedChar),
        "uchar" => Type::Int(IntKind::UnsignedChar),
        "short" => Type::Int(IntKind::Short),
        "ushort" => Type::Int(IntKind::UnsignedShort),
        "int" => INT,
        "uint" => UNSIGNED,
        "long" => Type::Int(IntKind::Long),
        "ulong" => SIZE,
        "longlong" => Type::Int(IntKind::LongLong),
        "ulonglong" => Type::Int(IntKind::UnsignedLongLong),
        "float" => FLOAT,
        "double" => DOUBLE,
        _ => return None,
    };
    Some((element, count as usize))
}
