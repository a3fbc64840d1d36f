//! Layouts of matrix fragments: the lane, register and part of a register of each element.
//!
//! The manual gives formulas (§9.7.14.5.1 to §9.7.14.5.13, §9.7.14.6.2), all of them linear in bits: each bit
//! of the lane number, of the register number and of the position in it adds a number of rows or columns. So
//! a layout is a list of such steps.
//!
//! For `wmma` the manual leaves the layout open. The one of sm_80 and sm_90 is used, as read from an H200
//! (its loads of numbered elements, every shape and type). It matters only to kernels that compute with
//! elements of fragments themselves.

use crate::lanes::WARP;
use ir::{Element, Fragment, Layout, Shape};
use smallvec::SmallVec;
use std::ops::Add;

/// The place of an element, or the step that a bit adds to it: a product (where several are computed side by side),
/// rows, columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::interpret) struct Place {
    pub(in crate::interpret) product: usize,
    pub(in crate::interpret) row: usize,
    pub(in crate::interpret) column: usize,
}

const fn rows(row: usize) -> Place {
    Place { product: 0, row, column: 0 }
}

const fn columns(column: usize) -> Place {
    Place { product: 0, row: 0, column }
}

const fn products(product: usize) -> Place {
    Place { product, row: 0, column: 0 }
}

/// The layout of a fragment.
///
/// An instruction has hundreds of elements, so sums of steps are computed once.
#[derive(Clone, Debug)]
pub(in crate::interpret) struct FragmentLayout {
    /// The place of each lane.
    lane: [Place; WARP],
    register: Sums,
    part: Sums,
}

/// For each number the sum of the steps of its bits.
#[derive(Clone, Debug)]
struct Sums(SmallVec<[Place; 8]>);

impl Sums {
    /// Adds up the steps of all bits, lowest first.
    fn new(steps: impl IntoIterator<Item = Place>) -> Self {
        let mut sums = SmallVec::from_slice(&[Place::default()]);
        for step in steps {
            for at in 0..sums.len() {
                sums.push(sums[at] + step);
            }
        }
        Self(sums)
    }

    fn at(&self, number: usize) -> Place {
        // Further bits have no step.
        self.0[number & (self.0.len() - 1)]
    }
}

impl Add for Place {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            product: self.product + other.product,
            row: self.row + other.row,
            column: self.column + other.column,
        }
    }
}

impl FragmentLayout {
    /// Creates a layout from the steps of each bit of the lane, the register and the part, lowest first.
    fn new(
        lane: [Place; 5],
        register: impl IntoIterator<Item = Place>,
        part: impl IntoIterator<Item = Place>,
    ) -> Self {
        let of_lanes = Sums::new(lane);
        let lane = std::array::from_fn(|lane| of_lanes.at(lane));
        Self { lane, register: Sums::new(register), part: Sums::new(part) }
    }

    /// Returns the place of the element at position `part` of register `register` in `lane`.
    #[inline]
    pub(in crate::interpret) fn place(&self, lane: usize, register: usize, part: usize) -> Place {
        self.lane[lane] + self.register.at(register) + self.part.at(part)
    }

    /// Returns the lowest register with the same elements. Bits of a register number without a step count
    /// copies; bits of lanes and parts always have a step.
    pub(in crate::interpret) fn original(&self, register: usize) -> usize {
        let counts =
            |bit: &usize| register & bit != 0 && self.register.at(*bit) != Place::default();
        let bits = (0..usize::BITS).map(|bit| 1 << bit).take_while(|&bit| bit <= register);
        bits.filter(counts).fold(0, |all, bit| all | bit)
    }

    /// Exchanges rows and columns.
    pub(in crate::interpret) fn transposed(mut self) -> Self {
        let all = self.lane.iter_mut().chain(&mut self.register.0).chain(&mut self.part.0);
        all.for_each(|step| (step.row, step.column) = (step.column, step.row));
        self
    }
}

/// The number of elements in a register.
pub(in crate::interpret) fn parts(element: Element) -> usize {
    match element {
        Element::F64 => 1,
        element => 32 / element.bits() as usize,
    }
}

/// Returns doubling steps: `first`, `2·first`, … below `end`.
fn doubling(first: usize, end: usize, step: fn(usize) -> Place) -> Vec<Place> {
    let sizes = std::iter::successors(Some(first), |size| Some(2 * size));
    sizes.take_while(|&size| size < end).map(step).collect()
}

/// The layout in which four lanes share a row, each with `parts` neighbours.
fn by_rows(parts: usize) -> [Place; 5] {
    [columns(parts), columns(2 * parts), rows(1), rows(2), rows(4)]
}

