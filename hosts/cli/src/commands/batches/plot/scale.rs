/// A linear scale: from values, which begin at 0, to coordinates along an axis.
pub struct Scale {
    /// A round number that no value exceeds.
    pub end: f64,
    /// The distance between two marks, a round number.
    step: f64,
    /// The coordinates of 0 and of `end`.
    places: [f64; 2],
}

impl Scale {
    /// A scale for values up to `most`, with at most `marks` marks after 0. `whole`: the values are whole numbers, and
    /// so are the marks.
    pub fn new(most: f64, marks: u32, whole: bool, places: [f64; 2]) -> Self {
        let step = round_up(most / f64::from(marks));
        let step = if whole { step.max(1.0) } else { step };
        Self { end: (most / step).ceil().max(1.0) * step, step, places }
    }

    pub fn at(&self, value: f64) -> f64 {
        let [start, end] = self.places;
        start + (end - start) * (value / self.end).clamp(0.0, 1.0)
    }

    pub fn marks(&self) -> impl Iterator<Item = f64> {
        let count = (self.end / self.step).round() as u32;
        (0..=count).map(|number| f64::from(number) * self.step)
    }
}

/// The least number that is not less than `least`, among 1, 2 and 5 times the powers of ten.
pub fn round_up(least: f64) -> f64 {
    if least <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    // The quotient exceeds 10 only by rounding errors of the logarithm.
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= least * (1.0 - 1e-9));
    times.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_cover_the_values() {
        for (most, marks, end, step) in [
            (1.0, 5, 1.0, 0.2),
            (90.0, 10, 90.0, 10.0),
            (1000.0, 5, 1000.0, 200.0),
            (1001.0, 5, 1500.0, 500.0),
            (0.013, 5, 0.015, 0.005),
            (4_294_967_295.0, 8, 5e9, 1e9),
        ] {
            let scale = Scale::new(most, marks, false, [0.0, 100.0]);
            let all = scale.marks().collect::<Vec<_>>();
            assert!((scale.end - end).abs() < 1e-9 * end && (all[1] - step).abs() < 1e-9 * step, "{most}: {all:?}");
            assert_eq!((scale.at(0.0), scale.at(scale.end), scale.at(1e99)), (0.0, 100.0, 100.0));
        }
        assert_eq!(Scale::new(2.0, 5, true, [0.0, 1.0]).marks().collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        assert_eq!(Scale::new(0.0, 5, true, [0.0, 1.0]).end, 1.0);
    }
}
