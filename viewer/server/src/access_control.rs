//! Access control: other users of a login node can connect to the loopback interface, and so can
//! any web page in the user's browser.
//!
//! The path contains the *page token*, which is compared in constant time. A path below `/open/`
//! contains the *one-time token* instead, which the server exchanges for the page token.
//! [`super::access_tokens`] defines both. `Host` must be this machine: a foreign name would be DNS
//! rebinding. `Origin`, if sent, must be the host itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access_tokens::are_equal;
use super::app::AppState;

/// Headers of every response. A page may embed pages of the same server: the panes.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Exchanges the one-time token: sends the browser to the page, once.
pub(crate) async fn redeem_one_time_token(
    State(app): State<Arc<AppState>>,
    method: Method,
    Path(token): Path<String>,
) -> Response {
    if method != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match app.one_time_token.redeem(&token, Instant::now()) {
        Some(true) => (StatusCode::SEE_OTHER, [(header::LOCATION, format!("/t/{}/", app.page_token))]).into_response(),
        Some(false) => {
            let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            (StatusCode::GONE, kind, include_str!("used.html")).into_response()
        }
        None => unauthorized_response().into_response(),
    }
}

/// Passes a request on, or rejects it.
pub(crate) async fn check_access(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let mut response = match check_request(&app.page_token, request.uri().path(), request.headers()) {
        Ok(()) => {
            let now = u64::try_from(app.start.elapsed().as_millis()).unwrap_or(u64::MAX);
            app.last_request.store(now, Ordering::Relaxed);
            next.run(request).await
        }
        Err((status, reason)) => (status, reason).into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check_request(page_token: &str, path: &str, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let header_text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = header_text(header::HOST).unwrap_or_default();
    if !is_this_machine(host) {
        return Err((StatusCode::FORBIDDEN, "This server answers only under the name of this machine.\n"));
    }
    if headers.contains_key(header::ORIGIN) && header_text(header::ORIGIN) != Some(&format!("http://{host}")) {
        return Err((StatusCode::FORBIDDEN, "This server answers only its own page.\n"));
    }
    // The handler checks the one-time token and uses it up.
    if path.starts_with("/open/") {
        return Ok(());
    }
    let request_token = path.strip_prefix("/t/").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    if !are_equal(request_token.as_bytes(), page_token.as_bytes()) {
        return Err(unauthorized_response());
    }
    Ok(())
}

/// The response to a request without a valid token.
pub(crate) const fn unauthorized_response() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "Use the whole address that `tumit view` printed.\n")
}

/// Whether a `Host` is loopback, under any port: `ssh -L` may change it.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) if !host.ends_with(']') => return false,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(path: &str, host: &str, origin: Option<&str>) -> Option<StatusCode> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        check_request("0123abcd", path, &headers).err().map(|error| error.0)
    }

    #[test]
    fn requests_of_the_page_are_allowed() {
        assert_eq!(answer("/t/0123abcd/", "127.0.0.1:4000", None), None);
        assert_eq!(answer("/t/0123abcd/api/scene", "localhost:1", Some("http://localhost:1")), None);
        assert_eq!(answer("/t/0123abcd/", "[::1]:4000", None), None);
    }

    #[test]
    fn other_requests_are_rejected() {
        for path in ["/", "/t/", "/t/0123abc/", "/t/0123abcde/", "/t/x/0123abcd/", "/0123abcd/"] {
            assert_eq!(answer(path, "127.0.0.1:4000", None), Some(StatusCode::NOT_FOUND), "{path}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:80", "", "localhost:", "localhost:80x"] {
            assert_eq!(answer("/t/0123abcd/", host, None), Some(StatusCode::FORBIDDEN), "{host}");
        }
        for origin in ["http://evil.example", "null", "http://127.0.0.1:4001", "https://127.0.0.1:4000"] {
            assert_eq!(answer("/t/0123abcd/", "127.0.0.1:4000", Some(origin)), Some(StatusCode::FORBIDDEN), "{origin}");
        }
    }

    #[test]
    fn tokens_differ_and_have_128_bits() {
        let (a, b) = (crate::access_tokens::new_token().unwrap(), crate::access_tokens::new_token().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 32);
    }
}
