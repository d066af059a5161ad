//! The chart that README shows: what a no-change plan takes, beside the floor.

use std::fmt::Write;

use super::Distance;
use super::contender::Contender;
use super::life::{Measured, Phase};
use super::workload::Workload;

const WIDTH: f64 = 760.0;
const LABEL: f64 = 170.0;
const BAR: f64 = 18.0;
const GAP: f64 = 6.0;

pub(crate) fn draw(all: &[Measured]) -> String {
    let size = [500, 100, 1000]
        .into_iter()
        .find(|size| all.iter().any(|one| one.size == *size))
        .unwrap_or_default();
    let shown: Vec<&Measured> = all
        .iter()
        .filter(|one| {
            one.phase == Phase::NoChange && one.distance == Distance::Near && one.size == size
        })
        .collect();
    let longest = shown.iter().map(|one| one.wall.as_secs_f64()).fold(0.001, f64::max);
    let mut body = String::new();
    let mut y = 34.0;
    for workload in [Workload::ConfigMap, Workload::Deployment] {
        let _ = writeln!(
            body,
            r#"<text x="0" y="{:.0}" class="h">{size} × {}: seconds, and memory of the provider</text>"#,
            y + 12.0,
            workload.name()
        );
        y += 22.0;
        for one in shown.iter().filter(|one| one.workload == workload) {
            bar(&mut body, y, one, longest);
            y += BAR + GAP;
        }
        y += 12.0;
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0} {y:.0}" width="{WIDTH:.0}" height="{y:.0}" font-family="sans-serif" font-size="13">
<style>text {{ fill: #333 }} .t {{ font-weight: bold; font-size: 15px }} .h {{ font-weight: bold }} @media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} }}</style>
<text x="0" y="16" class="t">A plan in which nothing changes</text>
{body}</svg>
"##
    )
}

fn bar(body: &mut String, y: f64, one: &Measured, longest: f64) {
    let wall = one.wall.as_secs_f64();
    let room = WIDTH - LABEL - 130.0;
    let length = (wall / longest * room).max(1.0);
    let colour = match one.contender {
        Contender::Floor => "#9aa0a6",
        Contender::Ours => "#1a7f5a",
        Contender::Kubectl | Contender::Kubernetes => "#c2703d",
    };
    let text = y + BAR - 5.0;
    let _ = writeln!(
        body,
        r#"<text x="{:.0}" y="{text:.0}" text-anchor="end">{}</text><rect x="{LABEL:.0}" y="{y:.0}" width="{length:.1}" height="{BAR:.0}" fill="{colour}"/><text x="{:.1}" y="{text:.0}">{wall:.2} s, {:.0} MB</text>"#,
        LABEL - 8.0,
        one.contender.name(),
        LABEL + length + 6.0,
        one.usage.peak as f64 / 1_000_000.0,
    );
}
