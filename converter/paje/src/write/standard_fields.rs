//! [`StandardFieldSink`]: removes the parts of operations that a header with only the standard
//! fields cannot represent.

use std::io;

use crate::time::GlobalNanos;
use crate::{DrawStyle, FieldSet, KeyId, PajeEvent, PajeSink, PlainEvent};

/// Passes operations on without extra fields, source positions, shapes, sizes and categories.
#[derive(Debug)]
pub(super) struct StandardFieldSink<S>(pub(super) S);

impl<S: PajeSink> PajeSink for StandardFieldSink<S> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        let mut event = *event;
        match &mut event {
            PajeEvent::CreateContainer { extra, .. } => *extra = &[],
            PajeEvent::SetState { extra, source, .. }
            | PajeEvent::PushState { extra, source, .. }
            | PajeEvent::NewEvent { extra, source, .. }
            | PajeEvent::StartLink { extra, source, .. }
            | PajeEvent::EndLink { extra, source, .. } => (*extra, *source) = (&[], None),
            PajeEvent::DefineType { style, .. } => *style = DrawStyle::NONE,
            PajeEvent::DefineValue { style, category, .. } => (*style, *category) = (DrawStyle::NONE, None),
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

    fn plain_event(&mut self, event: PlainEvent) -> io::Result<()> {
        self.0.plain_event(event)
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.0.name_key(key, text)
    }

    fn announce(&mut self, _shape: &FieldSet<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.0.finish(end)
    }
}
