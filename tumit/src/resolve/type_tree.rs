//! The tree of types: containers first, then their entities. So links can refer to containers that
//! are declared later.

use std::collections::BTreeMap;

use tracer_format::schema::{FieldType, Scalar};

use super::categories::own_category;
use super::declared_names::{check_name, duplicate};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::{KeyModel, SpecModel, index};
use crate::source_text::SourceSpan;
use crate::spec::{
    self, Builtin, ContainerType, ContainerTypeId, EntityType, EntityTypeId, EntityTypeKind, Expr, PatternPiece,
    SpecShape, SpecStyle, TextPattern, ValueFormat,
};
use crate::syntax::ast::{self, Container, EntityKind, ExprKind, Ident, TextPiece, TreeMember};

/// Properties of a stream: the possible keys of a `= stream` container.
const STREAM_FACTS: [(&str, Builtin); 6] = [
    ("pid", Builtin::Pid),
    ("tid", Builtin::Tid),
    ("rank", Builtin::Rank),
    ("host", Builtin::Host),
    ("thread_name", Builtin::ThreadName),
    ("stream_label", Builtin::StreamLabel),
];

const SHAPES: [(&str, SpecShape); 5] = [
    ("triangle", SpecShape::Triangle),
    ("diamond", SpecShape::Diamond),
    ("circle", SpecShape::Circle),
    ("square", SpecShape::Square),
    ("line", SpecShape::Line),
];

impl SpecModel {
    /// First pass: containers.
    pub(super) fn containers_of(
        &mut self,
        members: &[TreeMember],
        parent: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) {
        for member in members {
            if let TreeMember::Container(container) = member
                && let Some(id) = self.container(container, parent, diagnostics)
            {
                self.containers_of(&container.members, Some(id), diagnostics);
            }
        }
    }

    fn container(
        &mut self,
        container: &Container,
        parent: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) -> Option<ContainerTypeId> {
        if let Some(declared) = self.containers.get(&container.name.text).copied() {
            return self.extend_container(container, declared, parent, diagnostics);
        }
        check_name(&container.name, diagnostics);
        let id = ContainerTypeId(index(self.spec.containers.len()));
        let keys = self.own_keys(container, parent, diagnostics);
        self.containers.insert(container.name.text.clone(), id);
        self.container_spans.push(container.name.span);
        self.spec.containers.push(ContainerType {
            name: container.name.text.clone(),
            doc: container.doc.clone(),
            parent,
            keys: keys.iter().map(|key| key.name.clone()).collect(),
            pattern: TextPattern::default(),
            stream: None,
        });
        self.keys.push(keys);
        let (pattern, holes) = self.label(container, id, diagnostics);
        self.spec.containers[id.index()].pattern = pattern;
        self.holes.push(holes);
        self.labelled.push(container.label.is_some());
        if let Some(mark) = container.stream {
            self.stream(id, mark, diagnostics);
        }
        Some(id)
    }

    /// Handles the declaration of a container that another file declares, too. Its members are
    /// added.
    fn extend_container(
        &mut self,
        container: &Container,
        container_type: ContainerTypeId,
        parent: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) -> Option<ContainerTypeId> {
        let first = self.container_spans[container_type.index()];
        let keys: Vec<&str> = self.keys[container_type.index()].iter().map(|key| key.name.as_str()).collect();
        let repeated: Vec<&str> = container.keys.iter().map(|key| key.name.text.as_str()).collect();
        let is_same =
            self.spec.containers[container_type.index()].parent == parent && (repeated.is_empty() || repeated == keys);
        if first.file != container.name.span.file && is_same {
            self.second_label(container, container_type, diagnostics);
            return Some(container_type);
        }
        duplicate("container", &container.name, first, diagnostics);
        None
    }

