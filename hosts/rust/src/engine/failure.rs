//! Conversion of the interface's failures.

use super::types;
use crate::{Error, Fact, Failure, FailureKind};

impl From<types::Failure> for Failure {
    fn from(types::Failure { kind, field, path, value, allowed, facts }: types::Failure) -> Self {
        let facts = facts.into_iter().map(Fact::from).collect();
        Self { kind: FailureKind::from(kind), field, path, value, allowed, facts }
    }
}

impl From<types::Failure> for Error {
    fn from(failure: types::Failure) -> Self {
        Failure::from(failure).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_a_later_component_has_its_name() {
        let later = types::Failure {
            kind: "too-late".into(),
            field: "epoch".into(),
            path: "epoch".into(),
            value: "7".into(),
            allowed: "up to 6".into(),
            facts: vec![types::Fact { name: "max".into(), value: "6".into() }],
        };
        let failure = Failure::from(later);
        assert_eq!((failure.kind.name(), failure.max(), failure.min()), ("too-late", Some(6), None));
        assert_eq!(failure.kind, FailureKind::Other("too-late".into()));
        assert_eq!(failure.to_string(), "epoch is 7; allowed: up to 6");
    }
}
