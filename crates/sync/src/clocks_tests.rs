//! Tests of the clocks: which events order which accesses, and the shortcuts for lanes with equal knowledge.

use super::*;

fn who(warp: u8, lane: u8) -> LaneId {
    LaneId { warp, lane }
}

#[test]
fn a_thread_is_ordered_with_itself_alone() {
    let clocks = Clocks::new(2);
    assert!(clocks.ordered(who(0, 3), clocks.now(0), who(0, 3)));
    assert!(!clocks.ordered(who(0, 3), clocks.now(0), who(0, 4)));
    assert!(!clocks.ordered(who(0, 3), clocks.now(0), who(1, 3)));
}

#[test]
fn a_warp_barrier_orders_its_lanes_and_is_transitive() {
    let mut clocks = Clocks::new(1);
    let time = clocks.now(0);
    clocks.warp_barrier(0, Mask(0b0011));
    assert!(clocks.ordered(who(0, 0), time, who(0, 1)));
    assert!(!clocks.ordered(who(0, 0), time, who(0, 2)));
    clocks.warp_barrier(0, Mask(0b0110));
    assert!(clocks.ordered(who(0, 0), time, who(0, 2)));
    assert!(!clocks.ordered(who(0, 2), time, who(0, 0)));
}

/// Tests the shortcuts for lanes with equal knowledge against clocks without shortcuts.
#[test]
fn lanes_that_know_the_same_learn_and_release_as_others_do() {
    let (mut quick, mut slow) = (Clocks::new(2), Clocks::new(2));
    let mut state = 3u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut times = vec![vec![0, 0]];
    for round in 0..3000 {
        slow.warps.iter_mut().for_each(WarpClock::separate);
        let (warp, action) = (next(2) as usize, next(4));
        let lanes = if next(4) == 0 { Mask(next(1 << 32) as u32 | 1) } else { Mask::ALL };
        match action {
            0 => [&mut quick, &mut slow].into_iter().for_each(|one| one.warp_barrier(warp, lanes)),
            1 => {
                let released = quick.release(warp, lanes);
                assert_eq!(released, slow.release(warp, lanes), "{round}");
                times.push(released.1);
            }
            _ => {
                let released = times[next(times.len() as u64) as usize].clone();
                let both = [&mut quick, &mut slow].into_iter();
                both.for_each(|one| one.acquire(warp, lanes, &released));
            }
        }
        for (one, other) in quick.warps.iter().zip(&slow.warps) {
            for lane in 0..WARP {
                assert_eq!(one.across(lane), other.across(lane), "{round}");
                assert_eq!(one.within(lane), other.within(lane), "{round}");
            }
            assert_eq!((one.now, one.released), (other.now, other.released), "{round}");
        }
    }
}

#[test]
fn accesses_before_an_exit_stay_unordered() {
    let mut clocks = Clocks::new(1);
    let (early, lanes) = (clocks.now(0), Mask(0b11));
    clocks.warp_barrier(0, lanes);
    let late = clocks.now(0);
    clocks.exit(0, Mask(0b01), true);
    clocks.warp_barrier(0, Mask(0b10));
    assert!(clocks.ordered(who(0, 0), early, who(0, 1)));
    assert!(!clocks.ordered(who(0, 0), late, who(0, 1)));
}

#[test]
fn lanes_that_took_no_part_in_a_barrier_did_not_release() {
    let mut clocks = Clocks::new(1);
    let time = clocks.now(0);
    clocks.warp_barrier(0, Mask(0b011));
    clocks.exit(0, Mask(0b100), true);
    let (_, released) = clocks.release(0, Mask(0b011));
    clocks.acquire(0, Mask(0b011), &released);
    assert!(!clocks.ordered(who(0, 2), time, who(0, 0)));
    assert!(clocks.ordered(who(0, 1), time, who(0, 0)));
}

/// Whatever all threads know is ordered before each of them, and stays so.
#[test]
fn what_all_threads_know_is_ordered_from_then_on() {
    let mut random = testing::Random::new(11);
    let mut count = 0;
    for _ in 0..40 {
        let mut clocks = Clocks::new(3);
        let (mut accesses, mut known) = (Vec::new(), Vec::new());
        for _ in 0..60 {
            let (warp, other) = (random.below(3_usize), random.below(3_usize));
            let some = Mask(random.bits() as u32 | 1);
            match random.below(4) {
                0 => clocks.warp_barrier(warp, if random.once_in(2) { some } else { Mask::ALL }),
                1 | 2 => {
                    let (_, released) = clocks.release(warp, Mask::ALL);
                    for party in [warp, other] {
                        let lanes = if random.once_in(4) { some } else { Mask::ALL };
                        clocks.acquire(party, lanes, &released);
                    }
                }
                _ => accesses.push((who(warp as u8, random.below(32_u8)), clocks.now(warp))),
            }
            known.extend(accesses.extract_if(.., |one| clocks.all_threads_know(one.0, one.1)));
            for &(earlier, time) in &known {
                let ordered = |warp: u8, lane: u8| clocks.ordered(earlier, time, who(warp, lane));
                assert!((0..3).all(|warp| (0..32).all(|lane| ordered(warp, lane))));
            }
        }
        count += known.len();
    }
    assert!(count > 100, "{count}");
}
