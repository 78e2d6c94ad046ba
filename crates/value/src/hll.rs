//! HyperLogLog: an estimate of how many different elements there were, in a string.
//!
//! PFADD and its kin work on strings through here. Each element is hashed; fourteen bits of the
//! hash choose one of 16,384 registers, and the register keeps the longest run of zeros seen in
//! the others. The string is Redis's byte for byte, so that files, replicas and SET carry it:
//!
//! ```text
//!  0      4          5        8                16
//! +------+----------+--------+----------------+-----------
//! | HYLL | encoding | unused | last count, LE | registers
//! +------+----------+--------+----------------+-----------
//! ```
//!
//! The count's highest bit says that it is out of date. Registers are six bits each (`dense`), or
//! runs of equal ones (`sparse`). What must stay true: any bytes may come here, for any string may
//! be called a HyperLogLog; nothing panics, and what is damaged is said to be.

mod dense;
mod estimate;
mod hash;
mod sparse;

use sparse::Set;

/// Registers of every HyperLogLog.
pub const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits of the hash that choose the register.
const INDEX_BITS: u32 = 14;
/// The longest run of zeros, and one, in the rest of the hash.
const VALUE_MAX: u8 = 64 - 14 + 1;
const HEADER: usize = 16;
const MAGIC: &[u8; 4] = b"HYLL";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
/// Where the count stands, and its last byte, with the mark that it is out of date.
const COUNT: std::ops::Range<usize> = 8..16;
const COUNT_TOP: usize = 15;
const OUT_OF_DATE: u8 = 0x80;

/// Why a string is not worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It does not begin as a HyperLogLog.
    Foreign,
    /// It begins as one, but its registers cannot be read.
    Corrupt,
}

/// How the registers stand in the string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Six bits each.
    Dense,
    /// Runs of equal ones.
    Sparse,
}

/// The encoding of a string that begins as a HyperLogLog.
pub fn encoding(text: &[u8]) -> Result<Encoding, Fault> {
    if text.len() < HEADER || !text.starts_with(MAGIC) {
        return Err(Fault::Foreign);
    }
    match text[MAGIC.len()] {
        DENSE if text.len() == HEADER + dense::BYTES => Ok(Encoding::Dense),
        SPARSE => Ok(Encoding::Sparse),
        _ => Err(Fault::Foreign),
    }
}

/// A HyperLogLog that has seen nothing.
pub fn empty() -> Vec<u8> {
    let mut text = header(SPARSE);
    sparse::push_zeros(&mut text, REGISTERS);
    text
}

fn header(encoding: u8) -> Vec<u8> {
    let mut text = Vec::with_capacity(HEADER + 2);
    text.extend_from_slice(MAGIC);
    text.push(encoding);
    text.resize(HEADER, 0);
    text
}

/// The count that was kept in a HyperLogLog, unless it is out of date.
pub fn kept_count(text: &[u8]) -> Option<u64> {
    let bytes: [u8; 8] = text.get(COUNT)?.try_into().ok()?;
    (bytes[7] & OUT_OF_DATE == 0).then_some(u64::from_le_bytes(bytes))
}

/// Keeps a count in a HyperLogLog.
pub fn keep_count(text: &mut [u8], count: u64) {
    if let Some(bytes) = text.get_mut(COUNT) {
        bytes.copy_from_slice(&count.to_le_bytes());
    }
}

/// Marks the count in a HyperLogLog as out of date: its registers changed.
pub fn outdate_count(text: &mut [u8]) {
    if let Some(top) = text.get_mut(COUNT_TOP) {
        *top |= OUT_OF_DATE;
    }
}

/// Estimates from the registers how many elements there were.
///
/// # Errors
/// The string is not a HyperLogLog, or a damaged one.
pub fn count(text: &[u8]) -> Result<u64, Fault> {
    let mut histogram = [0; estimate::VALUES];
    match encoding(text)? {
        Encoding::Dense => {
            dense::each(&text[HEADER..], |_, value| histogram[usize::from(value)] += 1);
        }
        Encoding::Sparse => sparse::each_run(&text[HEADER..], |run| {
            histogram[usize::from(run.value)] += run.length;
        })?,
    }
    Ok(estimate::estimate(&histogram))
}

/// Adds an element to a dense HyperLogLog where it stands; true if a register changed.
pub fn add_dense(text: &mut [u8], element: &[u8]) -> Result<bool, Fault> {
    if encoding(text)? != Encoding::Dense {
        return Err(Fault::Foreign);
    }
    let (index, value) = place_of(element);
    Ok(dense::raise(&mut text[HEADER..], index, value))
}

