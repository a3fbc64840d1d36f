//! Operands of a product: their layout in registers, and the computation of one element of D.

use super::fragment::{self, FragmentLayout, Place, parts};
use crate::concrete::{dot_float, dot_integer, dot_widened, resize, to_double};
use crate::lanes::{Lanes, WARP};
use crate::tags::Tags;
use ir::{Element, Format, Fragment, Mma, MmaKind, Operand, Reg, Shape, Sparsity, Width, WmmaMma};

/// An operand: its registers with their contents and layout.
pub(in crate::interpret) struct Factor<'o> {
    pub(in crate::interpret) element: Element,
    pub(in crate::interpret) registers: &'o [Operand],
    pub(in crate::interpret) fragment_layout: FragmentLayout,
}

impl Factor<'_> {
    /// Registers with elements that no earlier register holds.
    pub(in crate::interpret) fn originals(&self) -> impl Iterator<Item = usize> {
        (0..self.registers.len())
            .filter(|&register| self.fragment_layout.original(register) == register)
    }

    /// Registers that hold the elements of `original` again.
    pub(in crate::interpret) fn copies(&self, original: usize) -> impl Iterator<Item = usize> {
        let after = original + 1..self.registers.len();
        after.filter(move |&register| self.fragment_layout.original(register) == original)
    }
}

/// A product of matrices.
pub(in crate::interpret) struct Product<'o> {
    pub(in crate::interpret) shape: Shape,
    pub(in crate::interpret) kind: MmaKind,
    pub(in crate::interpret) a: Factor<'o>,
    pub(in crate::interpret) b: Factor<'o>,
    pub(in crate::interpret) c: Factor<'o>,
    pub(in crate::interpret) d_element: Element,
    pub(in crate::interpret) d: &'o [Reg],
    pub(in crate::interpret) d_layout: FragmentLayout,
    pub(in crate::interpret) sparsity: Option<&'o Sparsity>,
    /// Set if the products are subtracted.
    pub(in crate::interpret) negates: bool,
}

impl<'o> Product<'o> {
    pub(super) fn of_mma(mma: &'o Mma) -> Self {
        let Mma { shape, a_element, b_element, c_element, d_element, .. } = *mma;
        let stored = usize::from(shape.k) / if mma.sparsity.is_some() { 2 } else { 1 };
        let factor =
            |element, registers, fragment_layout| Factor { element, registers, fragment_layout };
        let a = fragment::mma_a(shape, stored, a_element, mma.a_layout);
        Self {
            shape,
            kind: mma.kind,
            a: factor(a_element, &mma.a, a),
            b: factor(b_element, &mma.b, fragment::mma_b(shape, b_element, mma.b_layout)),
            c: factor(c_element, &mma.c, fragment::mma_c(shape, c_element, a_element)),
            d_element,
            d: &mma.d,
            d_layout: fragment::mma_c(shape, d_element, a_element),
            sparsity: mma.sparsity.as_ref(),
            negates: false,
        }
    }

    pub(super) fn of_wmma(mma: &'o WmmaMma) -> Self {
        let WmmaMma { shape, a_element, b_element, c_element, d_element, .. } = *mma;
        let factor = |kind, element, registers| {
            let fragment_layout = fragment::wmma(kind, shape, element);
            Factor { element, registers, fragment_layout }
        };
        Self {
            shape,
            kind: mma.kind,
            a: factor(Fragment::A, a_element, &mma.a),
            b: factor(Fragment::B, b_element, &mma.b),
            c: factor(Fragment::C, c_element, &mma.c),
            d_element,
            d: &mma.d,
            d_layout: fragment::wmma(Fragment::C, shape, d_element),
            sparsity: None,
            negates: false,
        }
    }

    pub(super) fn size(&self) -> [usize; 3] {
        [self.shape.m, self.shape.n, self.shape.k].map(usize::from)
    }
}

