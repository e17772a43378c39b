//! Molecular dynamics on one controlling and four working nodes.
fn main() {}
