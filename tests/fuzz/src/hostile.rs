//! Values at the limits of types and beyond.

use fastrand::Rng;

/// Limits in the definitions of samedeal and in the types of its hosts.
const EDGES: [u64; 26] = [
    0,
    1,
    2,
    3,
    7,
    8,
    63,
    64,
    255,
    1000,
    1024,
    4096,
    65535,
    65536,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 2,
    (1 << 32) - 1,
    1 << 32,
    (1 << 53) - 1,
    1 << 53,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Any number. Small numbers and numbers at limits are more frequent.
pub fn number(rng: &mut Rng) -> u64 {
    match rng.u8(0..10) {
        0..4 => rng.u64(0..24),
        4..8 => edge(rng),
        8 => rng.u64(..) >> rng.u32(0..64),
        _ => rng.u64(0..5000),
    }
}

/// Any number of 32 bits, in the same way.
pub fn narrow(rng: &mut Rng) -> u32 {
    loop {
        if let Ok(number) = u32::try_from(number(rng)) {
            return number;
        }
    }
}

/// A number near another one.
pub fn near(rng: &mut Rng, number: u64) -> u64 {
    match rng.u8(0..5) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => number.wrapping_mul(2),
        3 => number / 2,
        _ => number.wrapping_add(rng.u64(0..9)).wrapping_sub(4),
    }
}

fn edge(rng: &mut Rng) -> u64 {
    let edge = EDGES[rng.usize(..EDGES.len())];
    if rng.u8(0..4) == 0 { near(rng, edge) } else { edge }
}

/// A text in place of a number in JSON: a number of the wrong type, or no number.
pub fn raw_number(rng: &mut Rng) -> String {
    let fixed = [
        "-1",
        "-0",
        "00",
        "1e400",
        "1.0",
        "1.5",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "true",
        "false",
        "null",
        "\"7\"",
        "[]",
        "{}",
        "[1]",
        "+1",
        "1e2",
        "0x10",
        "NaN",
        "-",
        "",
        "\"\"",
        "[[1]]",
        "\"0000000000000000000000000000000000000000000000000000000000000000\"",
    ];
    match rng.usize(0..fixed.len() + 3) {
        0 => "9".repeat(rng.usize(1..100)),
        1 => format!("-{}", number(rng)),
        2 => number(rng).to_string(),
        i => fixed[i - 3].into(),
    }
}

/// A text that breaks careless parsers.
pub fn text(rng: &mut Rng) -> String {
    let fixed = [
        "",
        " ",
        "\0",
        "\u{1}",
        "\n",
        "\"",
        "\\",
        "\\u0000",
        "é",
        "日本語",
        "\u{1F600}",
        "\u{FEFF}",
        "\u{202E}",
        "\u{FFFF}",
        "%s%n",
        "../../etc",
        "/",
        "a/b",
        "-",
        "--",
        "nul",
        "NaN",
        "Infinity",
        "-1",
        "0",
        "1e999",
        "__proto__",
        "constructor",
        "toString",
        "{}",
        "[]",
        "{\"samedeal\":1}",
        "null",
        "true",
        "feistel",
        "sharded",
    ];
    match rng.usize(0..fixed.len() + 4) {
        0 => "x".repeat(1 << rng.u32(0..13)),
        1 => number(rng).to_string(),
        2 => (0..rng.usize(0..12)).map(|_| rng.char(..)).collect(),
        3 => "[".repeat(1 << rng.u32(0..15)),
        i => fixed[i - 4].into(),
    }
}

/// A damaged text, in which characters were removed, doubled, replaced or added. It stays valid UTF-8.
pub fn damaged(rng: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.u8(0..3) {
        let at = rng.usize(0..=chars.len());
        let end = (at + rng.usize(0..12)).min(chars.len());
        match rng.u8(0..7) {
            0 => chars.truncate(at),
            1 => drop(chars.drain(at..end)),
            2 => drop(chars.splice(at..at, chars[at..end].to_vec())),
            3 => chars.insert(
                at,
                *rng.choice(&['"', '{', '}', '[', ']', ',', ':', '\\', '0', '-', ' ', '\n', '\0', 'é', '𝄞'])
                    .expect("some"),
            ),
            4 if at < chars.len() => chars[at] = rng.char(' '..='~'),
            5 if at < chars.len() => chars[at] = char::from(chars[at] as u8 ^ (1 << rng.u8(0..8))),
            _ => drop(chars.drain(..at)),
        }
    }
    chars.into_iter().collect()
}

/// Damaged bytes, which may be invalid UTF-8.
pub fn damaged_bytes(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.u8(0..4) {
        let at = rng.usize(0..=bytes.len());
        let end = (at + (1 << rng.u32(0..8))).min(bytes.len());
        match rng.u8(0..7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            3 => bytes.insert(at, rng.u8(..)),
            4 | 5 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(0..8),
            6 => bytes[at..end].fill(0xff),
            _ => {}
        }
    }
    bytes
}

/// A JSON text of objects in objects, or lists in lists, up to 10,000 deep.
pub fn deep(rng: &mut Rng) -> String {
    let depth = *rng.choice(&[2, 23, 24, 25, 26, 127, 128, 129, 1000, 10_000]).expect("some");
    let (open, close) = *rng
        .choice(&[
            ("{\"order\":", "}"),
            ("{\"of\":", "}"),
            ("[", "]"),
            ("{\"order\":{\"name\":\"copies\",\"copies\":1,\"of\":", "}}"),
        ])
        .expect("some");
    let middle = *rng.choice(&["{\"name\":\"feistel\",\"samples\":7}", "1", ""]).expect("some");
    let end = if rng.bool() { close.repeat(depth) } else { String::new() };
    format!("{}{middle}{end}", open.repeat(depth))
}
