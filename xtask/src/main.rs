//! `cargo xtask demo | test | corpus | bench startup`: the commands that a newcomer and CI run.
//! They only drive; what they drive lives in `testkit` and in the crates themselves.

#![expect(clippy::print_stdout, reason = "a command line tool talks to its user")]

mod bench;
mod cargo;
mod corpus;
mod demo;
mod screen;
mod test;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use testkit::assets::{KubernetesVersion, Wanted};

const USAGE: &str = "\
usage: cargo xtask <command>

  demo [--keep]      the provider at work on a real API server, told step by step
                     --keep leaves the cluster up and says how to use it
  test [--fast] [--kubernetes VERSION] [FILTER]
                     formats, lints and every test; the last line counts them
                     --fast runs what needs no cluster
                     FILTER runs only tests whose name contains it, and no lints
  corpus DIR [--seed N]
                     every document of the YAML files in DIR through its whole life;
                     a table of what failed. N repeats a run
  bench startup      size, start and memory of the release binary, against the bars";

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
        ["test", flags @ ..] => test::run(test_options(flags)?).await,
        ["corpus", flags @ ..] => corpus::run(corpus_options(flags)?).await,
        ["bench", "startup"] => bench::startup(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("`{}` is not a command\n\n{USAGE}", words.join(" ")),
    }
}

fn corpus_options(flags: &[&str]) -> Result<corpus::Options> {
    let (folder, seed) = match flags {
        [folder] => (folder, fastrand::u64(..1_000_000)),
        [folder, "--seed", seed] | ["--seed", seed, folder] => {
            (folder, seed.parse().context("`--seed` needs a whole number")?)
        }
        _ => bail!("`corpus` needs one folder\n\n{USAGE}"),
    };
    Ok(corpus::Options { folder: folder.into(), seed })
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
