//! Describes the memory layout of each parameter and file variable as one line of text. Two kernels that share a
//! parameter or variable must have equal lines for it.
//!
//! A line gives the width and kind of a scalar; the size of a record, and the names, offsets and types of its fields;
//! the extents of an array; the pointee of a pointer, to a small depth. `const` and the names of types make no
//! difference.

use super::lowerer::Lowerer;
use cuda::tree::{Extent, FloatKind, Function, GlobalSpace, Type};
use std::collections::BTreeMap;

/// Depth to which pointers are followed from a parameter.
const MAX_POINTERS: usize = 3;

impl Lowerer<'_> {
    /// The layout of each parameter and each variable of the file that the kernel may use, by name.
    pub(super) fn layouts(&self, function: &Function) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for (id, global) in self.program.globals.enumerate() {
            let shared = matches!(global.space, GlobalSpace::Device | GlobalSpace::Constant);
            if shared && self.globals.contains_key(&id) {
                all.insert(global.name.clone(), self.layout_text(&global.ty, MAX_POINTERS));
            }
        }
        for id in &function.parameters {
            if let Some(local) = function.locals.get(*id) {
                all.insert(local.name.clone(), self.layout_text(&local.ty, MAX_POINTERS));
            }
        }
        all
    }

    fn layout_text(&self, ty: &Type, pointers: usize) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Int(kind) => integer(kind.is_signed(), kind.bits()),
            Type::Float(kind) => match kind {
                FloatKind::Half => "half",
                FloatKind::Bfloat16 => "bfloat16",
                FloatKind::Float => "float",
                FloatKind::Double => "double",
            }
            .to_owned(),
            Type::Enum(id) => self.program.enums.get(*id).map_or_else(String::new, |one| {
                integer(one.underlying.is_signed(), one.underlying.bits())
            }),
            Type::Pointer(_) if pointers == 0 => "pointer".to_owned(),
            Type::Pointer(pointee) => format!("{}*", self.layout_text(&pointee.ty, pointers - 1)),
            Type::Array(element, extent) => {
                let extent = match extent {
                    Extent::Known(count) => count.to_string(),
                    Extent::Symbolic(_) | Extent::Unknown => String::new(),
                };
                format!("{}[{extent}]", self.layout_text(element, pointers))
            }
            Type::Record(id) => self.program.records.get(*id).map_or_else(String::new, |record| {
                let field = |field: &cuda::tree::Field| {
                    format!(
                        "{} {} at {}",
                        self.layout_text(&field.ty, pointers),
                        field.name,
                        field.offset
                    )
                };
                let fields: Vec<String> = record.fields.iter().map(field).collect();
                let kind = if record.is_union { "union" } else { "struct" };
                format!("{kind} of {} bytes {{{}}}", record.size, fields.join(", "))
            }),
            Type::Void | Type::Function(_) | Type::Whole | Type::Real => "void".to_owned(),
        }
    }
}

fn integer(signed: bool, bits: u8) -> String {
    format!("{}int{bits}", if signed { "" } else { "u" })
}
