//! What the user's own `kustomize` makes of a folder.
//!
//! It is run as it stands, without plugins, charts or leave to look outside of the folder: those
//! need flags that nobody gives it here. Where it is not installed, `kubectl` has one built in.

use std::process::ExitStatus;
use std::time::Duration;

use k8sconnect_cluster::child::{self, Bounds, Ended, Printed, Unended};
use tfplugin::Context;

/// What can build a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Kustomize,
    Kubectl,
}

impl Program {
    /// As a user would type it.
    pub(crate) fn words(self) -> [&'static str; 2] {
        match self {
            Self::Kustomize => ["kustomize", "build"],
            Self::Kubectl => ["kubectl", "kustomize"],
        }
    }
}

/// Why a folder could not be built.
#[derive(Debug)]
pub(crate) enum KustomizeError {
    NotInstalled,
    Unrunnable(Program, std::io::Error),
    TooLong {
        program: Program,
        time: Duration,
        complaint: String,
    },
    /// The user asked to stop.
    Stopped,
    Failed {
        program: Program,
        status: ExitStatus,
        complaint: String,
    },
    TooMuch(Program, u64),
    NotText(Program),
}

/// Remote bases are fetched by git, which takes its time.
const BOUNDS: Bounds = Bounds { time: Duration::from_secs(180), output: 64 << 20 };
const LONGEST_COMPLAINT: usize = 4000;

pub(crate) async fn build(ctx: &Context, path: &str) -> Result<String, KustomizeError> {
    for program in [Program::Kustomize, Program::Kubectl] {
        let [name, verb] = program.words();
        let mut command = child::command(name);
        command.args([verb, "--", path]);
        let ended = tokio::select! {
            ended = child::run(&mut command, BOUNDS) => ended,
            () = ctx.stopped() => return Err(KustomizeError::Stopped),
        };
        return match ended {
            Ok(ended) => text(program, ended),
            Err(Unended::Missing) => continue,
            Err(Unended::TooLong(stderr)) => {
                let complaint = complaint(&stderr);
                Err(KustomizeError::TooLong { program, time: BOUNDS.time, complaint })
            }
            Err(Unended::Unrunnable(error)) => Err(KustomizeError::Unrunnable(program, error)),
        };
    }
    Err(KustomizeError::NotInstalled)
}

fn text(program: Program, ended: Ended) -> Result<String, KustomizeError> {
    let Ended { status, stdout, stderr } = ended;
    if !status.success() {
        let complaint = complaint(&stderr);
        return Err(KustomizeError::Failed { program, status, complaint });
    }
    if stdout.lost > 0 {
        return Err(KustomizeError::TooMuch(program, BOUNDS.output));
    }
    String::from_utf8(stdout.bytes).map_err(|_| KustomizeError::NotText(program))
}

/// The end of what it wrote.
fn complaint(stderr: &Printed) -> String {
    let said = stderr.words();
    let said = said.lines().map(without_log_prefix).collect::<Vec<_>>().join("\n");
    let skipped = said.chars().count().saturating_sub(LONGEST_COMPLAINT);
    said.chars().skip(skipped).collect()
}

/// A line of kubectl's log begins with how bad it is, when, by which process and in which file of
/// its source: `E1116 14:22:33.123456   12345 builder.go:42] `. Only what follows is for users.
fn without_log_prefix(line: &str) -> &str {
    let Some((prefix, said)) = line.split_once("] ") else {
        return line;
    };
    let words: Vec<_> = prefix.split_whitespace().collect();
    let [mark, time, process, place] = words.as_slice() else {
        return line;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let dated = mark.strip_prefix(['I', 'W', 'E', 'F']).is_some_and(digits);
    let placed = place.rsplit_once(':').is_some_and(|(_, line)| digits(line));
    if dated && placed && time.contains(':') && digits(process) { said } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_says_is_shown_without_when_and_where() {
        let logged = "E1116 14:22:33.123456   12345 builder.go:42] no such file: base";
        assert_eq!(without_log_prefix(logged), "no such file: base");
        for line in ["Error: no such file: [base] here", "E1116 what] it is", "plain"] {
            assert_eq!(without_log_prefix(line), line);
        }
    }
}
