//! The views of the dock: their list, their cards, and the next event.

use serde_json::{Value, json};
use tumit_viewer::store::TraceStore;

use crate::{ServedPage, get};

/// The cards of an answer, and the length of its byte sections.
async fn cards(page: &ServedPage, parameters: &str, cards: &Value) -> Vec<Value> {
    let text: String = cards.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let path = format!("{}api/cards?resolution=1&{parameters}&cards={text}", page.path);
    let (status, head, body) = get(page.port, &path, &page.host, "").await;
    assert_eq!(status, 200, "{body}");
    assert!(head.contains("application/x-tumit-cards"), "{head}");
    let start = body.find("{\"cards\"").unwrap();
    let mut json = serde_json::Deserializer::from_str(&body[start..]).into_iter::<Value>();
    let answer = json.next().unwrap().unwrap();
    answer["cards"].as_array().unwrap().clone()
}

fn card(name: &str) -> Value {
    json!({ "name": name, "width": 400, "height": 240 })
}

#[tokio::test]
async fn the_list_has_all_views_with_their_options() {
    let page = ServedPage::start().await;
    let list = page.json("views").await;
    let views = list["views"].as_array().unwrap();
    assert!(views.len() >= 26, "{}", views.len());
    let groups: Vec<&str> = views.iter().map(|view| view["group"].as_str().unwrap()).collect();
    let order = list["groups"].as_array().unwrap();
    assert!(groups.iter().all(|group| order.iter().any(|known| known == group)), "{groups:?}");
    let kiviat = views.iter().find(|view| view["name"] == "kiviat").unwrap();
    assert_eq!(
        (&kiviat["number"], &kiviat["title"], &kiviat["modes"]),
        (&json!(6), &json!("Kiviat diagram"), &json!(["at"]))
    );
    // Options without effect are not offered.
    let common = |name: &str| views.iter().find(|view| view["name"] == name).unwrap()["common"].clone();
    assert_eq!(common("traffic"), json!(["level", "units", "palette"]));
    assert_eq!(common("kiviat"), json!(["level", "units", "states", "several", "stateless", "palette"]));
    let options = list["options"].as_array().unwrap();
    let option = |name: &str| options.iter().find(|option| option["name"] == name).unwrap();
    assert_eq!(option("count")["words"], json!(["busy", "busy+overhead"]));
    assert_eq!((&option("count")["is_free"], &option("width")["is_free"]), (&json!(false), &json!(true)));
    assert_eq!(option("topology")["titles"]["hamming"], "Hamming distance");
    assert_eq!([&option("sort")["default"], &option("unit")["default"]], [&json!("by number"), &json!(null)]);
    // The table of categories marks types that do not count.
    let categories = page.json("categories").await;
    let values = categories["values"].as_array().unwrap();
    assert!(!values.is_empty() && values.iter().all(|value| value["counts"].is_boolean()), "{categories}");
    assert!(values.iter().any(|value| value["counts"] == true), "{categories}");
    assert_eq!(option("layout")["titles"]["lateral-cubes"], "two cubes side by side");
    for option in options {
        let titles = option["titles"].as_object().unwrap();
        for word in option["words"].as_array().unwrap() {
            let title = titles[word.as_str().unwrap()].as_str().unwrap();
            assert!(!title.contains(['-', '+']) && !title.ends_with(|c: char| c.is_ascii_digit()), "{title}");
        }
    }
    for view in views {
        for name in view["options"].as_array().unwrap() {
            assert!(options.iter().any(|option| option["name"] == *name), "{name}");
        }
    }
    assert!(!list["names"]["unit"].as_array().unwrap().is_empty(), "{}", list["names"]);
}

