//! From tokens to lines: one declaration per line, and lists on one line or with one element per
//! line.

use std::mem;
use std::ops::Range;

use super::out::{FormatOutput, width};
use super::token::{SpecToken, TokenGap, TokenNode, TokenTree, is_closer, is_opener, takes_comma};
use super::width::{INDENT, MAX_WIDTH};
use crate::syntax::Rule;

/// Maximum number of tokens examined to find the tokens that must stay on the line of the token
/// before them.
const MAX_LEAD: usize = 8;

/// The formatted text of a spec.
pub(super) fn print(tree: &TokenTree<'_>) -> String {
    let mut printer = SpecPrinter::new(&tree.tokens);
    printer.separate(&tree.items);
    printer.items(&tree.items, 0);
    printer.end(&tree.end);
    printer.out.finish()
}

pub(super) struct SpecPrinter<'t> {
    pub(super) tokens: &'t [SpecToken<'t>],
    pub(super) gaps: Vec<TokenGap<'t>>,
    /// Total number of columns of the tokens before each token, on one line.
    widths: Vec<usize>,
    /// Number of tokens with comments before each token.
    commented: Vec<usize>,
    /// Minimum column of each token.
    pub(super) columns: Vec<usize>,
    pub(super) out: FormatOutput,
    pub(super) pending_space: PendingSpace,
    /// Indentation of the current node. Its continuation lines have one level more.
    pub(super) base: usize,
}

/// The output before the next token.
#[derive(Clone, Copy)]
pub(super) enum PendingSpace {
    /// A blank, if the two tokens require one.
    Space,
    /// A new line.
    Line { indent: usize, keeps_blank: bool },
    /// Nothing, because the line or blank is already printed.
    Nothing,
}

