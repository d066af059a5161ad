//! The socket that the provider listens on: the only file that it ever makes.
//!
//! With `--debug` there is no TLS, and the file's mode is all that keeps other users out. The mode is set
//! before the socket listens. Until then every connection is refused, so that there is no moment in which
//! another user could connect, whatever the umask is. No folder is needed for that.

use std::fs::Permissions;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixSocket};

/// The shortest room for a socket's path among the systems we run on is 104 bytes, one of which
/// ends the text.
const LONGEST_PATH: usize = 103;

/// How many connections may wait to be accepted. Terraform opens one.
const BACKLOG: u32 = 128;

/// A bound socket's file. It stays behind when the process is killed, which is why its name says
/// what it is.
pub(super) struct SocketFile(PathBuf);

impl SocketFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    #[expect(clippy::disallowed_methods, reason = "it removes what it made")]
    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[expect(clippy::disallowed_methods, reason = "go-plugin expects the socket there")]
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
    let (socket, file) = bind_for_owner(dir)?;
    Ok((socket.listen(BACKLOG)?, file))
}

/// A socket with a file for its owner alone, which does not listen yet.
#[expect(
    clippy::disallowed_methods,
    reason = "the socket is the one file that the handshake needs"
)]
fn bind_for_owner(dir: &Path) -> std::io::Result<(UnixSocket, SocketFile)> {
    let path = dir.join(format!("plugin{:016x}", RandomState::new().build_hasher().finish()));
    if path.as_os_str().len() > LONGEST_PATH {
        let problem = "the path is too long for a socket";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, problem));
    }
    let socket = UnixSocket::new_stream()?;
    socket.bind(&path)?;
    let file = SocketFile(path);
    if let Err(problem) = std::fs::set_permissions(&file.0, Permissions::from_mode(0o600)) {
        file.remove();
        return Err(problem);
    }
    Ok((socket, file))
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn refuses_a_path_that_no_socket_can_have() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("a".repeat(120));
        std::fs::create_dir(&long).unwrap();
        assert!(bind_in(&long).is_err());
    }

    #[tokio::test]
    async fn nobody_can_connect_before_other_users_are_kept_out() {
        let dir = tempfile::tempdir().unwrap();
        let (socket, file) = bind_for_owner(dir.path()).unwrap();
        let mode = std::fs::metadata(file.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let refused = UnixStream::connect(file.path()).await.unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        let _listener = socket.listen(BACKLOG).unwrap();
        UnixStream::connect(file.path()).await.unwrap();
    }

    #[tokio::test]
    async fn leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let (_listener, socket) = bind_in(dir.path()).unwrap();
        socket.remove();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
