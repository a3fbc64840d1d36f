//! From CUDA C++ to PTX, with a compiler that is found when it is needed. PTX input needs none of it.

pub mod locate;
