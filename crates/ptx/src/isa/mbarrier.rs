//! Transaction barriers (manual §9.7.13.15), and the arrival of asynchronous copies at one.
//!
//! A `.sem` without a scope, or a scope without `.sem`, is refused, because the manual writes them together. If both
//! are missing, the semantics is `.release` or `.acquire`, and the manual's scope is `.cta`. Kernels rely on
//! `.cluster` there, so the operation records that no scope was written. The result of `pending_count` depends on the
//! schedule and is not followed.

use super::memory::{SHARED, check_space, scope};
use super::{Form, Insn, Lower, Type, by};
use ir::{
    Mbarrier, MbarrierArrive, MbarrierOp, MbarrierPhase, MbarrierTest, Op, Operand, Ordering,
    Scope, Space, SyncOp, Width,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "mbarrier",
        when: &["init"],
        syntax: "mbarrier.init{.shared{::cta}}.b64 [a], count",
        section: "9.7.13.15.9",
        examples: &["mbarrier.init.shared::cta.b64 [%r1], 32;", "mbarrier.init.b64 [%rd1], %r2;"],
        lowering: by(|insn| {
            insn.flag("init");
            let space = own_block(insn);
            insn.ty(&[Type::B64])?;
            let address = insn.address()?;
            let count = insn.src(Type::U32)?;
            emit(insn, Mbarrier { address, space, op: MbarrierOp::Init(count) })
        }),
    },
    Form {
        opcode: "mbarrier",
        when: &["inval"],
        syntax: "mbarrier.inval{.shared{::cta}}.b64 [a]",
        section: "9.7.13.15.10",
        examples: &["mbarrier.inval.shared.b64 [%r1];"],
        lowering: by(|insn| {
            insn.flag("inval");
            let space = own_block(insn);
            insn.ty(&[Type::B64])?;
            let address = insn.address()?;
            emit(insn, Mbarrier { address, space, op: MbarrierOp::Inval })
        }),
    },
    Form {
        opcode: "mbarrier",
        when: &["arrive"],
        syntax: "mbarrier.arrive{.expect_tx,.noComplete}{.sem.scope}{.ss}.b64 state, [a]{, count}",
        section: "9.7.13.15.13",
        examples: &[
            "mbarrier.arrive.shared::cta.b64 %rd1, [%r1];",
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r1], 2;",
            "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r1], %r2;",
            "mbarrier.arrive.noComplete.b64 %rd1, [%rd2], 2;",
        ],
        lowering: by(|insn| {
            insn.flag("arrive");
            arrive(insn, false)
        }),
    },
    Form {
        opcode: "mbarrier",
        when: &["arrive_drop"],
        syntax: "mbarrier.arrive_drop{.expect_tx,.noComplete}{.sem.scope}{.ss}.b64 state, [a]{, count}",
        section: "9.7.13.15.14",
        examples: &[
            "mbarrier.arrive_drop.shared.b64 %rd1, [%r1];",
            "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %rd1, [%r1], 64;",
        ],
        lowering: by(|insn| {
            insn.flag("arrive_drop");
            arrive(insn, true)
        }),
    },
    Form {
        opcode: "mbarrier",
        when: &["expect_tx"],
        syntax: "mbarrier.expect_tx{.relaxed.scope}{.ss}.b64 [a], count",
        section: "9.7.13.15.11",
        examples: &["mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64;"],
        lowering: by(|insn| {
            insn.flag("expect_tx");
            transaction(insn, MbarrierOp::ExpectTx)
        }),
    },
    Form {
        opcode: "mbarrier",
        when: &["complete_tx"],
        syntax: "mbarrier.complete_tx{.relaxed.scope}{.ss}.b64 [a], count",
        section: "9.7.13.15.12",
        examples: &["mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], %r2;"],
        lowering: by(|insn| {
            insn.flag("complete_tx");
            transaction(insn, MbarrierOp::CompleteTx)
        }),
    },
    Form {
        opcode: "mbarrier",
        when: &["test_wait", "try_wait"],
        syntax: "mbarrier{.test_wait,.try_wait}{.parity}{.sem.scope}{.shared{::cta}}.b64 p, [a], state{, time}",
        section: "9.7.13.15.16",
        examples: &[
            "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;",
            "mbarrier.test_wait.parity.relaxed.cluster.b64 %p1, [%rd1], %r2;",
            "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r1], %r2, %r3;",
        ],
        lowering: by(test),
    },
    Form {
        opcode: "mbarrier",
        when: &["pending_count"],
        syntax: "mbarrier.pending_count.b64 count, state",
        section: "9.7.13.15.17",
        examples: &["mbarrier.pending_count.b64 %r1, %rd1;"],
        lowering: by(|insn| {
            insn.flag("pending_count");
            insn.ty(&[Type::B64])?;
            let dst = insn.dst(Width::B32)?;
            insn.src(Type::B64)?;
            insn.emit(Op::Opaque { dst, what: "the pending count of an mbarrier" });
            Ok(())
        }),
    },
    Form {
        opcode: "cp",
        when: &["mbarrier"],
        syntax: "cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [a]",
        section: "9.7.13.15.15",
        examples: &[
            "cp.async.mbarrier.arrive.shared.b64 [%r1];",
            "cp.async.mbarrier.arrive.noinc.b64 [%rd1];",
        ],
        lowering: by(|insn| {
            insn.require(&[("async", ())], "`.async`")?;
            insn.flag("mbarrier");
            insn.require(&[("arrive", ())], "`.arrive`")?;
            let increments = !insn.flag("noinc");
            let space = own_block(insn);
            insn.ty(&[Type::B64])?;
            let address = insn.address()?;
            emit(insn, Mbarrier { address, space, op: MbarrierOp::CopyArrive { increments } })
        }),
    },
];

