//! Machine code of the component, kept for the next process. Loading it is running it. So it is kept only where nobody but this
//! user and the superuser can write, in a folder that samedeal made and marked. Where there is no such place, nothing is kept:
//! that costs time, and nothing else. The Python host uses the same folder by the same rules (`engine/cache.py`).

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

/// The number is that of this format: marker, names and files.
const FOLDER: &str = "samedeal-engine-v1";
/// The name by which programs that make backups know a cache (bford.info/cachedir).
const MARKER: &str = "CACHEDIR.TAG";
const MARK: &str = "Signature: 8a477f597d28d172789f06886806bc55
# samedeal made this folder (format 1). It holds machine code, and can be deleted.
";
const MOST_FILES: usize = 32;
const MOST_BYTES: u64 = 1 << 26;
/// How long the digest is that a file begins with.
const DIGEST: usize = 32;

/// Compiles a component, or loads what an earlier process compiled.
pub fn compiled(engine: &Engine, component: &[u8]) -> wasmtime::Result<Component> {
    let Some(folder) = folder() else { return Component::new(engine, component) };
    let path = folder.join(name(engine, component));
    if let Some(code) = load(&path) {
        // SAFETY: it is what `serialize` gave to this or an earlier process of the user, byte by byte: the file has its digest, and
        // nobody else can write to the folder.
        #[allow(unsafe_code)]
        if let Ok(found) = unsafe { Component::deserialize(engine, code) } {
            return Ok(found);
        }
    }
    let made = Component::new(engine, component)?;
    if let Ok(code) = made.serialize()
        && write(&path, &[Sha256::digest(&code).as_slice(), &code].concat()).is_ok()
    {
        prune(&folder);
    }
    Ok(made)
}

/// The name of a file: by the component, and by all of the engine that decides how it is compiled.
fn name(engine: &Engine, component: &[u8]) -> String {
    let mut key = Key(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut key);
    key.0.update(component);
    let digits: String = key.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("rust-{digits}.code")
}

/// Whether this or the Python host made a file of this name, whole or not complete yet.
fn is_ours(name: &str) -> bool {
    let is_hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let Some((host, rest)) = name.split_once('-') else { return false };
    let Some((key, part)) = rest.split_once(".code") else { return false };
    let is_part = part.is_empty() || part.strip_prefix('.').is_some_and(|part| is_hex(part, 16));
    ["python", "rust"].contains(&host) && is_hex(key, 64) && is_part
}

/// A digest of what is hashed.
struct Key(Sha256);

impl Hasher for Key {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// The code in a file, whole as it was kept.
fn load(path: &Path) -> Option<Vec<u8>> {
    let mut data = read(path)?;
    let code = data.split_off(DIGEST.min(data.len()));
    (data == Sha256::digest(&code).as_slice()).then_some(code)
}

/// Where the caches of this user are, if the environment has a say.
fn base() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return absolute("LOCALAPPDATA");
    }
    // Of a program that has more rights than its caller, the caller wrote the environment.
    #[cfg(unix)]
    if rustix::process::getuid() != rustix::process::geteuid()
        || rustix::process::getgid() != rustix::process::getegid()
    {
        return None;
    }
    if let Some(given) = absolute("XDG_CACHE_HOME") {
        return Some(given);
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute())?;
    Some(home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
}

fn folder() -> Option<PathBuf> {
    folder_in(&base()?)
}

/// The folder, which is made if it is missing; none if there is no safe place for it.
fn folder_in(base: &Path) -> Option<PathBuf> {
    if fs::symlink_metadata(base).is_err() {
        // Only this folder is made, and none above it: without a home directory there is no cache.
        let made = resolved(base.parent()?)?.join(base.file_name()?);
        let _ = make_folder(&made);
    }
    let folder = resolved(base)?.join(FOLDER);
    let is_empty = || is_own(&folder, 0o022) && fs::read_dir(&folder).is_ok_and(|mut found| found.next().is_none());
    if fs::symlink_metadata(&folder).is_err() || is_empty() {
        let _ = make(&folder);
    }
    let is_marked = is_own(&folder, 0o077) && read(&folder.join(MARKER))? == MARK.as_bytes();
    is_marked.then_some(folder)
}

