//! Images of the rows and of the whole trace, and the contents of a mixture in an image.

use std::io::Write;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::{AppState, DrawRequest, FilteredTrace, JsonAnswer, RequestError, compute, facts_json, run};
use tumit_viewer::scene::wire::{ColumnDetail, SceneMessage};
use tumit_viewer::scene::{self, ImagePoint, Scene, Viewport};

/// Maximum compressed size in bytes of an image for which the page waits. More details follow when
/// the view no longer moves.
/// With the head of the response, the size is below 64 KiB. Images that are larger than
/// [`USUAL_AREA`] may have proportionally more.
const MAX_BYTES: usize = 63 << 10;
/// The area of 64 rows of one state, 1,600 scene units wide.
const USUAL_AREA: f32 = 1_600.0 * 1_500.0;

/// The maximum size in bytes of an image of this area.
fn max_bytes(scene: &Scene, view: Viewport) -> usize {
    let height = (view.bottom.min(scene.height) - view.top).max(0.0);
    let factor = (scene.width * height / USUAL_AREA).clamp(1.0, 16.0);
    // Hundredths are exact enough.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 100 to 1,600")]
    let hundredths = (factor * 100.0) as usize;
    MAX_BYTES / 100 * hundredths.max(100)
}

pub(crate) async fn scene(
    state: State<Arc<AppState>>,
    headers: HeaderMap,
    request: Query<DrawRequest>,
) -> Result<Response, RequestError> {
    send(state, headers, request, |trace, request, view| {
        Ok(scene::diagram(trace.source.as_ref(), &request.layout(trace), &request.options(), view)?)
    })
    .await
}

pub(crate) async fn overview(
    state: State<Arc<AppState>>,
    headers: HeaderMap,
    request: Query<DrawRequest>,
) -> Result<Response, RequestError> {
    send(state, headers, request, |trace, request, view| {
        Ok(scene::overview(trace.source.as_ref(), &trace.outline, &request.options(), view)?)
    })
    .await
}

/// The contents of a pixel column at a height of the rows. They are a mixture with its only state
/// or its number of states, or a variable.
pub(crate) async fn entity_at(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let (source, view) = (trace.source.as_ref(), request.view(trace)?);
        let (layout, point) = (request.layout(trace), ImagePoint { time_range: view.time_range, y: view.top });
        let Some(mixture) = scene::mixture(source, &layout, &request.options(), point)? else {
            let variable = scene::variable(source, &layout, point)?.map(|(ty, column)| {
                let name = source.model().types.get(ty.index()).map(|ty| ty.name.clone());
                let [minimum, mean, largest] = [column.min, column.mean, column.max].map(scene::number);
                json!({ "name": name, "least": minimum, "mean": mean, "largest": largest })
            });
            return Ok(json!({ "states": 0, "parts": [], "variable": variable }));
        };
        let only_state = mixture.first.filter(|_| mixture.states == 1).map(|state| source.facts(state)).transpose()?;
        let parts = mixture
            .parts
            .iter()
            .map(|part| json!({ "name": part.name, "color": part.color.to_string(), "share": part.share }));
        Ok(json!({
            "states": mixture.states,
            "parts": parts.collect::<Vec<_>>(),
            "facts": only_state.map(|facts| facts_json(trace, &facts)),
        }))
    })
    .await
}

/// Draws on a blocking thread, and sends the image.
async fn send(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
    Query(request): Query<DrawRequest>,
    draw: impl Fn(&FilteredTrace, &DrawRequest, Viewport) -> Result<Scene, RequestError> + Send + 'static,
) -> Result<Response, RequestError> {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let pack = if accepted.is_some_and(|value| value.contains("gzip")) { gzip } else { |bytes, _| bytes };
    let bytes = run(app, move |app, cancel| {
        let filtered = app.shown_trace(&request, cancel)?;
        let view = request.view(&filtered)?;
        encode_to_fit((request.whole, view), |view| draw(&filtered, &request, view), pack)
    })
    .await?;
    let is_packed = bytes.starts_with(&GZIP);
    let mut response = ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response();
    if is_packed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

/// Encodes an image in as much detail as fits into [`max_bytes`], or with all its pixel columns
/// regardless of size.
fn encode_to_fit(
    (is_complete, view): (bool, Viewport),
    draw: impl Fn(Viewport) -> Result<Scene, RequestError>,
    pack: fn(Vec<u8>, Compression) -> Vec<u8>,
) -> Result<Vec<u8>, RequestError> {
    // An image that does not fit even with the widest columns is drawn with fewer pixel columns.
    // Rectangles then become parts of mixtures.
    let factors: &[f32] = if is_complete { &[1.0] } else { &[1.0, 2.0, 4.0] };
    let mut payload = Vec::new();
    for factor in factors {
        let resolution = view.resolution / factor;
        let scene = draw(Viewport { resolution, ..view })?;
        let limit = max_bytes(&scene, view);
        let details = ColumnDetail::ALL.into_iter().filter(|detail| detail.has_all_columns() || !is_complete);
        let mut details = details.peekable();
        // A message with half the columns has at least half the bytes.
        let mut min_columns = 1;
        while let Some(detail) = details.next() {
            if detail.columns < min_columns && details.peek().is_some() {
                continue;
            }
            let message = SceneMessage::new(
                &scene,
                resolution,
                detail,
                detail.has_all_columns() && *factor <= 1.0 && !scene.is_quick,
            );
            if message.compressed_size() > limit && details.peek().is_some() {
                min_columns = message.compressed_size() * detail.columns / limit;
                continue;
            }
            payload = pack(message.bytes(), if is_complete { Compression::fast() } else { Compression::default() });
            if payload.len() <= limit {
                return Ok(payload);
            }
        }
    }
    Ok(payload)
}

/// The first bytes of a gzip stream. A message's head has a smaller length field.
const GZIP: [u8; 4] = [0x1f, 0x8b, 0x08, 0x00];

/// An image of limited size is compressed well, any other one fast.
fn gzip(bytes: Vec<u8>, level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    match encoder.write_all(&bytes).and_then(|()| encoder.finish()) {
        Ok(packed) => packed,
        // Writing to memory does not fail.
        Err(_) => bytes,
    }
}
