//! Launchers.

use matrix::format::{Call, Case, Subject};

use super::asked;

pub fn cases() -> Vec<Case> {
    vec![
        asked("variables", Subject::Functions {}, [Call::Variables]),
        case("nothing set", &[], None, None),
        case(
            "torchrun",
            &[("RANK", "1"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "1"), ("LOCAL_WORLD_SIZE", "2")],
            None,
            None,
        ),
    ]
}

fn case(name: &str, environment: &[(&str, &str)], rank: Option<u32>, world: Option<u32>) -> Case {
    let environment = environment.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    asked(name, Subject::Functions {}, [Call::Detect { environment, rank, world }])
}
