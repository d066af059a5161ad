//! The socket that the provider listens on.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// The shortest room for a socket's path among the systems we run on is 104 bytes, one of which
/// ends the text.
const LONGEST_PATH: usize = 103;

/// A bound socket's file. It stays behind when the process is killed, which is why its name says
/// what it is.
pub(super) struct SocketFile(PathBuf);

impl SocketFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn bind() -> std::io::Result<(UnixListener, SocketFile)> {
    let wanted = std::env::var_os("PLUGIN_UNIX_SOCKET_DIR")
        .filter(|dir| !dir.is_empty())
        .map_or_else(std::env::temp_dir, PathBuf::from);
    bind_in(&wanted).or_else(|err| match err.kind() {
        // A directory that is missing or not ours is as little use as one with a long name.
        _ if wanted != Path::new("/tmp") => bind_in(Path::new("/tmp")),
        _ => Err(err),
    })
}

fn bind_in(dir: &Path) -> std::io::Result<(UnixListener, SocketFile)> {
    let path = dir.join(format!("plugin{:016x}", RandomState::new().build_hasher().finish()));
    if path.as_os_str().len() > LONGEST_PATH {
        let problem = "the path is too long for a socket";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, problem));
    }
    let listener = UnixListener::bind(&path)?;
    // Without TLS (in debug mode) the file's mode is all that keeps other users out.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, SocketFile(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refuses_a_path_that_no_socket_can_have() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("a".repeat(120));
        std::fs::create_dir(&long).unwrap();
        assert!(bind_in(&long).is_err());
    }

    #[tokio::test]
    async fn keeps_other_users_out_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let (_listener, socket) = bind_in(dir.path()).unwrap();
        let mode = std::fs::metadata(socket.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        socket.remove();
        assert!(!socket.path().exists());
    }
}
