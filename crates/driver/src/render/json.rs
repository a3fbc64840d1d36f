//! Reports as JSON.

use crate::render::escape;
use crate::report::{Report, SCHEMA};
use serde::Serialize;

pub(super) fn render(report: &Report) -> String {
    write(report)
}

/// Several, in the order they were asked for.
pub(super) fn render_all(command: &'static str, reports: &[Report]) -> String {
    #[derive(Serialize)]
    struct All<'r> {
        schema: u32,
        command: &'static str,
        reports: &'r [Report],
    }
    write(&All { schema: SCHEMA, command, reports })
}

fn write(value: &impl Serialize) -> String {
    // Nothing in it can fail: no maps with odd keys, no numbers JSON has not.
    let text = serde_json::to_string_pretty(value);
    text.map_or_else(|error| error.to_string(), |json| escape::json(json + "\n"))
}
