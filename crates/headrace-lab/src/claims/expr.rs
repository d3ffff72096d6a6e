//! The expressions by which a figure names what it measures.
//!
//! ```text
//! 100 * (1 - bcc[0.9].fct_ns.small.p99 / k720[0.9].fct_ns.small.p99)
//! max(self[..0.4].loss_rate)
//! least(dctcp[*].steady.goodput_bps >= 0.99 * max(dctcp[*].steady.goodput_bps))
//! ```
//!
//! - `variant[point].path` is a number of `summary.json` from the run of that variant at that
//!   point; the path is a key per level, joined by dots, in double quotes where a key holds other
//!   characters than letters, digits and `_`. `self` stands for the variant being drawn.
//! - A point is a number, `first` or `last`; `*`, `..b`, `a..` and `a..b` (ends included) take
//!   several points, and the value is then a list over them. A figure without points writes
//!   `variant.path`.
//! - `+ - * /`, unary minus, parentheses, and `< <= > >=` (1 where true, 0 where not) work on
//!   numbers, and point by point on lists over the same points.
//! - `max min mean all any` make a number of a list; `least(condition)` is the smallest point at
//!   which the condition is true; `abs(x)`.
//!
//! A number that a run lacks is NaN, and so is what follows from it.

use std::fmt;

/// What an expression may ask for.
pub trait Data {
    /// The points of the figure's axis, ascending; empty where it has none.
    fn points(&self) -> &[f64];
    /// Whether there is a variant of that name.
    fn has_variant(&self, variant: &str) -> bool;
    /// A number of the run of a variant at a point (an index into [`Data::points`]; 0 where there
    /// are none).
    fn number(&self, variant: &str, point: usize, path: &str) -> Option<f64>;
}

/// An expression, or what it asks for, is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{expression}`: {what}")]
pub struct ExprError {
    /// The whole expression.
    pub expression: String,
    /// What is wrong with it.
    pub what: String,
}

/// A number, or a list over points.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The points of a list; `None` for a number.
    pub points: Option<Vec<f64>>,
    /// The number, or one a point.
    pub values: Vec<f64>,
}

impl Measured {
    fn number(value: f64) -> Measured {
        Measured { points: None, values: vec![value] }
    }

    /// The number; `None` for a list.
    pub fn as_number(&self) -> Option<f64> {
        self.points.is_none().then(|| self.values[0])
    }
}