/// The layout of A in `mma`, with `k` stored columns.
pub(in crate::interpret) fn mma_a(
    shape: Shape,
    k: usize,
    element: Element,
    layout: Layout,
) -> FragmentLayout {
    if in_quarters(shape, element) {
        return quarters(layout == Layout::Row);
    }
    let parts = parts(element);
    let mut register: Vec<Place> = doubling(8, shape.m.into(), rows);
    register.extend(doubling(4 * parts, k, columns));
    FragmentLayout::new(by_rows(parts), register, doubling(1, parts, columns))
}

/// The layout of B in `mma`.
pub(in crate::interpret) fn mma_b(
    shape: Shape,
    element: Element,
    layout: Layout,
) -> FragmentLayout {
    if in_quarters(shape, element) {
        return quarters(layout == Layout::Col).transposed();
    }
    let parts = parts(element);
    let register = doubling(4 * parts, shape.k.into(), columns);
    FragmentLayout::new(by_rows(parts), register, doubling(1, parts, columns)).transposed()
}

/// The layout of C or D in `mma`, for factors of type `factor`.
pub(in crate::interpret) fn mma_c(
    shape: Shape,
    element: Element,
    factor: Element,
) -> FragmentLayout {
    let [low, high] = [columns(1), rows(8)];
    if in_quarters(shape, factor) {
        let lane = [rows(1), columns(2), products(1), products(2), rows(4)];
        if element == Element::F32 {
            return FragmentLayout::new(lane, [columns(1), rows(2), columns(4)], []);
        }
        let lane = [rows(1), rows(2), products(1), products(2), rows(4)];
        return FragmentLayout::new(lane, [columns(2), columns(4)], [columns(1)]);
    }
    match parts(element) {
        1 => FragmentLayout::new(by_rows(2), [low, high], []),
        _ => FragmentLayout::new(by_rows(2), [high], [low]),
    }
}

/// Returns `true` for `m8n8k4` of halves, which is four products of eight lanes each.
fn in_quarters(shape: Shape, factor: Element) -> bool {
    shape == Shape { m: 8, n: 8, k: 4 } && factor == Element::F16
}

/// The layout of A in such a product: a lane has a row, or else a column of four.
fn quarters(by_row: bool) -> FragmentLayout {
    let (lane, part, register) = match by_row {
        true => ([rows(1), rows(2)], columns(1), columns(2)),
        false => ([columns(1), columns(2)], rows(1), rows(2)),
    };
    let lane = [lane[0], lane[1], products(1), products(2), rows(4)];
    FragmentLayout::new(lane, [register], [part])
}

/// The layout of a warp's part of D in `wgmma`, sixteen rows (§9.7.15.5.1.1).
pub(in crate::interpret) fn wgmma_d(columns_of_d: usize, element: Element) -> FragmentLayout {
    let more = doubling(8, columns_of_d, columns);
    let high = [rows(8)].into_iter().chain(more);
    match parts(element) {
        1 => {
            let register = [columns(1)].into_iter().chain(high);
            FragmentLayout::new(by_rows(2), register, [])
        }
        _ => FragmentLayout::new(by_rows(2), high, [columns(1)]),
    }
}

/// The layout of a matrix in memory with neighbours along K, as if each 32 words were a register: `words`
/// words for each row, row by row.
pub(in crate::interpret) fn along_k(
    words: usize,
    count: usize,
    element: Element,
) -> FragmentLayout {
    let parts = parts(element);
    let within = doubling(parts, words * parts, columns);
    let mut steps = within.into_iter().chain(doubling(1, count, rows));
    let lane = std::array::from_fn(|_| steps.next().unwrap_or_default());
    FragmentLayout::new(lane, steps, doubling(1, parts, columns))
}

/// Like [`along_k`], with neighbours along M or N, for elements that are half a word: `k` words for two rows,
/// pair by pair.
pub(in crate::interpret) fn across_k(k: usize, count: usize) -> FragmentLayout {
    let mut steps = doubling(1, k, columns).into_iter().chain(doubling(2, count, rows));
    let lane = std::array::from_fn(|_| steps.next().unwrap_or_default());
    FragmentLayout::new(lane, steps, [rows(1)])
}

/// The layout of a `wmma` fragment. Further bits of a register number count copies.
pub(in crate::interpret) fn wmma(
    fragment: Fragment,
    shape: Shape,
    element: Element,
) -> FragmentLayout {
    let parts = parts(element);
    let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k));
    // m8n32 is computed as the transpose of m32n8: its B takes the place of A.
    let flat = n > 16;
    let along_k = doubling(4 * parts, k, columns);
    match fragment {
        Fragment::A if !flat => left(m, parts, along_k),
        Fragment::A => right(8, parts, along_k).transposed(),
        Fragment::B if !flat => right(n, parts, along_k),
        Fragment::B => left(n, parts, along_k).transposed(),
        Fragment::C => {
            let (tall, wide) = if flat { (n, m) } else { (m, n) };
            let (low, mut high) = (columns(1), doubling(8, tall.min(16), rows));
            high.extend(if tall > 16 { vec![rows(16)] } else { doubling(8, wide, columns) });
            let fragment_layout = match parts {
                1 => {
                    high.insert(0, low);
                    FragmentLayout::new(by_rows(2), high, [])
                }
                _ => FragmentLayout::new(by_rows(2), high, [low]),
            };
            if flat { fragment_layout.transposed() } else { fragment_layout }
        }
    }
}

