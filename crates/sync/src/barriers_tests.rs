//! Tests of the barriers of a block: matching of registrations, the order they establish, and misuse.

use super::*;

/// A registration of a whole warp, to wait or to arrive.
fn registration(warp: usize, waits: bool, count: Option<u32>) -> Registration {
    let waiting = if waits { Mask::ALL } else { Mask::NONE };
    Registration { warp, lanes: Mask::ALL, waiting, count, reduces: false, site: 0 }
}

fn fifth_lane(warp: u8) -> LaneId {
    LaneId { warp, lane: 5 }
}

#[test]
fn chains_through_a_third_warp_order_memory() {
    let mut clocks = Clocks::new(3);
    let mut barriers = Barriers::new(3);
    let time = clocks.now(0);
    for (id, pair) in [(1, [0, 1]), (2, [1, 2])] {
        for warp in pair {
            let registered =
                barriers.register(&mut clocks, None, id, registration(warp, true, Some(64)));
            assert_eq!(registered, Ok(None));
        }
        assert!(barriers.is_complete(id));
        barriers.release(&mut clocks, None, id);
    }
    assert!(clocks.ordered(fifth_lane(0), time, fifth_lane(2)));
    assert!(!clocks.ordered(fifth_lane(2), time, fifth_lane(0)));
}

#[test]
fn the_last_warp_learns_only_what_ended_warps_passed_on() {
    // Warp 1 arrives for warp 2 before it waits for warp 0; both end; warp 2 is alone.
    let mut clocks = Clocks::new(3);
    let mut barriers = Barriers::new(3);
    let time = clocks.now(0);
    barriers.register(&mut clocks, None, 1, registration(0, false, Some(64))).unwrap();
    barriers.register(&mut clocks, None, 2, registration(1, false, Some(64))).unwrap();
    barriers.register(&mut clocks, None, 1, registration(1, true, Some(64))).unwrap();
    barriers.release(&mut clocks, None, 1);
    for warp in [0, 1] {
        barriers.exit(&mut clocks, warp, Mask::ALL, false);
    }
    barriers.register(&mut clocks, None, 2, registration(2, true, Some(64))).unwrap();
    barriers.release(&mut clocks, None, 2);
    assert!(!clocks.ordered(fifth_lane(0), time, fifth_lane(2)));
    assert!(clocks.ordered(fifth_lane(1), time, fifth_lane(2)));
}

#[test]
fn releases_of_an_exited_lane_are_not_repeated_by_its_warp() {
    // Lane 0 arrives and exits, and no warp waits there; the other lanes meet warp 1 at another barrier.
    let mut clocks = Clocks::new(2);
    let mut barriers = Barriers::new(2);
    let time = clocks.now(0);
    barriers.register(&mut clocks, None, 3, registration(0, false, Some(64))).unwrap();
    barriers.exit(&mut clocks, 0, Mask::one(0), true);
    let rest = Mask::ALL.without(Mask::one(0));
    let remaining = Registration { lanes: rest, waiting: rest, ..registration(0, true, Some(64)) };
    barriers.register(&mut clocks, None, 1, remaining).unwrap();
    barriers.register(&mut clocks, None, 1, registration(1, true, Some(64))).unwrap();
    barriers.release(&mut clocks, None, 1);
    let exited = LaneId { warp: 0, lane: 0 };
    assert!(!clocks.ordered(exited, time, fifth_lane(1)));
    assert!(clocks.ordered(fifth_lane(0), time, fifth_lane(1)));
    // A warp that waits at the other barrier still acquires it.
    barriers.register(&mut clocks, None, 3, registration(1, true, Some(64))).unwrap();
    barriers.release(&mut clocks, None, 3);
    assert!(clocks.ordered(exited, time, fifth_lane(1)));
}

#[test]
fn an_arrival_releases_and_does_not_acquire() {
    let mut clocks = Clocks::new(2);
    let mut barriers = Barriers::new(2);
    let times = [clocks.now(0), clocks.now(1)];
    barriers.register(&mut clocks, None, 1, registration(0, false, Some(64))).unwrap();
    barriers.register(&mut clocks, None, 1, registration(1, true, Some(64))).unwrap();
    barriers.release(&mut clocks, None, 1);
    assert!(clocks.ordered(fifth_lane(0), times[0], fifth_lane(1)));
    assert!(!clocks.ordered(fifth_lane(1), times[1], fifth_lane(0)));
    let (one, other) = (LaneId { warp: 0, lane: 0 }, LaneId { warp: 0, lane: 1 });
    assert!(!clocks.ordered(one, times[0], other), "lanes of its own warp learn nothing either");
}

