//! Messages of the protocol: a header with their length, then JSON. Unreadable input is skipped up to the next
//! message.

use lsp_server::Message;
use serde_json::Value;
use std::io::{BufRead, Read};

/// A larger message is skipped. No message of an editor is near this size.
const MAX_MESSAGE_BYTES: u64 = 64 << 20;
/// A longer line of a header is skipped.
const MAX_LINE_BYTES: u64 = 4096;

/// Input from the client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    /// A message.
    Message(Message),
    /// Something else, and the reason why it is not a message.
    Malformed(String),
}

/// Reads the next message; `None` at the end of the input.
pub(super) fn read(input: &mut impl BufRead) -> Option<ClientMessage> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        match line.trim_end_matches(['\r', '\n']) {
            "" if length.is_some() => break,
            "" => {}
            line => match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("Content-Length") => {
                    match value.trim().parse::<u64>() {
                        Ok(value) => length = Some(value),
                        Err(_) => return malformed("the length of a message is not a number"),
                    }
                }
                Some((name, _)) if name.eq_ignore_ascii_case("Content-Type") => {}
                _ => return malformed("a header line is neither a length nor a type"),
            },
        }
    }
    let length = length?;
    if length > MAX_MESSAGE_BYTES {
        let skipped = std::io::copy(&mut input.by_ref().take(length), &mut std::io::sink()).ok()?;
        return if skipped == length { malformed("a message is too long") } else { None };
    }
    let mut text = Vec::new();
    let read = input.by_ref().take(length).read_to_end(&mut text).ok()?;
    if read as u64 != length {
        return None;
    }
    let read = serde_json::from_slice::<Value>(&text).and_then(|value| {
        let has_id = value.get("id").is_some();
        serde_json::from_value(value).map(|message| (message, has_id))
    });
    match read {
        // Its identifier is neither a text nor a small number. The sender waits for an answer.
        Ok((Message::Notification(_), true)) => malformed("the identifier of a request is not one"),
        Ok((message, _)) => Some(ClientMessage::Message(message)),
        Err(error) => malformed(&format!("a message is not JSON-RPC: {error}")),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is returned where there may be nothing")]
fn malformed(why: &str) -> Option<ClientMessage> {
    Some(ClientMessage::Malformed(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut input = text;
        let mut seen = Vec::new();
        while let Some(received) = read(&mut input) {
            seen.push(match received {
                ClientMessage::Message(Message::Notification(one)) => one.method,
                ClientMessage::Message(other) => format!("{other:?}"),
                ClientMessage::Malformed(_) => "malformed".to_owned(),
            });
        }
        seen
    }

    #[test]
    fn messages_after_a_malformed_one_are_read() {
        let exit = "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        for (wrong, count) in [
            ("", 0),
            ("nonsense\r\n", 1),
            ("Content-Length: x\r\n", 1),
            ("Content-Length: 5\r\n\r\n{{{{{", 1),
            ("Content-Length: 2\r\n\r\n[]", 1),
            ("Content-Length: 4\r\n\r\n\u{0}\u{0}\u{0}\u{0}", 1),
            ("\r\n\r\n", 0),
        ] {
            let mut expected = vec!["malformed"; count];
            expected.push("exit");
            assert_eq!(all(format!("{wrong}{exit}").as_bytes()), expected, "{wrong:?}");
        }
        // Cut off.
        assert_eq!(all(&exit.as_bytes()[..40]), Vec::<String>::new());
        let long = [&b"Content-Length: 70000000\r\n\r\n"[..], &vec![b' '; 70_000_000]].concat();
        assert_eq!(all(&[&long[..], exit.as_bytes()].concat()), ["malformed", "exit"]);
        assert_eq!(all(b"Content-Length: 18446744073709551615\r\n\r\n{}"), Vec::<String>::new());
        assert!(all(&[b'x'; 100_000]).iter().all(|one| one == "malformed"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = "[".repeat(1_000_000);
        let text = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        assert_eq!(all(text.as_bytes()), ["malformed"]);
    }
}
