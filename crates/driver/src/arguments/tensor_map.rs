//! Tensor maps as arguments: `tensormap(A, box=[128,64], swizzle=128B)`, as text.
//!
//! ```text
//! map    = "tensormap(" [ "@" FILE "," ] tensor { "," key } ")"
//! tensor = NAME | NAME "=" TENSOR                      an argument of its own, or one that exists behind maps only
//! key    = "box=" sizes | "im2col(" "lower=" sizes, "upper=" sizes, "channels=" N, "pixels=" N ")"
//!        | "swizzle=" MODE | "elem=" TYPE | "dim=" sizes | "stride=" sizes | "offset=" N | "step=" sizes
//!        | "fill=" ("zero" | "nan") | "interleave=" MODE
//! ```
//!
//! Lists begin with the outermost dimension, as the tensor's type does. With a file of 128 bytes, as the driver encodes them, only
//! `offset` may follow. What a map needs of its tensor is computed in `map_layout.rs`.

use super::parse::{bracketed, count, counts, is_name, number, tensor_text};
use super::{Number, ParseReason, TensorSpec};
use ir::{Swizzle, TensorElement};
use std::fmt::{self, Display, Formatter};

/// A tensor map: what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMapSpec {
    /// A file with the 128 bytes.
    pub file: Option<String>,
    /// The tensor.
    pub tensor: String,
    /// Its type, if it exists behind maps only.
    pub inline: Option<TensorSpec>,
    /// Which elements a copy moves; the file tells, if there is one.
    pub shape: Option<MapShape>,
    /// How rows lie in shared memory.
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
    /// What is outside reads as NaN.
    pub nan_fill: bool,
}

/// Which elements a copy moves; lists begin with the outermost dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapShape {
    /// A box.
    Box(Vec<u64>),
    /// Columns of pixels.
    Im2col {
        /// Where the bounding box begins, in each spatial dimension.
        lower: Vec<i64>,
        /// Where it ends.
        upper: Vec<i64>,
        /// Channels of a pixel.
        channels: u64,
        /// Pixels of a column.
        pixels: u64,
    },
}

/// Reads what follows `tensormap`.
pub(super) fn parse(text: &str) -> Result<TensorMapSpec, ParseReason> {
    let bad = |why: &str| ParseReason::TensorMap(why.to_owned());
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let inner = inner.ok_or_else(|| bad("expected tensormap(TENSOR, box=[..])"))?;
    let mut items = separated(inner)?.into_iter();
    let mut first = items.next().unwrap_or_default();
    let file = first.strip_prefix('@').map(str::to_owned);
    if let Some(path) = &file {
        if path.is_empty() {
            return Err(bad("expected the name of a file after `@`"));
        }
        first = items.next().ok_or_else(|| bad("expected a tensor after the file"))?;
    }
    let (name, inline) = match first.split_once('=') {
        Some((name, tensor)) => (name.trim(), Some(tensor_text(tensor.trim())?)),
        None => (first, None),
    };
    if !is_name(name) {
        return Err(ParseReason::TensorMap(format!("`{name}` is not the name of a tensor")));
    }
    let mut map = TensorMapSpec {
        file,
        tensor: name.to_owned(),
        inline,
        shape: None,
        swizzle: None,
        element: None,
        dims: None,
        strides: None,
        offset: 0,
        steps: None,
        nan_fill: false,
    };
    let mut seen: Vec<&str> = Vec::new();
    for item in items {
        let end = item.find(['=', '(']).unwrap_or(item.len());
        let key = item[..end].trim();
        if seen.contains(&key) {
            return Err(ParseReason::TensorMap(format!("`{key}` is given twice")));
        }
        seen.push(key);
        map.key(key, item[end..].trim())?;
    }
    match (&map.file, &map.shape) {
        (None, None) => Err(bad("expected a box, such as box=[128,64]")),
        (Some(_), _) if seen.iter().any(|key| *key != "offset") => {
            Err(bad("the file says everything but `offset`"))
        }
        _ => Ok(map),
    }
}

