//! [`MessageScale`]: the colours of messages, by size or by distance.

use crate::chart::{ChartPaint, LegendItem};
use crate::draw::size_scale::{MAX_BINS, SizeScale};
use crate::error::PerspectiveError;
use crate::execution::messages::UnitMessage;
use crate::network::topology::Topology;
use crate::options::{MessageColor, ViewOptions};

/// The colours of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MessageScale {
    /// By size.
    Sizes(SizeScale),
    /// By the number of hops.
    Hops(HopScale),
}

/// A scale of numbers of hops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HopScale {
    topology: Topology,
    units: usize,
    /// The largest number of hops between two units.
    maximum: u32,
    /// The number of adjacent numbers of hops that share a colour.
    hops_per_bin: u32,
}

impl MessageScale {
    /// The scale that the options choose. `None` for sizes if there are none.
    ///
    /// # Errors
    /// If the topology does not fit the units.
    pub(crate) fn new(
        options: &ViewOptions,
        units: usize,
        sizes: impl IntoIterator<Item = u64>,
    ) -> Result<Option<Self>, PerspectiveError> {
        if options.color == MessageColor::Size {
            return Ok(options.size_scale(sizes).map(Self::Sizes));
        }
        let topology = options.topology(units)?;
        let maximum = topology.diameter(units).max(1);
        let hops_per_bin = maximum.div_ceil(u32::try_from(MAX_BINS).unwrap_or(1));
        Ok(Some(Self::Hops(HopScale { topology, units, maximum, hops_per_bin })))
    }

    /// The number of the bin of a message. `None` if it has no size.
    pub(crate) fn bin(&self, message: &UnitMessage) -> Option<u32> {
        match self {
            Self::Sizes(scale) => Some(scale.bin(message.bytes?)),
            Self::Hops(scale) => Some(scale.bin(message.from, message.to)),
        }
    }

    /// The paint of messages from one unit to another with a sum of sizes.
    pub(crate) fn paint(&self, (from, to): (u32, u32), bytes: u64) -> ChartPaint {
        match self {
            Self::Sizes(scale) => scale.paint(bytes),
            Self::Hops(scale) => scale.paint_of_bin(scale.bin(from, to)),
        }
    }

    /// The paint and the meaning of each bin.
    pub(crate) fn legend(&self) -> Vec<LegendItem> {
        match self {
            Self::Sizes(scale) => scale.legend(),
            Self::Hops(scale) => scale.legend(),
        }
    }

    /// The topology that determines the colours, in words. Empty for sizes.
    pub(crate) fn caption(&self, options: &ViewOptions) -> String {
        match self {
            Self::Sizes(_) => String::new(),
            Self::Hops(_) => format!("topology of hops: {}", options.topology_title()),
        }
    }
}

impl HopScale {
    fn bin(&self, from: u32, to: u32) -> u32 {
        let hops = self.topology.distance(self.units, from as usize, to as usize);
        hops.clamp(1, self.maximum).saturating_sub(1) / self.hops_per_bin
    }

    #[expect(clippy::cast_precision_loss, reason = "there are few bins")]
    fn paint_of_bin(&self, bin: u32) -> ChartPaint {
        let last = (self.maximum - 1) / self.hops_per_bin;
        ChartPaint::Size(if last == 0 { 1.0 } else { bin as f32 / last as f32 })
    }

    fn legend(&self) -> Vec<LegendItem> {
        let item = |bin: u32| {
            let first = bin * self.hops_per_bin + 1;
            let last = (first + self.hops_per_bin - 1).min(self.maximum);
            let label = match (first, last) {
                (1, 1) => "1 hop".to_owned(),
                _ if first == last => format!("{first} hops"),
                _ => format!("{first} to {last} hops"),
            };
            LegendItem { paint: self.paint_of_bin(bin), label }
        };
        (0..=(self.maximum - 1) / self.hops_per_bin).map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::MessageScale;
    use crate::options::{MessageColor, ViewOptions};

    #[test]
    fn hops_have_at_most_eight_colours() {
        let labels = |topology: &str, units| {
            let topology = Some(topology.to_owned());
            let options = ViewOptions { color: MessageColor::Distance, topology, ..ViewOptions::default() };
            let scale = MessageScale::new(&options, units, []).unwrap().unwrap();
            scale.legend().into_iter().map(|item| item.label).collect::<Vec<_>>()
        };
        assert_eq!(labels("hamming", 16), ["1 hop", "2 hops", "3 hops", "4 hops"]);
        assert_eq!(labels("unit", 16), ["1 hop"]);
        assert_eq!(labels("mesh1", 20)[..2], ["1 to 3 hops", "4 to 6 hops"]);
        assert_eq!(labels("mesh1", 20).len(), 7);
        assert_eq!(labels("mesh1", 1), ["1 hop"]);
    }
}
