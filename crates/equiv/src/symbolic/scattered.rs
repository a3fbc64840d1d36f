//! Decides if two written places that depend on data may coincide, and if such a place is a given element.
//!
//! A place is a linear combination of integers, as for reads ([`super::places`]). The integers have known
//! ranges, and the elements of a tensor are distinct if declared so. The difference of two places is a
//! combination, too. If it is a multiple of one input, or of the difference of two, every number in its range
//! is attained, and inputs can be named.

use super::Symbolic;
use super::places::{Linear, greatest_common_divisor};
use crate::assumed_ranges::AssumedRange;
use exec::domain::{DataPlace, Domain, PlaceDifference, Truths, Value};
use exec::{Mask, WARP};
use std::collections::BTreeMap;
use term::{Node, NodeId};

impl Symbolic {
    /// Builds a place from an integer and an offset.
    pub(super) fn place_of(&mut self, (value, offset): (Value, i128)) -> Option<DataPlace> {
        let linear = self.linear(value)?.plus(offset);
        let mut rank = Vec::new();
        for (&node, &factor) in &linear.parts {
            // Inputs are numbered alike in all runs; all other integers rank the same.
            let position = match self.terms.at(node) {
                Node::Input(input) => input.position() as i128,
                _ => i128::MAX,
            };
            rank.extend([position, factor]);
        }
        rank.push(linear.constant);
        let mut multiples = Vec::new();
        for (&node, &factor) in &linear.parts {
            multiples.push((self.place_integers.number(node)?, factor));
        }
        multiples.sort_unstable();
        Some(DataPlace { multiples, constant: linear.constant, rank })
    }

    /// Subtracts one place from another, without their constants: `Σ cᵢ·xᵢ`, no factor zero.
    fn place_difference(&self, a: &DataPlace, b: &DataPlace) -> Vec<(NodeId, i128)> {
        let mut parts: BTreeMap<u32, i128> = a.multiples.iter().copied().collect();
        for &(number, factor) in &b.multiples {
            *parts.entry(number).or_default() -= factor;
        }
        let parts = parts.into_iter().filter(|(_, factor)| *factor != 0);
        parts.map(|(number, factor)| (self.place_integers.node(number), factor)).collect()
    }

    /// Returns the ticket of a block: an integer from 0 to `most`.
    pub(super) fn ticket_of(&mut self, block: u64, most: i128) -> Option<Value> {
        let position = self.tickets.start.checked_add(usize::try_from(block).ok()?)?;
        if !self.tickets.contains(&position) {
            return None;
        }
        let range = self.tickets.clone();
        match self.integers.iter().find(|(known, _)| *known == range) {
            // Decisions made by the ticket range of an earlier launch would not hold for more blocks.
            Some((_, known)) if *known != (0, most) => return None,
            Some(_) => {}
            None => self.integers.push((range, (0, most))),
        }
        // Handles of inputs are their positions plus one.
        u32::try_from(position + 1).ok()
    }

    /// Returns `true` if a value depends on a ticket.
    pub(crate) fn has_ticket(&mut self, value: Value) -> bool {
        let (term, tickets) = (self.term(value), self.tickets.clone());
        !tickets.is_empty()
            && decide::inputs_of(&self.terms, term)
                .iter()
                .any(|input| tickets.contains(&input.position()))
    }

    /// Returns `true` if two values differ for some inputs and depend neither on inputs with declared properties nor
    /// on lookups.
    pub(super) fn differ_freely(&mut self, a: Value, b: Value) -> bool {
        let terms = [a, b].map(|value| self.term(value));
        let declared = |position: usize| {
            self.assumed_ranges
                .iter()
                .any(|assumed_range| assumed_range.positions.contains(&position))
                || self.tickets.contains(&position)
        };
        let free = terms.iter().all(|&term| {
            decide::lookups(&self.terms, term).is_empty()
                && decide::inputs_of(&self.terms, term)
                    .iter()
                    .all(|input| !declared(input.position()))
        });
        free && self.same(a, b) == Some(false)
    }

    /// Returns the declared range of an input, if the node is one.
    pub(super) fn assumed_range_of(&self, node: NodeId) -> Option<&AssumedRange> {
        let Node::Input(input) = self.terms.at(node) else { return None };
        self.assumed_ranges
            .iter()
            .find(|assumed_range| assumed_range.positions.contains(&input.position()))
    }

    /// Bounds the difference of two places.
    pub(super) fn difference_of(
        &mut self,
        a: &DataPlace,
        b: &DataPlace,
    ) -> Option<PlaceDifference> {
        let parts = self.place_difference(a, b);
        let step =
            parts.iter().fold(0, |step, (_, factor)| greatest_common_divisor(step, factor.abs()));
        let (mut low, mut high, mut is_attained) = (0_i128, 0_i128, true);
        for &(node, factor) in &parts {
            let (least, most) = self.range(node.into())?;
            let ends = [least, most].map(|end| (factor / step).checked_mul(end));
            let [Some(x), Some(y)] = ends else { return None };
            low = low.checked_add(x.min(y))?;
            high = high.checked_add(x.max(y))?;
            let all = |range: &AssumedRange| range.is_exact && range.gaps.is_empty();
            is_attained &= self.assumed_range_of(node).is_some_and(all);
        }
        let is_never_zero = match parts.as_slice() {
            [(x, by), (y, other)] if *by == -other => {
                match (self.assumed_range_of(*x), self.assumed_range_of(*y)) {
                    (Some(x), Some(y)) => x.is_distinct && x.positions == y.positions,
                    _ => false,
                }
            }
            _ => false,
        };
        // One integer, or two with opposite factors, attain all multiples between their bounds; others may
        // leave some out.
        let attains_all = match parts.as_slice() {
            [_] => true,
            [(_, by), (_, other)] => *by == -other,
            _ => false,
        };
        is_attained &= attains_all;
        Some(PlaceDifference { step: step.max(1), low, high, is_never_zero, is_attained })
    }

