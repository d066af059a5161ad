//! Files that a user names: kubeconfigs, certificates, keys, tokens, manifests.
//!
//! Only regular files are read. A pipe has no end until somebody writes to it, and a device may have
//! none at all. A file that is too large for what it should be is not read to its end. Whoever reads
//! on a worker of the runtime hands its other tasks over first, since a file system may take its
//! time.

use std::fs::{Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use tokio::runtime::{Handle, RuntimeFlavor};

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// In the words of the operating system.
    System {
        kind: ErrorKind,
        words: String,
    },
    Directory,
    /// A pipe, a device or a socket.
    NotRegular,
    /// Nothing is in it, and something must be.
    Empty,
    /// It has more bytes than this.
    TooLarge {
        limit: usize,
    },
    /// It is not text in UTF-8.
    NotText,
}

/// How large a kubeconfig, a certificate, a key or a token may be, in bytes.
pub const LARGEST_PART: usize = 16 << 20;

impl Unreadable {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::System { kind: ErrorKind::NotFound, .. })
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::System { kind: error.kind(), words: error.to_string() }
    }
}

/// The text of a regular file.
pub fn read(path: &Path, largest: usize) -> Result<String, Unreadable> {
    let on_worker = Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    match on_worker {
        true => tokio::task::block_in_place(|| read_here(path, largest)),
        false => read_here(path, largest),
    }
}

fn read_here(path: &Path, largest: usize) -> Result<String, Unreadable> {
    // Opening is enough to set some devices going.
    regular(&std::fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // Does not wait for a writer, where a pipe has taken the file's place meanwhile.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
    let file = options.open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(largest as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > largest {
        return Err(Unreadable::TooLarge { limit: largest });
    }
    String::from_utf8(bytes).map_err(|_| Unreadable::NotText)
}

fn regular(found: &Metadata) -> Result<(), Unreadable> {
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(()),
        (false, true) => Err(Unreadable::Directory),
        (false, false) => Err(Unreadable::NotRegular),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3).as_deref(), Ok("abc"));
        assert_eq!(read(&path, 2), Err(Unreadable::TooLarge { limit: 2 }));
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read(&path, 3), Err(Unreadable::NotText));
        assert_eq!(read(folder.path(), 3), Err(Unreadable::Directory));
        assert!(read(&folder.path().join("none"), 3).is_err_and(|error| error.is_missing()));
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn pipes_and_devices_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let read = |path: std::path::PathBuf| {
            tokio::time::timeout(
                std::time::Duration::from_secs(20),
                tokio::spawn(async move { read(&path, 3) }),
            )
        };
        assert_eq!(read(pipe.clone()).await.unwrap().unwrap(), Err(Unreadable::NotRegular));
        let zero = read("/dev/zero".into()).await.unwrap().unwrap();
        assert_eq!(zero, Err(Unreadable::NotRegular));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert_eq!(read(link).await.unwrap().unwrap(), Err(Unreadable::NotRegular));
    }
}
