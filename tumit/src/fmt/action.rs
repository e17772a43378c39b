//! Rules, their actions, and expressions.

use super::print::{Pending, Printer};
use super::token::Node;
use super::{INDENT, MAX_WIDTH};
use crate::syntax::Rule;

/// Arrows stand to the right of what a rule is for, unless they would start further right than here.
pub(super) const MAX_ARROW: usize = 40;

impl Printer<'_> {
    /// `rule TARGET -> ACTION -> ACTION;`: on one line if it is one arrow that fits there, else one arrow per line.
    pub(super) fn rule(&mut self, node: &Node, indent: usize) {
        let Some(first) = node.children.iter().position(|child| child.rule == Rule::arrow) else {
            return self.node(node, 0);
        };
        let (head, rest) = node.children.split_at(first);
        let arrow = rest[0].tokens.start;
        let head_tokens = node.tokens.start..arrow;
        let right = (indent + self.width(head_tokens.clone()) + 1).max(self.columns[arrow]);
        let is_single = rest.iter().filter(|child| child.rule == Rule::arrow).count() == 1;
        let fits = is_single
            && !self.has_comments(node.tokens.clone())
            && right + self.width(arrow..node.tokens.end) <= MAX_WIDTH;
        self.sequence(head, 0);
        if fits {
            self.base = indent;
            return self.flat(arrow..node.tokens.end);
        }
        let is_beside = right <= MAX_ARROW && !self.has_comments(head_tokens);
        let column = if is_beside { right } else { indent + INDENT };
        for (place, child) in rest.iter().enumerate() {
            match child.rule {
                Rule::arrow => {
                    self.base = column - INDENT.min(column);
                    if place > 0 || !is_beside {
                        self.pending = Pending::Line { indent: column, keeps_blank: false };
                    }
                    self.token(child.tokens.start);
                }
                Rule::semicolon => self.token(child.tokens.start),
                _ => {
                    self.base = column + "-> ".len();
                    let is_last = place + 2 >= rest.len();
                    self.node(child, usize::from(is_last));
                }
            }
        }
    }

    /// Whether a node has clauses, or is a line of a text output.
    pub(super) fn is_action(&self, node: &Node) -> bool {
        node.rule == Rule::template || node.children.iter().any(|child| starts_part(child.rule))
    }

    /// An action that does not fit on its line: each clause on a line of its own.
    pub(super) fn action(&mut self, node: &Node, tail: usize) {
        if node.rule == Rule::template {
            return self.template(node, tail);
        }
        let children = &node.children;
        let clauses = children.iter().position(|child| child.rule == Rule::clause).unwrap_or(children.len());
        let head_tail = if clauses < children.len() { 0 } else { tail };
        let head = node.tokens.start..children[clauses - 1].tokens.end;
        let splits_head = !self.fits(head, head_tail);
        let base = self.base;
        let mut start = 0;
        while start < children.len() {
            let begins = |child: &Node| child.rule == Rule::clause || splits_head && starts_part(child.rule);
            let length = children[start + 1..].iter().position(begins);
            let end = length.map_or(children.len(), |length| start + 1 + length);
            if start > 0 {
                self.base = base + INDENT;
                self.pending = Pending::Line { indent: self.base, keeps_blank: false };
            }
            self.sequence(&children[start..end], if end == children.len() { tail } else { 0 });
            start = end;
        }
        self.base = base;
    }

    /// A line of a text output: the parameters start on a line of their own, with as many on each as fit.
    fn template(&mut self, node: &Node, tail: usize) {
        let base = self.base;
        for (place, child) in node.children.iter().enumerate() {
            let is_last = place + 1 == node.children.len();
            let tail = if is_last { tail } else { 1 };
            let may_start = matches!(child.rule, Rule::expr | Rule::when_clause);
            let is_first = self.base == base;
            if may_start && (is_first || !self.fits(child.tokens.clone(), tail)) {
                self.base = base + INDENT;
                self.pending = Pending::Line { indent: self.base, keeps_blank: false };
            }
            self.node(child, tail);
        }
        self.base = base;
    }

    /// An expression that does not fit on its line: lines start with the operators that bind least.
    pub(super) fn operands(&mut self, children: &[Node], tail: usize) {
        let [first, .., last] = children else {
            return children.iter().for_each(|child| self.node(child, tail));
        };
        let tokens = first.tokens.start..last.tokens.end;
        if self.fits(tokens.clone(), tail) {
            return self.flat(tokens);
        }
        let binding = |child: &Node| match child.rule {
            Rule::binary_op => binding(&self.tokens[child.tokens.start].text),
            _ => usize::MAX,
        };
        let bindings: Vec<usize> = children.iter().map(binding).collect();
        let least = bindings.iter().min().copied().unwrap_or(usize::MAX);
        let base = self.base;
        self.base += INDENT;
        let mut start = 0;
        while start < children.len() {
            let length = bindings[start..].iter().position(|binding| *binding == least);
            let end = length.map_or(children.len(), |length| start + length);
            self.operands(&children[start..end], if end == children.len() { tail } else { 0 });
            if let Some(operator) = children.get(end) {
                self.pending = Pending::Line { indent: self.base, keeps_blank: false };
                self.token(operator.tokens.start);
            }
            start = end + 1;
        }
        self.base = base;
    }
}

/// What a line of a broken action may start with.
fn starts_part(rule: Rule) -> bool {
    matches!(rule, Rule::clause | Rule::kw_on | Rule::kw_from | Rule::kw_to)
}

/// How strongly an operator binds.
fn binding(operator: &str) -> usize {
    match operator {
        "or" | "||" => 0,
        "and" | "&&" => 1,
        "+" | "-" => 3,
        "*" | "/" | "%" => 4,
        _ => 2,
    }
}
