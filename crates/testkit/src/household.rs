//! A folder and the processes that live in it, all of which end with us: when dropped,
//! and just as surely when this process is killed and can do nothing any more.
//!
//! Each process has a shell as its guard, whose standard input is a pipe that only we
//! hold. When we die the kernel closes the pipe, the guard reads the end of it and kills
//! its ward. A last shell, the janitor, reads from a pipe that every guard holds as its
//! standard output: it sees the end once all guards are gone, and removes the folder.

use std::fs;
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// `$1` is the log, `$2` the file for the ward's pid, the rest the ward itself. A line on
/// standard input releases the ward: it then lives on until somebody ends it. The pid file
/// goes with the ward, so that its number, by then perhaps another's, is never killed.
const GUARD: &str = r#"
log=$1; pidfile=$2; shift 2
exec 3<&0
"$@" </dev/null 3<&- >>"$log" 2>&1 &
ward=$!
echo "$ward" >"$pidfile"
( read -r released <&3 && exit; test -e "$pidfile" && kill -9 "$ward" ) &
exec 3<&- <&-
wait "$ward"
outcome=$?
rm -f "$pidfile"
exit "$outcome"
"#;

const JANITOR: &str = r#"
trap '' INT TERM HUP
while read -r line; do :; done
rm -rf "$1"
"#;

pub(crate) struct Household {
    folder: PathBuf,
    wards: Vec<Ward>,
    /// Ours; the guards have copies. `None` once we are leaving.
    end_of_all: Option<PipeWriter>,
    janitor: Child,
}

struct Ward {
    name: &'static str,
    guard: Child,
    /// How it was started, to be started so again.
    program: PathBuf,
    arguments: Vec<String>,
}

/// What became of a process that should be running.
pub(crate) enum Fate {
    Running,
    Ended(ExitStatus),
}

impl Household {
    pub(crate) fn new() -> Result<Self> {
        let folder = TempDir::with_prefix("k8sconnect-")?;
        let (reader, writer) = io::pipe()?;
        let janitor = Command::new("/bin/sh")
            .args(["-c", JANITOR, "k8sconnect-janitor"])
            .arg(folder.path())
            .current_dir("/")
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("`/bin/sh` cannot be started")?;
        Ok(Self {
            // From here on the folder is the janitor's to remove.
            folder: folder.keep(),
            wards: Vec::new(),
            end_of_all: Some(writer),
            janitor,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    fn pidfile(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.pid"))
    }

    /// Starts `program` under a guard, its output going to its log.
    pub(crate) fn start(
        &mut self,
        name: &'static str,
        program: &Path,
        arguments: &[String],
    ) -> Result<()> {
        let guard = self.guard(name, program, arguments)?;
        let (program, arguments) = (program.to_owned(), arguments.to_vec());
        self.wards.push(Ward { name, guard, program, arguments });
        Ok(())
    }

    fn guard(&self, name: &str, program: &Path, arguments: &[String]) -> Result<Child> {
        let stdout = match &self.end_of_all {
            Some(writer) => Stdio::from(writer.try_clone()?),
            None => Stdio::null(),
        };
        Command::new("/bin/sh")
            .args(["-c", GUARD, "k8sconnect-guard"])
            .arg(self.log(name))
            .arg(self.pidfile(name))
            .arg(program)
            .args(arguments)
            .current_dir(&self.folder)
            // The parts must not find the developer's kubeconfig or kwok configuration.
            .env("HOME", &self.folder)
            .env_remove("KUBECONFIG")
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::null())
            // Ctrl-C goes to the foreground group: the parts shall end because we do.
            .process_group(0)
            .spawn()
            .with_context(|| format!("the guard of `{name}` cannot be started"))
    }

    /// Ends a process as the kernel would: at once, and with nothing tidied up.
    pub(crate) fn kill(&mut self, name: &str) -> Result<()> {
        let ward = self.ward(name)?;
        // Its guard kills it when nobody holds the other end any more.
        drop(ward.guard.stdin.take());
        ward.guard.wait()?;
        Ok(())
    }

    /// Starts a process that was killed, as it was started at first.
    pub(crate) fn revive(&mut self, name: &str) -> Result<()> {
        let ward = self.ward(name)?;
        let (program, arguments) = (ward.program.clone(), ward.arguments.clone());
        let guard = self.guard(name, &program, &arguments)?;
        self.ward(name)?.guard = guard;
        Ok(())
    }

    fn ward(&mut self, name: &str) -> Result<&mut Ward> {
        let ward = self.wards.iter_mut().find(|ward| ward.name == name);
        ward.with_context(|| format!("there is no `{name}` here"))
    }

    /// The first process that has ended, though it should be running.
    pub(crate) fn first_ended(&mut self) -> Result<Option<(&'static str, ExitStatus)>> {
        for ward in &mut self.wards {
            if let Fate::Ended(status) = ward.fate()? {
                return Ok(Some((ward.name, status)));
            }
        }
        Ok(None)
    }

    /// The last lines a process wrote, for error messages.
    pub(crate) fn last_words(&self, name: &str) -> String {
        let path = self.log(name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(12)..].join("\n    ");
        format!("the last lines of `{}`:\n    {tail}", path.display())
    }

    /// Lets the processes live on when we end; answers with their pids. Once they are
    /// ended, by whomever, the janitor removes the folder.
    pub(crate) fn release(mut self) -> Result<Vec<u32>> {
        let mut pids = Vec::new();
        for ward in &mut self.wards {
            if let Some(stdin) = &mut ward.guard.stdin {
                stdin.write_all(b"released\n")?;
            }
        }
        for ward in &self.wards {
            let text = fs::read_to_string(self.pidfile(ward.name))?;
            pids.push(text.trim().parse().context("a pid file holds no pid")?);
        }
        // Nothing is left for `drop` to end or to wait for.
        self.wards.clear();
        self.end_of_all = None;
        Ok(pids)
    }
}

impl Ward {
    fn fate(&mut self) -> Result<Fate> {
        Ok(match self.guard.try_wait()? {
            None => Fate::Running,
            Some(status) => Fate::Ended(status),
        })
    }
}

impl Drop for Household {
    fn drop(&mut self) {
        let released = self.wards.is_empty() && self.end_of_all.is_none();
        for ward in &mut self.wards {
            drop(ward.guard.stdin.take());
        }
        for ward in &mut self.wards {
            let _ = ward.guard.wait();
        }
        self.end_of_all = None;
        if !released {
            let _ = self.janitor.wait();
        }
    }
}
