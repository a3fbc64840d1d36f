//! The name of an operation in the text form, with all modifiers.

use crate::{
    Accuracy, Argument, AsyncCopy, Atomic, AtomicOp, BarrierKind, BulkCompletion, BulkCopy,
    FloatMode, Load, MapOp, Mbarrier, MbarrierOp, MbarrierPhase, MbarrierTest, Mma, Op, Ordering,
    RegisterPool, RemoteStore, Rounding, Scalar, Skips, Space, SyncOp, TensorCopy, TensorCopyKind,
    Wgmma, WgmmaFactor, WgmmaSync, WmmaLoad, WmmaMma, WmmaStore,
};

/// The operation with all modifiers, without operands.
///
/// Long: one arm for each operation.
pub(super) fn mnemonic(op: &Op) -> String {
    match op {
        Op::Copy { .. } => "copy".to_owned(),
        Op::Select { .. } => "select".to_owned(),
        Op::Concat { .. } => "concat".to_owned(),
        Op::Split { .. } => "split".to_owned(),
        Op::Resize { from, signed, .. } => {
            format!("resize.{}{}", if *signed { "s" } else { "u" }, from.bits())
        }
        Op::ReadSpecial { special, .. } => format!("special.{special:?}"),
        Op::AddressOf { .. } => "address_of".to_owned(),
        Op::ConvertAddress { space, to_generic: true, .. } => {
            format!("to_generic.{}", space_name(*space))
        }
        Op::ConvertAddress { space, .. } => format!("from_generic.{}", space_name(*space)),
        Op::IsSpace { space, .. } => format!("is_space.{}", space_name(*space)),
        Op::IntUnary { op, width, .. } => format!("{op:?}.{width}"),
        Op::IntBinary { op, width, .. } => format!("{op:?}.{width}"),
        Op::IntTernary { op, width, .. } => format!("{op:?}.{width}"),
        Op::InsertBits { width, .. } => format!("InsertBits.{width}"),
        Op::AddCarry { width, subtract, carry_out, carry_in, .. } => format!(
            "{}{}{}.{width}",
            if *subtract { "SubBorrow" } else { "AddCarry" },
            if carry_in.is_some() { ".in" } else { "" },
            if carry_out.is_some() { ".out" } else { "" },
        ),
        Op::IntCompare { relation, signed, width, .. } => {
            format!("compare.{relation:?}.{}{}", if *signed { "s" } else { "u" }, width.bits())
        }
        Op::FloatUnary { op, format, lanes, mode, .. } => {
            format!("{op:?}.{format:?}{}{}", lane_suffix(*lanes), mode_suffix(*mode))
        }
        Op::FloatBinary { op, format, lanes, mode, .. } => {
            format!("{op:?}.{format:?}{}{}", lane_suffix(*lanes), mode_suffix(*mode))
        }
        Op::Real { function, format, range, .. } => {
            let range = range.map(|range| format!(".{range:?}")).unwrap_or_default();
            format!("{function:?}.{format:?}{range}")
        }
        Op::Fma { format, lanes, mode, .. } => {
            format!("Fma.{format:?}{}{}", lane_suffix(*lanes), mode_suffix(*mode))
        }
        Op::FloatCompare { relation, format, flush, .. } => {
            format!("compare.{relation:?}.{format:?}{}", flag(*flush, ".flush"))
        }
        Op::FloatTest { property, format, .. } => format!("test.{property:?}.{format:?}"),
        Op::Convert { from, to, rounding, flush, saturate, finite, relu, .. } => format!(
            "convert.{}.{}{}{}{}{}{}",
            scalar_name(*to),
            scalar_name(*from),
            rounding_suffix(*rounding),
            flag(*flush, ".flush"),
            flag(*saturate, ".sat"),
            flag(*finite, ".finite"),
            flag(*relu, ".relu"),
        ),
        Op::Load(load) => load_name(load),
        Op::Store(store) => {
            let ordering = ordering_suffix(store.ordering);
            format!("store.{}{ordering}.{}", space_name(store.space), store.width)
        }
        Op::Atomic(atomic) => atomic_mnemonic(atomic),
        Op::AsyncCopy(copy) => async_copy_name(copy),
        Op::BulkCopy(copy) => bulk_copy_name(copy),
        Op::RemoteStore(store) => remote_store_name(store),
        Op::MapShared { space, .. } => format!("map_shared.{}", space_name(*space)),
        Op::SharedRank { space, .. } => format!("shared_rank.{}", space_name(*space)),
        Op::TensorCopy(copy) => tensor_copy_name(copy),
        Op::TensorMap(op) => match &**op {
            MapOp::Replace { space, field, .. } => {
                format!("map_replace.{field:?}.{}", space_name(*space))
            }
            MapOp::Publish { .. } => "map_publish".to_owned(),
        },
        Op::Discard { space, bytes, .. } => format!("discard.{}.{bytes}", space_name(*space)),
        Op::Sync(sync) => sync_name(sync),
        Op::Mma(mma) => mma_name(mma),
        Op::LoadMatrix(load) => {
            format!("load_matrix.{}{}", space_name(load.space), flag(load.transpose, ".trans"))
        }
        Op::StoreMatrix(store) => {
            format!("store_matrix.{}{}", space_name(store.space), flag(store.transpose, ".trans"))
        }
        Op::MoveMatrix(_) => "move_matrix".to_owned(),
        Op::WmmaLoad(load) => wmma_load_name(load),
        Op::WmmaStore(store) => wmma_store_name(store),
        Op::WmmaMma(mma) => wmma_mma_name(mma),
        Op::Wgmma(product) => wgmma_name(product),
        Op::Call { arguments, returns, .. } => {
            let by_value = |list: &[Argument]| {
                list.iter().filter(|argument| matches!(argument, Argument::Operand(_))).count()
            };
            format!("call.{}.{}", by_value(returns), by_value(arguments))
        }
        Op::Opaque { what, .. } => format!("opaque {what:?}"),
        Op::Hint { what } => format!("hint.{what}"),
        Op::Unsupported { what } => format!("unsupported \"{what}\""),
    }
}

