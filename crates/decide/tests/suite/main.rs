//! Tests of the procedure as a whole: fixtures, mutants of fixtures, and random pairs.

mod check;
mod conditions;
mod corpus;
mod elements;
mod fixtures;
mod fuzz;
mod generate;
mod mutants;
mod mutate;
