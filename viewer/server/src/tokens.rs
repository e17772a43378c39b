//! The address for the program that opens a browser. All users of the machine can read the
//! arguments of a program. The address therefore has a token that works once and for a short time.
//! The server exchanges it for the address of the page.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::App;
use super::access_control;

/// A browser that is not running yet may need time to start.
const VALID: Duration = Duration::from_secs(120);

/// The token that is passed to the browser.
#[derive(Debug, Default)]
pub(crate) struct OneTime(Mutex<Option<Issued>>);

#[derive(Debug)]
struct Issued {
    token: String,
    until: Instant,
    is_used: bool,
}

impl OneTime {
    /// Issues a new token. Earlier tokens become invalid.
    ///
    /// # Errors
    /// If the system returns no random numbers.
    pub(crate) fn issue(&self) -> io::Result<String> {
        let token = access_control::token()?;
        let issued = Issued { token: token.clone(), until: Instant::now() + VALID, is_used: false };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(issued);
        Ok(token)
    }

    /// Uses a token up. Returns whether it was still valid, or `None` if it was not issued.
    fn redeem(&self, token: &str, now: Instant) -> Option<bool> {
        let mut issued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let issued =
            issued.as_mut().filter(|issued| access_control::equal(issued.token.as_bytes(), token.as_bytes()))?;
        let is_valid = !issued.is_used && now < issued.until;
        issued.is_used = true;
        Some(is_valid)
    }
}

/// Sends the browser to the page, once.
pub(crate) async fn open(State(app): State<Arc<App>>, method: Method, Path(token): Path<String>) -> Response {
    if method != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match app.one_time.redeem(&token, Instant::now()) {
        Some(true) => (StatusCode::SEE_OTHER, [(header::LOCATION, format!("/t/{}/", app.token))]).into_response(),
        Some(false) => {
            let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            (StatusCode::GONE, kind, include_str!("used.html")).into_response()
        }
        None => access_control::unknown().into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_once_and_for_a_short_time() {
        let tokens = OneTime::default();
        let now = Instant::now();
        assert_eq!(tokens.redeem("", now), None);
        let first = tokens.issue().expect("random numbers");
        assert_eq!(tokens.redeem("0123", now), None);
        assert_eq!([tokens.redeem(&first, now), tokens.redeem(&first, now)], [Some(true), Some(false)]);
        let second = tokens.issue().expect("random numbers");
        assert_eq!(tokens.redeem(&first, now), None);
        assert_eq!(tokens.redeem(&second, now + 2 * VALID), Some(false));
    }
}
