//! Who wrote which element: a tile for each element of an array, coloured by its writer. Colours repeat after
//! [`COLOURS`] writers, so tiles also have the writer's number where it fits, and a table has them all in words.

use crate::render::escape::quoted;
use crate::report::Tiles;

/// Colours in the style sheet: `.w0` to `.w7`.
const COLOURS: usize = 8;

/// Writers in the legend.
const MAX_WRITERS: usize = 16;

/// Rows of the table of writers.
const MAX_RUNS: usize = 64;

/// Tiles in a row, of arrays with one dimension.
const COLUMNS: usize = 32;

/// Width of the picture.
const WIDTH: usize = 704;

pub(super) fn render((number, tiles): (usize, &Tiles), id: &str) -> String {
    let id = format!("{id}-t{number}");
    let columns =
        tiles.shape.last().map_or(1, |&size| usize::try_from(size).unwrap_or(usize::MAX)).max(1);
    let columns = if tiles.shape.len() < 2 { columns.min(COLUMNS) } else { columns };
    let rows = tiles.writers.len().div_ceil(columns);
    let size = (WIDTH / columns).clamp(5, 22);
    let (width, height) = (columns * size, rows * size);
    let mut cells = String::new();
    for (index, writer) in tiles.writers.iter().enumerate() {
        cells.push_str(&cell(
            tiles,
            index,
            writer.as_ref(),
            (index % columns * size, index / columns * size),
            size,
        ));
    }
    let side = tiles.side.map(|side| format!(", {side}")).unwrap_or_default();
    // Where two kernels differ and both wrote everything, the writers rarely explain it.
    let open = if tiles.side.is_none() || tiles.writers.contains(&None) { " open" } else { "" };
    let title = format!("Who wrote which element of {}{side}", tiles.array);
    format!(
        "<details class=\"writers\"{open}><summary id=\"{id}\">{title}</summary>\n<figure class=\"tiles\">\n<div class=\"scrolls\" role=\"region\" aria-labelledby=\"{id}\" \
         tabindex=\"0\"><svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-labelledby=\"{id}\" aria-describedby=\"{id}-words\">\n{cells}</svg></div>\n{}<figcaption id=\"{id}-words\">{}</figcaption>\n{}\
         </figure></details>\n",
        legend(tiles),
        words(tiles),
        table(tiles),
        title = quoted(&title),
    )
}

fn name(tiles: &Tiles, index: usize) -> String {
    let number = tiles.first + index as u64;
    match tiles.shape.len() {
        0 | 1 => format!("{}[{number}]", tiles.array),
        _ => format!("{}[{}]", tiles.array, equiv::indices(number, &tiles.shape)),
    }
}

fn is_marked(tiles: &Tiles, index: usize) -> bool {
    tiles.marked == Some(tiles.first + index as u64)
}

fn cell(
    tiles: &Tiles,
    index: usize,
    writer: Option<&(usize, String)>,
    (x, y): (usize, usize),
    size: usize,
) -> String {
    let class =
        writer.map_or_else(|| "none".to_owned(), |(group, _)| format!("w{}", group % COLOURS));
    let marked = if is_marked(tiles, index) { " marked" } else { "" };
    let who = writer.map_or("never written", |(_, who)| who);
    let inner = size - 1;
    let mut text = format!(
        "<rect class=\"{class}{marked}\" x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{inner}\"><title>{}: {}</title></rect>\n",
        quoted(&name(tiles, index)),
        quoted(who)
    );
    if let (true, Some((group, _))) = (size >= 18, writer) {
        text.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" aria-hidden=\"true\">{group}</text>\n",
            x + inner / 2,
            y + inner - 6
        ));
    }
    text
}

