//! The interface by the names that the golden cases use.

use std::path::Path;

use wit_parser::{Function, FunctionKind, InterfaceId, Resolve, SizeAlign, TypeDefKind, TypeId, WorldItem};

/// Resources whose name in the golden cases differs from that in the interface.
const RENAMED: &[(&str, &str)] = &[("ledger-client", "client")];

/// The interface of the component.
pub struct World {
    pub resolve: Resolve,
    pub sizes: SizeAlign,
}

/// A resource, and the component that exports it.
#[derive(Clone, Copy)]
pub struct Resource<'w> {
    pub id: TypeId,
    pub name: &'w str,
    interface: InterfaceId,
    pub component: &'w str,
}

impl World {
    /// Reads the WIT in a folder.
    pub fn read(folder: &Path) -> Self {
        let mut resolve = Resolve::default();
        resolve.push_dir(folder).unwrap_or_else(|why| panic!("{}: {why:#}", folder.display()));
        let mut sizes = SizeAlign::default();
        sizes.fill(&resolve);
        Self { resolve, sizes }
    }

    /// Every interface that a component exports, with the name of the component.
    fn exports(&self) -> impl Iterator<Item = (&str, InterfaceId)> {
        self.resolve.worlds.iter().flat_map(|(_, world)| {
            world.exports.values().filter_map(|item| match item {
                WorldItem::Interface { id, .. } => Some((&*world.name, *id)),
                _ => None,
            })
        })
    }

    /// The resource of a golden case.
    pub fn resource(&self, case: &str) -> Resource<'_> {
        let name = RENAMED.iter().find(|(from, _)| *from == case).map_or(case, |(_, to)| to);
        let found = self.exports().find_map(|(component, interface)| {
            let id = *self.resolve.interfaces[interface].types.get(name)?;
            let ty = &self.resolve.types[id];
            let name = ty.name.as_deref()?;
            matches!(ty.kind, TypeDefKind::Resource).then_some(Resource { id, name, interface, component })
        });
        found.unwrap_or_else(|| panic!("no component has a resource {name}"))
    }

    /// The resource of a type, in the same interface as another resource.
    pub fn beside(&self, other: Resource<'_>, id: TypeId) -> Resource<'_> {
        let name = self.resolve.types[id].name.as_deref().expect("a resource has a name");
        let own = self.exports().find(|(_, interface)| *interface == other.interface);
        let (component, interface) = own.expect("the interface of a resource is exported");
        Resource { id, name, interface, component }
    }

    /// The function of a name that belongs to no resource, and the component that exports it.
    pub fn function(&self, name: &str) -> (&str, Export<'_>) {
        let found = self.exports().find_map(|(component, interface)| {
            let function = self.resolve.interfaces[interface].functions.get(name)?;
            Some((component, self.export(interface, function)))
        });
        found.unwrap_or_else(|| panic!("no component has a function {name}"))
    }

    pub fn constructor(&self, of: Resource<'_>) -> Export<'_> {
        self.member(of, |kind| matches!(kind, FunctionKind::Constructor(_)), "constructor")
    }

    pub fn method(&self, of: Resource<'_>, name: &str) -> Export<'_> {
        let whole = format!("[method]{}.{name}", of.name);
        let function = self.resolve.interfaces[of.interface].functions.get(&whole);
        self.export(of.interface, function.unwrap_or_else(|| panic!("the interface has no {whole}")))
    }

    /// The methods that set options, with the names of the options.
    pub fn setters<'a>(&'a self, of: Resource<'a>) -> impl Iterator<Item = (&'a str, Export<'a>)> {
        let start = format!("[method]{}.set-", of.name);
        let functions = self.resolve.interfaces[of.interface].functions.iter();
        functions
            .filter_map(move |(name, function)| Some((name.strip_prefix(&start)?, self.export(of.interface, function))))
    }

    /// The export of the core module that frees a resource.
    pub fn destructor(&self, of: Resource<'_>) -> String {
        format!("{}#[dtor]{}", self.prefix(of.interface), of.name)
    }

    fn member(&self, of: Resource<'_>, is: impl Fn(&FunctionKind) -> bool, what: &str) -> Export<'_> {
        let mut functions = self.resolve.interfaces[of.interface].functions.values();
        let found = functions.find(|function| function.kind.resource() == Some(of.id) && is(&function.kind));
        self.export(of.interface, found.unwrap_or_else(|| panic!("{} has no {what}", of.name)))
    }

    fn export<'w>(&'w self, interface: InterfaceId, function: &'w Function) -> Export<'w> {
        Export { name: format!("{}#{}", self.prefix(interface), function.name), function }
    }

    fn prefix(&self, interface: InterfaceId) -> String {
        self.resolve.id_of(interface).expect("an exported interface has a name")
    }
}

/// A function, and the name of its export in the core module.
pub struct Export<'w> {
    pub name: String,
    pub function: &'w Function,
}
