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

pub(crate) async fn export(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> Response {
    let file = run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?;
        let filtered = trace.filtered_trace(&request.filters)?.with_cancellation(cancel);
        export_file(&filtered, &request)
    });
    match file.await {
        Err(failure) => failure.into_response(),
        Ok((kind, bytes)) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
    }
}

fn export_file(trace: &FilteredTrace, request: &DrawRequest) -> Result<(&'static str, Vec<u8>), RequestError> {
    let (format, kind) = match request.format.as_str() {
        "svg" => (ImageFormat::Svg, "image/svg+xml"),
        "png" => (ImageFormat::Png, "image/png"),
        "html" => (ImageFormat::Html, "text/html; charset=utf-8"),
        "csv" => {
            let rows = stats::table(trace.source.as_ref(), request.interval(trace)?, RowGrouping::Container, None)?;
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
    let options = DocumentOptions {
        interval: request.interval(trace)?,
        width: request.view(trace)?.width.clamp(200.0, 8192.0),
        height: None,
        resolution,
        titles: format != ImageFormat::Png,
    };
    let scene = document(trace.source.as_ref(), &trace.outline, &request.options(), options)?;
    let bytes = export::encode(&scene, format, resolution);
    Ok((kind, bytes.map_err(|error| RequestError(StatusCode::BAD_REQUEST, error.to_string()))?))
}
