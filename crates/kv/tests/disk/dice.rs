//! Random numbers determined by a seed.

pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(parts: &[u64]) -> Self {
        Self(parts.iter().fold(1, |seed, part| mix(seed ^ part.wrapping_mul(0x9e37_79b9))))
    }

    /// Any number.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = mix(self.0);
        self.0
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.roll() % most
    }
}

fn mix(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}
