//! Any valid PTX: its kernels run within their budget, without a panic. Small corpus files are good seeds.

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    crate::launch::run_all(text);
}