/// Adds an element; true if a register changed. A sparse one that grows beyond `sparse_bytes_max`
/// becomes dense.
///
/// # Errors
/// The string is not a HyperLogLog, or a damaged one.
pub fn add(text: &mut Vec<u8>, element: &[u8], sparse_bytes_max: usize) -> Result<bool, Fault> {
    let (index, value) = place_of(element);
    raise(text, index, value, sparse_bytes_max)
}

/// Makes a register at least `value`; true if that changed it.
fn raise(
    text: &mut Vec<u8>,
    index: usize,
    value: u8,
    sparse_bytes_max: usize,
) -> Result<bool, Fault> {
    if encoding(text)? == Encoding::Sparse {
        match sparse::raise(text, HEADER, index, value, sparse_bytes_max)? {
            Set::Unchanged => return Ok(false),
            Set::Changed => return Ok(true),
            Set::DoesNotFit => make_dense(text)?,
        };
    }
    Ok(dense::raise(&mut text[HEADER..], index, value))
}

/// The register of an element, and the value that it asks for.
fn place_of(element: &[u8]) -> (usize, u8) {
    let hash = hash::murmur64a(element, hash::SEED);
    let index = hash & (REGISTERS as u64 - 1);
    // A one behind the last bit bounds the run.
    let rest = hash >> INDEX_BITS | 1 << (u64::BITS - INDEX_BITS);
    let run = rest.trailing_zeros() + 1;
    let small = "fourteen bits, and at most 51";
    (usize::try_from(index).expect(small), u8::try_from(run).expect(small))
}

/// Makes a HyperLogLog dense; false if it was.
///
/// # Errors
/// The string is not a HyperLogLog, or a damaged one.
pub fn make_dense(text: &mut Vec<u8>) -> Result<bool, Fault> {
    if encoding(text)? == Encoding::Dense {
        return Ok(false);
    }
    let mut registers = Registers::default();
    registers.merge(text)?;
    let mut dense = header(DENSE);
    dense[HEADER - COUNT.len()..].copy_from_slice(&text[COUNT]);
    dense.resize(HEADER + dense::BYTES, 0);
    for (index, value) in registers.nonzero() {
        dense::raise(&mut dense[HEADER..], index, value);
    }
    *text = dense;
    Ok(true)
}

/// The runs of a sparse HyperLogLog in words, as PFDEBUG DECODE shows them. None: it is dense.
///
/// # Errors
/// The string is not a HyperLogLog. Damage is not looked for.
pub fn describe_runs(text: &[u8]) -> Result<Option<String>, Fault> {
    Ok(match encoding(text)? {
        Encoding::Dense => None,
        Encoding::Sparse => Some(sparse::describe(&text[HEADER..])),
    })
}

/// The registers of one HyperLogLog or of several together, a byte each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers(Box<[u8; REGISTERS]>);

impl Default for Registers {
    fn default() -> Registers {
        Registers(Box::new([0; REGISTERS]))
    }
}

impl Registers {
    /// Raises each register to that of a HyperLogLog.
    ///
    /// # Errors
    /// The string is not a HyperLogLog, or a damaged one; some registers may have been raised.
    pub fn merge(&mut self, text: &[u8]) -> Result<(), Fault> {
        let own = &mut self.0;
        match encoding(text)? {
            Encoding::Dense => dense::each(&text[HEADER..], |index, value| {
                own[index] = own[index].max(value);
            }),
            Encoding::Sparse => sparse::each_run(&text[HEADER..], |run| {
                if run.value > 0 {
                    let part = &mut own[run.first..run.first + run.length];
                    part.iter_mut().for_each(|own| *own = (*own).max(run.value));
                }
            })?,
        }
        Ok(())
    }

    /// Raises the registers of a HyperLogLog to these.
    ///
    /// # Errors
    /// The string is not a HyperLogLog, or a damaged one; some registers may have been raised.
    pub fn raise_in(&self, text: &mut Vec<u8>, sparse_bytes_max: usize) -> Result<(), Fault> {
        for (index, value) in self.nonzero() {
            raise(text, index, value, sparse_bytes_max)?;
        }
        Ok(())
    }

    /// Lets them see an element.
    pub fn add(&mut self, element: &[u8]) {
        let (index, value) = place_of(element);
        self.0[index] = self.0[index].max(value);
    }

    /// Estimates how many elements there were.
    pub fn count(&self) -> u64 {
        let mut histogram = [0; estimate::VALUES];
        self.0.iter().for_each(|value| histogram[usize::from(*value)] += 1);
        estimate::estimate(&histogram)
    }

    /// All of them.
    pub fn values(&self) -> &[u8] {
        &self.0[..]
    }

    fn nonzero(&self) -> impl Iterator<Item = (usize, u8)> {
        self.0.iter().copied().enumerate().filter(|(_, value)| *value > 0)
    }
}

#[cfg(test)]
mod tests;
