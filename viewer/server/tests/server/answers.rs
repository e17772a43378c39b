//! The answers to the requests of the page.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tumit_server::{ServedTrace, Server};
use tumit_test_support::table_trace::DiceRoller;
use tumit_viewer::open::background_read::{CurrentTrace, TraceAvailability};
use tumit_viewer::query::TimelineSource;
use tumit_viewer::store::TraceStore;

use crate::{ServedPage, get, image_head};

#[tokio::test]
async fn valid_requests_are_answered_and_invalid_ones_refused() {
    let page = ServedPage::start().await;
    let summary = page.json("summary").await;
    assert_eq!(summary["name"], "particles.tmt");
    let rows = page.json("rows").await;
    assert_eq!(rows["rows"].as_array().unwrap().len(), 10);
    let folded = page.json("rows?level=0").await;
    assert_eq!(folded["rows"].as_array().unwrap().len(), 2);
    let scene = format!("{}api/scene?from=0&to=3000000&width=600&bottom=400&resolution=1", page.path);
    let (status, _, scene) = get(page.port, &scene, &page.host, "").await;
    let scene = image_head(scene.as_bytes());
    let items: u64 = scene["runs"].as_array().unwrap().iter().map(|run| run[1].as_u64().unwrap()).sum();
    assert!(status == 200 && items > 50);
    let legend = page.json("legend?from=0&to=3000000").await;
    assert_eq!(legend["groups"][0]["entries"][0]["name"], "computing forces");
    let facts = page.json("facts?id=s0").await;
    assert_eq!(facts["kind"], "State");
    for (wrong, expected) in [
        ("scene?from=5&to=5&width=600", 400),
        ("scene?from=x", 400),
        ("facts?id=s99999999", 404),
        ("facts?id=%00", 404),
        ("facts", 404),
        ("entity_at?from=1&to=1", 400),
    ] {
        assert_eq!(page.answer(wrong).await.0, expected, "{wrong}");
    }
    let (status, _) = page.answer("scene?from=-9223372036854775808&to=9223372036854775807&width=NaN&bottom=inf").await;
    assert_eq!(status, 200, "extreme numbers are clamped");
}

