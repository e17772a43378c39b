//! The current view as a file: image, page or table.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::selected_rows::SelectedRows;
use super::{AppState, DrawRequest, FilteredTrace, RequestError, run};
use crate::caches::execution_cache::ExecutionCache;
use crate::caches::keyed_cache::KeyedCache;
use tumit_viewer::export::{self, ImageFormat};
use tumit_viewer::filter::only_containers;
use tumit_viewer::layout::{ContainerOutline, JoinedOperations, LayoutOptions};
use tumit_viewer::scene::{DocumentOptions, document, wire};
use tumit_viewer::stats::{self, RowGrouping};

/// Pixels per scene unit of a PNG: for screens of high density and for print.
const SCALE: f32 = 2.0;

pub(crate) async fn export(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> Response {
    let file = run(app, move |app, cancel| {
        let filtered = app.shown_trace(&request, cancel)?;
        let rows: SelectedRows = request.rows.parse()?;
        let selected = if rows.is_all() { filtered } else { filtered.with_rows(&rows)? };
        export_file(&selected, &request)
    });
    match file.await {
        Err(failure) => failure.into_response(),
        Ok(file) => ([(header::CONTENT_TYPE, file.content_type)], file.bytes).into_response(),
    }
}

impl FilteredTrace {
    /// A copy with the selected rows only, as after the filter `only container`.
    fn with_rows(&self, rows: &SelectedRows) -> Result<Self, RequestError> {
        let source = only_containers(&self.source, |id| rows.names(id));
        Ok(Self {
            outline: Arc::new(ContainerOutline::new(source.as_ref())?),
            executions: Arc::new(ExecutionCache::new(Arc::clone(&source))),
            source,
            origin: self.origin,
            problems: self.problems.clone(),
            modes: Arc::new(KeyedCache::new(0)),
        })
    }
}

struct ExportFile {
    content_type: &'static str,
    bytes: Vec<u8>,
}

fn export_file(trace: &FilteredTrace, request: &DrawRequest) -> Result<ExportFile, RequestError> {
    let (format, content_type) = match request.format.as_str() {
        "svg" => (ImageFormat::Svg, "image/svg+xml"),
        "png" => (ImageFormat::Png, "image/png"),
        "html" => (ImageFormat::Html, "text/html; charset=utf-8"),
        "csv" => {
            let rows = stats::table(trace.source.as_ref(), request.time_range(trace)?, RowGrouping::Container, None)?;
            let bytes = stats::to_csv(&rows).into_bytes();
            return Ok(ExportFile { content_type: "text/csv; charset=utf-8", bytes });
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
        time_range: request.time_range(trace)?,
        width: request.view(trace)?.width.clamp(200.0, 8192.0),
        height: None,
        resolution,
        titles: format != ImageFormat::Png,
    };
    // The operation of the entity in the inspector is marked as on the page.
    let joined_operations = wire::parse_entity(&request.id).map_or(JoinedOperations::None, JoinedOperations::Of);
    let layout = LayoutOptions { joined_operations, ..request.options() };
    let scene = document(trace.source.as_ref(), &trace.outline, &layout, options)?;
    let bytes = export::encode(&scene, format, resolution)
        .map_err(|error| RequestError(StatusCode::BAD_REQUEST, error.to_string()))?;
    Ok(ExportFile { content_type, bytes })
}
