//! Commands of the user's that are run for what they print: credential plugins, `kustomize`.
//!
//! Nobody sits at a terminal, so there is no stdin. Time is bounded, and so is what is kept of the
//! output; a command is never left running, nor is what it started: many a command is a script
//! around another. What the output means is for the caller to judge.

use std::io::ErrorKind;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use self::family::Family;

mod family;

/// What Terraform tells a provider by its environment when it starts it (go-plugin), and nobody else:
/// a child that is a plugin itself would take it for its own.
const HANDSHAKE: [&str; 8] = [
    "TF_PLUGIN_MAGIC_COOKIE",
    "PLUGIN_CLIENT_CERT",
    "PLUGIN_MAX_PORT",
    "PLUGIN_MIN_PORT",
    "PLUGIN_MULTIPLEX_GRPC",
    "PLUGIN_PROTOCOL_VERSIONS",
    "PLUGIN_UNIX_SOCKET_DIR",
    "PLUGIN_UNIX_SOCKET_GROUP",
];

/// A command with the environment of this process, as kubectl hands it on, except what is between
/// Terraform and the provider.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for name in HANDSHAKE {
        command.env_remove(name);
    }
    command
}

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

impl Printed {
    /// As words that stand in other words: without colours, titles and other commands to a terminal.
    pub fn words(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut parts = text.split(ESCAPE);
        let mut shown = parts.next().unwrap_or_default().to_owned();
        shown.extend(parts.map(after_sequence));
        shown.trim().to_owned()
    }
}

const ESCAPE: char = '\u{1b}';

/// The text behind a sequence that an escape began: a command with its numbers, which ends with a
/// letter; a text for the terminal itself, which ends with a bell or another escape; or a character.
fn after_sequence(sequence: &str) -> &str {
    let mut rest = sequence.chars();
    match rest.next() {
        Some('[') => {
            let numbers = rest.as_str().trim_start_matches(|c| matches!(c, ' '..='?'));
            numbers.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(numbers)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.as_str().split_once('\u{7}').map_or("", |it| it.1)
        }
        Some(' '..='/') => rest.as_str().get(1..).unwrap_or_default(),
        _ => rest.as_str(),
    }
}

/// Why a command did not come to its end.
#[derive(Debug)]
pub enum Unended {
    /// There is no such command on this machine.
    Missing,
    /// With what it had written to stderr by then.
    TooLong(Printed),
    Unrunnable(std::io::Error),
}

/// What has ended may have left somebody behind who holds its pipes open, and says nothing more.
const AFTER_THE_END: Duration = Duration::from_millis(500);

/// Runs a command to its end. It is killed, and with it all that it started, where it takes too
/// long, or where nobody waits for it any more. What it leaves behind when it ends by itself is
/// meant to stay: a cache of logins, for one.
pub async fn run(command: &mut Command, bounds: Bounds) -> Result<Ended, Unended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    Family::found_by(command);
    let (mut stdout, mut stderr) = (Printed::default(), Printed::default());
    let run = async {
        let mut child = command.spawn()?;
        let family = Family::of(&child);
        let (out, err) = (child.stdout.take(), child.stderr.take());
        {
            let draining = async {
                tokio::try_join!(
                    drain(out, bounds.output, &mut stdout),
                    drain(err, bounds.output, &mut stderr)
                )
            };
            tokio::pin!(draining);
            tokio::select! {
                drained = &mut draining => {
                    drained?;
                    let status = child.wait().await?;
                    family.leave();
                    Ok(status)
                }
                status = child.wait() => {
                    family.leave();
                    if let Ok(drained) = tokio::time::timeout(AFTER_THE_END, draining).await {
                        drained?;
                    }
                    status
                }
            }
        }
    };
    let ended: Result<ExitStatus, std::io::Error> =
        match tokio::time::timeout(bounds.time, run).await {
            Ok(ended) => ended,
            Err(_) => return Err(Unended::TooLong(stderr)),
        };
    match ended {
        Ok(status) => Ok(Ended { status, stdout, stderr }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Unended::Missing),
        Err(error) => Err(Unended::Unrunnable(error)),
    }
}

