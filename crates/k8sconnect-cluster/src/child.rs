//! Commands of the user's that are run for what they print: credential plugins, `kustomize`.
//!
//! Nobody sits at a terminal, so there is no stdin. Time is bounded, and so is what is kept of the
//! output; a command is never left running. What the output means is for the caller to judge.

use std::io::ErrorKind;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// How much a command may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub time: Duration,
    /// In bytes, for stdout and stderr each.
    pub output: u64,
}

/// How a command ended, whether it succeeded or not.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Printed,
    pub stderr: Printed,
}

/// What a command printed, up to the bound.
#[derive(Debug, Default)]
pub struct Printed {
    pub bytes: Vec<u8>,
    /// How many bytes went beyond the bound and were not kept.
    pub lost: u64,
}

/// Why a command did not come to its end.
#[derive(Debug)]
pub enum Unended {
    /// There is no such command on this machine.
    Missing,
    TooLong,
    Unrunnable(std::io::Error),
}

/// Runs a command to its end. It is killed where it takes too long, or where nobody waits for it
/// any more.
pub async fn run(command: &mut Command, bounds: Bounds) -> Result<Ended, Unended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let run = async {
        let mut child = command.spawn()?;
        let (stdout, stderr) = tokio::join!(
            drain(child.stdout.take(), bounds.output),
            drain(child.stderr.take(), bounds.output)
        );
        Ok(Ended { status: child.wait().await?, stdout: stdout?, stderr: stderr? })
    };
    let ended: Result<_, std::io::Error> =
        tokio::time::timeout(bounds.time, run).await.map_err(|_| Unended::TooLong)?;
    ended.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Unended::Missing,
        _ => Unended::Unrunnable(error),
    })
}

/// Reads on past the bound without keeping it: a command whose pipe is full never ends.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Printed> {
    let mut printed = Printed::default();
    if let Some(mut pipe) = pipe {
        (&mut pipe).take(most).read_to_end(&mut printed.bytes).await?;
        printed.lost = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    }
    Ok(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn shell(script: &str, time: Duration) -> Result<Ended, Unended> {
        run(Command::new("sh").args(["-c", script]), Bounds { time, output: 4 }).await
    }

    #[tokio::test]
    async fn what_goes_beyond_the_bound_is_counted_and_the_command_ends() {
        let ended =
            shell("head -c 300000 /dev/zero; printf no >&2; exit 3", Duration::from_secs(30));
        let ended = ended.await.unwrap();
        assert_eq!((ended.stdout.bytes.len(), ended.stdout.lost), (4, 299_996));
        assert_eq!((ended.stderr.bytes, ended.stderr.lost), (b"no".to_vec(), 0));
        assert_eq!(ended.status.code(), Some(3));
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_ended() {
        let ended = shell("exec sleep 300", Duration::from_millis(50)).await;
        assert!(matches!(ended, Err(Unended::TooLong)), "{ended:?}");
    }

    #[tokio::test]
    async fn a_command_that_is_not_there_is_told_as_missing() {
        let bounds = Bounds { time: Duration::from_secs(5), output: 4 };
        let ended = run(&mut Command::new("no-such-command-at-all"), bounds).await;
        assert!(matches!(ended, Err(Unended::Missing)), "{ended:?}");
    }
}
