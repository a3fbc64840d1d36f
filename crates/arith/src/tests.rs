//! The procedures without a solver, compared with all values of small digits.

use crate::formula::Formula;
use crate::poly::{Monomial, Poly, Sym};
use crate::radix;
use crate::symbols::{Level, Symbols};
use crate::vertex::Bounds;
use testing::Random;

fn value(poly: &Poly, of: &impl Fn(Sym) -> i128) -> i128 {
    let term = |(monomial, coefficient): (&Monomial, i128)| {
        monomial.iter().fold(coefficient, |product, (sym, power)| product * of(*sym).pow(*power))
    };
    poly.terms().map(term).sum()
}

/// Calls `see` with every choice of values below `limits`.
fn choices(limits: &[i128], see: &mut impl FnMut(&[i128])) {
    let mut values = vec![0; limits.len()];
    loop {
        see(&values);
        let Some(next) = (0..limits.len()).find(|at| values[*at] + 1 < limits[*at]) else { return };
        values[next] += 1;
        values[..next].fill(0);
    }
}

/// Two indices of the same shape are equal exactly if all parts of their split difference are 0.
#[test]
fn splitting_is_exact() {
    let mut random = Random::new(11);
    let mut split_fully = 0;
    for _ in 0..10_000 {
        let digits = 1 + random.below(3);
        let mut symbols = Symbols::default();
        let mut limits = Vec::new();
        let (mut one, mut other) = (Poly::default(), Poly::default());
        let (mut ones, mut others) = (Vec::new(), Vec::new());
        let mut stride = 1;
        for _ in 0..digits {
            let limit = 1 + random.below(4);
            // Gaps, overlaps and reflected digits occur.
            let actual = stride + random.below(3) - i128::from(random.below(4) == 0);
            let sign = if random.below(4) == 0 { -1 } else { 1 };
            let range = || (Some(Poly::constant(0)), Some(Poly::constant(limit - 1)));
            for (index, list) in [(&mut one, &mut ones), (&mut other, &mut others)] {
                let (low, high) = range();
                let sym = symbols.bounded("d", Level::Thread, low, high);
                list.push(sym);
                *index = index.plus(&Poly::symbol(sym).scaled(sign * actual).unwrap()).unwrap();
            }
            limits.push(limit);
            stride = actual * limit;
        }
        let difference = one.minus(&other).unwrap();
        let bounds = Bounds::new(&[], &symbols);
        let parts =
            radix::split(&difference, &|_| false, &mut |p| bounds.is_nonnegative_without_sizes(p));
        split_fully += usize::from(parts.len() == digits);
        let both: Vec<i128> = limits.iter().chain(&limits).copied().collect();
        choices(&both, &mut |values| {
            let value_of = |sym: Sym| {
                let at = ones.iter().chain(&others).position(|one| *one == sym).unwrap();
                values[at]
            };
            let zero = value(&difference, &value_of) == 0;
            assert_eq!(zero, parts.iter().all(|part| value(part, &value_of) == 0), "{parts:?}");
        });
    }
    assert!(split_fully > 1000, "only {split_fully} were split into digits");
}

/// With a stride that is a sum of two symbols, for all small sizes.
#[test]
fn splitting_by_sums_is_exact() {
    let mut symbols = Symbols::default();
    let low = |least: i128| Some(Poly::constant(least));
    let [n, m] = ["n", "m"].map(|name| symbols.bounded(name, Level::Launch, low(1), None));
    let stride = Poly::symbol(n).plus(&Poly::symbol(m)).unwrap();
    let high = stride.offset(-1);
    let rows = ["y", "y'"].map(|name| symbols.bounded(name, Level::Thread, low(0), None));
    let inside = ["x", "x'"].map(|name| symbols.bounded(name, Level::Thread, low(0), high.clone()));
    let outside =
        ["z", "z'"].map(|name| symbols.bounded(name, Level::Thread, low(0), Some(stride.clone())));
    for (columns, count) in [(inside, 2), (outside, 1)] {
        let index = |number: usize| {
            let row = Poly::symbol(rows[number]).times(&stride).unwrap();
            row.plus(&Poly::symbol(columns[number])).unwrap()
        };
        let difference = index(0).minus(&index(1)).unwrap();
        let bounds = Bounds::new(&[], &symbols);
        let shared = |sym: Sym| [n, m].contains(&sym);
        let parts = radix::split(&difference, &shared, &mut |p| bounds.is_nonnegative(p));
        assert_eq!(parts.len(), count, "{parts:?}");
        choices(&[3, 3, 3, 3, 7, 7], &mut |values| {
            let all = [n, m, rows[0], rows[1], columns[0], columns[1]];
            let of = |sym: Sym| {
                let at = all.iter().position(|one| *one == sym).unwrap();
                values[at] + i128::from(at < 2)
            };
            let most = of(n) + of(m) - i128::from(count == 2);
            if columns.iter().all(|one| of(*one) <= most) {
                let zero = value(&difference, &of) == 0;
                assert_eq!(zero, parts.iter().all(|part| value(part, &of) == 0), "{parts:?}");
            }
        });
    }
}

