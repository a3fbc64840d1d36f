//! The parts of the Language Server Protocol (3.17) that the server uses. Other fields of messages are ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A position in a file, from zero; characters are units of UTF-16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

impl Position {
    pub(super) fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

/// A part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

impl Range {
    pub(super) fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Location {
    pub(super) uri: String,
    pub(super) range: Range,
}

/// A finding in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    pub(super) range: Range,
    /// A constant of [`severity`].
    pub(super) severity: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    pub(super) source: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_information: Vec<Related>,
}

/// The severities of diagnostics.
pub(super) mod severity {
    pub(crate) const ERROR: u8 = 1;
    pub(crate) const WARNING: u8 = 2;
    pub(crate) const INFORMATION: u8 = 3;
}

/// Another place of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Related {
    pub(super) location: Location,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    pub(super) initialization_options: Option<Value>,
    pub(super) capabilities: ClientCapabilities,
}

#[derive(Debug, Deserialize)]
pub(super) struct ClientCapabilities {
    pub(super) window: Option<WindowCapabilities>,
    pub(super) workspace: Option<WorkspaceCapabilities>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WindowCapabilities {
    pub(super) work_done_progress: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkspaceCapabilities {
    pub(super) code_lens: Option<CodeLensCapabilities>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeLensCapabilities {
    pub(super) refresh_support: Option<bool>,
}

/// A file by its URI.
#[derive(Debug, Deserialize)]
pub(super) struct TextDocument {
    pub(super) uri: String,
}

/// The parameters of messages about a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    pub(super) text_document: TextDocument,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HoverParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
}

#[derive(Debug, Deserialize)]
pub(super) struct CancelParams {
    /// A text or a number.
    pub(super) token: Value,
}

/// Names of requests and notifications.
pub(super) mod method {
    pub(crate) const SHUTDOWN: &str = "shutdown";
    pub(crate) const HOVER: &str = "textDocument/hover";
    pub(crate) const CODE_LENS: &str = "textDocument/codeLens";
    pub(crate) const CODE_LENS_REFRESH: &str = "workspace/codeLens/refresh";
    pub(crate) const DID_OPEN: &str = "textDocument/didOpen";
    pub(crate) const DID_SAVE: &str = "textDocument/didSave";
    pub(crate) const DID_CLOSE: &str = "textDocument/didClose";
    pub(crate) const PUBLISH_DIAGNOSTICS: &str = "textDocument/publishDiagnostics";
    pub(crate) const PROGRESS: &str = "$/progress";
    pub(crate) const CREATE_PROGRESS: &str = "window/workDoneProgress/create";
    pub(crate) const CANCEL_PROGRESS: &str = "window/workDoneProgress/cancel";
}