fn emit(insn: &mut Insn<'_, '_, '_>, mbarrier: Mbarrier) -> Lower {
    check_space(insn, mbarrier.space, mbarrier.address)?;
    insn.emit(Op::Sync(SyncOp::Mbarrier(Box::new(mbarrier))));
    Ok(())
}

/// Takes the state space of a barrier that must be in the executing block.
fn own_block(insn: &mut Insn<'_, '_, '_>) -> Space {
    insn.choose(SHARED).unwrap_or(Space::Generic)
}

/// Takes the state space of a barrier that may be in another block of the cluster.
fn any_block(insn: &mut Insn<'_, '_, '_>) -> Space {
    match insn.flag("shared::cluster") {
        true => Space::SharedCluster,
        false => own_block(insn),
    }
}

/// Takes `.sem.scope`, both or none; also returns `true` if they are written.
fn semantics(
    insn: &mut Insn<'_, '_, '_>,
    (name, strong): (&str, fn(Scope) -> Ordering),
) -> Lower<(Ordering, bool)> {
    let relaxed: fn(Scope) -> Ordering = Ordering::Relaxed;
    let written = insn.choose(&[(name, strong), ("relaxed", relaxed)]);
    let scope = match scope(insn) {
        Some(Scope::Gpu | Scope::Sys) => {
            return Err(insn.unsupported("the scope must be `.cta` or `.cluster`"));
        }
        scope => scope,
    };
    match (written, scope) {
        (Some(make), Some(scope)) => Ok((make(scope), true)),
        (None, None) => Ok((strong(Scope::Cta), false)),
        _ => Err(insn.unsupported("semantics and scope must be written together")),
    }
}

/// Lowers `arrive` and `arrive_drop`.
fn arrive(insn: &mut Insn<'_, '_, '_>, drop: bool) -> Lower {
    let expects = insn.flag("expect_tx");
    let no_complete = insn.flag("noComplete");
    let (ordering, written) = semantics(insn, ("release", Ordering::Release))?;
    let space = any_block(insn);
    insn.ty(&[Type::B64])?;
    if no_complete && (expects || ordering != Ordering::Release(Scope::Cta)) {
        return Err(insn.unsupported("`.noComplete` stands alone, with `.release.cta`"));
    }
    let (state, _) = insn.dst_pair(Width::B64, Width::B1)?;
    if state.is_some() && space == Space::SharedCluster {
        return Err(insn.unsupported("an arrival in `.shared::cluster` gives no state"));
    }
    let address = insn.address()?;
    let operand = match insn.remaining() {
        0 => None,
        _ => Some(insn.src(Type::U32)?),
    };
    let (count, expect) = match (expects, operand) {
        (true, None) => return Err(insn.unsupported("the number of bytes is missing")),
        (true, bytes) => (Operand::Constant(1), bytes),
        (false, None) if no_complete => return Err(insn.unsupported("the count is missing")),
        (false, count) => (count.unwrap_or(Operand::Constant(1)), None),
    };
    let arrive = MbarrierArrive { state, count, expect, drop, no_complete, ordering, written };
    emit(insn, Mbarrier { address, space, op: MbarrierOp::Arrive(arrive) })
}

/// Lowers `expect_tx` and `complete_tx`.
fn transaction(insn: &mut Insn<'_, '_, '_>, op: fn(Operand) -> MbarrierOp) -> Lower {
    // Relaxed is the only option, so it makes no difference if it is written.
    if insn.flag("relaxed") && !matches!(scope(insn), Some(Scope::Cta | Scope::Cluster)) {
        return Err(insn.unsupported("`.relaxed` needs the scope `.cta` or `.cluster`"));
    }
    let space = any_block(insn);
    insn.ty(&[Type::B64])?;
    let address = insn.address()?;
    let bytes = insn.src(Type::U32)?;
    emit(insn, Mbarrier { address, space, op: op(bytes) })
}

/// Lowers `test_wait` and `try_wait`.
fn test(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let may_suspend = insn.flag("try_wait");
    if !may_suspend {
        insn.flag("test_wait");
    }
    let parity = insn.flag("parity");
    let (ordering, written) = semantics(insn, ("acquire", Ordering::Acquire))?;
    let space = own_block(insn);
    insn.ty(&[Type::B64])?;
    let dst = insn.dst(Width::B1)?;
    let address = insn.address()?;
    let phase = match parity {
        true => MbarrierPhase::Parity(insn.src(Type::U32)?),
        false => MbarrierPhase::State(insn.src(Type::B64)?),
    };
    // The time that the thread may sleep.
    if may_suspend && insn.remaining() > 0 {
        insn.src(Type::U32)?;
    }
    let test = MbarrierTest { dst, phase, ordering, written, group: None };
    emit(insn, Mbarrier { address, space, op: MbarrierOp::Test(test) })
}
