//! Any text as a project file: its entries, or messages.

use driver::Colour;
use driver::project::of_text;
use std::path::Path;

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    match of_text(Path::new("warpproof.toml"), text.to_owned(), Colour::Plain) {
        Ok(project) => assert!(project.entries.iter().all(|entry| !entry.name.contains('\n'))),
        Err(error) => assert!(error.to_string().ends_with('\n'), "{error:?}"),
    }
}
