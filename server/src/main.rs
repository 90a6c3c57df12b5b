//! azimuth
fn main() {}
