//! Quantities with their units, read exactly: `100Gbps`, `80us`, `1.5MB`, `65packets`.

use headrace_cc::units::{Rate, Time};

use super::problems::nearest;

/// What kind of quantity a text states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Durations and times: `ps ns us ms s`.
    Time,
    /// Bits per second: `bps Kbps Mbps Gbps Tbps`, powers of 1000.
    Rate,
    /// Bytes: `B`, `KB MB GB TB` (powers of 1000), `KiB MiB GiB` (powers of 1024), `packets`.
    Bytes,
}

/// A unit's name and its size in picoseconds, bits per second or bytes.
type Unit = (&'static str, u64);

const TIMES: &[Unit] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];
const RATES: &[Unit] = &[
    ("bps", 1),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
];
const SIZES: &[Unit] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const PACKETS: &str = "packets";

impl Dimension {
    /// The quantity's name with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Dimension::Time => "a time",
            Dimension::Rate => "a rate",
            Dimension::Bytes => "a size",
        }
    }

    const fn units(self) -> &'static [Unit] {
        match self {
            Dimension::Time => TIMES,
            Dimension::Rate => RATES,
            Dimension::Bytes => SIZES,
        }
    }

    /// The unit that a bare number most likely meant. Sizes of four digits and more are in bytes.
    pub fn usual_unit(self, number: &str) -> &'static str {
        match self {
            Dimension::Time => "us",
            Dimension::Rate => "Gbps",
            Dimension::Bytes if number.parse().is_ok_and(|n: f64| n >= 1000.0) => "B",
            Dimension::Bytes => "KB",
        }
    }
}

/// Why a text is no quantity: what is wrong, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub remedy: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), remedy: remedy.into() }
    }
}

/// Reads a quantity in its base unit: picoseconds, bits per second, bytes. `packet_bytes` is the
/// size of a `packets` unit; `None` where sizes are not counted in packets.
///
/// # Errors
/// A missing or unknown unit, a negative number, no number, a fraction of the base unit, overflow.
pub fn quantity(
    text: &str,
    dimension: Dimension,
    packet_bytes: Option<u64>,
) -> Result<u64, Refusal> {
    let name = dimension.name();
    let text = text.trim();
    let end =
        text.char_indices().find(|&(i, c)| !in_number(text, i, c)).map_or(text.len(), |x| x.0);
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.starts_with('-') {
        return Err(Refusal::new(
            format!("`{text}`: {name} cannot be negative"),
            format!("write `{}`", &text[1..]),
        ));
    }
    let decimal = Decimal::parse(number).ok_or_else(|| {
        let usual = dimension.usual_unit("10");
        Refusal::new(
            format!("`{text}` is not {name}"),
            format!("write a number and its unit, as in \"10{usual}\""),
        )
    })?;
    if unit.is_empty() {
        let usual = dimension.usual_unit(number);
        return Err(Refusal::new(
            format!("`{text}` has no unit"),
            format!("write \"{text}{usual}\", or the unit that is meant"),
        ));
    }
    let factor = unit_factor(unit, dimension, packet_bytes)?;
    decimal.times(factor).ok_or_else(|| {
        let base = dimension.units()[0].0;
        Refusal::new(
            format!("`{text}` is not a whole number of {base}, or is too large"),
            format!("write whole {base}, below 2^64"),
        )
    })
}

/// Whether the character at `i` still belongs to the number; an `e` only before its exponent.
fn in_number(text: &str, i: usize, c: char) -> bool {
    let rest = &text.as_bytes()[i + c.len_utf8()..];
    let exponent = rest.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-' || *b == b'+');
    c.is_ascii_digit()
        || matches!(c, '.' | '_' | '-' | '+')
        || (i > 0 && matches!(c, 'e' | 'E') && exponent)
}

fn unit_factor(
    unit: &str,
    dimension: Dimension,
    packet_bytes: Option<u64>,
) -> Result<u64, Refusal> {
    let units = dimension.units();
    let packets = packet_bytes.filter(|_| dimension == Dimension::Bytes);
    if let (Some(bytes), PACKETS | "packet") = (packets, unit) {
        return Ok(bytes);
    }
    if let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) {
        return Ok(factor);
    }
    let names = units.iter().map(|u| u.0).chain(packets.map(|_| PACKETS));
    // `kB`, `gbps`: what differs in case alone is the remedy, whatever else is near.
    let remedy = match units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((name, _)) => format!("did you mean `{name}`?"),
        None if unit.len() > 1 => nearest(unit, names),
        None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
    };
    Err(Refusal::new(format!("`{unit}` is not a unit of {}", &dimension.name()[2..]), remedy))
}

