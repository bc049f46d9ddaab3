//! Files that are written under another name until they are complete, and that no process leaves behind.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The partial files of this process, which a signal removes.
static WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn written() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a file during writing, and the final one. The file is removed if it never gets that.
pub struct Partial {
    name: PathBuf,
    path: PathBuf,
}

impl Partial {
    pub fn create(path: &Path, name: &std::ffi::OsStr) -> io::Result<(Self, File)> {
        remove_at_signals()?;
        // Next to its final place, so that the last step is a renaming. Where others can write, too, they must not know the name,
        // nor leave a link there. The keys of a hash map are the only random numbers of the standard library.
        let (own, id) = (name.to_string_lossy(), std::process::id());
        let partial = path.with_file_name(format!(".{own}.{id}-{:016x}.partial", RandomState::new().hash_one(id)));
        let mut written = written();
        let file = File::options().write(true).create_new(true).open(&partial)?;
        written.insert(partial.clone());
        Ok((Self { name: partial, path: path.to_owned() }, file))
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its final name.
    pub fn complete(self) -> io::Result<()> {
        let mut written = written();
        fs::rename(&self.name, &self.path)?;
        written.remove(&self.name);
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let mut written = written();
        if written.remove(&self.name) {
            // The file was begun and is not whole. There is nobody left to tell if it cannot be removed.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// From the first call on, Ctrl-C and SIGTERM remove what is there, and then end the process as they always do. Not SIGHUP: it may be
/// ignored on purpose (`nohup`). On systems without such signals, the file stays.
#[cfg(unix)]
fn remove_at_signals() -> io::Result<()> {
    use std::sync::OnceLock;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    static WATCHED: OnceLock<()> = OnceLock::new();
    if WATCHED.set(()).is_err() {
        return Ok(());
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // No file is begun or completed any more.
            let written = written();
            written.iter().for_each(|name| drop(fs::remove_file(name)));
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn remove_at_signals() -> io::Result<()> {
    Ok(())
}
