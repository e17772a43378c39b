//! Tests of references as HTML and Markdown: completeness, escapes, links.

use super::{HtmlBackend, MarkdownBackend};
use crate::codegen::backend::{Backend, CodegenOptions};

const SPEC: &str = "//! Events of a <demo> & more.\ntrace demo;\nversion 3;\n\n/// What \"it\" is.\nenum paint { red, dark = 300 }\n\
type rank = u16;\nconst LENGTH = 4;\n\n/// Messages.\nlevel COM {\n    /// The message leaves.\n    event post located {\n        \
/// Who, `<b>`.\n        node: rank, ids: [u32; LENGTH], what: string, shade: paint,\n    }\n    event quiet {}\n}\n\
level APP off { span work { n: u32 } }\npaje {\n    container program \"Program\" {\n        container node[node: u16] \"Node {node}\" {\n            \
state activity \"Activity\" #010203 { working #2ca02c, idle size 0.5 }\n            variable load\n        }\n        \
link message from node to node { big #ff0000 }\n    }\n}\n\n/// Doc of a rule.\nrule post -> push activity = working on node[node]\n          \
-> start message = big key (node) from node[node]\n          -> end message key (node) to node[node];\nrule work.begin -> set load = n * 2 on node[0];\n\
rule work.end -> set load = 0 on node[0] -> set activity = idle on node[0];\noutput text \"by hand\" { prologue \"a<b>\\n\" rule post -> \"12 @ `@`\" date, node; }\n";

fn generated(backend: &dyn Backend, text: &str) -> String {
    let (spec, diagnostics) = crate::compile_text("folder/demo.tumit", text);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
    let files =
        backend.generate(&spec.expect("it is right"), &CodegenOptions::default()).expect("everything can be described");
    files.0.into_iter().map(|file| file.text).collect()
}

/// Elements without an end, and end tags without an element.
fn unbalanced(html: &str) -> Vec<String> {
    const VOID: [&str; 8] = ["meta", "input", "path", "circle", "rect", "!DOCTYPE", "br", "link"];
    let body = html.split("<style>").next().unwrap_or_default().to_owned()
        + html.split("</style>").nth(1).unwrap_or_default().split("<script>").next().unwrap_or_default();
    let (mut open, mut faults) = (Vec::new(), Vec::new());
    for tag in body.split('<').skip(1) {
        let name: String = tag.chars().take_while(|c| !c.is_whitespace() && *c != '>').collect();
        match name.strip_prefix('/') {
            Some(name) if open.last().is_some_and(|last| last == name) => drop(open.pop()),
            Some(name) => faults.push(format!("</{name}> in {open:?}")),
            None if VOID.contains(&name.as_str()) => {}
            None => open.push(name),
        }
    }
    faults.extend(open.iter().filter(|name| !["html", "body", "head"].contains(&name.as_str())).cloned());
    faults
}

#[test]
fn the_page_contains_all_facts_and_escapes_them() {
    let html = generated(&HtmlBackend, SPEC);
    for part in [
        "Events of a &lt;demo&gt; &amp; more.",
        "version 3",
        "Who, <code>&lt;b&gt;</code>.",
        "<code>[u32; LENGTH]</code>",
        "at least 32 bytes",
        "com::post(node: u16, ids: [u32; 4], what: &amp;str, shade: Paint)",
        "void demo_post(uint16_t node, const uint32_t *ids",
        "void demo_work_begin(uint32_t n)\nvoid demo_work_end(void)",
        "off by default",
        "node[node]",
        "#2ca02c",
        "aria-label=\"to\">→</span> node",
        "Doc of a rule.",
        "by hand",
        "a&lt;b&gt;",
        "<code>&quot;12 @ `@`&quot;</code>",
        "shown as a mark on the thread",
    ] {
        assert!(html.contains(part), "{part} is missing in\n{html}");
    }
    assert!(!html.contains("folder/"), "no path of a machine");
    for outside in ["http:", "https:", "@import", "url(", "src="] {
        assert!(!html.contains(outside), "the page needs {outside}");
    }
}

#[test]
fn the_page_is_well_formed_and_its_links_lead_somewhere() {
    let html = generated(&HtmlBackend, SPEC);
    assert_eq!(unbalanced(&html), Vec::<String>::new());
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "an id is used twice: {ids:?}");
    for target in html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&target), "nothing is called {target}");
    }
}

#[test]
fn markdown_contains_the_same_facts() {
    let markdown = generated(&MarkdownBackend, SPEC);
    for part in [
        "# demo\n\nEvents of a \\<demo\\> \\& more.\n",
        "| `COM` | on | [`post`](#event-post), [`quiet`](#event-quiet) |",
        "### Event `post`",
        "| `ids` | `[u32; LENGTH]` | 16 |  |",
        "A record has at least 32 bytes, with its source position.",
        "```c\nvoid demo_work_begin(uint32_t n)\nvoid demo_work_end(void)\n```",
        "program \"Program\"\n├─ link message: node → node\n└─ node[node] \"Node {node}\"\n   ├─ state activity\n   └─ variable load",
        "| `working` | working | `#2ca02c` |  |",
        "## Text output `by hand`",
        "| `post` | ``\"12 @ `@`\"`` | `date, node` |",
    ] {
        assert!(markdown.contains(part), "{part} is missing in\n{markdown}");
    }
}

#[test]
fn an_empty_spec_has_a_page() {
    let html = generated(&HtmlBackend, "trace empty;\n");
    assert!(html.contains("<h1>empty</h1>") && unbalanced(&html).is_empty());
    assert!(generated(&MarkdownBackend, "trace empty;\n").starts_with("# empty\n"));
}

#[test]
fn pages_are_the_same_on_every_run() {
    assert_eq!(generated(&HtmlBackend, SPEC), generated(&HtmlBackend, SPEC));
    assert_eq!(generated(&MarkdownBackend, SPEC), generated(&MarkdownBackend, SPEC));
}
