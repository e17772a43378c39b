//! The tokens of a spec, the comments and blank lines between them, and the tree over the tokens.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use crate::syntax::{ParseNode as Pair, Rule};

/// A spec in the form that the printer needs.
pub(super) struct TokenTree<'i> {
    /// The tokens, without docs, which count as comments, and without the optional tokens that the
    /// printer decides itself: commas before closing brackets, optional semicolons.
    pub(super) tokens: Vec<SpecToken<'i>>,
    /// Declarations.
    pub(super) items: Vec<TokenNode>,
    /// Comments and blank lines after the last token.
    pub(super) end: TokenGap<'i>,
}

/// A leaf of the grammar's tree.
pub(super) struct SpecToken<'i> {
    pub(super) text: Cow<'i, str>,
    /// Whether a blank precedes it on a line.
    pub(super) space: bool,
    /// Comments and blank lines before it.
    pub(super) gap: TokenGap<'i>,
}

/// Comments and blank lines between two tokens.
#[derive(Clone, Default)]
pub(super) struct TokenGap<'i> {
    /// A comment on the line of the token before.
    pub(super) trailing_comment: Option<&'i str>,
    /// Comments on lines of their own, and docs.
    pub(super) lines: Vec<LineComment<'i>>,
    /// Whether there is a blank line directly before the token.
    pub(super) blank: bool,
}

impl TokenGap<'_> {
    pub(super) fn has_comments(&self) -> bool {
        self.trailing_comment.is_some() || !self.lines.is_empty()
    }

    pub(super) fn has_blank(&self) -> bool {
        self.blank || self.lines.iter().any(|comment| comment.blank)
    }
}

/// A comment on a line of its own.
#[derive(Clone)]
pub(super) struct LineComment<'i> {
    pub(super) text: &'i str,
    /// Whether there is a blank line before it.
    pub(super) blank: bool,
}

/// A node over tokens. A node without children is one token.
pub(super) struct TokenNode {
    pub(super) rule: Rule,
    pub(super) tokens: Range<usize>,
    pub(super) children: Vec<TokenNode>,
}

impl TokenNode {
    pub(super) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// Reads the grammar's tree of a text. `None` when pieces of it match no rule.
pub(super) fn read<'i>(text: &'i str, root: Pair<'i>) -> Option<TokenTree<'i>> {
    let mut reader = TokenReader {
        text,
        position: 0,
        gap: TokenGap::default(),
        newlines: 0,
        tokens: Vec::new(),
        after_sign: false,
        is_right: true,
    };
    let mut items = Vec::new();
    for child in root.into_inner() {
        items.extend(reader.node(&child, Rule::file));
    }
    reader.skip(text.len());
    reader.is_right.then_some(TokenTree { tokens: reader.tokens, items, end: reader.gap })
}

struct TokenReader<'i> {
    text: &'i str,
    /// Byte offset of the next unread character.
    position: usize,
    /// Comments and blank lines since the last token.
    gap: TokenGap<'i>,
    /// Line ends since the last token or comment.
    newlines: usize,
    tokens: Vec<SpecToken<'i>>,
    /// Whether the last token is a sign such as `-x`.
    after_sign: bool,
    is_right: bool,
}

impl<'i> TokenReader<'i> {
    fn node(&mut self, pair: &Pair<'i>, parent: Rule) -> Option<TokenNode> {
        let rule = pair.as_rule();
        self.is_right &= !is_bad(rule);
        let mut inner = pair.clone().into_inner().peekable();
        if inner.peek().is_none() {
            return self.leaf(pair, parent);
        }
        let first = self.tokens.len();
        let mut children = Vec::new();
        while let Some(child) = inner.next() {
            let closes = inner.peek().is_some_and(|next| is_closer(next.as_str()));
            if child.as_rule() == Rule::comma && closes && takes_comma(rule)
                || child.as_rule() == Rule::semicolon && needs_no_semicolon(rule)
            {
                self.drop(&child);
            } else {
                children.extend(self.node(&child, rule));
            }
        }
        let tokens = first..self.tokens.len();
        (!tokens.is_empty()).then_some(TokenNode { rule, tokens, children })
    }

    /// Drops a token. The comments before it move to the next token.
    fn drop(&mut self, pair: &Pair<'i>) {
        self.skip(pair.as_span().start());
        self.position = pair.as_span().start() + 1;
        self.newlines = 0;
    }