impl TensorMapSpec {
    /// The names of its files.
    pub(super) fn files(&mut self) -> Vec<&mut String> {
        let data = self.inline.as_mut().and_then(TensorSpec::file);
        self.file.iter_mut().chain(data).collect()
    }

    fn key(&mut self, key: &str, rest: &str) -> Result<(), ParseReason> {
        let bad = |why: String| Err(ParseReason::TensorMap(why));
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
            "box" => self.shape = Some(MapShape::Box(list(value, "size")?)),
            "swizzle" => self.swizzle = Some(named(value, &Swizzle::NAMES, "swizzle")?),
            "elem" => self.element = Some(named(value, &TensorElement::NAMES, "type of elements")?),
            "dim" => self.dims = Some(list(value, "size")?),
            "stride" => self.strides = Some(list(value, "stride")?),
            "offset" => self.offset = count(value, "offset")?,
            "step" => self.steps = Some(list(value, "step")?),
            "fill" => {
                self.nan_fill = named(value, &[("zero", false), ("nan", true)], "fill")?;
            }
            "interleave" => match value {
                "none" => {}
                _ => return bad("interleaved maps are not supported".to_owned()),
            },
            _ => {
                return bad(format!(
                    "unknown key `{key}`; known are box, im2col, swizzle, elem, dim, stride, offset, step, \
                     fill and interleave"
                ));
            }
        }
        Ok(())
    }
}

fn im2col(text: &str) -> Result<MapShape, ParseReason> {
    let bad = |why: String| Err(ParseReason::TensorMap(why));
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
            "channels" => channels = Some(count(value, "number of channels")?),
            "pixels" => pixels = Some(count(value, "number of pixels")?),
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

/// Items between the commas that no bracket encloses.
pub(super) fn separated(text: &str) -> Result<Vec<&str>, ParseReason> {
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
            return Err(ParseReason::TensorMap("a bracket is not opened".to_owned()));
        }
    }
    if depth != 0 {
        return Err(ParseReason::TensorMap("a bracket is not closed".to_owned()));
    }
    items.push(text[start..].trim());
    Ok(items)
}

fn list(text: &str, what: &'static str) -> Result<Vec<u64>, ParseReason> {
    if !text.starts_with('[') {
        return Err(ParseReason::TensorMap(format!(
            "expected a list such as [128,64], found `{text}`"
        )));
    }
    let (inner, rest) = bracketed(text)?;
    match rest {
        "" => counts(inner, what),
        rest => Err(ParseReason::AfterList(rest.to_owned())),
    }
}

fn signed(text: &str) -> Result<Vec<i64>, ParseReason> {
    let bad = || ParseReason::TensorMap(format!("expected a list such as [-1,-1], found `{text}`"));
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(bad)?;
    let one = |item: &str| match number(item.trim()) {
        Some(Number::Integer(value)) => i64::try_from(value).map_err(|_| bad()),
        _ => Err(bad()),
    };
    inner.split(',').map(one).collect()
}

fn named<T: Copy>(text: &str, names: &[(&str, T)], what: &str) -> Result<T, ParseReason> {
    let found = names.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        ParseReason::TensorMap(format!("`{text}` is not a {what}; expected one of {known}"))
    })
}

impl Display for TensorMapSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("tensormap(")?;
        if let Some(file) = &self.file {
            write!(f, "@{file}, ")?;
        }
        f.write_str(&self.tensor)?;
        if let Some(tensor) = &self.inline {
            write!(f, "={tensor}")?;
        }
        match &self.shape {
            None => {}
            Some(MapShape::Box(sizes)) => write!(f, ", box=[{}]", joined(sizes))?,
            Some(MapShape::Im2col { lower, upper, channels, pixels }) => write!(
                f,
                ", im2col(lower=[{}], upper=[{}], channels={channels}, pixels={pixels})",
                joined(lower),
                joined(upper)
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
                write!(f, ", {key}=[{}]", joined(list))?;
            }
        }
        if self.offset != 0 {
            write!(f, ", offset={}", self.offset)?;
        }
        f.write_str(if self.nan_fill { ", fill=nan)" } else { ")" })
    }
}

fn joined(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
