//! A figure's picture: a panel a question, curves with the spread over seeds, published values
//! beside the measured ones.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::{Figure, Panel, Published};
use super::report::{Curve, PanelData};

/// Size of a panel, pixels.
const PANEL: (u32, u32) = (620, 430);
/// Height of the title above the panels.
const TITLE: u32 = 44;
/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];
const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), String>;

/// Plotters' errors differ in type; their text is what matters.
fn text<E: std::fmt::Display>(error: E) -> String {
    error.to_string()
}

fn colour(figure: &Figure, variant: &str) -> RGBColor {
    let index = figure.variants.iter().position(|v| v.name == variant).unwrap_or(0);
    COLOURS[index % COLOURS.len()]
}

/// The picture as SVG. Equal data give equal text.
///
/// # Errors
/// What the drawing library says.
pub fn draw(figure: &Figure, panels: &[PanelData]) -> Result<String, String> {
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, TITLE + PANEL.1 * rows as u32);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(text)?;
        let font = (FONT, 22).into_font().color(&BLACK);
        let body = root.titled(&figure.title, font).map_err(text)?;
        for (area, (panel, data)) in
            body.split_evenly((rows, columns)).iter().zip(figure.panels.iter().zip(panels))
        {
            match figure.axis {
                Some(_) => draw_curves(area, figure, panel, data)?,
                None => draw_bars(area, figure, panel, data)?,
            }
        }
        root.present().map_err(text)?;
    }
    Ok(svg)
}

/// The range of a vertical axis. It starts at zero unless all values are close to each other; bars
/// always start there.
fn vertical(values: impl Iterator<Item = f64>, from_zero: bool) -> Range<f64> {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(none, |(low, high), y| (low.min(y), high.max(y)));
    if low > high {
        return 0.0..1.0;
    }
    let close = !from_zero && low > 0.5 * high;
    let low = if close { low } else { low.min(0.0) };
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let below = if low == 0.0 { 0.0 } else { 0.1 * span };
    // Bars need room above for their numbers and the legend.
    low - below..high + if from_zero { 0.25 } else { 0.1 } * span
}

/// The corner of a panel with the fewest points of its curves: there the legend hides least.
fn emptiest_corner(
    points: impl Iterator<Item = (f64, f64)> + Clone,
    x: &Range<f64>,
    y: &Range<f64>,
) -> SeriesLabelPosition {
    let share = |value: f64, range: &Range<f64>| (value - range.start) / (range.end - range.start);
    let corners = [
        (SeriesLabelPosition::UpperRight, true, true),
        (SeriesLabelPosition::UpperLeft, false, true),
        (SeriesLabelPosition::LowerRight, true, false),
        (SeriesLabelPosition::LowerLeft, false, false),
    ];
    let inside = |right: bool, upper: bool| {
        let near = points.clone().filter(|point| {
            let (across, up) = (share(point.0, x), share(point.1, y));
            let across = if right { 1.0 - across } else { across };
            let up = if upper { 1.0 - up } else { up };
            across < 0.5 && up < 0.4
        });
        near.count()
    };
    let emptiest = corners.into_iter().min_by_key(|(_, right, upper)| inside(*right, *upper));
    emptiest.map_or(SeriesLabelPosition::UpperRight, |(corner, _, _)| corner)
}

fn published_label(panel: &Panel) -> Option<&'static str> {
    (!panel.published.is_empty()).then_some("published")
}

