//! Where wasmtime keeps what it has compiled for the next process. Loading that is running it, so the folder is one that
//! nobody but this user can write to; where there is none, every process compiles for itself.

use std::fs;
use std::path::{Path, PathBuf};

use wasmtime::{Cache, CacheConfig};

/// The cache of this user; none where there is no safe place for it.
pub fn cache() -> Option<Cache> {
    let folder = folder(base()?)?;
    let mut config = CacheConfig::new();
    config.with_directory(folder);
    Cache::new(config).ok()
}

/// The folder for caches of this user, if there is one: without a home of its own, nothing is made.
fn base() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return absolute("LOCALAPPDATA").filter(|base| base.is_dir());
    }
    if let Some(given) = absolute("XDG_CACHE_HOME") {
        return Some(given);
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home.is_dir())?;
    Some(home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
}

/// The folder of samedeal in it, which is made where there is none.
fn folder(base: PathBuf) -> Option<PathBuf> {
    make(&base)?;
    let folder = base.join("samedeal");
    make(&folder)?;
    let folder = fs::canonicalize(folder).ok()?;
    is_of_user(&folder).then_some(folder)
}

/// Makes a folder that others can neither read nor write, unless it is there.
fn make(folder: &Path) -> Option<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => Some(()),
        Err(_) => folder.is_dir().then_some(()),
    }
}

/// Whether nobody but this user and the superuser can write to a folder, or put another one in its place.
#[cfg(unix)]
fn is_of_user(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let user = rustix::process::geteuid().as_raw();
    let own = fs::metadata(folder).is_ok_and(|own| own.uid() == user && own.mode() & WRITABLE_BY_OTHERS == 0);
    let safe = |at: fs::Metadata| {
        [0, user].contains(&at.uid()) && (at.mode() & WRITABLE_BY_OTHERS == 0 || at.mode() & STICKY != 0)
    };
    own && folder.ancestors().skip(1).all(|parent| fs::metadata(parent).is_ok_and(safe))
}

/// Folders of users are their own there.
#[cfg(windows)]
fn is_of_user(_: &Path) -> bool {
    true
}

#[cfg(not(any(unix, windows)))]
fn is_of_user(_: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let base = std::env::temp_dir().join(format!("samedeal-cache-{}", std::process::id()));
        let made = folder(base.clone()).expect("a new folder is safe");
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&made, 0o770);
        assert_eq!(folder(base.clone()), None);
        set(&made, 0o700);
        assert!(folder(base.clone()).is_some());
        // Somebody else could put another folder in its place.
        set(&base, 0o777);
        assert_eq!(folder(base.clone()), None);
        set(&base, 0o1777);
        assert!(folder(base.clone()).is_some());
        fs::remove_dir_all(&base).unwrap();
        fs::write(&base, "no folder").unwrap();
        assert_eq!(folder(base.clone()), None);
        fs::remove_file(base).unwrap();
    }
}
