//! The interface as a page of the site, in Markdown. Each interface, type and function has a heading and an anchor, and
//! signatures link to the types that they name. The anchor of a method is `interface.resource.method`.

use std::collections::BTreeSet;
use std::fmt::Write;

use wit_parser::{Docs, InterfaceId, Type, TypeDefKind, TypeId, WorldItem};

use crate::Files;
use crate::wit::{self, Shape, Signature, Wit};
use crate::words::spelled;

/// The number of visible characters up to which a signature stays on one line. A longer one has a line for each
/// parameter.
const WIDTH: usize = 76;

/// The page, by the name of its file.
pub fn pages(wit: Wit<'_>) -> Result<Files, String> {
    let manual = Manual { wit, anchors: anchors(wit) };
    let package = &wit.resolve.packages[wit.package];
    let mut text = format!(
        "# The interface of the component (WIT)\n\nThe package `{}`. It is the reference manual of all languages: the libraries call \
         these functions, with names in the style of their language.\n\n| world | what it is | interfaces |\n|---|---|---|\n",
        package.name
    );
    for (name, &world) in &package.worlds {
        let world = &wit.resolve.worlds[world];
        let mut exports = Vec::new();
        for item in world.exports.values() {
            let WorldItem::Interface { id, .. } = item else {
                return Err(format!("{name}: an export is no interface"));
            };
            let export = wit.interface(*id).name.as_deref().ok_or("an interface has no name")?;
            exports.push(format!("[{export}](#{export})"));
        }
        let what = wit::text(&world.docs).split("\n\n").next().unwrap_or_default();
        let what = what.replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(text, "| `{name}` | {what} | {} |", exports.join(", "));
    }
    text += "\n| interface | types | functions |\n|---|---|---|\n";
    for (name, id) in wit.interfaces() {
        let link = |item: &str| format!("[{item}](#{name}.{item})");
        let types: Vec<_> = manual.types(id).map(|(name, _)| link(name)).collect();
        let functions: Vec<_> = wit.signatures(id, None).map(|signature| link(signature.name)).collect();
        let _ = writeln!(text, "| [{name}](#{name}) | {} | {} |", types.join(", "), functions.join(", "));
    }
    for (name, id) in wit.interfaces() {
        manual.interface(&mut text, name, id)?;
    }
    Ok(Files::from([("wit.md".to_owned(), text)]))
}

/// All anchors of the page.
fn anchors(wit: Wit<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, id) in wit.interfaces() {
        let interface = wit.interface(id);
        let functions = wit.functions(id).map(|signature| path(wit, &signature));
        let items = interface.types.keys().cloned().chain(functions);
        found.extend(items.map(|item| format!("{name}.{item}")).chain([name.to_owned()]));
    }
    found
}

/// The name of a function within its interface. The name of a method begins with its resource.
fn path(wit: Wit<'_>, signature: &Signature<'_>) -> String {
    match signature.resource {
        Some(resource) => format!("{}.{}", wit.name(resource), signature.name),
        None => signature.name.to_owned(),
    }
}

struct Manual<'a> {
    wit: Wit<'a>,
    anchors: BTreeSet<String>,
}

impl<'a> Manual<'a> {
    /// The types that an interface defines, without types that it takes from other interfaces.
    fn types(&self, id: InterfaceId) -> impl Iterator<Item = (&'a str, TypeId)> {
        let types = self.wit.interface(id).types.iter();
        types.map(|(name, id)| (name.as_str(), *id)).filter(|(_, own)| self.defined(*own) == *own)
    }

    /// The definition of a type. If an interface takes the type from another one, the definition there.
    fn defined(&self, id: TypeId) -> TypeId {
        match self.wit.resolve.types[id].kind {
            TypeDefKind::Type(Type::Id(of)) if self.wit.owner(of) != self.wit.owner(id) => self.defined(of),
            _ => id,
        }
    }