#[tokio::test]
async fn every_view_is_drawn_or_has_a_reason() {
    let page = ServedPage::start().await;
    let list = page.json("views").await;
    let names: Vec<&str> =
        list["views"].as_array().unwrap().iter().map(|view| view["name"].as_str().unwrap()).collect();
    let requested = Value::from(names.iter().map(|name| card(name)).collect::<Vec<_>>());
    let answers = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    assert_eq!(answers.len(), names.len());
    for (name, answer) in names.iter().zip(&answers) {
        if answer["error"].is_null() {
            assert!(answer["scene"]["runs"].as_array().is_some_and(|runs| !runs.is_empty()), "{name}: {answer}");
        } else {
            assert!(
                answer["error"].as_str().unwrap().ends_with('.') && !answer["remedy"].is_null(),
                "{name}: {answer}"
            );
            assert!(!answer.to_string().contains("--option"), "{answer}");
        }
    }
}

/// The drawing at a time does not depend on earlier requests, and an unchanged one is not sent.
#[tokio::test]
async fn a_drawing_depends_only_on_the_request() {
    let page = ServedPage::start().await;
    let requested = json!([card("kiviat"), card("concurrency-profile")]);
    let first = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    let later = cards(&page, "t=2500000&from=0&to=3000000", &requested).await;
    let again = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    assert_eq!(first, again);
    assert_ne!(first[0]["hash"], later[0]["hash"]);
    assert_eq!(first[1]["hash"], later[1]["hash"], "the profile covers the time range");
    let mut known = requested.clone();
    known[0]["hash"] = first[0]["hash"].clone();
    known[1]["hash"] = first[1]["hash"].clone();
    known[1]["marks"] = first[1]["marks"]["hash"].clone();
    let moved = cards(&page, "t=2500000&from=0&to=3000000", &known).await;
    assert!(moved[0]["scene"].is_object(), "{}", moved[0]);
    assert_eq!(moved[1], json!({ "hash": first[1]["hash"] }));
}

/// The cards of an answer at later times, with references to the earlier ones.
async fn later_cards(page: &ServedPage, parameters: &str, requested: &Value) -> Value {
    let text: String = requested.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let path = format!("{}api/cards?resolution=1&{parameters}&cards={text}", page.path);
    let (_, _, body) = get(page.port, &path, &page.host, "").await;
    let start = body.find("{\"cards\"").unwrap();
    serde_json::Deserializer::from_str(&body[start..]).into_iter::<Value>().next().unwrap().unwrap()
}

/// A request for later times has the same drawings as a request for each of them.
#[tokio::test]
async fn later_times_have_the_drawings_of_single_requests() {
    let page = ServedPage::start().await;
    let requested = json!([card("kiviat"), card("concurrency-profile"), card("utilization-count")]);
    let times = [1_000_000, 1_500_000, 2_000_000, 2_500_000];
    let range = "from=0&to=3000000";
    let all = later_cards(&page, &format!("t={}&later=1500000,2000000,2500000&{range}", times[0]), &requested).await;
    let later = all["later"].as_array().unwrap();
    assert_eq!(later.len(), 3);
    for (index, time) in times.iter().enumerate() {
        let single = cards(&page, &format!("t={time}&{range}"), &requested).await;
        let of_time = if index == 0 { &all["cards"] } else { &later[index - 1] };
        for card in 0..3 {
            assert_eq!(of_time[card]["hash"], single[card]["hash"], "{time} {card}");
            let scene = &of_time[card]["scene"];
            let is_change = of_time[card]["base"] == true;
            assert!(scene.is_null() || is_change || scene == &single[card]["scene"], "{time} {card}");
        }
        // The page draws the line of the time cursor, so that charts over time stay the same.
        assert_eq!(of_time[2].get("scene").is_some(), index == 0);
    }
}

