//! Splits Rust source into the tokens of imports. Comments, numbers, and the contents of strings
//! outside attributes contain no imports.

/// A token and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) line: usize,
    pub(crate) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or keyword, without `r#`.
    Name(String),
    /// `::`
    PathSeparator,
    /// A string without its quotes. Escapes stay unchanged.
    Text(String),
    /// Any other character of the syntax.
    Mark(char),
}

impl Token {
    pub(crate) fn is_mark(&self, mark: char) -> bool {
        self.kind == TokenKind::Mark(mark)
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }
}

/// The tokens of a source text. O(length).
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut scanner = TokenScanner { rest: source, line: 1, tokens: Vec::new() };
    while !scanner.rest.is_empty() {
        scanner.step();
    }
    scanner.tokens
}

struct TokenScanner<'s> {
    rest: &'s str,
    line: usize,
    tokens: Vec<Token>,
}

impl TokenScanner<'_> {
    /// Skips this many bytes.
    fn skip(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }

    fn push(&mut self, kind: TokenKind, bytes: usize) {
        self.tokens.push(Token { line: self.line, kind });
        self.skip(bytes);
    }

    fn step(&mut self) {
        let rest = self.rest;
        let Some(first) = rest.chars().next() else { return };
        if rest.starts_with("//") {
            self.skip(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.skip(comment_length(rest));
        } else if let Some((before, hashes)) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let text = &rest[before..];
            let length = text.find(&end).unwrap_or(text.len());
            self.push(TokenKind::Text(text[..length].to_owned()), (before + length + end.len()).min(rest.len()));
        } else if first == '"' {
            let length = quoted_length(rest);
            self.push(TokenKind::Text(rest[1..length].trim_end_matches('"').to_owned()), length);
        } else if first == '\'' {
            self.skip(quote_length(rest));
        } else if first.is_alphabetic() || first == '_' {
            let raw = rest.strip_prefix("r#").unwrap_or(rest);
            let length = raw.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(raw.len());
            self.push(TokenKind::Name(raw[..length].to_owned()), rest.len() - raw.len() + length);
        } else if first.is_ascii_digit() {
            self.skip(rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()));
        } else if rest.starts_with("::") {
            self.push(TokenKind::PathSeparator, 2);
        } else if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else {
            self.push(TokenKind::Mark(first), first.len_utf8());
        }
    }
}

/// Length of a block comment, which can contain others.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut position) = (0, 0);
    while position < text.len() {
        let rest = &text.as_bytes()[position..];
        if rest.starts_with(b"/*") {
            (depth, position) = (depth + 1, position + 2);
        } else if rest.starts_with(b"*/") {
            (depth, position) = (depth - 1, position + 2);
            if depth == 0 {
                return position;
            }
        } else {
            position += 1;
        }
    }
    text.len()
}

/// The start of the contents of a raw string, and the number of its `#`.
fn raw_string(text: &str) -> Option<(usize, usize)> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix("cr")).or_else(|| text.strip_prefix('r'))?;
    let opened = after.trim_start_matches('#');
    let hashes = after.len() - opened.len();
    opened.starts_with('"').then_some((text.len() - opened.len() + 1, hashes))
}

/// Length of a string with its quotes.
fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a character literal with its quotes, or of the quote of a lifetime.
fn quote_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => {
            text.char_indices().skip(3).find(|(_, c)| *c == '\'').map_or(text.len(), |(index, _)| index + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[test]
fn imports_are_kept_and_comments_and_literals_are_removed() {
    let source = r##"
        // use crate::comment;
        /* use crate::a; /* nested */ use crate::b; */
        let x: &'static str = "crate::text \" more"; let c = ['\'', ':', '\u{3a}'];
        let raw = r#"crate::raw "quoted""#;
        use crate::r#type::Thing;
    "##;
    let token_list = tokens(source);
    let names: Vec<&str> = token_list.iter().filter_map(Token::name).collect();
    assert_eq!(names, ["let", "x", "static", "str", "let", "c", "let", "raw", "use", "crate", "type", "Thing"]);
    assert_eq!(token_list.last().map(|token| token.line), Some(6));
    let texts = token_list.iter().filter(|token| matches!(token.kind, TokenKind::Text(_))).count();
    assert_eq!(texts, 2);
}
