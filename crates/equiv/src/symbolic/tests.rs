//! Terms that lanes share.

use super::*;

/// After a butterfly all lanes have the same sum, whatever they added first.
#[test]
fn lanes_that_exchange_their_sums_meet() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 32).unwrap();
    let mut domain = Symbolic::new(Arc::new(inputs), FxHashMap::default(), true);
    let own: Values = std::array::from_fn(|lane| lane as Value + 1);
    let mut sums = own;
    for distance in [16, 8, 4, 2, 1] {
        let others: Values = std::array::from_fn(|lane| sums[lane ^ distance]);
        let before = sums;
        domain.binary(Binary::Add, [&before, &others], Mask::ALL, &mut sums);
    }
    let terms: BTreeSet<Term> = sums.iter().map(|&sum| domain.term(sum)).collect();
    assert_eq!(terms.len(), 1);
    let mut differences = [0; 32];
    domain.binary(Binary::Sub, [&own, &sums], Mask::ALL, &mut differences);
    let terms: BTreeSet<Term> = differences.iter().map(|&sum| domain.term(sum)).collect();
    assert_eq!(terms.len(), 32);
}

/// The order of operands is forgotten where it does not matter, and only there.
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
