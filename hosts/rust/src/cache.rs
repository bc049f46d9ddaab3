//! A cache of the component's machine code for later processes. Loaded code is executed, so whoever can write to the
//! cache can run code as this user. The cache is therefore only in a folder that samedeal made and marked, and to which
//! only this user and the superuser can write. Without such a folder nothing is cached, and each process compiles the
//! component. The Python host uses the same folder by the same rules (`engine/cache.py`).

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::engine::most_bytes;

/// The name of the cache folder. `v1` is the version of its format: marker, file names and file contents.
const FOLDER: &str = "samedeal-engine-v1";
/// The name of the file by which backup programs recognise a cache (bford.info/cachedir).
const MARKER: &str = "CACHEDIR.TAG";
const MARK: &str = "Signature: 8a477f597d28d172789f06886806bc55
# samedeal made this folder (format 1). It holds machine code, and can be deleted.
";
const MOST_FILES: usize = 32;
const MOST_BYTES: u64 = 1 << 26;
/// Bytes of the digest at the beginning of a file.
const DIGEST: usize = 32;
/// The user id that Linux shows, within a user namespace, for every user that the namespace does not map. It stands for
/// several users, so an owner with this id proves nothing.
#[cfg(unix)]
const OVERFLOW_USER: u32 = 65534;
/// The age from which an incomplete file or folder counts as left by a process that has ended: writing takes less than
/// a second.
const STALE: Duration = Duration::from_secs(60);

/// The file in which the code of this process is cached, or the reason why there is none.
static KEPT: Mutex<Result<PathBuf, String>> = Mutex::new(Err(String::new()));

/// Compiles a component, or loads the machine code that an earlier process compiled.
pub fn compiled(engine: &Engine, component: &[u8]) -> wasmtime::Result<Component> {
    let (component, kept) = match folder() {
        Ok(folder) => compiled_in(&folder, engine, component)?,
        Err(error) => (Component::new(engine, component)?, Err(error)),
    };
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = kept.map_err(|error| error.to_string());
    Ok(component)
}

