//! Any 128 bytes as a tensor map: they are refused, or a map within the driver's limits is encoded and read again.

use ir::{TENSOR_MAP_BYTES, TensorMap};

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let Ok(bytes) = <&[u8; TENSOR_MAP_BYTES]>::try_from(bytes) else { return };
    let Ok(decoded) = TensorMap::decode(bytes) else { return };
    let map = &decoded.map;
    let _ = (map.box_bytes(), map.pitch(), map.rows(), map.tensor_bytes());
    if map.check().is_ok() {
        let again = TensorMap::decode(&map.encode(decoded.address)).map(|read| read.map);
        assert_eq!(again.as_ref(), Ok(map));
    }
}
