//! Measurements for the examples: processor time, memory, and growth of cost.

/// Returns the exponent of growth: the least-squares slope through the logarithms.
#[allow(dead_code, reason = "not every example has several sizes")]
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (sx, sy) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mx, my) = (sx / n, sy / n);
    let top: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let bottom: f64 = points.iter().map(|(x, _)| (x - mx) * (x - mx)).sum();
    top / bottom
}

/// Returns the user and system time of this process so far, in seconds; 0 where unknown. The system counts it in
/// ticks of 10 ms.
pub(crate) fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may contain spaces; the fields after it start behind the last parenthesis.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    ticks.iter().sum::<f64>() / 100.0
}

/// Returns the process's peak resident memory; 0 where the system does not report it.
pub(crate) fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) / 1024
}
