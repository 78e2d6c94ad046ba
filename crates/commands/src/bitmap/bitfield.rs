//! BITFIELD, BITFIELD_RO: integers of any width inside a string.

use super::field::{Overflow, Shape};
use super::{BAD_OFFSET, byte_of, checked_offset};
use crate::string::edit;
use crate::string::text::Text;
use crate::{Args, Context, DONE, Error, Flags, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::Event;
use caudal_table::ValueRef;
use caudal_text::integer;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).group(Group::Bitmap).arity(-2).complexity("O(1) for each field.")
}

pub(crate) const BITFIELD: Spec =
    spec("BITFIELD", "Reads and changes integers inside the string at a key.")
        .syntax(
            "key [operation<GET get-block(encoding offset:int)|\
             write([OVERFLOW overflow-block<WRAP|SAT|FAIL>] write-operation<SET \
             set-block(encoding offset:int value:int)|INCRBY incrby-block(encoding offset:int \
             increment:int)>)>...]",
        )
        .since("3.2.0")
        .flag(Flags::WRITE)
        .deny_oom()
        .key(1, KeyFlags::RW.and(KeyFlags::ACCESS).and(KeyFlags::UPDATE).and(KeyFlags::VARIABLE))
        .key_note("it is written only by SET and INCRBY");

pub(crate) const BITFIELD_RO: Spec =
    spec("BITFIELD_RO", "Reads integers inside the string at a key.")
        .syntax("key [GET... get-block(encoding offset:int)]")
        .since("6.0.0")
        .readonly()
        .fast()
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// One thing to do with one integer.
#[derive(Clone, Copy)]
struct Step {
    shape: Shape,
    /// Of its first bit.
    offset: u64,
    action: Action,
}

#[derive(Clone, Copy)]
enum Action {
    Get,
    Set(i64, Overflow),
    Add(i64, Overflow),
}

impl Step {
    fn parse_all(context: &Context<'_, '_>, args: Args<'_>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        let mut overflow = Overflow::Wrap;
        let mut cursor = args.cursor(2);
        while cursor.left() > 0 {
            let operands = cursor.left() - 1;
            let make: fn(i64, Overflow) -> Action = if operands >= 2 && cursor.take("GET") {
                |_, _| Action::Get
            } else if operands >= 3 && cursor.take("SET") {
                Action::Set
            } else if operands >= 3 && cursor.take("INCRBY") {
                Action::Add
            } else if operands >= 1 && cursor.take("OVERFLOW") {
                overflow = parse_overflow(args, cursor.index())?;
                cursor.next();
                continue;
            } else {
                return Err(Error::SYNTAX);
            };
            let at = cursor.index();
            let shape = Shape::parse(args.at(at))?;
            let offset = parse_offset(context, args.at(at + 1), shape)?;
            let is_get = matches!(make(0, overflow), Action::Get);
            let value = if is_get { 0 } else { args.integer(at + 2)? };
            steps.push(Step { shape, offset, action: make(value, overflow) });
            cursor = args.cursor(at + if is_get { 2 } else { 3 });
        }
        Ok(steps)
    }

    /// Bytes that the string must have to hold the field.
    fn reach(&self) -> usize {
        byte_of(self.offset + u64::from(self.shape.bits()) - 1) + 1
    }

    /// Does it; returns the reply, none where an overflow failed.
    fn run(&self, text: &mut [u8]) -> Option<i64> {
        let old = self.shape.read(text, self.offset);
        let (new, is_old_wanted) = match self.action {
            Action::Get => return Some(old),
            Action::Set(value, overflow) => (self.shape.fit(value, overflow)?, true),
            Action::Add(more, overflow) => (self.shape.add(old, more, overflow)?, false),
        };
        self.shape.write(text, self.offset, new);
        Some(if is_old_wanted { old } else { new })
    }
}

fn parse_overflow(args: Args<'_>, index: usize) -> Result<Overflow, Error> {
    const NAMES: [(&str, Overflow); 3] =
        [("WRAP", Overflow::Wrap), ("SAT", Overflow::Saturate), ("FAIL", Overflow::Fail)];
    let named = NAMES.into_iter().find(|(name, _)| args.is(index, name));
    let (_, overflow) = named.ok_or(Error::text("ERR Invalid OVERFLOW type specified"))?;
    Ok(overflow)
}

/// An offset in bits, or behind `#` in fields.
fn parse_offset(context: &Context<'_, '_>, word: &[u8], shape: Shape) -> Result<u64, Error> {
    let (digits, unit) = match word {
        [b'#', digits @ ..] => (digits, i64::from(shape.bits())),
        digits => (digits, 1),
    };
    let offset = integer::parse_i64(digits).and_then(|offset| offset.checked_mul(unit));
    checked_offset(context, offset.ok_or(BAD_OFFSET)?)
}

pub(crate) fn bitfield(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let steps = Step::parse_all(context, args)?;
    let writes = steps.iter().filter(|step| !matches!(step.action, Action::Get));
    let Some(length_min) = writes.map(Step::reach).max() else {
        return read(context, args, &steps);
    };
    let key = context.key(args, 1);
    let run = |text: &mut [u8]| {
        let before_and_after = |step: &Step| {
            let before = step.shape.read(text, step.offset);
            let reply = step.run(text);
            (reply, before != step.shape.read(text, step.offset))
        };
        steps.iter().map(before_and_after).collect::<Vec<_>>()
    };
    let (replies, grew) = edit::change(&mut context.keys, &key, length_min, run)?;
    if grew || replies.iter().any(|(_, changed)| *changed) {
        context.keys.changed(&key, Event::string("setbit"));
    }
    context.reply.array(replies.len());
    for (reply, _) in replies {
        match reply {
            Some(number) => context.reply.integer(number),
            None => context.reply.null(),
        }
    }
    DONE
}

pub(crate) fn bitfield_ro(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const READS_ONLY: Error = Error::text("ERR BITFIELD_RO only supports the GET subcommand");
    let steps = Step::parse_all(context, args)?;
    if steps.iter().any(|step| !matches!(step.action, Action::Get)) {
        return Err(READS_ONLY);
    }
    read(context, args, &steps)
}

fn read(context: &mut Context<'_, '_>, args: Args<'_>, steps: &[Step]) -> Outcome {
    let key = context.key(args, 1);
    let text = Text::of(context.keys.string(&key)?.unwrap_or(ValueRef::Bytes(&[])));
    context.reply.array(steps.len());
    steps.iter().for_each(|step| context.reply.integer(step.shape.read(&text, step.offset)));
    DONE
}
