//! [`Bare`]: takes from operations what has no place in a header of the format's own fields.

use std::io;

use super::super::{KeyId, Look, PajeEvent, PlainEvent, Shape, Sink};
use crate::time::GlobalNanos;

/// Passes operations on without extra fields, source positions, shapes and sizes.
#[derive(Debug)]
pub(super) struct Bare<S>(pub(super) S);

impl<S: Sink> Sink for Bare<S> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        let mut event = *event;
        match &mut event {
            PajeEvent::CreateContainer { extra, .. } => *extra = &[],
            PajeEvent::SetState { extra, source, .. }
            | PajeEvent::PushState { extra, source, .. }
            | PajeEvent::NewEvent { extra, source, .. }
            | PajeEvent::StartLink { extra, source, .. }
            | PajeEvent::EndLink { extra, source, .. } => (*extra, *source) = (&[], None),
            PajeEvent::DefineType { look, .. } | PajeEvent::DefineValue { look, .. } => *look = Look::NONE,
            PajeEvent::DestroyContainer { .. }
            | PajeEvent::PopState { .. }
            | PajeEvent::ResetState { .. }
            | PajeEvent::Variable { .. } => {}
        }
        self.0.event(&event)
    }

    fn changed_texts(&self) -> u64 {
        self.0.changed_texts()
    }

    fn at_line(&mut self, line: u64) {
        self.0.at_line(line);
    }

    fn name_part(&mut self, name: &str) {
        self.0.name_part(name);
    }

    fn plain(&mut self, event: PlainEvent) -> io::Result<()> {
        self.0.plain(event)
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.0.name_key(key, text)
    }

    fn announce(&mut self, _shape: &Shape<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.0.finish(end)
    }
}
