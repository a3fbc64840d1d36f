//! Advice to caches: priorities (manual §9.7.9.16) and policies (§9.7.9.18).
//!
//! A policy is 64 bits without a description in the manual. Accesses ignore it; other computations with it are not
//! followed.

use super::{Form, Insn, Lower, Type, by};
use ir::{Op, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "applypriority",
        when: &[],
        syntax: "applypriority{.global}.L2::evict_normal [a], 128",
        section: "9.7.9.16",
        examples: &["applypriority.global.L2::evict_normal [%rd1], 128;"],
        lowering: by(|insn| {
            insn.flag("global");
            insn.require(&[("L2::evict_normal", ())], "`.L2::evict_normal`")?;
            insn.address()?;
            insn.immediate()?;
            insn.emit(Op::Hint { what: "applypriority" });
            Ok(())
        }),
    },
    Form {
        opcode: "createpolicy",
        when: &["range"],
        syntax: "createpolicy.range{.global}.primary{.secondary}.b64 policy, [a], size, total",
        section: "9.7.9.18",
        examples: &[
            "createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], 0x100000, 0x200000;",
        ],
        lowering: by(|insn| {
            insn.flag("range");
            insn.flag("global");
            priorities(insn)?;
            policy(insn, |insn| {
                insn.address()?;
                insn.src(Type::U32)?;
                insn.src(Type::U32).map(|_| ())
            })
        }),
    },
    Form {
        opcode: "createpolicy",
        when: &["fractional"],
        syntax: "createpolicy.fractional.primary{.secondary}.b64 policy{, fraction}",
        section: "9.7.9.18",
        examples: &[
            "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;",
            "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd1;",
        ],
        lowering: by(|insn| {
            insn.flag("fractional");
            priorities(insn)?;
            policy(insn, |insn| match insn.remaining() {
                0 => Ok(()),
                _ => insn.src(Type::F32).map(|_| ()),
            })
        }),
    },
    Form {
        opcode: "createpolicy",
        when: &["cvt"],
        syntax: "createpolicy.cvt.L2.b64 policy, property",
        section: "9.7.9.18",
        examples: &["createpolicy.cvt.L2.b64 %rd1, %rd2;"],
        lowering: by(|insn| {
            insn.flag("cvt");
            insn.require(&[("L2", ())], "`.L2`")?;
            policy(insn, |insn| insn.src(Type::B64).map(|_| ()))
        }),
    },
];

/// Takes the priority of accesses inside the range, and of the others.
fn priorities(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let primary = &[
        ("L2::evict_last", ()),
        ("L2::evict_normal", ()),
        ("L2::evict_first", ()),
        ("L2::evict_unchanged", ()),
    ];
    insn.require(primary, "a priority")?;
    insn.choose(&[("L2::evict_first", ()), ("L2::evict_unchanged", ())]);
    Ok(())
}

/// Lowers `createpolicy`: the result is unknown. `operands` takes the source operands.
fn policy(
    insn: &mut Insn<'_, '_, '_>,
    operands: impl FnOnce(&mut Insn<'_, '_, '_>) -> Lower,
) -> Lower {
    insn.ty(&[Type::B64])?;
    let dst = insn.dst(Width::B64)?;
    operands(insn)?;
    insn.emit(Op::Opaque { dst, what: "a cache policy" });
    Ok(())
}
