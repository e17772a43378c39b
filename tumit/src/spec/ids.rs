//! Typed indexes into the arenas of a spec.

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its arena.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// Index into [`Spec::levels`](super::Spec::levels).
    LevelId
    /// Index into [`Spec::records`](super::Spec::records): an event, or one end of a span.
    RecordId
    /// Index into [`Spec::containers`](super::Spec::containers).
    ContainerTypeId
    /// Index into [`Spec::entities`](super::Spec::entities).
    EntityTypeId
    /// Index into [`EntityType::values`](super::EntityType::values) of its type.
    ValueId
}
