//! The tokens of a spec, what stands between them, and the tree over them.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use crate::syntax::{Node as Pair, Rule};

/// A spec as the printer wants it.
pub(super) struct Tree<'i> {
    /// Without docs, which count as comments, and without what the printer decides itself: commas before closing
    /// brackets, optional semicolons.
    pub(super) tokens: Vec<Token<'i>>,
    /// Declarations.
    pub(super) items: Vec<Node>,
    /// What follows the last token.
    pub(super) end: Gap<'i>,
}

/// A leaf of the grammar's tree.
pub(super) struct Token<'i> {
    pub(super) text: Cow<'i, str>,
    /// Whether a blank stands before it on a line.
    pub(super) space: bool,
    /// What stands before it.
    pub(super) gap: Gap<'i>,
}

/// What stands between two tokens.
#[derive(Clone, Default)]
pub(super) struct Gap<'i> {
    /// A comment on the line of the token before.
    pub(super) trailing: Option<&'i str>,
    /// Comments on lines of their own, and docs.
    pub(super) own: Vec<Comment<'i>>,
    /// Whether there is a blank line directly before the token.
    pub(super) blank: bool,
}

impl Gap<'_> {
    pub(super) fn has_comments(&self) -> bool {
        self.trailing.is_some() || !self.own.is_empty()
    }

    pub(super) fn has_blank(&self) -> bool {
        self.blank || self.own.iter().any(|comment| comment.blank)
    }
}

/// A comment on a line of its own.
#[derive(Clone)]
pub(super) struct Comment<'i> {
    pub(super) text: &'i str,
    /// Whether there is a blank line before it.
    pub(super) blank: bool,
}

/// A node over tokens: one without children is one token.
pub(super) struct Node {
    pub(super) rule: Rule,
    pub(super) tokens: Range<usize>,
    pub(super) children: Vec<Node>,
}

impl Node {
    pub(super) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// Reads the grammar's tree of a text. `None` when parts of it fit nowhere.
pub(super) fn read<'i>(text: &'i str, root: Pair<'i>) -> Option<Tree<'i>> {
    let mut reader =
        Reader { text, at: 0, gap: Gap::default(), newlines: 0, tokens: Vec::new(), after_sign: false, is_right: true };
    let mut items = Vec::new();
    for child in root.into_inner() {
        items.extend(reader.node(&child, Rule::file));
    }
    reader.skip(text.len());
    reader.is_right.then_some(Tree { tokens: reader.tokens, items, end: reader.gap })
}

struct Reader<'i> {
    text: &'i str,
    /// How far it has read.
    at: usize,
    /// What it has met since the last token.
    gap: Gap<'i>,
    /// Line ends since the last token or comment.
    newlines: usize,
    tokens: Vec<Token<'i>>,
    /// Whether the last token is a sign such as `-x`.
    after_sign: bool,
    is_right: bool,
}

impl<'i> Reader<'i> {
    fn node(&mut self, pair: &Pair<'i>, parent: Rule) -> Option<Node> {
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
        (!tokens.is_empty()).then_some(Node { rule, tokens, children })
    }

    /// Leaves out a token; what stood before it goes before the next.
    fn drop(&mut self, pair: &Pair<'i>) {
        self.skip(pair.as_span().start());
        self.at = pair.as_span().start() + 1;
        self.newlines = 0;
    }

    fn leaf(&mut self, pair: &Pair<'i>, parent: Rule) -> Option<Node> {
        let (rule, start) = (pair.as_rule(), pair.as_span().start());
        self.skip(start);
        let text = match rule {
            Rule::string => pair.as_str(),
            Rule::doc | Rule::inner_doc => {
                self.at = pair.as_span().end();
                self.comment(pair.as_str().trim_end(), true);
                return None;
            }
            Rule::EOI => return None,
            // A leaf that looks at what follows may reach over blanks and comments.
            _ => {
                let text = pair.as_str().split([' ', '\t', '\r', '\n', '\u{FEFF}']).next().unwrap_or_default();
                text.find("//").map_or(text, |comment| &text[..comment])
            }
        };
        self.at = start + text.len();
        let space =
            self.tokens.last().is_some_and(|before| needs_space(&before.text, text, rule, parent)) && !self.after_sign;
        // What stands before these belongs to the line that they end.
        let gap = if matches!(text, "," | ";" | "{") {
            Gap::default()
        } else {
            Gap { blank: self.newlines >= 2, ..mem::take(&mut self.gap) }
        };
        self.newlines = 0;
        let index = self.tokens.len();
        self.after_sign = matches!(rule, Rule::minus | Rule::not) && text != "not";
        self.tokens.push(Token { text: normal(rule, text), space, gap });
        Some(Node { rule, tokens: index..index + 1, children: Vec::new() })
    }

    /// Takes in the blanks and comments up to `to`.
    fn skip(&mut self, to: usize) {
        let mut rest = self.text.get(self.at..to).unwrap_or_default();
        while let Some(start) = rest.find("//") {
            self.newlines += lines(&rest[..start]);
            let end = rest[start..].find('\n').map_or(rest.len(), |length| start + length);
            self.comment(rest[start..end].trim_end(), false);
            rest = &rest[end..];
        }
        self.newlines += lines(rest);
        self.at = self.at.max(to);
    }

    fn comment(&mut self, text: &'i str, is_doc: bool) {
        if self.newlines == 0 && !is_doc && !self.gap.has_comments() && !self.tokens.is_empty() {
            self.gap.trailing = Some(text);
        } else {
            self.gap.own.push(Comment { text, blank: self.newlines >= 2 });
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

/// Lists that may end with a comma: it is written when they are broken.
pub(super) fn takes_comma(rule: Rule) -> bool {
    use Rule::{call, enum_decl, fields, instance, keys, link_key, rgb, values, with_clause};
    matches!(rule, call | enum_decl | fields | instance | keys | link_key | rgb | values | with_clause)
}

fn needs_no_semicolon(rule: Rule) -> bool {
    use Rule::{link_decl, mark_decl, prologue, state_decl, variable_decl};
    matches!(rule, state_decl | mark_decl | variable_decl | link_decl | prologue)
}

pub(super) fn is_opener(text: &str) -> bool {
    matches!(text, "{" | "[" | "(")
}

pub(super) fn is_closer(text: &str) -> bool {
    matches!(text, "}" | "]" | ")")
}

/// Whether a blank stands between two tokens of a line; `rule` and `parent` are those of the second.
fn needs_space(before: &str, text: &str, rule: Rule, parent: Rule) -> bool {
    match (before, text) {
        ("(" | "[" | ".", _) | (_, "," | ";" | ":" | "." | ")" | "]") | ("{", "}") => false,
        (_, "[") => parent == Rule::array_type,
        (_, "(") => rule == Rule::open_paren && parent != Rule::rgb,
        _ => true,
    }
}

/// Colours have small letters.
fn normal(rule: Rule, text: &str) -> Cow<'_, str> {
    if rule == Rule::hex && text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}
