//! The arguments of the command, as its help lists them, and random command lines from them.

use std::io;
use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use fuzz::hostile;

use crate::inputs::FILES;

/// A subcommand.
struct Sub {
    name: String,
    options: Vec<Opt>,
    /// The command lines of its examples, without the name of the subcommand.
    examples: Vec<Vec<String>>,
}

struct Opt {
    name: String,
    /// The placeholder of the value in the help, such as RANKS; empty if the option takes no value.
    value: String,
    /// The allowed values, if the help lists them.
    allowed: Vec<String>,
}

pub struct Surface {
    subs: Vec<Sub>,
}

impl Surface {
    /// Reads the help of the command, so that new options are used without a change here.
    pub fn read(program: &Path) -> io::Result<Self> {
        let all = help(program, &["--help"])?;
        let names = section(&all, "Commands:").filter_map(|line| line.split_whitespace().next());
        let mut subs = Vec::new();
        for name in names {
            if name == "help" {
                continue;
            }
            let text = help(program, &[name, "--help"])?;
            subs.push(Sub { name: name.into(), options: options(&text), examples: examples(&text, name) });
        }
        if subs.len() < 10 || subs.iter().map(|sub| sub.options.len()).sum::<usize>() < 100 {
            return Err(io::Error::other("the help has another form than this program reads"));
        }
        Ok(Self { subs })
    }

    /// Number of options of all subcommands.
    pub fn count(&self) -> usize {
        self.subs.iter().map(|sub| sub.options.len()).sum()
    }

    /// A random command line: an example or nothing, followed by other words.
    pub fn words(&self, rng: &mut Rng) -> Vec<String> {
        let sub = &self.subs[rng.usize(..self.subs.len())];
        let mut words = if sub.examples.is_empty() || rng.u8(0..4) == 0 {
            Vec::new()
        } else {
            sub.examples[rng.usize(..sub.examples.len())].clone()
        };
        // The files that the examples name do not exist here, so names of existing files replace them.
        for word in &mut words {
            if word.contains('/') || word.contains('.') && !word.starts_with('-') {
                *word = if rng.bool() { "shards".into() } else { file(rng) };
            }
        }
        for _ in 0..[0, 0, 1, 1, 1, 2, 4][rng.usize(..7)] {
            let at = rng.usize(0..=words.len());
            match rng.u8(0..10) {
                0 if at < words.len() => drop(words.remove(at)),
                1 if at < words.len() => words[at] = hostile::damaged(rng, &words[at]),
                2 if at < words.len() => words[at] = number(rng),
                3 => words.insert(at, file(rng)),
                4 if rng.bool() => words.insert(at, hostile::text(rng)),
                _ if !sub.options.is_empty() => {
                    let option = &sub.options[rng.usize(..sub.options.len())];
                    words.extend(option.words(rng));
                }
                _ => {}
            }
        }
        words.insert(0, sub.name.clone());
        // An argument of a process cannot have a zero byte, or be very long.
        words.iter_mut().for_each(|word| word.retain(|c| c != '\0'));
        words.retain(|word| word.len() < 1 << 16);
        words
    }
}

impl Opt {
    fn words(&self, rng: &mut Rng) -> Vec<String> {
        if self.value.is_empty() {
            return vec![self.name.clone()];
        }
        let value = match rng.u8(0..12) {
            0 => hostile::text(rng),
            1 => file(rng),
            2..9 if !self.allowed.is_empty() => self.allowed[rng.usize(..self.allowed.len())].clone(),
            _ if self.value == "PATH=FILE" => {
                format!("{}={}", ["sizes", "of/indices", "classes"][rng.usize(..3)], file(rng))
            }
            _ if self.value.contains("FILE") => {
                if self.name.contains("out") || self.name == "--plot" {
                    format!("made-{}", rng.u8(0..3))
                } else {
                    file(rng)
                }
            }
            _ if self.value.contains(':') || self.value.contains(',') || self.value.contains('@') => {
                let part = |rng: &mut Rng| if rng.bool() { number(rng) } else { "a".into() };
                let mark = if self.value.contains('@') { '@' } else { ':' };
                (0..rng.usize(1..4)).map(|_| part(rng)).collect::<Vec<_>>().join(&mark.to_string())
            }
            _ => number(rng),
        };
        if rng.bool() { vec![format!("{}={value}", self.name)] } else { vec![self.name.clone(), value] }
    }
}

/// A number that asks for little, or a text that no option accepts as a number.
fn number(rng: &mut Rng) -> String {
    match rng.u8(0..8) {
        0 => hostile::raw_number(rng),
        1 => ["1e400", "1e15", "9007199254740991", "9007199254740992", "18446744073709551616", "1_0", "1.5e1", "-5"]
            [rng.usize(..8)]
        .into(),
        2 => rng.u32(0..3000).to_string(),
        _ => rng.u32(0..20).to_string(),
    }
}

fn file(rng: &mut Rng) -> String {
    match rng.u8(0..8) {
        0 => "nothing-there".into(),
        // No device: a command that renames its output onto a device would break the machine.
        1 => ".".into(),
        2 => "-".into(),
        3 => "shards".into(),
        _ => FILES[rng.usize(..FILES.len())].into(),
    }
}

fn help(program: &Path, words: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(words).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The indented lines after a heading.
fn section<'a>(text: &'a str, heading: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().skip_while(move |line| *line != heading).skip(1).take_while(|line| line.starts_with(' '))
}

fn options(text: &str) -> Vec<Opt> {
    let mut options: Vec<Opt> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('-')
            && let Some(at) = line.find("--")
            && !line.starts_with("- ")
        {
            let rest = line[at..].split("  ").next().unwrap_or_default();
            let end = rest.find(['[', ' ', '=', '<']).unwrap_or(rest.len());
            let value =
                rest.split_once('<').and_then(|(_, value)| value.split_once('>')).map_or("", |(value, _)| value);
            options.push(Opt { name: rest[..end].into(), value: value.into(), allowed: Vec::new() });
        } else if let Some(option) = options.last_mut() {
            if let Some(values) = line.strip_prefix("[possible values: ") {
                option.allowed = values.trim_end_matches(']').split(", ").map(String::from).collect();
            } else if let Some((value, _)) = line.strip_prefix("- ").and_then(|line| line.split_once(':')) {
                option.allowed.push(value.into());
            }
        }
    }
    options.retain(|option| option.name != "--help");
    options
}

fn examples(text: &str, name: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("samedeal ")?.strip_prefix(name));
    lines
        .map(|line| {
            line.split_whitespace().take_while(|word| !["|", ">", "&&"].contains(word)).map(String::from).collect()
        })
        .collect()
}
