use alloc::string::String;

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
}
