//! Parses files and lists the parts of each that are not read: `parse -IFOLDER FILE…`.

use cuda::preprocess::{Options, preprocess};
use cuda::syntax::ast::{Declaration, DeclarationKind};
use std::io::Write;
use std::path::{Path, PathBuf};

fn main() {
    let mut out = std::io::stdout().lock();
    let (folders, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("-I"));
    let includes: Vec<PathBuf> = folders.iter().map(|folder| PathBuf::from(&folder[2..])).collect();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let read = |path: &Path| path.is_file().then(|| std::fs::read_to_string(path));
        let options = Options {
            path: PathBuf::from(&path),
            includes: includes.clone(),
            reader: &read,
            ..Options::default()
        };
        let line = |at: u32| {
            text.as_bytes().iter().take(at as usize).filter(|byte| **byte == b'\n').count() + 1
        };
        let parsed = preprocess(&options, &text).and_then(|read| cuda::syntax::parse(&read));
        let shown = match parsed {
            Ok(unit) => {
                let mut notes = Vec::new();
                note(&unit.declarations, &mut notes);
                notes.iter().map(|(at, text)| format!("  {path}:{}: {text}\n", line(*at))).collect()
            }
            Err(found) => {
                let at = line(found.primary.span.start);
                format!("{path}:{at}: {:?}: {}\n", found.severity, found.message)
            }
        };
        let _ = out.write_all(shown.as_bytes());
    }
}

fn note(declarations: &[Declaration], out: &mut Vec<(u32, String)>) {
    for one in declarations {
        match &one.kind {
            DeclarationKind::Skipped { names, why, .. } => {
                let names: Vec<&str> = names.iter().map(|name| &*name.text).collect();
                out.push((one.span.start, format!("{why}: {}", names.join(", "))));
            }
            DeclarationKind::Function(function) => {
                if let Some((span, why)) = &function.unread {
                    out.push((span.start, format!("unread: {why}")));
                }
            }
            DeclarationKind::Namespace { declarations, .. } => note(declarations, out),
            DeclarationKind::Record(record) => {
                note(record.members.as_deref().unwrap_or_default(), out);
            }
            _ => {}
        }
    }
}
