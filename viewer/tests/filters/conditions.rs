//! Filters by a condition on links, compared with the same condition on lists.

use proptest::prelude::*;
use tumit_test_support::random_trace::plans;
use tumit_test_support::trace_model::{ModelLink, ModelTrace};

use super::{check_filter, query_range};

/// A condition on links. The test evaluates it on the lists.
#[derive(Clone, Debug)]
enum LinkCondition {
    From(Vec<usize>),
    NotTo(Vec<usize>),
    Bytes(i64),
    /// Indexes of threads, or of the nodes.
    Involves(Vec<usize>),
    Not(Box<LinkCondition>),
    And(Vec<LinkCondition>),
    Or(Vec<LinkCondition>),
}

fn condition() -> impl Strategy<Value = LinkCondition> {
    let threads = || prop::collection::vec(0..8_usize, 1..3);
    let single = prop_oneof![
        threads().prop_map(LinkCondition::From),
        threads().prop_map(LinkCondition::NotTo),
        (0..5_i64).prop_map(LinkCondition::Bytes),
        threads().prop_map(LinkCondition::Involves),
    ];
    single.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|condition| LinkCondition::Not(Box::new(condition))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(LinkCondition::And),
            prop::collection::vec(inner, 1..4).prop_map(LinkCondition::Or),
        ]
    })
}

impl LinkCondition {
    fn thread(at: usize, threads: usize) -> String {
        format!("thread {}", at % threads)
    }

    fn place(at: usize, threads: usize) -> String {
        if at.is_multiple_of(3) { format!("node {}", at / 3 % 2) } else { Self::thread(at, threads) }
    }

    fn text(&self, threads: usize) -> String {
        let list = |all: &[usize], name: fn(usize, usize) -> String| {
            all.iter().map(|&at| name(at, threads)).collect::<Vec<_>>().join(", ")
        };
        let joined = |all: &[Self], word: &str| {
            let all: Vec<String> = all.iter().map(|condition| condition.text(threads)).collect();
            format!("({})", all.join(word))
        };
        match self {
            Self::From(all) => format!("from = {}", list(all, Self::thread)),
            Self::NotTo(all) => format!("to != {}", list(all, Self::thread)),
            Self::Bytes(least) => format!("Bytes >= {least}"),
            Self::Involves(all) => format!("involves {}", list(all, Self::place)),
            Self::Not(condition) => format!("not {}", condition.text(threads)),
            Self::And(all) => joined(all, " and "),
            Self::Or(all) => joined(all, " or "),
        }
    }

    fn holds(&self, link: &ModelLink, world: &ModelTrace, threads: usize) -> bool {
        match self {
            Self::From(all) => all.iter().any(|&at| link.ends.0 == Self::thread(at, threads)),
            Self::NotTo(all) => all.iter().all(|&at| link.ends.1 != Self::thread(at, threads)),
            Self::Bytes(least) => link.bytes >= *least,
            Self::Involves(all) => all.iter().any(|&at| {
                let below = world.below(&Self::place(at, threads));
                below.contains(&link.ends.0) || below.contains(&link.ends.1)
            }),
            Self::Not(condition) => !condition.holds(link, world, threads),
            Self::And(all) => all.iter().all(|condition| condition.holds(link, world, threads)),
            Self::Or(all) => all.iter().any(|condition| condition.holds(link, world, threads)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn filters_by_condition_equal_changed_lists(plans in plans(), query in query_range(), condition in condition()) {
        let threads = plans.0.len();
        check_filter(&plans, query, &format!("only where {} of Message", condition.text(threads)), |world| {
            let all = world.clone();
            world.links.retain(|link| condition.holds(link, &all, threads));
        })?;
        // A condition on endpoints affects links only: all rows stay.
        let involves = LinkCondition::Involves(vec![3, 0]);
        check_filter(&plans, query, &format!("hide where {} or {}", involves.text(threads), condition.text(threads)), |world| {
            let all = world.clone();
            world.links.retain(|link| !involves.holds(link, &all, threads) && !condition.holds(link, &all, threads));
        })?;
        // `not` binds stronger than `and`, and `and` stronger than `or`.
        let text = format!("only where Bytes > 3 or from = thread 0 and not {} of Message", involves.text(threads));
        check_filter(&plans, query, &text, |world| {
            let all = world.clone();
            world.links.retain(|link| {
                link.bytes > 3 || link.ends.0 == "thread 0" && !involves.holds(link, &all, threads)
            });
        })?;
        check_filter(&plans, query, "only where not (value = idle or involves node 0) of Activity", |world| {
            let below = world.below("node 0");
            world.states.retain(|state| state.value != "idle" && !below.contains(&state.container));
        })?;
    }
}
