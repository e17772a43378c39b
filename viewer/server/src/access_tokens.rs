//! Tokens: random texts that others cannot guess. A client with a token can read the traces.
//!
//! The *page token* is in the path of the page, and is valid as long as the server runs. The
//! *one-time token* is in the address for the program that opens a browser. All users of the
//! machine can read the arguments of a program. The one-time token therefore works once and for a
//! short time. The server exchanges it for the address of the page.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A new token: 128 random bits in hexadecimal.
pub(crate) fn new_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that depends only on the lengths.
pub(crate) fn are_equal(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0_u8, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(difference) == 0 && a.len() == b.len()
}

/// How long the one-time token is valid. A browser that is not running yet may need time to start.
const TOKEN_LIFETIME: Duration = Duration::from_secs(120);

#[derive(Debug, Default)]
pub(crate) struct OneTimeToken(Mutex<Option<IssuedToken>>);

#[derive(Debug)]
struct IssuedToken {
    token: String,
    expiry: Instant,
    is_used: bool,
}

impl OneTimeToken {
    /// Issues a new token. Earlier tokens become invalid.
    ///
    /// # Errors
    /// If the system returns no random numbers.
    pub(crate) fn issue(&self) -> io::Result<String> {
        let token = new_token()?;
        let issued = IssuedToken { token: token.clone(), expiry: Instant::now() + TOKEN_LIFETIME, is_used: false };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(issued);
        Ok(token)
    }

    /// Uses a token up. Returns whether it was still valid, or `None` if it was not issued.
    pub(crate) fn redeem(&self, token: &str, time: Instant) -> Option<bool> {
        let mut issued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let issued = issued.as_mut().filter(|issued| are_equal(issued.token.as_bytes(), token.as_bytes()))?;
        let is_valid = !issued.is_used && time < issued.expiry;
        issued.is_used = true;
        Some(is_valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_once_and_for_a_short_time() {
        let tokens = OneTimeToken::default();
        let time = Instant::now();
        assert_eq!(tokens.redeem("", time), None);
        let first = tokens.issue().expect("the system provides random numbers");
        assert_eq!(tokens.redeem("0123", time), None);
        assert_eq!([tokens.redeem(&first, time), tokens.redeem(&first, time)], [Some(true), Some(false)]);
        let second = tokens.issue().expect("the system provides random numbers");
        assert_eq!(tokens.redeem(&first, time), None);
        assert_eq!(tokens.redeem(&second, time + 2 * TOKEN_LIFETIME), Some(false));
    }
}
