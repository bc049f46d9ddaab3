//! The core module of a component.

/// The first bytes of a component: the magic number, its version, and the layer.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
/// The id of the section of a component that is a core module.
const CORE_MODULE: u8 = 1;

/// The bytes of the first core module of a component: the compiled one. The modules after it connect it to its imports.
pub fn of_component(component: &[u8]) -> Result<&[u8], String> {
    let mut rest = component.strip_prefix(COMPONENT).ok_or("this is no component")?;
    while let Some((&id, after)) = rest.split_first() {
        let (length, after) = leb128(after).ok_or("a section has no length")?;
        let (content, next) = after.split_at_checked(length).ok_or("a section is cut off")?;
        if id == CORE_MODULE {
            return Ok(content);
        }
        rest = next;
    }
    Err("the component has no core module".into())
}

/// A number of at most 32 bits, and the bytes after it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0_usize;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_core_module_is_found() {
        let long = [7; 200];
        let bytes = [COMPONENT, &[0, 2, 9, 9], &[1, 0xc8, 0x01], &long, &[1, 1, 3]].concat();
        assert_eq!(of_component(&bytes), Ok(&long[..]));
    }

    #[test]
    fn what_is_no_component_is_refused() {
        assert!(of_component(b"\0asm\x01\0\0\0").is_err());
        assert!(of_component(&[COMPONENT, &[0, 2, 9, 9]].concat()).is_err());
        assert!(of_component(&[COMPONENT, &[1, 5, 9]].concat()).is_err());
        assert!(of_component(&[COMPONENT, &[1, 0x80, 0x80, 0x80, 0x80, 0x80]].concat()).is_err());
    }
}
