//! Databases of slots: lock sets, waiters, watches, expiry, SCAN.
//!
//! Stands between the commands and the table: commands see [`Keys`], the view of one database whose
//! slots the engine has locked as a [`Held`]. What must stay true: nobody waits for a lock while
//! holding one, but for whoever has the [`Token`]; a key past its expiry is invisible, and so is a
//! field of a hash past its moment; every key that has either has an entry in its slot's expiry
//! index that is not later.
#![forbid(unsafe_code)]

mod clock;
mod counters;
mod effects;
mod event;
mod expiry;
mod fields;
mod gate;
mod held;
mod keys;
mod keyspace;
mod news;
mod parking;
mod reach;
mod scan;
mod side;
mod stale;
mod token;
mod trackers;
mod undo;
mod waiters;
mod watches;

pub use clock::{Frequency, Usage, access_clock, idle_seconds};
pub use counters::{Counters, Totals};
pub use effects::{Begun, Effects};
pub use event::{Class, Event};
pub use fields::HashMut;
pub use gate::{Closing, Gate};
pub use held::{Busy, Held, Place, Wanted};
pub use keys::{Key, Keys, Ready, SetExpiry, WrongType};
pub use keyspace::{Ahead, Keyspace};
pub use news::{Listener, Message, News};
pub use parking::Parked;
pub use scan::{Cursor, Visit};
pub use side::Side;
pub use stale::Stale;
pub use token::Token;
pub use trackers::{Interest, Tracker};
pub use waiters::{PlacedKey, Waiter};
pub use watches::{Watch, WatchedKey};

/// Unix time in milliseconds.
pub type Millis = u64;
