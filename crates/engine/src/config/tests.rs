//! The configuration as a whole.

use super::*;

#[test]
fn the_defaults_are_valid() {
    assert_eq!(Config::default().net.port, 6379);
}