/// The layout of a factor with `m` rows that is stored like A.
fn left(m: usize, parts: usize, along_k: Vec<Place>) -> FragmentLayout {
    let mut register = doubling(8, m.min(16), rows);
    register.extend(along_k);
    register.extend(doubling(16, m, rows));
    FragmentLayout::new(by_rows(parts), register, doubling(1, parts, columns))
}

/// The layout of a factor with `n` columns that is stored like B.
fn right(n: usize, parts: usize, along_k: Vec<Place>) -> FragmentLayout {
    let mut register = along_k;
    register.extend(doubling(8, n, rows));
    FragmentLayout::new(by_rows(parts), register, doubling(1, parts, columns)).transposed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const fn mnk(m: u16, n: u16, k: u16) -> Shape {
        Shape { m, n, k }
    }

    fn at(
        fragment_layout: &FragmentLayout,
        lane: usize,
        register: usize,
        part: usize,
    ) -> (usize, usize) {
        let place = fragment_layout.place(lane, register, part);
        (place.row, place.column)
    }

    /// Formulas of the manual, written out for the most common shape.
    #[test]
    fn halves_in_m16n8k16_are_where_the_manual_says() {
        let shape = mnk(16, 8, 16);
        let a = mma_a(shape, 16, Element::F16, Layout::Row);
        let b = mma_b(shape, Element::F16, Layout::Col);
        let c = mma_c(shape, Element::F32, Element::F16);
        for lane in 0..32 {
            let (group, thread) = (lane >> 2, lane % 4);
            for i in 0..8 {
                let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                let column = thread * 2 + (i & 1) + if i < 4 { 0 } else { 8 };
                assert_eq!(at(&a, lane, i / 2, i % 2), (row, column));
            }
            for i in 0..4 {
                let row = thread * 2 + (i & 1) + if i < 2 { 0 } else { 8 };
                assert_eq!(at(&b, lane, i / 2, i % 2), (row, group));
                let row = if i < 2 { group } else { group + 8 };
                assert_eq!(at(&c, lane, i, 0), (row, thread * 2 + (i & 1)));
            }
        }
    }

    #[test]
    fn quarters_are_where_the_manual_says() {
        let shape = mnk(8, 8, 4);
        let c = mma_c(shape, Element::F32, Element::F16);
        let b = mma_b(shape, Element::F16, Layout::Row);
        for lane in 0..32 {
            for i in 0..8 {
                let row = (lane & 1) + (i & 2) + if lane < 16 { 0 } else { 4 };
                let column = (i & 4) + (lane & 2) + (i & 1);
                assert_eq!(at(&c, lane, i, 0), (row, column));
                assert_eq!(c.place(lane, i, 0).product, lane / 4 % 4);
            }
            for i in 0..4 {
                let column = i + if lane < 16 { 0 } else { 4 };
                assert_eq!(at(&b, lane, i / 2, i % 2), (lane % 4, column));
            }
        }
    }

    /// Every element occurs, and none is outside.
    #[test]
    fn fragments_cover_their_matrices() {
        let check = |fragment_layout: &FragmentLayout,
                     registers: usize,
                     parts: usize,
                     size: (usize, usize)| {
            let mut seen = BTreeSet::new();
            for lane in 0..32 {
                for register in 0..registers {
                    seen.extend((0..parts).map(|part| at(fragment_layout, lane, register, part)));
                }
            }
            assert_eq!(seen.len(), size.0 * size.1, "{fragment_layout:?}");
            assert!(seen.iter().all(|&(row, column)| row < size.0 && column < size.1));
        };
        for (shape, element) in [
            (mnk(8, 8, 128), Element::B1),
            (mnk(16, 8, 256), Element::B1),
            (mnk(8, 8, 32), Element::S4),
            (mnk(16, 8, 64), Element::U4),
            (mnk(8, 8, 16), Element::S8),
            (mnk(16, 8, 32), Element::E4m3),
            (mnk(16, 8, 8), Element::Bf16),
            (mnk(16, 8, 4), Element::Tf32),
            (mnk(16, 8, 16), Element::F64),
        ] {
            let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k));
            let (parts, bits) = (parts(element), element.bits().max(32) as usize);
            let share = |elements: usize| elements * element.bits() as usize / (32 * bits);
            check(&mma_a(shape, k, element, Layout::Row), share(m * k), parts, (m, k));
            check(&mma_b(shape, element, Layout::Col), share(n * k), parts, (k, n));
            let (accumulator, each) = match element {
                Element::F64 => (Element::F64, m * n / 32),
                _ => (Element::S32, m * n / 32),
            };
            check(&mma_c(shape, accumulator, element), each, 1, (m, n));
        }
        for shape in [mnk(16, 16, 16), mnk(8, 32, 16), mnk(32, 8, 16)] {
            let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k));
            check(&wmma(Fragment::A, shape, Element::F16), 8, 2, (m, k));
            check(&wmma(Fragment::B, shape, Element::F16), 8, 2, (k, n));
            check(&wmma(Fragment::A, shape, Element::S8), m * k / 128, 4, (m, k));
            check(&wmma(Fragment::B, shape, Element::S8), n * k / 128, 4, (k, n));
            check(&wmma(Fragment::C, shape, Element::F16), 4, 2, (m, n));
            check(&wmma(Fragment::C, shape, Element::F32), 8, 1, (m, n));
        }
    }

    /// Copies are whole registers: without them each element occurs once.
    #[test]
    fn elements_are_held_once_but_for_copies_of_registers() {
        let wide = [mnk(16, 16, 16), mnk(8, 32, 16), mnk(32, 8, 16)];
        let mut forms: Vec<(Shape, Element, Element)> = Vec::new();
        for shape in wide {
            forms.push((shape, Element::F16, Element::F16));
            forms.push((shape, Element::F16, Element::F32));
            forms.push((shape, Element::Bf16, Element::F32));
            forms.push((shape, Element::S8, Element::S32));
        }
        forms.push((mnk(16, 16, 8), Element::Tf32, Element::F32));
        forms.push((mnk(8, 8, 4), Element::F64, Element::F64));
        forms.push((mnk(8, 8, 32), Element::U4, Element::S32));
        forms.push((mnk(8, 8, 128), Element::B1, Element::S32));
        let mut several = Vec::new();
        for (shape, factor, accumulator) in forms {
            let Shape { m, n, k } = shape;
            let fragments = [
                (Fragment::A, factor, m * k),
                (Fragment::B, factor, k * n),
                (Fragment::C, accumulator, m * n),
            ];
            for (fragment, element, elements) in fragments {
                let (fragment_layout, parts) = (wmma(fragment, shape, element), parts(element));
                let single = usize::from(elements) / (WARP * parts);
                let halves = element == Element::F16 && fragment != Fragment::C;
                let registers = if halves { 8 } else { single };
                let mut seen = BTreeSet::new();
                for register in 0..registers {
                    let original = fragment_layout.original(register);
                    if original != register {
                        assert!(original < register);
                        for lane in 0..WARP {
                            let place_of = |number| at(&fragment_layout, lane, number, parts - 1);
                            assert_eq!(place_of(register), place_of(original));
                        }
                        continue;
                    }
                    for number in 0..WARP * parts {
                        let (lane, part) = (number / parts, number % parts);
                        assert!(seen.insert(at(&fragment_layout, lane, register, part)));
                    }
                }
                assert_eq!(seen.len(), usize::from(elements));
                if single < registers {
                    several.push((fragment, shape, registers / single));
                }
            }
        }
        assert_eq!(
            several[..4],
            [
                (Fragment::A, wide[0], 2),
                (Fragment::B, wide[0], 2),
                (Fragment::A, wide[0], 2),
                (Fragment::B, wide[0], 2),
            ]
        );
        assert_eq!(
            several[4..],
            [
                (Fragment::A, wide[1], 4),
                (Fragment::A, wide[1], 4),
                (Fragment::B, wide[2], 4),
                (Fragment::B, wide[2], 4),
            ]
        );
    }

    /// Some of the places read from an H200.
    #[test]
    fn fragments_of_wmma_are_where_hardware_has_them() {
        let c = wmma(Fragment::C, mnk(8, 32, 16), Element::F32);
        assert_eq!(at(&c, 1, 0, 0), (2, 0));
        assert_eq!([1, 2, 4].map(|register| at(&c, 0, register, 0)), [(1, 0), (0, 8), (0, 16)]);
        let b = wmma(Fragment::B, mnk(16, 16, 8), Element::Tf32);
        assert_eq!([1, 2].map(|register| at(&b, 0, register, 0)), [(4, 0), (0, 8)]);
        let b = wmma(Fragment::B, mnk(8, 32, 16), Element::F16);
        assert_eq!([1, 2, 4].map(|register| at(&b, 0, register, 0)), [(0, 8), (8, 0), (0, 16)]);
        let a = wmma(Fragment::A, mnk(8, 32, 16), Element::F16);
        assert_eq!([1, 2, 4].map(|register| at(&a, 0, register, 0)), [(0, 8), (0, 0), (0, 0)]);
    }
}
