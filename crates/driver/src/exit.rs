//! Exit statuses of the program.

/// The meaning of an exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything requested was done or proved.
    Success = 0,
    /// Something is refuted.
    Refuted = 1,
    /// Bad usage or bad input.
    BadInput = 2,
    /// Nothing is refuted, but something is unknown or nothing was checked.
    Unknown = 3,
    /// A bug in Warpproof.
    Bug = 4,
}
