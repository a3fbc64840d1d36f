//! Multiple copies of elements in a fragment of `wmma`.
//!
//! The manual leaves the layout of fragments open (§9.7.14.4.1). Those of A and B in half precision have more
//! room than elements, and `wmma.load` stores each element two or four times. The copy that a product
//! multiplies is open as well. That makes no difference as long as a kernel treats all of them alike. If they
//! differ, the element is any of them:
//! - with a domain, one value that stands for all of them, if there is one ([`Domain::any_of`]), and
//!   otherwise an opaque one, unless the other factor makes all products equal;
//! - without a domain, the results that depend on the element are unknown;
//! - `simulate` takes the copy in the register with the lowest number, like an H200 (`fragments` among the
//!   recordings), and says so.
//!
//! An unwritten copy beside a written one is a difference as well: the element is undefined only if all
//! copies are.
//!
//! [`Domain::any_of`]: crate::domain::Domain::any_of

use super::factors::{Factor, Sources};
use crate::context::Context;
use crate::doubt::Doubtful;
use crate::interpret::access::word_of;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::Tags;

/// The comparison of an element's copies: for each register that holds first copies, the lanes in each state.
#[derive(Debug, Default)]
pub(super) struct CopyComparison {
    /// The copies differ.
    pub(super) differ: Vec<Mask>,
    /// Without a domain: unknown, possibly equal.
    pub(super) open: Vec<Mask>,
    /// Some copies are undefined, but not all.
    pub(super) undefined: Vec<Mask>,
    /// All copies are undefined.
    pub(super) poison: Vec<Mask>,
}

impl CopyComparison {
    /// Compares the copies as bits.
    pub(super) fn of(factor: &Factor<'_>, sources: &Sources) -> Self {
        let poison = sources.iter().map(|(_, tags)| tags.poison).collect();
        let mut found = Self { poison, ..Self::default() };
        for register in 0..sources.len() {
            let original = factor.fragment_layout.original(register);
            if original != register {
                let masks = [&mut found.differ, &mut found.open, &mut found.undefined];
                masks.into_iter().for_each(|masks| masks.resize(sources.len(), Mask::NONE));
                found.compare(original, &sources[original], &sources[register]);
                found.poison[register] = Mask::NONE;
            }
        }
        found
    }

    fn compare(&mut self, original: usize, first: &(Lanes, Tags), copy: &(Lanes, Tags)) {
        for lane in 0..WARP {
            let bit = Mask(1 << lane);
            let [a, b] = [first, copy].map(|(_, tags)| word_of(*tags, lane));
            let is_open = |word| matches!(word, Word::Unknown | Word::ScheduleDependent);
            let to = match (a, b) {
                (Word::Poison, Word::Poison) => continue,
                (Word::Poison, _) | (_, Word::Poison) => {
                    self.poison[original] = self.poison[original].without(bit);
                    &mut self.undefined
                }
                (a, b) if is_open(a) || is_open(b) => &mut self.open,
                (a, b) if a == b && first.0[lane] == copy.0[lane] => continue,
                _ => &mut self.differ,
            };
            to[original] = to[original].or(bit);
        }
    }

    fn any(masks: &[Mask]) -> Mask {
        masks.iter().fold(Mask::NONE, |all, &mask| all.or(mask))
    }

    /// Returns `true` if any copies differ or may differ.
    pub(super) fn has_differences(&self) -> bool {
        let masks = [&self.differ, &self.open, &self.undefined];
        masks.into_iter().any(|masks| !Self::any(masks).is_empty())
    }

    /// Lanes with copies that differ, or with an undefined copy.
    pub(super) fn certain(&self) -> Vec<Mask> {
        self.differ.iter().zip(&self.undefined).map(|(a, b)| a.or(*b)).collect()
    }

    /// Records doubts for a run without a domain.
    pub(super) fn record_doubts(&self, context: &mut Context<'_, '_>) {
        context.doubt(Doubtful::Copies { differ: true }, Self::any(&self.differ));
        if Self::any(&self.differ).is_empty() {
            context.doubt(Doubtful::Copies { differ: false }, Self::any(&self.open));
        }
        context.doubt(Doubtful::UndefinedCopy, Self::any(&self.undefined));
    }
}

/// Replaces all copies by the one that an H200 multiplies.
pub(super) fn take_first_copies(
    context: &mut Context<'_, '_>,
    factor: &Factor<'_>,
    sources: &mut Sources,
) {
    let comparison = CopyComparison::of(factor, sources);
    context.doubt(Doubtful::FirstCopy, CopyComparison::any(&comparison.certain()));
    for register in 0..sources.len() {
        sources[register] = sources[factor.fragment_layout.original(register)];
    }
}
