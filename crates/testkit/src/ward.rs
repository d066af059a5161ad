//! What a provider uses: processor time and memory of processes that Terraform starts and ends
//! as it likes. Each runs under a ward that asks the kernel once it has ended; looking at the
//! process from outside would miss its last moments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::built;

/// A program that notes what it uses, each time that it is run.
pub struct Warded {
    script: PathBuf,
    report: PathBuf,
}

/// What all the processes of one command used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub processes: usize,
    /// Of all together.
    pub processor: Duration,
    /// Of the largest, in bytes.
    pub peak: u64,
}

impl Warded {
    /// Puts a stand-in for `program` into `folder`.
    pub async fn new(folder: &Path, program: &Path) -> Result<Self> {
        let ward = built::binary("testkit", "k8sconnect-ward").await?;
        let (script, report) = (folder.join("warded"), folder.join("usage"));
        let quoted =
            |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let text = format!(
            "#!/bin/sh\nexec {} {} {} \"$@\"\n",
            quoted(&ward),
            quoted(&report),
            quoted(program)
        );
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        Ok(Self { script, report })
    }

    /// What is to be run instead of the program.
    pub fn program(&self) -> &Path {
        &self.script
    }

    /// What was used since the last time that this was asked.
    pub fn take(&self) -> Result<Usage> {
        let text = fs::read_to_string(&self.report).context("the provider has not been run")?;
        fs::remove_file(&self.report)?;
        text.lines().try_fold(Usage::default(), |so_far, line| {
            let (processor, peak) = line.split_once(' ').context("a broken line in the report")?;
            Ok(Usage {
                processes: so_far.processes + 1,
                processor: so_far.processor + Duration::from_micros(processor.parse()?),
                peak: so_far.peak.max(peak.parse()?),
            })
        })
    }
}
