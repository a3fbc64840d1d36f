//! Knowledge about the lanes of a register, besides their bits.
//!
//! A lane of a register is one of four things:
//! - a **number**: its bits are the value on every schedule and for all inputs;
//! - a **pointer**: its bits are one of our addresses ([`crate::address`]); adding numbers keeps it one,
//!   comparing two into the same allocation gives a number;
//! - **unknown**: defined, but not a function of the launch alone: data of an opaque buffer, bits of a base
//!   address, a clock, a float without fixed bits in the manual ([`crate::legal`]). Control flow or an
//!   address that depends on it ends the run with a gap. Unknown lanes that are not even a function of the
//!   launch and its inputs (the schedule or the placement of an allocation decides) are *schedule-dependent*: storing
//!   them for others is a doubt;
//! - **poison**: undefined by the manual. It may be copied; if it decides something, that is a finding.

use crate::doubt::Reason;
use crate::finding::Origin;
use crate::lanes::Mask;
use crate::legal::Unfixed;

/// The lanes of one register that are not numbers. The three sets are disjoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) pointer: Mask,
    pub(crate) unknown: Mask,
    pub(crate) poison: Mask,
    /// The unknown lanes that are not determined by the launch and its inputs. Meaningless in other lanes.
    pub(crate) schedule_dependent: Mask,
    /// The origin of the unknown in one of the lanes. Meaningless if there is none.
    pub(crate) origin: Option<Source>,
    /// The origin of the poison, likewise.
    pub(crate) undefined: Option<Origin>,
}

/// The reason why a value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Data of a buffer without given contents.
    Data,
    /// Bits of an address.
    Address,
    /// A special register or operation that depends on the schedule.
    Schedule(&'static str),
    /// A schedule-dependent value that passed through memory.
    Stored,
    /// Differing copies of an element of a `wmma` fragment.
    Copies,
    /// A float without fixed bits in the manual.
    Unfixed(Unfixed),
}

impl Source {
    /// `%envreg`, which locates the driver's data for a grid.
    pub(crate) const ENVIRONMENT: Self = Self::Schedule("%envreg");

    /// Returns the source to report out of two.
    pub(crate) fn to_report(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// The rank of a source for reports; the highest is reported. An address computed with a data index is reported
    /// as data: without the index it would be known.
    fn rank(self) -> u32 {
        match self {
            Self::Address => 0,
            Self::Stored => 1,
            Self::Data => 2,
            Self::Copies | Self::Unfixed(_) => 3,
            Self::Schedule(_) => 4,
        }
    }
}

impl Tags {
    /// All lanes are numbers.
    pub(crate) const NUMBER: Self = Self {
        pointer: Mask::NONE,
        unknown: Mask::NONE,
        poison: Mask::NONE,
        schedule_dependent: Mask::NONE,
        origin: None,
        undefined: None,
    };

    /// No lane was ever written.
    pub(crate) const UNWRITTEN: Self =
        Self { poison: Mask::ALL, undefined: Some(Origin::Register), ..Self::NUMBER };

    pub(crate) fn pointer(lanes: Mask) -> Self {
        Self { pointer: lanes, ..Self::NUMBER }
    }

    pub(crate) fn unknown(lanes: Mask, source: Source) -> Self {
        let determined = matches!(source, Source::Data | Source::Copies | Source::Unfixed(_));
        let schedule_dependent = if determined { Mask::NONE } else { lanes };
        Self { unknown: lanes, schedule_dependent, origin: Some(source), ..Self::NUMBER }
    }

    pub(crate) fn poison(lanes: Mask, origin: Origin) -> Self {
        // No lanes, no origin.
        let undefined = (!lanes.is_empty()).then_some(origin);
        Self { poison: lanes, undefined, ..Self::NUMBER }
    }

    /// Returns `true` if every lane is a number.
    #[inline]
    pub(crate) fn is_number(self) -> bool {
        self.pointer.0 | self.unknown.0 | self.poison.0 == 0
    }

    /// Returns `true` if every lane is unknown and determined by the inputs.
    #[inline(always)]
    pub(crate) fn is_data(&self) -> bool {
        let others = self.pointer.0 | self.poison.0 | self.schedule_dependent.0;
        others | !self.unknown.0 == 0 && matches!(self.origin, Some(Source::Data))
    }

    /// Returns `true` if every lane of `lanes` is a number.
    pub(crate) fn is_number_in(self, lanes: Mask) -> bool {
        (self.pointer.0 | self.unknown.0 | self.poison.0) & lanes.0 == 0
    }

    /// Combines the tags of operands of an operation without special rules: poison spreads, and the bits of a
    /// pointer are unknown.
    pub(crate) fn combine(self, other: Self) -> Self {
        let poison = self.poison.or(other.poison);
        let unknown = self.unknown.or(self.pointer).or(other.unknown).or(other.pointer);
        // Origins may be stale.
        let address = |tags: Self| (!tags.pointer.is_empty()).then_some(Source::Address);
        let origin = |tags: Self| tags.origin.filter(|_| !tags.unknown.is_empty());
        let undefined = |tags: Self| tags.undefined.filter(|_| !tags.poison.is_empty());
        let sources = [origin(self), origin(other), address(self), address(other)];
        Self {
            pointer: Mask::NONE,
            unknown: unknown.without(poison),
            poison,
            schedule_dependent: self.undetermined().or(other.undetermined()),
            origin: sources.into_iter().flatten().reduce(Source::to_report),
            undefined: undefined(self).or(undefined(other)),
        }
    }

