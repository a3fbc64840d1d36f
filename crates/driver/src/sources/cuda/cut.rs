//! Compiles a file with host code in it with NVRTC, which reads none: host functions are cut out and host headers replaced.
//!
//! Lines and columns stay. What is left is device code as it is written; something that it needs and that was cut is missing, and the
//! compiler says so. Instances of templates that only a launch in host code names are asked for by that name.

use super::error::Failure;
use super::host::without_host;
use super::host_headers::{COMMON, common, missing, names_constant};
use super::nvrtc::Nvrtc;

/// Compiles the text without its host code; `headers` are those that options name.
pub(super) fn compile_cut(
    nvrtc: &Nvrtc,
    (text, name): (&str, &str),
    headers: &[(&str, &str)],
    words: &[String],
) -> Result<String, Failure> {
    let cut = without_host(text);
    let launched = launched(text);
    let first = replaced(nvrtc, (&cut, name), headers, words, &launched);
    match first {
        // A name may be a parameter of the template around the launch.
        Err(_) if !launched.is_empty() => replaced(nvrtc, (&cut, name), headers, words, &[]),
        result => result,
    }
}

/// Compiles it with one host header after another replaced, as the compiler misses them.
fn replaced(
    nvrtc: &Nvrtc,
    (text, name): (&str, &str),
    given: &[(&str, &str)],
    words: &[String],
    wanted: &[String],
) -> Result<String, Failure> {
    let (common, mut words) = (common(), words.to_vec());
    let mut headers: Vec<(&str, &str)> = given.to_vec();
    loop {
        let compiled = nvrtc.compile_named(text, (name, &headers), &words, wanted)?;
        if let Some(ptx) = compiled.ptx {
            return Ok(ptx);
        }
        let own = (COMMON, common.as_str());
        match missing(&compiled.log).filter(|one| !headers.contains(one)) {
            Some(header) => headers.push(header),
            None if names_constant(&compiled.log) && !headers.contains(&own) => {
                headers.push(own);
                words.push(format!("--pre-include={COMMON}"));
            }
            None => return Err(Failure::Log(compiled.log)),
        }
    }
}

/// Instances of templates that are launched, as expressions: `k<float, 16>` of `k<float, 16><<<1, 32>>>(x)`.
fn launched(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("<<<") {
        let before = text[..at].trim_end();
        let Some(open) = before.ends_with('>').then(|| opening(before)).flatten() else { continue };
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let head = &before[..open];
        let name = &head[head.trim_end_matches(is_name).len()..];
        let instance = format!("{name}{}", &before[open..]);
        if !name.is_empty() && !found.contains(&instance) {
            found.push(instance);
        }
    }
    found
}

/// Where the angle bracket that ends a text was opened.
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
    use super::launched;

    #[test]
    fn launches_name_instances() {
        let text = "void f() { k<float, S<4>> <<<1, 2>>>(x); plain<<<1, 1>>>(); if (a > b) ns::k<8><<<g, b>>>(); }";
        assert_eq!(launched(text), ["k<float, S<4>>", "ns::k<8>"]);
        assert!(launched("<<<").is_empty());
        assert!(launched("a > <<<").is_empty());
    }
}
