//! Files that a user names: kubeconfigs, certificates, keys, tokens, manifests.
//!
//! Only regular files are read. A pipe has no end until somebody writes to it, and a device may have
//! none at all. A file that is too large for what it should be is not read to its end. Whoever reads
//! on a worker of the runtime hands its other tasks over first, since a file system may take its
//! time.

use std::fmt;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use tokio::runtime::{Handle, RuntimeFlavor};

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The operating system says so, in these words.
    System { kind: ErrorKind, words: String },
    /// It is something else than a regular file.
    Not(Sort),
    /// It has more bytes than this.
    TooLarge { limit: usize },
    /// It is not in UTF-8.
    NoText,
}

/// What has a path and is no regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Directory,
    Pipe,
    Device,
    Socket,
    Other,
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

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { words, .. } => f.write_str(words),
            Self::Not(Sort::Directory) => f.write_str("it is a directory"),
            Self::Not(Sort::Pipe) => f.write_str("it is a named pipe, not a regular file"),
            Self::Not(Sort::Device) => f.write_str("it is a device, not a regular file"),
            Self::Not(Sort::Socket) => f.write_str("it is a socket, not a regular file"),
            Self::Not(Sort::Other) => f.write_str("it is not a regular file"),
            Self::TooLarge { limit } => write!(f, "it has more than {} MiB", limit >> 20),
            Self::NoText => f.write_str("it is not text in UTF-8"),
        }
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
    let file = open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(largest as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > largest {
        return Err(Unreadable::TooLarge { limit: largest });
    }
    String::from_utf8(bytes).map_err(|_| Unreadable::NoText)
}

fn regular(found: &Metadata) -> Result<(), Unreadable> {
    if found.is_file() { Ok(()) } else { Err(Unreadable::Not(Sort::of(found.file_type()))) }
}

/// Does not wait for a writer, where a pipe has taken the file's place meanwhile.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

impl Sort {
    #[cfg(unix)]
    fn of(kind: FileType) -> Self {
        use std::os::unix::fs::FileTypeExt;
        match kind {
            _ if kind.is_dir() => Self::Directory,
            _ if kind.is_fifo() => Self::Pipe,
            _ if kind.is_char_device() || kind.is_block_device() => Self::Device,
            _ if kind.is_socket() => Self::Socket,
            _ => Self::Other,
        }
    }

    #[cfg(not(unix))]
    fn of(kind: FileType) -> Self {
        if kind.is_dir() { Self::Directory } else { Self::Other }
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
        assert_eq!(read(&path, 3), Err(Unreadable::NoText));
        assert_eq!(read(folder.path(), 3), Err(Unreadable::Not(Sort::Directory)));
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
        assert_eq!(read(pipe.clone()).await.unwrap().unwrap(), Err(Unreadable::Not(Sort::Pipe)));
        let zero = read("/dev/zero".into()).await.unwrap().unwrap();
        assert_eq!(zero, Err(Unreadable::Not(Sort::Device)));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert_eq!(read(link).await.unwrap().unwrap(), Err(Unreadable::Not(Sort::Pipe)));
    }
}
