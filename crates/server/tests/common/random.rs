//! Random choices from a seed, so that a failure can be had again.

/// A sequence of numbers that its seed decides: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed that an environment variable asks for, else another one each time.
    pub(crate) fn seed_from(variable: &str) -> u64 {
        let asked = std::env::var(variable).ok();
        asked.map_or_else(
            || {
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                now.unwrap().subsec_nanos().into()
            },
            |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")),
        )
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap();
        usize::try_from(self.number() % end).unwrap()
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// A number that an environment variable gives, else `default`.
pub(crate) fn asked(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number"))
    })
}
