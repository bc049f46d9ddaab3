//! A command line that makes the batches of a strategy, for users to copy.

use clap::ValueEnum;
use serde_json::Value;

use super::strategies::Members;
use crate::commands::numbers::BatchesArgs;

/// The given command, with the options of one strategy in place of a comparison.
pub fn of(args: &BatchesArgs, options: &Members) -> String {
    let (epoch, by_length) = (&args.epoch, &args.by_length);
    let deal = &epoch.deal;
    let mut words = vec!["samedeal".to_owned(), "batches".to_owned()];
    words.extend(epoch.dataset.paths.iter().map(|path| quoted(&path.display().to_string())));
    words.push("--lengths".to_owned());
    words.extend(by_length.lengths.iter().flatten().map(|column| quoted(column)));
    let unit = by_length.length_unit.and_then(|unit| Some(unit.to_possible_value()?.get_name().to_owned()));
    let given = [
        ("length-unit", unit),
        ("epoch", Some(deal.epoch).filter(|epoch| *epoch > 0).map(|epoch| epoch.to_string())),
        ("strategy", options.get("strategy").map(said)),
    ];
    let mut push = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    let order = deal.order.options().chain(deal.deal.options());
    order.for_each(|(option, _, value)| push(option, &said(value)));
    for (name, value) in given {
        value.iter().for_each(|value| push(name, value));
    }
    for (name, value) in options.iter().filter(|(name, _)| *name != "strategy") {
        push(&name.replace('_', "-"), &said(value));
    }
    words.join(" ")
}

fn said(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Array(list) => list.iter().map(said).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

/// The word, quoted for a POSIX shell where necessary.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, told) in [("a/b-1.npy", "a/b-1.npy"), ("", "''"), ("my file", "'my file'"), ("it's", "'it'\\''s'")] {
            assert_eq!(super::quoted(word), told);
        }
    }
}
