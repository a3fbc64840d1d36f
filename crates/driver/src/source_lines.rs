//! Lines of the source that PTX was compiled from.

use exec::Place;
use ir::Program;

/// File and line of a place: for inlined code, of the outermost call.
pub(crate) fn outermost_line(place: Place, program: &Program) -> Option<(&str, u32)> {
    let mut location = &program.locations[place.location?];
    while let Some((_, call)) = &location.inlined_at {
        location = &program.locations[*call];
    }
    // Line 0 is the compiler's own.
    if location.line == 0 {
        return None;
    }
    let file = location.file.map_or("?", |file| program.files[file].as_str());
    Some((file, location.line))
}