#[test]
fn the_first_command_of_a_thread_can_misuse_a_barrier() {
    // Warp 0 registers twice, warps 1 and 2 once, two to a generation: the matching is not unique.
    let mut clocks = Clocks::new(3);
    let mut barriers = Barriers::new(3);
    for warp in [0, 1] {
        barriers.register(&mut clocks, None, 0, registration(warp, true, Some(64))).unwrap();
    }
    barriers.release(&mut clocks, None, 0);
    assert_eq!(barriers.register(&mut clocks, None, 0, registration(0, true, Some(64))), Ok(None));
    let reuse = barriers.register(&mut clocks, None, 0, registration(2, true, Some(64)));
    assert!(matches!(reuse, Ok(Some(BarrierReuse { generation: 1, .. }))), "{reuse:?}");
}

#[test]
fn barriers_of_one_warp_each_cannot_be_mistaken_for_each_other() {
    let mut clocks = Clocks::new(2);
    let mut barriers = Barriers::new(2);
    for warp in [0, 1, 0] {
        let reuse = barriers.register(&mut clocks, None, 0, registration(warp, true, Some(32)));
        assert_eq!(reuse, Ok(None));
        barriers.release(&mut clocks, None, 0);
    }
    let reuse = barriers.register(&mut clocks, None, 0, registration(0, true, Some(64)));
    assert!(
        matches!(reuse, Ok(Some(_))),
        "warp 1 could still register for a generation of its own"
    );
}

#[test]
fn a_barrier_without_a_count_stops_waiting_for_exited_threads() {
    let mut clocks = Clocks::new(2);
    let mut barriers = Barriers::new(2);
    barriers.register(&mut clocks, None, 0, registration(0, true, None)).unwrap();
    barriers.register(&mut clocks, None, 1, registration(0, true, Some(64))).unwrap();
    assert!(!barriers.is_complete(0));
    barriers.exit(&mut clocks, 1, Mask::ALL, false);
    assert!(barriers.is_complete(0));
    assert!(!barriers.is_complete(1));
}

/// Warp 0 arrives and waits in one generation. Then warp 1, which is not ordered after warp 0, does the same.
#[test]
fn a_warp_that_registers_twice_counts_twice() {
    let mut clocks = Clocks::new(2);
    let mut barriers = Barriers::new(2);
    for (warp, expected) in [(0, true), (1, false)] {
        barriers.register(&mut clocks, None, 1, registration(warp, false, Some(64))).unwrap();
        assert!(!barriers.is_complete(1));
        let reuse = barriers.register(&mut clocks, None, 1, registration(warp, true, Some(64)));
        assert_eq!(reuse == Ok(None), expected, "{reuse:?}");
        assert!(barriers.is_complete(1));
        let released = barriers.release(&mut clocks, None, 1);
        assert_eq!(released.waiting, [(warp, Mask::ALL)]);
    }
}

#[test]
fn misuse_is_named() {
    let mut clocks = Clocks::new(3);
    let mut barriers = Barriers::new(3);
    let mut register = |registration| barriers.register(&mut clocks, None, 0, registration);
    assert_eq!(register(registration(0, true, Some(40))), Err(BarrierMisuse::Count(40)));
    assert_eq!(register(registration(0, false, Some(96))), Ok(None));
    assert_eq!(register(registration(0, false, Some(96))), Ok(None), "a warp may register again");
    let mixed = BarrierMisuse::MixedCounts { here: Some(64), before: Some(96), site: 0 };
    assert_eq!(register(registration(1, true, Some(64))), Err(mixed));
    let mixed = BarrierMisuse::MixedCounts { here: None, before: Some(96), site: 0 };
    assert_eq!(
        register(registration(1, true, None)),
        Err(mixed),
        "though the block has 96 threads"
    );
    let reduces = Registration { reduces: true, ..registration(2, true, Some(96)) };
    assert_eq!(register(reduces), Err(BarrierMisuse::MixedKinds { site: 0 }));
}
