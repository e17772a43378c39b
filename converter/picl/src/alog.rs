//! Alog, the text format of Upshot and of early versions of MPE.

mod alog_parser;
mod color_names;

pub(crate) use alog_parser::AlogParser;
