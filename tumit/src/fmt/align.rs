//! Alignment of the `->` of neighbouring rules, and of the columns of listed values.

use std::mem;

use super::action::MAX_ARROW;
use super::print::SpecPrinter;
use super::token::TokenNode;
use super::width::MAX_WIDTH;
use crate::syntax::Rule;

/// The `->` of neighbouring rules are aligned unless their columns differ by more than this.
const MAX_SHIFT: usize = 16;

/// The actions of a rule.
struct ArrowAlignment {
    /// The token of the first `->`.
    first: usize,
    /// The column of the first `->` after the target of the rule.
    column: usize,
    /// Columns of the longest action that fits on a line from `column`.
    width: usize,
}

impl SpecPrinter<'_> {
    /// Aligns the first `->` of neighbouring rules, if no line becomes too long.
    ///
    /// A blank line or a comment between rules ends a group of neighbours.
    pub(super) fn align_arrows(&mut self, items: &[TokenNode], indent: usize) {
        let mut run: Vec<ArrowAlignment> = Vec::new();
        for item in items {
            let arrows = self.arrows(item, indent);
            let goes_on = arrows.as_ref().is_some_and(|arrows| {
                let all = || run.iter().map(|row| row.column).chain([arrows.column]);
                all().max().unwrap_or_default() - all().min().unwrap_or_default() <= MAX_SHIFT
            });
            if !goes_on || self.is_apart(item) {
                self.give_column(&mem::take(&mut run));
            }
            run.extend(arrows);
        }
        self.give_column(&run);
    }

    fn arrows(&self, rule: &TokenNode, indent: usize) -> Option<ArrowAlignment> {
        let first = rule.children.iter().position(|child| rule.rule == Rule::rule_decl && child.rule == Rule::arrow)?;
        let arrow = rule.children[first].tokens.start;
        let head = rule.tokens.start..arrow;
        let column = indent + self.width(head.clone()) + 1;
        let widths = rule.children[first..].iter().filter(|child| child.rule == Rule::action);
        let widths = widths.map(|action| "-> ;".len() + self.width(action.tokens.clone()));
        let width = widths.filter(|width| column + width <= MAX_WIDTH).max().unwrap_or_default();
        (column <= MAX_ARROW && !self.has_comments(head)).then_some(ArrowAlignment { first: arrow, column, width })
    }

    /// Whether a blank line, a comment or documentation is before a node.
    fn is_apart(&self, node: &TokenNode) -> bool {
        let gap = &self.gaps[node.tokens.start];
        gap.blank || !gap.lines.is_empty()
    }

    fn give_column(&mut self, run: &[ArrowAlignment]) {
        let most = run.iter().map(|arrows| arrows.column).max().unwrap_or_default();
        if run.iter().all(|arrows| most + arrows.width <= MAX_WIDTH) {
            for arrows in run {
                self.columns[arrows.first] = most;
            }
        }
    }

    /// Aligns the labels and the colours of values that are listed one per line.
    pub(super) fn align_values(&mut self, list: &TokenNode, elements: &[TokenNode], indent: usize) {
        if list.rule != Rule::values {
            return;
        }
        let mut rows: Vec<&TokenNode> = Vec::new();
        for value in elements.iter().filter(|element| element.rule == Rule::value) {
            let is_simple = !self.has_comments(value.tokens.clone());
            if !is_simple || self.is_apart(value) {
                self.align_rows(&mem::take(&mut rows), indent);
            }
            if is_simple {
                rows.push(value);
            }
        }
        self.align_rows(&rows, indent);
    }

    fn align_rows(&mut self, rows: &[&TokenNode], indent: usize) {
        let cells = |row: &TokenNode| {
            let mut cells: [Option<std::ops::Range<usize>>; CELLS] = Default::default();
            for child in &row.children {
                cells[cell(child.rule)].get_or_insert(child.tokens.clone()).end = child.tokens.end;
            }
            cells
        };
        let rows: Vec<_> = rows.iter().map(|row| cells(row)).collect();
        let mut starts = [indent; CELLS];
        for place in 1..CELLS {
            let ends = rows.iter().filter_map(|row| row[place - 1].clone());
            let widest = ends.map(|tokens| self.width(tokens) + 1).max().unwrap_or_default();
            starts[place] = starts[place - 1] + widest;
        }
        let end = |row: &[Option<std::ops::Range<usize>>; CELLS]| {
            let last = row.iter().rposition(Option::is_some).unwrap_or_default();
            starts[last] + row[last].clone().map_or(0, |tokens| self.width(tokens)) + 1
        };
        if rows.iter().any(|row| end(row) > MAX_WIDTH) {
            return;
        }
        for row in &rows {
            for (place, tokens) in row.iter().enumerate().skip(1) {
                if let Some(tokens) = tokens {
                    self.columns[tokens.start] = starts[place];
                }
            }
        }
    }
}

/// Number of cells of a value: name, label, colour, and then shape, size and category.
const CELLS: usize = 4;

fn cell(rule: Rule) -> usize {
    match rule {
        Rule::name => 0,
        Rule::string => 1,
        Rule::color => 2,
        _ => 3,
    }
}
