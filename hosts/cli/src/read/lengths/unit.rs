use clap::ValueEnum;

/// The unit that is counted where samples themselves are stored, and not their lengths.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Of text: what stands between white space
    Words,
    /// Of text: Unicode scalar values
    Characters,
    /// Of bytes, or of text in UTF-8
    Bytes,
    /// Of lists: what they hold
    Items,
}

impl Unit {
    /// The name of the unit, as `--length-unit` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Characters => "characters",
            Self::Bytes => "bytes",
            Self::Items => "items",
        }
    }
}
