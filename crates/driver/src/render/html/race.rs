//! A race as a picture: both threads from top to bottom on the lines of the source, with nothing that joins them.

use crate::render::escape::quoted;
use crate::report::{RaceBarrier, RaceLane, RacePicture, ShownLine};

const WIDTH: usize = 640;
const HEIGHT: usize = 266;
/// The middle of each lane, and the width of its boxes.
const MIDDLES: [usize; 2] = [160, 480];
const BOX: usize = 300;
/// Characters that fit into a box.
const FITS: usize = 35;

pub(super) fn render(picture: &RacePicture, id: &str) -> String {
    let [first, second] = &picture.lanes;
    let [one, other] = MIDDLES;
    let lanes = lane(first, one) + &lane(second, other);
    // The access that was executed first is above, and between the two the missing order.
    let accesses = access(first, one, 112) + &access(second, other, 204);
    format!(
        "<figure class=\"race\"><div class=\"scrolls\" role=\"region\" aria-label=\"Picture of the race\" tabindex=\"0\">\n\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-labelledby=\"{id}-race\" aria-describedby=\"{id}-race-words\">\n<title id=\"{id}-race\">The race on {about}</title>\n\
         {lanes}<line class=\"wrong\" x1=\"{one}\" y1=\"140\" x2=\"{other}\" y2=\"188\" stroke-dasharray=\"5 4\"/>\n\
         <text class=\"wrong\" x=\"{middle}\" y=\"168\" text-anchor=\"middle\">{missing}</text>\n{accesses}</svg></div>\n\
         <figcaption id=\"{id}-race-words\">{about}: {words_of_first}, then {words_of_second}; {missing}.</figcaption></figure>\n",
        about = quoted(&picture.about),
        middle = (one + other) / 2,
        missing = quoted(picture.missing),
        words_of_first = words(first),
        words_of_second = words(second),
    )
}

/// A lane in words, for the caption.
fn words(lane: &RaceLane) -> String {
    let RaceLane { thread, block, access, at, .. } = lane;
    let place = format!("{}:{}", at.path, at.line);
    let barrier = match &lane.barrier {
        RaceBarrier::At(passed) => format!(", last synchronised at line {}", passed.line),
        RaceBarrier::Never => ", before it reached any barrier".to_owned(),
        RaceBarrier::Unknown => String::new(),
    };
    quoted(&format!("thread {thread} of block {block} {access} at {place}{barrier}"))
}

fn lane(lane: &RaceLane, x: usize) -> String {
    let barrier = match &lane.barrier {
        RaceBarrier::At(passed) => format!(
            "<line class=\"barrier\" x1=\"{}\" y1=\"76\" x2=\"{}\" y2=\"76\"/>\n<text x=\"{x}\" y=\"68\" \
             text-anchor=\"middle\">{}</text>\n",
            x - BOX / 2,
            x + BOX / 2,
            quoted(&line(passed))
        ),
        RaceBarrier::Never => {
            format!(
                "<text class=\"faint\" x=\"{x}\" y=\"68\" text-anchor=\"middle\">no barrier before</text>\n"
            )
        }
        RaceBarrier::Unknown => String::new(),
    };
    format!(
        "<text x=\"{x}\" y=\"18\" text-anchor=\"middle\">thread {}</text>\n<text x=\"{x}\" y=\"38\" \
         text-anchor=\"middle\">block {}</text>\n<line class=\"axis\" x1=\"{x}\" y1=\"76\" x2=\"{x}\" y2=\"{}\"/>\n{barrier}",
        quoted(&lane.thread),
        quoted(&lane.block),
        HEIGHT - 6
    )
}

/// The line of an access in a box, and above it what the thread does.
fn access(lane: &RaceLane, x: usize, y: usize) -> String {
    let left = x - BOX / 2;
    format!(
        "<rect class=\"box\" x=\"{left}\" y=\"{}\" width=\"{BOX}\" height=\"44\" rx=\"4\"/>\n<text x=\"{x}\" y=\"{y}\" \
         text-anchor=\"middle\"><tspan class=\"strong\">{}</tspan></text>\n<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        y - 16,
        quoted(&lane.access),
        y + 18,
        quoted(&line(&lane.at))
    )
}

/// `12: tile[i] = x[i];`, cut to fit.
fn line(shown: &ShownLine) -> String {
    let text = shown.text.split("//").next().unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!("{}: {text}", shown.line);
    match text.char_indices().nth(FITS) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text,
    }
}
