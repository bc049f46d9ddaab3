//! Imports of the core: no circles between files, directly or through others, or between folders; and none of what the
//! root exports, so that each import shows the folder that it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::plan::{Outcome, Report};
use crate::project;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Fails if there is a circle or an import through the root, and names it.
pub fn check(root: &'static str) -> Outcome {
    let mut modules = Modules::default();
    modules.add(&project::path(root), "crate")?;
    if let Some((module, path)) = modules.through_root() {
        return Err(format!("{module} imports {path} through the root; import it from its folder").into());
    }
    match modules.circle() {
        Some(circle) => Err(format!("imports of {root} go in a circle: {circle}").into()),
        None => Ok(Report::note(format!("{} files", modules.named.len()))),
    }
}

/// For each module, the paths that its code names. For each imported name, the path that it stands for. Paths of
/// modules begin at `crate`.
#[derive(Default)]
struct Modules {
    named: BTreeMap<String, Vec<String>>,
    imported: BTreeMap<String, String>,
}

impl Modules {
    fn add(&mut self, folder: &Path, module: &str) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match &*path.file_stem().unwrap_or_default().to_string_lossy() {
                "tests" => {}
                "mod" | "lib" => self.read(module, &fs::read_to_string(path)?),
                name if path.is_dir() => self.add(&path, &format!("{module}::{name}"))?,
                name => self.read(&format!("{module}::{name}"), &fs::read_to_string(path)?),
            }
        }
        Ok(())
    }

    /// Reads a file as rustfmt writes it, without comments and tests. Outside imports, only paths from `crate` and from
    /// modules below this one are read.
    fn read(&mut self, module: &str, text: &str) {
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code: String = text.lines().flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"]).collect();
        let named = self.named.entry(module.into()).or_default();
        for statement in code.split(';') {
            let imports = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
            let found = imports.iter().find_map(|start| Some((start, statement.split_once(&format!("\n{start}"))?.1)));
            let Some((start, tree)) = found else {
                let words = statement.split(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter));
                named.extend(words.filter(|word| word.contains("::") && !word.starts_with("super")).map(str::to_owned));
                continue;
            };
            for (path, name) in flattened("", tree) {
                // A path that a module only re-exports is no dependency of this module.
                named.extend((*start == "use ").then(|| path.clone()));
                self.imported.insert(format!("{module}::{name}"), path);
            }
        }
    }

    /// The module that defines the target of a path.
    fn find(&self, module: &str, path: &str) -> Option<String> {
        let (first, rest) = path.split_once("::").unwrap_or((path, ""));
        let below = format!("{module}::{path}");
        let path = match first {
            "crate" => path.into(),
            "self" => format!("{module}::{rest}"),
            "super" if rest.starts_with("super") => return self.find(module.rsplit_once("::")?.0, rest),
            "super" => format!("{}::{rest}", module.rsplit_once("::")?.0),
            _ if self.named.contains_key(&format!("{module}::{first}")) => below,
            _ => return None,
        };
        let mut found = None;
        for end in path.match_indices("::").map(|(end, _)| end).chain([path.len()]) {
            let name = &path[..end];
            if self.named.contains_key(name) {
                found = Some(name.to_owned());
            } else if let (Some(module), Some(path_of)) = (&found, self.imported.get(name)) {
                return self.find(module, &format!("{path_of}{}", &path[end..])).or(found);
            } else {
                break;
            }
        }
        found
    }

    /// The first module that names an item as the root exports it, with the path of the item.
    fn through_root(&self) -> Option<(&String, &String)> {
        let paths = self.named.iter().flat_map(|(module, paths)| paths.iter().map(move |path| (module, path)));
        let mut below = paths.filter(|(module, _)| *module != "crate");
        below.find(|(_, path)| path.matches("::").count() == 1 && self.imported.contains_key(*path))
    }

    fn circle(&self) -> Option<String> {
        let (mut files, mut folders) = (Graph::new(), Graph::new());
        for (module, paths) in &self.named {
            for target in paths.iter().filter_map(|path| self.find(module, path)).filter(|target| target != module) {
                let [own, other] = [module, &target].map(|name| name.split("::").nth(1).unwrap_or_default().to_owned());
                folders.entry(own.clone()).or_default().extend((own != other && !own.is_empty()).then_some(other));
                files.entry(module.clone()).or_default().insert(target);
            }
        }
        [files, folders].iter().find_map(|graph| {
            let mut done = BTreeSet::new();
            graph.keys().find_map(|start| walk(graph, start, &mut Vec::new(), &mut done))
        })
    }
}

/// The first circle on a walk through the graph from `at`. `way` has the modules on the way to it.
fn walk<'a>(graph: &'a Graph, at: &'a str, way: &mut Vec<&'a str>, done: &mut BTreeSet<&'a str>) -> Option<String> {
    if let Some(start) = way.iter().position(|name| *name == at) {
        return Some([&way[start..], &[at]].concat().join(" -> "));
    }
    way.push(at);
    let next = graph.get(at).filter(|_| done.insert(at)).into_iter().flatten();
    let found = next.into_iter().find_map(|next| walk(graph, next, way, done));
    way.pop();
    found
}

/// The paths of a tree of imports, each with the name under which it is imported.
fn flattened(before: &str, tree: &str) -> Vec<(String, String)> {
    let mut depth = 0;
    let items = tree.split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    let paths = items.map(str::trim).filter(|item| !item.is_empty()).map(|item| match item.split_once('{') {
        Some((head, inner)) => flattened(&format!("{before}{head}"), inner.trim_end_matches('}')),
        None => {
            let (path, name) = item.split_once(" as ").unwrap_or((item, item.rsplit("::").next().unwrap_or(item)));
            let path = format!("{before}{path}");
            let path = path.strip_suffix("::self").unwrap_or(&path);
            let name = if name == "self" { path.rsplit("::").next().unwrap_or(path) } else { name };
            vec![(path.to_owned(), name.to_owned())]
        }
    });
    paths.flatten().collect()
}