/// The elements of up to four products that an instruction computes.
pub(in crate::interpret) struct Matrix<T> {
    rows: usize,
    columns: usize,
    /// The products with elements so far.
    products: usize,
    cells: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    pub(in crate::interpret) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, products: 0, cells: vec![T::default(); 4 * rows * columns] }
    }

    fn index(&self, place: Place) -> usize {
        (place.product * self.rows + place.row) * self.columns + place.column
    }

    pub(in crate::interpret) fn get(&self, product: usize, row: usize, column: usize) -> T {
        self.cells[self.index(Place { product, row, column })]
    }

    pub(in crate::interpret) fn row(&self, product: usize, row: usize) -> &[T] {
        &self.cells[self.index(Place { product, row, column: 0 })..][..self.columns]
    }

    pub(in crate::interpret) fn set(&mut self, place: Place, value: T) {
        let index = self.index(place);
        self.cells[index] = value;
        self.products = self.products.max(place.product + 1);
    }

    /// Converts the elements that were set.
    fn converted<U: Copy + Default>(&self, convert: impl Fn(T) -> U) -> Matrix<U> {
        let mut matrix = Matrix { products: self.products, ..Matrix::new(self.rows, self.columns) };
        let used = self.products * self.rows * self.columns;
        let cells = matrix.cells.iter_mut().zip(&self.cells[..used]);
        cells.for_each(|(new, &old)| *new = convert(old));
        matrix
    }

    /// Changes the cells of the first product, in chunks.
    pub(in crate::interpret) fn change(&mut self, mut change: impl FnMut(&mut [T])) {
        let size = self.rows * self.columns;
        self.cells[..size].chunks_mut(WARP).for_each(&mut change);
    }

    /// Fills the matrix with the parts of registers, leaving out copies.
    fn gather(&mut self, factor: &Factor<'_>, mut part: impl FnMut(usize, usize, usize) -> T) {
        for register in factor.originals() {
            for lane in 0..WARP {
                for at in 0..parts(factor.element) {
                    let place = factor.fragment_layout.place(lane, register, at);
                    self.set(place, part(lane, register, at));
                }
            }
        }
    }
}

/// The products of an element of D: in order, or those that the metadata of a sparse A selects.
pub(in crate::interpret) struct Terms {
    /// For each row of A, the rows of B with which its stored elements are multiplied; `None` for all rows in
    /// order.
    pub(super) chosen: Option<Vec<Vec<usize>>>,
    /// The number of products in each sum.
    pub(in crate::interpret) count: usize,
}

impl Terms {
    /// Returns `true` if elements are omitted.
    pub(in crate::interpret) fn is_sparse(&self) -> bool {
        self.chosen.is_some()
    }

    /// The row of B for stored element `at` of a row of A.
    pub(in crate::interpret) fn row_of_b(&self, row: usize, at: usize) -> usize {
        self.chosen.as_ref().map_or(at, |chosen| chosen[row][at])
    }
}

/// The contents of an operand in all lanes, register by register.
pub(in crate::interpret) type Sources = Vec<(Lanes, Tags)>;

/// Operands as numbers.
pub(super) struct Numbers {
    a: Matrix<u64>,
    b: Matrix<u64>,
    c: Matrix<u64>,
    /// A and B as doubles, if they are floats of fewer bits.
    reals: Option<[Matrix<f64>; 2]>,
}