    fn interface(&self, text: &mut String, name: &str, id: InterfaceId) -> Result<(), String> {
        let docs = self.prose(&self.wit.interface(id).docs, name, 0);
        let _ = write!(text, "\n## {name} {{ #{name} }}\n\n{docs}");
        for signature in self.wit.signatures(id, None) {
            self.function(text, "###", name, &signature)?;
        }
        for (item, own) in self.types(id) {
            let def = &self.wit.resolve.types[own];
            let (kind, alias) = match &def.kind {
                TypeDefKind::Type(ty) => ("type", Some(self.ty(ty)?)),
                other => (other.as_str(), None),
            };
            let _ = writeln!(text, "\n### {kind} `{item}` {{ #{name}.{item} }}\n");
            if let Some(alias) = alias {
                signature_line(text, &format!("type {item} = {alias}"));
            }
            *text += &self.prose(&def.docs, name, 0);
            match &def.kind {
                TypeDefKind::Record(record) => {
                    text.push('\n');
                    for field in &record.fields {
                        let head = format!("`{}`: <code>{}</code>", field.name, self.ty(&field.ty)?);
                        let _ = writeln!(text, "- {head}\n\n{}", self.prose(&field.docs, name, 4));
                    }
                }
                TypeDefKind::Enum(cases) => {
                    text.push('\n');
                    for case in &cases.cases {
                        let _ = writeln!(text, "- `{}`\n\n{}", case.name, self.prose(&case.docs, name, 4));
                    }
                }
                TypeDefKind::Resource => {
                    for signature in self.wit.functions_of(own) {
                        self.function(text, "####", name, &signature)?;
                    }
                }
                TypeDefKind::Type(_) => {}
                _ => return Err(format!("{name}.{item}: a {kind} has no form in the manual yet")),
            }
        }
        Ok(())
    }

    fn function(&self, text: &mut String, level: &str, interface: &str, own: &Signature<'_>) -> Result<(), String> {
        let path = path(self.wit, own);
        let _ = writeln!(text, "\n{level} `{path}` {{ #{interface}.{path} }}\n");
        let mut parameters = Vec::new();
        for (name, ty) in &own.parameters {
            parameters.push(format!("{name}: {}", self.ty(ty)?));
        }
        let result = match &own.function.result {
            Some(ty) => format!(" -&gt; {}", self.ty(ty)?),
            None => String::new(),
        };
        let line = format!("{}({}){result}", own.name, parameters.join(", "));
        if shown(&line) <= WIDTH {
            signature_line(text, &line);
        } else {
            let lines: String = parameters.iter().map(|parameter| format!("    {parameter},\n")).collect();
            signature_line(text, &format!("{}(\n{lines}){result}", own.name));
        }
        *text += &self.prose(&own.function.docs, interface, 0);
        Ok(())
    }

    /// A type in HTML. Each type with a name is a link.
    fn ty(&self, ty: &Type) -> Result<String, String> {
        let of = |name: &str, types: &[&Type]| {
            let types = types.iter().map(|ty| self.ty(ty)).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("{name}&lt;{}&gt;", types.join(", ")))
        };
        if let &Type::Id(id) = ty
            && let id = self.defined(id)
            && let Some(name) = &self.wit.resolve.types[id].name
        {
            let interface = self.wit.owner_name(id);
            return Ok(format!("<a href=\"#{interface}.{name}\">{name}</a>"));
        }
        match self.wit.shape(ty) {
            Shape::Plain(ty) => Ok(format!("{ty:?}").to_lowercase()),
            Shape::Own(id) => self.ty(&Type::Id(id)),
            Shape::Borrow(id) => of("borrow", &[&Type::Id(id)]),
            Shape::List(ty) => of("list", &[&ty]),
            Shape::Option(ty) => of("option", &[&ty]),
            Shape::Tuple(types) => of("tuple", &types.iter().collect::<Vec<_>>()),
            Shape::Result(Some(ok), Some(error)) => of("result", &[&ok, &error]),
            Shape::Result(None, Some(error)) => Ok(format!("result&lt;_, {}&gt;", self.ty(&error)?)),
            _ => self.wit.refused(ty, "the manual"),
        }
    }

    /// A comment, indented. A name in backticks with a dot becomes a link if the page has an anchor for it, such as
    /// `sampling.sampler`.
    fn prose(&self, docs: &Docs, interface: &str, indent: usize) -> String {
        let linked = |part: &str| {
            let mut anchors = [part.to_owned(), format!("{interface}.{part}")].into_iter();
            match anchors.find(|name| part.contains('.') && self.anchors.contains(name)) {
                Some(anchor) => format!("[`{part}`](#{anchor})"),
                None => format!("`{part}`"),
            }
        };
        let line = |line: &str| match line.trim() {
            "" => "\n".to_owned(),
            _ => format!("{:indent$}{}\n", "", spelled(line, str::to_owned, linked)),
        };
        wit::text(docs).lines().map(line).collect()
    }
}

fn signature_line(text: &mut String, html: &str) {
    let _ = writeln!(text, "<pre class=\"wit\"><code>{html}</code></pre>\n");
}

/// The number of visible characters in a line of HTML.
fn shown(html: &str) -> usize {
    // The text before the first tag, and the text after each tag.
    let plain: String = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    plain.replace("&lt;", "<").replace("&gt;", ">").chars().count()
}
