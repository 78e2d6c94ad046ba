//! PFSELFTEST: whether estimates on this machine are as good as they must be.

use crate::{Args, Context, Error, Group, Outcome, Spec};
use caudal_value::hll::{self, Registers};

pub(crate) const SPEC: Spec =
    Spec::new("PFSELFTEST", "Checks the estimates of HyperLogLogs of many sizes.")
        .internal()
        .group(Group::HyperLogLog)
        .since("2.8.9")
        .arity(1)
        .admin()
        .complexity("N/A");

/// So many elements take some milliseconds, during which this worker does nothing else.
const ELEMENTS: u64 = 100_000;
/// Six times the standard deviation of 16,384 registers, 1.04 / 128.
const ERROR_MAX: f64 = 6.0 * 0.008_125;

pub(crate) fn apply(context: &mut Context<'_, '_>, _: Args<'_>) -> Outcome {
    let bytes_max = context.keys.limits.hll_sparse_bytes_max;
    let mut text = hll::empty();
    for seen in 1..=ELEMENTS {
        hll::add(&mut text, &context.random.next_u64().to_le_bytes(), bytes_max)?;
        if seen.is_power_of_two() || seen == ELEMENTS {
            let estimate = hll::count(&text)?;
            let mut registers = Registers::default();
            registers.merge(&text)?;
            // Below a few hundred one collision is more than the error that is to be expected.
            let is_near = estimate.abs_diff(seen) as f64 <= (seen as f64 * ERROR_MAX).max(3.0);
            if !is_near || registers.count() != estimate {
                return Err(Error::new(format!(
                    "TESTFAILED Too big error. card: {seen}, estimate: {estimate}"
                )));
            }
        }
    }
    context.reply_ok()
}
