//! Formats the values of a difference.

use equiv::{Difference, Enclosed};

/// The note that only constants make the difference, if so.
pub(crate) fn rounding(difference: &Difference) -> Option<String> {
    let pair = |[one, other]: &[f64; 2]| {
        format!("{one} in the reference, {other} in the optimised kernel")
    };
    let pairs: Vec<String> = difference.rounding.iter().map(pair).collect();
    (!pairs.is_empty()).then(|| {
        format!("the kernels differ only in how constants are rounded: {}", pairs.join("; "))
    })
}

/// The values of both sides: those of the kernels, if they were run.
pub(crate) fn values(difference: &Difference) -> [String; 2] {
    let of_kernels = difference.witness.as_ref().filter(|one| one.shows_difference());
    let shown = |number: fn(f64) -> String| match of_kernels {
        None => difference.values.map(|value| value.map_or("undefined".to_owned(), number)),
        Some(witness) => witness.elements.each_ref().map(|element| enclosed(element, number)),
    };
    let [one, other] = shown(number);
    // If nine digits do not distinguish them, show all.
    if one == other { shown(|value| format!("{value:?}")) } else { [one, other] }
}

fn enclosed(element: &Enclosed, number: fn(f64) -> String) -> String {
    match element {
        Enclosed::Between(low, high) if low == high => number(*low),
        Enclosed::Between(low, high) => number(low / 2.0 + high / 2.0),
        Enclosed::Infinite { negative: true } => "-inf".to_owned(),
        Enclosed::Infinite { negative: false } => "inf".to_owned(),
        Enclosed::Undefined(why) => format!("undefined ({why})"),
        Enclosed::Unsure(why) => format!("not known ({why})"),
        Enclosed::Unwritten => "not written".to_owned(),
    }
}

/// Formats a number with nine digits, which distinguish 32-bit floats, or fewer if they are exact.
pub(super) fn number(value: f64) -> String {
    let rounded = format!("{value:.8e}").parse::<f64>();
    let shown = match rounded {
        Ok(rounded) => rounded,
        Err(_) => value,
    };
    let magnitude = shown.abs();
    match shown == 0.0 || (1e-4..1e9).contains(&magnitude) {
        true => shown.to_string(),
        false => format!("{shown:e}"),
    }
}
