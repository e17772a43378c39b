//! How dates are written. Chosen once, as a type: a line of the usual style does not pay for the others.

use std::fmt;

use crate::number_text::Words;
use crate::time::Unit;

/// Writes dates. Of two dates the later one is never written as the smaller number.
pub trait Dates: fmt::Debug {
    /// Writes one.
    #[doc(hidden)]
    fn write(&self, nanos: u64, words: &mut DateWords<'_>);
}

/// Where a date is written.
#[derive(Debug)]
pub struct DateWords<'w>(pub(super) &'w mut Words);

/// Seconds with nine decimals: exact.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

impl Dates for Exact {
    #[inline(always)]
    fn write(&self, nanos: u64, words: &mut DateWords<'_>) {
        words.0.seconds(nanos);
    }
}

/// Another unit, or fewer decimals. What does not fit into them is cut off: an end stays behind its start, and no date is
/// behind a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    unit: u64,
    decimals: u8,
}

impl Cut {
    /// At most nine decimals are written.
    pub(super) const fn new(unit: Unit, decimals: u8) -> Self {
        Self { unit: unit.nanos() as u64, decimals }
    }
}

impl Dates for Cut {
    fn write(&self, nanos: u64, words: &mut DateWords<'_>) {
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

    use super::super::{Header, Style, in_style};
    use crate::read::Reader;
    use crate::time::{GlobalNanos, Unit};
    use crate::{ContainerId, Look, PajeEvent, Sink, TypeId, TypeKind};

    const UNITS: [Unit; 4] = [Unit::Seconds, Unit::Millis, Unit::Micros, Unit::Nanos];

    /// Dates of what it took.
    #[derive(Default)]
    struct Taken(Vec<i64>);

    impl Sink for Taken {
        fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
            self.0.extend(event.time().map(|time| time.0));
            Ok(())
        }

        fn finish(&mut self, _end: GlobalNanos) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(dates: &[i64], style: Style) -> String {
        let mut text = Vec::new();
        let mut writer = in_style(&mut text, style);
        let (ty, kind) = (TypeId(1), TypeKind::Container);
        let (parent, extra) = (ContainerId::ROOT, &[][..]);
        let define = PajeEvent::DefineType { ty, kind, parent: TypeId::ROOT, name: "T", color: None, look: Look::NONE };
        writer.event(&define).expect("memory takes everything");
        for (number, date) in (1..).zip(dates) {
            let (time, container) = (GlobalNanos(*date), ContainerId(number));
            writer
                .event(&PajeEvent::CreateContainer { time, container, ty, parent, name: "c", extra })
                .expect("memory");
        }
        writer.finish(GlobalNanos(0)).expect("memory");
        drop(writer);
        String::from_utf8(text).expect("text")
    }

    proptest! {
        /// Any date, any unit, any number of decimals, by any header: what is read back is the date without what was cut off.
        #[test]
        fn dates_come_back_cut_off(
            mut dates in prop::collection::vec((0..=GlobalNanos::FURTHEST.0, 0u32..63).prop_map(|(date, shift)| date >> shift), 1..6),
            unit in prop::sample::select(&UNITS[..]),
            decimals in prop::option::of(0u8..=9),
            header in prop::sample::select(&[Header::Reference, Header::Old, Header::Basic][..]),
        ) {
            dates.sort_unstable();
            let text = written(&dates, Style { unit, decimals, header });
            let mut taken = Taken::default();
            Reader::new(text.as_bytes()).in_unit(unit).read(&mut taken).expect("it is Pajé");
            let exact = unit.exact_decimals();
            let grain = 10_i64.pow(u32::from(exact.saturating_sub(decimals.unwrap_or(exact))));
            let expected: Vec<i64> = dates.iter().map(|date| date / grain * grain).collect();
            prop_assert_eq!(&taken.0, &expected, "{}", text);
            prop_assert!(taken.0.is_sorted());
            for line in text.lines().filter(|line| line.starts_with("6 ")) {
                let date = line.split(' ').nth(1).unwrap_or_default();
                let written = date.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                prop_assert_eq!(written, usize::from(decimals.unwrap_or(exact)), "{}", line);
            }
        }
    }

    #[test]
    fn the_usual_style_is_the_writer_without_one() {
        let text = written(&[1_234_567_890], Style::default());
        assert!(text.ends_with("\n6 1.234567890 c1 0 t1 \"c\"\n"), "{text}");
        let style = |unit, decimals| Style { unit, decimals, header: Header::Reference };
        for (unit, decimals, date) in [
            (Unit::Millis, None, "1234.567890"),
            (Unit::Micros, Some(0), "1234567"),
            (Unit::Nanos, None, "1234567890"),
            (Unit::Seconds, Some(1), "1.2"),
        ] {
            let text = written(&[1_234_567_890], style(unit, decimals));
            assert!(text.ends_with(&format!("\n6 {date} c1 0 t1 \"c\"\n")), "{text}");
        }
    }
}