/// A decimal number, exact: `digits x 10^-scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    scale: i32,
}

impl Decimal {
    /// Reads `12`, `1.5`, `3.16e6`, `1_000`; no sign. `None` where it is none of these.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut decimal = Decimal { digits: 0, scale: 0 };
        let mut seen = false;
        for c in whole.chars().chain(fraction.chars()).filter(|&c| c != '_') {
            let digit = c.to_digit(10)?;
            seen = true;
            decimal.digits = decimal.digits.checked_mul(10)?.checked_add(u128::from(digit))?;
        }
        decimal.scale = i32::try_from(fraction.chars().filter(|&c| c != '_').count()).ok()?;
        decimal.scale = decimal.scale.checked_sub(exponent)?;
        seen.then_some(decimal)
    }

    /// The number times a factor; `None` if that is no whole number below 2^64.
    pub fn times(self, factor: u64) -> Option<u64> {
        let power = 10u128.checked_pow(self.scale.unsigned_abs())?;
        let product = self.digits.checked_mul(u128::from(factor))?;
        let result = if self.scale < 0 {
            product.checked_mul(power)?
        } else if product % power == 0 {
            product / power
        } else {
            return None;
        };
        u64::try_from(result).ok()
    }
}

/// Reads a time.
///
/// # Errors
/// As [`quantity`].
pub fn time(text: &str) -> Result<Time, Refusal> {
    quantity(text, Dimension::Time, None).map(Time::from_ps)
}

/// Reads a rate.
///
/// # Errors
/// As [`quantity`].
pub fn rate(text: &str) -> Result<Rate, Refusal> {
    quantity(text, Dimension::Rate, None).map(Rate::from_bps)
}

/// Reads a size in bytes, `packets` not allowed.
///
/// # Errors
/// As [`quantity`].
pub fn bytes(text: &str) -> Result<u64, Refusal> {
    quantity(text, Dimension::Bytes, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(time("80us"), Ok(Time::from_us(80)));
        assert_eq!(time("1.5 us"), Ok(Time::from_ns(1500)));
        assert_eq!(time("0.000001s"), Ok(Time::from_us(1)));
        assert_eq!(rate("100Gbps"), Ok(Rate::from_gbps(100)));
        assert_eq!(rate("0.1Tbps"), Ok(Rate::from_gbps(100)));
        assert_eq!(bytes("12MB"), Ok(12_000_000));
        assert_eq!(bytes("4KiB"), Ok(4096));
        assert_eq!(bytes("1e3KB"), Ok(1_000_000));
        assert_eq!(bytes("1_500B"), Ok(1500));
        assert_eq!(quantity("65packets", Dimension::Bytes, Some(1518)), Ok(65 * 1518));
    }

    #[test]
    fn what_is_wrong_is_said_with_a_remedy() {
        let refusal = |text| bytes(text).unwrap_err();
        assert_eq!(refusal("12").message, "`12` has no unit");
        assert_eq!(refusal("12").remedy, "write \"12KB\", or the unit that is meant");
        assert_eq!(refusal("1500").remedy, "write \"1500B\", or the unit that is meant");
        assert_eq!(refusal("-5KB").message, "`-5KB`: a size cannot be negative");
        assert_eq!(refusal("5kb").remedy, "did you mean `KB`?");
        assert_eq!(refusal("1.5B").message, "`1.5B` is not a whole number of B, or is too large");
        assert_eq!(refusal("many").message, "`many` is not a size");
        assert!(refusal("5packets").message.contains("not a unit"));
        assert!(bytes("1e300GB").is_err());
        assert_eq!(rate("10gbps").unwrap_err().remedy, "did you mean `Gbps`?");
    }

    #[test]
    fn decimals() {
        assert_eq!(Decimal::parse("3.16e6").unwrap().times(1), Some(3_160_000));
        assert_eq!(Decimal::parse("").map(|_| ()), None);
        assert_eq!(Decimal::parse(".").map(|_| ()), None);
        assert_eq!(Decimal::parse("1e-3").unwrap().times(1000), Some(1));
    }
}
