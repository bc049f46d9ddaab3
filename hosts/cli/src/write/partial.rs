//! Files that are written under a temporary name until they are complete. After an error, and at Ctrl-C or SIGTERM, the
//! process removes them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The partial files of this process. On Unix, Ctrl-C and SIGTERM remove these files before the process ends.
static WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn written() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is written under a temporary `name`, and its final `path`. Dropping a `Partial` removes the file, unless
/// the file is complete.
pub struct Partial {
    name: PathBuf,
    path: PathBuf,
}

impl Partial {
    pub fn create(path: &Path, name: &std::ffi::OsStr) -> io::Result<(Self, File)> {
        remove_at_signals()?;
        // The file is next to its final place, so that the last step is a renaming. The name is random: where others
        // can write, they could otherwise leave a link there. The keys of a hash map are the only random numbers of the
        // standard library.
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
            // The file is incomplete. A failure to remove it is ignored, because nothing can be done about it here.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// After the first call, Ctrl-C and SIGTERM remove the partial files, and then end the process as they always do.
/// SIGHUP does not: it may be ignored on purpose (`nohup`). On systems without these signals, the files stay.
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
            // This lock keeps other threads from beginning or completing a file.
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
