//! The interface as a page of the site, in Markdown: each interface, type and function has a heading and an anchor, and signatures link
//! to the types that they name. The anchor of a method is `interface.resource.method`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use wit_parser::{
    Docs, Function, FunctionKind, Handle, Interface, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId,
    TypeOwner, WorldId, WorldItem,
};

/// The longest line of a signature.
const WIDTH: usize = 76;

/// The page, under its name.
pub fn pages(resolve: &Resolve, package: PackageId) -> Result<BTreeMap<String, String>, String> {
    let manual = Manual { resolve, anchors: anchors(resolve, package)? };
    let package = &resolve.packages[package];
    let mut text = format!(
        "# The interface of the component (WIT)\n\nThe package `{}`. It is the reference manual of all languages: the libraries call \
         these functions, with names in the style of their language.\n\n",
        package.name
    );
    text += "| world | what it is | interfaces |\n|---|---|---|\n";
    for (name, &world) in &package.worlds {
        let exports = exports(resolve, world)?.into_iter().map(|name| format!("[{name}](#{name})")).collect::<Vec<_>>();
        let docs = resolve.worlds[world].docs.contents.as_deref().unwrap_or_default();
        let what = docs.split("\n\n").next().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(text, "| `{name}` | {what} | {} |", exports.join(", "));
    }
    text += "\n| interface | types | functions |\n|---|---|---|\n";
    for (name, &id) in &package.interfaces {
        let interface = &resolve.interfaces[id];
        let link = |item: &str| format!("[{item}](#{name}.{item})");
        let types: Vec<_> = manual.types(id).map(|(name, _)| link(name)).collect();
        let functions: Vec<_> = free(interface).map(|function| link(&function.name)).collect();
        let _ = writeln!(text, "| [{name}](#{name}) | {} | {} |", types.join(", "), functions.join(", "));
    }
    for (name, &id) in &package.interfaces {
        manual.interface(&mut text, name, id)?;
    }
    Ok(BTreeMap::from([("wit.md".to_owned(), text)]))
}

/// The interfaces that a component exports.
fn exports(resolve: &Resolve, world: WorldId) -> Result<Vec<&str>, String> {
    let world = &resolve.worlds[world];
    let names = world.exports.values().map(|item| match item {
        WorldItem::Interface { id, .. } => resolve.interfaces[*id].name.as_deref(),
        _ => None,
    });
    names.collect::<Option<_>>().ok_or_else(|| format!("world {}: an export is no interface with a name", world.name))
}

/// The functions of an interface that are not those of a resource.
fn free(interface: &Interface) -> impl Iterator<Item = &Function> {
    interface.functions.values().filter(|function| function.kind.resource().is_none())
}

/// All anchors of the page.
fn anchors(resolve: &Resolve, package: PackageId) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for (name, &id) in &resolve.packages[package].interfaces {
        let interface = &resolve.interfaces[id];
        let types = interface.types.keys().map(|item| format!("{name}.{item}"));
        found.extend(types.chain([name.clone()]));
        for function in interface.functions.values() {
            found.insert(format!("{name}.{}", path(resolve, function)?));
        }
    }
    Ok(found)
}

/// The name of a function in its interface: that of a method begins with its resource.
fn path(resolve: &Resolve, function: &Function) -> Result<String, String> {
    let resource = function.kind.resource().and_then(|id| resolve.types[id].name.as_deref()).unwrap_or_default();
    match function.kind {
        FunctionKind::Freestanding => Ok(function.name.clone()),
        FunctionKind::Method(_) => Ok(format!("{resource}.{}", function.item_name())),
        FunctionKind::Constructor(_) => Ok(format!("{resource}.constructor")),
        _ => Err(format!("{}: it has no form in the manual yet", function.name)),
    }
}

struct Manual<'a> {
    resolve: &'a Resolve,
    anchors: BTreeSet<String>,
}

