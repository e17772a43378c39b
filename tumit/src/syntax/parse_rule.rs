//! Rules, their actions and clauses, and text outputs.

use super::ast;
use super::ast::{
    Action, ActionKind, AssignVerb, Clause, ClauseKind, Expr, Ident, Instance, Key, Output, Target, WithField,
    WrittenCollective,
};
use super::ast_builder::{AstBuilder, ParseNode, children, docs};
use super::grammar::Rule;
use crate::diagnostics::{Code, Diagnostic};
use crate::source_text::SourceSpan;
use crate::spec::OperationKind;

impl AstBuilder<'_> {
    pub(super) fn rule(&mut self, node: ParseNode<'_>) -> Option<ast::Rule> {
        let doc = docs(&node);
        let rule_span = self.span(&node);
        let start = children(node.clone()).find(|child| child.as_rule() != Rule::doc)?;
        let span = self.span(&start).joined_with(rule_span);
        let (mut is_additional, mut target, mut actions) = (false, None, Vec::new());
        for child in children(node) {
            match child.as_rule() {
                Rule::kw_also => is_additional = true,
                Rule::rule_target => target = self.target(child),
                Rule::bad_action => self.bad_part(&child, Rule::only_action),
                Rule::action => actions.extend(child.into_inner().next().and_then(|inner| self.action(inner))),
                _ => {}
            }
        }
        Some(ast::Rule { doc, span, is_additional, target: target?, actions })
    }

    fn target(&mut self, node: ParseNode<'_>) -> Option<Target> {
        let inner = node.into_inner().next()?;
        let span = self.span(&inner);
        match inner.as_rule() {
            Rule::level_target => {
                let name = children(inner).find(|child| child.as_rule() == Rule::name)?;
                Some(Target::Level(self.ident(&name)))
            }
            Rule::default_target => Some(Target::Default(span)),
            _ => Some(Target::Event(self.path(inner)?)),
        }
    }

    fn action(&mut self, node: ParseNode<'_>) -> Option<Action> {
        let rule = node.as_rule();
        let rule_span = self.span(&node);
        if rule == Rule::template {
            return self.template(node, rule_span);
        }
        if rule == Rule::ignore {
            return Some(Action { kind: ActionKind::Ignore, clauses: Vec::new(), verb: rule_span });
        }
        let mut parts = ActionParts::default();
        for child in children(node) {
            match child.as_rule() {
                Rule::assign_verb => {
                    parts.verb = Some(self.span(&child));
                    parts.assign = Some(assign_verb(child.as_str()));
                }
                Rule::kw_create | Rule::kw_destroy | Rule::kw_pop | Rule::kw_reset | Rule::kw_start | Rule::kw_end => {
                    parts.verb = Some(self.span(&child));
                }
                Rule::name => parts.ty = Some(self.ident(&child)),
                Rule::expr => parts.value = Some(self.expr(child)),
                Rule::popped | Rule::link_value => {
                    let value = children(child).find(|inner| inner.as_rule() == Rule::expr);
                    parts.value = value.map(|inner| self.expr(inner));
                }
                Rule::link_key => {
                    let span = self.span(&child);
                    parts.key = Some(Key { values: self.expressions(child), span });
                }
                Rule::instance => parts.instance = self.instance(child),
                Rule::clause => parts.clauses.extend(self.clause(child)),
                _ => {}
            }
        }
        parts.action(rule)
    }

    fn template(&mut self, node: ParseNode<'_>, span: SourceSpan) -> Option<Action> {
        let mut text = String::new();
        let mut arguments = Vec::new();
        let mut verb = span;
        let (mut is_unique, mut clauses) = (false, Vec::new());
        for child in children(node) {
            match child.as_rule() {
                Rule::kw_once => is_unique = true,
                Rule::string => {
                    verb = self.span(&child);
                    text = self.plain_text(&child);
                }
                Rule::expr => arguments.push(self.expr(child)),
                Rule::when_clause => {
                    let span = self.span(&child);
                    let expr = children(child).find(|inner| inner.as_rule() == Rule::expr);
                    clauses.extend(expr.map(|expr| Clause { kind: ClauseKind::When(self.expr(expr)), span }));
                }
                _ => {}
            }
        }
        Some(Action { kind: ActionKind::Template { is_unique, text, arguments, span: verb }, clauses, verb })
    }

    pub(super) fn expressions(&mut self, node: ParseNode<'_>) -> Vec<Expr> {
        children(node).filter(|child| child.as_rule() == Rule::expr).map(|child| self.expr(child)).collect()
    }

    fn instance(&mut self, node: ParseNode<'_>) -> Option<Instance> {
        let span = self.span(&node);
        let (mut existing_span, mut name) = (None, None);
        let mut keys = Vec::new();
        for child in children(node) {
            match child.as_rule() {
                Rule::kw_existing => existing_span = Some(self.span(&child)),
                Rule::name => name = Some(self.ident(&child)),
                Rule::expr => keys.push(self.expr(child)),
                _ => {}
            }
        }
        Some(Instance { existing_span, name: name?, keys, span })
    }

    fn clause(&mut self, node: ParseNode<'_>) -> Option<Clause> {
        let span = self.span(&node);
        let inner = node.into_inner().next()?;
        let rule = inner.as_rule();
        let kind = match rule {
            Rule::related => {
                let mut words = Vec::new();
                let mut instance = None;
                for child in children(inner) {
                    match child.as_rule() {
                        Rule::name => words.push(child.as_str().trim_matches('`').to_owned()),
                        _ => instance = self.instance(child),
                    }
                }
                ClauseKind::Related(words.join(" "), instance?)
            }
            Rule::collective_clause => ClauseKind::Collective(Box::new(self.collective(inner)?)),
            Rule::with_clause => {
                let fields = children(inner).filter(|child| child.as_rule() == Rule::with_field);
                ClauseKind::With(fields.filter_map(|field| self.with_field(field)).collect())
            }
            _ => {
                let expr = children(inner).find(|child| child.as_rule() == Rule::expr)?;
                let expr = self.expr(expr);
                if rule == Rule::at_clause { ClauseKind::At(expr) } else { ClauseKind::When(expr) }
            }
        };
        Some(Clause { kind, span })
    }

    fn collective(&mut self, node: ParseNode<'_>) -> Option<WrittenCollective> {
        let start = children(node.clone()).next()?;
        let kind_node = children(node.clone()).find(|child| child.as_rule() == Rule::collective_kind)?;
        let kind = OperationKind::ALL.into_iter().find(|kind| kind.word() == kind_node.as_str())?;
        let head = self.span(&start).joined_with(self.span(&kind_node));
        let (mut communicator, mut key, mut root, mut bytes) = (None, None, None, None);
        for child in children(node) {
            let span = self.span(&child);
            match child.as_rule() {
                Rule::communicator => communicator = Some(Key { values: self.expressions(child), span }),
                Rule::link_key => key = Some(Key { values: self.expressions(child), span }),
                Rule::collective_root => {
                    let instance = children(child).find(|inner| inner.as_rule() == Rule::instance);
                    root = instance.and_then(|instance| self.instance(instance));
                }
                Rule::collective_bytes => bytes = self.expressions(child).into_iter().next(),
                _ => {}
            }
        }
        Some(WrittenCollective { kind, head, communicator, key, root, bytes })
    }

    fn with_field(&mut self, node: ParseNode<'_>) -> Option<WithField> {
        let (mut name, mut value) = (None, None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => name = Some(self.ident(&child)),
                _ => value = Some(self.expr(child)),
            }
        }
        Some(WithField { name: name?, value })
    }

    pub(super) fn output(&mut self, node: ParseNode<'_>) -> Option<Output> {
        let (doc, opening) = (docs(&node), self.opening(&node));
        let mut format = None;
        let mut name: Option<(String, SourceSpan)> = None;
        let (mut prologue, mut rules) = (String::new(), Vec::new());
        for child in children(node) {
            let span = self.span(&child);
            match child.as_rule() {
                Rule::name if format.is_none() => format = Some(self.ident(&child)),
                Rule::name => name = Some((self.ident(&child).text, span)),
                Rule::string => name = Some((self.plain_text(&child), span)),
                Rule::prologue => {
                    for text in children(child).filter(|inner| inner.as_rule() == Rule::string) {
                        prologue.push_str(&self.plain_text(&text));
                    }
                }
                Rule::rule_decl => rules.extend(self.rule(child)),
                Rule::bad_rule => {
                    self.report_unparsable(&child, Rule::only_rule, "an output contains a prologue and rules");
                }
                Rule::missing_close => self.report_unclosed(opening, &child, "output"),
                _ => {}
            }
        }
        let format = format?;
        if format.text != "text" {
            self.push(
                Diagnostic::error(Code::UnknownOutput, format!("outputs cannot have the format `{}`", format.text))
                    .with_location(format.span, "unknown format")
                    .help("write `output text \"NAME\" { … }`: templates can write any format of lines"),
            );
        }
        let (name, span) = name?;
        Some(Output { doc, name, span, prologue, rules })
    }
}

