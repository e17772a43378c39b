//! Random filter expressions.

use proptest::prelude::*;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::{
    AssignedEndpoint, Comparison, Condition, DurationStatistic, ExecutionSeries, FieldTest, FilterExpr, Measure,
    NamePattern, NamePatterns, OrderKey, ReduceOperation, Reduction, ReductionForm, SelectionEffect, SeriesExpr,
};
use tumit_viewer::query::{GlobalNanos, MarkShape, OpenTimeRange};
use tumit_viewer::style::theme::rgb;

/// Names with all characters that have a meaning in the language, except `*` alone, which printing
/// omits.
pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Z][a-z0-9 *?/.-]{0,8}",
        1 => "x[ ,\"\\\\=<>~!#é*]{0,6}",
        1 => prop::sample::select(vec!["of", "a per b", "by", "state", "x into", "in", " x", "x  y", ""]).prop_map(str::to_owned),
        1 => "(and|or|not|involves|sent|received|[(]a|b[)]|c[(]d[)]|Node|,)( (and|or|not|involves|sent|[(]|[)]|x)){0,2}",
    ]
}

fn series() -> impl Strategy<Value = FilterExpr> {
    let option = (prop::sample::select(&["level", "states", "tasks", "several", "stateless"][..]), name());
    let all = prop::collection::vec(prop::sample::select(&ExecutionSeries::ALL[..]), 1..4);
    let options = prop::collection::vec(option, 0..3);
    (all, any::<bool>(), options, prop::option::of(name())).prop_map(|(series, per_unit, options, name)| {
        let name = name.filter(|_| series.len() == 1);
        FilterExpr::Series(SeriesExpr { series, per_unit, options, name })
    })
}

fn pattern() -> impl Strategy<Value = NamePattern> {
    name().prop_map(NamePattern::new)
}

fn patterns() -> impl Strategy<Value = NamePatterns> {
    prop_oneof![4 => prop::collection::vec(pattern(), 1..4).prop_map(NamePatterns::new), 1 => Just(NamePatterns::match_all())]
}

fn of() -> impl Strategy<Value = Option<NamePattern>> {
    prop::option::of(pattern())
}

fn keep() -> impl Strategy<Value = SelectionEffect> {
    prop_oneof![Just(SelectionEffect::Hide), Just(SelectionEffect::Only)]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{AtLeast, AtMost, Equal, Less, More, Unequal};
    prop::sample::select(vec![Equal, Unequal, Less, AtMost, More, AtLeast])
}

fn time_range() -> impl Strategy<Value = OpenTimeRange> {
    prop_oneof![
        (any::<i32>(), 1..i64::MAX / 4).prop_map(|(from, length)| {
            let from = i64::from(from);
            OpenTimeRange { from: Some(GlobalNanos(from)), to: Some(GlobalNanos(from + length)) }
        }),
        prop::option::of(any::<i64>().prop_map(GlobalNanos)).prop_map(|from| OpenTimeRange { from, to: None }),
        prop::option::of(any::<i64>().prop_map(GlobalNanos)).prop_map(|to| OpenTimeRange { from: None, to }),
    ]
}

fn key() -> impl Strategy<Value = OrderKey> {
    let measure = prop_oneof![
        Just(Measure::Name),
        Just(Measure::Start),
        (patterns(), of()).prop_map(|(values, types)| Measure::Time { values, types }),
        (patterns(), of()).prop_map(|(values, types)| Measure::Number { values, types }),
        pattern().prop_map(|types| Measure::Mean { types }),
        pattern().prop_map(|types| Measure::Min { types }),
        pattern().prop_map(|types| Measure::Max { types }),
        pattern().prop_map(|types| Measure::Integral { types }),
        Just(Measure::End),
        (patterns(), of()).prop_map(|(values, types)| Measure::Share { values, types }),
        (prop::sample::select(DurationStatistic::ALL.to_vec()), patterns(), of())
            .prop_map(|((_, statistic), values, types)| Measure::Duration { statistic, values, types }),
        (
            prop::sample::select(vec![
                ReduceOperation::Sum,
                ReduceOperation::Mean,
                ReduceOperation::Min,
                ReduceOperation::Max
            ]),
            name(),
            pattern()
        )
            .prop_map(|(operation, field, types)| Measure::Field { operation, field, types }),
        (prop::option::of(name()), of()).prop_map(|(field, types)| Measure::Sent { field, types }),
        (prop::option::of(name()), of()).prop_map(|(field, types)| Measure::Received { field, types }),
    ];
    (measure, prop::option::of(time_range())).prop_map(|(measure, time_range)| OrderKey { measure, time_range })
}