/// Reads on past the bound without keeping it: a command whose pipe is full never ends.
async fn drain(
    pipe: Option<impl AsyncRead + Unpin>,
    most: u64,
    printed: &mut Printed,
) -> std::io::Result<()> {
    let Some(mut pipe) = pipe else {
        return Ok(());
    };
    let mut chunk = [0; 8192];
    loop {
        let read = pipe.read(&mut chunk).await?;
        if read == 0 {
            return Ok(());
        }
        let room = most.saturating_sub(printed.bytes.len() as u64);
        let kept = usize::try_from(room).unwrap_or(usize::MAX).min(read);
        printed.bytes.extend_from_slice(&chunk[..kept]);
        printed.lost += (read - kept) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn shell(script: &str, time: Duration) -> Result<Ended, Unended> {
        run(Command::new("sh").args(["-c", script]), Bounds { time, output: 4 }).await
    }

    #[test]
    fn what_is_between_terraform_and_the_provider_is_not_handed_on() {
        let command = command("plugin");
        let handed: Vec<_> = command.as_std().get_envs().collect();
        assert!(handed.contains(&("PLUGIN_CLIENT_CERT".as_ref(), None)), "{handed:?}");
        assert!(handed.contains(&("TF_PLUGIN_MAGIC_COOKIE".as_ref(), None)), "{handed:?}");
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
        let ended = shell("printf help >&2; exec sleep 300", Duration::from_secs(1)).await;
        let Err(Unended::TooLong(said)) = ended else { panic!("{ended:?}") };
        assert_eq!(said.words(), "help");
    }

    #[test]
    fn words_are_shown_without_what_is_meant_for_a_terminal() {
        let words = |text: &str| Printed { bytes: text.into(), lost: 0 }.words();
        assert_eq!(words("\u{1b}[1;31mERROR\u{1b}[0m: log in\u{1b}[K\n"), "ERROR: log in");
        assert_eq!(words("\u{1b}]0;title\u{7}a\u{1b}]8;;u\u{1b}\\b\u{1b}(Bc"), "abc");
        assert_eq!(words("plain [31m é"), "plain [31m é");
        for cut_off in ["a\u{1b}", "a\u{1b}[", "a\u{1b}[31", "a\u{1b}]0;title"] {
            assert_eq!(words(cut_off), "a", "{cut_off:?}");
        }
        assert_eq!(words("\u{1b}[31é"), "é");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_a_command_has_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        let script = format!("sleep 300 & echo $! > '{}'; wait", note.display());
        let started = async || loop {
            let noted = std::fs::read_to_string(&note).unwrap_or_default();
            match noted.trim().parse() {
                Ok(pid) => return nix::unistd::Pid::from_raw(pid),
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        // As an interrupt has it, nobody waits any more.
        let pid = tokio::select! {
            ended = shell(&script, Duration::from_secs(60)) => panic!("{ended:?}"),
            pid = started() => pid,
        };
        assert!(is_gone(pid).await, "{pid} outlives that nobody waits for it");

        std::fs::remove_file(&note).unwrap();
        let ended = shell(&script, Duration::from_secs(2)).await;
        assert!(matches!(ended, Err(Unended::TooLong(_))), "{ended:?}");
        let pid = started().await;
        assert!(is_gone(pid).await, "{pid} outlives the limit");
    }

    /// Whoever inherits what was killed may take its time to bury it.
    #[cfg(unix)]
    async fn is_gone(pid: nix::unistd::Pid) -> bool {
        for _ in 0..500 {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
            let is_dead = status.is_ok_and(|status| status.contains("State:\tZ"));
            if is_dead || nix::sys::signal::kill(pid, None).is_err() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    #[tokio::test]
    async fn whoever_a_command_leaves_behind_is_not_waited_for() {
        let began = std::time::Instant::now();
        let ended = shell("printf yes; sleep 20 & exit 0", Duration::from_secs(30)).await.unwrap();
        assert_eq!((ended.stdout.bytes, ended.status.code()), (b"yes".to_vec(), Some(0)));
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn a_command_that_is_not_there_is_told_as_missing() {
        let bounds = Bounds { time: Duration::from_secs(5), output: 4 };
        let ended = run(&mut Command::new("no-such-command-at-all"), bounds).await;
        assert!(matches!(ended, Err(Unended::Missing)), "{ended:?}");
    }
}
