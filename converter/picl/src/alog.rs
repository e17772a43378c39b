//! Alog, the text format of Upshot and of early versions of MPE.

mod colors;
mod parser;

pub(crate) use parser::AlogParser;