    /// Checks the label of a container that was declared before. It must be the only one, or the
    /// same.
    fn second_label(&mut self, container: &Container, container_type: ContainerTypeId, diagnostics: &mut Diagnostics) {
        if container.label.is_none() {
            return;
        }
        let (pattern, holes) = self.label(container, container_type, diagnostics);
        if !self.labelled[container_type.index()] {
            self.labelled[container_type.index()] = true;
            self.spec.containers[container_type.index()].pattern = pattern;
            self.holes[container_type.index()] = holes;
        } else if pattern != self.spec.containers[container_type.index()].pattern {
            diagnostics.push(
                Diagnostic::error(Code::Duplicate, format!("container `{}` has two labels", container.name.text))
                    .with_location(container.name.span, "differs from the label in the other file")
                    .with_label(self.container_spans[container_type.index()], "first declared here")
                    .help("remove this label"),
            );
        }
    }

    fn own_keys(
        &self,
        container: &Container,
        parent: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<KeyModel> {
        let mut keys: Vec<KeyModel> = Vec::new();
        for key in &container.keys {
            check_name(&key.name, diagnostics);
            let parent_keys = parent.map(|parent| self.path_keys(parent)).unwrap_or_default();
            if let Some(first) = parent_keys.into_iter().chain(&keys).find(|other| other.name == key.name.text) {
                duplicate("key", &key.name, first.span, diagnostics);
                continue;
            }
            let ty = self.field_type(&key.ty, diagnostics).unwrap_or(FieldType::One(Scalar::U64));
            let FieldType::One(
                scalar @ (Scalar::U8
                | Scalar::U16
                | Scalar::U32
                | Scalar::U64
                | Scalar::I8
                | Scalar::I16
                | Scalar::I32
                | Scalar::I64
                | Scalar::Interned
                | Scalar::String
                | Scalar::Enum { .. }),
            ) = ty
            else {
                diagnostics.push(
                    Diagnostic::error(Code::BadKeyType, format!("`{}` cannot be a key", key.name.text))
                        .with_location(key.ty.span, "keys are integers, text or enums")
                        .help("use `u64` for addresses, `interned` for names"),
                );
                continue;
            };
            keys.push(KeyModel { name: key.name.text.clone(), ty: scalar, span: key.name.span });
        }
        keys
    }

    /// The label of a container, and the names in its holes.
    ///
    /// The names are checked after the rules are read, because rules can define them.
    fn label(
        &self,
        container: &Container,
        id: ContainerTypeId,
        diagnostics: &mut Diagnostics,
    ) -> (TextPattern, Vec<(String, SourceSpan)>) {
        let Some(text) = &container.label else {
            let mut pieces = vec![PatternPiece::Text(container.name.text.clone())];
            for key in &self.keys[id.index()] {
                pieces.extend([
                    PatternPiece::Text(" ".to_owned()),
                    PatternPiece::Name(key.name.clone(), ValueFormat::default()),
                ]);
            }
            return (TextPattern(pieces), Vec::new());
        };
        let mut pieces = Vec::new();
        let mut holes = Vec::new();
        for piece in &text.pieces {
            match piece {
                TextPiece::Literal(literal) => pieces.push(PatternPiece::Text(literal.clone())),
                TextPiece::Hole(expr, format) => match &expr.kind {
                    ExprKind::Path(ast::Path { name, part: None }) => {
                        pieces.push(PatternPiece::Name(name.text.clone(), *format));
                        holes.push((name.text.clone(), expr.span));
                    }
                    ExprKind::Bad => {}
                    _ => diagnostics.push(
                        Diagnostic::error(Code::UnknownHole, "the label of a container cannot contain expressions")
                            .with_location(expr.span, "not a name")
                            .help("name a key, or a field that `create … with { NAME = EXPRESSION }` sets"),
                    ),
                },
            }
        }
        (TextPattern(pieces), holes)
    }

    fn stream(&mut self, id: ContainerTypeId, mark: SourceSpan, diagnostics: &mut Diagnostics) {
        let other = self.spec.containers.iter().position(|container| container.stream.is_some());
        if let Some(other) = other {
            diagnostics.push(
                Diagnostic::error(Code::SecondStream, "two containers are marked `= stream`")
                    .with_location(mark, "the second one")
                    .with_label(self.container_spans[other], "the first one"),
            );
            return;
        }
        let mut facts = Vec::new();
        for key in self.path_keys(id) {
            match STREAM_FACTS.iter().find(|(name, _)| *name == key.name) {
                Some((_, builtin)) => facts.push(Expr::Builtin(*builtin)),
                None => {
                    let names = STREAM_FACTS.map(|(name, _)| name);
                    diagnostics.push(
                        Diagnostic::error(Code::BadStreamKey, format!("a stream has no property `{}`", key.name))
                            .with_location(
                                key.span,
                                format!("not one of {}", names.map(|name| format!("`{name}`")).join(", ")),
                            )
                            .with_label(mark, "requires that all keys of the path are properties of a stream")
                            .maybe_help(did_you_mean(&key.name, names)),
                    );
                }
            }
        }
        self.spec.containers[id.index()].stream = Some(facts);
    }

    /// Whether the label of a `= stream` container may use this name.
    pub(crate) fn is_stream_fact(name: &str) -> bool {
        STREAM_FACTS.iter().any(|(fact, _)| *fact == name)
    }

    /// Second pass: states, events, variables and links.
    pub(super) fn entities_of(
        &mut self,
        members: &[TreeMember],
        holder: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) {
        for member in members {
            match member {
                TreeMember::Container(container) => {
                    if let Some(id) = self.containers.get(&container.name.text).copied() {
                        self.entities_of(&container.members, Some(id), diagnostics);
                    }
                }
                TreeMember::Entity(entity) => match holder {
                    Some(holder) => self.entity(entity, holder, diagnostics),
                    None => {
                        self.unparsed.insert(entity.name.text.clone());
                        diagnostics.push(
                            Diagnostic::error(
                                Code::WrongContainer,
                                format!("`{}` is not in a container", entity.name.text),
                            )
                            .with_location(entity.name.span, "only containers are possible directly in `paje`")
                            .help("move it into a container, such as `container program \"Program\" { … }`"),
                        );
                    }
                },
                TreeMember::Category(_) => {}
            }
        }
    }

    fn entity(&mut self, entity: &ast::Entity, holder: ContainerTypeId, diagnostics: &mut Diagnostics) {
        check_name(&entity.name, diagnostics);
        let mut same_name = self.entities_named(&entity.name.text).iter();
        if let Some(first) = same_name.find(|id| self.spec.entities[id.index()].container == holder) {
            return duplicate("type", &entity.name, self.entity_spans[first.index()], diagnostics);
        }
        let kind = match entity.kind {
            EntityKind::State => EntityTypeKind::State,
            EntityKind::Event => EntityTypeKind::Event,
            EntityKind::Variable => EntityTypeKind::Variable,
            EntityKind::Link => EntityTypeKind::Link {
                from: self.link_ends(&entity.from, holder, diagnostics),
                to: self.link_ends(&entity.to, holder, diagnostics),
            },
        };
        let mut first_spans = BTreeMap::new();
        let (mut values, mut spans) = (Vec::new(), Vec::new());
        for value in &entity.values {
            check_name(&value.name, diagnostics);
            if let Some(first) = first_spans.insert(&value.name.text, value.name.span) {
                duplicate("value", &value.name, first, diagnostics);
                continue;
            }
            spans.push(value.name.span);
            values.push(spec::DeclaredValue {
                name: value.name.text.clone(),
                doc: value.doc.clone(),
                label: value.label.clone().unwrap_or_else(|| value.name.text.clone()),
                color: value.color,
                style: resolve_style(&value.style, &entity.kind, diagnostics),
                category: value.category.as_ref().and_then(|word| own_category(word, entity.kind, diagnostics)),
            });
        }
        let id = EntityTypeId(index(self.spec.entities.len()));
        self.entity_names.entry(entity.name.text.clone()).or_default().push(id);
        self.entity_spans.push(entity.name.span);
        self.value_spans.push(spans);
        self.spec.entities.push(EntityType {
            name: entity.name.text.clone(),
            label: entity.label.clone().unwrap_or_else(|| entity.name.text.clone()),
            doc: entity.doc.clone(),
            kind,
            container: holder,
            values,
            color: entity.color,
            style: resolve_style(&entity.style, &entity.kind, diagnostics),
            is_partial: false,
        });
    }

    fn link_ends(
        &self,
        names: &[Ident],
        holder: ContainerTypeId,
        diagnostics: &mut Diagnostics,
    ) -> Vec<ContainerTypeId> {
        let mut ends = Vec::new();
        for name in names {
            let Some(end) = self.containers.get(&name.text).copied() else {
                let containers = self.containers.keys().map(String::as_str);
                self.report_unknown(Code::UnknownContainer, "container", name, containers, diagnostics);
                continue;
            };
            if !self.spec.path(end).contains(&holder) {
                let holder_name = self.container_name(holder);
                diagnostics.push(
                    Diagnostic::error(Code::LinkEndOutside, format!("`{}` is outside of `{holder_name}`", name.text))
                        .with_location(
                            name.span,
                            format!("this end is not inside `{holder_name}`, which declares the link"),
                        )
                        .with_label(self.container_spans[end.index()], "declared here")
                        .help("move the link to a container that contains both ends"),
                );
            }
            if ends.contains(&end) {
                diagnostics.push(
                    Diagnostic::error(Code::Duplicate, format!("`{}` is named twice", name.text))
                        .with_location(name.span, "again"),
                );
            } else {
                ends.push(end);
            }
        }
        ends
    }
}

fn resolve_style(parts: &[ast::StyleClause], kind: &EntityKind, diagnostics: &mut Diagnostics) -> SpecStyle {
    // These are only warnings, because runs carry specs in which these mistakes had no effect.
    let mut warn = |subject: &str, span, label: &str, help: &str| {
        let title = format!("{subject} is not drawn");
        diagnostics.push(Diagnostic::warning(Code::UselessLook, title).with_location(span, label).help(help));
    };
    for part in parts {
        match part {
            ast::StyleClause::Shape(name) if *kind != EntityKind::Event => {
                let reason = match kind {
                    EntityKind::State => "states are rectangles",
                    EntityKind::Link => "links are arrows",
                    _ => "variables are curves",
                };
                warn("this shape", name.span, reason, "only events have shapes; remove it");
            }
            ast::StyleClause::Size(size, span) if *size > 1.0 && *kind == EntityKind::State => {
                warn(
                    "a state of this size",
                    *span,
                    "higher than its row",
                    "write 1 for the whole height, 0.5 for half of it",
                );
            }
            _ => {}
        }
    }
    let mut style = SpecStyle::default();
    for part in parts {
        match part {
            ast::StyleClause::Shape(name) => match SHAPES.iter().find(|(shape, _)| *shape == name.text) {
                Some((_, shape)) => style.shape = Some(*shape),
                None => {
                    let shapes = SHAPES.map(|(shape, _)| shape);
                    let help = did_you_mean(&name.text, shapes).or_else(|| crate::draft::list_candidates(&shapes));
                    diagnostics.push(
                        Diagnostic::error(Code::UnknownShape, format!("there is no shape `{}`", name.text))
                            .with_location(name.span, "unknown shape")
                            .maybe_help(help),
                    );
                }
            },
            ast::StyleClause::Size(size, span) if *size <= 0.0 => diagnostics.push(
                Diagnostic::error(Code::BadSize, "the size is zero or negative")
                    .with_location(*span, "not positive")
                    .help("the default size is 1"),
            ),
            ast::StyleClause::Size(size, _) => style.size = Some(*size),
        }
    }
    style
}
