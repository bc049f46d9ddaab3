//! NumPy arrays of one dimension. They are read here, because the format is small, and crates for it bring a parser of
//! Python literals along.

use std::io::{ErrorKind, Read};

use super::collected::Collected;

/// The longest header that is read: far more than one dimension needs.
const HEADER: u32 = 1 << 16;

/// Bytes that are read at a time; a multiple of every width.
const PIECE: usize = 1 << 16;

/// The integers of an array.
struct Integers {
    count: u64,
    /// Bytes of each integer.
    width: usize,
    is_signed: bool,
    is_big_endian: bool,
}

/// Adds the lengths in an array.
pub fn read(file: impl Read, lengths: &mut Collected) -> Result<(), String> {
    integers(file, |number| lengths.number(number))
}

/// Calls `add` for each number of an array.
pub fn integers(mut file: impl Read, mut add: impl FnMut(i128) -> Result<(), String>) -> Result<(), String> {
    let Integers { count, width, is_signed, is_big_endian } = header(&mut file)?;
    let mut piece = vec![0; PIECE];
    let (mut row, mut left) = (0_u64, count.checked_mul(width as u64).ok_or_else(|| short(count))?);
    while left > 0 {
        let bytes = &mut piece[..left.min(PIECE as u64) as usize];
        file.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => short(count),
            _ => format!("cannot be read: {error}"),
        })?;
        for value in bytes.chunks_exact(width) {
            add(integer(value, is_signed, is_big_endian)).map_err(|why| format!("value {row} {why}"))?;
            row += 1;
        }
        left -= bytes.len() as u64;
    }
    match file.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(format!("has more than the {count} values that its header names; write it again")),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

fn short(count: u64) -> String {
    format!("ends before the {count} values that its header names; write it again")
}

fn header(file: &mut impl Read) -> Result<Integers, String> {
    let broken = |_| "not a NumPy file, or cut off: write it again with numpy.save".to_owned();
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(broken)?;
    let [magic @ .., major, _] = start;
    if &magic != b"\x93NUMPY" {
        return Err("not a NumPy file, or cut off: write it again with numpy.save".to_owned());
    }
    let mut size = [0; 4];
    match major {
        1 => file.read_exact(&mut size[..2]),
        2 | 3 => file.read_exact(&mut size),
        _ => return Err(format!("is in version {major} of the format of NumPy; known: 1, 2, 3")),
    }
    .map_err(broken)?;
    let size = u32::from_le_bytes(size);
    if size > HEADER {
        return Err(format!("has a header of {size} bytes; an array of integers has one of less than {HEADER}"));
    }
    let mut text = vec![0; size as usize];
    file.read_exact(&mut text).map_err(broken)?;
    described(&String::from_utf8_lossy(&text))
}

/// The type and the shape in a header, such as `{'descr': '<i8', 'fortran_order': False, 'shape': (9,), }`.
fn described(header: &str) -> Result<Integers, String> {
    let after = |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let (Some(kind), Some(shape)) = (after("descr"), after("shape")) else {
        return Err("has a header without 'descr' or 'shape': write it again with numpy.save".to_owned());
    };
    let allowed = "allowed: an array of whole numbers of 8 to 64 bits";
    let kind = kind.strip_prefix('\'').and_then(|kind| kind.split_once('\'')).map(|(kind, _)| kind);
    let kind = kind.ok_or_else(|| format!("holds records; {allowed}, such as one field of them"))?;
    let other = || format!("holds values of the type {kind:?}; {allowed}");
    let mut letters = kind.chars();
    let (Some(order @ ('<' | '>' | '|')), Some(sign @ ('i' | 'u'))) = (letters.next(), letters.next()) else {
        return Err(other());
    };
    let width: usize = letters.as_str().parse().ok().filter(|it| [1, 2, 4, 8].contains(it)).ok_or_else(other)?;
    let shape = shape.strip_prefix('(').and_then(|shape| shape.split_once(')')).map_or("", |(shape, _)| shape);
    let axes: Vec<_> = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty()).collect();
    let count = match axes[..] {
        [count] => count.parse().ok(),
        _ => None,
    };
    let count = count.ok_or_else(|| {
        format!("holds an array of the shape ({shape}); allowed: one dimension, the length of each sample")
    })?;
    Ok(Integers { count, width, is_signed: sign == 'i', is_big_endian: order == '>' })
}

