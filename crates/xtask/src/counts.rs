//! The number of tests that a suite ran, read from the output of its test runner.

/// The results of one or more suites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }

    /// Adds up the summary lines of cargo test, pytest, node --test and Playwright in a log.
    pub fn read(log: &str) -> Counts {
        log.lines().map(summary).fold(Counts::default(), Counts::plus)
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{} passed", self.passed)?;
        for (number, word) in [(self.failed, "failed"), (self.skipped, "skipped")] {
            if number > 0 {
                write!(out, ", {number} {word}")?;
            }
        }
        Ok(())
    }
}

/// The counts of one line, if it is a summary.
fn summary(line: &str) -> Counts {
    let line = line.trim().trim_matches('=').trim();
    if let Some(result) = line.strip_prefix("test result:") {
        let result = result.split_once('.').map_or(result, |(_, counts)| counts);
        return pairs(result.split(';'));
    }
    for mark in ["# ", "ℹ "] {
        if let Some((word, number)) = line.strip_prefix(mark).and_then(|rest| rest.split_once(' ')) {
            return tally(number, word);
        }
    }
    // Playwright has a line for each count: "2 failed", "31 passed (4.2s)"
    let mut words = line.split_whitespace();
    if let (Some(number), Some(word), rest) = (words.next(), words.next(), words.next())
        && rest.is_none_or(|time| time.starts_with('('))
    {
        return tally(number, word);
    }
    // pytest: "2 failed, 31 passed, 1 skipped in 4.20s"
    match line.split_once(" in ") {
        Some((counts, time)) if time.starts_with(|first: char| first.is_ascii_digit()) => pairs(counts.split(',')),
        _ => Counts::default(),
    }
}

fn pairs<'a>(parts: impl Iterator<Item = &'a str>) -> Counts {
    parts
        .filter_map(|part| part.trim().split_once(' '))
        .map(|(number, word)| tally(number, word))
        .fold(Counts::default(), Counts::plus)
}

fn tally(number: &str, word: &str) -> Counts {
    let Ok(number) = number.parse() else { return Counts::default() };
    match word {
        "passed" | "pass" | "xfailed" => Counts { passed: number, ..Counts::default() },
        "failed" | "fail" | "cancelled" | "error" | "errors" => Counts { failed: number, ..Counts::default() },
        "ignored" | "skipped" | "todo" => Counts { skipped: number, ..Counts::default() },
        _ => Counts::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
        Counts { passed, failed, skipped }
    }

    #[test]
    fn reads_cargo() {
        let log = "test a ... ok\n\
                   test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
                   test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.5s\n";
        assert_eq!(Counts::read(log), counts(15, 2, 1));
    }

    #[test]
    fn reads_pytest() {
        assert_eq!(Counts::read("==== 2 failed, 31 passed, 1 skipped in 4.20s ====\n"), counts(31, 2, 1));
        assert_eq!(Counts::read("31 passed in 4.20s"), counts(31, 0, 0));
        assert_eq!(Counts::read("== 1 passed, 2 warnings, 1 error in 64.20s (0:01:04) =="), counts(1, 1, 0));
        assert_eq!(Counts::read("4 passed in silence"), counts(0, 0, 0));
    }

    #[test]
    fn reads_playwright() {
        assert_eq!(
            Counts::read("  2 failed\n    a.spec.ts:3:1 › a\n  1 skipped\n  31 passed (1.2m)\n"),
            counts(31, 2, 1)
        );
    }

    #[test]
    fn reads_node() {
        assert_eq!(Counts::read("# tests 5\n# pass 4\n# fail 1\n# cancelled 0\n# skipped 0\n"), counts(4, 1, 0));
        assert_eq!(Counts::read("ℹ tests 5\nℹ pass 5\nℹ fail 0\n"), counts(5, 0, 0));
    }
}
