//! [`XorshiftGenerator`]: reproducible random numbers. Tests compute their expected results from
//! them.

/// A generator of random numbers (xorshift with the shifts 13, 7 and 17). Its state is not 0. It
/// gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct XorshiftGenerator(pub u64);

impl XorshiftGenerator {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number in 0..limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }
}
