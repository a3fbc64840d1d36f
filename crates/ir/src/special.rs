//! Special registers (PTX manual chapter 10).

/// A component of a three-dimensional quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the three axes")]
pub enum Dimension {
    X,
    Y,
    Z,
}

/// A read-only register that the machine fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum SpecialRegister {
    Tid(Dimension),
    Ntid(Dimension),
    Ctaid(Dimension),
    Nctaid(Dimension),
    Clusterid(Dimension),
    Nclusterid(Dimension),
    ClusterCtaid(Dimension),
    ClusterNctaid(Dimension),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    Laneid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    Clock,
    ClockHi,
    Clock64,
    Globaltimer,
    GlobaltimerLo,
    GlobaltimerHi,
    /// A performance counter, 32 bits wide.
    Pm(u8),
    /// A performance counter, 64 bits wide.
    Pm64(u8),
    /// A register filled by the driver.
    Envreg(u8),
    TotalSmemSize,
    AggrSmemSize,
    DynamicSmemSize,
    ReservedSmemOffsetBegin,
    ReservedSmemOffsetEnd,
    ReservedSmemOffsetCap,
    /// `%reserved_smem_offset_0` and `_1`
    ReservedSmemOffset(u8),
    CurrentGraphExec,
}

impl SpecialRegister {
    /// Returns `true` if launch and thread alone determine the value, so that it is the same on every schedule.
    #[must_use]
    pub const fn is_function_of_launch(self) -> bool {
        match self {
            Self::Tid(_)
            | Self::Ntid(_)
            | Self::Ctaid(_)
            | Self::Nctaid(_)
            | Self::Clusterid(_)
            | Self::Nclusterid(_)
            | Self::ClusterCtaid(_)
            | Self::ClusterNctaid(_)
            | Self::ClusterCtarank
            | Self::ClusterNctarank
            | Self::IsExplicitCluster
            | Self::Laneid
            | Self::LanemaskEq
            | Self::LanemaskLe
            | Self::LanemaskLt
            | Self::LanemaskGe
            | Self::LanemaskGt
            | Self::DynamicSmemSize => true,
            // The manual lets these change during execution or ties them to the machine.
            Self::TotalSmemSize
            | Self::Warpid
            | Self::Nwarpid
            | Self::Smid
            | Self::Nsmid
            | Self::Gridid
            | Self::Clock
            | Self::ClockHi
            | Self::Clock64
            | Self::Globaltimer
            | Self::GlobaltimerLo
            | Self::GlobaltimerHi
            | Self::Pm(_)
            | Self::Pm64(_)
            | Self::Envreg(_)
            | Self::AggrSmemSize
            | Self::ReservedSmemOffsetBegin
            | Self::ReservedSmemOffsetEnd
            | Self::ReservedSmemOffsetCap
            | Self::ReservedSmemOffset(_)
            | Self::CurrentGraphExec => false,
        }
    }

    /// Returns `true` if the register is 64 bits wide. The others have 32 bits.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        matches!(
            self,
            Self::Clock64
                | Self::Globaltimer
                | Self::Gridid
                | Self::Pm64(_)
                | Self::CurrentGraphExec
        )
    }
}
