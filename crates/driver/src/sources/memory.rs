//! Texts without a file: kernels that another program holds as strings, and formulas.
//!
//! Nothing beside them is read: no source of the PTX, and no facts from Triton about the launch.

use super::cuda::CompileOptions;
use super::error::{InputError, InputReason};
use super::input::Input;
use crate::bounded;
use crate::render::escape::on_one_line;
use std::path::Path;

impl Input {
    /// Takes a file from memory, as [`Self::open`] takes one from disk.
    ///
    /// # Errors
    /// If it yields no PTX.
    pub fn of_memory(
        name: &str,
        bytes: Vec<u8>,
        kernel: Option<&str>,
        options: CompileOptions,
    ) -> Result<Self, InputError> {
        let options = CompileOptions { is_in_memory: true, ..options };
        let input = Self::of_bytes(Path::new(name), bytes, kernel, &options)?;
        let text = input.cuda().map(str::to_owned);
        Ok(match text {
            Some(text) => input.with_source(name, &text),
            None => input,
        })
    }

    /// Takes CUDA C++ source that was read elsewhere.
    ///
    /// # Errors
    /// If the bytes cannot be CUDA C++.
    pub fn cuda_of_memory(name: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        let fail = |reason: InputReason| InputError { name: name.to_owned(), reason };
        let text = String::from_utf8(bytes).map_err(|_| fail(InputReason::NotText))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if text.trim().is_empty() {
            return Err(fail(InputReason::Empty));
        }
        if text.contains(".version") && !text.contains("__global__") {
            return Err(fail(InputReason::Ptx));
        }
        Self::of_text(name, text.to_owned()).ok_or_else(|| fail(InputReason::TooLong))
    }

    /// The name of a formula without a file.
    pub const FORMULA: &'static str = "formula";

    /// Takes a formula, or reads it from a file if it begins with `@`.
    ///
    /// # Errors
    /// If there is no such file, or it is not text.
    pub fn of_formula(formula: &str) -> Result<Self, InputError> {
        let Some(path) = formula.strip_prefix('@') else {
            let reason = || InputError { name: "--ref".to_owned(), reason: InputReason::TooLong };
            return Self::of_text(Self::FORMULA, formula.to_owned()).ok_or_else(reason);
        };
        let name = on_one_line(path).into_owned();
        let fail = |reason: InputReason| InputError { name: name.clone(), reason };
        let path = Path::new(path);
        if path.is_dir() {
            return Err(fail(InputReason::Folder));
        }
        let bytes = bounded::read(path, bounded::MAX_TEXT)
            .map_err(|error| fail(InputReason::unread(error, path)))?;
        let text = String::from_utf8(bytes).map_err(|_| fail(InputReason::NotText))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        Self::of_text(&name, text).ok_or_else(|| fail(InputReason::TooLong))
    }
}