/// The answers about neighbours, hits, tables and names.
#[tokio::test]
async fn neighbours_finds_and_tables_agree_with_each_other() {
    let page = ServedPage::start().await;
    // Steps from the first hit in a container visit all its hits, forward and back.
    let answer = page.json("find?from=-1&to=30000000&text=computing%20kind:state").await;
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(answer["total"], hits.len());
    assert_eq!(answer["bins"].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>(), answer["total"]);
    let lane: Vec<&str> =
        hits.iter().filter(|hit| hit["path"] == hits[0]["path"]).map(|hit| hit["id"].as_str().unwrap()).collect();
    assert!(lane.len() > 2, "{answer}");
    for pair in lane.windows(2) {
        let next = page.json(&format!("neighbour?id={}&direction=1&same_value=true", pair[0])).await;
        assert_eq!(next["facts"]["id"], pair[1]);
        let back = page.json(&format!("neighbour?id={}&direction=-1&same_value=true", pair[1])).await;
        assert_eq!(back["facts"]["id"], pair[0]);
    }
    assert!(page.json(&format!("neighbour?id={}&direction=-1&same_value=true", lane[0])).await["facts"].is_null());
    assert!(
        page.json(&format!("neighbour?id={}&direction=1&same_value=true", lane[lane.len() - 1])).await["facts"]
            .is_null()
    );
    let times = page.json("times?from=0&to=30000000").await;
    let rows = times["types"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"].as_str().unwrap().starts_with("computing")).unwrap();
    assert!(row["count"].as_u64() <= answer["total"].as_u64() && row["nanos"].as_i64() > Some(0), "{row}");
    let named = page.json("containers?text=CELLS%20lock").await;
    assert_eq!(named["total"], 2, "one in each of two nodes");
    assert_eq!(named["containers"][1]["ancestors"].as_array().map(Vec::len), Some(1), "{named}");
    let rows = page.json("rows?names=no%20such%20name").await;
    assert_eq!(rows["rows"].as_array().unwrap().len(), 0);
    for (wrong, expected) in [
        ("find?from=0&to=9&text=%3Esoon", 400),
        ("find?from=0&to=9", 400),
        ("neighbour?id=s99999999&direction=1", 404),
        ("times?from=0&to=9&id=s0", 404),
    ] {
        assert_eq!(page.answer(wrong).await.0, expected, "{wrong}");
    }
}

/// Each request contains its filters. The problem of a filter is reported with its position, and
/// the other filters apply.
#[tokio::test]
async fn requests_are_about_the_filtered_trace() {
    let page = ServedPage::start().await;
    let names = async |filters: &str| {
        let rows = page.json(&format!("rows?filters={filters}")).await;
        rows["rows"]
            .as_array()
            .unwrap()
            .iter()
            // The name of a row in filters is sent only if it differs from `name`.
            .map(|row| row.get("filter_name").unwrap_or(&row["name"]).as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all_names = names("").await;
    let first =
        all_names.iter().find(|name| name.starts_with("Node") && !name.contains('/')).unwrap().replace(' ', "%20");
    let remaining = names(&format!("%5B%22hide%20container%20{first}%22%5D")).await;
    assert!(
        remaining.len() < all_names.len() && all_names.iter().any(|name| name.contains('/')),
        "{all_names:?} {remaining:?}"
    );
    assert_eq!(names("%5B%22hide%20nothing%22,%22only%20type%20Gone%22%5D").await, all_names);
    let chain = page.json("filter_problems?filters=%5B%22hide%20nothing%22,%22only%20type%20Gone%22%5D").await;
    let problems = chain["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{chain}");
    assert_eq!(
        (&problems[0]["filter_index"], &problems[0]["from"], &problems[0]["to"]),
        (&0.into(), &5.into(), &12.into())
    );
    let typed = page.json("typed_filter?text=hide%20t&cursor=6").await;
    assert_eq!(typed["completions"][0]["text"], "type", "{typed}");
    // Filters that cut a time range out do not shift the timestamps.
    let whole = page.json("find?from=0&to=30000000&text=computing").await;
    let part = page.json("find?from=0&to=30000000&text=computing&filters=%5B%22cut%20500us..%22%5D").await;
    assert!(part["total"].as_u64() < whole["total"].as_u64(), "{part}");
    let timestamps: Vec<i64> = part["hits"].as_array().unwrap().iter().filter_map(|hit| hit["from"].as_i64()).collect();
    assert!(timestamps.iter().all(|&time| time >= 500_000), "{timestamps:?}");
    let long = "x".repeat(40_000);
    let deep = "%5B%5D".repeat(2);
    for (wrong, expected) in [
        (format!("rows?filters={long}"), 400),
        (format!("rows?filters={deep}"), 400),
        ("rows?trace=1".to_owned(), 404),
        ("export?format=doc&from=0&to=9".to_owned(), 400),
    ] {
        assert_eq!(page.answer(&wrong).await.0, expected, "{}", &wrong[..wrong.len().min(60)]);
    }
}

/// Charts contain the same entities as the table.
#[tokio::test]
async fn charts_and_the_table_agree() {
    let page = ServedPage::start().await;
    let times = page.json("times?from=0&to=30000000").await;
    let ty = &times["types"][0];
    let row = &ty["rows"][0];
    let histogram = page.json(&format!("histogram?from=0&to=30000000&ty={}&value={}", ty["type"], row["value"])).await;
    assert_eq!(histogram["total"], row["count"]);
    let longest =
        histogram["classes"].as_array().unwrap().iter().filter_map(|class| class["longest"]["nanos"].as_i64()).max();
    assert_eq!(longest, row["longest"]["nanos"].as_i64());
    let profile = page.json("profile?from=0&to=30000000").await;
    let shares = profile["types"][0]["curves"].as_array().unwrap();
    let curve = shares.iter().find(|curve| curve["value"] == row["value"]).unwrap()["shares"].as_array().unwrap();
    assert!(curve.iter().all(|share| share.as_f64().is_some_and(|share| (0.0..=1.001).contains(&share))), "{curve:?}");
}

/// Entities are numbered lane by lane, so that their numbers change in a newer generation of a
/// trace. They are found again by their properties.
#[tokio::test]
async fn entities_are_found_again_in_a_newer_generation() {
    let header = include_str!("../../../tests/header.paje");
    let text =
        format!("{header}0 T 0 Thread\n2 S T State\n5 w S work \"0 1 0\"\n6 0 t 0 T t\n6 0 u 0 T u\n11 1 u S w\n");
    let paje = |more: &str| -> Arc<dyn TimelineSource> {
        Arc::new(TraceStore::from_paje("trace", format!("{text}{more}").as_bytes()).unwrap())
    };
    let current = CurrentTrace::from(paje("7 3 T u\n"));
    let served = ServedTrace { source: current.clone(), ..ServedTrace::new(paje("")) };
    let server = Server::bind_traces(vec![served], 0).await.unwrap();
    let page = ServedPage::run(server);
    let ping = page.json("ping").await;
    assert_eq!((&ping["generation"], &ping["availability"]), (&1.into(), &Value::Null));
    let old = page.json("facts?id=s0").await;
    assert_eq!((&old["containers"][0], &old["from"]), (&"u".into(), &1_000_000_000_u64.into()));
    let filtered = "rows?filters=%5B%22only%20container%20u%22%5D";
    assert_eq!(page.json(filtered).await["rows"].as_array().unwrap().len(), 1);

    let growing = TraceAvailability::Growing { running_processes: 1, processes: 2 };
    current.put(paje("6 2 v 0 T u\n11 2 t S w\n11 5 t S w\n7 6 T t\nno event\n"), growing);
    let ping = page.json("ping").await;
    assert_eq!(ping["generation"], 2);
    assert!(ping["availability"].as_str().unwrap().contains("1 of 2 processes"), "{ping}");
    let summary = page.json("summary").await;
    assert_eq!((&summary["generation"], &summary["states"]), (&2.into(), &3.into()));
    let fault = &summary["diagnostics"][0];
    assert_eq!((&fault["kind"], &fault["severity"]), (&"paje_text".into(), &"error".into()), "{summary}");
    assert!(fault["location"]["line"]["line"].is_u64() && fault["text"].is_string(), "{fault}");
    assert_eq!(summary["intact"], false);
    assert_eq!(page.json(filtered).await["rows"].as_array().unwrap().len(), 2, "filters apply to the newer generation");
    let rematch = |name: &str| {
        let (types, containers) = (&old["types"], &old["containers"]);
        let facts = json!({ "name": name, "types": types, "containers": containers, "from": 1_000_000_000 });
        let encoded: String = facts.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
        format!("rematch?text={encoded}")
    };
    assert_eq!(page.json(&rematch("work")).await["id"], "s2", "{old}");
    assert_eq!(page.json("facts?id=s2").await["from"], 1_000_000_000_u64);
    assert_eq!(page.json(&rematch("idle")).await["id"], Value::Null);
}

/// The pages of search results, forward and back, form the same complete list.
#[tokio::test]
async fn pages_of_search_results_form_one_list() {
    let mut text = include_str!("../../../tests/header.paje").to_owned();
    text.push_str("0 T 0 Thread\n2 S T State\n3 E T Mark \"1 0 0\"\n4 M 0 T T Message\n5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n");
    (0..3).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T t{thread}\n")));
    let (mut expected, mut dice) = (0, DiceRoller(7));
    for second in 1..900 {
        // States have both values. An event and a link begin with each state.
        let (thread, state) = (dice.roll(0, 3), ["w", "i"][dice.roll(0, 2) as usize]);
        text.push_str(&format!("11 {second} t{thread} S {state}\n17 {second} t{thread} E w{}\n", second % 5));
        text.push_str(&format!("15 {second} 0 M t{thread} work k{second}\n"));
        if second > 50 {
            text.push_str(&format!("16 {second} 0 M t0 work k{}\n", second - 50));
            expected += 1;
        }
        expected += 1 + usize::from(state == "w");
    }
    text.push_str("7 2000 T t0\n");
    let page = ServedPage::of(TraceStore::from_paje("trace", text.as_bytes()).unwrap()).await;
    let find = async |parameters: &str| page.json(&format!("find?text=w&from=0&to=3000000000000{parameters}")).await;
    let ids = |answer: &Value| -> Vec<(u64, String)> {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| (hit["from"].as_u64().unwrap(), hit["id"].as_str().unwrap().to_owned())).collect()
    };
    let first = find("").await;
    assert_eq!(first["total"], expected, "{}", first["total"]);
    let sum: u64 = first["bins"].as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap()).sum();
    assert_eq!(sum, expected as u64);
    let (mut forward, mut has_more) = (ids(&first), first["more"] == true);
    assert_eq!((forward.len(), has_more), (500, true));
    while has_more {
        let next = find(&format!("&direction=1&id={}", forward.last().unwrap().1)).await;
        assert_eq!(next["total"], Value::Null, "a page turn does not count");
        has_more = next["more"] == true;
        forward.extend(ids(&next));
    }
    assert_eq!(forward.len(), expected);
    assert!(forward.is_sorted_by_key(|hit| hit.0));
    let distinct: BTreeSet<_> = forward.iter().map(|hit| &hit.1).collect();
    assert_eq!(distinct.len(), expected);
    let last = find("&direction=-1").await;
    let (mut back, mut more) = (ids(&last), last["more"] == true);
    while more {
        let next = find(&format!("&direction=-1&id={}", back[0].1)).await;
        more = next["more"] == true;
        back.splice(0..0, ids(&next));
    }
    assert_eq!(back, forward);
}
