//! Any text as a project file: its entries, or messages.

#![no_main]

use driver::Colour;
use driver::project::of_text;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    match of_text(Path::new("warpproof.toml"), text.to_owned(), Colour::Plain) {
        Ok(project) => assert!(project.entries.iter().all(|entry| !entry.name.contains('\n'))),
        Err(error) => assert!(error.to_string().ends_with('\n'), "{error:?}"),
    }
});
