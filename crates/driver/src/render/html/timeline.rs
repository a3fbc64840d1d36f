//! A race as a picture: the last actions of each of the two threads, from top to bottom, with nothing that joins
//! them.

use crate::render::escape::quoted;
use crate::report::{Side, ThreadWitness};

const WIDTH: usize = 560;
const LEFT: [usize; 2] = [150, 410];

pub(super) fn render(witness: &ThreadWitness) -> String {
    let [first, second] = &witness.sides[..] else { return String::new() };
    let mut picture = String::new();
    for (side, x) in [first, second].into_iter().zip(LEFT) {
        picture.push_str(&lane(side, x));
    }
    // The accesses, the one that was executed first above, and between them the missing order.
    let [one, other] = LEFT;
    picture.push_str(&access(first, one, 120));
    picture.push_str(&access(second, other, 190));
    picture.push_str(&format!(
        "<line class=\"wrong\" x1=\"{one}\" y1=\"140\" x2=\"{other}\" y2=\"172\" \
         stroke-dasharray=\"5 4\"/>\n<text class=\"wrong\" x=\"{}\" y=\"138\" \
         text-anchor=\"middle\">nothing orders them</text>\n",
        (one + other) / 2
    ));
    let array = witness
        .array
        .as_ref()
        .map(|array| format!("{} memory, byte {} of {}", array.space, array.offset, array.name));
    format!(
        "<figure class=\"timeline\"><svg viewBox=\"0 0 {WIDTH} 240\" width=\"{WIDTH}\" height=\"240\" \
         role=\"img\" aria-label=\"two threads and their accesses\">\n{picture}</svg>\
         <figcaption>{}</figcaption></figure>\n",
        quoted(&array.unwrap_or_default())
    )
}

fn lane(side: &Side, x: usize) -> String {
    let name = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let barrier = match side.barrier {
        Some(line) => format!(
            "<line class=\"barrier\" x1=\"{}\" y1=\"70\" x2=\"{}\" y2=\"70\"/>\n<text x=\"{x}\" y=\"64\" \
             text-anchor=\"middle\">barrier, PTX line {line}</text>\n",
            x - 90,
            x + 90
        ),
        None => {
            format!("<text x=\"{x}\" y=\"64\" text-anchor=\"middle\">no barrier before</text>\n")
        }
    };
    format!(
        "<text x=\"{x}\" y=\"18\" text-anchor=\"middle\">thread {}</text>\n<text x=\"{x}\" y=\"36\" \
         text-anchor=\"middle\">block {}{}</text>\n<line class=\"axis\" x1=\"{x}\" y1=\"72\" x2=\"{x}\" \
         y2=\"230\"/>\n{barrier}",
        name(side.thread),
        name(side.block),
        side.rank.map_or_else(String::new, |rank| format!(", rank {rank}"))
    )
}

fn access(side: &Side, x: usize, y: usize) -> String {
    let how = if side.asynchronous { " (copy)" } else { "" };
    let label = format!("{}{how}, PTX line {}", side.access, side.line);
    format!(
        "<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"200\" height=\"24\" rx=\"4\"/>\n<text x=\"{x}\" \
         y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        x - 100,
        y - 16,
        y,
        quoted(&label)
    )
}
