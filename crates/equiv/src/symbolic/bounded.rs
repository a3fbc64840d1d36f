//! Bounds of sums with dependent parts.
//!
//! The bounds of a sum are the sums of its parts' bounds. That is too wide if one part is made of another:
//! `x - 8·⌊x/8⌋` is between 0 and 7 for every `x`, and `x + (x < 0 ? 10 : 0)` between 0 and 9 for an `x` from -10 to
//! 9. Two rules narrow it:
//! - *remainders*: `c·x - c·m·⌊x/m⌋` is `c` times a number between 0 and `m - 1`; the lowest bits of an
//!   integer are rewritten to this form first;
//! - *cases*: a choice on a comparison is bounded under each truth value of it.
//!
//! The bounds of each rule are valid, so the narrowest are too. They may be too wide and are never too
//! narrow.
//!
//! Divided integers may be nested, as in the steps of a checksum, and the rules would examine the innermost one
//! exponentially often. So the range of each is computed once, and each question has a limited number of examined
//! sums. Beyond it, only the ranges without further knowledge count: they hold with it too.

use super::Symbolic;
use super::places::Linear;
use crate::ranges::{self, Range};
use exec::domain::Bounds;
use std::collections::BTreeMap;
use term::{Function, Node, NodeId};

/// Largest nesting of choices that is examined.
const MAX_DEPTH: usize = 3;

/// Largest nesting of sums in questions about sums.
const MAX_NESTING: usize = 64;

/// Number of sums examined by all rules for one question, or for the range of one divided integer.
const MAX_EXAMINED: usize = 256;

impl Symbolic {
    /// Bounds a sum, given more knowledge about some nodes.
    pub(super) fn tight_bounds(
        &mut self,
        linear: &Linear,
        known: &BTreeMap<NodeId, Range>,
    ) -> Option<Bounds> {
        self.bounds_by_cases(linear, known, MAX_DEPTH)
    }

    /// Bounds a sum by every rule, and keeps the narrowest bounds. They count as attained only if no rule narrowed
    /// the plain ones.
    fn bounds_by_cases(
        &mut self,
        linear: &Linear,
        known: &BTreeMap<NodeId, Range>,
        depth: usize,
    ) -> Option<Bounds> {
        if self.divided.nesting == 0 {
            self.divided.left = if self.deadline.has_passed() { 0 } else { MAX_EXAMINED };
        }
        self.divided.nesting += 1;
        let bounds = self.bounds_by_rules(linear, known, depth);
        self.divided.nesting -= 1;
        bounds
    }

    fn bounds_by_rules(
        &mut self,
        linear: &Linear,
        known: &BTreeMap<NodeId, Range>,
        depth: usize,
    ) -> Option<Bounds> {
        let plain = self.bounds_within(linear, known)?;
        let Some(left) = self.divided.left.checked_sub(1) else { return Some(plain) };
        self.divided.left = left;
        let mut bounds = plain;
        if self.has_floor(linear)
            && let Some(unfolded) = self.unfold_low_bits(linear.clone())
            && let Some(narrowed) = self.bounds_with_remainders(unfolded, known)
        {
            bounds.low = bounds.low.max(narrowed.low);
            bounds.high = bounds.high.min(narrowed.high);
        }
        if let Some(depth) = depth.checked_sub(1)
            && let Some(cases) = self.bounds_by_choice(linear, known, depth)
        {
            bounds.low = bounds.low.max(cases.low);
            bounds.high = bounds.high.min(cases.high);
        }
        bounds.are_attained &= (bounds.low, bounds.high) == (plain.low, plain.high);
        Some(bounds)
    }

    /// Returns `true` if a sum contains the lowest bits of an integer, or a divided integer.
    pub(super) fn has_floor(&self, linear: &Linear) -> bool {
        linear.parts.keys().any(|node| {
            self.bits.low.contains_key(node)
                || matches!(self.terms.at(*node), Node::Apply(Function::Floor, _))
        })
    }

    /// Rewrites the lowest bits of integers as remainders.
    pub(super) fn unfold_low_bits(&mut self, mut linear: Linear) -> Option<Linear> {
        for (node, factor) in linear.parts() {
            let Some(&(x, floor, bits)) = self.bits.low.get(&node) else { continue };
            linear.parts.remove(&node);
            let dividend = self.linear_of(x)?;
            linear = linear.minus(&dividend, -factor)?;
            let above = self.linear_of(floor)?;
            linear = linear.minus(&above, factor.checked_mul(1 << bits)?)?;
        }
        Some(linear)
    }

