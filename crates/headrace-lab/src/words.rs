//! Numbers as people read them: a unit that suits, three significant digits.

use headrace_cc::units::Time;

/// A time.
pub fn time(time: Time) -> String {
    nanoseconds(time.as_ns())
}

/// Nanoseconds.
pub fn nanoseconds(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "us")], "ns")
}

/// Bits a second.
pub fn bits_per_second(bps: f64) -> String {
    scaled(bps, &[(1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "Kb/s")], "b/s")
}

/// A count.
pub fn count(n: f64) -> String {
    scaled(n, &[(1e9, "G"), (1e6, "M"), (1e3, "k")], "")
}

/// Bytes; KB = 1000 bytes.
pub fn bytes(n: f64) -> String {
    scaled(n, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")], "B")
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", digits(100.0 * share))
}

/// So many things: `1 flow`, `1,711,250 flows`. `thing` is the singular, whose plural ends in `s`.
pub fn things(n: f64, thing: &str) -> String {
    let number = grouped(n);
    let s = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// `1,711,250`: a whole number with groups of three.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// About three significant digits.
pub fn digits(value: f64) -> String {
    let mut magnitude = value.abs();
    let mut places = match magnitude {
        m if m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        _ => 2,
    };
    if magnitude > 0.0 && magnitude < 1e-6 {
        return format!("{value:.2e}");
    }
    while magnitude > 0.0 && magnitude < 1.0 {
        magnitude *= 10.0;
        places += 1;
    }
    let text = format!("{value:.places$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn scaled(value: f64, units: &[(f64, &str)], least: &str) -> String {
    let fits = |(size, _): &&(f64, &str)| value.abs() >= *size;
    let (size, unit) = units.iter().find(fits).copied().unwrap_or((1.0, least));
    format!("{} {unit}", digits(value / size)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(nanoseconds(80_123.0), "80.1 us");
        assert_eq!(time(Time::from_ps(13_689_999_999)), "13.7 ms");
        assert_eq!(time(Time::NEVER), "18446744 s");
        assert_eq!(bits_per_second(1e11), "100 Gb/s");
        assert_eq!(count(16_300_000.0), "16.3 M");
        assert_eq!(count(12.0), "12");
        assert_eq!(bytes(325_000.0), "325 KB");
        assert_eq!(percent(0.0008), "0.08 %");
        assert_eq!(percent(0.000_098_62), "0.00986 %");
        assert_eq!(digits(0.000_012), "0.000012");
        assert_eq!(digits(0.000_000_012), "1.20e-8");
        assert_eq!(digits(0.0), "0");
        assert_eq!(digits(-12.34), "-12.3");
    }

    #[test]
    fn things_are_counted() {
        assert_eq!(grouped(1_711_250.4), "1,711,250");
        assert_eq!(grouped(123_456.0), "123,456");
        assert_eq!(things(1.0, "flow"), "1 flow");
        assert_eq!(things(0.0, "flow"), "0 flows");
        assert_eq!(things(1e6, "long-lived flow"), "1,000,000 long-lived flows");
    }
}
