//! [`NodeStatisticsView`] (G14): the messages of one unit, one point per message.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_viewer::query::TypeModel;
use tumit_viewer::text::time_display::group_digits;

use crate::chart::{
    AxisUnit, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, ScatterChart, ScatterPoint, TableValue,
    TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::UnitMessage;
use crate::execution::order::UnitOrder;
use crate::network::topology::Topology;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, message_range, number, signed_number};

/// Maximum number of rows of the table, so that a card of a long trace stays small in memory.
const MAX_ROWS: usize = 100_000;

/// The number of different heights of points with sizes. Points that are closer cover each other in
/// a panel of usual height.
const HEIGHTS: f64 = 512.0;

/// The messages that a unit receives and sends: their peers, types, sizes or distances.
pub(crate) struct NodeStatisticsView;

/// The quantity on the vertical axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointQuantity {
    Peer,
    Type,
    Size,
    Distance,
}

impl PointQuantity {
    const WORDS: [(&'static str, Self); 4] =
        [("peer", Self::Peer), ("type", Self::Type), ("size", Self::Size), ("distance", Self::Distance)];

    fn parse(word: Option<&str>) -> Result<Self, PerspectiveError> {
        let Some(word) = word else { return Ok(Self::Peer) };
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, quantity)| *quantity).ok_or_else(|| {
            PerspectiveError::OptionValue {
                name: "quantity".to_owned(),
                value: word.to_owned(),
                expected: "peer, type, size or distance".to_owned(),
            }
        })
    }

    fn axis(self, maximum: f64) -> ChartAxis {
        match self {
            Self::Peer => ChartAxis::new("peer", AxisUnit::Count, maximum),
            Self::Type => ChartAxis::new("type", AxisUnit::Count, maximum),
            Self::Size => ChartAxis::new("size", AxisUnit::Bytes, maximum),
            Self::Distance => ChartAxis::new("distance in hops", AxisUnit::Count, maximum),
        }
    }
}

/// A message from the view of the selected unit.
struct PeerMessage<'a> {
    message: &'a UnitMessage,
    is_incoming: bool,
    time: i64,
    peer: u32,
    hops: u32,
}

impl PerspectiveView for NodeStatisticsView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "node-statistics",
            number: Some(14),
            title: "Node statistics",
            group: ViewGroup::Communication,
            summary: "The messages of one unit over time: their peers, types, sizes or distances.",
            required_data: "links between units",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["unit", "quantity", "order", "topology", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let quantity = PointQuantity::parse(request.options.quantity.as_deref())?;
        let measured = MeasuredMessages::new(execution, request, false)?;
        if quantity == PointQuantity::Size {
            execution.sized_messages()?;
        }
        let selected = request.options.selected_unit(execution)?;
        let unit = selected.unwrap_or(0);
        let topology = request.options.topology(execution.units().count())?;
        let messages = messages_of(execution, request, &measured, unit, topology);
        let axis = PointAxis::new(execution, request, quantity, &messages)?;
        let name = execution.units().list()[unit].name.clone();
        let mut notes = measured.notes();
        if selected.is_none() {
            notes.push(format!("No unit is selected, so this is the first one, {name}."));
        }
        if messages.is_empty() {
            notes.push(format!("{name} has no messages in the time range; select another unit, or a longer range."));
        }
        let mut panels = Vec::with_capacity(2);
        for (title, is_incoming) in [("Incoming", true), ("Outgoing", false)] {
            let list: Vec<&PeerMessage<'_>> =
                messages.iter().filter(|message| message.is_incoming == is_incoming).collect();
            let chart = axis.scatter(request, &list);
            if chart.points.len() < list.len() {
                let (message_count, points) =
                    (group_digits(list.len() as u64), group_digits(chart.points.len() as u64));
                notes.push(format!(
                    "{title}: {message_count} messages are drawn as {points} points, because others cover them."
                ));
            }
            panels.push(TitledPanel { title: title.to_owned(), panel: ChartPanel::Scatter(chart) });
        }
        if messages.len() > MAX_ROWS {
            notes.push(format!("The table has the first {} messages.", group_digits(MAX_ROWS as u64)));
        }
        let word = PointQuantity::WORDS[quantity as usize].0;
        let network = if quantity == PointQuantity::Distance {
            format!("topology: {}", request.options.topology_title())
        } else {
            String::new()
        };
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                name,
                format!("{word} of each message"),
                network,
                captions::order_caption(request),
            ]),
            panels,
            legend: [(0, "incoming, at its receive"), (1, "outgoing, at its send")]
                .map(|(series, label)| LegendItem { paint: ChartPaint::Series(series), label: label.to_owned() })
                .to_vec(),
            table: request.table(|| table(execution, &messages)),
            notes,
        })
    }
}

/// The messages that a unit receives or sends in the visible time range, by time.
fn messages_of<'a>(
    execution: &Execution,
    request: &ViewRequest,
    messages: &MeasuredMessages<'a>,
    unit: usize,
    topology: Topology,
) -> Vec<PeerMessage<'a>> {
    let range = message_range(execution, request.visible_range());
    let count = execution.units().count();
    let hops = |peer: u32| topology.distance(count, unit, peer as usize);
    let outgoing = messages.messages.sent_by(unit, range).map(|message| PeerMessage {
        message,
        is_incoming: false,
        time: message.send_time,
        peer: message.to,
        hops: hops(message.to),
    });
    let incoming = messages.messages.received_by(unit, range).map(|message| PeerMessage {
        message,
        is_incoming: true,
        time: message.receive_time,
        peer: message.from,
        hops: hops(message.from),
    });
    let mut all: Vec<PeerMessage<'a>> = outgoing.chain(incoming).collect();
    all.sort_by_key(|message| (message.time, message.is_incoming));
    all
}

