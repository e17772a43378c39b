//! The image of `tumit sync --output`: the deviation of each clock from a straight line, and its
//! uncertainty.

use std::fmt::Write as _;

use tumit_converter::clock::{ClockDeviation, ClockDomain, RunClocks};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 52.0;
/// Colours of the curves in the legend (palette of Okabe and Ito). Further curves are grey.
const COLORS: [&str; 8] = ["#000000", "#e69f00", "#56b4e9", "#009e73", "#d0c000", "#0072b2", "#d55e00", "#cc79a7"];
const GREY: &str = "#aaaaaa";

/// The image as SVG.
pub(super) fn svg(clocks: &RunClocks, title: &str) -> String {
    let curves: Vec<&ClockDomain> = clocks.domains.iter().filter(|domain| !domain.deviations.is_empty()).collect();
    let deviations = curves.iter().flat_map(|domain| &domain.deviations);
    let (mut start, mut end, mut lowest, mut highest) = (i64::MAX, i64::MIN, 0f64, 0f64);
    for &ClockDeviation { timestamp, nanos } in deviations {
        (start, end) = (start.min(timestamp), end.max(timestamp));
        (lowest, highest) = (lowest.min(nanos), highest.max(nanos));
    }
    if curves.is_empty() {
        (start, end) = (0, 1_000_000_000);
    }
    // If no clock deviates, the curves are flat. The scale is then still tens of nanoseconds.
    let (lowest, highest) = (lowest.min(-20.0) * 1.1, highest.max(20.0) * 1.1);
    let time_axis =
        PlotAxis { from: start as f64 * 1e-9, to: end as f64 * 1e-9, position: LEFT, size: WIDTH - LEFT - RIGHT };
    let upward =
        PlotAxis { from: lowest * 1e-3, to: highest * 1e-3, position: HEIGHT - BOTTOM, size: -(HEIGHT - TOP - BOTTOM) };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}: deviation of each clock from a straight line</text>",
        escape_for_xml(title)
    );
    axes(&mut out, &time_axis, &upward);
    for (number, domain) in curves.iter().enumerate().rev() {
        let color = COLORS.get(number).copied().unwrap_or(GREY);
        let points: Vec<String> = domain
            .deviations
            .iter()
            .map(|&ClockDeviation { timestamp, nanos }| {
                format!("{:.1},{:.1}", time_axis.place(timestamp as f64 * 1e-9), upward.place(nanos * 1e-3))
            })
            .collect();
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\" points=\"{}\"/>",
            points.join(" ")
        );
    }
    legend(&mut out, &curves, clocks.domains.len());
    out.push_str("</svg>\n");
    out
}

/// A map from values to coordinates.
struct PlotAxis {
    from: f64,
    to: f64,
    position: f64,
    size: f64,
}

/// Four to ten round values on an axis, and their number of decimals.
struct AxisTicks {
    values: Vec<f64>,
    decimals: usize,
}

impl PlotAxis {
    fn place(&self, value: f64) -> f64 {
        self.position + (value - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE) * self.size
    }

    fn ticks(&self) -> AxisTicks {
        let least_step = (self.to - self.from) / 5.0;
        let power = 10f64.powf(least_step.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * power).into_iter().find(|step| *step >= least_step);
        let step = step.unwrap_or(least_step);
        let first = (self.from / step).ceil();
        let values = (0..20).map(|tick| (first + f64::from(tick)) * step).take_while(|value| *value <= self.to);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        AxisTicks { values: values.collect(), decimals }
    }
}

fn axes(out: &mut String, time_axis: &PlotAxis, value_axis: &PlotAxis) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let AxisTicks { values, decimals } = time_axis.ticks();
    for value in values {
        let x = time_axis.place(value);
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#eeeeee\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{value:.decimals$}</text>",
            bottom + 18.0
        );
    }
    let AxisTicks { values, decimals } = value_axis.ticks();
    for value in values {
        let y = value_axis.place(value);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#eeeeee\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.decimals$}</text>",
            LEFT - 8.0,
            y + 4.0
        );
    }
    let middle = f64::midpoint(TOP, bottom);
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#444444\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">timestamp, s</text>\n\
         <text x=\"18\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle})\">deviation, us</text>",
        f64::midpoint(LEFT, right),
        bottom + 40.0
    );
}

fn legend(out: &mut String, curves: &[&ClockDomain], clocks: usize) {
    let x = WIDTH - RIGHT + 16.0;
    let mut y = TOP + 10.0;
    for (domain, color) in curves.iter().zip(COLORS) {
        let name: String = domain.name.chars().take(24).collect();
        let _ = writeln!(
            out,
            "<path d=\"M{x} {:.1}h18\" stroke=\"{color}\" stroke-width=\"2\"/><text x=\"{}\" y=\"{y:.1}\">{}</text>",
            y - 4.0,
            x + 24.0,
            escape_for_xml(&name)
        );
        y += 18.0;
    }
    let mut write_line = |text: String| {
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" fill=\"#666666\">{text}</text>");
        y += 18.0;
    };
    if curves.len() > COLORS.len() {
        write_line(format!("and {} more, grey", curves.len() - COLORS.len()));
    }
    if curves.len() < clocks {
        write_line(format!("{} of {clocks} clocks have no curve", clocks - curves.len()));
    }
}

fn escape_for_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