#[tokio::test]
async fn marks_are_sent_once_and_have_texts() {
    let page = ServedPage::start().await;
    let mut requested = json!([card("kiviat"), card("utilization-summary")]);
    let first = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    let region = &first[1]["marks"]["regions"][0];
    let count = region["marks"].as_u64().unwrap();
    assert_eq!(
        (region["kind"].as_str(), region["units"].as_array().map(Vec::len)),
        (Some("grid"), usize::try_from(count).ok())
    );
    assert!(first[1].get("text").is_none());
    for index in 0..2 {
        requested[index]["marks"] = first[index]["marks"]["hash"].clone();
        requested[index]["hash"] = first[index]["hash"].clone();
        requested[index]["pointed"] = json!([0, 1]);
    }
    let pointed = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    for card in &pointed {
        assert!(card.get("marks").is_none() && card.get("scene").is_none(), "{card}");
        assert!(card["text"].as_str().unwrap().contains(" %"), "{card}");
    }
    requested[0]["pointed"] = json!([7, 1_000_000]);
    let absent = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    assert!(absent[0].get("text").is_none());
    requested[1] = json!({ "name": "utilization-summary", "width": 400, "height": 240, "table": { "rows": 2, "sort": [1, true] } });
    let table = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    assert_eq!(table[1]["table"]["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(table[1]["table"]["all"], json!(count));
}

#[tokio::test]
async fn times_of_a_number_of_units_add_up() {
    let page = ServedPage::start().await;
    let text: String =
        json!([card("concurrency-profile")]).to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let shares = async |least: i64, most: i64| {
        let answer =
            page.json(&format!("concurrency_times?category=busy&least={least}&most={most}&cards={text}")).await;
        answer["shares"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).sum::<f64>()
    };
    let (none, some) = (shares(0, 0).await, shares(1, 1000).await);
    assert!((none + some - 512.0).abs() < 1e-6 && some > 0.0, "{none} {some}");
    let (status, answer) = page.answer(&format!("concurrency_times?category=asleep&cards={text}")).await;
    assert!(status == 400 && answer["error"].as_str().unwrap().contains("`asleep`"), "{answer}");
}

/// Steps through the matches of an expression meet the same entities in both directions.
#[tokio::test]
async fn matches_are_met_in_both_directions() {
    let page = ServedPage::start().await;
    let end = page.json("summary").await["duration"].as_i64().unwrap();
    let step = async |from: i64, to: i64, direction: i32, text: &str| {
        page.json(&format!("next_match?from={from}&to={to}&direction={direction}&text={text}")).await["t"].as_i64()
    };
    for text in ["kind:state", "kind:state%20%3E1us"] {
        let mut times = vec![];
        let mut time = -1;
        while let Some(next) = step(time, end, 1, text).await {
            assert!(next > time, "{text} {times:?}");
            times.push(next);
            time = next;
            if times.len() > 30 {
                break;
            }
        }
        assert!(times.len() > 2, "{text} {times:?}");
        for pair in times.windows(2) {
            assert_eq!(step(-1, pair[1], -1, text).await, Some(pair[0]), "{text}");
            assert_eq!(step(pair[1], pair[1] + 1, -1, text).await, Some(pair[1]));
        }
        assert_eq!(step(-1, times[0], -1, text).await, None);
    }
    let (status, answer) = page.answer("next_match?from=0&to=10&direction=1&text=kind:cat").await;
    assert!(status == 400 && answer["error"].as_str().unwrap().contains("kind:cat"), "{answer}");
}

#[tokio::test]
async fn changes_of_state_are_events() {
    let page = ServedPage::start().await;
    let step = async |time: i64, direction: i32, changes: bool| {
        page.json(&format!("next_event?t={time}&direction={direction}&changes_only={changes}")).await["t"].as_i64()
    };
    let mut times = vec![0];
    while let Some(next) = step(*times.last().unwrap(), 1, true).await {
        times.push(next);
        if times.len() > 20 {
            break;
        }
    }
    assert!(times.len() > 5, "{times:?}");
    for pair in times.windows(2).skip(1) {
        assert_eq!(step(pair[1], -1, true).await, Some(pair[0]));
        // No event before a change of state is left out.
        assert!(step(pair[0], 1, false).await.unwrap() <= pair[1]);
    }
}

#[tokio::test]
async fn options_modes_and_categories_apply_and_mistakes_are_explained() {
    let page = ServedPage::start().await;
    let with = |name: &str, more: Value| {
        let mut card = card(name);
        more.as_object().unwrap().iter().for_each(|(key, value)| card[key] = value.clone());
        card
    };
    let requested = json!([
        card("utilization-count"),
        with("utilization-count", json!({ "mode": "moving" })),
        with("utilization-count", json!({ "mode": "at" })),
        with("kiviat", json!({ "options": { "width": "soon" } })),
        with("kiviat", json!({ "options": { "order": "/etc/passwd" } })),
        with("kiviat", json!({ "options": { "level": "Nodes" } })),
        with("no-view", json!({})),
    ]);
    let answers = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    assert_ne!(answers[0]["hash"], answers[1]["hash"]);
    for (at, text) in [
        (2, "no time mode `at`"),
        (3, "`soon` is not a value"),
        (4, "`/etc/passwd` is not a value"),
        (5, "No container type"),
        (6, "No view is called"),
    ] {
        assert!(answers[at]["error"].as_str().unwrap().contains(text), "{}", answers[at]);
    }
    // All values are idle, so that no unit is ever busy.
    let idle: Vec<(u32, &str)> = (0..40).map(|value| (value, "idle")).collect();
    let categories = json!(idle).to_string().replace('"', "%22");
    let changed = cards(&page, &format!("t=1000000&from=0&to=3000000&categories={categories}"), &requested).await;
    assert_ne!(answers[0]["hash"], changed[0]["hash"]);
    let wrong = page.answer("cards?cards=%7B%7D").await;
    assert_eq!(wrong.0, 400, "{}", wrong.1);
}

#[tokio::test]
async fn a_card_is_saved_as_an_image_or_as_its_numbers() {
    let page = ServedPage::start().await;
    let file = async |name: &str, format: &str| {
        let text: String = json!([card(name)]).to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
        let path = format!("{}api/card_file?t=1000000&format={format}&cards={text}", page.path);
        let (status, _, body) = get(page.port, &path, &page.host, "").await;
        (status, body)
    };
    let (status, image) = file("kiviat", "svg").await;
    assert!(status == 200 && image.contains("<svg") && image.contains("Kiviat diagram"), "{image}");
    let (status, table) = file("kiviat", "csv").await;
    assert!(status == 200 && table.contains("unit,") && table.lines().count() > 2, "{table}");
    let (status, table) = file("utilization-gantt", "csv").await;
    assert!(status == 200 && table.starts_with("unit,category,start,end,duration\n"), "{table}");
}

#[tokio::test]
async fn steps_forward_and_backward_meet_the_same_events() {
    let page = ServedPage::start().await;
    let step = async |time: i64, direction: i32| {
        page.json(&format!("next_event?t={time}&direction={direction}")).await["t"].as_i64()
    };
    let mut times = vec![0];
    while let Some(next) = step(*times.last().unwrap(), 1).await {
        assert!(next > *times.last().unwrap(), "{times:?}");
        times.push(next);
        if times.len() > 40 {
            break;
        }
    }
    assert!(times.len() > 10, "{times:?}");
    for pair in times.windows(2).skip(1) {
        assert_eq!(step(pair[1], -1).await, Some(pair[0]));
    }
}

#[tokio::test]
async fn cards_statistics_and_searches_are_restricted_to_rows() {
    let page = ServedPage::start().await;
    let rows = page.json("rows").await;
    let rows = rows["rows"].as_array().unwrap();
    let leaf = rows.iter().find(|row| row["expandable"].is_null() && !row["strips"].as_array().unwrap().is_empty());
    let id = leaf.unwrap()["id"].as_u64().unwrap();
    let requested = json!([card("utilization-count")]);
    let all = cards(&page, "t=1000000&from=0&to=3000000", &requested).await;
    let one = cards(&page, &format!("t=1000000&from=0&to=3000000&units={id}"), &requested).await;
    let subtitle = one[0]["about"]["subtitle"].as_str().unwrap();
    assert!(subtitle.starts_with("1 of ") && subtitle.contains(" units; "), "{subtitle}");
    assert!(!all[0]["about"]["subtitle"].as_str().unwrap().contains(" units; "), "{}", all[0]);
    let gone = cards(&page, "t=1000000&from=0&to=3000000&units=4000000", &requested).await;
    assert!(gone[0]["error"].as_str().unwrap().contains("around or below the chosen containers"), "{}", gone[0]);
    // Statistics of a row by its number are those of its entity.
    for route in ["times", "profile", "variables", "tasks"] {
        let by_entity = page.json(&format!("{route}?from=0&to=30000000&id=c{id}")).await;
        let by_rows = page.json(&format!("{route}?from=0&to=30000000&rows={id}")).await;
        assert_eq!(by_entity, by_rows, "{route}");
    }
    let found =
        async |rows: &str| page.json(&format!("find?from=0&to=30000000&text=*&rows={rows}")).await["total"].as_u64();
    let (one, every, none) = (found(&id.to_string()).await, found("").await, found("4000000").await);
    assert!(one <= every && none == Some(0), "{one:?} {every:?} {none:?}");
    let (status, _, body) = get(page.port, &format!("{}api/times?from=0&to=3&rows=x", page.path), &page.host, "").await;
    assert!(status == 400 && body.contains("expected the number of a row"), "{status} {body}");
}

/// A trace of many ranks that work, wait and send a message to the next one.
fn many_ranks(count: usize) -> TraceStore {
    let mut text = format!(
        "{}0 R 0 Rank\n2 A R Activity\n2 P R Phase\n4 M 0 R R Message\n",
        include_str!("../../../tests/header.paje")
    );
    let ranks = 0..count;
    ranks.clone().for_each(|rank| text.push_str(&format!("6 0 r{rank} 0 R r{rank}\n")));
    ranks.clone().for_each(|rank| text.push_str(&format!("11 0 r{rank} A work\n11 0 r{rank} P first\n")));
    ranks.clone().for_each(|rank| text.push_str(&format!("15 1 0 M r{rank} m k{rank}\n11 1 r{rank} A wait\n")));
    for rank in ranks.clone() {
        let next = (rank + 1) % count;
        text.push_str(&format!("16 2 0 M r{next} m k{rank}\n11 2 r{rank} A work\n11 2 r{rank} P second\n"));
    }
    ranks.for_each(|rank| text.push_str(&format!("7 3 R r{rank}\n")));
    TraceStore::from_paje("many ranks", text.as_bytes()).unwrap()
}

/// A card has no more rows than it has room for, however many units the trace has.
#[tokio::test]
async fn diagram_cards_of_many_units_have_a_row_per_bundle() {
    const RANKS: usize = 2_100;
    let page = ServedPage::of(many_ranks(RANKS)).await;
    for mode in ["utilization-gantt", "space-time", "task-gantt", "critical-path"] {
        let drawn = cards(&page, "t=1000000000", &json!([card(mode)])).await.remove(0);
        assert!(drawn["error"].is_null(), "{mode}: {drawn}");
        let notes = drawn["about"]["notes"].to_string();
        assert!(notes.contains("Each row is the mean of up to 35 adjacent units"), "{mode}: {notes}");
        let region = &drawn["marks"]["regions"][0];
        let rows = region["heights"].as_array().unwrap().len();
        assert!((40..=60).contains(&rows), "{mode}: {rows}");
        // Each unit is in one row.
        let units: u64 = region["sizes"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap()).sum();
        assert_eq!((units as usize, region["units"].as_array().unwrap().len()), (RANKS, RANKS), "{mode}");
        assert!(drawn["scene"].to_string().len() < 64 << 10, "{mode}: {}", drawn["scene"].to_string().len());
        // The text of a mark names the row.
        let mut pointed = card(mode);
        pointed["pointed"] = json!([0, 100]);
        let text = cards(&page, "t=1000000000", &json!([pointed])).await[0]["text"].to_string();
        assert!(text.contains('…') && text.contains(" at "), "{mode}: {text}");
    }
}