/// The file in which the component's machine code is cached for later processes. If the component has not been used yet
/// in this process, it is loaded or compiled first.
///
/// # Errors
/// The reason why no code is cached, such as "other users can write to /home/ada/.cache (mode 0775)".
pub fn kept_code() -> Result<PathBuf, String> {
    crate::engine::prepare().map_err(|error| error.to_string())?;
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn compiled_in(folder: &Path, engine: &Engine, component: &[u8]) -> wasmtime::Result<(Component, io::Result<PathBuf>)> {
    remove_leftovers(folder);
    let path = folder.join(name(engine, component));
    if let Ok(code) = load(&path) {
        // SAFETY: the bytes are the unchanged result of `serialize` in this or an earlier process of the user: the
        // digest in the file matches, and nobody else can write to the folder.
        #[allow(unsafe_code)]
        if let Ok(found) = unsafe { Component::deserialize(engine, code) } {
            return Ok((found, Ok(path)));
        }
    }
    let made = Component::new(engine, component)?;
    let code = made.serialize()?;
    let written = write(&path, &[Sha256::digest(&code).as_slice(), &code].concat(), false);
    prune(folder, &path);
    Ok((made, written.map(|()| path)))
}

/// The name of the file: a hash of the exact version of the engine, its settings and the component, as in the Python
/// host (`engine/code.py`). The engine's own hash covers the version and the settings.
fn name(engine: &Engine, component: &[u8]) -> String {
    let mut key = Key(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut key);
    key.0.update(component);
    let digits: String = key.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("rust-{digits}.code")
}

/// Whether a file of this name was made by this host or the Python host, complete or not.
fn is_ours(name: &str) -> bool {
    let Some((host, rest)) = name.split_once('-') else { return false };
    let Some((key, part)) = rest.split_once(".code") else { return false };
    let is_part = part.is_empty() || part.strip_prefix('.').is_some_and(|part| is_hex(part, 16));
    ["python", "rust"].contains(&host) && is_hex(key, 64) && is_part
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// A [`Hasher`] that passes all bytes to SHA-256. Its `finish` is not used.
struct Key(Sha256);

impl Hasher for Key {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// The code in a file. An error if the digest does not match.
fn load(path: &Path) -> io::Result<Vec<u8>> {
    let mut data = read(path)?;
    let code = data.split_off(DIGEST.min(data.len()));
    if data == Sha256::digest(&code).as_slice() { Ok(code) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn refused(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, text.into())
}

/// The folder that contains the caches of this user.
fn base() -> io::Result<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let homeless = || io::Error::new(io::ErrorKind::NotFound, "this user has no home directory");
    if cfg!(windows) {
        return absolute("LOCALAPPDATA").ok_or_else(homeless);
    }
    #[cfg(unix)]
    {
        if has_more_rights_than_its_caller() {
            return Err(refused("this program has more rights than its caller, or can take them back"));
        }
        if rustix::process::geteuid().as_raw() == OVERFLOW_USER {
            return Err(refused(format!("user {OVERFLOW_USER} may be any user (a user namespace without a map)")));
        }
    }
    if let Some(given) = absolute("XDG_CACHE_HOME") {
        return Ok(given);
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(homeless)?;
    Ok(home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
}

/// Whether this program has, or can regain, the rights of another user than its caller: a set-user-ID program, a
/// program with file capabilities, or a superuser who became a user for a while. A cache would be unsafe for such a
/// program: the caller sets the environment and could choose the folder, or a user could write code that the superuser
/// then runs.
#[cfg(unix)]
fn has_more_rights_than_its_caller() -> bool {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    getuid() != geteuid() || getgid() != getegid() || has_saved_rights()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_saved_rights() -> bool {
    let [mut users, mut groups] = [[0; 3]; 2];
    let [real, effective, saved] = &mut users;
    let [real_group, effective_group, saved_group] = &mut groups;
    // SAFETY: each pointer points to a number of its own, which the function writes. `getauxval` takes and returns a
    // number.
    #[allow(unsafe_code)]
    let (failed, is_secure) = unsafe {
        let failed =
            libc::getresuid(real, effective, saved) | libc::getresgid(real_group, effective_group, saved_group);
        (failed != 0, libc::getauxval(libc::AT_SECURE) != 0)
    };
    let differ = |[real, effective, saved]: [u32; 3]| real != effective || real != saved;
    failed || is_secure || differ(users) || differ(groups)
}

#[cfg(target_vendor = "apple")]
fn has_saved_rights() -> bool {
    // SAFETY: the function takes nothing and returns a number.
    #[allow(unsafe_code)]
    unsafe {
        libc::issetugid() != 0
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn has_saved_rights() -> bool {
    false
}

fn folder() -> io::Result<PathBuf> {
    folder_in(&base()?)
}

/// The cache folder, which is made if it is missing. The error is the reason why there is no safe place for it.
fn folder_in(base: &Path) -> io::Result<PathBuf> {
    if fs::symlink_metadata(base).is_err()
        && let (Some(above), Some(name)) = (base.parent(), base.file_name())
    {
        // Only `base` itself is made, no folder above it: without a home directory there is no cache.
        let made = make_folder(&resolved(above)?.join(name));
        made.or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })?;
    }
    let folder = resolved(base)?.join(FOLDER);
    let is_empty = || is_own(&folder, 0o022) && fs::read_dir(&folder).is_ok_and(|mut found| found.next().is_none());
    if fs::symlink_metadata(&folder).is_err() || is_empty() {
        make(&folder)?;
    }
    if !is_own(&folder, 0o077) {
        let mode = mode_of(&fs::symlink_metadata(&folder)?);
        let folder = folder.display();
        return Err(refused(format!("{folder} is no folder of this user with the mode 0700 (it has {mode:04o})")));
    }
    let marker = folder.join(MARKER);
    if read(&marker)? != MARK.as_bytes() {
        let marker = marker.display();
        let reason = "is not what samedeal writes; delete the folder if it holds nothing of yours";
        return Err(refused(format!("{marker} {reason}")));
    }
    Ok(folder)
}

/// Resolves all links in the path of a folder. An error if anybody but this user and the superuser can change the
/// result. Every name on the way is checked, and links are followed one by one: the folder that contains a name, the
/// link itself, and all folders that the link leads through must be safe.
#[cfg(unix)]
fn resolved(path: &Path) -> io::Result<PathBuf> {
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
        // For the root, `name` is an absolute path, which replaces `at`.
        let to = at.join(name);
        let found = fs::symlink_metadata(&to).map_err(|error| named(&to, &error))?;
        let shown = to.display();
        if ![0, user].contains(&found.uid()) {
            let owner = found.uid();
            let reason = format!("{shown} belongs to user {owner}, neither to user {user} nor to the superuser");
            return Err(refused(reason));
        }
        if found.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(refused(format!("{} leads through more than {MOST_LINKS} links", path.display())));
            }
            left.extend(names(&fs::read_link(&to)?));
            continue;
        }
        // A folder to which everybody can write is safe with the sticky bit: nobody can replace files of this user or
        // the superuser.
        let is_safe = found.mode() & WRITABLE_BY_OTHERS == 0 || found.mode() & STICKY != 0;
        if !found.is_dir() {
            return Err(refused(format!("{shown} is no folder")));
        }
        if !is_safe {
            let mode = mode_of(&found);
            return Err(refused(format!("other users can write to {shown} (mode {mode:04o})")));
        }
        at = to;
    }
    Ok(at)
}

/// An error of the system, with the path that it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// On Windows, other users cannot write to the folder of a user.
#[cfg(windows)]
fn resolved(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map_err(|error| named(path, &error))
}

#[cfg(not(any(unix, windows)))]
fn resolved(_: &Path) -> io::Result<PathBuf> {
    Err(refused("this system has no users"))
}

/// Whether the path is a folder of this user, not a link, in which the mode bits `refused` are not set and the user has
/// all rights.
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
fn mode_of(found: &Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt;
    found.mode() & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> u32 {
    0
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

/// Makes the folder with its marker under another name, and renames it, so that the folder never exists without the
/// marker. The rename replaces an empty folder, and fails if there is anything else.
fn make(folder: &Path) -> io::Result<()> {
    let part = with_random(folder);
    make_folder(&part)?;
    let made = write(&part.join(MARKER), MARK.as_bytes(), true).and_then(|()| fs::rename(&part, folder));
    if made.is_err() {
        let _ = fs::remove_file(part.join(MARKER));
        let _ = fs::remove_dir(&part);
        // Another process has made the folder meanwhile.
        if fs::symlink_metadata(folder).is_ok() {
            return Ok(());
        }
    }
    made
}

/// Makes a folder that others can neither read nor write. The mode is set again afterwards, because the umask may
/// remove rights.
fn make_folder(folder: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes of files"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| named(folder, &error))?;
    #[cfg(unix)]
    if mode_of(&fs::symlink_metadata(folder)?) & 0o777 != 0o700 {
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    }
    Ok(())
}

/// The content of a file of this user. A link is not followed, and a pipe does not block.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    let file = options.open(path).map_err(|error| named(path, &error))?;
    let found = file.metadata()?;
    if !found.is_file() || !is_of_user(&found, 0o022) || found.len() > MOST_BYTES {
        return Err(refused(format!("{} is no file of this user alone", path.display())));
    }
    let mut data = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut data)?;
    Ok(data)
}

/// Writes a file under another name and renames the file to `path`, so that an incomplete file is never at `path`. With
/// `sync`, the data is on the disk before the rename; without it, a loss of power can leave the name without the data.
fn write(path: &Path, data: &[u8], sync: bool) -> io::Result<()> {
    if let Some(most) = most_bytes()
        && most < data.len() as u64
    {
        let reason = format!("files have at most {most} bytes (`ulimit -f`), and {} are needed", data.len());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    let part = with_random(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let fill = |mut file: File| {
        // The mode is set again, because the umask may remove rights.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        file.write_all(data)?;
        if sync { file.sync_all() } else { Ok(()) }
    };
    let written = options.open(&part).and_then(fill).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written.map_err(|error| named(path, &error))
}

/// Whether a file or folder that was written at this time is stale: no process writes it any more. A time far in the
/// future counts as stale too: the clock was wrong.
fn is_stale(written: SystemTime) -> bool {
    let now = SystemTime::now();
    now.duration_since(written).unwrap_or_else(|error| error.duration()) > STALE
}

/// Deletes files that this or the Python host made: stale incomplete files, and the oldest files if there are more than
/// [`MOST_FILES`]. The file that was just written stays. A file with a time in the future counts as the oldest.
fn prune(folder: &Path, written: &Path) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let latest = SystemTime::now() + STALE;
    let mut files = Vec::new();
    for file in listed.flatten().filter(|file| file.file_name().to_str().is_some_and(is_ours)) {
        // For a link, this is the time of the link itself.
        let Ok(time) = file.metadata().and_then(|found| found.modified()) else { continue };
        let path = file.path();
        if path == written {
            continue;
        }
        if path.extension().is_some_and(|end| end != "code") && is_stale(time) {
            let _ = fs::remove_file(&path);
        } else {
            files.push((if time <= latest { time } else { SystemTime::UNIX_EPOCH }, path));
        }
    }
    files.sort_unstable();
    files.truncate(files.len().saturating_sub(MOST_FILES - 1));
    files.iter().for_each(|(_, path)| drop(fs::remove_file(path)));
}

/// Deletes half-made folders beside the cache folder, which ended processes have left, and nothing else.
#[cfg(unix)]
fn remove_leftovers(folder: &Path) {
    let Some(listed) = folder.parent().and_then(|above| fs::read_dir(above).ok()) else { return };
    for other in listed.flatten() {
        let name = other.file_name();
        let end = name.to_str().and_then(|name| name.strip_prefix(FOLDER)?.strip_prefix('.'));
        if end.is_some_and(|end| is_hex(end, 16)) {
            let _ = remove_leftover(&other.path());
        }
    }
}

#[cfg(not(unix))]
fn remove_leftovers(_: &Path) {}

/// Deletes a half-made folder if it is of this user, stale, and contains nothing but the marker or the beginning of it.
/// Files are checked and deleted by a descriptor of the folder, so that nobody can put another folder in its place
/// meanwhile. The folder itself is deleted by its path, which works only if it is empty.
#[cfg(unix)]
fn remove_leftover(folder: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, Dir, Mode, OFlags, open, openat, unlinkat};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let at = File::from(open(folder, flags | OFlags::DIRECTORY, Mode::empty())?);
    let found = at.metadata()?;
    if !is_of_user(&found, 0o077) || !is_stale(found.modified()?) {
        return Ok(());
    }
    for entry in Dir::read_from(&at)? {
        let entry = entry?;
        let name = entry.file_name().to_str().unwrap_or_default();
        if [".", ".."].contains(&name) {
            continue;
        }
        let end = name.strip_prefix(MARKER);
        let is_marker =
            end.is_some_and(|end| end.is_empty() || end.strip_prefix('.').is_some_and(|end| is_hex(end, 16)));
        let file = File::from(openat(&at, name, flags, Mode::empty())?);
        let found = file.metadata()?;
        let mut text = Vec::new();
        file.take(2 * MARK.len() as u64).read_to_end(&mut text)?;
        if !is_marker || !found.is_file() || !is_of_user(&found, 0o022) || !MARK.as_bytes().starts_with(&text) {
            return Ok(());
        }
        unlinkat(&at, name, AtFlags::empty())?;
    }
    fs::remove_dir(folder)
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

    /// A folder for one test, which is deleted at the end of the test.
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
        assert_eq!(folder_in(&base).ok(), Some(made.clone()));
        fs::remove_file(made.join(MARKER)).unwrap();
        assert_eq!(folder_in(&base).ok(), Some(made.clone()), "an empty one is made anew");
        for marker in ["", "Signature: 8a477f597d28d172789f06886806bc55\n"] {
            fs::write(made.join(MARKER), marker).unwrap();
            assert_eq!(folder_in(&base).ok(), None);
        }
        fs::remove_file(made.join(MARKER)).unwrap();
        fs::write(made.join("own"), "text").unwrap();
        assert_eq!(folder_in(&base).ok(), None);
        assert_eq!(fs::read_dir(&made).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&base).unwrap().count(), 1, "nothing is left");
        fs::remove_dir_all(&made).unwrap();
        let other = home.0.join("other");
        make_folder(&other).unwrap();
        symlink(&other, &made).unwrap();
        assert_eq!(folder_in(&base).ok(), None, "the last part is a link");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let home = Home::new();
        let base = home.0.join("base");
        folder_in(&base).unwrap();
        for (mode, is_safe) in [(0o770, false), (0o750, false), (0o755, false), (0o1777, false), (0o700, true)] {
            home.set("base/samedeal-engine-v1", mode);
            assert_eq!(folder_in(&base).is_ok(), is_safe, "{mode:o}");
        }
        // If others can write to the folder above, they can replace the cache folder.
        for (mode, is_safe) in [(0o770, false), (0o777, false), (0o1777, true), (0o755, true)] {
            home.set("base", mode);
            assert_eq!(folder_in(&base).is_ok(), is_safe, "{mode:o}");
        }
        // A link to a safe folder is allowed.
        symlink("base", home.0.join("link")).unwrap();
        assert_eq!(folder_in(&home.0.join("link")).ok(), Some(base.join(FOLDER)));
        home.set("", 0o777);
        assert_eq!(folder_in(&home.0.join("link")).ok(), None);
        home.set("", 0o700);
        symlink("loop", home.0.join("loop")).unwrap();
        assert_eq!(folder_in(&home.0.join("loop")).ok(), None);
        fs::write(home.0.join("file"), "no folder").unwrap();
        assert_eq!(folder_in(&home.0.join("file")).ok(), None);
        assert_eq!(folder_in(&home.0.join("none/none")).ok(), None);
        assert!(!home.0.join("none").exists());
    }

    #[test]
    fn a_file_is_whole_or_not_taken_and_the_oldest_go() {
        let home = Home::new();
        let path = home.0.join(format!("rust-{:064x}.code", 0));
        write(&path, &[Sha256::digest("code").as_slice(), b"code"].concat(), false).unwrap();
        assert_eq!(load(&path).ok().as_deref(), Some(&b"code"[..]));
        for content in [&b""[..], b"code", &[0; 40]] {
            write(&path, content, false).unwrap();
            assert!(load(&path).is_err());
        }
        File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        for other in ["main.rs", "rust-0.code", "rust-.code", &format!("ruby-{:064x}.code", 0), MARKER] {
            write(&home.0.join(other), b"", false).unwrap();
        }
        for number in 0..MOST_FILES + 8 {
            write(&home.0.join(format!("python-{number:064x}.code")), b"", false).unwrap();
        }
        prune(&home.0, Path::new(""));
        assert_eq!(fs::read_dir(&home.0).unwrap().count(), MOST_FILES - 1 + 5);
        assert!(home.0.join(format!("python-{:064x}.code", MOST_FILES + 7)).exists());
        assert!(!path.exists());
    }

    #[test]
    fn what_ended_processes_left_goes_and_nothing_else() {
        let home = Home::new();
        let folder = folder_in(&home.0).unwrap();
        let old = |path: &Path| File::open(path).unwrap().set_modified(SystemTime::now() - 60 * STALE).unwrap();
        let kinds =
            [("empty", None), ("marker", Some(MARK)), ("begun", Some("Sig")), ("user", Some("text")), ("young", None)];
        let made = kinds.map(|(kind, content)| {
            let path = with_random(&folder);
            make_folder(&path).unwrap();
            if let Some(content) = content {
                fs::write(path.join(MARKER), content).unwrap();
            }
            if kind != "young" {
                old(&path);
            }
            (kind, path)
        });
        remove_leftovers(&folder);
        let left: Vec<_> = made.iter().filter(|(_, path)| path.exists()).map(|(kind, _)| *kind).collect();
        assert_eq!(left, ["user", "young"]);
        assert!(folder.exists());
        let part = folder.join(format!("python-{:064x}.code.{:016x}", 1, 2));
        write(&part, b"", false).unwrap();
        prune(&folder, Path::new(""));
        assert!(part.exists(), "it may be written now");
        old(&part);
        prune(&folder, Path::new(""));
        assert!(!part.exists());
    }

    #[test]
    fn times_of_the_future_count_as_the_oldest() {
        let home = Home::new();
        for number in 0..MOST_FILES + 8 {
            let path = home.0.join(format!("rust-{number:064x}.code"));
            write(&path, b"", false).unwrap();
            File::open(&path).unwrap().set_modified(SystemTime::now() + 1000 * STALE).unwrap();
        }
        let [first, written] = ["a", "b"].map(|digit| home.0.join(format!("rust-{}.code", digit.repeat(64))));
        for path in [&first, &written] {
            write(path, b"", false).unwrap();
        }
        prune(&home.0, &written);
        assert!(first.exists() && written.exists());
        assert_eq!(fs::read_dir(&home.0).unwrap().count(), MOST_FILES);
    }

    #[test]
    fn why_nothing_is_kept_is_said() {
        let home = Home::new();
        let folder = folder_in(&home.0).unwrap();
        let shown = folder.display();
        home.set(FOLDER, 0o755);
        let reason = format!("{shown} is no folder of this user with the mode 0700 (it has 0755)");
        assert_eq!(folder_in(&home.0).unwrap_err().to_string(), reason);
        home.set(FOLDER, 0o700);
        home.set("", 0o775);
        let reason = format!("other users can write to {} (mode 0775)", home.0.display());
        assert_eq!(folder_in(&home.0).unwrap_err().to_string(), reason);
        home.set("", 0o700);
        fs::write(folder.join(MARKER), "").unwrap();
        let error = folder_in(&home.0).unwrap_err().to_string();
        assert!(error.contains("is not what samedeal writes"), "{error}");
    }
}