fn load_name(load: &Load) -> String {
    format!(
        "load.{}{}.{}{}{}",
        space_name(load.space),
        ordering_suffix(load.ordering),
        if load.signed { "s" } else { "u" },
        load.width.bits(),
        flag(load.non_coherent, ".nc"),
    )
}

fn atomic_mnemonic(atomic: &Atomic) -> String {
    format!(
        "atomic.{}{}.{}.{}{}{}{}",
        space_name(atomic.space),
        ordering_suffix(atomic.ordering),
        atomic_name(atomic.op),
        scalar_name(atomic.scalar),
        lane_suffix(atomic.packed),
        flag(atomic.keeps_subnormals, ".keeps_subnormals"),
        match atomic.skips {
            Skips::Never => "",
            Skips::UnlessBetter => ".unless_better",
            Skips::IfWorse => ".if_worse",
            Skips::Perhaps => ".perhaps",
        },
    )
}

fn async_copy_name(copy: &AsyncCopy) -> String {
    format!(
        "async_copy.{}{}{}",
        copy.bytes,
        flag(copy.src_bytes.is_some(), ".src_bytes"),
        flag(copy.ignore_src.is_some(), ".ignore_src"),
    )
}

fn bulk_copy_name(copy: &BulkCopy) -> String {
    format!(
        "bulk_copy.{}.{}.{}{}",
        space_name(copy.dst_space),
        space_name(copy.src_space),
        match copy.completion {
            BulkCompletion::Mbarrier(_) => "mbarrier",
            BulkCompletion::Group => "group",
        },
        copy.reduce.as_ref().map_or_else(String::new, |reduce| {
            format!(".{}.{}", atomic_name(reduce.op), scalar_name(reduce.scalar))
        }) + flag(copy.multicast.is_some(), ".multicast"),
    )
}

fn remote_store_name(store: &RemoteStore) -> String {
    format!(
        "remote_store.{}.{}{}",
        space_name(store.space),
        store.width,
        store.reduce.as_ref().map_or_else(String::new, |reduce| {
            format!(".{}.{}", atomic_name(reduce.op), scalar_name(reduce.scalar))
        }),
    )
}

fn tensor_copy_name(copy: &TensorCopy) -> String {
    format!(
        "tensor_copy.{}{}.{}",
        copy.coordinates.len(),
        if copy.im2col { "d.im2col" } else { "d.tile" },
        match &copy.kind {
            TensorCopyKind::Load { multicast, .. } => format!(
                "load.{}{}",
                space_name(copy.shared_space),
                flag(multicast.is_some(), ".multicast")
            ),
            TensorCopyKind::Store => "store".to_owned(),
            TensorCopyKind::Reduce(op) => atomic_name(*op),
        }
    )
}

