//! The support matrix in the documentation equals the one generated from the catalogue.

#[test]
fn the_documented_matrix_is_current() {
    let path = testing::corpus::root().join("docs/instructions.md");
    let documented = snapbox::Data::read_from(path.as_ref(), None);
    snapbox::assert_data_eq!(driver::support::matrix(), documented.raw());
}

#[test]
fn the_documented_functions_are_current() {
    let path = testing::corpus::root().join("docs/functions.md");
    let documented = snapbox::Data::read_from(path.as_ref(), None);
    snapbox::assert_data_eq!(driver::functions::page(), documented.raw());
}
