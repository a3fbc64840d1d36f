//! Communication between the lanes of a warp (manual §9.7.9.5–6, §9.7.13.8–14).
//!
//! `shfl` and `vote` without `.sync` do not exist on sm_70 and later, whose rules we follow.

use super::redux_float::redux_float;
use super::{Form, Insn, Lower, Lowering, Type, by};
use ir::{MatchMode, Op, ReduxOp, ShuffleMode, SyncOp, VoteMode, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "shfl",
        when: &["sync"],
        syntax: "shfl.sync.{up,down,bfly,idx}.b32 d{|p}, a, b, c, membermask",
        section: "9.7.9.6",
        examples: &[
            "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;",
            "shfl.sync.down.b32 %r1|%p1, %r2, %r3, 0x1f, %r4;",
        ],
        lowering: by(shuffle),
    },
    Form {
        opcode: "shfl",
        when: &[],
        syntax: "shfl.{up,down,bfly,idx}.b32 d{|p}, a, b, c (removed for sm_70 and later)",
        section: "9.7.9.5",
        examples: &["shfl.up.b32 %r1|%p1, %r2, 1, 0;"],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "vote",
        when: &["sync"],
        syntax: "vote.sync.{all,any,uni}.pred d, a, membermask; vote.sync.ballot.b32 d, a, membermask",
        section: "9.7.13.9",
        examples: &["vote.sync.any.pred %p1, !%p2, -1;", "vote.sync.ballot.b32 %r1, %p1, %r2;"],
        lowering: by(vote),
    },
    Form {
        opcode: "vote",
        when: &[],
        syntax: "vote.{all,any,uni}.pred d, a; vote.ballot.b32 d, a (removed for sm_70 and later)",
        section: "9.7.13.8",
        examples: &["vote.all.pred %p1, %p2;"],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "match",
        when: &[],
        syntax: "match.{any,all}.sync.{b32,b64} d{|p}, a, membermask",
        section: "9.7.13.10",
        examples: &["match.any.sync.b32 %r1, %r2, -1;", "match.all.sync.b64 %r1|%p1, %rd1, %r2;"],
        lowering: by(match_lanes),
    },
    Form {
        opcode: "redux",
        when: &["f32"],
        syntax: "redux.sync.{min,max}{.abs}{.NaN}.f32 d, a, membermask",
        section: "9.7.13.12",
        examples: &[
            "redux.sync.max.f32 %f1, %f2, -1;",
            "redux.sync.min.abs.NaN.f32 %f1, %f2, %r1;",
        ],
        lowering: by(redux_float),
    },
    Form {
        opcode: "redux",
        when: &[],
        syntax: "redux.sync.{add,min,max}.{u32,s32} d, a, membermask; redux.sync.{and,or,xor}.b32",
        section: "9.7.13.12",
        examples: &["redux.sync.add.s32 %r1, %r2, -1;", "redux.sync.xor.b32 %r1, %r2, %r3;"],
        lowering: by(redux),
    },
    Form {
        opcode: "activemask",
        when: &[],
        syntax: "activemask.b32 d",
        section: "9.7.13.11",
        examples: &["activemask.b32 %r1;"],
        lowering: by(|insn| {
            insn.ty(&[Type::B32])?;
            let dst = insn.dst(Width::B32)?;
            insn.emit(Op::Sync(SyncOp::ActiveMask { dst }));
            Ok(())
        }),
    },
    Form {
        opcode: "elect",
        when: &[],
        syntax: "elect.sync d|p, membermask",
        section: "9.7.13.14",
        examples: &["elect.sync _|%p1, -1;", "elect.sync %r1|%p1, %r2;"],
        lowering: by(elect),
    },
];

const MODES: &[(&str, ShuffleMode)] = &[
    ("up", ShuffleMode::Up),
    ("down", ShuffleMode::Down),
    ("bfly", ShuffleMode::Bfly),
    ("idx", ShuffleMode::Idx),
];

