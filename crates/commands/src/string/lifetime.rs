//! `EX`, `PX`, `EXAT`, `PXAT`: how long a string is to live, in SET, GETEX, MSETEX, SETEX; or
//! fields of a hash, in HGETEX, HSETEX.
//!
//! What must stay true: a resolved moment is after zero and fits a signed 64-bit number of
//! milliseconds.

use crate::{Args, Cursor, Error};
use caudal_keyspace::{Millis, SetExpiry};
use caudal_text::integer;

/// What an amount of time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// `EX`: seconds from now.
    Seconds,
    /// `PX`: milliseconds from now.
    Millis,
    /// `EXAT`: seconds since 1970.
    UnixSeconds,
    /// `PXAT`: milliseconds since 1970.
    UnixMillis,
}

/// An amount of time as a client wrote it; it becomes a moment when all words are known to be in
/// their place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime<'a> {
    pub(crate) unit: Unit,
    pub(crate) amount: &'a [u8],
}

impl<'a> Lifetime<'a> {
    /// Takes an option with its amount from a cursor, if one comes next.
    pub(crate) fn take(cursor: &mut Cursor<'a>) -> Option<Lifetime<'a>> {
        const OPTIONS: [(&str, Unit); 4] = [
            ("EX", Unit::Seconds),
            ("PX", Unit::Millis),
            ("EXAT", Unit::UnixSeconds),
            ("PXAT", Unit::UnixMillis),
        ];
        if cursor.left() < 2 {
            return None;
        }
        let (_, unit) = OPTIONS.into_iter().find(|(word, _)| cursor.take(word))?;
        Some(Lifetime { unit, amount: cursor.next().expect("two words were left") })
    }

    /// The moment at which it ends. `command` is named by the error of one that cannot be told in
    /// milliseconds, or that is not after zero.
    pub(crate) fn end(self, now: Millis, command: &str) -> Result<Millis, Error> {
        self.end_from(1, now, command)
    }

    /// The same where zero is an amount too: a moment that is over.
    pub(crate) fn end_or_past(self, now: Millis, command: &str) -> Result<Millis, Error> {
        self.end_from(0, now, command)
    }

    fn end_from(self, least: u64, now: Millis, command: &str) -> Result<Millis, Error> {
        let amount = integer::parse_i64(self.amount).ok_or(Error::NOT_INTEGER)?;
        let amount = u64::try_from(amount).ok().filter(|amount| *amount >= least);
        let millis = match self.unit {
            Unit::Seconds | Unit::UnixSeconds => amount.and_then(|at| at.checked_mul(1000)),
            Unit::Millis | Unit::UnixMillis => amount,
        };
        let end = match self.unit {
            Unit::Seconds | Unit::Millis => millis.and_then(|after| after.checked_add(now)),
            Unit::UnixSeconds | Unit::UnixMillis => millis,
        };
        end.filter(|end| i64::try_from(*end).is_ok()).ok_or_else(|| Error::expire_time(command))
    }
}

/// What a command that stores a string says about the key's expiry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expiry<'a> {
    /// Nothing: the key has none afterwards.
    Clear,
    /// `KEEPTTL`.
    Keep,
    /// One of the four options.
    After(Lifetime<'a>),
}

impl<'a> Expiry<'a> {
    /// Takes an option on expiry from a cursor, if one comes next. It may be said twice, but only
    /// in one way.
    pub(crate) fn take(&mut self, cursor: &mut Cursor<'a>) -> Result<bool, Error> {
        let said = if cursor.take("KEEPTTL") {
            Expiry::Keep
        } else if let Some(lifetime) = Lifetime::take(cursor) {
            Expiry::After(lifetime)
        } else {
            return Ok(false);
        };
        let fits = match (&self, &said) {
            (Expiry::Clear, _) | (Expiry::Keep, Expiry::Keep) => true,
            (Expiry::After(before), Expiry::After(now)) => before.unit == now.unit,
            _ => false,
        };
        *self = said;
        if fits { Ok(true) } else { Err(Error::SYNTAX) }
    }

    /// What is done with the key's expiry; errors as [`Lifetime::end`].
    pub(crate) fn resolve(self, now: Millis, command: &str) -> Result<SetExpiry, Error> {
        Ok(match self {
            Expiry::Clear => SetExpiry::Clear,
            Expiry::Keep => SetExpiry::Keep,
            Expiry::After(lifetime) => SetExpiry::At(lifetime.end(now, command)?),
        })
    }

    /// The same; errors as [`Lifetime::end_or_past`].
    pub(crate) fn resolve_or_past(self, now: Millis, command: &str) -> Result<SetExpiry, Error> {
        match self {
            Expiry::After(lifetime) => Ok(SetExpiry::At(lifetime.end_or_past(now, command)?)),
            _ => self.resolve(now, command),
        }
    }
}

/// What a command that reads says about the expiry of what it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LifetimeChange<'a> {
    /// Nothing: it stays.
    Nothing,
    /// `PERSIST`: there is none afterwards.
    Persist,
    /// One of the four options.
    Expire(Lifetime<'a>),
}

impl<'a> LifetimeChange<'a> {
    /// Reads the words from `first` on. An option may be said twice, but only in one way.
    pub(crate) fn parse(args: Args<'a>, first: usize) -> Result<LifetimeChange<'a>, Error> {
        use LifetimeChange::{Expire, Nothing, Persist};
        let mut cursor = args.cursor(first);
        let mut change = Nothing;
        while cursor.left() > 0 {
            let said = if cursor.take("PERSIST") {
                Persist
            } else {
                Lifetime::take(&mut cursor).map(Expire).ok_or(Error::SYNTAX)?
            };
            change = match (change, said) {
                (Nothing, _) | (Persist, Persist) => said,
                (Expire(one), Expire(two)) if one.unit == two.unit => said,
                _ => return Err(Error::SYNTAX),
            };
        }
        Ok(change)
    }
}
