//! What the parts of a control plane have spent of the processor, as the kernel counts it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::ControlPlane;

/// The unit in which Linux tells programs of processor time, on every machine.
const TICK: Duration = Duration::from_millis(10);

impl ControlPlane {
    /// All of its processes together, since they were started.
    pub fn spent(&self) -> Result<Duration> {
        let mut spent = Duration::ZERO;
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "pid") {
                spent += of_process(fs::read_to_string(&path)?.trim())
                    .with_context(|| format!("what `{}` spent", path.display()))?;
            }
        }
        Ok(spent)
    }
}

fn of_process(pid: &str) -> Result<Duration> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"))?;
    // The name, which may hold anything, stands in brackets before all numbers.
    let (_, numbers) = stat.rsplit_once(')').context("no name in it")?;
    let ticks = numbers.split_whitespace().skip(11).take(2);
    ticks.map(|ticks| Ok(TICK * ticks.parse::<u32>()?)).sum()
}
