//! Files as NumPy writes them, and malformed ones.

use driver::npy::{Array, Dtype, from_bytes, read, to_bytes, write};
use std::path::PathBuf;

/// A file with this header; the data follows.
fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend_from_slice(&[version, 0]);
    let length = (header.len() as u32).to_le_bytes();
    bytes.extend_from_slice(if version == 1 { &length[..2] } else { &length });
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

#[test]
fn all_versions_are_read() {
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }   \n";
    let expected = Array { dtype: Dtype::I2, shape: vec![2, 1], data: vec![1, 0, 2, 0] };
    for version in 1..=3 {
        assert_eq!(from_bytes(file(version, header, &[1, 0, 2, 0])), Ok(expected.clone()));
    }
}

#[test]
fn headers_may_be_written_differently() {
    let headers = [
        "{'shape': (3,), 'descr': '|u1', 'fortran_order': False}",
        "{\"descr\":\"u1\",\"fortran_order\":False,\"shape\":(3,)}",
        "{'descr': '>u1', 'fortran_order': False, 'shape': (3L,), }\n",
    ];
    for header in headers {
        let array = from_bytes(file(1, header, &[7, 8, 9])).unwrap();
        assert_eq!(array, Array { dtype: Dtype::U1, shape: vec![3], data: vec![7, 8, 9] });
    }
}

#[test]
fn every_type_is_read() {
    let table = [
        ("<f8", Dtype::F8),
        ("<f4", Dtype::F4),
        ("<f2", Dtype::F2),
        ("<i8", Dtype::I8),
        ("<i4", Dtype::I4),
        ("<i2", Dtype::I2),
        ("|i1", Dtype::I1),
        ("<u8", Dtype::U8),
        ("<u4", Dtype::U4),
        ("<u2", Dtype::U2),
        ("|u1", Dtype::U1),
        ("|b1", Dtype::Bool),
        ("<V2", Dtype::Raw(2)),
        ("|V1", Dtype::Raw(1)),
    ];
    for (name, dtype) in table {
        let header = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': (), }}");
        let array = from_bytes(file(1, &header, &vec![1; dtype.bytes()])).unwrap();
        assert_eq!((array.dtype, array.shape.len()), (dtype, 0));
        assert_eq!(dtype.to_string(), name);
    }
}

#[test]
fn fortran_order_is_undone() {
    let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
    let array = from_bytes(file(1, header, &[0, 10, 1, 11, 2, 12])).unwrap();
    assert_eq!(array.data, [0, 1, 2, 10, 11, 12]);
    let header = "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 1, 2), }";
    let array = from_bytes(file(1, header, &[1, 0, 3, 0, 2, 0, 4, 0])).unwrap();
    assert_eq!(array.data, [1, 0, 2, 0, 3, 0, 4, 0]);
}

/// The layout of `numpy.lib.format`: the header padded with blanks so that data starts at 128.
#[test]
fn files_are_written_as_numpy_does() {
    let data: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let array = Array { dtype: Dtype::F4, shape: vec![1, 2], data };
    let mut expected = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    expected.extend_from_slice(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }");
    expected.resize(127, b' ');
    expected.push(b'\n');
    expected.extend_from_slice(&array.data);
    assert_eq!(to_bytes(&array), expected);
}

#[test]
fn other_files_are_explained() {
    let header = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
    };
    let good = header("'|u1'", "False", "(3,)");
    let table = [
        (b"hello".to_vec(), "is not a .npy file"),
        (Vec::new(), "is not a .npy file"),
        (b"PK\x03\x04".to_vec(), "is an .npz archive"),
        (b"\x93NUMPY".to_vec(), "ends within its header"),
        (b"\x93NUMPY\x01\x00\xff".to_vec(), "ends within its header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "ends within its header"),
        (file(9, &good, &[1, 2, 3]), "has .npy version 9"),
        (file(1, &good, &[1, 2]), "has 2 bytes of data; an array of |u1 with shape [3] has 3"),
        (file(1, &good, &[1, 2, 3, 4]), "has 4 bytes of data"),
        (
            file(1, &header("'>f4'", "False", "(1,)"), &[0; 4]),
            "is big-endian (`>f4`); save it as `<f4`",
        ),
        (file(1, &header("'|O'", "False", "(1,)"), &[0; 4]), "elements of type `|O`"),
        (file(1, &header("'<c8'", "False", "(1,)"), &[0; 8]), "elements of type `<c8`"),
        (file(1, &header("[('a', '<f4')]", "False", "(1,)"), &[0; 4]), "array of structures"),
        (file(1, &header("'<f4'", "Maybe", "(1,)"), &[0; 4]), "expected True or False"),
        (file(1, &header("'<f4'", "False", "(-1,)"), &[0; 4]), "expected a size, found `-1,), }`"),
        (file(1, &header("'<f4'", "False", "(1"), &[0; 4]), "malformed header"),
        (file(1, &header("'<f4'", "False", "(99999999999999999999,)"), &[]), "expected a size"),
        (
            file(1, &header("'<f4'", "False", "(4294967296, 4294967296)"), &[]),
            "has more than any file has",
        ),
        (file(1, "{'descr': '<f4', }", &[]), "has no `fortran_order` in its header"),
        (file(1, "{'descr", &[]), "expected a string"),
        (file(1, "{'more': 1}", &[]), "unknown key `more`"),
        (file(1, &format!("{good} x"), &[1, 2, 3]), "text after the dictionary"),
    ];
    for (bytes, expected) in table {
        let error = from_bytes(bytes).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}

/// A test's own folder, removed at its end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let folder = format!("warpproof-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn writing_replaces_the_whole_file_or_nothing() {
    let folder = Folder::new("npy");
    let path = folder.0.join("y.npy");
    let first = Array { dtype: Dtype::U1, shape: vec![2], data: vec![1, 2] };
    let second = Array { dtype: Dtype::Bool, shape: vec![], data: vec![1] };
    for array in [&first, &second] {
        write(&path, array).unwrap();
        assert_eq!(&read(&path).unwrap(), array);
    }
    // A file cannot replace a folder, and nothing is left beside it.
    let blocked = folder.0.join("folder");
    std::fs::create_dir(&blocked).unwrap();
    std::fs::write(blocked.join("file"), "").unwrap();
    let error = write(&blocked, &first).unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
    let left = std::fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(left, 2, "y.npy and the folder");
    assert!(write(&folder.0.join("missing/y.npy"), &first).is_err());
    assert!(write(std::path::Path::new("/"), &first).is_err());
    let error = read(&folder.0.join("none.npy")).unwrap_err().to_string();
    assert!(error.contains("none.npy` cannot be read"), "{error}");
}
