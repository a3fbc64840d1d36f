//! Findings about tensor copies: their kinds, properties and messages.

use crate::naming::element;
use crate::vocabulary::{FindingKind, PropertyName};
use base::Code;
use exec::{Target, TensorFault};

/// The kind of a fault in machine-readable reports.
pub(crate) fn kind(fault: &TensorFault) -> FindingKind {
    match fault {
        TensorFault::InnerCoordinate { .. } => FindingKind::Misaligned,
        TensorFault::Clip { .. } => FindingKind::OutOfBounds,
        TensorFault::Rank { .. } | TensorFault::Mode { .. } | TensorFault::NegativeStore { .. } => {
            FindingKind::AsyncCopy
        }
    }
}

/// The property that it refutes.
pub(crate) fn property(fault: &TensorFault) -> PropertyName {
    match fault {
        TensorFault::InnerCoordinate { .. } => PropertyName::Alignment,
        TensorFault::Clip { .. }
        | TensorFault::Rank { .. }
        | TensorFault::Mode { .. }
        | TensorFault::NegativeStore { .. } => PropertyName::Bounds,
    }
}

/// The byte it is about, if it is about one.
pub(crate) fn target(fault: &TensorFault) -> Option<&Target> {
    match fault {
        TensorFault::Clip { target, .. } => Some(target),
        TensorFault::Rank { .. }
        | TensorFault::Mode { .. }
        | TensorFault::InnerCoordinate { .. }
        | TensorFault::NegativeStore { .. } => None,
    }
}

/// Formats a fault.
pub(crate) fn message(fault: &TensorFault) -> (Code, String) {
    match fault {
        TensorFault::Rank { map, copy } => {
            let message =
                format!("a tensor copy of {copy} dimensions through a map of {map} dimensions");
            (Code::AsyncCopy, message)
        }
        TensorFault::Mode { im2col } => {
            let (copy, map) = if *im2col { ("tile", "im2col") } else { ("im2col", "tile") };
            (Code::AsyncCopy, format!("a tensor copy in {copy} mode through a map for {map}"))
        }
        TensorFault::InnerCoordinate { coordinate, element_bytes } => {
            let message = format!(
                "misaligned: a tensor copy starts at innermost coordinate {coordinate} of elements of \
                 {element_bytes} bytes, which is not a multiple of 16 bytes"
            );
            (Code::Misaligned, message)
        }
        TensorFault::NegativeStore { dimension, coordinate } => {
            let message = format!(
                "a tensor store at coordinate {coordinate} of dimension {dimension} (0 is the innermost): stores \
                 must not start before the tensor"
            );
            (Code::AsyncCopy, message)
        }
        TensorFault::Clip { target, extent, bytes } => {
            let place = element(target);
            let message = format!(
                "out of bounds: a tensor store writes {bytes} bytes past the end of a row of {extent} bytes, \
                at {place}: \
                 hardware cuts rows at multiples of 16 bytes"
            );
            (Code::OutOfBounds, message)
        }
    }
}
