//! Numbers, colours and texts.

use super::ast::{Expr, Text, TextPiece};
use super::ast_builder::{AstBuilder, ParseNode, children};
use super::css;
use super::grammar::Rule;
use crate::diagnostics::{Code, Diagnostic, did_you_mean};
use crate::source_text::SourceSpan;
use crate::spec::{NumberNotation, SpecColor, TextAlign, ValueFormat};

/// The text between the quotes of a literal.
struct TextContent<'i> {
    text: &'i str,
    /// Offset of the text in the file.
    start: usize,
    /// Whether backslashes are escapes.
    has_escapes: bool,
}

impl AstBuilder<'_> {
    /// An unsigned integer. 0 after an error.
    pub(super) fn unsigned_integer(&mut self, node: &ParseNode<'_>) -> u64 {
        let text = node.as_str().replace('_', "");
        let parsed = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
            (Some(digits), _) => u64::from_str_radix(digits, 16),
            (_, Some(digits)) => u64::from_str_radix(digits, 2),
            _ => text.parse(),
        };
        parsed.unwrap_or_else(|_| {
            let span = self.span(node);
            self.push(
                Diagnostic::error(Code::BadNumber, "the integer is too large")
                    .with_location(span, "does not fit into 64 bits")
                    .help(format!("the largest integer here is {}", u64::MAX)),
            );
            0
        })
    }

    /// An integer of an expression. 0 after an error.
    pub(super) fn integer(&mut self, node: &ParseNode<'_>) -> i64 {
        i64::try_from(self.unsigned_integer(node)).unwrap_or_else(|_| {
            let span = self.span(node);
            self.push(
                Diagnostic::error(Code::BadNumber, "the integer is too large")
                    .with_location(span, "expressions use signed integers of 64 bits")
                    .help(format!("the largest integer here is {}", i64::MAX)),
            );
            0
        })
    }

    /// A float, or an integer at a place for a float.
    pub(super) fn float(&mut self, node: &ParseNode<'_>) -> f64 {
        let value: f64 = node.as_str().replace('_', "").parse().unwrap_or(f64::INFINITY);
        if value.is_finite() {
            return value;
        }
        let span = self.span(node);
        self.push(
            Diagnostic::error(Code::BadNumber, "the number is too large")
                .with_location(span, "not a finite 64-bit float"),
        );
        0.0
    }

    /// `#rrggbb`, a name of CSS, or `rgb(…)`.
    pub(super) fn color(&mut self, node: ParseNode<'_>) -> Option<SpecColor> {
        let inner = node.into_inner().next()?;
        match inner.as_rule() {
            Rule::hex => self.hexadecimal(&inner),
            Rule::rgb => self.three_numbers(inner),
            _ => self.named_color(&inner),
        }
    }

    fn hexadecimal(&mut self, node: &ParseNode<'_>) -> Option<SpecColor> {
        let digits = &node.as_str()[1..];
        let part = |offset: usize| digits.get(offset..offset + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        if let (6, Some(red), Some(green), Some(blue)) = (digits.len(), part(0), part(2), part(4)) {
            return Some(SpecColor { red, green, blue });
        }
        let doubled: String = digits.chars().flat_map(|digit| [digit, digit]).collect();
        let help = if digits.len() == 3 && digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
            format!("write `#{doubled}`")
        } else {
            "write six hexadecimal digits, red, green and blue: `#d62728`".to_owned()
        };
        self.bad_color(node, "not six hexadecimal digits", help)
    }

    /// Parses three numbers. Integers range to 255, as in CSS. Numbers with a decimal point range
    /// from 0.0 to 1.0, as in Pajé.
    fn three_numbers(&mut self, node: ParseNode<'_>) -> Option<SpecColor> {
        let literal_node = node.clone();
        let parts: Vec<_> =
            children(node).filter(|child| matches!(child.as_rule(), Rule::float | Rule::integer)).collect();
        let unit = parts.iter().any(|part| part.as_rule() == Rule::float);
        let mut channels = [0u8; 3];
        for (channel, part) in channels.iter_mut().zip(&parts) {
            let value = self.float(part) * if unit { 255.0 } else { 1.0 };
            if value > 255.0 {
                let (label, help) = if unit {
                    ("more than 1.0", "with a decimal point, the three numbers are from 0.0 to 1.0")
                } else {
                    ("more than 255", "without a decimal point, the three numbers are from 0 to 255")
                };
                return self.bad_color(part, label, help.to_owned());
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 255")]
            let rounded = value.round() as u8;
            *channel = rounded;
        }
        let [red, green, blue] = channels;
        debug_assert!(parts.len() == 3, "{}", literal_node.as_str());
        Some(SpecColor { red, green, blue })
    }

    fn named_color(&mut self, node: &ParseNode<'_>) -> Option<SpecColor> {
        let name = node.as_str().trim_matches('`');
        css::find_color(name).or_else(|| {
            let help = did_you_mean(name, css::names());
            let help = help.unwrap_or_else(|| "write a name of CSS, `#d62728` or `rgb(214, 39, 40)`".to_owned());
            self.bad_color(node, "not a colour of CSS", help)
        })
    }

    fn bad_color(&mut self, node: &ParseNode<'_>, label: &str, help: String) -> Option<SpecColor> {
        let span = self.span(node);
        self.push(Diagnostic::error(Code::BadColor, "this is not a colour").with_location(span, label).help(help));
        None
    }

    /// A text without holes.
    pub(super) fn plain_text(&mut self, node: &ParseNode<'_>) -> String {
        let content = self.content(node);
        if content.has_escapes { self.unescape(content.text, content.start) } else { content.text.to_owned() }
    }

    /// A text with expressions in its `{…}`.
    pub(super) fn text_with_holes(&mut self, node: &ParseNode<'_>) -> Text {
        let TextContent { text: content, start, has_escapes } = self.content(node);
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut position = 0;
        while position < content.len() {
            let remainder = &content[position..];
            let brace = remainder.find(['{', '}', '\\']).unwrap_or(remainder.len());
            literal.push_str(&remainder[..brace]);
            position += brace;
            let remainder = &content[position..];
            if let Some(escaped) = remainder.strip_prefix('\\').filter(|_| has_escapes) {
                let length = 1 + escape_length(escaped);
                literal.push_str(&self.unescape(&remainder[..length], start + position));
                position += length;
            } else if remainder.starts_with("{{") || remainder.starts_with("}}") {
                literal.push_str(&remainder[..1]);
                position += 2;
            } else if remainder.starts_with('{') {
                let Some(length) = remainder.find('}') else {
                    self.bad_brace(start + position, "this `{` opens a hole that no `}` closes");
                    break;
                };
                if !literal.is_empty() {
                    pieces.push(TextPiece::Literal(std::mem::take(&mut literal)));
                }
                let (hole, format) = self.hole_with_format(&remainder[1..length], start + position + 1);
                pieces.push(TextPiece::Hole(hole, format));
                position += length + 1;
            } else if remainder.starts_with('}') {
                self.bad_brace(start + position, "this `}` closes no hole");
                position += 1;
            } else if !remainder.is_empty() {
                literal.push('\\');
                position += 1;
            }
        }
        if !literal.is_empty() || pieces.is_empty() {
            pieces.push(TextPiece::Literal(literal));
        }
        Text { pieces }
    }

    /// `value:08.3`: an expression and its format.
    fn hole_with_format(&mut self, text: &str, start: usize) -> (Expr, ValueFormat) {
        let Some(colon) = text.find(':') else { return (self.hole(text, start), ValueFormat::default()) };
        let format_text = &text[colon + 1..];
        let format = format(format_text).unwrap_or_else(|| {
            let span = SourceSpan::new(self.file, start + colon + 1..start + text.len());
            self.push(
                Diagnostic::error(Code::BadFormat, format!("`{format_text}` is not a format of a hole"))
                    .with_location(span, "not `[<|>|^][0][WIDTH][.PRECISION][x|X|b|e]`")
                    .help("`{x:8}` has at least 8 characters, `{x:.2}` two digits after the point, `{x:x}` is hexadecimal"),
            );
            ValueFormat::default()
        });
        (self.hole(&text[..colon], start), format)
    }

    fn bad_brace(&mut self, offset: usize, label: &str) {
        let span = SourceSpan::new(self.file, offset..offset + 1);
        self.push(
            Diagnostic::error(Code::BadEscape, "braces of a text do not match")
                .with_location(span, label)
                .help("write `{{` and `}}` for braces in the text"),
        );
    }

    fn content<'i>(&self, node: &ParseNode<'i>) -> TextContent<'i> {
        let text = node.as_str();
        let start = self.offset + node.as_span().start();
        match text.strip_prefix("\"\"\"").and_then(|rest| rest.strip_suffix("\"\"\"")) {
            Some(long) => {
                let content = long.strip_prefix("\r\n").or_else(|| long.strip_prefix('\n')).unwrap_or(long);
                TextContent { text: content, start: start + 3 + long.len() - content.len(), has_escapes: false }
            }
            None => TextContent { text: &text[1..text.len() - 1], start: start + 1, has_escapes: true },
        }
    }

    fn unescape(&mut self, text: &str, start: usize) -> String {
        let mut out = String::new();
        let mut position = 0;
        while let Some(character) = text[position..].chars().next() {
            if character != '\\' {
                out.push(character);
                position += character.len_utf8();
                continue;
            }
            let remainder = &text[position + 1..];
            let length = escape_length(remainder);
            match unescape_character(&remainder[..length]) {
                Some(character) => out.push(character),
                None => {
                    let span = SourceSpan::new(self.file, start + position..start + position + 1 + length);
                    self.push(
                        Diagnostic::error(Code::BadEscape, "unknown escape in a text")
                            .with_location(span, "not an escape")
                            .help("write `\\\\` for a backslash; `\\n`, `\\t`, `\\r`, `\\0`, `\\\"` and `\\u{e9}` are the others"),
                    );
                }
            }
            position += 1 + length;
        }
        out
    }
}

