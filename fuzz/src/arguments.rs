//! Any text as an argument, a launch size or a condition: what is read prints as text that is read as the same.

use driver::arguments::{ArgumentSpec, AssumeSpec, BlockSelection, Dimensions, PartSpec};
use std::fmt::{Debug, Display};
use std::str::FromStr;

fn read<T: FromStr<Err: Debug> + PartialEq + Debug + Display>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        let printed = read.to_string();
        assert_eq!(printed.parse::<T>().as_ref().ok(), Some(&read), "{printed}");
    }
}

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    read::<ArgumentSpec>(text);
    read::<Dimensions>(text);
    let _ = text.parse::<AssumeSpec>();
    let _ = text.parse::<BlockSelection>();
    let _ = text.parse::<PartSpec>();
}
