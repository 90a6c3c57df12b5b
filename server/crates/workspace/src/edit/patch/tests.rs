use super::*;

mod parsing;
