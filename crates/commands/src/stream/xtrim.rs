//! XTRIM.

use super::trimming::Options;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;

pub(crate) const SPEC: Spec = Spec::new("XTRIM", "Takes the oldest entries of a stream away.")
    .syntax(
        "key trim(strategy<MAXLEN|MINID@6.2.0> [operator<equal==|approximately=~>] threshold \
         [LIMIT count:int@6.2.0]) [references<KEEPREF|DELREF|ACKED>@8.2.0]",
    )
    .group(Group::Stream)
    .since("5.0.0")
    .arity(-4)
    .write()
    .tips(&["nondeterministic_output"])
    .complexity("O(N) with N the number of entries taken away; whole blocks cost little.")
    .key(1, KeyFlags::RW.and(KeyFlags::DELETE));

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let options = Options::parse(args, false, context.keys.limits)?;
    let cut = options.cut.expect("parsing refuses XTRIM without one");
    let key = context.key(args, 1);
    let wanted = context.keys.effects.wanted() && cut.is_approximate();
    let Some(stream) = context.keys.stream_mut(&key)? else { return context.reply_integer(0) };
    let trimmed = stream.trim(&cut.trimming);
    if trimmed.count > 0 {
        let words = wanted.then(|| cut.exact_words(args, stream, &trimmed, None));
        context.keys.changed(&key, Event::stream("xtrim"));
        if let Some(words) = words {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            context.keys.effect(&words);
        }
    }
    context.reply_count(trimmed.count)
}
