//! From the registers' values to the number of elements: Otmar Ertl, "New cardinality estimation
//! algorithms for HyperLogLog sketches", 2017 (arXiv:1702.01284), section 4.

use super::{REGISTERS, VALUE_MAX};

/// Values that a histogram has room for: six bits, of which those above the largest mean nothing.
pub(super) const VALUES: usize = 64;

/// The estimate for `histogram[value]` registers of each value.
#[allow(clippy::cast_possible_truncation, reason = "rounded, and never negative or near 2^64")]
pub(super) fn estimate(histogram: &[usize; VALUES]) -> u64 {
    /// 1 / (2 ln 2)
    const ALPHA: f64 = 0.721_347_520_444_481_7;
    const COUNT: f64 = REGISTERS as f64;
    let top = usize::from(VALUE_MAX);
    let mut sum = COUNT * tau((COUNT - histogram[top] as f64) / COUNT);
    for count in histogram[1..top].iter().rev() {
        sum = (sum + *count as f64) * 0.5;
    }
    sum += COUNT * sigma(histogram[0] as f64 / COUNT);
    (ALPHA * COUNT * COUNT / sum).round() as u64
}

/// The sum of x^(2^k) 2^(k-1) over k from 1 on, and x: what registers that are zero tell.
fn sigma(x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut weight, mut sum) = (x, 1.0, x);
    loop {
        power *= power;
        let before = sum;
        sum += power * weight;
        weight += weight;
        if before == sum {
            return sum;
        }
    }
}

/// A third of 1 - x less the sum of (1 - x^(2^-k))^2 2^-k: what registers at their largest tell.
fn tau(x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut root, mut weight, mut sum) = (x, 1.0, 1.0 - x);
    loop {
        root = root.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - root) * (1.0 - root) * weight;
        if before == sum {
            return sum / 3.0;
        }
    }
}