    /// Bounds a sum, combining remainders.
    fn bounds_with_remainders(
        &mut self,
        mut linear: Linear,
        known: &BTreeMap<NodeId, Range>,
    ) -> Option<Bounds> {
        let (mut low, mut high) = (0i128, 0i128);
        for (node, factor) in linear.parts() {
            let Some((x, modulus)) = self.floor_division(node) else { continue };
            if linear.parts.get(&node) != Some(&factor) || factor % modulus != 0 {
                continue;
            }
            let by = -factor / modulus;
            let mut rest = linear.minus(&x, by)?;
            rest.parts.remove(&node);
            // The whole dividend must be part of the sum.
            if x.parts.keys().any(|part| rest.parts.contains_key(part)) {
                continue;
            }
            linear = rest;
            let ends = [0, by.checked_mul(modulus - 1)?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        let rest = self.bounds_within(&linear, known)?;
        Some(Bounds { low: rest.low.checked_add(low)?, high: rest.high.checked_add(high)?, ..rest })
    }

    /// Returns the range of a node: a divided integer gets it from its dividend.
    pub(super) fn range_within(
        &mut self,
        node: NodeId,
        known: &BTreeMap<NodeId, Range>,
    ) -> Option<Range> {
        let (low, high) = self.range(node.into())?;
        let nothing = BTreeMap::new();
        let known =
            if self.divided.nesting > 0 && self.divided.left == 0 { &nothing } else { known };
        let narrowed = match self.divided.ranges.get(&node) {
            Some(range) if known.is_empty() => *range,
            _ => self.range_of_divided(node, known),
        };
        let Some((least, most)) = narrowed else { return Some((low, high)) };
        Some((low.max(least), high.min(most)))
    }

    /// Returns the range of a divided integer by its dividend's.
    fn range_of_divided(&mut self, node: NodeId, known: &BTreeMap<NodeId, Range>) -> Option<Range> {
        if self.divided.nesting > MAX_NESTING {
            return None;
        }
        let (dividend, by) = self.floor_division(node)?;
        let before = self.divided.left;
        if known.is_empty() {
            // The range that is kept must not depend on the question that needs it first.
            self.divided.left = MAX_EXAMINED;
        }
        let bounds = self.bounds_by_cases(&dividend, known, 1);
        let range = bounds.map(|bounds| (bounds.low.div_euclid(by), bounds.high.div_euclid(by)));
        if known.is_empty() {
            self.divided.left = before;
            self.divided.ranges.insert(node, range);
        }
        range
    }

    /// Returns the `x` and `m` of `⌊x/m⌋`.
    fn floor_division(&mut self, node: NodeId) -> Option<(Linear, i128)> {
        let Node::Apply(Function::Floor, scaled) = self.terms.at(node) else { return None };
        let (x, modulus) = ranges::fraction(&self.terms, scaled)?;
        // Only an integer has a remainder.
        self.range(x.into())?;
        Some((self.linear_of(x.into())?, modulus))
    }

    /// Bounds a sum under each truth value of a choice's condition.
    fn bounds_by_choice(
        &mut self,
        linear: &Linear,
        known: &BTreeMap<NodeId, Range>,
        depth: usize,
    ) -> Option<Bounds> {
        let choices = linear.parts();
        let (node, factor, condition, sides) =
            choices.into_iter().find_map(|(node, factor)| match self.terms.at(node) {
                Node::Select(condition, a, b) => Some((node, factor, condition, [a, b])),
                _ => None,
            })?;
        let mut all: Option<Bounds> = None;
        for (holds, side) in [true, false].into_iter().zip(sides) {
            let Some(narrowed) = self.known_if((condition, holds), known, 1) else { continue };
            let mut case = linear.clone();
            self.substitute(&mut case, (node, factor), side.into())?;
            let bounds = self.bounds_by_cases(&case, &narrowed, depth)?;
            all = Some(match all {
                Some(other) => Bounds {
                    low: bounds.low.min(other.low),
                    high: bounds.high.max(other.high),
                    ..bounds
                },
                None => bounds,
            });
        }
        all
    }
}