impl<'t> SpecPrinter<'t> {
    fn new(tokens: &'t [SpecToken<'t>]) -> Self {
        let (mut widths, mut commented) = (vec![0], vec![0]);
        let (mut columns, mut comments) = (0, 0);
        for token in tokens {
            // Only the first line of a text of several lines counts.
            columns += width(token.text.split('\n').next().unwrap_or_default()) + usize::from(token.space);
            comments += usize::from(token.gap.has_comments());
            widths.push(columns);
            commented.push(comments);
        }
        Self {
            tokens,
            gaps: tokens.iter().map(|token| token.gap.clone()).collect(),
            widths,
            commented,
            columns: vec![0; tokens.len()],
            out: FormatOutput::default(),
            pending_space: PendingSpace::Nothing,
            base: 0,
        }
    }

    /// Number of columns of these tokens on one line.
    pub(super) fn width(&self, tokens: Range<usize>) -> usize {
        if tokens.is_empty() {
            return 0;
        }
        self.widths[tokens.end] - self.widths[tokens.start] - usize::from(self.tokens[tokens.start].space)
    }

    /// Whether there are comments between these tokens.
    pub(super) fn has_comments(&self, tokens: Range<usize>) -> bool {
        !tokens.is_empty() && self.commented[tokens.end] > self.commented[tokens.start + 1]
    }

    /// Whether these tokens fit on the line, followed by `tail` columns.
    pub(super) fn fits(&self, tokens: Range<usize>, tail: usize) -> bool {
        let space = matches!(self.pending_space, PendingSpace::Space) && self.tokens[tokens.start].space;
        !self.has_comments(tokens.clone())
            && self.out.column + usize::from(space) + self.width(tokens) + tail <= MAX_WIDTH
    }

    /// Prints the output before a token: comments, and the beginning of a line.
    fn arrive(&mut self, token: usize) {
        let gap = mem::take(&mut self.gaps[token]);
        let (indent, keeps_blank) = match self.pending_space {
            PendingSpace::Line { indent, keeps_blank } => (indent, keeps_blank),
            PendingSpace::Space | PendingSpace::Nothing => (self.base + INDENT, true),
        };
        let is_line = matches!(self.pending_space, PendingSpace::Line { .. });
        let has_lines = !gap.lines.is_empty();
        if self.comments(&gap, indent, keeps_blank) || is_line {
            self.out.newline(gap.blank && (has_lines || is_line && keeps_blank), indent);
            self.pending_space = PendingSpace::Nothing;
        }
    }

    /// Prints comments. Returns whether there are any, because a new line must then follow.
    fn comments(&mut self, gap: &TokenGap<'_>, indent: usize, keeps_blank: bool) -> bool {
        if let Some(comment) = gap.trailing_comment {
            self.out.trailing_comment(comment);
        }
        for (place, comment) in gap.lines.iter().enumerate() {
            self.out.newline(comment.blank && (keeps_blank || place > 0), indent);
            self.out.push(comment.text);
        }
        gap.has_comments()
    }

    pub(super) fn token(&mut self, token: usize) {
        self.arrive(token);
        if matches!(self.pending_space, PendingSpace::Space) && self.tokens[token].space {
            self.out.push(" ");
            self.out.pad(self.columns[token]);
        }
        self.out.push(&self.tokens[token].text);
        self.pending_space = PendingSpace::Space;
    }

    /// Prints a closing bracket on a line of its own. Comments before it are still inside the
    /// brackets.
    fn close(&mut self, token: usize, indent: usize, is_empty: bool) {
        let gap = mem::take(&mut self.gaps[token]);
        self.comments(&gap, indent + INDENT, !is_empty);
        self.pending_space = PendingSpace::Line { indent, keeps_blank: false };
        self.token(token);
    }

    /// Prints the comments after the last token.
    fn end(&mut self, gap: &TokenGap<'_>) {
        self.comments(gap, 0, true);
    }

    /// Prints declarations, one per line.
    fn items(&mut self, items: &[TokenNode], indent: usize) {
        self.align_arrows(items, indent);
        for (place, item) in items.iter().enumerate() {
            self.base = indent;
            self.pending_space = PendingSpace::Line { indent, keeps_blank: place > 0 };
            match item.rule {
                Rule::rule_decl => self.rule(item, indent),
                rule if is_block(rule) => self.block(item, indent),
                _ => self.node(item, 0),
            }
        }
    }

    /// Prints a declaration that contains declarations.
    fn block(&mut self, node: &TokenNode, indent: usize) {
        let is_open = |child: &TokenNode| child.is_leaf() && self.tokens[child.tokens.start].text == "{";
        let (Some(open), Some(close)) = (node.children.iter().position(is_open), node.children.last()) else {
            return self.node(node, 0);
        };
        self.arrive(node.tokens.start);
        self.sequence(&node.children[..open], " {".len());
        self.token(node.children[open].tokens.start);
        let members = &node.children[open + 1..node.children.len() - 1];
        let close = close.tokens.start;
        if members.is_empty() && !self.gaps[close].has_comments() {
            return self.token(close);
        }
        self.items(members, indent + INDENT);
        self.base = indent;
        self.close(close, indent, members.is_empty());
    }

    /// Prints a node on the line if it fits there with `tail` columns after it. Otherwise it is
    /// broken according to its kind.
    pub(super) fn node(&mut self, node: &TokenNode, tail: usize) {
        let first = node.tokens.start;
        if node.is_leaf() {
            return self.token(first);
        }
        self.arrive(first);
        if node.rule == Rule::prologue {
            return self.prologue(node);
        }
        if self.fits(node.tokens.clone(), tail) {
            return self.print_on_one_line(node.tokens.clone());
        }
        match node.rule {
            Rule::expr => self.operands(&node.children, tail),
            rule if is_block(rule) => self.sequence(&node.children, tail),
            _ if self.is_action(node) => self.action(node, tail),
            _ => match self.brackets(node) {
                Some(open) => self.list(node, open, tail),
                None => self.sequence(&node.children, tail),
            },
        }
    }

    pub(super) fn print_on_one_line(&mut self, tokens: Range<usize>) {
        for token in tokens {
            self.token(token);
        }
    }

    /// Prints nodes on one line. The line can end before some kinds of nodes if they do not fit.
    pub(super) fn sequence(&mut self, nodes: &[TokenNode], tail: usize) {
        for (place, node) in nodes.iter().enumerate() {
            let tail =
                if node.is_leaf() && !may_start_line(node.rule) { 0 } else { self.lead(&nodes[place + 1..], tail) };
            let starts = place > 0 && may_start_line(node.rule) && !self.fits(node.tokens.clone(), tail);
            let base = self.base;
            if starts {
                self.base += INDENT;
                self.pending_space = PendingSpace::Line { indent: self.base, keeps_blank: false };
            }
            self.node(node, tail);
            self.base = base;
        }
    }

    /// Number of columns that must stay on the line of the node before these nodes.
    pub(super) fn lead(&self, nodes: &[TokenNode], tail: usize) -> usize {
        let mut columns = 0;
        for node in nodes {
            if may_start_line(node.rule) {
                return columns;
            }
            for token in node.tokens.clone().take(MAX_LEAD) {
                columns += self.widths[token + 1] - self.widths[token];
                if is_opener(&self.tokens[token].text) {
                    return columns;
                }
            }
            if !node.is_leaf() {
                return columns;
            }
        }
        columns + tail
    }

    /// Position of the opening bracket of a node, if the node ends with a closing one.
    fn brackets(&self, node: &TokenNode) -> Option<usize> {
        let is = |child: &TokenNode, matches: fn(&str) -> bool| {
            child.is_leaf() && matches(&self.tokens[child.tokens.start].text)
        };
        node.children.last().filter(|last| is(last, is_closer))?;
        node.children.iter().position(|child| is(child, is_opener))
    }

    /// Prints a list that does not fit on the line, with one element per line.
    fn list(&mut self, node: &TokenNode, open_bracket: usize, tail: usize) {
        let (head, rest) = node.children.split_at(open_bracket);
        let last = node.tokens.end - 1;
        let brackets = rest[0].tokens.start..node.tokens.end;
        self.sequence(head, self.width(brackets.start..brackets.start + 1) + 1);
        if self.fits(brackets.clone(), tail) {
            return self.print_on_one_line(brackets);
        }
        self.token(brackets.start);
        let elements = &rest[1..rest.len() - 1];
        if elements.is_empty() && !self.gaps[last].has_comments() {
            return self.token(last);
        }
        let base = self.base;
        self.align_values(node, elements, base + INDENT);
        let mut is_first = true;
        for (place, element) in elements.iter().enumerate() {
            if element.rule == Rule::comma {
                self.token(element.tokens.start);
                continue;
            }
            self.base = base + INDENT;
            self.pending_space = PendingSpace::Line { indent: self.base, keeps_blank: !is_first };
            is_first = false;
            let follows = place + 1 < elements.len() || takes_comma(node.rule);
            self.node(element, usize::from(follows));
        }
        if takes_comma(node.rule) && !elements.is_empty() {
            self.out.push(",");
        }
        self.base = base;
        self.close(last, base, elements.is_empty());
    }

    /// Prints each text on a line of its own, aligned with the first.
    fn prologue(&mut self, node: &TokenNode) {
        let indent = self.base + self.width(node.tokens.start..node.tokens.start + 1) + 1;
        for (place, child) in node.children.iter().enumerate() {
            if place > 1 {
                self.pending_space = PendingSpace::Line { indent, keeps_blank: false };
            }
            self.token(child.tokens.start);
        }
    }

    /// Inserts a blank line between declarations of several lines, and between rules and other
    /// declarations.
    fn separate(&mut self, items: &[TokenNode]) {
        for pair in items.windows(2) {
            let is_rule = |node: &TokenNode| node.rule == Rule::rule_decl;
            let gap = &mut self.gaps[pair[1].tokens.start];
            let needs_blank =
                is_block(pair[0].rule) || is_block(pair[1].rule) || is_rule(&pair[0]) != is_rule(&pair[1]);
            if needs_blank && !gap.has_blank() {
                match gap.lines.first_mut() {
                    Some(comment) => comment.blank = true,
                    None => gap.blank = true,
                }
            }
        }
    }
}

fn is_block(rule: Rule) -> bool {
    matches!(rule, Rule::level_decl | Rule::paje_decl | Rule::container_decl | Rule::output_decl)
}

/// Whether a continuation line can start with this rule.
pub(super) fn may_start_line(rule: Rule) -> bool {
    use Rule::{category_type, color, link_from, link_to, stream_mark, string, style, value_category, value_pattern};
    matches!(rule, string | color | style | stream_mark | link_from | link_to)
        || matches!(rule, category_type | value_category | value_pattern)
}
