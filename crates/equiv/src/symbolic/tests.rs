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