fn condition() -> impl Strategy<Value = Condition> {
    let operands = prop::collection::vec(pattern(), 1..4);
    let field = (name(), comparison(), operands, any::<bool>()).prop_map(|(field, comparison, mut operands, like)| {
        let comparison = match (like, comparison) {
            (true, Comparison::Equal) => Comparison::Like,
            (true, Comparison::Unequal) => Comparison::Unlike,
            (_, comparison) => comparison,
        };
        if !matches!(comparison, Comparison::Equal | Comparison::Unequal | Comparison::Like | Comparison::Unlike) {
            operands.truncate(1);
        }
        Condition::Field(FieldTest { field, comparison, operands: NamePatterns::new(operands) })
    });
    let involves = prop::collection::vec(pattern(), 1..4).prop_map(|all| Condition::Involves(NamePatterns::new(all)));
    prop_oneof![3 => field, 1 => involves].prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|one| Condition::Not(Box::new(one))),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            2 => prop::collection::vec(inner, 2..4).prop_map(Condition::Or),
        ]
    })
}

fn selection() -> impl Strategy<Value = FilterExpr> {
    let condition = condition();
    prop_oneof![
        (keep(), patterns()).prop_map(|(keep, types)| FilterExpr::Types { effect: keep, types }),
        (keep(), patterns(), of()).prop_map(|(keep, values, types)| FilterExpr::Values { effect: keep, values, types }),
        (keep(), patterns()).prop_map(|(keep, containers)| FilterExpr::Containers { effect: keep, containers }),
        (keep(), condition, of()).prop_map(|(keep, condition, types)| FilterExpr::Attribute {
            effect: keep,
            condition,
            types
        }),
        (keep(), comparison(), any::<i64>().prop_map(|n| n / 2), of()).prop_map(|(keep, comparison, nanos, types)| {
            FilterExpr::Duration { effect: keep, comparison, nanos, types }
        }),
        time_range().prop_map(FilterExpr::Cut),
    ]
}

pub(crate) fn filter() -> impl Strategy<Value = FilterExpr> {
    use ReduceOperation::{Count, Max, Mean, Min, Sum};
    let reduction = (
        prop::sample::select(vec![Count, Sum, Mean, Min, Max]),
        (prop::option::of(prop::sample::select(vec![AssignedEndpoint::Sent, AssignedEndpoint::Received])), patterns()),
        pattern(),
        pattern(),
        prop_oneof![Just(ReductionForm::Variable), Just(ReductionForm::State)],
        prop::option::of(name()),
    )
        .prop_map(|(operation, (end, values), types, group_type, form, name)| {
            FilterExpr::Reduce(Reduction { operation, end, values, types, group_type, form, name })
        });
    let number = prop_oneof![(-1000..1000_i32).prop_map(f64::from), any::<i32>().prop_map(|n| f64::from(n) / 7.0)];
    let having = (pattern(), key(), comparison(), number).prop_map(|(ty, key, comparison, number)| {
        let time = key.measure.is_time();
        FilterExpr::Having { ty, key, comparison, number: if time { number.trunc() } else { number } }
    });
    let painted = (patterns(), of(), 0..0x100_0000_u32).prop_map(|(values, types, color)| FilterExpr::Color {
        values,
        types,
        color: rgb(color),
    });
    let shape = prop::sample::select(MarkShape::ALL.to_vec());
    let shaped =
        (patterns(), of(), shape).prop_map(|(values, types, shape)| FilterExpr::Shape { values, types, shape });
    let size = (1..400_u16).prop_map(|hundredths| f32::from(hundredths) / 100.0);
    let sized = (patterns(), of(), size).prop_map(|(values, types, size)| FilterExpr::Size { values, types, size });
    prop_oneof![
        1 => shaped,
        1 => sized,
        4 => selection(),
        1 => (patterns(), name()).prop_map(|(containers, name)| FilterExpr::Group { containers, name }),
        1 => patterns().prop_map(|types| FilterExpr::Reuse { types }),
        2 => reduction,
        2 => (pattern(), key(), any::<bool>())
            .prop_map(|(ty, key, descending)| FilterExpr::Sort { ty, key, descending }),
        1 => patterns().prop_map(|containers| FilterExpr::Order { containers }),
        1 => (any::<u32>(), pattern(), key(), any::<bool>())
            .prop_map(|(number, ty, key, lowest)| FilterExpr::Best { number, ty, key, is_lowest: lowest }),
        1 => having,
        1 => (pattern(), name(), prop::collection::btree_set(-1000..1000_i32, 0..5)).prop_map(|(types, field, edges)| {
            FilterExpr::Classify { types, field, edges: edges.into_iter().map(f64::from).collect() }
        }),
        1 => painted,
        1 => (patterns(), of(), prop::sample::select(&ActivityCategory::WORDS[..]))
            .prop_map(|(values, types, (_, category))| FilterExpr::Category { values, types, category }),
        1 => series(),
        1 => (patterns(), of()).prop_map(|(values, types)| FilterExpr::Bright { values, types }),
    ]
}
