//! What was measured, as a table for people and as JSON for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::bars::{Outcome, Verdict};
use super::chart;
use super::contender::Contender;
use super::life::{Measured, Phase};
use crate::screen::{Ink, heading, line, paint};

const MEGABYTE: f64 = 1_000_000.0;

/// How something is emphasised.
type Emphasis = fn(Ink, &str) -> String;

/// For a file, which knows no colours.
fn plain(_: Ink, text: &str) -> String {
    text.to_owned()
}

/// Answers with how many bars were missed.
pub(crate) fn print(all: &[Measured], verdicts: &[Verdict]) -> usize {
    for (title, rows) in tables(all, paint) {
        heading(&title);
        rows.iter().for_each(|row| line(row));
    }
    heading("Bars");
    bars(verdicts, paint).iter().for_each(|row| line(row));
    verdicts.iter().filter(|verdict| verdict.outcome() == Outcome::Missed).count()
}

/// For each setup its title and its rows.
fn tables(all: &[Measured], emphasis: Emphasis) -> Vec<(String, Vec<String>)> {
    let setups: BTreeSet<_> =
        all.iter().map(|one| (one.distance, one.workload, one.size)).collect();
    let mut tables = Vec::new();
    for (distance, workload, size) in setups {
        let mut rows = vec![emphasis(
            Ink::Dim,
            &format!(
                "{:<24}{:<22}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}  requests for each object (and others)",
                "phase", "provider", "wall s", "× floor", "cpu s", "its core", "server", "peak MB"
            ),
        )];
        for phase in Phase::ALL {
            let floor = all
                .iter()
                .find(|one| {
                    (one.distance, one.workload, one.size, one.phase, one.contender)
                        == (distance, workload, size, phase, Contender::Floor)
                })
                .map(|one| one.wall.as_secs_f64());
            for one in all.iter().filter(|one| {
                (one.distance, one.workload, one.size, one.phase)
                    == (distance, workload, size, phase)
            }) {
                let wall = one.wall.as_secs_f64();
                let ratio = floor.map_or_else(String::new, |floor| format!("{:.2}", wall / floor));
                rows.push(format!(
                    "{:<24}{:<22}{wall:>9.2}{ratio:>9}{:>9.2}{:>9.2}{:>9.2}{:>9.1}  {}",
                    phase.name(),
                    one.contender.name(),
                    one.usage.processor.as_secs_f64(),
                    one.terraform.as_secs_f64(),
                    one.server.as_secs_f64(),
                    one.usage.peak as f64 / MEGABYTE,
                    requests(one),
                ));
            }
        }
        tables.push((format!("{size} × {}, {}", workload.name(), distance.name()), rows));
    }
    tables
}

fn requests(one: &Measured) -> String {
    let each: Vec<String> = one
        .requests
        .iter()
        .map(|(verb, count)| {
            let share = *count as f64 / one.size as f64;
            let share =
                if share.fract() == 0.0 { format!("{share}") } else { format!("{share:.2}") };
            format!("{share} {verb}")
        })
        .collect();
    format!("{} (+{})", each.join(", "), one.others)
}

fn bars(verdicts: &[Verdict], emphasis: Emphasis) -> Vec<String> {
    let mut rows = Vec::new();
    for verdict in verdicts {
        let mark = match verdict.outcome() {
            Outcome::Held => emphasis(Ink::Green, "held"),
            Outcome::Theirs => emphasis(Ink::Dim, "missed by others"),
            Outcome::Missed => emphasis(Ink::Red, "MISSED"),
        };
        rows.push(format!(
            "{:<78}{:>8.2} {:<3} at most {:>6.2} {:<3} {mark}",
            verdict.what, verdict.value, verdict.unit, verdict.most, verdict.unit
        ));
        if let (false, Some(profile)) = (verdict.outcome() == Outcome::Held, &verdict.profile) {
            let spent: Vec<_> =
                profile.0.iter().map(|(who, spent)| format!("{who} {spent:.2} s")).collect();
            rows.push(emphasis(Ink::Dim, &format!("  processor time: {}", spent.join(", "))));
        }
    }
    rows
}

pub(crate) fn write(folder: &Path, all: &[Measured], verdicts: &[Verdict]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let rows: Vec<Value> = all
        .iter()
        .map(|one| {
            json!({
                "provider": one.contender.name(),
                "latency": one.distance.name(),
                "kind": one.workload.name(),
                "objects": one.size,
                "phase": one.phase.name(),
                "wall_seconds": rounded(one.wall.as_secs_f64()),
                "processor_seconds": rounded(one.usage.processor.as_secs_f64()),
                "terraform_processor_seconds": rounded(one.terraform.as_secs_f64()),
                "server_processor_seconds": rounded(one.server.as_secs_f64()),
                "peak_bytes": one.usage.peak,
                "processes": one.usage.processes,
                "requests": one.requests,
                "other_requests": one.others,
            })
        })
        .collect();
    let bars: Vec<Value> = verdicts
        .iter()
        .map(|verdict| {
            json!({
                "what": verdict.what,
                "value": rounded(verdict.value),
                "most": rounded(verdict.most),
                "unit": verdict.unit,
                "outcome": match verdict.outcome() {
                    Outcome::Held => "held",
                    Outcome::Theirs => "missed, most of the time is not the provider's",
                    Outcome::Missed => "missed",
                },
                "processor_seconds": verdict.profile.as_ref().map(|profile| {
                    let spent = profile.0.iter().map(|(who, spent)| (*who, rounded(*spent)));
                    spent.collect::<BTreeMap<_, _>>()
                }),
            })
        })
        .collect();
    let report = json!({ "machine": machine(), "bars": bars, "measured": rows });
    std::fs::write(folder.join("results.json"), serde_json::to_string_pretty(&report)? + "\n")?;
    std::fs::write(folder.join("table.txt"), page(all, verdicts))?;
    std::fs::write(folder.join("chart.svg"), chart::draw(all))
        .with_context(|| format!("`{}` cannot be written", folder.display()))
}

/// All that is printed, as text.
fn page(all: &[Measured], verdicts: &[Verdict]) -> String {
    let mut page = String::new();
    if let Value::Object(machine) = machine() {
        for (what, value) in &machine {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            page.push_str(&format!("{what:<12}{value}\n"));
        }
    }
    let bars = ("Bars".to_owned(), bars(verdicts, plain));
    for (title, rows) in tables(all, plain).into_iter().chain([bars]) {
        page.push_str(&format!("\n{title}\n"));
        rows.iter().for_each(|row| page.push_str(&format!("  {row}\n")));
    }
    page
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// What the figures were had on, as far as it can be told.
fn machine() -> Value {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    json!({
        "system": said("uname", &["-sm"]),
        "processor": processor,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "rustc": said("rustc", &["--version"]),
        "commit": said("git", &["rev-parse", "--short", "HEAD"]),
    })
}