/// `[<|>|^][0][WIDTH][.PRECISION][x|X|b|e]`
fn format(text: &str) -> Option<ValueFormat> {
    let mut format = ValueFormat::default();
    let mut remainder = text.trim();
    let strip = |rest: &mut &str, sign: &str| rest.strip_prefix(sign).map(|after| *rest = after).is_some();
    for (sign, align) in [("<", TextAlign::Left), (">", TextAlign::Right), ("^", TextAlign::Center)] {
        if strip(&mut remainder, sign) {
            format.align = Some(align);
            break;
        }
    }
    format.zeros = strip(&mut remainder, "0");
    format.width = number(&mut remainder)?.unwrap_or(0);
    if strip(&mut remainder, ".") {
        format.precision = Some(number(&mut remainder)??);
    }
    format.notation = match remainder {
        "" => NumberNotation::Usual,
        "x" => NumberNotation::Hexadecimal,
        "X" => NumberNotation::UpperHexadecimal,
        "b" => NumberNotation::Binary,
        "e" => NumberNotation::Exponent,
        _ => return None,
    };
    Some(format)
}

/// The number at the start, if there is one. `None` when it exceeds `MAX_NUMBER`, because a value
/// of more characters is unreadable.
fn number(text: &mut &str) -> Option<Option<u16>> {
    const MAX_NUMBER: u16 = 100;
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, after) = text.split_at(end);
    *text = after;
    if digits.is_empty() {
        return Some(None);
    }
    digits.parse().ok().filter(|number| *number <= MAX_NUMBER).map(Some)
}

/// Length of an escape after its backslash.
fn escape_length(text: &str) -> usize {
    if text.starts_with("u{")
        && let Some(end) = text.find('}')
    {
        return end + 1;
    }
    text.chars().next().map_or(0, char::len_utf8)
}

fn unescape_character(escape: &str) -> Option<char> {
    Some(match escape {
        "n" => '\n',
        "t" => '\t',
        "r" => '\r',
        "0" => '\0',
        "\\" => '\\',
        "\"" => '"',
        "'" => '\'',
        _ => {
            let digits = escape.strip_prefix("u{")?.strip_suffix('}')?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
        }
    })
}