fn assign_verb(text: &str) -> AssignVerb {
    match text {
        "push" => AssignVerb::Push,
        "add" => AssignVerb::Add,
        "subtract" => AssignVerb::Subtract,
        "mark" => AssignVerb::Mark,
        _ => AssignVerb::Set,
    }
}

/// The elements of an action, collected before its verb determines their meaning.
#[derive(Default)]
struct ActionParts {
    verb: Option<SourceSpan>,
    assign: Option<AssignVerb>,
    ty: Option<Ident>,
    value: Option<Expr>,
    key: Option<Key>,
    instance: Option<Instance>,
    clauses: Vec<Clause>,
}

impl ActionParts {
    fn action(self, rule: Rule) -> Option<Action> {
        let instance = self.instance?;
        let kind = match rule {
            Rule::create => ActionKind::Create(instance),
            Rule::destroy => ActionKind::Destroy(instance),
            Rule::pop => ActionKind::Pop { ty: self.ty?, value: self.value, instance },
            Rule::reset => ActionKind::Reset { ty: self.ty?, instance },
            Rule::start_link => ActionKind::Start { ty: self.ty?, value: self.value, key: self.key?, instance },
            Rule::end_link => ActionKind::End { ty: self.ty?, value: self.value, key: self.key?, instance },
            _ => ActionKind::Assign { verb: self.assign?, ty: self.ty?, value: self.value?, instance },
        };
        Some(Action { kind, clauses: self.clauses, verb: self.verb? })
    }
}
