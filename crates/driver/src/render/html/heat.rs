//! Shows the difference of two kernels: both expressions and the inputs of the witness, and a map of the output. Each
//! element of the map is coloured by the distance of the two results, both kernels run on numbers.

use crate::render::escape::quoted;
use crate::report::{DifferenceWitness, HeatMap, Report};

/// The largest number of elements drawn.
const MAX_ELEMENTS: usize = 16_384;

/// Elements closer than this, relative to their size, count as equal here.
const ROUNDING: f64 = 1e-4;

pub(super) fn render(report: &Report, witness: &DifferenceWitness) -> String {
    let value =
        |value: Option<f64>| value.map_or("undefined".to_owned(), |value| value.to_string());
    let row = |name: &str, expression: &str, number: Option<f64>| {
        format!(
            "<tr><th scope=\"row\">{name}</th><td class=\"code\">{}</td><td class=\"code\">{}</td></tr>\n",
            quoted(expression),
            value(number)
        )
    };
    let [reference, optimised] = &witness.expressions;
    let rows = row("reference", reference, witness.values[0])
        + &row("optimised", optimised, witness.values[1]);
    let inputs: Vec<String> =
        witness.inputs.iter().map(|input| format!("{} = {}", input.name, input.value)).collect();
    let mut text = format!(
        "<div class=\"scrolls\" role=\"region\" aria-label=\"Both values\" tabindex=\"0\"><table class=\"witness\">\n\
         <thead><tr><th scope=\"col\">Side</th><th scope=\"col\">Expression</th><th scope=\"col\">Value</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n"
    );
    if !inputs.is_empty() {
        text.push_str(&format!(
            "<p>with <span class=\"code\">{}</span></p>\n",
            quoted(&inputs.join(", "))
        ));
    }
    if let Some(map) = &report.heat {
        text.push_str(&picture(map));
    }
    text
}

fn picture(map: &HeatMap) -> String {
    let [reference, optimised] = &map.values;
    let columns = map.shape.last().copied().unwrap_or(1).max(1) as usize;
    let columns = if map.shape.len() < 2 { columns.min(128) } else { columns };
    // Sums in another order round differently: no difference over the reals.
    let differs = |one: &f64, other: &f64| {
        let size = one.abs().max(other.abs()).max(1.0);
        !((one - other).abs() <= ROUNDING * size || one.is_nan() && other.is_nan())
    };
    let count = reference.iter().zip(optimised).filter(|(one, other)| differs(one, other)).count();
    let shown = reference.len().min(MAX_ELEMENTS);
    let rows = shown.div_ceil(columns);
    let size = (640 / columns.max(rows).max(1)).clamp(3, 24);
    let largest = reference.iter().zip(optimised).map(|(one, other)| (one - other).abs());
    let largest = largest.filter(|d| d.is_finite()).fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
    let mut cells = String::new();
    for (index, (one, other)) in reference.iter().zip(optimised).take(shown).enumerate() {
        let (x, y) = (index % columns * size, index / columns * size);
        // The larger the difference, the fuller the colour; equal elements are hollow.
        let distance = ((one - other).abs() / largest).min(1.0);
        let distance = if distance.is_finite() { distance } else { 1.0 };
        let fill = match differs(one, other) {
            false => "class=\"equal\"".to_owned(),
            true => format!("class=\"differs\" fill-opacity=\"{:.2}\"", 0.4 + 0.6 * distance),
        };
        cells.push_str(&format!(
            "<rect {fill} x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\"><title>{}[{index}]: \
             {one} against {other}</title></rect>\n",
            size - 1,
            size - 1,
            quoted(&map.output)
        ));
    }
    let (width, height) = (columns * size, rows * size);
    let more = match reference.len() - shown {
        0 => String::new(),
        more => format!("; {more} more elements are not drawn"),
    };
    format!(
        "<figure class=\"heat\"><div class=\"scrolls\" role=\"region\" aria-label=\"Elements that differ\" tabindex=\"0\">\
         <svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"Elements of {name} that differ\">\n{cells}</svg></div><figcaption>\
         {count} of {all} elements of {name} differ on these numbers{more} (filled: different, hollow: equal)</figcaption>\
         </figure>\n",
        all = reference.len(),
        name = quoted(&map.output)
    )
}