fn shuffle(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("sync");
    let mode = insn.require(MODES, "a mode")?;
    insn.ty(&[Type::B32])?;
    let (dst, in_range) = insn.dst_pair(Width::B32, Width::B1)?;
    let dst = match dst {
        Some(dst) => dst,
        // The value is unused; only the range test of the lane is.
        None => insn.temporary(Width::B32),
    };
    let (value, lane, clamp) = (insn.src(Type::B32)?, insn.src(Type::B32)?, insn.src(Type::B32)?);
    let mask = insn.src(Type::B32)?;
    insn.emit(Op::Sync(SyncOp::Shuffle { mode, dst, in_range, value, lane, clamp, mask }));
    Ok(())
}

fn vote(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("sync");
    let modes = &[
        ("all", VoteMode::All),
        ("any", VoteMode::Any),
        ("uni", VoteMode::Uni),
        ("ballot", VoteMode::Ballot),
    ];
    let mode = insn.require(modes, "a mode")?;
    let ty = if mode == VoteMode::Ballot { Type::B32 } else { Type::Pred };
    insn.ty(&[ty])?;
    let dst = insn.dst(ty.width())?;
    let predicate = insn.predicate()?;
    let mask = insn.src(Type::B32)?;
    insn.emit(Op::Sync(SyncOp::Vote { mode, dst, predicate, mask }));
    Ok(())
}

fn match_lanes(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let mode = insn.require(&[("any", MatchMode::Any), ("all", MatchMode::All)], "a mode")?;
    insn.require(&[("sync", ())], "`.sync`")?;
    let ty = insn.ty(&[Type::B32, Type::B64])?;
    let (dst, all_equal) = match mode {
        MatchMode::Any => (Some(insn.dst(Width::B32)?), None),
        MatchMode::All => insn.dst_pair(Width::B32, Width::B1)?,
    };
    let dst = match dst {
        Some(dst) => dst,
        None => insn.temporary(Width::B32),
    };
    let value = insn.src(ty)?;
    let mask = insn.src(Type::B32)?;
    let width = ty.width();
    insn.emit(Op::Sync(SyncOp::Match { mode, dst, all_equal, value, width, mask }));
    Ok(())
}

fn redux(insn: &mut Insn<'_, '_, '_>) -> Lower {
    #[derive(Clone, Copy)]
    enum Operation {
        Add,
        Min,
        Max,
        Bits(ReduxOp),
    }
    let table = &[
        ("add", Operation::Add),
        ("min", Operation::Min),
        ("max", Operation::Max),
        ("and", Operation::Bits(ReduxOp::And)),
        ("or", Operation::Bits(ReduxOp::Or)),
        ("xor", Operation::Bits(ReduxOp::Xor)),
    ];
    insn.require(&[("sync", ())], "`.sync`")?;
    let kind = insn.require(table, "an operation")?;
    let types: &[Type] = match kind {
        Operation::Bits(_) => &[Type::B32],
        Operation::Add | Operation::Min | Operation::Max => &[Type::U32, Type::S32],
    };
    let ty = insn.ty(types)?;
    let signed = ty.is_signed();
    let op = match kind {
        Operation::Add => ReduxOp::Add,
        Operation::Min => ReduxOp::Min { signed },
        Operation::Max => ReduxOp::Max { signed },
        Operation::Bits(op) => op,
    };
    let dst = insn.dst(Width::B32)?;
    let (value, mask) = (insn.src(ty)?, insn.src(Type::B32)?);
    insn.emit(Op::Sync(SyncOp::Redux { op, dst, value, mask }));
    Ok(())
}

fn elect(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("sync", ())], "`.sync`")?;
    let (leader, is_leader) = insn.dst_pair(Width::B32, Width::B1)?;
    let is_leader = is_leader.ok_or_else(|| insn.unsupported("the predicate is missing"))?;
    let mask = insn.src(Type::B32)?;
    insn.emit(Op::Sync(SyncOp::Elect { leader, is_leader, mask }));
    Ok(())
}
