/// Gives the variants of an enum their names, and parses a name.
macro_rules! names {
    ($type:ident, $field:literal, { $($variant:ident = $name:literal),* }) => {
        impl $type {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name of the variant, the same in every language.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::Failure;

            /// The variant with this name. For an unknown name, a failure that lists the known names.
            fn from_str(name: &str) -> Result<Self, crate::Failure> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|choice| choice.name() == name)
                    .ok_or_else(|| crate::Failure::unknown_name($field, name, &[$($name),*]))
            }
        }

        /// Serialised as its name.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use names;
