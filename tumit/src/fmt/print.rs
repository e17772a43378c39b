//! From tokens to lines: declarations one below the other, lists on one line or one element per line.

use std::mem;
use std::ops::Range;

use super::out::{Out, width};
use super::token::{Gap, Node, Token, Tree, is_closer, is_opener, takes_comma};
use super::{INDENT, MAX_WIDTH};
use crate::syntax::Rule;

/// Tokens that are looked at to know what must stay on a line with the one before them.
const MAX_LEAD: usize = 8;

/// The formatted text of a spec.
pub(super) fn print(tree: &Tree<'_>) -> String {
    let mut printer = Printer::new(&tree.tokens);
    printer.separate(&tree.items);
    printer.items(&tree.items, 0);
    printer.end(&tree.end);
    printer.out.finish()
}

pub(super) struct Printer<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) gaps: Vec<Gap<'t>>,
    /// Columns of all tokens before this one, on one line.
    widths: Vec<usize>,
    /// How many tokens before this one have comments before them.
    commented: Vec<usize>,
    /// Where a token has to stand, at least.
    pub(super) columns: Vec<usize>,
    pub(super) out: Out,
    pub(super) pending: Pending,
    /// Indentation of what is being printed; what continues it on other lines has one level more.
    pub(super) base: usize,
}

/// What comes before the next token.
#[derive(Clone, Copy)]
pub(super) enum Pending {
    /// A blank, if the two tokens want one.
    Space,
    /// A new line.
    Line { indent: usize, keeps_blank: bool },
    /// It is there already.
    Nothing,
}

