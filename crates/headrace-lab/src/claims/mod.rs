//! Published claims and what is measured beside them.
//!
//! A figure of a paper is a folder `papers/<paper>/<figure>/` with a `figure.toml` ([`figure`]):
//! what it shows, the grid of runs (variants of one scenario x points of an axis x seeds), the
//! panels of its picture, and the claims. Numbers are named by small expressions ([`expr`]).
//! [`reproduce::reproduce`] runs a figure; verdicts ([`verdict`]) are computed from measurements
//! alone.

pub mod expr;
pub mod figure;
pub mod grid;
pub mod picture;
pub mod report;
pub mod reproduce;
pub mod source;
pub mod verdict;