impl Numbers {
    pub(super) fn new(product: &Product<'_>, sources: &[Sources; 3]) -> Self {
        let [m, n, k] = product.size();
        let matrix =
            |factor: &Factor<'_>, sources: &Sources, (rows, columns): (usize, usize), flip: u64| {
                let bits = factor.element.bits();
                let mut matrix = Matrix::<u64>::new(rows, columns);
                matrix.gather(factor, |lane, register, part| {
                    let shifted = sources[register].0[lane] >> (part as u32 * bits);
                    (shifted & (u64::MAX >> (64 - bits))) ^ flip
                });
                matrix
            };
        let [a, b, c] = sources;
        // The sign of a float is its highest bit.
        let sign = if product.negates { 1 << (product.a.element.bits() - 1) } else { 0 };
        let (a, b) = (matrix(&product.a, a, (m, k), sign), matrix(&product.b, b, (k, n), 0));
        let is_real = matches!(product.kind, MmaKind::MultiplyAdd { .. });
        let reals = |matrix: &Matrix<u64>, element: Element| {
            let format = format(element).filter(|&one| is_real && one != Format::F64)?;
            Some(matrix.converted(|bits| to_double(format, bits)))
        };
        let reals = reals(&a, product.a.element).zip(reals(&b, product.b.element));
        Self { a, b, c: matrix(&product.c, c, (m, n), 0), reals: reals.map(Into::into) }
    }

    /// The pairs of factors for an element of D.
    pub(super) fn pairs<'m>(
        &'m self,
        terms: &'m Terms,
        place: Place,
    ) -> impl Iterator<Item = (u64, u64)> + Clone + use<'m> {
        pairs([&self.a, &self.b], terms, place)
    }

    /// Computes an element of D.
    pub(super) fn combine(&self, product: &Product<'_>, terms: &Terms, place: Place) -> u64 {
        let (numbers, start) = (self.pairs(terms, place), self.start(place));
        let formats = [&product.a, &product.b, &product.c].map(|side| format(side.element));
        match (&self.reals, formats, format(product.d_element)) {
            (Some([a, b]), [Some(one), Some(other), Some(c)], Some(d)) => {
                let factors = pairs([a, b], terms, place);
                dot_widened((one, other), numbers, factors, (c, start), d)
            }
            _ => combine(product, numbers, start),
        }
    }

    /// Returns the element of C to which the products are added.
    pub(super) fn start(&self, Place { product, row, column }: Place) -> u64 {
        self.c.get(product, row, column)
    }
}

/// The pairs of elements of A and B for an element of D.
fn pairs<'m, T: Copy + Default>(
    [a, b]: [&'m Matrix<T>; 2],
    terms: &'m Terms,
    Place { product, row, column }: Place,
) -> impl Iterator<Item = (T, T)> + Clone + use<'m, T> {
    let b = move |at| b.get(product, terms.row_of_b(row, at), column);
    (0..terms.count).map(move |at| (a.get(product, row, at), b(at)))
}

/// Computes one element of D from bits.
fn combine(
    product: &Product<'_>,
    pairs: impl Iterator<Item = (u64, u64)> + Clone,
    start: u64,
) -> u64 {
    let popc = |function: fn(u64, u64) -> u64, pairs: &mut dyn Iterator<Item = (u64, u64)>| {
        let ones = pairs.map(|(x, y)| (function(x, y) as i64, 1));
        dot_integer(ones, start, false)
    };
    let mut pairs = pairs;
    match product.kind {
        MmaKind::XorPopc => popc(|x, y| x ^ y, &mut pairs),
        MmaKind::AndPopc => popc(|x, y| x & y, &mut pairs),
        MmaKind::MultiplyAdd { saturate, rounding } => {
            let formats = [&product.a, &product.b, &product.c].map(|side| format(side.element));
            match (formats, format(product.d_element)) {
                ([Some(a), Some(b), Some(c)], Some(d)) => {
                    dot_float((a, b), pairs, (c, start), (d, rounding))
                }
                _ => {
                    let [a, b] = [product.a.element, product.b.element];
                    let pairs = pairs.map(|(x, y)| (integer(a, x), integer(b, y)));
                    dot_integer(pairs, start, saturate)
                }
            }
        }
    }
}

fn integer(element: Element, bits: u64) -> i64 {
    match element {
        Element::S8 => resize(Width::B8, true, Width::B64, bits).cast_signed(),
        Element::S4 => ((bits << 60).cast_signed()) >> 60,
        _ => bits.cast_signed(),
    }
}

/// The float format of an element, if any.
pub(in crate::interpret) fn format(element: Element) -> Option<Format> {
    Some(match element {
        Element::F64 => Format::F64,
        Element::F32 => Format::F32,
        Element::Tf32 => Format::Tf32,
        Element::F16 => Format::F16,
        Element::Bf16 => Format::Bf16,
        Element::E4m3 => Format::E4m3,
        Element::E5m2 => Format::E5m2,
        Element::S32 | Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => {
            return None;
        }
    })
}
