//! Division of many numbers by the same divisor, by products alone, because a division takes processors several times
//! as long as a product.

/// A divisor, and its inverse: about 2^64 divided by it.
#[derive(Clone, Copy)]
pub struct Divisor {
    value: u64,
    inverse: u64,
}

impl Divisor {
    /// A divisor for `value`, which is not 0.
    pub fn new(value: u64) -> Self {
        Self { value, inverse: u64::MAX.checked_div(value).unwrap_or_default() }
    }

    /// The divisor as a number.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub fn divide(&self, number: u64) -> (u64, u64) {
        // The inverse is less than 1 + 1 / value below 2^64 / value, so this estimate is at most 2 below the quotient.
        let mut quotient = upper(number, self.inverse);
        let mut rest = number - quotient * self.value;
        for _ in 0..2 {
            if rest >= self.value {
                quotient += 1;
                rest -= self.value;
            }
        }
        (quotient, rest)
    }

    /// Quotient and remainder of a number below [`SMALL`].
    #[inline(always)]
    pub fn divide_small(&self, number: u64) -> (u64, u64) {
        // The upper half of the inverse is less than 1 + 2^-32 below 2^32 / value, so this estimate is at most 1 below
        // the quotient.
        let quotient = (number * (self.inverse >> 32)) >> 32;
        let rest = number - quotient * self.value;
        let more = u64::from(rest >= self.value);
        (quotient + more, rest - more * self.value)
    }
}

/// Numbers below this are divided by [`Divisor::divide_small`].
pub const SMALL: u64 = 1 << 31;

/// The upper half of a product. WebAssembly has no instruction for it, and calls a function for products of 128 bits.
#[inline(always)]
fn upper(a: u64, b: u64) -> u64 {
    if cfg!(target_arch = "wasm32") {
        let (low_a, high_a, low_b, high_b) = (a & 0xffff_ffff, a >> 32, b & 0xffff_ffff, b >> 32);
        let middle = high_a * low_b + ((low_a * low_b) >> 32);
        let other = low_a * high_b + (middle & 0xffff_ffff);
        high_a * high_b + (middle >> 32) + (other >> 32)
    } else {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{Divisor, SMALL};

    #[test]
    fn divides_as_a_division_does() {
        let ends = [
            0,
            1,
            2,
            3,
            5,
            7,
            10,
            255,
            256,
            1_000_003,
            (1 << 27) - 1,
            SMALL - 1,
            1 << 32,
            (1 << 53) - 1,
            1 << 53,
            1 << 63,
            u64::MAX,
        ];
        for value in ends
            .into_iter()
            .skip(1)
            .chain((0..300).map(|at| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at) >> (at % 50) | 1))
        {
            let divisor = Divisor::new(value);
            assert_eq!(divisor.value(), value);
            for number in
                ends.into_iter().chain((0..300).map(|at| 0xd134_2543_de82_ef95_u64.wrapping_mul(at) >> (at % 60)))
            {
                let near = number / value * value;
                for number in [number, near, near.wrapping_sub(1), near.wrapping_add(value - 1)] {
                    let expected = (number / value, number % value);
                    assert_eq!(divisor.divide(number), expected, "{number} / {value}");
                    if number < SMALL {
                        assert_eq!(divisor.divide_small(number), expected, "{number} / {value}");
                    }
                }
            }
        }
    }
}
