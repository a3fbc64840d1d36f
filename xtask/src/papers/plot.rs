//! Line plots on two logarithmic scales as SVG, with fitted exponents.

use std::fmt::Write as _;

/// A plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// The name of its file, without an extension.
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    /// The label of the growing quantity.
    pub(crate) size: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// Measured points.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// Size and processor seconds.
    pub(crate) points: Vec<[f64; 2]>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;
/// Readable on white and on black, and distinguishable for readers who see no red.
const COLOURS: [&str; 3] = ["#1f77b4", "#d97706", "#7a52a1"];

impl Line {
    /// The exponent of the best power law, by least squares of logarithms.
    pub(crate) fn exponent(&self) -> f64 {
        self.fit().0
    }

    /// Slope and intercept of the line.
    fn fit(&self) -> (f64, f64) {
        let count = self.points.len() as f64;
        let logs: Vec<[f64; 2]> = self.points.iter().map(|point| point.map(f64::ln)).collect();
        let mean = |of: usize| logs.iter().map(|point| point[of]).sum::<f64>() / count;
        let (x, y) = (mean(0), mean(1));
        let both: f64 = logs.iter().map(|point| (point[0] - x) * (point[1] - y)).sum();
        let own: f64 = logs.iter().map(|point| (point[0] - x).powi(2)).sum();
        let slope = if own > 0.0 { both / own } else { 0.0 };
        (slope, y - slope * x)
    }
}

/// A logarithmic scale: maps numbers to positions.
struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn over(numbers: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let from = numbers.clone().fold(f64::INFINITY, f64::min) / 1.25;
        let to = numbers.fold(0.0, f64::max) * 1.25;
        Self { from, to, start, end }
    }

    fn place(&self, number: f64) -> f64 {
        let share = (number / self.from).ln() / (self.to / self.from).ln();
        self.start + share * (self.end - self.start)
    }
}

impl Plot {
    /// Renders the plot.
    pub(crate) fn svg(&self) -> String {
        let all = self.lines.iter().flat_map(|line| &line.points);
        let across = Scale::over(all.clone().map(|point| point[0]), LEFT, WIDTH - RIGHT);
        let up = Scale::over(all.clone().map(|point| point[1]), HEIGHT - BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"14\" font-weight=\"600\">{}</text>\n",
            escaped(self.title)
        );
        let (low, high) = (HEIGHT - BOTTOM, TOP);
        let mut sizes: Vec<f64> = all.map(|point| point[0]).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        for size in sizes {
            let x = across.place(size);
            let _ = writeln!(svg, "<path d=\"M{x:.1} {low}V{high}\" stroke=\"#ddd\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{size}</text>",
                low + 16.0
            );
        }
        for seconds in ticks(up.from, up.to) {
            let y = up.place(seconds);
            let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#ddd\"/>", WIDTH - RIGHT);
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{seconds}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {high}V{low}H{}\" stroke=\"#333\" fill=\"none\"/>",
            WIDTH - RIGHT
        );
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 14.0,
            escaped(self.size)
        );
        let half = f64::midpoint(low, high);
        let _ = writeln!(
            svg,
            "<text transform=\"translate(16 {half}) rotate(-90)\" text-anchor=\"middle\">seconds of the processor</text>"
        );
        for (number, line) in self.lines.iter().enumerate() {
            draw(&mut svg, line, number, &across, &up);
        }
        svg + "</svg>\n"
    }
}

/// Draws the points of a line, the fitted line, and a legend.
fn draw(svg: &mut String, line: &Line, number: usize, across: &Scale, up: &Scale) {
    let colour = COLOURS[number % COLOURS.len()];
    let (slope, start) = line.fit();
    let fitted = |size: f64| (start + slope * size.ln()).exp();
    let ends = line.points.first().zip(line.points.last());
    if let Some((first, last)) = ends {
        let [from, to] =
            [first[0], last[0]].map(|size| (across.place(size), up.place(fitted(size))));
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>",
            from.0, from.1, to.0, to.1
        );
    }
    for point in &line.points {
        let (x, y) = (across.place(point[0]), up.place(point[1]));
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
    }
    let y = TOP + 18.0 + 18.0 * number as f64;
    let _ = writeln!(
        svg,
        "<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{colour}\"/>",
        LEFT + 16.0,
        y - 4.0
    );
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{y}\">{}, exponent {slope:.2}</text>",
        LEFT + 26.0,
        escaped(line.name)
    );
}

/// Ticks at 1, 2 and 5 times powers of ten.
fn ticks(from: f64, to: f64) -> Vec<f64> {
    let tens = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
    let all = tens.flat_map(|ten| [1.0, 2.0, 5.0].map(|digit| (digit, ten)));
    // Divisions by powers of ten are exact, unlike products with negative powers, so labels stay short.
    let numbers = all.map(|(digit, ten)| match ten < 0 {
        true => digit / 10f64.powi(-ten),
        false => digit * 10f64.powi(ten),
    });
    numbers.filter(|number| (from..=to).contains(number)).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
