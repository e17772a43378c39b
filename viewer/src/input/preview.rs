//! [`PreviewSink`]: publishes the beginning of a trace while the whole trace goes to another sink.

use std::io;
use std::sync::Arc;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{FieldSet, KeyId, PajeEvent, PajeSink};

use super::current_trace::CurrentTrace;
use crate::query::TimelineSource;
use crate::sim::Simulation;

/// Number of operations before the first published source. Each later source has twice as many as
/// the previous one. So all sources together cost at most twice as much as the last one.
const FIRST: u64 = 1 << 12;
/// The preview ends after this many operations. It takes about 25 MB then.
const MOST: u64 = 1 << 19;

/// Forwards all operations, and simulates the first ones for the preview.
pub(crate) struct PreviewSink<'a> {
    target: &'a mut dyn PajeSink,
    preview: Option<Simulation>,
    current_trace: &'a CurrentTrace,
    operations: u64,
    next: u64,
}

impl<'a> PreviewSink<'a> {
    pub(crate) fn new(target: &'a mut dyn PajeSink, name: &str, current_trace: &'a CurrentTrace) -> Self {
        Self { target, preview: Some(Simulation::new(name)), current_trace, operations: 0, next: FIRST }
    }

    fn show(&mut self) {
        let Some(preview) = &self.preview else { return };
        if self.operations >= MOST {
            self.preview.take().into_iter().for_each(|preview| put(preview, self.current_trace));
        } else {
            put(preview.clone(), self.current_trace);
            self.next = self.operations * 2;
        }
    }
}

/// The store of a simulation that is not at its end. Open entities end at the last timestamp.
pub(crate) fn preview_store(mut simulation: Simulation) -> Arc<dyn TimelineSource> {
    simulation.pause();
    Arc::new(simulation.into_store())
}

fn put(preview: Simulation, current_trace: &CurrentTrace) {
    let availability = current_trace.snapshot().availability;
    current_trace.put(preview_store(preview), availability);
}

impl PajeSink for PreviewSink<'_> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        if let Some(preview) = &mut self.preview {
            preview.process(event);
            self.operations += 1;
            if self.operations >= self.next {
                self.show();
            }
        }
        self.target.event(event)
    }

    fn at_line(&mut self, line: u64) {
        if let Some(preview) = &mut self.preview {
            preview.at_line(line);
        }
        self.target.at_line(line);
    }

    fn keeps_open_links(&self) -> bool {
        self.target.keeps_open_links()
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        self.target.settle_unpaired_endpoints()
    }

    fn name_part(&mut self, name: &str) {
        if let Some(preview) = &mut self.preview {
            preview.name_part(name);
        }
        self.target.name_part(name);
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        self.target.announce(shape)
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        if let Some(preview) = &mut self.preview {
            preview.name_key(key, text)?;
        }
        self.target.name_key(key, text)
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.target.finish(end)
    }
}

#[cfg(test)]
mod tests {
    use tumit_paje::read::PajeReader;
    use tumit_paje::{PajeEvent, PajeSink};

    use super::{FIRST, MOST, PreviewSink, preview_store};
    use crate::input::current_trace::{CurrentTrace, TraceAvailability};
    use crate::query::{GlobalNanos, StateLaneId, TimelineSource as _};
    use crate::sim::Simulation;

    /// A preview is exactly the beginning, and the other sink receives everything.
    #[test]
    fn previews_show_the_start_and_follow_each_doubling_of_operations() {
        let text = format!(
            "{}0 T 0 Thread\n2 S T State\n5 w S work \"0 1 0\"\n6 0 t 0 T t\n",
            include_str!("../../tests/header.paje")
        );
        let current = CurrentTrace::empty("t", TraceAvailability::Reading { processed_bytes: 1, total: 3 });
        let mut target = Simulation::new("t");
        let mut peek = PreviewSink::new(&mut target, "t", &current);
        let mut reader = PajeReader::new(text.as_bytes());
        while reader.next(&mut peek).expect("the text is valid Pajé") {}
        let container = peek
            .preview
            .as_ref()
            .and_then(|preview| preview.clone().into_store().containers().get(1).map(|container| container.id));
        let container = container.expect("the container was created");
        let (ty, value) = (crate::query::TypeId(2), crate::query::ValueId(0));
        let before = peek.operations;
        let mut shown_at = Vec::new();
        for number in 0..MOST + 10 {
            let time = GlobalNanos(number.cast_signed());
            peek.event(&PajeEvent::SetState { time, container, ty, value, extra: &[], source: None }).expect("memory");
            let now = current.snapshot();
            if now.generation > shown_at.len() as u64 + 1 {
                shown_at.push(number + 1);
                let lane = StateLaneId { container, ty, depth: 0 };
                let list = now.source.states(lane, now.source.extent(), 0).expect("the lane exists");
                assert_eq!((list.total, now.availability.percent()), (number + 1, Some(33)));
            }
        }
        let doubling = std::iter::successors(Some(FIRST), |count| Some(count * 2)).take_while(|count| *count <= MOST);
        assert_eq!(shown_at, doubling.map(|count| count - before).collect::<Vec<_>>());
        assert!(peek.preview.is_none(), "no further operations are kept");
        assert_eq!(preview_store(target).summary().states, MOST + 10);
    }
}
