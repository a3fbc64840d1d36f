//! Reports as JSON.

use crate::render::escape;
use crate::report::{Report, SCHEMA};
use serde::Serialize;

pub(super) fn render(report: &Report) -> String {
    write(report)
}

/// Several reports, in the order of the request.
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
    // Nothing in it can fail: there are no maps with odd keys, and no numbers beyond JSON's.
    let text = serde_json::to_string_pretty(value);
    text.map_or_else(|error| error.to_string(), |json| escape::json(json + "\n"))
}