    /// Names inputs for which two places are `factor` times their step apart, and returns the number of the
    /// first place then.
    pub(super) fn inputs_apart(
        &mut self,
        a: &DataPlace,
        b: &DataPlace,
        factor: i128,
    ) -> Option<(String, i128)> {
        let parts = self.place_difference(a, b);
        let mut numbers: Vec<(NodeId, i128)> = match parts.as_slice() {
            [] => Vec::new(),
            [(x, by)] => vec![(*x, factor * by.signum())],
            [(x, by), (y, other)] if *by == -other => {
                let has_gaps = [x, y].into_iter().any(|node| {
                    self.assumed_range_of(*node).is_some_and(|range| !range.gaps.is_empty())
                });
                if has_gaps {
                    return None;
                }
                let apart = factor * by.signum();
                let (low, high) = self.range((*x).into())?;
                let (least, most) = self.range((*y).into())?;
                // Find numbers in the ranges of x and y with x - y = `apart`.
                let y_number = least.max(low - apart);
                let fits = y_number <= most && (low..=high).contains(&(y_number + apart));
                fits.then(|| vec![(*x, y_number + apart), (*y, y_number)])?
            }
            _ => return None,
        };
        self.add_common(a, &mut numbers)?;
        let mut place = a.constant;
        for (integer, by) in &a.multiples {
            let node = self.place_integers.node(*integer);
            let number = numbers.iter().find(|(known, _)| *known == node)?.1;
            place = place.checked_add(by.checked_mul(number)?)?;
        }
        let mut texts = Vec::new();
        for (node, number) in numbers {
            let Node::Input(input) = self.terms.at(node) else { return None };
            texts.push(format!("{} is {number}", self.terms.inputs().name(input)));
        }
        Some((texts.join(" and "), place))
    }

    /// Gives the remaining integers of a place their smallest numbers.
    fn add_common(&mut self, place: &DataPlace, numbers: &mut Vec<(NodeId, i128)>) -> Option<()> {
        for (integer, _) in &place.multiples {
            let node = self.place_integers.node(*integer);
            if numbers.iter().any(|(known, _)| *known == node) {
                continue;
            }
            let range = self.assumed_range_of(node)?;
            // Another element may have that number already.
            if !range.is_exact || range.is_distinct && !numbers.is_empty() {
                return None;
            }
            let (least, _) = self.range(node.into())?;
            numbers.push((node, least));
        }
        Some(())
    }

    /// Returns the bounds of a linear combination, where known.
    fn partial_bounds(&mut self, linear: &Linear) -> (Option<i128>, Option<i128>) {
        let (mut low, mut high) = (Some(linear.constant), Some(linear.constant));
        for (&node, &factor) in &linear.parts {
            let range = self.range(node.into());
            let end = |end: i128| factor.checked_mul(end);
            let both = range.and_then(|(least, most)| Some((end(least)?, end(most)?)));
            let plus = |sum: Option<i128>, more: Option<i128>| sum?.checked_add(more?);
            low = plus(low, both.map(|(x, y)| x.min(y)));
            high = plus(high, both.map(|(x, y)| x.max(y)));
        }
        (low, high)
    }

    /// Decides if a place equals a number; the truth is in lane 0.
    pub(super) fn compare_place(&mut self, place: &DataPlace, number: i128) -> Truths {
        let mut truths = Truths::NONE;
        let rest = number - place.constant;
        let step = place
            .multiples
            .iter()
            .fold(0, |step, (_, factor)| greatest_common_divisor(step, factor.abs()));
        if step == 0 || rest % step != 0 {
            truths.decide(0, step == 0 && rest == 0);
            return truths;
        }
        let first = place.multiples.first().map_or(1, |(_, factor)| factor.signum());
        let parts: BTreeMap<NodeId, i128> = place
            .multiples
            .iter()
            .map(|&(node, factor)| (self.place_integers.node(node), first * factor / step))
            .collect();
        let linear = Linear { parts, constant: 0 };
        let wanted = first * rest / step;
        let (low, high) = self.partial_bounds(&linear);
        if low.is_some_and(|low| wanted < low) || high.is_some_and(|high| wanted > high) {
            truths.decide(0, false);
            return truths;
        }
        let term = match linear.parts.iter().next() {
            Some((&node, 1)) if linear.parts.len() == 1 => Some(node.into()),
            _ => self.sum_of(&linear),
        };
        let (Some(term), Ok(wanted)) = (term, i64::try_from(wanted)) else { return truths };
        let handle = self.handles.handle(term);
        let number = self.terms.integer(wanted);
        let number = self.handles.handle(number);
        self.compare(ir::Relation::Eq, [&[handle; WARP], &[number; WARP]], Mask(1), &mut truths);
        truths
    }
}
