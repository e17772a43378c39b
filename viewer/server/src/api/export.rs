//! The current view as a file: image, page or table.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{AppState, DrawRequest, FilteredTrace, RequestError, run};
use tumit_viewer::export::{self, ImageFormat};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::stats::{self, RowGrouping};

/// Pixels per unit of a PNG: for screens of high density and for print.
const SCALE: f32 = 2.0;

pub(crate) async fn export(State(app): State<Arc<AppState>>, Query(ask): Query<DrawRequest>) -> Response {
    let made = run(app, move |app, gone| {
        let trace = app.trace(ask.trace)?;
        let shown = trace.filtered_trace(&ask.filters)?.awaited(gone);
        make(&shown, &ask)
    });
    match made.await {
        Err(failure) => failure.into_response(),
        Ok((kind, bytes)) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
    }
}

fn make(app: &FilteredTrace, ask: &DrawRequest) -> Result<(&'static str, Vec<u8>), RequestError> {
    let (format, kind) = match ask.format.as_str() {
        "svg" => (ImageFormat::Svg, "image/svg+xml"),
        "png" => (ImageFormat::Png, "image/png"),
        "html" => (ImageFormat::Html, "text/html; charset=utf-8"),
        "csv" => {
            let rows = stats::table(app.source.as_ref(), ask.interval(app)?, RowGrouping::Container, None)?;
            return Ok(("text/csv; charset=utf-8", stats::to_csv(&rows).into_bytes()));
        }
        _ => {
            return Err(RequestError(
                StatusCode::BAD_REQUEST,
                "unknown format; expected svg, png, html or csv".to_owned(),
            ));
        }
    };
    let resolution = if format == ImageFormat::Png { SCALE } else { 1.0 };
    let of = DocumentOptions {
        interval: ask.interval(app)?,
        width: ask.view(app)?.width.clamp(200.0, 8192.0),
        height: None,
        resolution,
        titles: format != ImageFormat::Png,
    };
    let scene = document(app.source.as_ref(), &app.outline, &ask.options(), of)?;
    let bytes = export::encode(&scene, format, resolution);
    Ok((kind, bytes.map_err(|error| RequestError(StatusCode::BAD_REQUEST, error.to_string()))?))
}
