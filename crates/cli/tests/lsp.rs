//! The language server, with a client over standard input and output.

use serde_json::{Value, json};
use snapbox::cmd::cargo_bin;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const RACY: &str = "//@ extent x[n];
//@ requires n > 0;
__global__ void reverse(int* x, int n) {
    int i = threadIdx.x;
    if (i + 1 < n) x[i] = x[i + 1];
}
";

/// The same without a race: every thread has an element of its own.
const RIGHT: &str = "//@ extent x[n];
//@ requires n > 0;
__global__ void reverse(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
}
";

const PTX: &str = ".version 7.8
.target sm_80
.address_size 64
.visible .entry store(.param .u64 y)
{
.reg .b64 %rd<3>;
.reg .b32 %r<2>;
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x;
st.global.u32 [%rd1], %r1;
ret;
}
";

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    folder: PathBuf,
    next: i64,
}

impl Client {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-lsp-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().canonicalize().unwrap().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut child = Command::new(cargo_bin!("warpproof"))
            .arg("lsp")
            .env("WARPPROOF_CACHE", folder.join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                let mut line = String::new();
                while output.read_line(&mut line).is_ok_and(|read| read > 2) {
                    length = line.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
                    line.clear();
                }
                let mut text = vec![0; length];
                if length == 0 || output.read_exact(&mut text).is_err() {
                    return;
                }
                if sender.send(serde_json::from_slice(&text).unwrap()).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages, folder, next: 0 }
    }

    fn started(name: &str) -> Self {
        let mut client = Self::new(name);
        let capabilities = json!({ "window": { "workDoneProgress": true } });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
        let answer = client.request("initialize", params);
        assert_eq!(answer["result"]["capabilities"]["hoverProvider"], true, "{answer}");
        client.notify("initialized", json!({}));
        client
    }

    fn raw(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        self.raw(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(json!({ "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The next message that is meant; those before it are dropped.
    fn wait(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).expect("a message");
            if is_meant(&message) {
                return message;
            }
        }
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.folder.join(name).display())
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).unwrap();
    }

    fn open(&mut self, name: &str) {
        let text = std::fs::read_to_string(self.folder.join(name)).unwrap();
        let document =
            json!({ "uri": self.uri(name), "languageId": "cuda", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn save(&mut self, name: &str) {
        let document = json!({ "uri": self.uri(name) });
        self.notify("textDocument/didSave", json!({ "textDocument": document }));
    }

    /// The next diagnostics of a file.
    fn diagnostics(&mut self, name: &str) -> Vec<Value> {
        let uri = self.uri(name);
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn hover(&mut self, name: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": self.uri(name) }, "position": position });
        self.request("textDocument/hover", params)["result"].clone()
    }

    fn ended(&mut self) -> i32 {
        drop(self.input.take());
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server goes on");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn findings_come_and_go_with_the_file() {
    let mut client = Client::started("findings");
    client.write("k.cu", RACY);
    client.open("k.cu");
    let found = client.diagnostics("k.cu");
    let race = found.iter().find(|one| one["code"] == "WP0109");
    let race = race.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!((&race["severity"], &race["source"]), (&json!(1), &json!("warpproof")));
    assert_eq!(race["range"]["start"]["line"], 4, "{race}");
    let end = client.wait(|message| message["params"]["value"]["kind"] == "end");
    assert_eq!(end["params"]["token"].as_str().unwrap().split('/').next(), Some("warpproof"));
    let hover = client.hover("k.cu", 2, 18);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("refuted: races"), "{text}");
    // On the line of the finding, its code is explained.
    let hover = client.hover("k.cu", 4, 20);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("WP01"), "{hover}");

    client.write("k.cu", RIGHT);
    client.save("k.cu");
    let found = client.diagnostics("k.cu");
    assert!(found.iter().all(|one| one["severity"] != 1), "{found:?}");
    let text = client.hover("k.cu", 2, 18)["contents"]["value"].as_str().unwrap().to_owned();
    assert!(text.contains("proved: ") && text.contains("races"), "{text}");
    let params = json!({ "textDocument": { "uri": client.uri("k.cu") } });
    let lenses = client.request("textDocument/codeLens", params.clone());
    assert_eq!(lenses["result"][0]["range"]["start"]["line"], 2, "{lenses}");
    assert_eq!(client.hover("k.cu", 3, 1), json!(null));

    client.notify("textDocument/didClose", params);
    assert_eq!(client.diagnostics("k.cu"), Vec::<Value>::new());
    assert_eq!(client.request("shutdown", json!(null))["result"], json!(null));
    client.notify("exit", json!(null));
    assert_eq!(client.ended(), 0);
}

#[test]
fn projects_are_run_for_the_files_they_name() {
    let mut client = Client::started("projects");
    client.write("k.ptx", PTX);
    let entry = |block: u32| {
        format!(
            "[[check]]\nkernel = \"k.ptx\"\ngrid = 1\nblock = {block}\nargs = [\"y=s32[1]:out\"]\n"
        )
    };
    client.write("warpproof.toml", &entry(64));
    client.write("other.ptx", &PTX.replace("store", "other"));
    client.open("k.ptx");
    let found = client.diagnostics("k.ptx");
    assert!(
        found.iter().any(|one| one["code"] == "WP0109" && one["range"]["start"]["line"] == 9),
        "{found:?}"
    );
    assert!(client.hover("k.ptx", 3, 18)["contents"]["value"].as_str().unwrap().contains("check"));
    // No entry names it.
    client.open("other.ptx");
    assert_eq!(client.diagnostics("other.ptx"), Vec::<Value>::new());
    // With one thread there is no race; saving the project checks its files again.
    client.write("warpproof.toml", &entry(1));
    client.save("warpproof.toml");
    let found = client.diagnostics("k.ptx");
    assert!(found.iter().all(|one| one["code"] != "WP0109"), "{found:?}");
    client.write("warpproof.toml", "[[check]]\nkernl = 3\n");
    client.save("warpproof.toml");
    let found = client.diagnostics("warpproof.toml");
    assert!(found[0]["message"].as_str().unwrap().contains("kernl"), "{found:?}");
}

/// Ten saves in a row: the results in the end are those of the last state, and earlier jobs are stopped.
#[test]
fn a_file_that_is_saved_again_is_looked_at_again() {
    let mut client = Client::started("again");
    client.write("k.cu", RACY);
    client.open("k.cu");
    for number in 0..10 {
        client.write("k.cu", if number % 2 == 0 { RACY } else { RIGHT });
        client.save("k.cu");
    }
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let found = client.diagnostics("k.cu");
        if found.iter().all(|one| one["severity"] != 1) {
            break;
        }
        assert!(Instant::now() < end);
    }
    assert_eq!(client.request("shutdown", json!(null))["result"], json!(null));
    client.notify("exit", json!(null));
    assert_eq!(client.ended(), 0);
}

#[test]
fn malformed_messages_change_nothing() {
    let mut client = Client::new("malformed");
    let early = client.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    let wrong = client.request("initialize", json!({ "capabilities": 3 }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    assert!(client.request("initialize", params.clone()).get("result").is_some());
    for text in [
        "nonsense\r\n",
        "Content-Length: nothing\r\n",
        "Content-Length: 3\r\n\r\n{{{",
        "Content-Length: 2\r\n\r\n[]",
        "Content-Length: 4\r\n\r\n\"\\u\"",
        "Content-Length: 56\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"x\"}",
    ] {
        client.raw(text);
        let answer = client.wait(|message| message["error"]["code"] == -32700);
        assert_eq!(answer["id"], json!(null), "{text}");
    }
    for (method, params) in [
        ("textDocument/didOpen", json!({})),
        (
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": "untitled:x", "languageId": "cuda", "version": 1, "text": "" } }),
        ),
        ("textDocument/didSave", json!({ "textDocument": { "uri": "http://example.com/a.cu" } })),
        ("textDocument/didSave", json!({ "textDocument": { "uri": 7 } })),
        ("textDocument/didClose", json!([1, 2])),
        ("window/workDoneProgress/cancel", json!({ "token": 1 })),
        ("no/such/notification", json!(null)),
        ("$/cancelRequest", json!({ "id": 3 })),
    ] {
        client.notify(method, params);
    }
    assert_eq!(client.request("no/such/request", json!({}))["error"]["code"], -32601);
    assert_eq!(client.request("textDocument/hover", json!({ "x": 1 }))["error"]["code"], -32602);
    assert_eq!(client.request("initialize", params)["error"]["code"], -32600);
    assert_eq!(client.hover("nothing.cu", 0, 0), json!(null));
    client.write("header.cu", "int x;\n");
    client.open("header.cu");
    assert_eq!(client.diagnostics("header.cu"), Vec::<Value>::new());
    client.request("shutdown", json!(null));
    assert_eq!(client.request("textDocument/hover", json!({}))["error"]["code"], -32600);
    client.notify("exit", json!(null));
    assert_eq!(client.ended(), 0);
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let mut client = Client::started("gone");
    client.write("k.cu", RACY);
    client.open("k.cu");
    assert_eq!(client.ended(), 1);
    let mut client = Client::started("exit");
    client.notify("exit", json!(null));
    assert_eq!(client.ended(), 1);
}
