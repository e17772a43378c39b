//! The kinds of rows.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowKind {
    Container,
    State,
    Variable,
    Event,
    Link,
}

impl RowKind {
    /// The name in `pj_dump`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Container => "Container",
            Self::State => "State",
            Self::Variable => "Variable",
            Self::Event => "Event",
            Self::Link => "Link",
        }
    }
}
