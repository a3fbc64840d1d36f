//! Elements that a fragment of `wmma` holds several times.
//!
//! The manual leaves the layout of fragments open (§9.7.14.4.1); those of A and B in half precision have more
//! room than elements, and `wmma.load` fills in each element two or four times. Which of the
//! copies a product multiplies is open as well. While a kernel treats all of them alike that makes no difference. If
//! they differ, the element is any of them:
//! - with a domain, one value that stands for all of them, if there is one ([`Domain::any_of`]), and otherwise an opaque
//!   one, unless the other factor makes all products the same;
//! - without, what the element goes into is unknown;
//! - `simulate` takes the copy in the register with the lowest number, which is what an H200 does (`fragments` among the
//!   recordings), and says so.
//!
//! A copy that nobody wrote, beside one that somebody did, is a difference as well: only if all are
//! undefined the element is.
//!
//! [`Domain::any_of`]: crate::domain::Domain::any_of

use super::factors::{Factor, Sources};
use crate::context::Context;
use crate::doubt::Doubtful;
use crate::interpret::access::word_of;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::Tags;

/// What is known of the copies of a fragment's elements: lanes of each register that holds them first.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    /// They differ.
    pub(super) differ: Vec<Mask>,
    /// What is not known without a domain, and may be the same.
    pub(super) open: Vec<Mask>,
    /// Some are undefined, and not all.
    pub(super) undefined: Vec<Mask>,
    /// All are undefined.
    pub(super) poison: Vec<Mask>,
}

impl Disputes {
    /// Compares the copies, as bits.
    pub(super) fn of(factor: &Factor<'_>, sources: &Sources) -> Self {
        let poison = sources.iter().map(|(_, tags)| tags.poison).collect();
        let mut found = Self { poison, ..Self::default() };
        for register in 0..sources.len() {
            let original = factor.spread.original(register);
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
            let is_open = |word| matches!(word, Word::Unknown | Word::Fickle);
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

    /// Whether anything is known or open of copies.
    pub(super) fn is_any(&self) -> bool {
        let masks = [&self.differ, &self.open, &self.undefined];
        masks.into_iter().any(|masks| !Self::any(masks).is_empty())
    }

    /// Lanes in which copies are known to differ, or one of them is undefined.
    pub(super) fn settled(&self) -> Vec<Mask> {
        self.differ.iter().zip(&self.undefined).map(|(a, b)| a.or(*b)).collect()
    }

    /// Tells what a run without a domain goes past.
    pub(super) fn tell(&self, context: &mut Context<'_, '_>) {
        context.doubt(Doubtful::Copies { differ: true }, Self::any(&self.differ));
        if Self::any(&self.differ).is_empty() {
            context.doubt(Doubtful::Copies { differ: false }, Self::any(&self.open));
        }
        context.doubt(Doubtful::UndefinedCopy, Self::any(&self.undefined));
    }
}

/// Puts the copy that an H200 multiplies in the place of the others.
pub(super) fn choose(context: &mut Context<'_, '_>, factor: &Factor<'_>, sources: &mut Sources) {
    let disputes = Disputes::of(factor, sources);
    context.doubt(Doubtful::FirstCopy, Disputes::any(&disputes.settled()));
    for register in 0..sources.len() {
        sources[register] = sources[factor.spread.original(register)];
    }
}
