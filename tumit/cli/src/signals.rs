//! Being asked to end: by Ctrl-C, by `kill`, by a terminal that was closed.

/// Waits for a signal that ends the program; gives its number.
#[cfg(unix)]
pub(crate) async fn ended() -> i32 {
    use tokio::signal::unix::SignalKind;
    tokio::select! {
        signal = received(SignalKind::interrupt()) => signal,
        signal = received(SignalKind::terminate()) => signal,
        signal = received(SignalKind::hangup()) => signal,
    }
}

#[cfg(unix)]
async fn received(kind: tokio::signal::unix::SignalKind) -> i32 {
    let number = kind.as_raw_value();
    // Whoever started the program may want it to outlive its terminal (`nohup`).
    if (kind != tokio::signal::unix::SignalKind::hangup() || !is_ignored(number))
        && let Ok(mut signal) = tokio::signal::unix::signal(kind)
    {
        signal.recv().await;
        return number;
    }
    std::future::pending().await
}

/// Whether this signal was ignored when the program started, where the system tells.
#[cfg(unix)]
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

#[cfg(not(unix))]
pub(crate) async fn ended() -> i32 {
    const INTERRUPT: i32 = 2;
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    INTERRUPT
}
