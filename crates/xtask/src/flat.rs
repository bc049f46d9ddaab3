//! Reads the one JSON object that `samedeal replay` and the programs of the demo in Python and JavaScript print:
//! strings, numbers and lists of numbers, without nesting.

/// The fields of an object, in their order. A string has no quotes; any other value has no spaces: `[3, 1]` becomes
/// `[3,1]`.
pub fn fields(json: &str) -> Result<Vec<(String, String)>, String> {
    let mut rest = Rest(json.trim());
    let mut fields = Vec::new();
    rest.expect('{')?;
    loop {
        let key = rest.string()?;
        rest.expect(':')?;
        let value = if rest.0.starts_with('"') { rest.string()? } else { rest.bare()? };
        fields.push((key, value));
        if rest.expect(',').is_err() {
            rest.expect('}')?;
            return if rest.0.is_empty() { Ok(fields) } else { Err(format!("text after the object: {}", rest.0)) };
        }
    }
}

/// The text that is not read yet. It never begins with a space.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn expect(&mut self, character: char) -> Result<(), String> {
        let rest = self.0.strip_prefix(character).ok_or_else(|| format!("expected {character} before: {}", self.0))?;
        self.0 = rest.trim_start();
        Ok(())
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let (text, rest) = self.0.split_once('"').ok_or("a string without an end")?;
        if text.contains('\\') {
            return Err(format!("an escape in the string {text}"));
        }
        self.0 = rest.trim_start();
        Ok(text.into())
    }

    fn bare(&mut self) -> Result<String, String> {
        let end = match self.0.strip_prefix('[') {
            Some(list) => 2 + list.find(']').ok_or("a list without an end")?,
            None => self.0.find([',', '}']).ok_or("an object without an end")?,
        };
        let (value, rest) = self.0.split_at(end);
        self.0 = rest.trim_start();
        let value: String = value.split_whitespace().collect();
        if value.is_empty() { Err("a field without a value".into()) } else { Ok(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_object() {
        let json = "{\"engine\": \"node (v20)\", \"first\": [3, 1],\n \"seconds\": 0.25, \"last\":[]}\n";
        let expected = [("engine", "node (v20)"), ("first", "[3,1]"), ("seconds", "0.25"), ("last", "[]")];
        assert_eq!(fields(json).unwrap(), expected.map(|(key, value)| (key.to_string(), value.to_string())));
    }

    #[test]
    fn rejects_what_is_none() {
        for json in ["", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1} x", "{\"a\":[1}", "{\"a\":\"\\n\"}"] {
            assert!(fields(json).is_err(), "{json}");
        }
    }
}
