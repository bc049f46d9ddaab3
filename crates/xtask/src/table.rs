//! Aligned tables for people.

/// A table under a heading, with two spaces between columns. A column that has only numbers is aligned to the right.
pub fn render(heading: &[Vec<String>], rows: &[Vec<String>]) -> String {
    let all = || heading.iter().chain(rows);
    let columns: Vec<(usize, bool)> = (0..all().map(Vec::len).max().unwrap_or(0))
        .map(|column| {
            let width = all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
            (width, rows.iter().filter_map(|row| row.get(column)).all(|cell| is_number(cell)))
        })
        .collect();
    let pad = |(cell, &(width, right)): (&String, &(usize, bool))| {
        if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
    };
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&columns).map(pad).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    let width = columns.iter().map(|(width, _)| width + 2).sum::<usize>().saturating_sub(2);
    let mut text: String = heading.iter().map(line).collect();
    text.extend(["-".repeat(width).as_str(), "\n"]);
    text.extend(rows.iter().map(line));
    text
}

fn is_number(cell: &str) -> bool {
    cell.starts_with(|first: char| first.is_ascii_digit())
        && cell.chars().all(|character| character.is_ascii_digit() || matches!(character, '.' | ','))
}

/// A whole number with commas: `17012` becomes `17,012`. Any other text stays as it is.
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
        let rows = [row(&["samples", "7", "7"]), row(&["order", "feistel", "1,024"])];
        let expected = "         rust      node\n-----------------------\n\
                        samples  7            7\norder    feistel  1,024\n";
        assert_eq!(render(&[row(&["", "rust", "node"])], &rows), expected);
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, expected) in [("0", "0"), ("999", "999"), ("17012", "17,012"), ("1234567", "1,234,567")] {
            assert_eq!(thousands(number), expected);
        }
        assert_eq!(thousands("1.5"), "1.5");
    }
}
