//! Formats rules, their actions, and expressions.

use super::print::{PendingSpace, SpecPrinter};
use super::token::TokenNode;
use super::width::{INDENT, MAX_WIDTH};
use crate::syntax::Rule;

/// Maximum column of a `->` on the line of the target of its rule. A `->` further right moves to
/// its own line.
pub(super) const MAX_ARROW: usize = 40;

impl SpecPrinter<'_> {
    /// `rule TARGET -> ACTION -> ACTION;`: on one line if there is one action and it fits.
    /// Otherwise one action per line.
    pub(super) fn rule(&mut self, node: &TokenNode, indent: usize) {
        let Some(first) = node.children.iter().position(|child| child.rule == Rule::arrow) else {
            return self.node(node, 0);
        };
        let (head, tail) = node.children.split_at(first);
        let arrow = tail[0].tokens.start;
        let head_tokens = node.tokens.start..arrow;
        let right = (indent + self.width(head_tokens.clone()) + 1).max(self.columns[arrow]);
        let is_single = tail.iter().filter(|child| child.rule == Rule::arrow).count() == 1;
        let fits = is_single
            && !self.has_comments(node.tokens.clone())
            && right + self.width(arrow..node.tokens.end) <= MAX_WIDTH;
        self.sequence(head, 0);
        if fits {
            self.base = indent;
            return self.print_on_one_line(arrow..node.tokens.end);
        }
        let is_beside = right <= MAX_ARROW && !self.has_comments(head_tokens);
        let column = if is_beside { right } else { indent + INDENT };
        for (place, child) in tail.iter().enumerate() {
            match child.rule {
                Rule::arrow => {
                    self.base = column - INDENT.min(column);
                    if place > 0 || !is_beside {
                        self.pending_space = PendingSpace::Line { indent: column, keeps_blank: false };
                    }
                    self.token(child.tokens.start);
                }
                Rule::semicolon => self.token(child.tokens.start),
                _ => {
                    self.base = column + "-> ".len();
                    let is_last = place + 2 >= tail.len();
                    self.node(child, usize::from(is_last));
                }
            }
        }
    }

    /// Whether a node has clauses, or is a line of a text output.
    pub(super) fn is_action(&self, node: &TokenNode) -> bool {
        node.rule == Rule::template || node.children.iter().any(|child| starts_part(child.rule))
    }

    /// Prints an action that does not fit on its line. Each clause is on a line of its own.
    pub(super) fn action(&mut self, node: &TokenNode, tail: usize) {
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
            let begins = |child: &TokenNode| child.rule == Rule::clause || splits_head && starts_part(child.rule);
            let length = children[start + 1..].iter().position(begins);
            let end = length.map_or(children.len(), |length| start + 1 + length);
            if start > 0 {
                self.base = base + INDENT;
                self.pending_space = PendingSpace::Line { indent: self.base, keeps_blank: false };
            }
            self.sequence(&children[start..end], if end == children.len() { tail } else { 0 });
            start = end;
        }
        self.base = base;
    }

    /// Prints a line of a text output. The parameters start on a new line. Each line has as many as
    /// fit.
    fn template(&mut self, node: &TokenNode, tail: usize) {
        let base = self.base;
        for (place, child) in node.children.iter().enumerate() {
            let is_last = place + 1 == node.children.len();
            let tail = if is_last { tail } else { 1 };
            let may_start = matches!(child.rule, Rule::expr | Rule::when_clause);
            let is_first = self.base == base;
            if may_start && (is_first || !self.fits(child.tokens.clone(), tail)) {
                self.base = base + INDENT;
                self.pending_space = PendingSpace::Line { indent: self.base, keeps_blank: false };
            }
            self.node(child, tail);
        }
        self.base = base;
    }

    /// Prints an expression that does not fit on its line. Lines start with the operators of lowest
    /// precedence.
    pub(super) fn operands(&mut self, children: &[TokenNode], tail: usize) {
        let [first, .., last] = children else {
            return children.iter().for_each(|child| self.node(child, tail));
        };
        let tokens = first.tokens.start..last.tokens.end;
        if self.fits(tokens.clone(), tail) {
            return self.print_on_one_line(tokens);
        }
        let binding = |child: &TokenNode| match child.rule {
            Rule::binary_op => binding(&self.tokens[child.tokens.start].text),
            _ => usize::MAX,
        };
        let bindings: Vec<usize> = children.iter().map(binding).collect();
        let minimum = bindings.iter().min().copied().unwrap_or(usize::MAX);
        let base = self.base;
        self.base += INDENT;
        let mut start = 0;
        while start < children.len() {
            let length = bindings[start..].iter().position(|binding| *binding == minimum);
            let end = length.map_or(children.len(), |length| start + length);
            self.operands(&children[start..end], if end == children.len() { tail } else { 0 });
            if let Some(operator) = children.get(end) {
                self.pending_space = PendingSpace::Line { indent: self.base, keeps_blank: false };
                self.token(operator.tokens.start);
            }
            start = end + 1;
        }
        self.base = base;
    }
}

/// Whether a line of a broken action can start with this rule.
fn starts_part(rule: Rule) -> bool {
    matches!(rule, Rule::clause | Rule::kw_on | Rule::kw_from | Rule::kw_to)
}

/// The precedence of an operator. 0 is the lowest.
fn binding(operator: &str) -> usize {
    match operator {
        "or" | "||" => 0,
        "and" | "&&" => 1,
        "+" | "-" => 3,
        "*" | "/" | "%" => 4,
        _ => 2,
    }
}
