//! Syntax: recursive descent over tokens.

pub mod ast;
