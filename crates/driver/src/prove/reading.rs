//! Options for reading a CUDA C++ file in `prove`: macros, folders of headers, the architecture, and the files that it
//! may include.
//!
//! A source may name any file that the user can read, and messages quote what is read. So only files below the
//! source's own folder and below the given folders are read. A message about any other file says only that it is
//! elsewhere.

use super::select::Refusal;
use crate::Input;
use crate::output::is_below;
use cuda::preprocess::{Options, Preprocessed, preprocess_files};
use cuda::source::SourceMap;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Longer headers are not read.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// Options for reading a file. The compiler in a comparison of readings gets the same ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders with header files.
    pub includes: Vec<PathBuf>,
    /// The architecture, as `sm_80`.
    pub arch: String,
}

impl Default for Reading {
    fn default() -> Self {
        Self { defines: Vec::new(), includes: Vec::new(), arch: "sm_80".to_owned() }
    }
}

impl Reading {
    /// The value of `__CUDA_ARCH__`: 800 for `sm_80`, 1200 for `sm_120`.
    ///
    /// # Errors
    /// The name is not that of an architecture.
    pub fn cuda_arch(&self) -> Result<u32, OptionError> {
        let name = &self.arch;
        let number = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"));
        let digits = number.unwrap_or(name).trim_end_matches(['a', 'f']);
        let known = (2..=3).contains(&digits.len());
        let number =
            digits.parse::<u32>().ok().filter(|_| known).and_then(|one| one.checked_mul(10));
        number.ok_or_else(|| OptionError::Architecture { name: name.clone() })
    }

    /// Macros as names and values.
    ///
    /// # Errors
    /// One does not begin with a name, or with a name and parameters.
    pub fn macros(&self) -> Result<Vec<(String, Option<String>)>, OptionError> {
        let split = |text: &String| {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text.as_str(), None),
            };
            if !is_macro(name) {
                return Err(OptionError::Macro { text: text.clone() });
            }
            Ok((name.to_owned(), value))
        };
        self.defines.iter().map(split).collect()
    }

    /// Preprocesses a file.
    ///
    /// # Errors
    /// An impossible option, or an error in the text.
    pub(crate) fn text(&self, input: &Input) -> Result<Text, Refused> {
        let path = Path::new(input.source.name());
        let arch = self.cuda_arch().map_err(Refused::Option)?;
        let defines = self.macros().map_err(Refused::Option)?;
        let kernel_folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let folders: Vec<PathBuf> =
            std::iter::once(kernel_folder).chain(self.includes.iter().cloned()).collect();
        let reader = |file: &Path| read(file, &folders);
        let includes = self.includes.clone();
        let options =
            Options { path: path.to_path_buf(), arch, defines, includes, reader: &reader };
        let with_headers = |files: &SourceMap| {
            input.with_headers(files).ok_or(Refused::Option(OptionError::LongHeader))
        };
        match preprocess_files(&options, input.source.text()) {
            Ok(read) => Ok(Text { input: with_headers(&read.sources)?, read }),
            Err(failed) => Err(Refused::Text(failed.why, Box::new(with_headers(&failed.sources)?))),
        }
    }
}

/// Returns `true` if a macro can be defined under this text: `NAME`, or `NAME(x, y)`.
fn is_macro(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('(') else {
        return is_identifier(text);
    };
    let parameters = rest.strip_suffix(')').map(str::trim);
    let is_parameter = |text: &str| is_identifier(text) || text == "...";
    is_identifier(name)
        && parameters
            .is_some_and(|all| all.is_empty() || all.split(',').map(str::trim).all(is_parameter))
}

fn is_identifier(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A preprocessed text.
pub(crate) struct Text {
    /// Its tokens.
    pub(crate) read: Preprocessed,
    /// The file with its included files.
    pub(crate) input: Input,
}

impl Text {
    /// Adds a text of clauses, and returns its start among all texts.
    ///
    /// # Errors
    /// All texts together are too long.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<u32, Refusal> {
        let too_long = || Refusal::Usage("the contract is too long".to_owned());
        let start = self.read.sources.add_text(name, text).ok_or_else(too_long)?;
        self.input = self.input.with_headers(&self.read.sources).ok_or_else(too_long)?;
        Ok(start)
    }

    /// Assumptions from macros that ask for the compilation target, a line each.
    pub(crate) fn assumed(&self, reading: &Reading) -> Vec<String> {
        let names: Vec<String> =
            self.read.environment_names.iter().map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "it is compiled for {} as NVRTC compiles it: the text asks for {}",
                reading.arch,
                names.join(", ")
            )],
        }
    }
}