fn mma_name(mma: &Mma) -> String {
    format!(
        "mma.m{}n{}k{}.{:?}.{:?}.{:?}.{:?}.{:?}.{:?}.{:?}{}",
        mma.shape.m,
        mma.shape.n,
        mma.shape.k,
        mma.kind,
        mma.a_layout,
        mma.b_layout,
        mma.d_element,
        mma.a_element,
        mma.b_element,
        mma.c_element,
        mma.sparsity.map(|s| format!(".sp{}.{}", s.selector, s.ordered)).unwrap_or_default(),
    )
}

fn wmma_load_name(load: &WmmaLoad) -> String {
    format!(
        "wmma_load.{:?}.{:?}.{:?}.{:?}.{}",
        load.fragment,
        load.shape,
        load.layout,
        load.element,
        space_name(load.space)
    )
}

fn wmma_store_name(store: &WmmaStore) -> String {
    format!(
        "wmma_store.{:?}.{:?}.{:?}.{}",
        store.shape,
        store.layout,
        store.element,
        space_name(store.space)
    )
}

fn wmma_mma_name(mma: &WmmaMma) -> String {
    format!(
        "wmma_mma.{:?}.{:?}.{:?}.{:?}.{:?}.{:?}.{:?}.{:?}",
        mma.shape,
        mma.kind,
        mma.a_layout,
        mma.b_layout,
        mma.d_element,
        mma.a_element,
        mma.b_element,
        mma.c_element
    )
}

fn wgmma_name(product: &Wgmma) -> String {
    let [negates_a, negates_b] = product.negates;
    let a = match &product.a {
        WgmmaFactor::Fragment(_) => ".registers",
        WgmmaFactor::Shared(descriptor) => flag(descriptor.transposed, ".trans_a"),
    };
    format!(
        "wgmma.m{}n{}k{}.{:?}.{:?}.{:?}.{:?}{a}{}{}{}{}",
        product.shape.m,
        product.shape.n,
        product.shape.k,
        product.kind,
        product.d_element,
        product.a_element,
        product.b_element,
        flag(product.b.transposed, ".trans_b"),
        flag(negates_a, ".neg_a"),
        flag(negates_b, ".neg_b"),
        product.sparsity.map(|s| format!(".sp{}", s.selector)).unwrap_or_default(),
    )
}

fn sync_name(sync: &SyncOp) -> String {
    match sync {
        SyncOp::Barrier { kind, count, aligned, .. } => {
            let kind = match kind {
                BarrierKind::Sync => "sync",
                BarrierKind::Arrive => "arrive",
                BarrierKind::Popc { .. } => "popc",
                BarrierKind::And { .. } => "and",
                BarrierKind::Or { .. } => "or",
            };
            format!(
                "barrier.{kind}{}{}",
                flag(*aligned, ".aligned"),
                flag(count.is_some(), ".count")
            )
        }
        SyncOp::WarpBarrier { .. } => "warp_barrier".to_owned(),
        SyncOp::Shuffle { mode, .. } => format!("shuffle.{mode:?}"),
        SyncOp::Vote { mode, .. } => format!("vote.{mode:?}"),
        SyncOp::Match { mode, width, .. } => format!("match.{mode:?}.{width}"),
        SyncOp::Redux { op, .. } => format!("redux.{op:?}"),
        SyncOp::ActiveMask { .. } => "active_mask".to_owned(),
        SyncOp::Elect { .. } => "elect".to_owned(),
        SyncOp::Fence { ordering, scope } => format!("fence.{ordering:?}.{scope:?}"),
        SyncOp::CommitGroup => "commit_group".to_owned(),
        SyncOp::WaitGroup(Some(pending)) => format!("wait_group.{pending}"),
        SyncOp::WaitGroup(None) => "wait_all".to_owned(),
        SyncOp::BulkCommit => "bulk_commit".to_owned(),
        SyncOp::BulkWait { pending, read } => {
            format!("bulk_wait{}.{pending}", flag(*read, ".read"))
        }
        SyncOp::ProxyFence(space) => {
            format!(
                "proxy_fence.async{}",
                space.map_or(String::new(), |s| format!(".{}", space_name(s)))
            )
        }
        SyncOp::MapFence(None) => "map_fence.release".to_owned(),
        SyncOp::MapFence(Some(_)) => "map_fence.acquire".to_owned(),
        SyncOp::RegisterPool(RegisterPool { increases, count }) => {
            format!("register_pool.{}.{count}", if *increases { "inc" } else { "dec" })
        }
        SyncOp::Wgmma(WgmmaSync::Fence) => "wgmma.fence".to_owned(),
        SyncOp::Wgmma(WgmmaSync::Commit) => "wgmma.commit".to_owned(),
        SyncOp::Wgmma(WgmmaSync::Wait(pending)) => format!("wgmma.wait.{pending}"),
        SyncOp::GridWait => "grid_wait".to_owned(),
        SyncOp::ClusterBarrier { waits, releases, aligned } => format!(
            "cluster_barrier.{}{}{}",
            if *waits { "wait" } else { "arrive" },
            flag(!*waits && !*releases, ".relaxed"),
            flag(*aligned, ".aligned")
        ),
        SyncOp::FenceMbarrierInit => "fence.mbarrier_init".to_owned(),
        SyncOp::Mbarrier(mbarrier) => {
            format!("{}.{}", mbarrier_name(mbarrier), space_name(mbarrier.space))
        }
    }
}

