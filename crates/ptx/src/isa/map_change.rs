//! Changes of tensor maps by a kernel: `tensormap.replace` (manual §9.7.9.28) and `tensormap.cp_fenceproxy`
//! (§9.7.13.16).
//!
//! Refused: `.swizzle_atomicity`, whose position among the bits is unknown.

use super::memory::{check_space, scope};
use super::{Form, Insn, Lower, Type, by};
use ir::{MAX_DIMENSIONS, MapField, MapOp, Op, Space, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "tensormap",
        when: &["replace"],
        syntax: "tensormap.replace.tile.field{.global,.shared::cta}.b1024.{b32,b64} [a]{, ord}, value",
        section: "9.7.9.28",
        examples: &[
            "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd1;",
            "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r1;",
            "tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd1], 3;",
        ],
        lowering: by(replace),
    },
    Form {
        opcode: "tensormap",
        when: &["cp_fenceproxy"],
        syntax: "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst], [src], 128",
        section: "9.7.13.16",
        examples: &[
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;",
        ],
        lowering: by(publish),
    },
];

/// The operands of a field: its value, which must be a constant for some fields, and a dimension before it
/// for others.
#[derive(Clone, Copy)]
enum FieldOperands {
    Value(MapField),
    OfDimension(fn(u8) -> MapField),
    Constant(MapField),
}

const FIELDS: &[(&str, FieldOperands)] = &[
    ("global_address", FieldOperands::Value(MapField::GlobalAddress)),
    ("rank", FieldOperands::Value(MapField::Rank)),
    ("box_dim", FieldOperands::OfDimension(MapField::BoxDim)),
    ("global_dim", FieldOperands::OfDimension(MapField::GlobalDim)),
    ("global_stride", FieldOperands::OfDimension(MapField::GlobalStride)),
    ("element_stride", FieldOperands::OfDimension(MapField::ElementStride)),
    ("elemtype", FieldOperands::Constant(MapField::ElementType)),
    ("interleave_layout", FieldOperands::Constant(MapField::InterleaveLayout)),
    ("swizzle_mode", FieldOperands::Constant(MapField::SwizzleMode)),
    ("fill_mode", FieldOperands::Constant(MapField::FillMode)),
];

fn replace(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("replace");
    insn.require(&[("tile", ())], "`.tile`")?;
    let given = insn.require(FIELDS, "a field that is known")?;
    let spaces = &[("global", Space::Global), ("shared::cta", Space::Shared)];
    let space = insn.choose(spaces).unwrap_or(Space::Generic);
    insn.require(&[("b1024", ())], "`.b1024`")?;
    let map = insn.address()?;
    check_space(insn, space, map)?;
    let field = match given {
        FieldOperands::Value(field) | FieldOperands::Constant(field) => field,
        FieldOperands::OfDimension(field) => field(dimension(insn)?),
    };
    if matches!(field, MapField::GlobalStride(at) if usize::from(at) + 1 >= MAX_DIMENSIONS) {
        return Err(insn.unsupported("a tensor map has at most four strides"));
    }
    let wide = field.width() == Width::B64;
    let ty = insn.ty(&[if wide { Type::B64 } else { Type::B32 }])?;
    let value = match given {
        FieldOperands::Constant(_) => ir::Operand::Constant(insn.immediate()?),
        FieldOperands::Value(_) | FieldOperands::OfDimension(_) => insn.src(ty)?,
    };
    insn.emit(Op::TensorMap(Box::new(MapOp::Replace { map, space, field, value })));
    Ok(())
}

/// Takes the number of a dimension.
fn dimension(insn: &mut Insn<'_, '_, '_>) -> Lower<u8> {
    let number = insn.immediate()?;
    let known = u8::try_from(number).ok().filter(|&at| usize::from(at) < MAX_DIMENSIONS);
    known.ok_or_else(|| insn.unsupported("a tensor has at most five dimensions"))
}

/// Lowers `cp_fenceproxy`, which publishes a changed map.
fn publish(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("cp_fenceproxy");
    let spaces = [("global", "global memory"), ("shared::cta", "shared memory")];
    for (space, what) in spaces {
        insn.require(&[(space, ())], what)?;
    }
    insn.require(&[("tensormap::generic", ())], "`.tensormap::generic`")?;
    insn.require(&[("release", ())], "`.release`")?;
    if scope(insn).is_none() {
        return Err(insn.unsupported("the scope is missing"));
    }
    insn.require(&[("sync", ())], "`.sync`")?;
    insn.require(&[("aligned", ())], "`.aligned`")?;
    let (dst, src) = (insn.address()?, insn.address()?);
    check_space(insn, Space::Global, dst)?;
    check_space(insn, Space::Shared, src)?;
    if insn.immediate()? != 128 {
        return Err(insn.unsupported("a tensor map has 128 bytes"));
    }
    insn.emit(Op::TensorMap(Box::new(MapOp::Publish { dst, src })));
    Ok(())
}
