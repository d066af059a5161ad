//! `bench startup`: Terraform starts the provider three to five times a command, so its
//! size, its start and its idle memory are measured against bars, and a miss is an error.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P521_SHA512};

use crate::cargo::{Profile, build_provider};
use crate::screen::{Ink, heading, line, paint};

const RUNS: usize = 50;
const MEGABYTE: f64 = 1_000_000.0;

/// What Terraform puts in the environment to show that it, and no person, is calling.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

struct Bar {
    what: &'static str,
    value: f64,
    most: f64,
    unit: &'static str,
}

pub(crate) fn startup() -> Result<ExitCode> {
    heading("The release binary of the provider");
    let binary = build_provider(Profile::Release)?;
    let size = std::fs::metadata(&binary)?.len();
    let certificate = client_certificate()?;
    // The first start reads the binary from the disk: that is the disk's time, not ours.
    Running::start(&binary, &certificate)?;
    let mut starts = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        starts.push(Running::start(&binary, &certificate)?.took);
    }
    starts.sort();
    let resident = Running::start(&binary, &certificate)?.settled_memory()?;

    let median = starts[RUNS / 2].as_secs_f64() * 1000.0;
    let bars = [
        Bar { what: "binary", value: size as f64 / MEGABYTE, most: 15.0, unit: "MB" },
        Bar { what: "spawn to handshake, median", value: median, most: 5.0, unit: "ms" },
        Bar {
            what: "resident while idle",
            value: resident as f64 / MEGABYTE,
            most: 10.0,
            unit: "MB",
        },
    ];
    let mut missed = 0;
    for bar in &bars {
        let held = bar.value <= bar.most;
        let mark = if held {
            paint(Ink::Green, "held")
        } else {
            missed += 1;
            paint(Ink::Red, "MISSED")
        };
        line(&format!(
            "{:<28}{:>8.2} {}   at most {:>4} {}   {mark}",
            bar.what, bar.value, bar.unit, bar.most, bar.unit
        ));
    }
    let p90 = starts[RUNS * 9 / 10].as_secs_f64() * 1000.0;
    line(&format!("{:<28}{p90:>8.2} ms   of {RUNS} starts", "spawn to handshake, p90"));
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// As Terraform makes one: self-signed, on the curve that go-plugin uses.
fn client_certificate() -> Result<String> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512)?;
    let params = CertificateParams::new(vec!["localhost".to_owned()])?;
    Ok(params.self_signed(&key)?.pem())
}

/// A provider that has said its handshake line; ended when dropped.
struct Running {
    child: Child,
    socket: PathBuf,
    took: Duration,
}

impl Running {
    fn start(binary: &Path, certificate: &str) -> Result<Self> {
        let started = Instant::now();
        let mut child = Command::new(binary)
            .env(COOKIE.0, COOKIE.1)
            .env("PLUGIN_PROTOCOL_VERSIONS", "6")
            .env("PLUGIN_MIN_PORT", "10000")
            .env("PLUGIN_MAX_PORT", "25000")
            .env("PLUGIN_CLIENT_CERT", certificate)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("`{}` cannot be started", binary.display()))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut handshake = String::new();
        BufReader::new(stdout).read_line(&mut handshake)?;
        let took = started.elapsed();
        let fields: Vec<&str> = handshake.split('|').collect();
        let ["1", "6", "unix", socket, ..] = fields.as_slice() else {
            let _ = child.kill();
            let _ = child.wait();
            bail!("the provider's first line is no handshake: {handshake:?}");
        };
        Ok(Self { child, socket: PathBuf::from(socket), took })
    }

    /// Resident bytes once they no longer change.
    fn settled_memory(&self) -> Result<u64> {
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut last = self.memory()?;
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = self.memory()?;
            if now == last || Instant::now() > deadline {
                return Ok(now);
            }
            last = now;
        }
    }

    fn memory(&self) -> Result<u64> {
        let answer = Command::new("ps")
            .args(["-o", "rss=", "-p", &self.child.id().to_string()])
            .output()
            .context("`ps` is needed to read the memory of a process")?;
        let kibibytes: u64 = String::from_utf8_lossy(&answer.stdout)
            .trim()
            .parse()
            .context("`ps` gave no number")?;
        Ok(kibibytes * 1024)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Killed, it could not do this itself.
        let _ = std::fs::remove_file(&self.socket);
    }
}
