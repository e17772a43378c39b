//! The memory that `tumit view` needs to draw an image of thousands of rows.

use std::process::Command;

use tests::page::TRACE;
use tests::programs::tumit;

/// Pajé text of a process with this many threads, each in two states, and a link from each thread
/// to the next.
fn many_rows(threads: usize) -> String {
    let mut text = String::new();
    let mut lines: Vec<(f64, String)> = Vec::new();
    for line in TRACE.lines().filter(|line| line.starts_with('%') || ["0 ", "1 ", "2 ", "6 "].contains(&&line[..2])) {
        text.push_str(line);
        text.push('\n');
    }
    lines.push((0.0, "3 0.0 n N 0 node".to_owned()));
    for thread in 0..threads {
        lines.push((0.0, format!("3 0.0 t{thread} T n \"thread {thread}\"")));
        let position = 0.2 + 0.6 * (thread % 97) as f64 / 97.0;
        lines.push((0.1, format!("5 0.1 S t{thread} w")));
        lines.push((position, format!("5 {position:.6} S t{thread} b")));
        lines.push((position, format!("7 {position:.6} L 0 t{thread} m k{thread}")));
        lines.push((position + 0.1, format!("8 {:.6} L 0 t{} m k{thread}", position + 0.1, (thread + 1) % threads)));
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.push((1.0, "4 1.0 N n".to_owned()));
    lines.iter().for_each(|line| text.extend([line.1.as_str(), "\n"]));
    text
}

/// The largest resident memory of a program, in megabytes, and whether it succeeded.
fn peak(command: &mut Command) -> (u64, bool) {
    let mut child = command.spawn().unwrap();
    let mut peak = 0;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            return (peak / 1024, status.success());
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn an_image_of_thousands_of_rows_needs_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("rows.paje");
    std::fs::write(&trace, many_rows(2000)).unwrap();
    let image = folder.path().join("rows.png");
    let mut view = tumit();
    view.args(["view", "--index", "none", "--width", "400"]).arg(&trace).arg("-o").arg(&image);
    let (megabytes, succeeded) = peak(&mut view);
    let reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&image).unwrap())).read_info().unwrap();
    let (width, height) = reader.info().size();
    assert!(succeeded && width == 400 && height > 30_000, "{width} × {height}");
    // All pixels at once, with a layer, a mask and the packed lines, would take 14 bytes each.
    let image_megabytes = u64::from(width) * u64::from(height) * 14 / 1_000_000;
    assert!(megabytes < image_megabytes * 2 / 3, "{megabytes} MB; in one piece more than {image_megabytes} MB");
}
