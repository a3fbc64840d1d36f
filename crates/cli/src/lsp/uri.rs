//! Files as editors name them: `file:///src/a%20b.cu`.

use std::path::{Path, PathBuf};

/// Returns the file named by a URI; `None` for other schemes.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // An authority is a host name; files on other machines are not read.
    let path = &rest[rest.find('/')?..];
    let path = path.split(['?', '#']).next()?;
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/kernels` on Windows.
    let has_drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if has_drive { &text[1..] } else { &text }))
}

/// Returns the URI of an absolute path, if it is text.
pub(super) fn of(path: &Path) -> Option<String> {
    let text = path.to_str()?.replace('\\', if cfg!(windows) { "/" } else { "%5C" });
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    let encoded: String = text
        .replace("%5C", "\\")
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    let slash = if encoded.starts_with('/') { "" } else { "/" };
    Some(format!("file://{slash}{encoded}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for name in ["/a/b.cu", "/with space/ü%20#?.cu", "/[x]/{y}/'z'.ptx"] {
            let uri = of(Path::new(name)).unwrap();
            assert_eq!(path(&uri).as_deref(), Some(Path::new(name)), "{uri}");
        }
    }

    #[test]
    fn other_uris_are_no_files() {
        let others = ["untitled:Untitled-1", "https://example.com/a.cu", "git:/a.cu"];
        let incomplete =
            ["file:///a%2", "file:///a%", "file:///a%zz", "file:///%ff", "file://", ""];
        for text in others.into_iter().chain(incomplete) {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