/// An integer of up to 8 bytes.
fn integer(bytes: &[u8], is_signed: bool, is_big_endian: bool) -> i128 {
    let fold = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
    let value = if is_big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
    // The sign is the highest bit of the bytes: shifting up and down repeats this bit in the unused upper bits.
    let unused = 64 - 8 * bytes.len() as u32;
    if is_signed { ((value << unused).cast_signed() >> unused).into() } else { value.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(version: u8, header: &str, values: &[u8]) -> Vec<u8> {
        let mut file = [&b"\x93NUMPY"[..], &[version, 0]].concat();
        let size = (header.len() as u32).to_le_bytes();
        file.extend(if version == 1 { &size[..2] } else { &size });
        [&file, header.as_bytes(), values].concat()
    }

    fn lengths(file: &[u8]) -> Result<Vec<u32>, String> {
        let mut lengths = Collected::default();
        read(file, &mut lengths).map(|()| lengths.lengths)
    }

    #[test]
    fn integers_of_every_kind_are_read() {
        for (kind, values, expected) in [
            ("|u1", &[0, 200][..], [0, 200]),
            ("|i1", &[0, 100], [0, 100]),
            ("<u2", &[1, 2, 255, 255], [0x201, 65_535]),
            (">i2", &[1, 2, 0x7f, 255], [0x102, 32_767]),
            ("<i4", &[1, 0, 0, 0, 0, 0, 0, 1], [1, 1 << 24]),
            (">u4", &[255, 255, 255, 255, 0, 0, 0, 1], [u32::MAX, 1]),
            ("<i8", &[7, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0], [7, u32::MAX]),
            (">u8", &[0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 255, 255, 255, 255], [7, u32::MAX]),
        ] {
            for version in 1..=3 {
                for order in ["False", "True"] {
                    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': (2,), }}   \n");
                    assert_eq!(lengths(&array(version, &header, values)), Ok(expected.to_vec()), "{kind} {version}");
                }
            }
        }
        assert_eq!(lengths(&array(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (0,)}", &[])), Ok(vec![]));
    }

    #[test]
    fn what_is_no_list_of_lengths_is_refused() {
        let header = |kind: &str, shape: &str| format!("{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}");
        for (file, said) in [
            (b"PK\x03\x04 and more".to_vec(), "not a NumPy file"),
            (b"\x93NUM".to_vec(), "cut off"),
            (array(9, "", &[]), "version 9"),
            (array(2, "{}", &[]), "without 'descr'"),
            (array(1, &header("'<f8'", "(1,)"), &[0; 8]), "of the type \"<f8\"; allowed: an array of whole numbers"),
            (array(1, &header("'|b1'", "(1,)"), &[0]), "of the type \"|b1\""),
            (array(1, &header("'<i3'", "(1,)"), &[0; 3]), "of the type \"<i3\""),
            (array(1, &header("[('n', '<i8')]", "(1,)"), &[0; 8]), "holds records"),
            (array(1, &header("'<i8'", "(1, 1)"), &[0; 8]), "of the shape (1, 1)"),
            (array(1, &header("'<i8'", "()"), &[0; 8]), "of the shape ()"),
            (array(1, &header("'<i8'", "(2,)"), &[0; 15]), "ends before the 2 values"),
            (array(1, &header("'<i8'", "(9223372036854775807,)"), &[0; 15]), "ends before"),
            (array(1, &header("'<i8'", "(2,)"), &[0; 17]), "has more than the 2 values"),
            (array(1, &header("'|i1'", "(3,)"), &[1, 2, 253]), "value 2 is -3; allowed: whole numbers from 0"),
            (array(1, &header("'<u8'", "(1,)"), &[255; 8]), "value 0 is 18446744073709551615;"),
            ([&b"\x93NUMPY\x02\x00"[..], &[255; 9]].concat(), "a header of 4294967295 bytes"),
        ] {
            let found = lengths(&file).unwrap_err();
            assert!(found.contains(said), "{found}, not {said}");
        }
    }
}
