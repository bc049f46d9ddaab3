//! The Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), which PyTorch and Python draw from.

const N: usize = 624;
const M: usize = 397;

pub(super) struct Mt19937 {
    state: [u32; N],
    /// The index of the next word, or `N` at the end of a round.
    next: usize,
}

impl Mt19937 {
    /// `init_genrand` of the reference implementation.
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [0; N];
        let mut last = seed;
        state[0] = seed;
        for (i, word) in (1..).zip(&mut state[1..]) {
            last = (last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i);
            *word = last;
        }
        Self { state, next: 0 }
    }

    /// `init_by_array` of the reference implementation, for at least one word.
    pub(super) fn from_words(key: &[u32]) -> Self {
        let Self { mut state, .. } = Self::new(19_650_218);
        let mut i = 1;
        let mut j = 0;
        for _ in 0..N.max(key.len()) {
            let last = state[i - 1];
            let mixed = state[i] ^ (last ^ (last >> 30)).wrapping_mul(1_664_525);
            state[i] = mixed.wrapping_add(key[j]).wrapping_add(j as u32);
            i = Self::after(i, &mut state);
            j = (j + 1) % key.len();
        }
        for _ in 1..N {
            let last = state[i - 1];
            let mixed = state[i] ^ (last ^ (last >> 30)).wrapping_mul(1_566_083_941);
            state[i] = mixed.wrapping_sub(i as u32);
            i = Self::after(i, &mut state);
        }
        state[0] = 1 << 31;
        Self { state, next: 0 }
    }

    fn after(i: usize, state: &mut [u32; N]) -> usize {
        if i + 1 < N {
            return i + 1;
        }
        state[0] = state[N - 1];
        1
    }

    /// The next word. The reference implementation computes the `N` words of a round before the first draw. Here each
    /// word is computed when it is drawn, so that few draws cost little. The words are the same, since no word depends
    /// on a later word of its round.
    pub(super) fn next(&mut self) -> u32 {
        let i = if self.next < N { self.next } else { 0 };
        let after = if i + 1 < N { i + 1 } else { 0 };
        let far = if i < N - M { i + M } else { i + M - N };
        let y = (self.state[i] & 0x8000_0000) | (self.state[after] & 0x7fff_ffff);
        let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
        let mut y = self.state[far] ^ (y >> 1) ^ odd;
        self.state[i] = y;
        self.next = i + 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// A number of 64 bits, from two words: the first word is the upper half.
    pub(super) fn next_u64(&mut self) -> u64 {
        let upper = u64::from(self.next());
        upper << 32 | u64::from(self.next())
    }
}