/// Where a path of folders leads, if nobody but this user and the superuser can change where that is. Every name on the way is
/// looked at, and links are followed one by one: the folder in which a name is, the link itself, and the folders that it leads
/// through must all be safe.
#[cfg(unix)]
fn resolved(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt;

    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    const MOST_LINKS: u32 = 40;
    let user = rustix::process::geteuid().as_raw();
    let names = |path: &Path| path.components().rev().map(|name| name.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut at, mut links, mut left) = (PathBuf::new(), 0, names(path));
    while let Some(name) = left.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        if name == "." {
            continue;
        }
        // The name of the root is a path of its own.
        let to = at.join(name);
        let found = fs::symlink_metadata(&to).ok()?;
        if ![0, user].contains(&found.uid()) {
            return None;
        }
        if found.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            left.extend(names(&fs::read_link(&to).ok()?));
            continue;
        }
        // Where everybody can write, `sticky` keeps what this user and the superuser have there.
        let is_safe = found.mode() & WRITABLE_BY_OTHERS == 0 || found.mode() & STICKY != 0;
        if !found.is_dir() || !is_safe {
            return None;
        }
        at = to;
    }
    Some(at)
}

/// Folders of users are their own there.
#[cfg(windows)]
fn resolved(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

#[cfg(not(any(unix, windows)))]
fn resolved(_: &Path) -> Option<PathBuf> {
    None
}

/// Whether it is a folder of this user, and no link, with none of these modes.
fn is_own(folder: &Path, refused: u32) -> bool {
    let Ok(found) = fs::symlink_metadata(folder) else { return false };
    found.is_dir() && is_of_user(&found, refused) && has_all(&found, 0o700)
}

#[cfg(unix)]
fn is_of_user(found: &Metadata, refused: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & refused == 0
}

#[cfg(unix)]
fn has_all(found: &Metadata, modes: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.mode() & modes == modes
}

#[cfg(not(unix))]
fn is_of_user(_: &Metadata, _: u32) -> bool {
    true
}

#[cfg(not(unix))]
fn has_all(_: &Metadata, _: u32) -> bool {
    true
}

/// Makes the folder with its marker, at once: in the place of an empty one, and of nothing else.
fn make(folder: &Path) -> io::Result<()> {
    let part = with_random(folder);
    make_folder(&part)?;
    let made = write(&part.join(MARKER), MARK.as_bytes()).and_then(|()| fs::rename(&part, folder));
    if made.is_err() {
        // Another process was faster, or the disk is full.
        let _ = fs::remove_file(part.join(MARKER));
        let _ = fs::remove_dir(&part);
    }
    made
}

/// Makes a folder that others can neither read nor write.
fn make_folder(folder: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes of files"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file of this user. Neither a link is followed nor a pipe waited for.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    let file = options.open(path).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || !is_of_user(&found, 0o022) || found.len() > MOST_BYTES {
        return None;
    }
    let mut data = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut data).ok()?;
    Some(data)
}

/// Writes a file under another name first, so that it is there as a whole or not at all.
fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    let part = with_random(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let fill = |mut file: File| file.write_all(data);
    let written = options.open(&part).and_then(fill).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Deletes the oldest files that this or the Python host made here, where there are many, and nothing else.
fn prune(folder: &Path) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let ours = listed.flatten().filter(|file| file.file_name().to_str().is_some_and(is_ours));
    // The time of a link itself.
    let written = |file: fs::DirEntry| Some((file.metadata().ok()?.modified().ok()?, file.path()));
    let mut files: Vec<_> = ours.filter_map(written).collect();
    files.sort_unstable();
    files.truncate(files.len().saturating_sub(MOST_FILES));
    files.iter().for_each(|(_, path)| drop(fs::remove_file(path)));
}

