//! The table of the members of recipes, which is the core's.

/// A member, as the table has it.
pub struct Member<'a> {
    pub name: &'a str,
    pub kind: &'a str,
    pub place: &'a str,
    pub default: &'a str,
    pub text: &'a str,
}

/// The rows of a table in Markdown. A cell that is empty in the first column is that of the row before.
pub fn rows(table: &str) -> Vec<(&str, Member<'_>)> {
    let mut object = "";
    let mut found = Vec::new();
    for line in table.lines().skip(2) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let [own, name, kind, place, default, text] = cells[..] {
            if !own.is_empty() {
                object = own;
            }
            found.push((object, Member { name: name.trim_matches('`'), kind, place, default, text }));
        }
    }
    found
}
