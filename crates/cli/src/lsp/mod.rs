//! `warpproof lsp`: a language server. Shows findings of `prove` and `run` in an editor when a file is opened or
//! saved.
//!
//! One thread reads messages, one handles them and the results of jobs in the order they come, and each job has a
//! thread of its own. A job examines files as saved on disk. If a file is saved while its job runs, the job is
//! stopped, its result is dropped, and the file is examined again.

mod documents;
mod hover;
mod protocol;
mod uri;
mod wire;
mod work;

use crate::console::Console;
use documents::{Documents, FinishedJob};
use driver::Exit;
use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use protocol::{InitializeParams, method};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use wire::ClientMessage;

/// Seconds for a file, if the client does not say.
const SECONDS: u64 = 60;

/// Time to wait for jobs at the end, so that solvers and compilers end with them.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// An event that the server handles.
#[derive(Debug)]
enum Event {
    Received(ClientMessage),
    /// The client has ended.
    End,
    Finished(Box<FinishedJob>),
}

/// Serves a client on standard input and output.
pub(crate) fn run(console: &Console) -> Exit {
    if serve(std::io::stdin(), std::io::stdout()) {
        return Exit::Success;
    }
    console.write_err("error: the client disconnected without `shutdown`\n");
    Exit::Refuted
}

/// Serves a client until it disconnects. Returns `true` if it sent `shutdown` before.
pub(crate) fn serve(input: impl Read + Send + 'static, output: impl Write) -> bool {
    let (events, queue) = channel();
    let reader = events.clone();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(received) = wire::read(&mut input) {
            if reader.send(Event::Received(received)).is_err() {
                return;
            }
        }
        let _ = reader.send(Event::End);
    });
    let documents = Documents::new(events);
    let mut server = Server { state: State::New, documents, output, is_lost: false };
    while let Ok(event) = queue.recv() {
        let continues = match event {
            Event::Received(ClientMessage::Message(message)) => server.handle(message),
            Event::Received(ClientMessage::Malformed(why)) => {
                server.refuse_malformed(&why);
                true
            }
            Event::Finished(finished) => {
                let messages = server.documents.finish(*finished);
                server.send_all(messages);
                true
            }
            Event::End => false,
        };
        if !continues || server.is_lost {
            break;
        }
    }
    server.documents.stop_all();
    let end = Instant::now() + SHUTDOWN_TIMEOUT;
    while server.documents.is_busy() {
        match queue.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Event::Finished(finished)) => drop(server.documents.finish(*finished)),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    server.state == State::ShutDown
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

#[derive(Debug)]
struct Server<W> {
    state: State,
    documents: Documents,
    output: W,
    /// The client no longer reads.
    is_lost: bool,
}

impl<W: Write> Server<W> {
    /// Handles a message; `false` ends the server.
    fn handle(&mut self, message: Message) -> bool {
        match message {
            Message::Request(request) => {
                let response = self.answer(request);
                self.send(response.into());
                let more = self.documents.start_jobs();
                self.send_all(more);
            }
            Message::Notification(notification) if notification.method == "exit" => return false,
            Message::Notification(notification) if self.state == State::Running => {
                let messages = self.note(notification);
                self.send_all(messages);
            }
            // Dropped before `initialize` and after `shutdown`. Answers to our requests contain nothing we need.
            Message::Notification(_) | Message::Response(_) => {}
        }
        true
    }

    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let error = |code: ErrorCode, message: &str| {
            Response::new_err(id.clone(), code as i32, message.to_owned())
        };
        let result = match (self.state, method.as_str()) {
            (State::New, "initialize") => self.initialize(params),
            (State::New, _) => {
                return error(
                    ErrorCode::ServerNotInitialized,
                    "the first request must be `initialize`",
                );
            }
            (State::ShutDown, _) => {
                return error(ErrorCode::InvalidRequest, "only `exit` may follow `shutdown`");
            }
            (State::Running, "initialize") => {
                return error(ErrorCode::InvalidRequest, "`initialize` was already sent");
            }
            (State::Running, method::SHUTDOWN) => {
                self.state = State::ShutDown;
                self.documents.stop_all();
                Ok(Value::Null)
            }
            (State::Running, method::HOVER) => {
                read(params).map(|params| json!(self.documents.hover(&params)))
            }
            (State::Running, method::CODE_LENS) => {
                read(params).map(|params| json!(self.documents.lenses(&params)))
            }
            (State::Running, _) => {
                return error(
                    ErrorCode::MethodNotFound,
                    "this server does not support this request",
                );
            }
        };
        match result {
            Ok(value) => Response::new_ok(id, value),
            Err(why) => error(ErrorCode::InvalidParams, &why),
        }
    }

    fn initialize(&mut self, params: Value) -> Result<Value, String> {
        let params: InitializeParams = read(params)?;
        let seconds =
            params.initialization_options.as_ref().and_then(|options| options.get("timeout"));
        self.documents.limits.seconds = seconds.and_then(Value::as_u64).unwrap_or(SECONDS).max(1);
        let window = params.capabilities.window;
        self.documents.shows_progress =
            window.and_then(|window| window.work_done_progress).unwrap_or(false);
        let workspace = params.capabilities.workspace.and_then(|workspace| workspace.code_lens);
        self.documents.refreshes_lenses =
            workspace.and_then(|lens| lens.refresh_support).unwrap_or(false);
        self.state = State::Running;
        let capabilities = json!({
            "textDocumentSync": { "openClose": true, "save": { "includeText": false } },
            "hoverProvider": true,
            "codeLensProvider": { "resolveProvider": false },
        });
        let server = json!({ "name": "warpproof", "version": env!("CARGO_PKG_VERSION") });
        Ok(json!({ "capabilities": capabilities, "serverInfo": server }))
    }

    /// Handles a notification. Malformed and unknown ones are dropped, as the protocol requires.
    fn note(&mut self, notification: Notification) -> Vec<Message> {
        let Notification { method, params } = notification;
        let handled = match method.as_str() {
            method::DID_OPEN => read(params).map(|params| self.documents.open(&params)),
            method::DID_SAVE => read(params).map(|params| self.documents.save(&params)),
            method::DID_CLOSE => read(params).map(|params| self.documents.close(&params)),
            method::CANCEL_PROGRESS => read(params).map(|params| self.documents.cancel(&params)),
            _ => Ok(Vec::new()),
        };
        handled.unwrap_or_default()
    }

    /// Answers malformed input with an error without an id, as JSON-RPC requires.
    fn refuse_malformed(&mut self, why: &str) {
        let error = json!({ "code": ErrorCode::ParseError as i32, "message": why });
        let text = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        let text = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.write(|out| out.write_all(text.as_bytes()));
    }

    fn send_all(&mut self, messages: Vec<Message>) {
        messages.into_iter().for_each(|message| self.send(message));
    }

    fn send(&mut self, message: Message) {
        self.write(|out| message.write(out));
    }

    fn write(&mut self, write: impl FnOnce(&mut W) -> std::io::Result<()>) {
        let out = &mut self.output;
        self.is_lost |= write(out).and_then(|()| out.flush()).is_err();
    }
}

/// Reads the parameters of a message.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}

/// Sends the result of a job. Fails only if the server has stopped.
fn report(events: &Sender<Event>, finished: FinishedJob) {
    let _ = events.send(Event::Finished(Box::new(finished)));
}
