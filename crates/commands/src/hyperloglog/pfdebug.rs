//! PFDEBUG: the registers of a HyperLogLog and how they are kept.

use super::find;
use crate::string::edit;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Key, SetExpiry};
use caudal_value::hll::{self, Encoding, REGISTERS, Registers};

pub(crate) const SPEC: Spec = Spec::new("PFDEBUG", "Shows the inside of a HyperLogLog.")
    .syntax("subcommand key")
    .internal()
    .group(Group::HyperLogLog)
    .since("2.8.9")
    .arity(3)
    .write()
    .deny_oom()
    .admin()
    .complexity("N/A")
    .key(2, KeyFlags::RW.and(KeyFlags::ACCESS));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const NO_KEY: Error = Error::text("ERR The specified key does not exist");
    const NOT_SPARSE: Error = Error::text("ERR HLL encoding is not sparse");
    if args.is(1, "SIMD") {
        return choose_instructions(context, args);
    }
    let key = context.key(args, 2);
    let (text, encoding) = find(&context.keys, &key)?.ok_or(NO_KEY)?;
    if args.is(1, "GETREG") {
        let mut registers = Registers::default();
        registers.merge(&text)?;
        make_dense(context, &key)?;
        context.reply.array(REGISTERS);
        registers.values().iter().for_each(|value| context.reply.integer(i64::from(*value)));
    } else if args.is(1, "DECODE") {
        let runs = hll::describe_runs(&text)?.ok_or(NOT_SPARSE)?;
        context.reply.bulk(runs.as_bytes());
    } else if args.is(1, "ENCODING") {
        context.reply.status(match encoding {
            Encoding::Dense => "dense",
            Encoding::Sparse => "sparse",
        });
    } else if args.is(1, "TODENSE") {
        let was_sparse = make_dense(context, &key)?;
        return context.reply_integer(i64::from(was_sparse));
    } else {
        return Err(Error::quoting("ERR Unknown PFDEBUG subcommand '", args.at(1), "'"));
    }
    DONE
}

/// There is one way to count here; the words are taken so that test suites run.
fn choose_instructions(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    if args.is(2, "ON") {
        context.reply.status("enabled");
    } else if args.is(2, "OFF") {
        context.reply.status("disabled");
    } else {
        return Err(Error::text("ERR Argument must be ON or OFF"));
    }
    DONE
}

/// Makes the HyperLogLog at a key dense; false if it was.
fn make_dense(context: &mut Context<'_, '_>, key: &Key<'_>) -> Result<bool, Error> {
    let Some((text, Encoding::Sparse)) = find(&context.keys, key)? else { return Ok(false) };
    let mut text = text.to_vec();
    hll::make_dense(&mut text)?;
    edit::store(&mut context.keys, key, text, SetExpiry::Keep);
    context.keys.changed_quietly(key);
    Ok(true)
}