/// A number as an axis shows it: as many digits as it needs, at most four.
fn tick(value: f64) -> String {
    let magnitude = value.abs();
    let digits = match magnitude {
        m if m == 0.0 || m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        m if m >= 1.0 => 2,
        _ => 4,
    };
    let shown = format!("{value:.digits$}");
    if !shown.contains('.') {
        return shown;
    }
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn draw_curves(area: &Area<'_>, figure: &Figure, panel: &Panel, data: &PanelData) -> Drawn {
    let curves: Vec<_> = data.curves.iter().map(|curve| (curve, curve.points())).collect();
    let all = || curves.iter().flat_map(|(_, points)| points);
    let heights = all().map(|p| p.max).chain(panel.published.iter().filter_map(|p| p.y));
    let xs = || all().map(|p| p.x).chain(panel.published.iter().filter_map(|p| p.x));
    let (left, right) =
        (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    let (left, right) = if left <= right { (left, right) } else { (0.0, 1.0) };
    let margin = if right > left { 0.04 * (right - left) } else { 0.5 };
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 17))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(left - margin..right + margin, vertical(heights, false))
        .map_err(text)?;
    let axis = figure.axis.as_ref().map(|axis| match axis.unit.as_str() {
        "" => axis.title.clone(),
        unit => format!("{} ({unit})", axis.title),
    });
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(axis.unwrap_or_default())
        .y_desc(&panel.y)
        .axis_desc_style((FONT, 15))
        .label_style((FONT, 14))
        .x_label_formatter(&|x| tick(*x))
        .y_label_formatter(&|y| tick(*y))
        .draw()
        .map_err(text)?;
    for (curve, points) in &curves {
        let colour = colour(figure, &curve.variant);
        let line = points.iter().map(|p| (p.x, p.mean));
        let style = colour.stroke_width(2);
        chart
            .draw_series(LineSeries::new(line, style).point_size(3))
            .map_err(text)?
            .label(&curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        let spread = points.iter().filter(|p| p.max > p.min);
        chart
            .draw_series(spread.map(|p| PathElement::new([(p.x, p.min), (p.x, p.max)], colour)))
            .map_err(text)?;
    }
    draw_published(&mut chart, figure, panel)?;
    let drawn = all().map(|p| (p.x, p.mean));
    let corner = emptiest_corner(drawn, &chart.x_range(), &chart.y_range());
    legend(&mut chart, corner)
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Number, Number>>;
type Number = plotters::coord::types::RangedCoordf64;

/// Hollow rings where both coordinates are published, dashed lines where one is.
fn draw_published<'b: 'a, 'a>(chart: &mut Chart<'a, 'b>, figure: &Figure, panel: &Panel) -> Drawn {
    let (xs, ys) = (chart.x_range(), chart.y_range());
    for Published { variant, x, y } in &panel.published {
        let style = colour(figure, variant).stroke_width(2);
        let ends = match (*x, *y) {
            (Some(x), Some(y)) => {
                let ring = std::iter::once(Circle::new((x, y), 7, style));
                chart.draw_series(ring).map_err(text)?;
                continue;
            }
            (Some(x), None) => [(x, ys.start), (x, ys.end)],
            (None, Some(y)) => [(xs.start, y), (xs.end, y)],
            (None, None) => continue,
        };
        chart.draw_series(DashedLineSeries::new(ends, 6, 4, style)).map_err(text)?;
    }
    if let Some(label) = published_label(panel) {
        let nothing = std::iter::empty::<Circle<(f64, f64), i32>>();
        let ring = |(x, y)| Circle::new((x + 11, y), 5, BLACK.stroke_width(2));
        let dashed = panel.published.iter().all(|p| p.x.is_none() || p.y.is_none());
        let entry = chart.draw_series(nothing).map_err(text)?.label(label);
        if dashed {
            entry.legend(|(x, y)| {
                let dash = |from: i32| [(x + from, y), (x + from + 6, y)];
                let style = BLACK.stroke_width(2);
                EmptyElement::at((0, 0))
                    + PathElement::new(dash(0), style)
                    + PathElement::new(dash(10), style)
            });
        } else {
            entry.legend(ring);
        }
    }
    Ok(())
}

fn legend<'b: 'a, 'a>(chart: &mut Chart<'a, 'b>, corner: SeriesLabelPosition) -> Drawn {
    chart
        .configure_series_labels()
        .position(corner)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(190, 190, 190))
        .label_font((FONT, 14))
        .draw()
        .map_err(text)
}

fn draw_bars(area: &Area<'_>, figure: &Figure, panel: &Panel, data: &PanelData) -> Drawn {
    let bars: Vec<(&Curve, f64)> = data
        .curves
        .iter()
        .map(|curve| (curve, curve.points().first().map_or(0.0, |p| p.mean)))
        .collect();
    let heights = bars.iter().map(|(_, y)| *y).chain(panel.published.iter().filter_map(|p| p.y));
    let labels: Vec<String> = bars.iter().map(|(curve, _)| curve.label.clone()).collect();
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 17))
        .margin(12)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(-0.5..bars.len() as f64 - 0.5, vertical(heights, true))
        .map_err(text)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(WHITE)
        .y_desc(&panel.y)
        .axis_desc_style((FONT, 15))
        .label_style((FONT, 14))
        .y_label_formatter(&|y| tick(*y))
        .draw()
        .map_err(text)?;
    let centred = |size: u32| {
        (FONT, size).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Bottom))
    };
    for (i, (curve, y)) in bars.iter().enumerate() {
        let (x, colour) = (i as f64, colour(figure, &curve.variant));
        let bar = Rectangle::new([(x - 0.3, 0.0), (x + 0.3, *y)], colour.mix(0.85).filled());
        chart.draw_series(std::iter::once(bar)).map_err(text)?;
        let name = Text::new(tick(*y), (x, *y), centred(14));
        chart.draw_series(std::iter::once(name)).map_err(text)?;
        let marks = panel.published.iter().filter(|p| p.variant == curve.variant);
        let marks = marks.filter_map(|p| p.y);
        let marks =
            marks.map(|y| PathElement::new([(x - 0.4, y), (x + 0.4, y)], BLACK.stroke_width(2)));
        chart.draw_series(marks).map_err(text)?;
    }
    // The names stand below the axis, which has no ticks of its own.
    let (floor, names) = (chart.y_range().start, labels.iter().enumerate());
    let below = (FONT, 14).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
    for (i, label) in names {
        let (x, y) = chart.backend_coord(&(i as f64, floor));
        let (left, top) = area.get_base_pixel();
        area.draw(&Text::new(label.clone(), (x - left, y - top + 8), below.clone()))
            .map_err(text)?;
    }
    if let Some(label) = published_label(panel) {
        let nothing = std::iter::empty::<Circle<(f64, f64), i32>>();
        let line = |(x, y)| PathElement::new([(x, y), (x + 22, y)], BLACK.stroke_width(2));
        chart.draw_series(nothing).map_err(text)?.label(label).legend(line);
    }
    legend(&mut chart, SeriesLabelPosition::UpperRight)
}
