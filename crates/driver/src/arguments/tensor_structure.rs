//! The structure of a tensor that is read: `:lower`, `:upper`, `:symmetric`, `:mask=[1,0,1]`.
//!
//! Except for masks, the last two dimensions are a matrix, those before them a batch. A structure is taken as stated
//! and listed as assumed. Its meaning for each element is in `structured.rs`.

use std::fmt::{self, Display, Formatter};

/// The pattern of elements that are zero or equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorStructure {
    /// Zero above the diagonal.
    Lower,
    /// Zero below the diagonal.
    Upper,
    /// Equal to its transpose.
    Symmetric,
    /// Zero where the mask is zero.
    Mask(Mask),
}

/// Numbers for the elements of a tensor, in row-major order: elements with a non-zero number are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// `[1,0,1]`
    List(Vec<bool>),
    /// `@mask.npy`: truth values or integers.
    File(String),
}

impl TensorStructure {
    /// The keywords of all structures.
    pub(super) const WORDS: [&str; 4] = ["lower", "upper", "symmetric", "mask"];

    /// The keyword of the structure.
    pub(super) fn word(&self) -> &'static str {
        let [lower, upper, symmetric, mask] = Self::WORDS;
        match self {
            Self::Lower => lower,
            Self::Upper => upper,
            Self::Symmetric => symmetric,
            Self::Mask(_) => mask,
        }
    }

    /// Returns the sentence that the tensor `name` has this structure.
    pub(crate) fn sentence(&self, name: &str) -> String {
        match self {
            Self::Lower => format!("`{name}` is zero above the diagonal (:lower)"),
            Self::Upper => format!("`{name}` is zero below the diagonal (:upper)"),
            Self::Symmetric => format!("`{name}` is the same as its transpose (:symmetric)"),
            Self::Mask(_) => format!("`{name}` is zero where its mask is 0 (:mask)"),
        }
    }
}

impl Display for TensorStructure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Lower | Self::Upper | Self::Symmetric => Ok(()),
            Self::Mask(Mask::File(path)) => write!(f, "=@{path}"),
            Self::Mask(Mask::List(kept)) => {
                let digits: Vec<&str> =
                    kept.iter().map(|kept| if *kept { "1" } else { "0" }).collect();
                write!(f, "=[{}]", digits.join(","))
            }
        }
    }
}
