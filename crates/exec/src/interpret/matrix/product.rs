//! Products: D = A·B + C (manual §9.7.14.4.5, §9.7.14.5.14, §9.7.14.6.3).
//!
//! Element by element: what is undefined in a row of A, a column of B or at C makes the elements of D
//! undefined that it goes into, and no others. Without a domain, one unknown element makes all of D
//! unknown, which loses nothing that `check` looks at. Metadata of a sparse A that is unknown does
//! the same.

use super::copies::{self, Disputes};
use super::fragment::{self, Place, Spread, parts};
use super::legal;
use super::sparse::Chunks;
use crate::concrete::{dot_float, dot_integer, resize};
use crate::finding::{Gap, Origin};
use crate::interpret::{Context, valued};
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::{Source, Tags};
use ir::{Element, Format, Fragment, Mma, MmaKind, Operand, Reg, Shape, Sparsity, Width, WmmaMma};

/// An operand: what is in its registers, and where.
pub(in crate::interpret) struct Factor<'o> {
    pub(in crate::interpret) element: Element,
    pub(in crate::interpret) registers: &'o [Operand],
    pub(in crate::interpret) spread: Spread,
}

impl Factor<'_> {
    /// Registers that hold elements which no register before them holds.
    pub(in crate::interpret) fn originals(&self) -> impl Iterator<Item = usize> {
        (0..self.registers.len()).filter(|&register| self.spread.original(register) == register)
    }

    /// Registers that hold the elements of `original` again.
    pub(in crate::interpret) fn copies(&self, original: usize) -> impl Iterator<Item = usize> {
        let after = original + 1..self.registers.len();
        after.filter(move |&register| self.spread.original(register) == original)
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
    pub(in crate::interpret) d_spread: Spread,
    sparsity: Option<&'o Sparsity>,
}

impl<'o> Product<'o> {
    pub(super) fn of_mma(mma: &'o Mma) -> Self {
        let Mma { shape, a_element, b_element, c_element, d_element, .. } = *mma;
        let stored = usize::from(shape.k) / if mma.sparsity.is_some() { 2 } else { 1 };
        let factor = |element, registers, spread| Factor { element, registers, spread };
        let a = fragment::mma_a(shape, stored, a_element, mma.a_layout);
        Self {
            shape,
            kind: mma.kind,
            a: factor(a_element, &mma.a, a),
            b: factor(b_element, &mma.b, fragment::mma_b(shape, b_element, mma.b_layout)),
            c: factor(c_element, &mma.c, fragment::mma_c(shape, c_element, a_element)),
            d_element,
            d: &mma.d,
            d_spread: fragment::mma_c(shape, d_element, a_element),
            sparsity: mma.sparsity.as_ref(),
        }
    }

    pub(super) fn of_wmma(mma: &'o WmmaMma) -> Self {
        let WmmaMma { shape, a_element, b_element, c_element, d_element, .. } = *mma;
        let factor = |kind, element, registers| {
            let spread = fragment::wmma(kind, shape, element);
            Factor { element, registers, spread }
        };
        Self {
            shape,
            kind: mma.kind,
            a: factor(Fragment::A, a_element, &mma.a),
            b: factor(Fragment::B, b_element, &mma.b),
            c: factor(Fragment::C, c_element, &mma.c),
            d_element,
            d: &mma.d,
            d_spread: fragment::wmma(Fragment::C, shape, d_element),
            sparsity: None,
        }
    }

    fn size(&self) -> [usize; 3] {
        [self.shape.m, self.shape.n, self.shape.k].map(usize::from)
    }
}

/// The elements of the four products that an instruction makes at most.
pub(in crate::interpret) struct Matrix<T> {
    rows: usize,
    columns: usize,
    cells: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    pub(in crate::interpret) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, cells: vec![T::default(); 4 * rows * columns] }
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
    }

    /// Fills in what the parts of registers hold; copies are left out.
    fn gather(&mut self, factor: &Factor<'_>, mut part: impl FnMut(usize, usize, usize) -> T) {
        for register in factor.originals() {
            for lane in 0..WARP {
                for at in 0..parts(factor.element) {
                    let place = factor.spread.place(lane, register, at);
                    self.set(place, part(lane, register, at));
                }
            }
        }
    }
}

/// Which elements of a row of A are multiplied with which rows of B.
pub(in crate::interpret) struct Terms {
    /// For each row of A the rows of B; all rows, one after the other, if there is none.
    chosen: Option<Vec<Vec<usize>>>,
    /// How many there are.
    pub(in crate::interpret) count: usize,
}

impl Terms {
    /// Whether elements are left out.
    pub(in crate::interpret) fn is_sparse(&self) -> bool {
        self.chosen.is_some()
    }

    /// The row of B for stored element `at` of a row of A.
    pub(in crate::interpret) fn row_of_b(&self, row: usize, at: usize) -> usize {
        self.chosen.as_ref().map_or(at, |chosen| chosen[row][at])
    }
}