    /// Lanes whose bits are not determined by the launch and its inputs. The bits of pointers never are.
    pub(crate) fn undetermined(self) -> Mask {
        self.schedule_dependent.and(self.unknown).or(self.pointer)
    }

    /// The same tags, except that numbers in `lanes` become unknown: the manual does not fix their bits.
    pub(crate) fn unfixed(self, lanes: Mask, cause: Unfixed) -> Self {
        let lanes = lanes.without(self.unknown).without(self.poison).without(self.pointer);
        if lanes.is_empty() {
            return self;
        }
        let origin = self.origin.filter(|_| !self.unknown.is_empty());
        Self {
            unknown: self.unknown.or(lanes),
            schedule_dependent: self.schedule_dependent.without(lanes),
            origin: origin.or(Some(Source::Unfixed(cause))),
            ..self
        }
    }

    /// Explains why a lane is not a number.
    pub(crate) fn reason(self, lane: usize) -> Reason {
        match self.origin {
            _ if self.poison.has(lane) => Reason::Undefined,
            Some(Source::Data) if self.unknown.has(lane) => Reason::Data,
            Some(Source::Copies) if self.unknown.has(lane) => Reason::Copies,
            Some(Source::Unfixed(cause)) if self.unknown.has(lane) => Reason::Unfixed(cause),
            _ => self.undetermined_reason(lane),
        }
    }

    /// Explains why a lane is not determined by the launch and its inputs.
    pub(crate) fn undetermined_reason(self, lane: usize) -> Reason {
        match self.origin {
            _ if self.pointer.has(lane) => Reason::Address,
            Some(Source::Schedule(name)) => Reason::Schedule(name),
            Some(Source::Address) => Reason::Address,
            _ => Reason::Undetermined,
        }
    }

    /// Like [`combine`](Self::combine), for one operand.
    pub(crate) fn spread(self) -> Self {
        self.combine(Self::NUMBER)
    }

    /// Combines the tags of two values, one of which is selected by a condition with these tags. If both are
    /// undefined, so is the result. If one is, the result may be, which counts as schedule-dependent.
    pub(crate) fn chosen(self, a: Self, b: Self) -> Self {
        let open = self.unknown;
        let nothing = a.poison.and(b.poison).and(open);
        let maybe = a.poison.or(b.poison);
        let schedule_dependent =
            self.undetermined().or(a.undetermined()).or(b.undetermined()).or(maybe);
        Self {
            pointer: Mask::NONE,
            unknown: open.without(nothing),
            poison: self.poison.or(nothing),
            schedule_dependent: schedule_dependent.and(open),
            origin: self.origin,
            undefined: self.undefined.or(a.undefined).or(b.undefined),
        }
    }

    /// Takes these tags in `lanes`, `other` elsewhere.
    pub(crate) fn within(self, lanes: Mask, other: Self) -> Self {
        let pick = |ours: Mask, theirs: Mask| ours.and(lanes).or(theirs.without(lanes));
        Self {
            pointer: pick(self.pointer, other.pointer),
            unknown: pick(self.unknown, other.unknown),
            poison: pick(self.poison, other.poison),
            schedule_dependent: pick(self.schedule_dependent, other.schedule_dependent),
            // Origins may be stale.
            origin: self.origin.filter(|_| !self.unknown.and(lanes).is_empty()).or(other.origin),
            undefined: self
                .undefined
                .filter(|_| !self.poison.and(lanes).is_empty())
                .or(other.undefined),
        }
    }

    /// Permutes the lanes: lane `i` gets the tags of lane `from(i)`.
    pub(crate) fn permuted(self, lanes: Mask, from: impl Fn(usize) -> usize) -> Self {
        let gather = |mask: Mask| {
            Mask(lanes.iter().filter(|&lane| mask.has(from(lane))).fold(0, |m, lane| m | 1 << lane))
        };
        Self {
            pointer: gather(self.pointer),
            unknown: gather(self.unknown),
            poison: gather(self.poison),
            schedule_dependent: gather(self.schedule_dependent),
            origin: self.origin,
            undefined: self.undefined,
        }
    }
}

/// [`Tags`] without their origin, as needed for every instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagMasks {
    pub(crate) pointer: Mask,
    pub(crate) unknown: Mask,
    pub(crate) poison: Mask,
    /// Meaningful in unknown lanes only.
    pub(crate) schedule_dependent: Mask,
}

impl TagMasks {
    pub(crate) const NUMBER: Self = Self {
        pointer: Mask::NONE,
        unknown: Mask::NONE,
        poison: Mask::NONE,
        schedule_dependent: Mask::NONE,
    };

    /// Returns `true` if all lanes are numbers.
    #[inline(always)]
    pub(crate) fn is_number(self) -> bool {
        self.pointer.0 | self.unknown.0 | self.poison.0 == 0
    }
}