struct PointAxis {
    quantity: PointQuantity,
    /// The places on the axis of the peers or values that occur.
    places: FxHashMap<u32, u32>,
    names: Vec<String>,
    maximum: f64,
}

impl PointAxis {
    fn new(
        execution: &Execution,
        request: &ViewRequest,
        quantity: PointQuantity,
        messages: &[PeerMessage<'_>],
    ) -> Result<Self, PerspectiveError> {
        let key = |peer_message: &PeerMessage<'_>| match quantity {
            PointQuantity::Peer => Some(peer_message.peer),
            PointQuantity::Type => Some(peer_message.message.value.0),
            PointQuantity::Size | PointQuantity::Distance => None,
        };
        let mut keys: Vec<u32> = messages.iter().filter_map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        if quantity == PointQuantity::Peer && request.options.order != UnitOrder::Natural {
            let occurs: FxHashSet<u32> = keys.iter().copied().collect();
            let order = execution.order(&request.options.order, request.range)?;
            keys = order
                .into_iter()
                .filter_map(|unit| u32::try_from(unit).ok())
                .filter(|unit| occurs.contains(unit))
                .collect();
        }
        let places = (0_u32..).zip(&keys).map(|(place, key)| (*key, place)).collect();
        let name = |key: &u32| match quantity {
            PointQuantity::Peer => execution.units().list()[*key as usize].name.clone(),
            _ => value_name(execution.model(), *key),
        };
        let names = keys.iter().map(name).collect();
        let maximum = match quantity {
            PointQuantity::Size => {
                messages.iter().filter_map(|peer_message| peer_message.message.bytes).max().map_or(0.0, number)
            }
            PointQuantity::Distance => {
                messages.iter().map(|peer_message| peer_message.hops).max().map_or(0.0, f64::from)
            }
            PointQuantity::Peer | PointQuantity::Type => number(keys.len().saturating_sub(1) as u64),
        };
        Ok(Self { quantity, places, names, maximum })
    }

    fn value(&self, peer_message: &PeerMessage<'_>) -> Option<f64> {
        let place = |key: u32| self.places.get(&key).copied().map(f64::from);
        match self.quantity {
            PointQuantity::Peer => place(peer_message.peer),
            PointQuantity::Type => place(peer_message.message.value.0),
            PointQuantity::Size => peer_message.message.bytes.map(number),
            PointQuantity::Distance => Some(f64::from(peer_message.hops)),
        }
    }

    /// A point per message. Of the points that would cover each other, only the first one.
    #[expect(clippy::cast_possible_truncation, reason = "it is a height from 0 to 512")]
    fn scatter(&self, request: &ViewRequest, messages: &[&PeerMessage<'_>]) -> ScatterChart {
        let range = request.visible_range();
        let nanos = i128::from(range.to.0.saturating_sub(range.from.0).max(1));
        let column =
            |time: i64| (i128::from(time) - i128::from(range.from.0)) * i128::from(request.columns.max(1)) / nanos;
        let height = |value: f64| match self.quantity {
            PointQuantity::Size => (value / self.maximum.max(1.0) * HEIGHTS).round() as i64,
            _ => value as i64,
        };
        let mut covered: FxHashSet<(i128, i64)> = FxHashSet::default();
        let point = |peer_message: &&PeerMessage<'_>| {
            let value = self.value(peer_message)?;
            covered.insert((column(peer_message.time), height(value))).then_some(ScatterPoint {
                time: peer_message.time,
                value,
                paint: ChartPaint::Series(u8::from(!peer_message.is_incoming)),
                entity: Some(peer_message.message.id),
            })
        };
        ScatterChart {
            from: range.from.0,
            to: range.to.0,
            cursor: (range.from.0..=range.to.0).contains(&request.time.0).then_some(request.time.0),
            axis: self.quantity.axis(self.maximum),
            categories: self.names.clone(),
            points: messages.iter().filter_map(point).collect(),
        }
    }
}

/// The name of a value, with its type if there are several types of links.
fn value_name(model: &TypeModel, value: u32) -> String {
    model.values.get(value as usize).map_or_else(String::new, |info| {
        let ty = &model.types[info.ty.index()];
        let several = model
            .types
            .iter()
            .filter(|candidate| std::mem::discriminant(&candidate.kind) == std::mem::discriminant(&ty.kind));
        if several.count() > 1 { format!("{} {}", ty.name, info.name) } else { info.name.clone() }
    })
}

/// A row per message.
fn table(execution: &Execution, messages: &[PeerMessage<'_>]) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("time, s", AxisUnit::Nanos),
        ("direction", AxisUnit::Count),
        ("peer", AxisUnit::Count),
        ("type", AxisUnit::Count),
        ("size, bytes", AxisUnit::Bytes),
        ("distance, hops", AxisUnit::Count),
    ]);
    table.rows.extend(messages.iter().take(MAX_ROWS).map(|peer_message| {
        vec![
            signed_number(peer_message.time).into(),
            TableValue::from(if peer_message.is_incoming { "incoming" } else { "outgoing" }),
            execution.units().list()[peer_message.peer as usize].name.as_str().into(),
            value_name(execution.model(), peer_message.message.value.0).as_str().into(),
            peer_message.message.bytes.map(number).into(),
            f64::from(peer_message.hops).into(),
        ]
    }));
    table
}
