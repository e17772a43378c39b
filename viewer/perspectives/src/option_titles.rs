//! [`value_title`]: the values of options as text for people. Commands and addresses have short
//! words such as `hamming`; the page and the drawings have "Hamming distance".
//!
//! ```
//! use tumit_perspectives::option_titles::value_title;
//!
//! assert_eq!(value_title("topology", "hamming"), "Hamming distance");
//! assert_eq!(value_title("topology", "torus2:4x8"), "2D torus of 4 × 8");
//! // A name of the trace or of a file is its own title.
//! assert_eq!(value_title("unit", "rank 3"), "rank 3");
//! ```

/// The titles of the words of one option.
type Titles = &'static [(&'static str, &'static str)];

/// The titles of options whose values are words.
const TITLES: [(&str, Titles); 14] = [
    ("several", &[("any-busy", "busy if any part is busy"), ("fractional", "by the fraction of parts")]),
    ("stateless", CATEGORIES),
    ("category", CATEGORIES),
    (
        "palette",
        &[
            ("standard", "of the theme"),
            ("traffic-lights", "green, yellow and red"),
            ("monochrome", "greys and patterns"),
        ],
    ),
    (
        "order",
        &[
            ("natural", "as in the trace"),
            ("gray", "Gray code"),
            ("name", "by name"),
            ("busy", "by busy time"),
            ("overhead", "by overhead time"),
            ("idle", "by idle time"),
            ("sent", "by messages sent"),
            ("received", "by messages received"),
            ("bytes-sent", "by bytes sent"),
            ("bytes-received", "by bytes received"),
        ],
    ),
    ("measure", &[("messages", "number of messages"), ("bytes", "bytes")]),
    (
        "topology",
        &[
            ("hamming", "Hamming distance"),
            ("unit", "complete network"),
            ("mesh1", "line"),
            ("torus1", "ring"),
            ("mesh2", "2D mesh"),
            ("torus2", "2D torus"),
            ("binary-tree", "binary tree"),
            ("quad-tree", "quad tree"),
        ],
    ),
    ("direction", &[("both", "incoming and outgoing"), ("incoming", "incoming"), ("outgoing", "outgoing")]),
    ("count", &[("busy", "busy"), ("busy+overhead", "busy and overhead")]),
    (
        "layout",
        &[
            ("circle", "circle"),
            ("ring", "ring in Gray order"),
            ("ring-of-rings", "ring of rings"),
            ("web", "web of rings"),
            ("cube", "cube"),
            ("lateral-cubes", "two cubes side by side"),
            ("nested-cubes", "nested cubes"),
            ("mesh", "mesh"),
            ("linear", "line"),
            ("tree", "binomial tree"),
            ("tesseract", "tesseract"),
            ("polytope", "polytope"),
        ],
    ),
    (
        "quantity",
        &[("peer", "other unit"), ("type", "type of link"), ("size", "size"), ("distance", "distance in hops")],
    ),
    (
        "collectives",
        &[("omit", "leave out"), ("add", "add to the messages"), ("only", "show in place of the messages")],
    ),
    ("color", &[("size", "size"), ("distance", "distance in hops")]),
    (
        "sort",
        &[
            ("number", "by number"),
            ("begin", "by first begin"),
            ("name", "by name"),
            ("end", "by last end"),
            ("duration", "by duration, longest first"),
            ("time", "by time of all units, longest first"),
        ],
    ),
];

const CATEGORIES: Titles = &[("busy", "busy"), ("overhead", "overhead"), ("idle", "idle")];

/// The values of options that are not set. Other options have no value, or one that depends on the
/// view or the trace.
const DEFAULTS: [(&str, &str); 10] = [
    ("several", "any-busy"),
    ("stateless", "idle"),
    ("palette", "standard"),
    ("order", "natural"),
    ("topology", "hamming"),
    ("direction", "both"),
    ("count", "busy"),
    ("collectives", "omit"),
    ("color", "size"),
    ("sort", "number"),
];

/// The title of the value of an option that is not set. `None` if it depends on the view or the
/// trace.
pub fn default_title(option: &str) -> Option<String> {
    DEFAULTS.iter().find(|(name, _)| *name == option).map(|(name, value)| value_title(name, value))
}

/// The title of a value of an option, without a capital at its start unless it is a name. A value
/// that is no word of the option is its own title.
pub fn value_title(option: &str, value: &str) -> String {
    let titles = TITLES.iter().find(|(name, _)| *name == option).map_or(&[][..], |(_, titles)| *titles);
    // The shape of a grid follows its word.
    let (word, shape) = match value.split_once(':') {
        Some((word, shape)) if option == "topology" => (word, Some(shape)),
        _ => (value, None),
    };
    match (titles.iter().find(|(known, _)| *known == word), shape) {
        (Some((_, title)), Some(shape)) => format!("{title} of {}", shape.replace('x', " × ")),
        (Some((_, title)), None) => (*title).to_owned(),
        (None, _) => value.to_owned(),
    }
}