/// With strides that are symbols, for all small sizes.
#[test]
fn splitting_by_symbols_is_exact() {
    let mut symbols = Symbols::default();
    let size = |symbols: &mut Symbols| {
        Poly::symbol(symbols.bounded("n", Level::Launch, Some(Poly::constant(1)), None))
    };
    let (t, g) = (size(&mut symbols), size(&mut symbols));
    let digit = |symbols: &mut Symbols, limit: &Poly| {
        let high = limit.offset(-1);
        Poly::symbol(symbols.bounded("d", Level::Thread, Some(Poly::constant(0)), high))
    };
    let mut index = || {
        let (x, b) = (digit(&mut symbols, &t), digit(&mut symbols, &g));
        let k = Poly::symbol(symbols.bounded("k", Level::Thread, Some(Poly::constant(0)), None));
        let far = k.times(&g).unwrap().times(&t).unwrap();
        x.plus(&b.times(&t).unwrap()).unwrap().plus(&far).unwrap()
    };
    let (one, other) = (index(), index());
    let difference = one.minus(&other).unwrap();
    let bounds = Bounds::new(&[], &symbols);
    let shared = |sym: Sym| symbols.get(sym).level == Level::Launch;
    let parts =
        radix::split(&difference, &shared, &mut |poly| bounds.is_nonnegative_without_sizes(poly));
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert!(parts.iter().all(|part| part.terms().count() == 2), "{parts:?}");
}

/// A polynomial that is proved to be nonnegative is nonnegative.
#[test]
fn vertices_are_sound_and_useful() {
    let mut random = Random::new(5);
    let (mut proved, mut truly) = (0, 0);
    for _ in 0..10_000 {
        let mut symbols = Symbols::default();
        let mut limits = Vec::new();
        let mut syms = Vec::new();
        for _ in 0..3 {
            let limit = 1 + random.below(4);
            let (low, high) = (Some(Poly::constant(0)), Some(Poly::constant(limit - 1)));
            let level = [Level::Launch, Level::Block, Level::Thread][random.below(3)];
            syms.push(symbols.bounded("x", level, low, high));
            limits.push(limit);
        }
        let mut any = |parts: u64| {
            let mut poly = Poly::constant(random.below(9) - 2);
            for _ in 0..1 + random.below(parts) {
                let mut term = Poly::constant(random.below(7) - 3);
                for _ in 0..random.below(3) {
                    term = term.times(&Poly::symbol(syms[random.below(3)])).unwrap();
                }
                poly = poly.plus(&term).unwrap();
            }
            poly
        };
        let goal = any(4);
        let assumed: Vec<Poly> = vec![any(2), any(2)];
        let formulas: Vec<Formula> = assumed.iter().cloned().map(Formula::ge).collect();
        let answer = Bounds::new(&formulas, &symbols).is_nonnegative(&goal);
        let mut holds = true;
        choices(&limits, &mut |values| {
            let value_of = |sym: Sym| values[syms.iter().position(|one| *one == sym).unwrap()];
            let allowed = assumed.iter().all(|one| value(one, &value_of) >= 0);
            holds &= !allowed || value(&goal, &value_of) >= 0;
        });
        assert!(holds || !answer, "{goal:?} with {assumed:?} and {limits:?}");
        proved += u32::from(answer);
        truly += u32::from(holds);
    }
    assert!(proved * 10 > truly * 6, "{proved} of {truly} were proved");
}

/// The dividend is the divisor times the quotient, plus the remainder; dividing a product gives back its factor.
#[test]
fn division_of_polynomials_is_exact() {
    let mut random = Random::new(19);
    let draw = |random: &mut Random| {
        let start = Poly::constant(random.below(7) - 3);
        (0..1 + random.below(3)).fold(start, |sum, _| {
            let mut product = Poly::constant(random.below(7) - 3);
            for _ in 0..1 + random.below(2) {
                let sym = <Sym as base::Index>::from_position(random.below(3) as usize);
                product = product.times(&Poly::symbol(sym)).unwrap();
            }
            sum.plus(&product).unwrap()
        })
    };
    let mut exact = 0;
    for _ in 0..2000 {
        let (one, divisor) = (draw(&mut random), draw(&mut random));
        if divisor.is_zero() {
            assert!(one.divided_by(&divisor).is_none());
            continue;
        }
        let (quotient, remainder) = one.divided_by(&divisor).unwrap();
        let again = divisor.times(&quotient).unwrap().plus(&remainder).unwrap();
        assert_eq!(again, one, "{one:?} by {divisor:?}");
        let product = one.times(&divisor).unwrap();
        assert_eq!(product.divided_exactly(&divisor), Some(one), "{divisor:?}");
        exact += usize::from(remainder.is_zero());
    }
    assert!((10..1900).contains(&exact), "{exact}");
}