fn with_random(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    // The keys of a hash map are the only random numbers of the standard library.
    name.push(format!(".{:016x}", RandomState::new().hash_one(std::process::id())));
    name.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A folder of its own for a test, which is deleted at its end.
    struct Home(PathBuf);

    impl Home {
        fn new() -> Self {
            let home = with_random(&fs::canonicalize(std::env::temp_dir()).unwrap().join("samedeal-cache"));
            make_folder(&home).unwrap();
            Self(home)
        }

        fn set(&self, path: &str, mode: u32) {
            fs::set_permissions(self.0.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    impl Drop for Home {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn only_a_folder_that_was_made_here_is_used() {
        let home = Home::new();
        let base = home.0.join("base");
        let made = folder_in(&base).expect("a new folder is safe");
        assert_eq!(made, base.join(FOLDER));
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(folder_in(&base), Some(made.clone()));
        fs::remove_file(made.join(MARKER)).unwrap();
        assert_eq!(folder_in(&base), Some(made.clone()), "an empty one is made anew");
        for marker in ["", "Signature: 8a477f597d28d172789f06886806bc55\n"] {
            fs::write(made.join(MARKER), marker).unwrap();
            assert_eq!(folder_in(&base), None);
        }
        fs::remove_file(made.join(MARKER)).unwrap();
        fs::write(made.join("own"), "text").unwrap();
        assert_eq!(folder_in(&base), None);
        assert_eq!(fs::read_dir(&made).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&base).unwrap().count(), 1, "nothing is left");
        fs::remove_dir_all(&made).unwrap();
        let other = home.0.join("other");
        make_folder(&other).unwrap();
        symlink(&other, &made).unwrap();
        assert_eq!(folder_in(&base), None, "the last part is a link");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let home = Home::new();
        let base = home.0.join("base");
        folder_in(&base).unwrap();
        for (mode, is_safe) in [(0o770, false), (0o750, false), (0o755, false), (0o1777, false), (0o700, true)] {
            home.set("base/samedeal-engine-v1", mode);
            assert_eq!(folder_in(&base).is_some(), is_safe, "{mode:o}");
        }
        // Somebody else could put another folder in its place.
        for (mode, is_safe) in [(0o770, false), (0o777, false), (0o1777, true), (0o755, true)] {
            home.set("base", mode);
            assert_eq!(folder_in(&base).is_some(), is_safe, "{mode:o}");
        }
        // The same where a link leads there.
        symlink("base", home.0.join("link")).unwrap();
        assert_eq!(folder_in(&home.0.join("link")), Some(base.join(FOLDER)));
        home.set("", 0o777);
        assert_eq!(folder_in(&home.0.join("link")), None);
        home.set("", 0o700);
        symlink("loop", home.0.join("loop")).unwrap();
        assert_eq!(folder_in(&home.0.join("loop")), None);
        fs::write(home.0.join("file"), "no folder").unwrap();
        assert_eq!(folder_in(&home.0.join("file")), None);
        assert_eq!(folder_in(&home.0.join("none/none")), None);
        assert!(!home.0.join("none").exists());
    }

    #[test]
    fn a_file_is_whole_or_not_taken_and_the_oldest_go() {
        let home = Home::new();
        let path = home.0.join(format!("rust-{:064x}.code", 0));
        write(&path, &[Sha256::digest("code").as_slice(), b"code"].concat()).unwrap();
        assert_eq!(load(&path).as_deref(), Some(&b"code"[..]));
        for content in [&b""[..], b"code", &[0; 40]] {
            write(&path, content).unwrap();
            assert_eq!(load(&path), None);
        }
        File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        for other in ["main.rs", "rust-0.code", "rust-.code", &format!("ruby-{:064x}.code", 0), MARKER] {
            write(&home.0.join(other), b"").unwrap();
        }
        for number in 0..MOST_FILES + 8 {
            write(&home.0.join(format!("python-{number:064x}.code")), b"").unwrap();
        }
        prune(&home.0);
        assert_eq!(fs::read_dir(&home.0).unwrap().count(), MOST_FILES + 5);
        assert!(home.0.join(format!("python-{:064x}.code", MOST_FILES + 7)).exists());
        assert!(!path.exists());
    }
}
