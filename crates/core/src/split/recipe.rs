//! The recipe of a split.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Split;
use crate::base::failure::{at_most, only, range};
use crate::base::memory::{collect, grow};
use crate::state::fields::{Fields, Key, Kind};
use crate::state::recipe::{self, VERSION};
use crate::state::{numbers, quoted, signed_text};
use crate::{Failure, MAX_EXACT};

const OF_OTHERS: Kind = Kind::Elsewhere("none in the recipe of a split: it has the section split alone");

const SECTIONS: &[Key] = &[
    recipe::SAMEDEAL,
    Key { name: "split", field: "split", kind: Kind::Section(SPLIT) },
    Key { name: "order", field: "order", kind: OF_OTHERS },
    Key { name: "deal", field: "deal", kind: OF_OTHERS },
    Key { name: "shards", field: "shards", kind: OF_OTHERS },
    Key { name: "batch", field: "batch", kind: OF_OTHERS },
    Key { name: "steps", field: "steps", kind: OF_OTHERS },
];
const SPLIT: &[Key] = &[
    Key { name: "seed", field: "seed", kind: Kind::Signed },
    Key { name: "samples", field: "samples", kind: Kind::COUNT },
    Key { name: "parts", field: "parts", kind: Kind::Objects(PART) },
];
const PART: &[Key] = &[
    Key { name: "name", field: "part", kind: Kind::Text },
    Key { name: "weight", field: "weight", kind: Kind::COUNT },
    Key { name: "size", field: "size", kind: Kind::COUNT },
];

const MAX_PARTS: usize = 1 << 16;
const MAX_NAME: usize = 256;

impl Split {
    /// Reads a document. Failures: those of a recipe; `split`, any field of it; `out-of-memory`.
    #[inline(never)]
    pub fn read(text: &str) -> Result<Self, Failure> {
        let fields = recipe::fields(text, SECTIONS, &[], &[])?;
        let Some(split) = fields.section("split") else {
            return Err(Failure::missing("split", "the section that has the parts"));
        };
        let objects = split.objects("parts");
        let Some(first) = objects.first() else {
            return Err(Failure::missing("parts", "the names of the parts, and their weights or sizes"));
        };
        if objects.len() > MAX_PARTS {
            return Err(Failure::out_of_range("parts", format!("{} objects", objects.len()), at_most(MAX_PARTS)));
        }
        let by_size = first.has("size");
        let [own, other] = if by_size { ["size", "weight"] } else { ["weight", "size"] };
        let mut shares: Vec<(String, u64)> = collect("parts", objects.len(), [])?;
        // Names are texts of their own: there has to be room for all of them.
        grow("parts", 2 * text.len() + 64 * objects.len(), &mut Vec::<u8>::new())?;
        let mut names = BTreeSet::new();
        for part in objects {
            let name = part_name(part, &mut names)?;
            if let (Some(weight), true) = (part.count("weight"), part.has("size")) {
                return Err(Failure::contradiction("weight", weight, "a weight or a size"));
            }
            let Some(share) = part.count(own) else {
                return Err(match part.count(other) {
                    Some(value) if !by_size => {
                        Failure::contradiction(other, value, "weights, as the first part has one")
                    }
                    _ if by_size => Failure::missing("size", "the number of samples of each part"),
                    _ => Failure::missing("weight", "the weight, or the size, of each part"),
                });
            };
            shares.push((name.to_string(), share));
        }
        let total = check_sum(own, &shares)?;
        match split.count("samples") {
            Some(samples) if !by_size => {
                return Err(Failure::contradiction(
                    "samples",
                    samples,
                    "none with weights, which need no number of ids",
                ));
            }
            Some(samples) if samples != total => {
                return Err(Failure::contradiction("samples", samples, only(total).and(", the sum of the sizes")));
            }
            _ => {}
        }
        Self::new(split.signed("seed").unwrap_or(0), by_size, shares)
    }

    /// The canonical text: JSON in one line, with every field that there is, the defaults too.
    #[inline(never)]
    pub fn text(&self) -> String {
        let kind = if self.by_size { "size" } else { "weight" };
        let mut text = format!("{{\"samedeal\":{VERSION},\"split\":{{\"seed\":{}", signed_text(self.seed));
        if self.by_size {
            text += &format!(",\"samples\":{}", self.ids);
        }
        let parts =
            self.parts.iter().map(|part| format!("{{\"name\":{},\"{kind}\":{}}}", quoted(&part.name), part.share));
        text + &format!(",\"parts\":{}}}}}", numbers::list(parts))
    }

    /// SHA-256 over the canonical text, in hexadecimal.
    pub fn fingerprint(&self) -> String {
        recipe::fingerprint(&self.text())
    }
}

/// Failures: `part`.
fn part_name<'a>(part: &'a Fields, names: &mut BTreeSet<&'a str>) -> Result<&'a str, Failure> {
    let Some(name) = part.text("part") else {
        return Err(Failure::missing("part", "a name for each part"));
    };
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Failure::out_of_range("part", crate::base::failure::shorten(name), "a name of 1 to 256 bytes"));
    }
    if !names.insert(name) {
        return Err(Failure::contradiction("part", name, "each name once"));
    }
    Ok(name)
}

/// The sum of the shares. Failures: `field`.
fn check_sum(field: &'static str, shares: &[(String, u64)]) -> Result<u64, Failure> {
    let mut total = 0_u64;
    for &(_, share) in shares {
        let most = MAX_EXACT - total;
        if share > most {
            return Err(Failure::out_of_range(field, share, range(0, most).and(": all together are at most 2^53 - 1")));
        }
        total += share;
    }
    if total == 0 {
        return Err(Failure::out_of_range(field, 0, range(1, MAX_EXACT).and(": not all of them are 0")));
    }
    Ok(total)
}
