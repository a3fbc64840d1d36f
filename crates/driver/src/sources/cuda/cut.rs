//! Compiles a file with host code by NVRTC, which accepts none: cuts out host functions and replaces host headers.
//!
//! Lines and columns stay. The remaining device code is unchanged. If it needs a definition that was cut, the
//! compiler reports it as missing. Template instances named only by launches in host code are requested by that name.

use super::error::Failure;
use super::host::without_host;
use super::host_headers::{COMMON, DRIVER, common, missing, names_constant, names_driver};
use super::nvrtc::Nvrtc;

/// A file to compile.
pub(super) struct Source<'s> {
    pub(super) text: &'s str,
    pub(super) name: &'s str,
    /// Headers that options name.
    pub(super) headers: &'s [(&'s str, &'s str)],
    /// The user's own headers, by their names in the file.
    pub(super) own: &'s [(String, String)],
    /// An instance of a template that must be compiled.
    pub(super) wanted: Option<&'s str>,
}

/// Compiles the text without its host code, and as a last resort its own headers without theirs. Also returns the
/// name of the wanted instance.
pub(super) fn compile_cut(
    nvrtc: &Nvrtc,
    source: &Source<'_>,
    words: &[String],
) -> Result<(String, Option<String>), Failure> {
    let cut = without_host(source.text);
    let wanted: Vec<String> = source.wanted.iter().map(|one| (*one).to_owned()).collect();
    let launched: Vec<String> =
        wanted.iter().cloned().chain(launched_instances(source.text)).collect();
    // A name may be a parameter of the template around the launch.
    let lists = if launched.len() > wanted.len() { vec![launched, wanted] } else { vec![wanted] };
    let of_disk = source.headers.to_vec();
    let own: Vec<(&str, String)> =
        source.own.iter().map(|(name, text)| (name.as_str(), without_host(text))).collect();
    let with_own = of_disk.iter().copied().chain(own.iter().map(|(name, text)| (*name, &**text)));
    let with_own: Vec<(&str, &str)> = with_own.collect();
    let mut failure = None;
    for headers in [of_disk, with_own].iter().take(1 + usize::from(!own.is_empty())) {
        for list in &lists {
            match compile_with_substitutes(nvrtc, (&cut, source.name), headers, words, list) {
                Ok((ptx, names)) => {
                    let name = source.wanted.and_then(|_| names.into_iter().next());
                    return Ok((ptx, name));
                }
                Err(one) => failure = Some(one),
            }
        }
    }
    Err(failure.unwrap_or_else(|| Failure::Log(String::new())))
}

/// Compiles the text and replaces one host header after another, as the compiler misses them.
fn compile_with_substitutes(
    nvrtc: &Nvrtc,
    (text, name): (&str, &str),
    given: &[(&str, &str)],
    words: &[String],
    wanted: &[String],
) -> Result<(String, Vec<String>), Failure> {
    let (common, mut words) = (common(), words.to_vec());
    let mut headers: Vec<(&str, &str)> = given.to_vec();
    loop {
        let compiled = nvrtc.compile_named(text, (name, &headers), &words, wanted)?;
        if let Some(ptx) = compiled.ptx {
            return Ok((ptx, compiled.names));
        }
        let common_header = (COMMON, common.as_str());
        match missing(&compiled.log).filter(|one| !headers.contains(one)) {
            Some(header) => headers.push(header),
            None if names_constant(&compiled.log) && !headers.contains(&common_header) => {
                headers.push(common_header);
                words.push(format!("--pre-include={COMMON}"));
            }
            None if names_driver(&compiled.log) && !headers.contains(&DRIVER) => {
                headers.push(DRIVER);
            }
            None => return Err(Failure::Log(compiled.log)),
        }
    }
}

/// Instances of templates that are launched, as expressions: `k<float, 16>` of `k<float, 16><<<1, 32>>>(x)`. For the
/// type that PyTorch's dispatch macros choose at run time, `float` is used; all of them have it.
fn launched_instances(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("<<<") {
        let before = text[..at].trim_end();
        let Some(open) = before.ends_with('>').then(|| opening(before)).flatten() else { continue };
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let head = &before[..open];
        let name = &head[head.trim_end_matches(is_name).len()..];
        let dispatched = text[..at].contains("AT_DISPATCH_") && !text.contains("using scalar_t");
        let arguments = &before[open..];
        let arguments = if dispatched {
            replace_word(arguments, "scalar_t", "float")
        } else {
            arguments.to_owned()
        };
        let instance = format!("{name}{arguments}");
        if !name.is_empty() && !found.contains(&instance) {
            found.push(instance);
        }
    }
    found
}

/// Replaces a whole word.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut pieces = text.split(word);
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_part = result.ends_with(is_word) || piece.starts_with(is_word);
        result.push_str(if is_part { word } else { by });
        result.push_str(piece);
    }
    result
}

/// The position of the angle bracket that is closed at the end of a text.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            '>' => depth += 1,
            '<' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            ';' | '{' | '}' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::launched_instances;

    #[test]
    fn launches_name_instances() {
        let text = "void f() { k<float, S<4>> <<<1, 2>>>(x); plain<<<1, 1>>>(); if (a > b) ns::k<8><<<g, b>>>(); }";
        assert_eq!(launched_instances(text), ["k<float, S<4>>", "ns::k<8>"]);
        let text =
            "AT_DISPATCH_ALL_TYPES(t, \"k\", [&] { k<scalar_t, my_scalar_t, 4><<<1, 2>>>(x); });";
        assert_eq!(launched_instances(text), ["k<float, my_scalar_t, 4>"]);
        assert_eq!(launched_instances("f() { k<scalar_t><<<1, 2>>>(x); }"), ["k<scalar_t>"]);
        assert!(launched_instances("<<<").is_empty());
        assert!(launched_instances("a > <<<").is_empty());
    }
}
