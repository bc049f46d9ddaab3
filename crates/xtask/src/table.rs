//! Aligned tables for people.

/// Lines of columns, two spaces apart, under a heading; numbers stand to the right.
pub fn render(heading: &[Vec<String>], rows: &[Vec<String>]) -> String {
    let all = || heading.iter().chain(rows);
    let columns = all().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| pad(cell, width)).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    let rule = "-".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1));
    let mut text: String = heading.iter().map(line).collect();
    text.extend([rule.as_str(), "\n"]);
    text.extend(rows.iter().map(line));
    text
}

fn pad(cell: &str, width: usize) -> String {
    let number = cell.starts_with(|first: char| first.is_ascii_digit())
        && cell.chars().all(|character| character.is_ascii_digit() || matches!(character, '.' | ','));
    if number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}

/// `17012` as `17,012`; a text that is no whole number stays as it is.
pub fn thousands(number: &str) -> String {
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.into();
    }
    let mut text = String::new();
    for (place, digit) in number.chars().enumerate() {
        if place > 0 && (number.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.into()).collect()
    }

    #[test]
    fn columns_align() {
        let text = render(&[row(&["", "rust"])], &[row(&["samples", "7"]), row(&["order", "feistel"])]);
        assert_eq!(text, "         rust\n----------------\nsamples        7\norder    feistel\n");
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, expected) in [("0", "0"), ("999", "999"), ("17012", "17,012"), ("1234567", "1,234,567")] {
            assert_eq!(thousands(number), expected);
        }
        assert_eq!(thousands("1.5"), "1.5");
    }
}