/// What an operand holds in all lanes, register by register.
pub(super) type Sources = Vec<(Lanes, Tags)>;

pub(super) fn execute(context: &mut Context<'_, '_>, product: &Product<'_>) -> Result<(), Gap> {
    let factors = [&product.a, &product.b, &product.c];
    let mut sources: [Sources; 3] = factors.map(|factor| {
        factor.registers.iter().map(|&operand| context.read(operand, Width::B64)).collect()
    });
    if context.machine.simulates {
        for (factor, sources) in factors.into_iter().zip(&mut sources) {
            copies::choose(context, factor, sources);
        }
    }
    let [a, b, c] = [0, 1, 2].map(|side| Disputes::of(factors[side], &sources[side]));
    let mut tags = of_any(&sources);
    let mut poison = reached(product, [&a.poison, &b.poison, &c.poison]);
    let terms = match terms(context, product, &mut poison)? {
        Ok(terms) => terms,
        Err(metadata) => {
            tags = tags.combine(metadata);
            spoil(context, product, tags, &poison);
            return Ok(());
        }
    };
    let floats = format(product.a.element).is_some();
    let disputed = [&a, &b, &c].iter().any(|disputes| disputes.is_any());
    if floats && tags.is_number() && !disputed && legal::wants_bits(context) {
        legal::execute(context, product, &Numbers::new(product, &sources), &terms);
        return Ok(());
    }
    if context.valued.is_some() && floats {
        valued::matrix_product(context, product, &sources, &terms, (tags, &poison));
        return Ok(());
    }
    let disputes = [a, b, c];
    disputes.iter().for_each(|disputes| disputes.tell(context));
    let [a, b, c] = disputes.each_ref().map(Disputes::settled);
    let unsettled = reached(product, [&a, &b, &c]);
    if !tags.unknown.is_empty() {
        let plain = poison.iter().chain(&unsettled).all(|lanes| lanes.is_empty());
        let followed = context.valued.is_some()
            && plain
            && tags.undetermined().is_empty()
            && valued::integer_product(context, product, &sources, &terms);
        if !followed {
            spoil(context, product, tags, &poison);
        }
        return Ok(());
    }
    if floats && disputed && legal::wants_bits(context) {
        // Which copies meet is open, and so is how the sums are rounded.
        let copies = Tags::unknown(Mask::ALL, Source::Copies);
        spoil(context, product, tags.combine(copies), &poison);
        return Ok(());
    }
    let results = compute(product, &sources, &terms);
    for (register, &dst) in product.d.iter().enumerate() {
        let undefined = tags.undefined.or(Some(Origin::Operation(context.place)));
        let poison = poison[register];
        let unknown = unsettled[register].without(poison);
        let origin = (!unknown.is_empty()).then_some(Source::Copies);
        let tags = Tags { poison, unknown, fickle: Mask::NONE, origin, undefined, ..tags };
        context.write(dst, &results[register], tags);
    }
    Ok(())
}

/// What any register of the operands is, lane by lane. An element of D depends on registers of other lanes, so poison in
/// one register does not hide that another one of the lane is unknown, as it does where a lane computes for itself.
fn of_any(sources: &[Sources; 3]) -> Tags {
    let mut all = Tags::NUMBER;
    for (_, tags) in sources.iter().flatten() {
        let tags = tags.spread();
        all = Tags {
            pointer: Mask::NONE,
            unknown: all.unknown.or(tags.unknown),
            poison: all.poison.or(tags.poison),
            fickle: all.fickle.or(tags.fickle),
            origin: [all.origin, tags.origin].into_iter().flatten().reduce(Source::to_name),
            undefined: all.undefined.or(tags.undefined),
        };
    }
    all
}

/// Lanes of each register of D that something goes into which is in these lanes of the registers of
/// A, B and C.
fn reached(product: &Product<'_>, marks: [&[Mask]; 3]) -> Vec<Mask> {
    if marks.iter().all(|marks| marks.iter().all(|lanes| lanes.is_empty())) {
        return vec![Mask::NONE; product.d.len()];
    }
    let [m, n, _] = product.size();
    let mut rows = Matrix::<bool>::new(m, 1);
    let mut columns = Matrix::<bool>::new(1, n);
    let mut starts = Matrix::<bool>::new(m, n);
    let [a, b, c] = marks;
    let each = |factor: &Factor<'_>, marks: &[Mask], mark: &mut dyn FnMut(Place)| {
        for (register, lanes) in marks.iter().enumerate() {
            for lane in lanes.iter() {
                (0..parts(factor.element))
                    .for_each(|part| mark(factor.spread.place(lane, register, part)));
            }
        }
    };
    each(&product.a, a, &mut |place| rows.set(Place { column: 0, ..place }, true));
    each(&product.b, b, &mut |place| columns.set(Place { row: 0, ..place }, true));
    each(&product.c, c, &mut |place| starts.set(place, true));
    let is_reached = |place: Place| {
        let Place { product, row, column } = place;
        rows.get(product, row, 0)
            || columns.get(product, 0, column)
            || starts.get(product, row, column)
    };
    lanes_of_d(product, is_reached)
}

