//! Signals that end the program: from Ctrl-C, from `kill`, from a closed terminal.

/// Installs the handlers at once. The future waits for a signal that ends the program, and yields
/// its number. Must be called within a runtime.
#[cfg(unix)]
pub(crate) fn end_signal() -> impl Future<Output = i32> {
    use tokio::signal::unix::SignalKind;
    let interrupt = next_signal(SignalKind::interrupt());
    let terminate = next_signal(SignalKind::terminate());
    let hangup = next_signal(SignalKind::hangup());
    async {
        tokio::select! {
            signal = interrupt => signal,
            signal = terminate => signal,
            signal = hangup => signal,
        }
    }
}

#[cfg(unix)]
fn next_signal(kind: tokio::signal::unix::SignalKind) -> impl Future<Output = i32> {
    let number = kind.as_raw_value();
    // The program may have to outlive its terminal (`nohup`).
    let is_left = kind == tokio::signal::unix::SignalKind::hangup() && is_ignored(number);
    let signal = if is_left { None } else { tokio::signal::unix::signal(kind).ok() };
    async move {
        let Some(mut signal) = signal else { return std::future::pending().await };
        signal.recv().await;
        number
    }
}

/// Whether this signal was ignored when the program started, if the system provides this
/// information.
#[cfg(unix)]
pub(crate) fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

/// Waits for Ctrl-C. Yields the signal number that Unix has for it.
#[cfg(not(unix))]
pub(crate) async fn end_signal() -> i32 {
    const INTERRUPT: i32 = 2;
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    INTERRUPT
}
