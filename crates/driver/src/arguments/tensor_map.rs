//! The keys of a tensor map as an argument: `box=[128,64], swizzle=128B`, from text and back.
//!
//! ```text
//! map    = "tensormap(" [ "@" FILE "," ] tensor { "," key } ")"
//! tensor = NAME | NAME "=" TENSOR                      an argument of its own, or a tensor described here
//! key    = "box=" sizes | "im2col(" "lower=" sizes, "upper=" sizes, "channels=" N, "pixels=" N ")"
//!        | "swizzle=" MODE | "elem=" TYPE | "dim=" sizes | "stride=" sizes | "offset=" N | "step=" sizes
//!        | "fill=" ("zero" | "nan") | "interleave=" MODE
//! ```
//!
//! Lists begin with the outermost dimension, as the tensor's type does. With a file of 128 bytes, as the driver
//! encodes them, only `offset` may follow. Errors are clauses. `parse.rs` reads the tensor, and `map_layout.rs` uses
//! it.

use ir::{Swizzle, TensorElement};
use std::fmt::{self, Display, Formatter};

/// Keys of a tensor map apart from its tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapKeys {
    /// The elements that a copy moves; `None` if a file states them.
    pub shape: Option<MapShape>,
    /// The layout of rows in shared memory.
    pub swizzle: Option<Swizzle>,
    /// Another type of elements than the tensor's.
    pub element: Option<TensorElement>,
    /// Other sizes, outermost first.
    pub dims: Option<Vec<u64>>,
    /// Other strides in bytes, outermost first, all but the innermost.
    pub strides: Option<Vec<u64>>,
    /// Bytes from the tensor's start.
    pub offset: u64,
    /// Element steps, outermost first.
    pub steps: Option<Vec<u64>>,
    /// Elements outside the tensor read as NaN.
    pub nan_fill: bool,
}

/// The elements that a copy moves; lists begin with the outermost dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapShape {
    /// A box.
    Box(Vec<u64>),
    /// Columns of pixels.
    Im2col {
        /// The start of the bounding box, in each spatial dimension.
        lower: Vec<i64>,
        /// The end of the bounding box.
        upper: Vec<i64>,
        /// Channels of a pixel.
        channels: u64,
        /// Pixels of a column.
        pixels: u64,
    },
}

/// The parts of `(@FILE, TENSOR, KEYS)`, as text.
pub(super) struct MapText<'t> {
    pub(super) file: Option<&'t str>,
    pub(super) name: &'t str,
    /// The tensor's type, if it is described in place.
    pub(super) inline: Option<&'t str>,
    pub(super) keys: MapKeys,
}

/// Reads the text after `tensormap`.
pub(super) fn parse(text: &str) -> Result<MapText<'_>, String> {
    let bad = |why: &str| why.to_owned();
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let inner = inner.ok_or_else(|| bad("expected tensormap(TENSOR, box=[..])"))?;
    let mut items = separated(inner)?.into_iter();
    let mut first = items.next().unwrap_or_default();
    let file = first.strip_prefix('@');
    if let Some(path) = file {
        if path.is_empty() {
            return Err(bad("expected the name of a file after `@`"));
        }
        first = items.next().ok_or_else(|| bad("expected a tensor after the file"))?;
    }
    let (name, inline) = match first.split_once('=') {
        Some((name, tensor)) => (name.trim(), Some(tensor.trim())),
        None => (first, None),
    };
    let mut keys = MapKeys::default();
    let mut seen: Vec<&str> = Vec::new();
    for item in items {
        let end = item.find(['=', '(']).unwrap_or(item.len());
        let key = item[..end].trim();
        if seen.contains(&key) {
            return Err(format!("`{key}` is given twice"));
        }
        seen.push(key);
        keys.key(key, item[end..].trim())?;
    }
    match (file, &keys.shape) {
        (None, None) => Err(bad("expected a box, such as box=[128,64]")),
        (Some(_), _) if seen.iter().any(|key| *key != "offset") => {
            Err(bad("the file defines everything except `offset`"))
        }
        _ => Ok(MapText { file, name, inline, keys }),
    }
}

