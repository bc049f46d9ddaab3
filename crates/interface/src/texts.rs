use alloc::string::String;
use alloc::vec::Vec;

use crate::Component;
use crate::bindings::{texts, types};

impl texts::Guest for Component {
    fn inspect(text: String) -> Result<texts::TextKind, types::Failure> {
        let samedeal_core::TextKind { form, of } = samedeal_core::inspect(&text)?;
        Ok(texts::TextKind { form: form.into(), of: of.into() })
    }

    fn recipe_after(state: String, sections: String) -> Result<String, types::Failure> {
        Ok(samedeal_core::recipe_after(&state, &sections)?)
    }

    fn differences(one: String, other: String) -> Result<Vec<texts::Difference>, types::Failure> {
        let found = samedeal_core::differences(&one, &other)?.into_iter();
        let record = |samedeal_core::Difference { path, one, other, decides }| texts::Difference {
            path,
            one,
            other,
            decides: decides.into(),
        };
        Ok(found.map(record).collect())
    }

    fn whole_weights(bits: Vec<u64>) -> Result<Vec<u64>, types::Failure> {
        Ok(samedeal_core::whole_weights(&bits)?)
    }
}