/// The lanes of each register of D of which some part is at a place.
fn lanes_of_d(product: &Product<'_>, holds: impl Fn(Place) -> bool) -> Vec<Mask> {
    let parts = parts(product.d_element);
    let has = |register: usize, lane: usize| {
        (0..parts).any(|part| holds(product.d_spread.place(lane, register, part)))
    };
    let mask = |register| (0..WARP).filter(|&lane| has(register, lane)).fold(0, |m, l| m | 1 << l);
    (0..product.d.len()).map(|register| Mask(mask(register))).collect()
}

/// Which elements meet, or the tags of metadata that is not known. Rows with invalid metadata are
/// undefined.
fn terms(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    poison: &mut [Mask],
) -> Result<Result<Terms, Tags>, Gap> {
    let [m, _, k] = product.size();
    let Some(sparsity) = product.sparsity else {
        return Ok(Ok(Terms { chosen: None, count: k }));
    };
    let chunks = Chunks::new(product.a.element, k);
    if !chunks.allows(sparsity.selector) {
        return Err(context.gap("the sparsity selector names threads that do not exist"));
    }
    let (metadata, tags) = context.read(sparsity.metadata, Width::B32);
    if !tags.is_number() {
        if !tags.poison.is_empty() {
            poison.fill(Mask::ALL);
        }
        return Ok(Err(tags));
    }
    let mut chosen = Vec::with_capacity(m);
    for row in 0..m {
        let columns = chunks.columns((sparsity.selector, sparsity.ordered), row, &metadata);
        if columns.is_none() {
            let bad = lanes_of_d(product, |place| place.row == row);
            poison.iter_mut().zip(bad).for_each(|(all, lanes)| *all = all.or(lanes));
        }
        chosen.push(columns.unwrap_or_else(|| vec![0; k / 2]));
    }
    Ok(Ok(Terms { chosen: Some(chosen), count: k / 2 }))
}

/// Makes D unknown.
fn spoil(context: &mut Context<'_, '_>, product: &Product<'_>, tags: Tags, poison: &[Mask]) {
    for (&dst, &poison) in product.d.iter().zip(poison) {
        let fickle = if tags.fickle.is_empty() { Mask::NONE } else { Mask::ALL };
        let unknown = Mask::ALL.without(poison);
        let undefined = tags.undefined.or(Some(Origin::Operation(context.place)));
        let tags = Tags { unknown, poison, fickle, pointer: Mask::NONE, undefined, ..tags };
        context.write(dst, &[0; WARP], tags);
    }
}

/// Operands that are numbers.
pub(super) struct Numbers {
    a: Matrix<u64>,
    b: Matrix<u64>,
    c: Matrix<u64>,
}

impl Numbers {
    fn new(product: &Product<'_>, sources: &[Sources; 3]) -> Self {
        let [m, n, k] = product.size();
        let matrix = |factor: &Factor<'_>, sources: &Sources, rows: usize, columns: usize| {
            let bits = factor.element.bits();
            let mut matrix = Matrix::<u64>::new(rows, columns);
            matrix.gather(factor, |lane, register, part| {
                let shifted = sources[register].0[lane] >> (part as u32 * bits);
                shifted & (u64::MAX >> (64 - bits))
            });
            matrix
        };
        let [a, b, c] = sources;
        let (a, b) = (matrix(&product.a, a, m, k), matrix(&product.b, b, k, n));
        Self { a, b, c: matrix(&product.c, c, m, n) }
    }

    /// The factors that meet in an element of D.
    pub(super) fn pairs(&self, terms: &Terms, place: Place) -> impl Iterator<Item = (u64, u64)> {
        let Place { product, row, column } = place;
        let b = move |at| self.b.get(product, terms.row_of_b(row, at), column);
        (0..terms.count).map(move |at| (self.a.get(product, row, at), b(at)))
    }

    /// What they are added to.
    pub(super) fn start(&self, Place { product, row, column }: Place) -> u64 {
        self.c.get(product, row, column)
    }
}

/// D, register by register.
fn compute(product: &Product<'_>, sources: &[Sources; 3], terms: &Terms) -> Vec<Lanes> {
    let numbers = Numbers::new(product, sources);
    let element =
        |place: Place| combine(product, numbers.pairs(terms, place), numbers.start(place));
    let parts = parts(product.d_element);
    let bits = product.d_element.bits();
    let register = |register: usize| {
        std::array::from_fn(|lane| {
            (0..parts).fold(0, |word, part| {
                let place = product.d_spread.place(lane, register, part);
                word | element(place) << (part as u32 * bits)
            })
        })
    };
    (0..product.d.len()).map(register).collect()
}

/// One element of D.
pub(super) fn combine(
    product: &Product<'_>,
    pairs: impl Iterator<Item = (u64, u64)>,
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

/// The float format of an element, if it is one.
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