/// The writers with their colours.
fn legend(tiles: &Tiles) -> String {
    let item = |(number, group): (usize, &String)| {
        format!(
            "<li><span class=\"swatch w{}\">{number}</span> {}</li>\n",
            number % COLOURS,
            quoted(group)
        )
    };
    let mut items: String = tiles.groups.iter().enumerate().take(MAX_WRITERS).map(item).collect();
    if let more @ 1.. = tiles.groups.len().saturating_sub(MAX_WRITERS) {
        items.push_str(&format!("<li>and {more} more</li>\n"));
    }
    if tiles.writers.contains(&None) {
        items.push_str("<li><span class=\"swatch none\"></span> never written</li>\n");
    }
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}

fn words(tiles: &Tiles) -> String {
    let shown = tiles.writers.len() as u64;
    let never = tiles.writers.iter().filter(|writer| writer.is_none()).count();
    let mut text = match shown == tiles.all {
        true => format!("all {shown} elements"),
        false => format!("{shown} of {} elements are shown", tiles.all),
    };
    text.push_str(&match never {
        0 => "; each of them was written".to_owned(),
        1 => "; 1 of them was never written".to_owned(),
        count => format!("; {count} of them were never written"),
    });
    let marked = (0..tiles.writers.len()).find(|&index| is_marked(tiles, index));
    if let Some(index) = marked {
        let who = match &tiles.writers[index] {
            Some((_, who)) => format!("last written by {who}"),
            None => "never written".to_owned(),
        };
        text.push_str(&format!(". Framed: {}, {who}", name(tiles, index)));
    }
    quoted(&(text + "."))
}

/// Runs of elements with the same group of writers, in words.
fn table(tiles: &Tiles) -> String {
    let group = |index: usize| tiles.writers[index].as_ref().map(|(group, _)| *group);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for index in 0..tiles.writers.len() {
        match runs.last_mut() {
            Some((_, last)) if group(*last) == group(index) => *last = index,
            _ => runs.push((index, index)),
        }
    }
    let row = |&(first, last): &(usize, usize)| {
        let elements = match first == last {
            true => name(tiles, first),
            false => format!("{} to {}", name(tiles, first), name(tiles, last)),
        };
        let who = group(first).map_or("nothing", |group| &tiles.groups[group]);
        format!("<tr><td><code>{}</code></td><td>{}</td></tr>\n", quoted(&elements), quoted(who))
    };
    let rows: String = runs.iter().take(MAX_RUNS).map(row).collect();
    let more = match runs.len().saturating_sub(MAX_RUNS) {
        0 => String::new(),
        more => format!("<p>{more} more rows are left out.</p>\n"),
    };
    format!(
        "<details><summary>As a table</summary>\n<table>\n<thead><tr><th scope=\"col\">Elements</th><th scope=\"col\">Last written by</th>\
         </tr></thead>\n<tbody>\n{rows}</tbody></table>\n{more}</details>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles() -> Tiles {
        let writer =
            |group: usize| Some((group, format!("thread ({group},0,0) of block (0,0,0), <k>:4")));
        Tiles {
            array: "<y>".to_owned(),
            shape: vec![4],
            first: 0,
            all: 4,
            groups: vec!["warp 0".to_owned(), "warp 1".to_owned()],
            writers: vec![writer(0), writer(0), writer(1), None],
            marked: Some(2),
            side: Some("optimised"),
        }
    }

    #[test]
    fn a_picture_is_also_in_words() {
        let html = render((0, &tiles()), "f0-0");
        for part in [
            "&lt;y&gt;[0] to &lt;y&gt;[1]</code></td><td>warp 0",
            "&lt;y&gt;[3]</code></td><td>nothing",
            "all 4 elements; 1 of them was never written. Framed: &lt;y&gt;[2], last written by thread (1,0,0)",
            "class=\"w1 marked\"",
            "<title>&lt;y&gt;[3]: never written</title>",
            "<span class=\"swatch none\">",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<y>") && !html.contains("<k>"), "{html}");
    }

    #[test]
    fn a_part_of_an_array_is_numbered_from_its_start() {
        let part = Tiles { first: 64, all: 9000, marked: Some(66), ..tiles() };
        let html = render((0, &part), "f");
        assert!(
            html.contains("4 of 9000 elements are shown") && html.contains("Framed: &lt;y&gt;[66]"),
            "{html}"
        );
    }
}