impl MapKeys {
    fn key(&mut self, key: &str, rest: &str) -> Result<(), String> {
        let bad = |why: String| Err::<_, String>(why);
        if key == "im2col" {
            if self.shape.is_some() {
                return bad("a map has a box or im2col, not both".to_owned());
            }
            self.shape = Some(im2col(rest)?);
            return Ok(());
        }
        let Some(value) = rest.strip_prefix('=').map(str::trim) else {
            return bad(format!("expected `{key}=VALUE`"));
        };
        match key {
            "box" if self.shape.is_some() => {
                return bad("a map has a box or im2col, not both".to_owned());
            }
            "box" => self.shape = Some(MapShape::Box(list(value)?)),
            "swizzle" => self.swizzle = Some(lookup_name(value, &Swizzle::NAMES, "swizzle")?),
            "elem" => {
                self.element = Some(lookup_name(value, &TensorElement::NAMES, "type of elements")?)
            }
            "dim" => self.dims = Some(list(value)?),
            "stride" => self.strides = Some(list(value)?),
            "offset" => self.offset = count(value)?,
            "step" => self.steps = Some(list(value)?),
            "fill" => {
                self.nan_fill = lookup_name(value, &[("zero", false), ("nan", true)], "fill")?;
            }
            "interleave" => match value {
                "none" => {}
                _ => return bad("interleaved maps are not supported".to_owned()),
            },
            _ => {
                return bad(format!(
                    "unknown key `{key}`; the keys are box, im2col, swizzle, elem, dim, stride, offset, step, \
                     fill and interleave"
                ));
            }
        }
        Ok(())
    }
}

fn im2col(text: &str) -> Result<MapShape, String> {
    let bad = |why: String| Err::<_, String>(why);
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let Some(inner) = inner else {
        return bad("expected im2col(lower=[..], upper=[..], channels=N, pixels=N)".to_owned());
    };
    let (mut lower, mut upper, mut channels, mut pixels) = (None, None, None, None);
    for item in separated(inner)? {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        match key.trim() {
            "lower" => lower = Some(signed(value.trim())?),
            "upper" => upper = Some(signed(value.trim())?),
            "channels" => channels = Some(count(value)?),
            "pixels" => pixels = Some(count(value)?),
            key => return bad(format!("unknown key `{key}` of im2col")),
        }
    }
    match (lower, upper, channels, pixels) {
        (Some(lower), Some(upper), Some(channels), Some(pixels)) => {
            Ok(MapShape::Im2col { lower, upper, channels, pixels })
        }
        _ => bad("im2col needs lower, upper, channels and pixels".to_owned()),
    }
}

/// Splits at commas outside of brackets.
pub(super) fn separated(text: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return Err("a bracket is closed that was not opened".to_owned());
        }
    }
    if depth != 0 {
        return Err("a bracket is not closed".to_owned());
    }
    items.push(text[start..].trim());
    Ok(items)
}

fn list(text: &str) -> Result<Vec<u64>, String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("expected a list such as [128,64], found `{text}`"))?;
    inner.split(',').map(count).collect()
}

fn count(text: &str) -> Result<u64, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("`{text}` is not a number from 0 up"))
}

fn signed(text: &str) -> Result<Vec<i64>, String> {
    let bad = || format!("expected a list such as [-1,-1], found `{text}`");
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(bad)?;
    inner.split(',').map(|item| item.trim().parse().map_err(|_| bad())).collect()
}

fn lookup_name<T: Copy>(text: &str, names: &[(&str, T)], what: &str) -> Result<T, String> {
    let found = names.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        format!("`{text}` is not a {what}; expected one of {known}")
    })
}

impl Display for MapKeys {
    /// Writes each key with a comma before it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.shape {
            None => {}
            Some(MapShape::Box(sizes)) => write!(f, ", box=[{}]", comma_joined(sizes))?,
            Some(MapShape::Im2col { lower, upper, channels, pixels }) => write!(
                f,
                ", im2col(lower=[{}], upper=[{}], channels={channels}, pixels={pixels})",
                comma_joined(lower),
                comma_joined(upper)
            )?,
        }
        if let Some(swizzle) = self.swizzle {
            write!(f, ", swizzle={swizzle}")?;
        }
        if let Some(element) = self.element {
            write!(f, ", elem={element}")?;
        }
        for (key, list) in [("dim", &self.dims), ("stride", &self.strides), ("step", &self.steps)] {
            if let Some(list) = list {
                write!(f, ", {key}=[{}]", comma_joined(list))?;
            }
        }
        if self.offset != 0 {
            write!(f, ", offset={}", self.offset)?;
        }
        f.write_str(if self.nan_fill { ", fill=nan" } else { "" })
    }
}

fn comma_joined(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