    fn leaf(&mut self, pair: &Pair<'i>, parent: Rule) -> Option<TokenNode> {
        let (rule, start) = (pair.as_rule(), pair.as_span().start());
        self.skip(start);
        let text = match rule {
            Rule::string => pair.as_str(),
            Rule::doc | Rule::inner_doc => {
                self.position = pair.as_span().end();
                self.comment(pair.as_str().trim_end(), true);
                return None;
            }
            Rule::EOI => return None,
            // The text of a leaf with a lookahead can include blanks and comments after it.
            _ => {
                let text = pair.as_str().split([' ', '\t', '\r', '\n', '\u{FEFF}']).next().unwrap_or_default();
                text.find("//").map_or(text, |comment| &text[..comment])
            }
        };
        self.position = start + text.len();
        let space =
            self.tokens.last().is_some_and(|before| needs_space(&before.text, text, rule, parent)) && !self.after_sign;
        // Comments before these tokens move after them, because these tokens end the line.
        let gap = if matches!(text, "," | ";" | "{") {
            TokenGap::default()
        } else {
            TokenGap { blank: self.newlines >= 2, ..mem::take(&mut self.gap) }
        };
        self.newlines = 0;
        let index = self.tokens.len();
        self.after_sign = matches!(rule, Rule::minus | Rule::not) && text != "not";
        self.tokens.push(SpecToken { text: normalize_colour(rule, text), space, gap });
        Some(TokenNode { rule, tokens: index..index + 1, children: Vec::new() })
    }

    /// Reads the blanks and comments up to `to`.
    fn skip(&mut self, to: usize) {
        let mut rest = self.text.get(self.position..to).unwrap_or_default();
        while let Some(start) = rest.find("//") {
            self.newlines += lines(&rest[..start]);
            let end = rest[start..].find('\n').map_or(rest.len(), |length| start + length);
            self.comment(rest[start..end].trim_end(), false);
            rest = &rest[end..];
        }
        self.newlines += lines(rest);
        self.position = self.position.max(to);
    }

    fn comment(&mut self, text: &'i str, is_doc: bool) {
        if self.newlines == 0 && !is_doc && !self.gap.has_comments() && !self.tokens.is_empty() {
            self.gap.trailing_comment = Some(text);
        } else {
            self.gap.lines.push(LineComment { text, blank: self.newlines >= 2 });
        }
        self.newlines = 0;
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn is_bad(rule: Rule) -> bool {
    use Rule::{bad_action, bad_enum_value, bad_field, bad_item, bad_member, bad_rule, bad_tree_member, bad_value};
    matches!(rule, bad_item | bad_member | bad_rule | bad_tree_member | Rule::missing_close)
        || matches!(rule, bad_action | bad_enum_value | bad_field | bad_value)
}

/// Whether a list can end with a comma. The printer writes it when the list is broken.
pub(super) fn takes_comma(rule: Rule) -> bool {
    use Rule::{call, communicator, enum_decl, fields, instance, keys, link_key, rgb, values, with_clause};
    matches!(rule, call | communicator | enum_decl | fields | instance | keys | link_key | rgb | values | with_clause)
}

fn needs_no_semicolon(rule: Rule) -> bool {
    use Rule::{category_decl, link_decl, mark_decl, prologue, state_decl, variable_decl};
    matches!(rule, state_decl | mark_decl | variable_decl | link_decl | category_decl | prologue)
}

pub(super) fn is_opener(text: &str) -> bool {
    matches!(text, "{" | "[" | "(")
}

pub(super) fn is_closer(text: &str) -> bool {
    matches!(text, "}" | "]" | ")")
}

/// Whether a blank separates two tokens of a line. `rule` and `parent` are those of the second.
fn needs_space(previous_text: &str, text: &str, rule: Rule, parent: Rule) -> bool {
    match (previous_text, text) {
        ("(" | "[" | ".", _) | (_, "," | ";" | ":" | "." | ")" | "]") | ("{", "}") => false,
        (_, "[") => parent == Rule::array_type,
        (_, "(") => rule == Rule::open_paren && parent != Rule::rgb,
        _ => true,
    }
}

/// Converts the letters of colours to lower case.
fn normalize_colour(rule: Rule, text: &str) -> Cow<'_, str> {
    if rule == Rule::hex && text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}
