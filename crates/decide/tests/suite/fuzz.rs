//! A slice of the random comparison; `cargo run --release -p decide --example fuzz` runs the rest.

use crate::generate::{CLASSES, Tally, trial};
use testing::Random;

#[test]
fn random_pairs_get_true_answers() {
    for class in CLASSES {
        let mut random = Random::new(7);
        let mut tally = Tally::default();
        for _ in 0..1500 {
            if let Err(what) = trial(class, &mut random, &mut tally) {
                panic!("{class:?}: {what}");
            }
        }
        let pairs: u64 = tally.equal.iter().sum();
        assert!(tally.equal[0] * 10 > pairs * 7, "{class:?}: {tally:?}");
    }
}
