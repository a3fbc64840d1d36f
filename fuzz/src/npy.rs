//! Any bytes as a `.npy` file: they are refused, or the array that is read is written and read again.

use driver::npy;

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let Ok(array) = npy::from_bytes(bytes.to_vec()) else { return };
    let elements: u64 = array.shape.iter().product();
    assert_eq!(elements * array.dtype.bytes() as u64, array.data.len() as u64);
    assert!(npy::from_bytes(npy::to_bytes(&array)).is_ok_and(|again| again == array));
}