/// An impossible option; displays as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// The name is not that of an architecture.
    #[error("`{name}` is not an architecture: --arch takes sm_80, sm_90a and others")]
    Architecture {
        /// The name.
        name: String,
    },
    /// A macro without a name.
    #[error("-D `{text}`: expected NAME or NAME=VALUE")]
    Macro {
        /// The option's text.
        text: String,
    },
    /// Spans have 32 bits.
    #[error("a header is too long")]
    LongHeader,
}

/// The reason why a file is not preprocessed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// An impossible option.
    Option(OptionError),
    /// An error in the text, or an unreadable file; with the files that were read.
    Text(Box<base::Diagnostic>, Box<Input>),
}

/// Reads a header, if it is in one of the folders.
fn read(file: &Path, folders: &[PathBuf]) -> Option<io::Result<String>> {
    let Ok(facts) = std::fs::metadata(file) else { return None };
    let refuse = |why: &str| Some(Err(io::Error::other(why.to_owned())));
    if !folders.iter().any(|folder| is_below(file, folder)) {
        return refuse("it is outside the file's folder and those given with -I");
    }
    if facts.is_dir() {
        return None;
    }
    if !facts.is_file() {
        return refuse("it is not a file");
    }
    if facts.len() > MAX_HEADER_BYTES {
        return refuse("it is too long");
    }
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => refuse("it is not text"),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_numbers() {
        let number =
            |arch: &str| Reading { arch: arch.to_owned(), ..Reading::default() }.cuda_arch().ok();
        assert_eq!(number("sm_80"), Some(800));
        assert_eq!(number("sm_90a"), Some(900));
        assert_eq!(number("compute_120f"), Some(1200));
        assert_eq!([number("sm_"), number("x"), number("sm_1"), number("sm_9000")], [None; 4]);
    }

    #[test]
    fn headers_elsewhere_are_not_read() {
        let folder = std::env::temp_dir().join(format!("warpproof-reading-{}", std::process::id()));
        let (own, given, other) = (folder.join("own"), folder.join("given"), folder.join("other"));
        for one in [&own, &given, &other] {
            std::fs::create_dir_all(one).unwrap();
        }
        std::fs::write(own.join("a.h"), "#define A 1\n").unwrap();
        std::fs::write(given.join("b.h"), "#define B 2\n").unwrap();
        std::fs::write(other.join("c.h"), "#error secret\n").unwrap();
        let reading = Reading { includes: vec![given], ..Reading::default() };
        let path = own.join("k.cu");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            match reading.text(&Input::read_cuda(&path).unwrap()) {
                Ok(text) => Ok(text.read.tokens.len()),
                Err(Refused::Text(found, _)) => Err(found.message.to_string()),
                Err(Refused::Option(error)) => Err(error.to_string()),
            }
        };
        assert_eq!(read("#include \"a.h\"\n#include <b.h>\nA B"), Ok(3));
        let refused = read("#include \"../other/c.h\"\n").unwrap_err();
        assert!(refused.contains("outside the") && !refused.contains("secret"), "{refused}");
        assert!(read("#include \"c.h\"\n").unwrap_err().contains("not found"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn macros_have_names() {
        let macros =
            |text: &str| Reading { defines: vec![text.to_owned()], ..Reading::default() }.macros();
        assert_eq!(macros("N").unwrap(), [("N".to_owned(), None)]);
        assert_eq!(macros("N=a=b").unwrap(), [("N".to_owned(), Some("a=b".to_owned()))]);
        assert_eq!(macros("F(x, y)=x").unwrap(), [("F(x, y)".to_owned(), Some("x".to_owned()))]);
        for name in ["F()", "F(...)", "_a1"] {
            assert!(macros(name).is_ok(), "{name}");
        }
        for not_a_name in ["", "=3", "3=3", "x(", "x)", "x(y", "x(3)", "x y", "x+", "x(y)z"] {
            assert!(macros(not_a_name).is_err(), "{not_a_name}");
        }
    }
}
