//! Clusters of a launch: the flag against the kernel's directives.

use super::launch_spec;
use driver::arguments::{
    Arguments, Invocation, LaunchSpec, MissingData, Request, build_launch, select_kernel,
};

/// The cluster and notes of the launch of a kernel without parameters, or the error in it.
fn build(
    directives: &str,
    grid: &str,
    cluster: Option<&str>,
) -> Result<(Option<[u32; 3]>, String), String> {
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{directives}\n{{\n\tret;\n}}\n"
    );
    let program = ptx::lower(&ptx::syntax::parse(&text).module).program;
    let launch = LaunchSpec {
        grid: Some(grid.parse().unwrap()),
        cluster: cluster.map(|cluster| cluster.parse().unwrap()),
        ..launch_spec()
    };
    let built = build_launch(&Request {
        program: &program,
        kernel: select_kernel(&program, None).unwrap(),
        launch: &launch,
        arguments: &Arguments::default(),
        declared: &[],
        others: &[],
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "check", file: "k.ptx" },
    });
    built
        .map(|built| (built.launch.cluster, built.notes.join("; ")))
        .map_err(|error| error.launch.join("; "))
}

#[test]
fn the_flag_and_the_kernel_say_the_size_of_clusters() {
    let none = String::new();
    assert_eq!(build("", "4", None), Ok((None, none.clone())));
    assert_eq!(build("", "4", Some("2")), Ok((Some([2, 1, 1]), none.clone())));
    let required = ".reqnctapercluster 2, 2";
    assert_eq!(build(required, "4,2", None), Ok((Some([2, 2, 1]), none.clone())));
    assert_eq!(build(required, "4,2", Some("2,2")), Ok((Some([2, 2, 1]), none.clone())));
    assert_eq!(build(".explicitcluster", "8", Some("8")), Ok((Some([8, 1, 1]), none.clone())));
    assert_eq!(build(".maxclusterrank 4", "8", Some("4")), Ok((Some([4, 1, 1]), none)));
    let (_, note) = build("", "16", Some("16")).unwrap();
    assert!(note.contains("cudaFuncAttributeNonPortableClusterSizeAllowed"), "{note}");
}

#[test]
fn impossible_launches_are_refused() {
    let table = [
        ("", "3", Some("2"), "grid 3 does not consist of clusters of 2 blocks"),
        ("", "32", Some("32"), "a cluster has at most 16 blocks, not 32"),
        ("", "4", Some("0"), "cluster.x is 0; the minimum is 1"),
        (
            ".reqnctapercluster 2",
            "4",
            Some("4"),
            "the kernel requires clusters of 2 blocks (.reqnctapercluster), not 4",
        ),
        (
            ".maxclusterrank 4",
            "8",
            Some("8"),
            "the kernel allows at most 4 blocks in a cluster (.maxclusterrank), not 8",
        ),
        (
            ".explicitcluster",
            "4",
            None,
            "the kernel must be launched with clusters (.explicitcluster): --cluster X[,Y[,Z]]",
        ),
        (
            ".reqntid 128 .reqnctapercluster 2 .blocksareclusters",
            "4",
            None,
            "grid sizes in clusters (.blocksareclusters) are not supported",
        ),
    ];
    for (directives, grid, cluster, expected) in table {
        let error = build(directives, grid, cluster).unwrap_err();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}
