//! Registers of six bits each, the lowest bits first: four in three bytes.

use super::REGISTERS;

/// Bytes of all registers.
pub(super) const BYTES: usize = REGISTERS * BITS / 8;
const BITS: usize = 6;
const MASK: u8 = (1 << BITS) - 1;
const _: () = assert!(BYTES.is_multiple_of(3) && MASK >= super::VALUE_MAX);

/// Makes a register at least `value`; true if that changed it.
pub(super) fn raise(registers: &mut [u8], index: usize, value: u8) -> bool {
    let (group, shift) = (index / 4 * 3, index % 4 * BITS);
    let word = word_at(&registers[group..group + 3]);
    let old = register(word, shift);
    if old >= value {
        return false;
    }
    let word = word & !(u32::from(MASK) << shift) | u32::from(value) << shift;
    registers[group..group + 3].copy_from_slice(&word.to_le_bytes()[..3]);
    true
}

/// Calls `each` with every register and its value.
pub(super) fn each(registers: &[u8], mut each: impl FnMut(usize, u8)) {
    for (group, bytes) in registers.chunks_exact(3).enumerate() {
        let word = word_at(bytes);
        for at in 0..4 {
            each(group * 4 + at, register(word, at * BITS));
        }
    }
}

/// The register at a shift.
#[allow(clippy::cast_possible_truncation, reason = "the mask is that of a byte")]
fn register(word: u32, shift: usize) -> u8 {
    (word >> shift) as u8 & MASK
}

/// Four registers.
fn word_at(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])
}
