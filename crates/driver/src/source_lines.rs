//! Lines of the source that PTX was compiled from.

use base::SourceLine;
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

/// The lines of a place: the innermost first, then where that was inlined.
pub(crate) fn source_lines(place: Place, program: &Program) -> Vec<SourceLine> {
    let mut lines = Vec::new();
    let mut next = place.location;
    while let Some(location) = next.map(|location| &program.locations[location]) {
        let file = location.file.map(|file| program.files[file].clone());
        // Line 0 is the compiler's own.
        if location.line != 0 {
            lines.push(SourceLine { file, line: location.line });
        }
        next = location.inlined_at.as_ref().map(|(_, call)| *call);
    }
    lines
}

/// `, from kernel.cu:12, inlined at kernel.cu:30`
pub(crate) fn origin_text(lines: &[SourceLine]) -> String {
    let words = std::iter::once("from").chain(std::iter::repeat("inlined at"));
    let lines = lines.iter().zip(words).map(|(line, word)| {
        format!(", {word} {}:{}", line.file.as_deref().unwrap_or("?"), line.line)
    });
    lines.collect()
}
