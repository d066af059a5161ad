//! Runs a program in its own place and notes what it used, once it has ended.
//!
//! `k8sconnect-ward REPORT PROGRAM [ARGUMENT…]` appends one line to the report: microseconds of
//! processor time and the peak of resident bytes. Terraform starts a provider several times a
//! command, so the report has several lines. Whatever the program says passes through untouched.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let report = arguments.next().context("a file for the report is needed")?;
    let program = arguments.next().context("a program to run is needed")?;
    let status = Command::new(&program).args(arguments).status()?;
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let processor = used.user_time() + used.system_time();
    // In kibibytes everywhere but on macOS.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let line = format!("{} {}\n", processor.num_microseconds(), used.max_rss() * unit);
    OpenOptions::new().create(true).append(true).open(report)?.write_all(line.as_bytes())?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into())
}
