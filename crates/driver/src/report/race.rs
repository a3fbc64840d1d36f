//! Races as pictures: both threads, the last barrier of each, and the lines of their accesses.

use super::shown_line::shown_line;
use super::{RaceBarrier, RaceLane, RacePicture, ShownLine};
use crate::execute::FinishedRun;
use crate::source_lines::source_lines;
use crate::sync_findings;
use base::Label;
use exec::{Fault, Place, Race, RaceSide};

/// The picture of a fault, if it is a race.
pub(super) fn of_fault(finished: &FinishedRun<'_>, fault: &Fault) -> Option<RacePicture> {
    let Fault::Race(race) = fault else { return None };
    Some(RacePicture {
        lanes: race.sides.each_ref().map(|side| lane(finished, side)),
        about: sync_findings::race_element(race).replace('`', ""),
        missing: missing(race),
    })
}

/// Names the missing order or fence between the two accesses.
fn missing(race: &Race) -> &'static str {
    match () {
        () if race.lacks_fence_after_read() || race.unseen || race.unseen_map => {
            "no proxy fence between them"
        }
        () if race.sides[0].in_flight => "no thread waits for the copy",
        () => "nothing orders them",
    }
}

fn lane(finished: &FinishedRun<'_>, side: &RaceSide) -> RaceLane {
    let name = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let rank = side.thread.rank.map_or_else(String::new, |rank| format!(", rank {rank}"));
    RaceLane {
        thread: name(side.thread.thread),
        block: format!("{}{rank}", name(side.thread.block)),
        barrier: match side.passed {
            Some(passed) => RaceBarrier::At(Box::new(line(finished, passed.place))),
            None => RaceBarrier::Never,
        },
        access: sync_findings::does(side, ""),
        at: line(finished, side.place),
    }
}

/// The line of a place, as shown to the reader.
fn line(finished: &FinishedRun<'_>, place: Place) -> ShownLine {
    let origin = source_lines(place, finished.program()).into();
    shown_line(&Label { span: place.span, message: "".into(), origin }, finished.input())
}