impl Manual<'_> {
    /// The types that an interface defines, without those that it uses.
    fn types(&self, id: InterfaceId) -> impl Iterator<Item = (&String, TypeId)> {
        let types = self.resolve.interfaces[id].types.iter();
        types.filter(|&(_, &type_id)| self.defined(type_id) == type_id).map(|(name, &type_id)| (name, type_id))
    }

    /// The definition of a type that an interface may use from another one.
    fn defined(&self, id: TypeId) -> TypeId {
        match self.resolve.types[id].kind {
            TypeDefKind::Type(Type::Id(of)) if self.resolve.types[of].owner != self.resolve.types[id].owner => {
                self.defined(of)
            }
            _ => id,
        }
    }

    fn interface(&self, text: &mut String, name: &str, id: InterfaceId) -> Result<(), String> {
        let interface = &self.resolve.interfaces[id];
        let _ = write!(text, "\n## {name} {{ #{name} }}\n\n{}", self.prose(&interface.docs, name, 0));
        for function in free(interface) {
            self.function(text, "###", name, function)?;
        }
        for (item, type_id) in self.types(id) {
            let def = &self.resolve.types[type_id];
            let kind = if matches!(def.kind, TypeDefKind::Type(_)) { "type" } else { def.kind.as_str() };
            let _ = writeln!(text, "\n### {kind} `{item}` {{ #{name}.{item} }}\n");
            if let TypeDefKind::Type(ty) = &def.kind {
                signature(text, &format!("type {item} = {}", self.ty(ty)?));
            }
            *text += &self.prose(&def.docs, name, 0);
            match &def.kind {
                TypeDefKind::Record(record) => {
                    text.push('\n');
                    for field in &record.fields {
                        let ty = self.ty(&field.ty)?;
                        self.member(text, name, &format!("`{}`: <code>{ty}</code>", field.name), &field.docs);
                    }
                }
                TypeDefKind::Enum(cases) => {
                    text.push('\n');
                    for case in &cases.cases {
                        self.member(text, name, &format!("`{}`", case.name), &case.docs);
                    }
                }
                TypeDefKind::Resource => {
                    for function in interface.functions.values().filter(|of| of.kind.resource() == Some(type_id)) {
                        self.function(text, "####", name, function)?;
                    }
                }
                TypeDefKind::Type(_) => {}
                _ => return Err(format!("{name}.{item}: a {kind} has no form in the manual yet")),
            }
        }
        Ok(())
    }

    /// A field or a case, as an item of a list.
    fn member(&self, text: &mut String, interface: &str, head: &str, docs: &Docs) {
        let _ = writeln!(text, "- {head}\n\n{}", self.prose(docs, interface, 4));
    }

    fn function(&self, text: &mut String, level: &str, interface: &str, function: &Function) -> Result<(), String> {
        let path = path(self.resolve, function)?;
        let _ = writeln!(text, "\n{level} `{path}` {{ #{interface}.{path} }}\n");
        let own = matches!(function.kind, FunctionKind::Method(_));
        let mut parameters = Vec::new();
        for parameter in function.params.iter().skip(usize::from(own)) {
            parameters.push(format!("{}: {}", parameter.name, self.ty(&parameter.ty)?));
        }
        let result = match &function.result {
            Some(ty) => format!(" -&gt; {}", self.ty(ty)?),
            None => String::new(),
        };
        let name = path.rsplit('.').next().unwrap_or_default();
        let line = format!("{name}({}){result}", parameters.join(", "));
        if shown(&line) <= WIDTH {
            signature(text, &line);
        } else {
            let lines: String = parameters.iter().map(|parameter| format!("    {parameter},\n")).collect();
            signature(text, &format!("{name}(\n{lines}){result}"));
        }
        *text += &self.prose(&function.docs, interface, 0);
        Ok(())
    }

    /// A type in HTML, with links to what has a name.
    fn ty(&self, ty: &Type) -> Result<String, String> {
        let several = |types: &[&Type]| types.iter().map(|ty| self.ty(ty)).collect::<Result<Vec<_>, _>>();
        let of = |name: &str, types: &[&Type]| Ok(format!("{name}&lt;{}&gt;", several(types)?.join(", ")));
        let &Type::Id(id) = ty else {
            return Ok(format!("{ty:?}").to_lowercase());
        };
        let def = &self.resolve.types[self.defined(id)];
        if let (Some(name), TypeOwner::Interface(owner)) = (&def.name, def.owner) {
            let interface = self.resolve.interfaces[owner].name.as_deref().ok_or("an interface has no name")?;
            return Ok(format!("<a href=\"#{interface}.{name}\">{name}</a>"));
        }
        match &def.kind {
            TypeDefKind::Handle(Handle::Own(id)) => self.ty(&Type::Id(*id)),
            TypeDefKind::Handle(Handle::Borrow(id)) => of("borrow", &[&Type::Id(*id)]),
            TypeDefKind::List(ty) => of("list", &[ty]),
            TypeDefKind::Option(ty) => of("option", &[ty]),
            TypeDefKind::Tuple(tuple) => of("tuple", &tuple.types.iter().collect::<Vec<_>>()),
            TypeDefKind::Result(result) => match (&result.ok, &result.err) {
                (Some(ok), Some(err)) => of("result", &[ok, err]),
                (None, Some(err)) => Ok(format!("result&lt;_, {}&gt;", self.ty(err)?)),
                (Some(ok), None) => of("result", &[ok]),
                (None, None) => Ok("result".to_owned()),
            },
            other => Err(format!("a {} has no form in the manual yet", other.as_str())),
        }
    }

    /// A comment, indented. A name with a dot that is on the page, such as `sampling.sampler`, becomes a link.
    fn prose(&self, docs: &Docs, interface: &str, indent: usize) -> String {
        let mut text = String::new();
        for line in docs.contents.as_deref().unwrap_or_default().lines() {
            if line.trim().is_empty() {
                text.push('\n');
                continue;
            }
            text += &" ".repeat(indent);
            for (i, part) in line.split('`').enumerate() {
                let anchor = [part.to_owned(), format!("{interface}.{part}")]
                    .into_iter()
                    .find(|name| i % 2 == 1 && part.contains('.') && self.anchors.contains(name));
                match anchor {
                    Some(anchor) => _ = write!(text, "[`{part}`](#{anchor})"),
                    None if i % 2 == 1 => _ = write!(text, "`{part}`"),
                    None => text += part,
                }
            }
            text.push('\n');
        }
        text
    }
}

fn signature(text: &mut String, html: &str) {
    let _ = writeln!(text, "<pre class=\"wit\"><code>{html}</code></pre>\n");
}

/// How many characters a reader sees of a line of HTML.
fn shown(html: &str) -> usize {
    let mut inside = false;
    let plain: String = html
        .chars()
        .filter(|&character| {
            let tag = inside || character == '<';
            inside = tag && character != '>';
            !tag
        })
        .collect();
    plain.replace("&lt;", "<").replace("&gt;", ">").chars().count()
}
