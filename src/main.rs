//! tidings
fn main() {}
