//! The files that stay after a signal.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::{command, files};

#[test]
fn no_partial_file_is_left() {
    let folder = files::folder("signals");
    let path = folder.join("out");
    // These commands would write for minutes.
    let runs = [
        "indices --samples 9e9 --format text --output".to_owned(),
        "blend --source web:9e9:7 --source books:9e9:3 --samples 9e9 --rank 0 --report --recipe-out".to_owned(),
    ];
    for (arguments, (name, number)) in runs.iter().flat_map(|run| [("INT", 2), ("TERM", 15)].map(|it| (run, it))) {
        let mut child = command(&format!("{arguments} {}", path.display())).stdout(Stdio::null()).spawn().unwrap();
        // The name ends with random characters. Nobody can guess it, and so nobody can put a link in its place.
        let begin = format!(".out.{}-", child.id());
        let is_partial =
            |name: &str| name.len() == begin.len() + "0123456789abcdef.partial".len() && name.starts_with(&begin);
        let listed = || fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        while !listed().any(|name| is_partial(&name)) {
            assert_eq!(child.try_wait().unwrap(), None, "{arguments}");
            std::thread::yield_now();
        }
        let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{arguments}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{arguments}");
    }
}
