//! Random pipelines: the choices, the possible mistakes, and when a mistake matters.

use testing::Random;

/// A producer warp that fills stages of shared memory, and consumer warps that add them up.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    /// Buffers that are filled in turn.
    pub(crate) stages: u32,
    /// Tiles that pass through them.
    pub(crate) trips: u32,
    /// The number of consumer warps.
    pub(crate) consumers: u32,
    pub(crate) feed: Feed,
    pub(crate) release: Release,
    /// The number of the stage is kept and wraps; otherwise it is computed from the number of the tile.
    pub(crate) wraps: bool,
    /// The form of a wait loop, of the producer and of the consumers.
    pub(crate) waits: [u32; 2],
    /// Consumers fence before they release a stage.
    pub(crate) fences: bool,
    /// The result goes through shared memory and a bulk store.
    pub(crate) stores_in_bulk: bool,
    pub(crate) mistake: Option<Mistake>,
}

/// The way a stage is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    /// One bulk copy, announced by the arrival.
    Bulk,
    /// Two bulk copies, announced together.
    TwoBulk,
    /// Two bulk copies; the bytes of the first are announced separately from the arrival.
    SplitExpect,
    /// `cp.async` of every lane; each lane arrives when its copies are done.
    Copies,
    /// Ordinary stores of every lane.
    Stores,
}

/// The threads that release a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    EveryThread,
    /// One lane of each warp, after the lanes have synchronised.
    OneLane,
}

/// A mistake in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The producer does not wait for an empty stage.
    NoEmptyWait,
    /// It waits for the parity that is not complete at first.
    EmptyParity,
    /// Consumers wait for parity 0 each time.
    FullParityKept,
    /// Consumers release a stage before they read it.
    EarlyRelease,
    /// The arrival announces no bytes.
    NoExpect,
    /// It announces 16 bytes less, or more.
    ExpectLess,
    ExpectMore,
    /// Consumers wait for the next stage and read this one.
    OtherFull,
    /// Consumers wait for this stage and read the next one.
    OtherStage,
    /// An mbarrier expects one arrival too many.
    FullCount,
    EmptyCount,
    /// No barrier after the mbarriers are initialised.
    NoInitBarrier,
    /// Half of the consumers never release a stage, and the mbarrier expects only the other half.
    HalfRelease,
    /// One lane releases a stage while others of its warp may still read.
    NoWarpSync,
    /// Arrivals without release semantics.
    RelaxedEmpty,
    RelaxedFull,
    /// The bulk store may not see the consumers' writes.
    NoStoreFence,
    /// It does not wait for the consumers.
    NoStoreBarrier,
    /// The block has no fault, but the sum is of other tiles.
    OtherTile,
}

use Mistake::*;

/// All mistakes.
pub(crate) const MISTAKES: [Mistake; 19] = [
    NoEmptyWait,
    EmptyParity,
    FullParityKept,
    EarlyRelease,
    NoExpect,
    ExpectLess,
    ExpectMore,
    OtherFull,
    OtherStage,
    FullCount,
    EmptyCount,
    NoInitBarrier,
    HalfRelease,
    NoWarpSync,
    RelaxedEmpty,
    RelaxedFull,
    NoStoreFence,
    NoStoreBarrier,
    OtherTile,
];

impl Feed {
    /// Returns `true` if the stage is filled by bulk copies, which one thread issues.
    pub(crate) fn is_bulk(self) -> bool {
        matches!(self, Self::Bulk | Self::TwoBulk | Self::SplitExpect)
    }
}

impl Pipeline {
    /// A pipeline without a mistake.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let stages = 1 + random.below(8u32);
        let feeds = [Feed::Bulk, Feed::TwoBulk, Feed::SplitExpect, Feed::Copies, Feed::Stores];
        Self {
            stages,
            trips: 1 + random.below(stages * 2 + 2),
            consumers: 1 + random.below(3u32),
            feed: random.pick(&feeds),
            release: random.pick(&[Release::EveryThread, Release::OneLane]),
            wraps: random.chance(50),
            waits: [random.below(6), random.below(6)],
            fences: random.chance(50),
            stores_in_bulk: random.chance(40),
            mistake: None,
        }
    }

    /// The pipeline with a mistake, if it makes a difference there on some schedule.
    pub(crate) fn with(&self, mistake: Mistake) -> Option<Self> {
        let Self { stages, trips, consumers, feed, release, stores_in_bulk, .. } = *self;
        // Only then is a stage used twice.
        let refills = trips > stages;
        let matters = match mistake {
            NoEmptyWait | FullParityKept | EarlyRelease | EmptyCount | RelaxedEmpty => refills,
            EmptyParity | FullCount | NoInitBarrier => true,
            NoExpect | ExpectLess | ExpectMore => feed.is_bulk(),
            // Lanes fill stages in order, so the next stage being full implies this one; at the end there is no next
            // one.
            OtherFull => stages > 1 && (feed.is_bulk() || trips % stages != 0),
            OtherStage => stages > 1,
            HalfRelease => refills && consumers > 1,
            NoWarpSync => refills && release == Release::OneLane,
            RelaxedFull => feed == Feed::Stores,
            NoStoreFence | NoStoreBarrier => stores_in_bulk,
            OtherTile => trips > 1,
        };
        matters.then(|| Self { mistake: Some(mistake), ..self.clone() })
    }

    pub(crate) fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }
}
