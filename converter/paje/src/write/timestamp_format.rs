//! Formats of timestamps. The format is a type parameter, so that the usual format has no runtime
//! cost for the others.

use std::fmt;

use crate::number_text::NumberWords;
use crate::time::TimeUnit;

/// Writes timestamps. A later timestamp is never written as a smaller number.
pub trait TimestampWriter: fmt::Debug {
    #[doc(hidden)]
    fn write(&self, nanos: u64, words: &mut TimestampPosition<'_>);
}

/// The destination of a timestamp.
#[derive(Debug)]
pub struct TimestampPosition<'w>(pub(super) &'w mut NumberWords);

/// Seconds with nine decimals: exact.
#[derive(Clone, Copy, Debug)]
pub struct ExactSeconds;

impl TimestampWriter for ExactSeconds {
    #[inline(always)]
    fn write(&self, nanos: u64, words: &mut TimestampPosition<'_>) {
        words.0.seconds(nanos);
    }
}

/// Another unit, or fewer decimals. Further decimals are cut off. Timestamps therefore keep their
/// order.
#[derive(Clone, Copy, Debug)]
pub(super) struct TruncatedUnits {
    unit: u64,
    decimals: u8,
}

impl TruncatedUnits {
    /// Creates the format. At most nine decimals are written.
    pub(super) const fn new(unit: TimeUnit, decimals: u8) -> Self {
        Self { unit: unit.nanos() as u64, decimals }
    }
}

impl TimestampWriter for TruncatedUnits {
    fn write(&self, nanos: u64, words: &mut TimestampPosition<'_>) {
        words.0.number(nanos / self.unit);
        // The rest as billionths of the unit, so that it has nine decimals.
        let rest = nanos % self.unit * (1_000_000_000 / self.unit);
        words.0.decimals(rest, self.decimals);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;

    use super::super::{HeaderStyle, PajeStyle, in_style};
    use crate::read::PajeReader;
    use crate::time::{GlobalNanos, TimeUnit};
    use crate::{ContainerId, DrawStyle, PajeEvent, PajeSink, PajeTypeKind, TypeId};

    const UNITS: [TimeUnit; 4] = [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos];

    #[derive(Default)]
    struct EventTimestamps(Vec<i64>);

    impl PajeSink for EventTimestamps {
        fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
            self.0.extend(event.time().map(|time| time.0));
            Ok(())
        }

        fn finish(&mut self, _end: GlobalNanos) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(timestamps: &[i64], style: PajeStyle) -> String {
        let mut text = Vec::new();
        let mut writer = in_style(&mut text, style);
        let (ty, kind) = (TypeId(1), PajeTypeKind::Container);
        let (parent, extra) = (ContainerId::ROOT, &[][..]);
        let define =
            PajeEvent::DefineType { ty, kind, parent: TypeId::ROOT, name: "T", color: None, style: DrawStyle::NONE };
        writer.event(&define).expect("writing to memory cannot fail");
        for (number, timestamp) in (1..).zip(timestamps) {
            let (time, container) = (GlobalNanos(*timestamp), ContainerId(number));
            writer
                .event(&PajeEvent::CreateContainer { time, container, ty, parent, name: "c", extra })
                .expect("memory");
        }
        writer.finish(GlobalNanos(0)).expect("memory");
        drop(writer);
        String::from_utf8(text).expect("text")
    }

    proptest! {
        /// For any timestamp, unit, number of decimals and header: reading yields the timestamp
        /// with the decimals cut off.
        #[test]
        fn timestamps_round_trip_with_cut_decimals(
            mut timestamps in prop::collection::vec((0..=GlobalNanos::FURTHEST.0, 0u32..63).prop_map(|(timestamp, shift)| timestamp >> shift), 1..6),
            unit in prop::sample::select(&UNITS[..]),
            decimals in prop::option::of(0u8..=9),
            header in prop::sample::select(&[HeaderStyle::Reference, HeaderStyle::Old, HeaderStyle::Basic][..]),
        ) {
            timestamps.sort_unstable();
            let text = written(&timestamps, PajeStyle { unit, decimals, header });
            let mut read_back = EventTimestamps::default();
            PajeReader::new(text.as_bytes()).in_unit(unit).read(&mut read_back).expect("the text is valid Pajé");
            let exact = unit.exact_decimals();
            let grain = 10_i64.pow(u32::from(exact.saturating_sub(decimals.unwrap_or(exact))));
            let expected: Vec<i64> = timestamps.iter().map(|timestamp| timestamp / grain * grain).collect();
            prop_assert_eq!(&read_back.0, &expected, "{}", text);
            prop_assert!(read_back.0.is_sorted());
            for line in text.lines().filter(|line| line.starts_with("6 ")) {
                let timestamp = line.split(' ').nth(1).unwrap_or_default();
                let written = timestamp.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                prop_assert_eq!(written, usize::from(decimals.unwrap_or(exact)), "{}", line);
            }
        }
    }

    #[test]
    fn the_usual_style_is_the_writer_without_one() {
        let text = written(&[1_234_567_890], PajeStyle::default());
        assert!(text.ends_with("\n6 1.234567890 c1 0 t1 \"c\"\n"), "{text}");
        let style = |unit, decimals| PajeStyle { unit, decimals, header: HeaderStyle::Reference };
        for (unit, decimals, timestamp) in [
            (TimeUnit::Millis, None, "1234.567890"),
            (TimeUnit::Micros, Some(0), "1234567"),
            (TimeUnit::Nanos, None, "1234567890"),
            (TimeUnit::Seconds, Some(1), "1.2"),
        ] {
            let text = written(&[1_234_567_890], style(unit, decimals));
            assert!(text.ends_with(&format!("\n6 {timestamp} c1 0 t1 \"c\"\n")), "{text}");
        }
    }
}
