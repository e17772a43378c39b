//! What all rules together do with links and containers.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::Model;
use crate::source::Span;
use crate::spec::{ContainerTypeId, EntityTypeId};
use crate::syntax::ast::{Action, ClauseKind};
use crate::value_type::Type;

/// A `create`, as written.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) container: ContainerTypeId,
    pub(crate) fields: Vec<String>,
    pub(crate) span: Span,
}

/// A `start` or an `end` of a link, as written.
#[derive(Debug)]
pub(super) struct LinkEnd {
    pub(super) is_start: bool,
    pub(super) verb: Span,
    pub(super) key: Span,
    pub(super) kinds: Vec<Type>,
}

/// Gathered over all rules.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub(crate) creates: Vec<Create>,
    links: Vec<(EntityTypeId, LinkEnd)>,
    /// Some action was not understood: do not conclude from what is absent.
    pub(crate) incomplete: bool,
}

impl Usage {
    pub(super) fn create(&mut self, container: ContainerTypeId, action: &Action, span: Span) {
        let mut fields = Vec::new();
        for clause in &action.clauses {
            if let ClauseKind::With(given) = &clause.kind {
                fields.extend(given.iter().map(|field| field.name.text.clone()));
            }
        }
        self.creates.push(Create { container, fields, span });
    }

    pub(super) fn link(&mut self, id: EntityTypeId, end: LinkEnd) {
        self.links.push((id, end));
    }

    /// Links whose keys differ, and links that are started and never ended.
    pub(crate) fn check(&self, model: &Model, diagnostics: &mut Diagnostics) {
        let mut of_entity: Vec<Vec<&LinkEnd>> = vec![Vec::new(); model.spec.entities.len()];
        self.links.iter().for_each(|(id, end)| of_entity[id.index()].push(end));
        for (at, entity) in model.spec.entities.iter().enumerate() {
            let ends = || of_entity[at].iter().copied();
            let Some(first) = ends().next() else { continue };
            for other in ends().filter(|other| !alike(&first.kinds, &other.kinds)) {
                let (has, needs) = (other.kinds.len(), first.kinds.len());
                let title = if has == needs {
                    format!("keys of link `{}` differ", entity.name)
                } else {
                    let values = if has == 1 { "1 value".to_owned() } else { format!("{has} values") };
                    format!("this key has {values}, the first key of link `{}` has {needs}", entity.name)
                };
                diagnostics.push(
                    Diagnostic::error(Code::LinkKeyMismatch, title)
                        .at(other.key, shape(&other.kinds))
                        .also(first.key, shape(&first.kinds))
                        .note("a start is matched with the end that has an equal key"),
                );
            }
            if self.incomplete || ends().any(|end| end.is_start != first.is_start) {
                continue;
            }
            let (does, never) = if first.is_start { ("started", "ended") } else { ("ended", "started") };
            let help = if first.is_start { "end" } else { "start" };
            diagnostics.push(
                Diagnostic::warning(Code::OpenLink, format!("link `{}` is {does} but never {never}", entity.name))
                    .at(first.verb, format!("{does} here"))
                    .also(model.entity_spans[at], "no arrow of this link will be drawn")
                    .help(format!("add `{help} {} key (…) …` to the rule of the other side", entity.name)),
            );
        }
    }
}

fn alike(a: &[Type], b: &[Type]) -> bool {
    let same = |a: &Type, b: &Type| a == b || *a == Type::Any || *b == Type::Any || is_text(*a) && is_text(*b);
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn is_text(ty: Type) -> bool {
    matches!(ty, Type::Text | Type::Enum(_))
}

fn shape(kinds: &[Type]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    format!("this key is {}", names.join(" and "))
}