fn mbarrier_name(mbarrier: &Mbarrier) -> String {
    match &mbarrier.op {
        MbarrierOp::Init(_) => "mbarrier.init".to_owned(),
        MbarrierOp::Inval => "mbarrier.inval".to_owned(),
        MbarrierOp::Arrive(arrive) => format!(
            "mbarrier.arrive{}{}{}.{:?}",
            flag(arrive.drop, ".drop"),
            flag(arrive.expect.is_some(), ".expect_tx"),
            flag(arrive.no_complete, ".no_complete"),
            arrive.ordering
        ),
        MbarrierOp::ExpectTx(_) => "mbarrier.expect_tx".to_owned(),
        MbarrierOp::CompleteTx(_) => "mbarrier.complete_tx".to_owned(),
        MbarrierOp::CopyArrive { increments } => {
            format!("mbarrier.copy_arrive{}", flag(*increments, ".inc"))
        }
        MbarrierOp::Test(test) => format!("mbarrier.test.{}", test_name(test)),
        MbarrierOp::Peek(test) => format!("mbarrier.peek.{}", test_name(test)),
        MbarrierOp::Wait(test) => format!("mbarrier.wait.{}", test_name(test)),
    }
}

fn test_name(test: &MbarrierTest) -> String {
    let phase = match test.phase {
        MbarrierPhase::State(_) => "state",
        MbarrierPhase::Parity(_) => "parity",
    };
    format!("{phase}.{:?}", test.ordering)
}

fn flag(set: bool, text: &'static str) -> &'static str {
    if set { text } else { "" }
}

fn lane_suffix(lanes: u8) -> String {
    if lanes == 1 { String::new() } else { format!("x{lanes}") }
}

fn mode_suffix(mode: FloatMode) -> String {
    let accuracy = match mode.accuracy {
        Accuracy::Exact => rounding_suffix(mode.rounding),
        Accuracy::Approximate => ".approx",
        Accuracy::Full => ".full",
    };
    let (flush, saturate) = (flag(mode.flush, ".flush"), flag(mode.saturate, ".sat"));
    let (relu, contract) = (flag(mode.relu, ".relu"), flag(mode.contract, ".contract"));
    format!("{accuracy}{flush}{saturate}{relu}{contract}")
}

fn rounding_suffix(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => ".rn",
        Rounding::NearestAway => ".rna",
        Rounding::Zero => ".rz",
        Rounding::Down => ".rm",
        Rounding::Up => ".rp",
    }
}

fn scalar_name(scalar: Scalar) -> String {
    match scalar {
        Scalar::Integer { width, signed } => {
            format!("{}{}", if signed { "s" } else { "u" }, width.bits())
        }
        Scalar::Float(format) => format!("{format:?}"),
    }
}

fn atomic_name(op: AtomicOp) -> String {
    format!("{op:?}")
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Shared => "shared",
        Space::SharedCluster => "shared_cluster",
        Space::Local => "local",
        Space::Const => "const",
        Space::ParamEntry => "param",
        Space::ParamFunc => "param_func",
    }
}

fn ordering_suffix(ordering: Ordering) -> String {
    match ordering {
        Ordering::Weak => String::new(),
        Ordering::Volatile => ".volatile".to_owned(),
        Ordering::Mmio => ".mmio".to_owned(),
        Ordering::Relaxed(scope) => format!(".relaxed.{scope:?}"),
        Ordering::Acquire(scope) => format!(".acquire.{scope:?}"),
        Ordering::Release(scope) => format!(".release.{scope:?}"),
        Ordering::AcquireRelease(scope) => format!(".acq_rel.{scope:?}"),
    }
}
