//! `cargo xtask demo | cluster | test | corpus | faults | bench | supply | reproduce`: the commands
//! that a newcomer and CI run.
//! They only drive; what they drive lives in `testkit` and in the crates themselves.

#![expect(clippy::print_stdout, reason = "a command line tool talks to its user")]

mod bench;
mod cargo;
mod cluster;
mod corpus;
mod demo;
mod faults;
mod screen;
mod supply;
mod test;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use testkit::Tool;
use testkit::assets::{KubernetesVersion, Wanted};

const USAGE: &str = "\
usage: cargo xtask <command>

  demo [--keep]      the provider at work on a real API server, told step by step
                     --keep leaves the cluster up and says how to use it
  cluster            a whole control plane to try things on, until Ctrl-C
  test [--fast | --all] [--kubernetes VERSION] [FILTER]
                     formats, lints and every test; the last line counts them
                     --fast runs what needs no cluster
                     --all runs the long sweeps, as every night does
                     FILTER runs only tests whose name contains it, and no lints
  corpus DIR [--seed N]
                     every document of the YAML files in DIR through its whole life;
                     a table of what failed. N repeats a run
  corpus DIR --every-leaf | --sample N [--seed N] [--only PART]
                     every leaf of those documents (or N edits of each) changed and
                     removed in turn and planned, without Terraform; with PART just of
                     those with it in their name
  faults [--quick] [--tofu] [CASE]
                     every operation with every fault at every request, and the provider
                     killed there; a table of what became of each, by the newest
                     Terraform
                     --quick tries a part of them, --tofu all by OpenTofu and as it does
                     CASE (`object-create`, `object-create/2/503`, `'*/*/503'`) tries just
                     those, and says more
  bench [--quick | --objects N] [--without-peers] [--patiently]
                     ours, two peers and a floor side by side: times, memory and requests,
                     against the bars; bench/ holds what was found
                     --quick measures 100 objects, not 500 and 1000 as well, --objects
                     just N
                     --patiently leaves no slow peer out of the large ones
  bench startup      size, start and memory of the release binary, against the bars
  supply [--offline] licences, sources and known holes of all that the provider is made of,
                     and its bill of materials; --offline leaves the known holes out
  reproduce          two release builds of the last commit, in two places: the same bytes";

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["demo"] => demo::run(demo::Afterwards::Remove).await,
        ["demo", "--keep"] => demo::run(demo::Afterwards::Keep).await,
        ["cluster"] => cluster::run().await,
        ["test", flags @ ..] => test::run(test_options(flags)?).await,
        ["corpus", flags @ ..] => {
            let options = corpus_options(flags)?;
            match options.course {
                corpus::Course::Leaves(_) if cfg!(debug_assertions) => {
                    println!("Building the provider as users get it");
                    cargo::again_in_release(&words)
                }
                _ => corpus::run(options).await,
            }
        }
        ["faults", flags @ ..] => faults::run(faults_options(flags)?).await,
        ["bench", "startup"] => bench::startup(),
        // The proxy that makes the server distant may not be what is slow.
        ["bench", ..] if cfg!(debug_assertions) => cargo::again_in_release(&words),
        ["bench", flags @ ..] => bench::run(bench_options(flags)?).await,
        ["supply"] => supply::run(supply::Advisories::Checked),
        ["supply", "--offline"] => supply::run(supply::Advisories::LeftOut),
        ["reproduce"] => supply::reproduce(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("`{}` is not a command\n\n{USAGE}", words.join(" ")),
    }
}

fn bench_options(flags: &[&str]) -> Result<bench::Options> {
    let mut options = bench::Options::default();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--quick" => options.sizes = vec![100],
            "--objects" => options.sizes = vec![usize::try_from(number(flag, flags.next())?)?],
            "--patiently" => options.slow = bench::Slow::WaitedFor,
            "--without-peers" => options.contenders.retain(|one| !one.is_peer()),
            unknown => bail!("`{unknown}` is not a flag of `bench`\n\n{USAGE}"),
        }
    }
    Ok(options)
}

fn faults_options(flags: &[&str]) -> Result<faults::Options> {
    let mut options = faults::Options::default();
    for flag in flags {
        match *flag {
            "--quick" => options.extent = faults::Extent::Part,
            "--tofu" => options.tool = Tool::OpenTofu,
            unknown if unknown.starts_with('-') => {
                bail!("`{unknown}` is not a flag of `faults`\n\n{USAGE}")
            }
            case if options.only.is_none() => options.only = Some(case.to_owned()),
            more => bail!("one case is enough; `{more}` is a second\n\n{USAGE}"),
        }
    }
    Ok(options)
}

fn number(flag: &str, text: Option<&&str>) -> Result<u64> {
    let text = text.with_context(|| format!("`{flag}` needs a number"))?;
    text.parse().with_context(|| format!("`{flag}` needs a whole number"))
}

fn corpus_options(flags: &[&str]) -> Result<corpus::Options> {
    let mut folder = None;
    let mut seed = fastrand::u64(..1_000_000);
    let mut course = corpus::Course::Life;
    let mut only = None;
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--seed" => seed = number(flag, flags.next())?,
            "--every-leaf" => course = corpus::Course::Leaves(corpus::Extent::All),
            "--sample" => {
                let most = usize::try_from(number(flag, flags.next())?)?;
                course = corpus::Course::Leaves(corpus::Extent::Sample(most));
            }
            "--only" => {
                let part = flags.next().context("`--only` needs a part of a document's name")?;
                only = Some((*part).to_owned());
            }
            unknown if unknown.starts_with('-') => {
                bail!("`{unknown}` is not a flag of `corpus`\n\n{USAGE}")
            }
            one if folder.is_none() => folder = Some(one.into()),
            more => bail!("one folder is enough; `{more}` is a second\n\n{USAGE}"),
        }
    }
    let folder = folder.with_context(|| format!("`corpus` needs a folder\n\n{USAGE}"))?;
    if only.is_some() && course == corpus::Course::Life {
        bail!("`--only` goes with `--every-leaf` or `--sample`\n\n{USAGE}");
    }
    Ok(corpus::Options { folder, seed, course, only })
}

fn test_options(flags: &[&str]) -> Result<test::Options> {
    let mut options = test::Options {
        scope: test::Scope::Everything,
        wanted: KubernetesVersion::wanted()?,
        filter: None,
    };
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--fast" => options.scope = test::Scope::WithoutCluster,
            "--all" => options.scope = test::Scope::WithLongSweeps,
            "--kubernetes" => {
                let version =
                    flags.next().context("`--kubernetes` needs a version, such as `1.33.6`")?;
                options.wanted = Wanted::Exactly(version.parse()?);
            }
            unknown if unknown.starts_with('-') => {
                bail!("`{unknown}` is not a flag of `test`\n\n{USAGE}")
            }
            filter if options.filter.is_none() => options.filter = Some(filter.to_owned()),
            more => bail!("one filter is enough; `{more}` is a second\n\n{USAGE}"),
        }
    }
    Ok(options)
}
