//! Tests of terms shared by lanes.

use super::*;
use testing::Random;

/// After a butterfly all lanes have the same sum, although they added in different orders.
#[test]
fn lanes_that_exchange_their_sums_meet() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 32).unwrap();
    let mut domain = Symbolic::new(Arc::new(inputs), FxHashMap::default(), true);
    let summands: Values = std::array::from_fn(|lane| lane as Value + 1);
    let mut sums = summands;
    for distance in [16, 8, 4, 2, 1] {
        let others: Values = std::array::from_fn(|lane| sums[lane ^ distance]);
        let before = sums;
        domain.binary(Binary::Add, [&before, &others], Mask::ALL, &mut sums);
    }
    let terms: BTreeSet<Term> = sums.iter().map(|&sum| domain.term(sum)).collect();
    assert_eq!(terms.len(), 1);
    let mut differences = [0; 32];
    domain.binary(Binary::Sub, [&summands, &sums], Mask::ALL, &mut differences);
    let terms: BTreeSet<Term> = differences.iter().map(|&sum| domain.term(sum)).collect();
    assert_eq!(terms.len(), 32);
}

/// The order of operands is canonical where it does not matter, and only there.
#[test]
fn operands_are_exchanged_where_they_may_be() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 2).unwrap();
    let mut domain = Symbolic::new(Arc::new(inputs), FxHashMap::default(), true);
    let (one, other) = ([1; 32], [2; 32]);
    let same = |domain: &mut Symbolic, op: Binary| {
        let mut results = [[0; 32]; 2];
        domain.binary(op, [&one, &other], Mask::ALL, &mut results[0]);
        domain.binary(op, [&other, &one], Mask::ALL, &mut results[1]);
        domain.term(results[0][0]) == domain.term(results[1][0])
    };
    for op in [Binary::Add, Binary::Mul, Binary::Min, Binary::Max] {
        assert!(same(&mut domain, op), "{op:?}");
    }
    for op in [Binary::Sub, Binary::Div, Binary::CopySign] {
        assert!(!same(&mut domain, op), "{op:?}");
    }
}

/// Products of inputs have no terms at first. Whatever operations follow, in whichever lanes, the values must
/// equal those of the same operations on numbers.
#[test]
fn products_without_terms_have_the_right_values() {
    let number = |input: usize| input as i64 % 7 - 3;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut inputs = Inputs::new();
        inputs.tensor("x", 64).unwrap();
        let mut domain = Symbolic::new(Arc::new(inputs), FxHashMap::default(), true);
        let mut rows: Vec<(Values, [i64; 32])> = Vec::new();
        for _ in 0..3 {
            let values: Values = std::array::from_fn(|_| random.below(64_u32) + 1);
            rows.push((values, values.map(|value| number(value as usize - 1))));
        }
        for _ in 0..60 {
            let inputs_only = random.chance(50);
            let mut pick =
                || random.below(if inputs_only { 3 } else { rows.len() as u64 }) as usize;
            let (a, b) = (rows[pick()], rows[pick()]);
            let (last, (mut out, mut numbers)) = (rows[rows.len() - 1], rows[pick()]);
            let lanes = Mask([u32::MAX, random.bits() as u32][random.below(2_usize)]);
            let op = random.below(4_u32);
            for lane in lanes.iter() {
                numbers[lane] = match op {
                    0 | 1 => a.1[lane].wrapping_mul(b.1[lane]),
                    2 => a.1[lane].wrapping_add(last.1[lane]),
                    _ => last.1[lane].wrapping_sub(a.1[lane]),
                };
            }
            match op {
                0 | 1 => domain.binary(Binary::Mul, [&a.0, &b.0], lanes, &mut out),
                2 => domain.binary(Binary::Add, [&a.0, &last.0], lanes, &mut out),
                _ => domain.binary(Binary::Sub, [&last.0, &a.0], lanes, &mut out),
            }
            if numbers.iter().all(|number| number.unsigned_abs() < 1 << 40) {
                rows.push((out, numbers));
            }
        }
        for (values, numbers) in rows {
            let terms = values.map(|value| domain.term(value));
            let found = decide::evaluate(&domain.terms, &terms, &|input| {
                Number::from(number(input.position()))
            });
            for (found, expected) in found.iter().zip(numbers) {
                let decide::Value::Real(found) = found else { panic!("{found:?}") };
                assert_eq!(found.to_f64_lossy(), expected as f64, "seed {seed}");
            }
        }
    }
}

/// Equal products share one term, in any order of requests and factors.
#[test]
fn equal_products_have_one_term() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 64).unwrap();
    let mut domain = Symbolic::new(Arc::new(inputs), FxHashMap::default(), true);
    let a: Values = std::array::from_fn(|lane| lane as Value + 1);
    let b: Values = std::array::from_fn(|lane| lane as Value + 33);
    let mut products = [[0; 32]; 3];
    domain.binary(Binary::Mul, [&a, &b], Mask::ALL, &mut products[0]);
    domain.binary(Binary::Mul, [&b, &a], Mask::ALL, &mut products[1]);
    domain.binary(Binary::Mul, [&[40; 32], &[8; 32]], Mask::ALL, &mut products[2]);
    for (one, other) in products[1].into_iter().zip(products[0]) {
        assert_eq!(domain.term(one), domain.term(other));
    }
    assert_eq!(domain.term(products[2][0]), domain.term(products[0][7]));
}