/// An expression, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Ref { variant: String, points: Select, path: String },
    Negative(Box<Node>),
    Binary(Op, Box<Node>, Box<Node>),
    Call(Function, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Select {
    /// No bracket: the figure has no points.
    None,
    One(f64),
    First,
    Last,
    Range(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Max,
    Min,
    Mean,
    All,
    Any,
    Least,
    Abs,
}

impl Function {
    fn by_name(name: &str) -> Option<Function> {
        Some(match name {
            "max" => Function::Max,
            "min" => Function::Min,
            "mean" => Function::Mean,
            "all" => Function::All,
            "any" => Function::Any,
            "least" => Function::Least,
            "abs" => Function::Abs,
            _ => return None,
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expr {
    /// Parses an expression.
    ///
    /// # Errors
    /// It is not in the language; the text says where.
    pub fn parse(text: &str) -> Result<Expr, ExprError> {
        let mut parser = Parser { text, at: 0 };
        let parsed = parser.comparison().and_then(|root| {
            parser.space();
            if parser.at == text.len() { Ok(root) } else { Err(parser.wants("an operator")) }
        });
        match parsed {
            Ok(root) => Ok(Expr { text: text.to_owned(), root }),
            Err(what) => Err(ExprError { expression: text.to_owned(), what }),
        }
    }

    /// Its value; `this` is the variant that `self` stands for.
    ///
    /// # Errors
    /// It names a variant or point that there is not, or mixes lists over different points.
    pub fn eval(&self, data: &dyn Data, this: Option<&str>) -> Result<Measured, ExprError> {
        eval(&self.root, data, this)
            .map_err(|what| ExprError { expression: self.text.clone(), what })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn wants(&self, what: &str) -> String {
        match self.rest().trim_start() {
            "" => format!("{what} is missing at the end"),
            rest => format!("{what} is missing before `{rest}`"),
        }
    }

    /// Takes `token` if it is next.
    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(self.wants(&format!("`{token}`"))) }
    }

    /// Takes the longest run of characters that pass.
    fn run(&mut self, pass: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let found = &rest[..rest.find(|c| !pass(c)).unwrap_or(rest.len())];
        self.at += found.len();
        found
    }

    fn one_of(&mut self, operators: &[(&str, Op)]) -> Option<Op> {
        operators.iter().find(|(token, _)| self.take(token)).map(|(_, op)| *op)
    }

    fn comparison(&mut self) -> Result<Node, String> {
        let left = self.sum()?;
        let operators =
            [("<=", Op::LessEqual), (">=", Op::GreaterEqual), ("<", Op::Less), (">", Op::Greater)];
        let Some(op) = self.one_of(&operators) else { return Ok(left) };
        Ok(Node::Binary(op, Box::new(left), Box::new(self.sum()?)))
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut left = self.product()?;
        while let Some(op) = self.one_of(&[("+", Op::Add), ("-", Op::Sub)]) {
            left = Node::Binary(op, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut left = self.factor()?;
        while let Some(op) = self.one_of(&[("*", Op::Mul), ("/", Op::Div)]) {
            left = Node::Binary(op, Box::new(left), Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Node, String> {
        if self.take("-") {
            return Ok(Node::Negative(Box::new(self.factor()?)));
        }
        if self.take("(") {
            let inner = self.comparison()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return self.number().map(Node::Number);
        }
        let word = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
        if word.is_empty() {
            return Err(self.wants("a number or a name"));
        }
        if let Some(function) = Function::by_name(word)
            && self.take("(")
        {
            let inner = self.comparison()?;
            self.expect(")")?;
            return Ok(Node::Call(function, Box::new(inner)));
        }
        self.reference(word.to_owned())
    }

    /// A number: digits, a point only if a digit follows it (`0.7..` is 0.7 and `..`).
    fn number(&mut self) -> Result<f64, String> {
        self.space();
        let from = self.at;
        let digits = |c: char| c.is_ascii_digit();
        self.run(digits);
        let rest = self.rest().as_bytes();
        if rest.first() == Some(&b'.') && rest.get(1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            self.run(digits);
        }
        self.text[from..self.at].parse().map_err(|_| self.wants("a number"))
    }

    fn reference(&mut self, variant: String) -> Result<Node, String> {
        let points = if self.take("[") { self.select()? } else { Select::None };
        self.expect(".")?;
        let path = if self.take("\"") {
            let path = self.run(|c| c != '"');
            self.expect("\"")?;
            path
        } else {
            self.run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        };
        if path.is_empty() {
            return Err(self.wants("what to take of the run's summary"));
        }
        Ok(Node::Ref { variant, points, path: path.to_owned() })
    }

    fn select(&mut self) -> Result<Select, String> {
        let select = if self.take("*") {
            Select::Range(f64::NEG_INFINITY, f64::INFINITY)
        } else if self.take("first") {
            Select::First
        } else if self.take("last") {
            Select::Last
        } else if self.take("..") {
            Select::Range(f64::NEG_INFINITY, self.number()?)
        } else {
            let from = self.number()?;
            if !self.take("..") {
                Select::One(from)
            } else if self.rest().trim_start().starts_with(']') {
                Select::Range(from, f64::INFINITY)
            } else {
                Select::Range(from, self.number()?)
            }
        };
        self.expect("]")?;
        Ok(select)
    }
}

fn eval(node: &Node, data: &dyn Data, this: Option<&str>) -> Result<Measured, String> {
    Ok(match node {
        Node::Number(x) => Measured::number(*x),
        Node::Negative(inner) => {
            let mut value = eval(inner, data, this)?;
            value.values.iter_mut().for_each(|x| *x = -*x);
            value
        }
        Node::Binary(op, left, right) => {
            combine(*op, &eval(left, data, this)?, &eval(right, data, this)?)?
        }
        Node::Call(function, inner) => call(*function, eval(inner, data, this)?)?,
        Node::Ref { variant, points, path } => {
            let variant = match variant.as_str() {
                "self" => this.ok_or("`self` is for panels; a claim names its variants")?,
                name => name,
            };
            take(data, variant, *points, path)?
        }
    })
}

fn take(data: &dyn Data, variant: &str, select: Select, path: &str) -> Result<Measured, String> {
    if !data.has_variant(variant) {
        return Err(format!("there is no variant `{variant}`"));
    }
    let points = data.points();
    let number = |point| data.number(variant, point, path).unwrap_or(f64::NAN);
    let wanted = |wanted: f64| {
        let found = points.iter().position(|x| *x == wanted);
        found.ok_or(format!("there is no point {wanted}: the points are {points:?}"))
    };
    let index = match select {
        Select::None if points.is_empty() => 0,
        Select::None => return Err(format!("`{variant}` needs a point in brackets")),
        _ if points.is_empty() => return Err("the figure has no points".to_owned()),
        Select::One(x) => wanted(x)?,
        Select::First => 0,
        Select::Last => points.len() - 1,
        Select::Range(from, to) => {
            let inside = |i: &usize| from <= points[*i] && points[*i] <= to;
            let chosen: Vec<usize> = (0..points.len()).filter(inside).collect();
            if chosen.is_empty() {
                return Err(format!("no point lies in {from}..{to}: the points are {points:?}"));
            }
            return Ok(Measured {
                points: Some(chosen.iter().map(|i| points[*i]).collect()),
                values: chosen.into_iter().map(number).collect(),
            });
        }
    };
    Ok(Measured::number(number(index)))
}

fn combine(op: Op, left: &Measured, right: &Measured) -> Result<Measured, String> {
    let points = match (&left.points, &right.points) {
        (Some(a), Some(b)) if a != b => {
            return Err(format!("lists over different points: {a:?} and {b:?}"));
        }
        (a, b) => a.clone().or_else(|| b.clone()),
    };
    let at = |value: &Measured, i: usize| match value.points {
        Some(_) => value.values[i],
        None => value.values[0],
    };
    let count = points.as_ref().map_or(1, Vec::len);
    let values = (0..count).map(|i| apply(op, at(left, i), at(right, i))).collect();
    Ok(Measured { points, values })
}

fn apply(op: Op, a: f64, b: f64) -> f64 {
    let truth = |holds: bool| if a.is_nan() || b.is_nan() { f64::NAN } else { f64::from(holds) };
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::Less => truth(a < b),
        Op::LessEqual => truth(a <= b),
        Op::Greater => truth(a > b),
        Op::GreaterEqual => truth(a >= b),
    }
}

fn call(function: Function, mut value: Measured) -> Result<Measured, String> {
    if function == Function::Abs {
        value.values.iter_mut().for_each(|x| *x = x.abs());
        return Ok(value);
    }
    let Some(points) = &value.points else {
        return Err("a function over points needs a list, as `variant[*].path` is".to_owned());
    };
    let values = &value.values;
    if values.iter().any(|x| x.is_nan()) {
        return Ok(Measured::number(f64::NAN));
    }
    let truths = || values.iter().map(|x| *x != 0.0);
    Ok(Measured::number(match function {
        Function::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Function::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        Function::Mean => values.iter().sum::<f64>() / values.len() as f64,
        Function::All => f64::from(truths().all(|holds| holds)),
        Function::Any => f64::from(truths().any(|holds| holds)),
        Function::Least => {
            let mut held = points.iter().zip(truths()).filter(|(_, holds)| *holds);
            held.next().map_or(f64::NAN, |(point, _)| *point)
        }
        Function::Abs => unreachable!("answered above"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Line;
    impl Data for Line {
        fn points(&self) -> &[f64] {
            &[0.3, 0.6, 0.9]
        }
        fn has_variant(&self, variant: &str) -> bool {
            ["a", "b"].contains(&variant)
        }
        fn number(&self, variant: &str, point: usize, path: &str) -> Option<f64> {
            let base = if variant == "a" { 1.0 } else { 10.0 };
            (path == "fct.p99.9").then_some(base * (point + 1) as f64)
        }
    }

    fn number(text: &str) -> f64 {
        let value = Expr::parse(text).unwrap().eval(&Line, Some("b")).unwrap();
        value.as_number().expect("a number")
    }

    fn error(text: &str) -> String {
        match Expr::parse(text) {
            Ok(expr) => expr.eval(&Line, None).unwrap_err().what,
            Err(error) => error.what,
        }
    }

    #[test]
    fn precedence_is_arithmetics() {
        assert_eq!(number("1 + 2 * 3 - 4 / 2"), 5.0);
        assert_eq!(number("-(1 + 2) * 3"), -9.0);
        assert_eq!(number("1 + 1 >= 2"), 1.0);
        assert_eq!(number("10 - 3 - 2"), 5.0);
    }

    #[test]
    fn references_take_points() {
        assert_eq!(number("a[0.6].fct.p99.9"), 2.0);
        assert_eq!(number("self[last].\"fct.p99.9\" / a[first].fct.p99.9"), 30.0);
        assert_eq!(number("max(a[..0.6].fct.p99.9)"), 2.0);
        assert_eq!(number("min(a[0.6..].fct.p99.9)"), 2.0);
        assert_eq!(number("mean(a[0.3..0.6].fct.p99.9)"), 1.5);
        assert_eq!(number("max(b[*].fct.p99.9 / a[*].fct.p99.9)"), 10.0);
        assert_eq!(number("least(a[*].fct.p99.9 >= 0.5 * max(a[*].fct.p99.9))"), 0.6);
        assert_eq!(number("all(a[*].fct.p99.9 < b[*].fct.p99.9)"), 1.0);
        assert_eq!(number("any(a[*].fct.p99.9 > 3)"), 0.0);
        assert_eq!(number("abs(a[0.3].fct.p99.9 - 5)"), 4.0);
    }

    #[test]
    fn what_a_run_lacks_is_nan_all_the_way() {
        assert!(number("100 * (1 - a[0.3].no / a[0.3].fct.p99.9)").is_nan());
        assert!(number("max(a[*].no)").is_nan());
        assert!(number("a[0.3].no > 1").is_nan());
        assert!(number("least(a[*].fct.p99.9 > 99)").is_nan());
    }

    #[test]
    fn mistakes_say_where() {
        assert_eq!(error("1 +"), "a number or a name is missing at the end");
        assert_eq!(error("1 2"), "an operator is missing before `2`");
        assert_eq!(error("(1"), "`)` is missing at the end");
        assert_eq!(error("c[0.3].x"), "there is no variant `c`");
        assert!(error("a[0.5].x").starts_with("there is no point 0.5"));
        assert!(error("a[0.4..0.5].x").starts_with("no point lies in 0.4..0.5"));
        assert_eq!(error("a.x"), "`a` needs a point in brackets");
        assert!(error("max(1)").starts_with("a function over points"));
        assert!(error("a[*].x + a[..0.3].x").starts_with("lists over different points"));
        assert!(error("self[0.3].x").starts_with("`self` is for panels"));
    }
}
