//! The structure of a tensor that is read: `:lower`, `:upper`, `:symmetric`, `:mask=[1,0,1]`.
//!
//! In all but masks the last two dimensions are a matrix, those before them a batch. A structure is taken as said and
//! listed as assumed. What it says of each element is in `structured.rs`.

use std::fmt::{self, Display, Formatter};

/// Which elements of a tensor are zero, or the same as others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorStructure {
    /// Zero above the diagonal.
    Lower,
    /// Zero below the diagonal.
    Upper,
    /// The same as its transpose.
    Symmetric,
    /// Zero where the mask is.
    Mask(Mask),
}

/// Numbers for the elements of a tensor, in row-major order: those that are not zero are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// `[1,0,1]`
    List(Vec<bool>),
    /// `@mask.npy`: truth values or integers.
    File(String),
}

impl TensorStructure {
    /// The words of all structures.
    pub(super) const WORDS: [&str; 4] = ["lower", "upper", "symmetric", "mask"];

    /// Its word.
    pub(super) fn word(&self) -> &'static str {
        let [lower, upper, symmetric, mask] = Self::WORDS;
        match self {
            Self::Lower => lower,
            Self::Upper => upper,
            Self::Symmetric => symmetric,
            Self::Mask(_) => mask,
        }
    }

    /// Says it of a tensor, in a sentence.
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