impl<'t> Printer<'t> {
    fn new(tokens: &'t [Token<'t>]) -> Self {
        let (mut widths, mut commented) = (vec![0], vec![0]);
        let (mut columns, mut comments) = (0, 0);
        for token in tokens {
            // Of a text of several lines, the first counts.
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
            out: Out::default(),
            pending: Pending::Nothing,
            base: 0,
        }
    }

    /// Columns of these tokens on one line.
    pub(super) fn width(&self, tokens: Range<usize>) -> usize {
        if tokens.is_empty() {
            return 0;
        }
        self.widths[tokens.end] - self.widths[tokens.start] - usize::from(self.tokens[tokens.start].space)
    }

    /// Whether comments stand between these tokens.
    pub(super) fn has_comments(&self, tokens: Range<usize>) -> bool {
        !tokens.is_empty() && self.commented[tokens.end] > self.commented[tokens.start + 1]
    }

    /// Whether these tokens fit on the line, with so many columns after them.
    pub(super) fn fits(&self, tokens: Range<usize>, tail: usize) -> bool {
        let space = matches!(self.pending, Pending::Space) && self.tokens[tokens.start].space;
        !self.has_comments(tokens.clone())
            && self.out.column + usize::from(space) + self.width(tokens) + tail <= MAX_WIDTH
    }

    /// Prints what stands before a token: comments, and the beginning of a line.
    fn arrive(&mut self, token: usize) {
        let gap = mem::take(&mut self.gaps[token]);
        let (indent, keeps_blank) = match self.pending {
            Pending::Line { indent, keeps_blank } => (indent, keeps_blank),
            Pending::Space | Pending::Nothing => (self.base + INDENT, true),
        };
        let is_line = matches!(self.pending, Pending::Line { .. });
        let has_own = !gap.own.is_empty();
        if self.comments(&gap, indent, keeps_blank) || is_line {
            self.out.newline(gap.blank && (has_own || is_line && keeps_blank), indent);
            self.pending = Pending::Nothing;
        }
    }

    /// Prints comments; whether there are any, so that a new line must follow.
    fn comments(&mut self, gap: &Gap<'_>, indent: usize, keeps_blank: bool) -> bool {
        if let Some(comment) = gap.trailing {
            self.out.trailing(comment);
        }
        for (place, comment) in gap.own.iter().enumerate() {
            self.out.newline(comment.blank && (keeps_blank || place > 0), indent);
            self.out.push(comment.text);
        }
        gap.has_comments()
    }

    pub(super) fn token(&mut self, token: usize) {
        self.arrive(token);
        if matches!(self.pending, Pending::Space) && self.tokens[token].space {
            self.out.push(" ");
            self.out.pad(self.columns[token]);
        }
        self.out.push(&self.tokens[token].text);
        self.pending = Pending::Space;
    }

    /// A closing bracket on a line of its own; comments before it are still inside.
    fn close(&mut self, token: usize, indent: usize, is_empty: bool) {
        let gap = mem::take(&mut self.gaps[token]);
        self.comments(&gap, indent + INDENT, !is_empty);
        self.pending = Pending::Line { indent, keeps_blank: false };
        self.token(token);
    }

    /// What follows the last token.
    fn end(&mut self, gap: &Gap<'_>) {
        self.comments(gap, 0, true);
    }

    /// Declarations, one below the other.
    fn items(&mut self, items: &[Node], indent: usize) {
        self.align_arrows(items, indent);
        for (place, item) in items.iter().enumerate() {
            self.base = indent;
            self.pending = Pending::Line { indent, keeps_blank: place > 0 };
            match item.rule {
                Rule::rule_decl => self.rule(item, indent),
                rule if is_block(rule) => self.block(item, indent),
                _ => self.node(item, 0),
            }
        }
    }

    /// A declaration that contains declarations.
    fn block(&mut self, node: &Node, indent: usize) {
        let is_open = |child: &Node| child.is_leaf() && self.tokens[child.tokens.start].text == "{";
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

    /// Prints a node on the line if it fits there before `tail` further columns, else broken in the way of its kind.
    pub(super) fn node(&mut self, node: &Node, tail: usize) {
        let first = node.tokens.start;
        if node.is_leaf() {
            return self.token(first);
        }
        self.arrive(first);
        if node.rule == Rule::prologue {
            return self.prologue(node);
        }
        if self.fits(node.tokens.clone(), tail) {
            return self.flat(node.tokens.clone());
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

    pub(super) fn flat(&mut self, tokens: Range<usize>) {
        for token in tokens {
            self.token(token);
        }
    }

    /// Nodes on one line; before some kinds it may end if they do not fit.
    pub(super) fn sequence(&mut self, nodes: &[Node], tail: usize) {
        for (place, node) in nodes.iter().enumerate() {
            let tail =
                if node.is_leaf() && !may_start_line(node.rule) { 0 } else { self.lead(&nodes[place + 1..], tail) };
            let starts = place > 0 && may_start_line(node.rule) && !self.fits(node.tokens.clone(), tail);
            let base = self.base;
            if starts {
                self.base += INDENT;
                self.pending = Pending::Line { indent: self.base, keeps_blank: false };
            }
            self.node(node, tail);
            self.base = base;
        }
    }

    /// Columns of what must stay on the line with the node before these.
    pub(super) fn lead(&self, nodes: &[Node], tail: usize) -> usize {
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

    /// Where the brackets of a node open, if it ends with a closing one.
    fn brackets(&self, node: &Node) -> Option<usize> {
        let is = |child: &Node, what: fn(&str) -> bool| child.is_leaf() && what(&self.tokens[child.tokens.start].text);
        node.children.last().filter(|last| is(last, is_closer))?;
        node.children.iter().position(|child| is(child, is_opener))
    }

    /// A list that does not fit on the line: one element per line.
    fn list(&mut self, node: &Node, open: usize, tail: usize) {
        let (head, rest) = node.children.split_at(open);
        let last = node.tokens.end - 1;
        let brackets = rest[0].tokens.start..node.tokens.end;
        self.sequence(head, self.width(brackets.start..brackets.start + 1) + 1);
        if self.fits(brackets.clone(), tail) {
            return self.flat(brackets);
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
            self.pending = Pending::Line { indent: self.base, keeps_blank: !is_first };
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

    /// Each text on a line of its own, below the first.
    fn prologue(&mut self, node: &Node) {
        let indent = self.base + self.width(node.tokens.start..node.tokens.start + 1) + 1;
        for (place, child) in node.children.iter().enumerate() {
            if place > 1 {
                self.pending = Pending::Line { indent, keeps_blank: false };
            }
            self.token(child.tokens.start);
        }
    }

    /// Puts a blank line between declarations of several lines, and between rules and others.
    fn separate(&mut self, items: &[Node]) {
        for pair in items.windows(2) {
            let is_rule = |node: &Node| node.rule == Rule::rule_decl;
            let gap = &mut self.gaps[pair[1].tokens.start];
            let apart = is_block(pair[0].rule) || is_block(pair[1].rule) || is_rule(&pair[0]) != is_rule(&pair[1]);
            if apart && !gap.has_blank() {
                match gap.own.first_mut() {
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

/// What a line that continues the one before may start with.
pub(super) fn may_start_line(rule: Rule) -> bool {
    use Rule::{color, link_from, link_to, look, stream_mark, string};
    matches!(rule, string | color | look | stream_mark | link_from | link_to)
}
