//! The tree of containers, drawn as nested boxes.

use std::fmt::Write as _;

use super::super::contents::{self, ReferenceFacts};
use super::html_text::{HtmlText, anchor, code, inline, prose};
use crate::spec::{ContainerTypeId, DeclaredValue, EntityType, EntityTypeKind, SpecColor, SpecShape, SpecStyle};

/// The id of a state, event, variable or link. The index is part of it, because names are unique
/// only within their container.
pub(super) fn entity_anchor(index: usize, name: &str) -> String {
    anchor("entity", &format!("{index}-{name}"))
}

/// The whole section.
pub(super) fn section(out: &mut String, facts: &ReferenceFacts<'_>) {
    out.push_str("<section aria-labelledby=\"tree\">\n<h2 id=\"tree\">Tree</h2>\n");
    if facts.spec.containers.is_empty() {
        out.push_str("<p>The spec declares no containers: each event is shown on the process and the thread that recorded it.</p>\n");
    } else {
        out.push_str(
            "<p>The containers, each a row of the image, with their contents. A box inside another box is contained in it.</p>\n",
        );
    }
    for id in facts.container_types_in(None) {
        container(out, facts, id);
    }
    out.push_str("</section>\n");
}

fn container(out: &mut String, facts: &ReferenceFacts<'_>, id: ContainerTypeId) {
    let container = &facts.spec.containers[id.index()];
    let target = anchor("container", &format!("{}-{}", id.index(), container.name));
    let _ = write!(
        out,
        "<article class=\"box\" id=\"{target}\" aria-labelledby=\"{target}-name\">\n<div class=\"top\"><h3 id=\"{target}-name\">\
         <a href=\"#{target}\">{}</a></h3> <span class=\"badge\">container</span>",
        HtmlText(&contents::container_name(&container.name, &container.keys))
    );
    if container.stream.is_some() {
        out.push_str(" <span class=\"badge\">one per thread</span>");
    }
    let label = contents::pattern(&container.pattern);
    if !label.is_empty() {
        let _ = write!(out, "<span class=\"note\">“{}”</span>", HtmlText(&label));
    }
    out.push_str("</div>\n");
    out.push_str(&prose(&container.doc));
    for (index, item) in facts.entities(id) {
        entity(out, facts, index, item);
    }
    for inner in facts.container_types_in(Some(id)) {
        self::container(out, facts, inner);
    }
    out.push_str("</article>\n");
}

fn entity(out: &mut String, facts: &ReferenceFacts<'_>, index: usize, entity: &EntityType) {
    let kind = contents::kind_name(&entity.kind);
    let _ = write!(
        out,
        "<div class=\"entity\" id=\"{}\">\n<h4><span class=\"kind\">{kind}</span> {}",
        entity_anchor(index, &entity.name),
        code(&entity.name)
    );
    if let Some([from, to]) = facts.ends(entity) {
        let _ = write!(
            out,
            " <span class=\"ends\">{} <span aria-label=\"to\">→</span> {}</span>",
            HtmlText(&from.join(", ")),
            HtmlText(&to.join(", "))
        );
    }
    if entity.label != entity.name {
        let _ = write!(out, " <span class=\"label\">“{}”</span>", HtmlText(&entity.label));
    }
    if entity.color.is_some() || entity.style != SpecStyle::default() {
        let _ = write!(out, " {}", style_html(&entity.kind, entity.color, &entity.style));
    }
    out.push_str("</h4>\n");
    out.push_str(&prose(&entity.doc));
    if !entity.values.is_empty() {
        let _ = writeln!(out, "<ul class=\"values\" aria-label=\"Values of {}\">", HtmlText(&entity.name));
        for item in &entity.values {
            value(out, entity, item);
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</div>\n");
}

fn value(out: &mut String, entity: &EntityType, value: &DeclaredValue) {
    let color = value.color.or(entity.color);
    let style =
        SpecStyle { shape: value.style.shape.or(entity.style.shape), size: value.style.size.or(entity.style.size) };
    let _ = write!(out, "<li>{}{}", swatch(&entity.kind, color, &style), code(&value.name));
    if value.label != value.name {
        let _ = write!(out, " <span class=\"label\">“{}”</span>", HtmlText(&value.label));
    }
    let texts: Vec<String> = value.color.map(hex).into_iter().chain(contents::value_texts(value)).collect();
    if !texts.is_empty() {
        let _ = write!(out, " <span class=\"quiet\">{}</span>", HtmlText(&texts.join(", ")));
    }
    if !value.doc.trim().is_empty() {
        let _ = write!(
            out,
            " <span class=\"say\">{}</span>",
            inline(&value.doc.split_whitespace().collect::<Vec<_>>().join(" "))
        );
    }
    out.push_str("</li>\n");
}

fn style_html(kind: &EntityTypeKind, color: Option<SpecColor>, style: &SpecStyle) -> String {
    let words: Vec<String> = color.map(hex).into_iter().chain(contents::style_texts(style)).collect();
    format!("{}<span class=\"quiet\">{}</span>", swatch(kind, color, style), HtmlText(&words.join(", ")))
}

pub(super) fn hex(color: SpecColor) -> String {
    format!("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue)
}

/// A small image of an entity as it is drawn. The text after it describes the same properties.
fn swatch(kind: &EntityTypeKind, color: Option<SpecColor>, style: &SpecStyle) -> String {
    let paint = color.map_or_else(|| "none".to_owned(), hex);
    let shape = match (style.shape, kind) {
        (Some(SpecShape::Triangle) | None, EntityTypeKind::Event) => "<path d=\"M3 2H17L10 14Z\"/>",
        (Some(SpecShape::Diamond), EntityTypeKind::Event) => "<path d=\"M10 1 17 8 10 15 3 8Z\"/>",
        (Some(SpecShape::Circle), EntityTypeKind::Event) => "<circle cx=\"10\" cy=\"8\" r=\"6\"/>",
        (Some(SpecShape::Square), EntityTypeKind::Event) => "<path d=\"M4 2H16V14H4Z\"/>",
        (Some(SpecShape::Line), EntityTypeKind::Event) => "<path d=\"M10 1V15\" class=\"stroke\"/>",
        (_, EntityTypeKind::Variable) => "<path d=\"M1 13H6V5H12V9H19\" class=\"stroke\"/>",
        (_, EntityTypeKind::Link { .. }) => "<path d=\"M1 13 17 3M11 3H17V8\" class=\"stroke\"/>",
        (_, EntityTypeKind::State) => "<rect x=\"1\" y=\"2\" width=\"18\" height=\"12\" rx=\"2\"/>",
    };
    let shape = if shape.contains("stroke") && color.is_some() {
        shape.replace("class=\"stroke\"", &format!("class=\"stroke\" style=\"stroke:{paint}\""))
    } else {
        shape.to_owned()
    };
    let class = match (color.is_some(), shape.contains("stroke")) {
        (false, _) => "swatch plain",
        (true, false) => "swatch",
        (true, true) => "swatch thin",
    };
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 20 16\" width=\"20\" height=\"16\" fill=\"{paint}\" aria-hidden=\"true\">{shape}</svg>"
    )
}
