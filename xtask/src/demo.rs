//! `demo`: the provider's main job on a real API server, told step by step. Every claim
//! that it prints is checked first; one that does not hold ends the demo as a failure.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use testkit::assets::{Asset, KubernetesVersion, Source};
use testkit::{ControlPlane, Parts, Plan, PlanOutcome, Request, Runner, Target, Tool};

use crate::cargo::{Profile, build_provider, root};
use crate::screen::{Ink, heading, line, paint, quote, seconds};

/// What becomes of the cluster when the demo is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Remove,
    Keep,
}

/// A dev build of the provider and all it stands on, on two idle cores.
const PROVIDER_MINUTES: f64 = 1.5;

const EDITOR: &str = "kubectl-edit";
const AUTOSCALER: &str = "autoscaler";
const DISTURBED: &str = "workers = 9\nlog = debug\n";

pub(crate) async fn run(afterwards: Afterwards) -> Result<ExitCode> {
    let started = Instant::now();
    let tool = choose_tool()?;
    announce(tool)?;

    heading("1. Building the provider and starting a control plane");
    let provider = build_provider(Profile::Dev)?;
    line("the provider is built (unoptimised: quick to build, and fast enough to watch)");
    let starting = Instant::now();
    let cluster = ControlPlane::start(Parts::ApiServer).await?;
    line(&format!(
        "etcd and kube-apiserver are up at {}, after {}",
        cluster.url(),
        seconds(starting.elapsed())
    ));

    let kubeconfig = cluster.folder().join("kubeconfig");
    std::fs::write(&kubeconfig, cluster.kubeconfig())?;
    let mut runner = Runner::with_provider(tool, Some(&provider)).await?;
    runner.copy_from(&root().join("examples/quickstart"))?.init().await?.successful()?;
    runner.variable(
        "kubeconfig_path",
        kubeconfig.to_str().context("the temporary folder is not UTF-8")?,
    );
    let story = Story {
        cluster: &cluster,
        runner: &runner,
        settings: Target::new("v1", "ConfigMap", "default", "quickstart"),
        web: Target::new("apps/v1", "Deployment", "default", "quickstart"),
    };
    story.create().await?;
    let before = story.disturb().await?;
    story.repair(&before).await?;
    match afterwards {
        Afterwards::Remove => {
            story.destroy().await?;
            sum_up(started);
        }
        Afterwards::Keep => {
            sum_up(started);
            explain_how_to_use(cluster, runner, &kubeconfig, tool)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The walk of the example through its life.
struct Story<'a> {
    cluster: &'a ControlPlane,
    runner: &'a Runner,
    settings: Target,
    web: Target,
}

impl Story<'_> {
    async fn create(&self) -> Result<()> {
        heading("2. `plan` of examples/quickstart: the server says what would be created");
        let (plan, requests) =
            self.cluster.count_during("default", self.plan(PlanOutcome::Changes)).await?;
        quote(&plan?.text);
        let asked: Vec<String> = requests.iter().map(Request::in_short).collect();
        ensure!(
            asked.contains(&"patch (dry-run)".to_owned()) && !requests.iter().any(Request::writes),
            "the plan should have dry-run and written nothing, but sent: {}",
            asked.join(", ")
        );

        heading("3. `apply`, and a second plan");
        self.apply().await?;
        for target in [&self.settings, &self.web] {
            self.live(target).await?;
        }
        self.plan(PlanOutcome::NoChanges).await?;
        line("both objects are in the cluster, and a second plan is empty");
        Ok(())
    }

    async fn apply(&self) -> Result<()> {
        let run = self.runner.apply_planned().await?.successful()?;
        quote(&outcome_lines(&run.text));
        Ok(())
    }

    /// Answers with the objects as they were before.
    async fn disturb(&self) -> Result<[Value; 2]> {
        let before = self.contents().await?;
        heading("4. Somebody else changes two fields");
        self.cluster
            .act_as(EDITOR)
            .strategic_patch(&self.settings, json!({ "data": { "app.conf": DISTURBED } }))
            .await?;
        line(&format!("`{EDITOR}` edits `app.conf` in the ConfigMap"));
        self.cluster.act_as(AUTOSCALER).scale(&self.web, 5).await?;
        line(&format!("`{AUTOSCALER}` scales the Deployment to 5"));

        heading("5. The next plan tells of it");
        let plan = self.plan(PlanOutcome::Changes).await?;
        quote(&plan.text);
        for rival in [EDITOR, AUTOSCALER] {
            ensure!(
                plan.text.contains(rival),
                "the plan does not name `{rival}`, who changed a field"
            );
        }
        self.check_told("k8sconnect_object.web", "spec.replicas", "5", "2").await?;
        let (field, wanted) = ("data[\"app.conf\"]", "workers = 2\nlog = info\n");
        self.check_told("k8sconnect_object.settings", field, DISTURBED, wanted).await?;
        Ok(before)
    }

    /// That the plan changes a field from what the rival wrote to what is configured.
    async fn check_told(&self, address: &str, field: &str, now: &str, then: &str) -> Result<()> {
        let planned = self.runner.planned().await?;
        let changes = planned["resource_changes"].as_array().into_iter().flatten();
        let told = changes.filter(|one| one["address"] == address).map(|one| {
            let value = |side: &str| one["change"][side]["managed_state_projection"][field].clone();
            [value("before"), value("after")]
        });
        let told: Vec<[Value; 2]> = told.collect();
        ensure!(
            told == [[json!(now), json!(then)]],
            "the plan should change `{field}` of `{address}` from {now:?} to {then:?}, but says \
             {told:?}"
        );
        Ok(())
    }

    async fn repair(&self, before: &[Value; 2]) -> Result<()> {
        heading("6. `apply` repairs it");
        self.apply().await?;
        let after = self.contents().await?;
        ensure!(
            after == *before,
            "the objects are not what they were before the disturbance: {after:#?}"
        );
        self.plan(PlanOutcome::NoChanges).await?;
        line("the cluster holds what the configuration says, and the plan is empty again");
        Ok(())
    }

    async fn destroy(&self) -> Result<()> {
        heading("7. `destroy`");
        let run = self.runner.destroy().await?.successful()?;
        quote(&outcome_lines(&run.text));
        for target in [&self.settings, &self.web] {
            ensure!(self.cluster.read(target).await?.is_none(), "{target} is still there");
        }
        line("both objects are gone");
        Ok(())
    }

    async fn plan(&self, expected: PlanOutcome) -> Result<Plan> {
        let plan = self.runner.plan().await?;
        if plan.outcome != expected {
            quote(&plan.text);
            bail!("the plan should have come to {expected:?}, but came to {:?}", plan.outcome);
        }
        Ok(plan)
    }

    /// Both objects without what every write changes.
    async fn contents(&self) -> Result<[Value; 2]> {
        let mut objects = [self.live(&self.settings).await?, self.live(&self.web).await?];
        for object in &mut objects {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                for field in ["managedFields", "resourceVersion", "generation"] {
                    metadata.remove(field);
                }
            }
        }
        Ok(objects)
    }

    async fn live(&self, target: &Target) -> Result<Value> {
        self.cluster.read(target).await?.with_context(|| format!("{target} is not in the cluster"))
    }
}

/// What was done, without the plan that came before it and has been shown already.
fn outcome_lines(text: &str) -> String {
    text.lines()
        .filter(|line| {
            line.contains("complete after")
                || line.starts_with("Apply complete")
                || line.starts_with("Destroy complete")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// What is on the machine, else OpenTofu, which may be built by anybody for anything.
fn choose_tool() -> Result<Tool> {
    let wanted = KubernetesVersion::wanted()?;
    for tool in [Tool::Terraform, Tool::OpenTofu] {
        if matches!(tool.asset().source(wanted)?, Source::Ready(_)) {
            return Ok(tool);
        }
    }
    Ok(Tool::OpenTofu)
}

fn announce(tool: Tool) -> Result<()> {
    println!("{}", paint(Ink::Bold, "k8sconnect: from plan to destroy on a real API server"));
    let wanted = KubernetesVersion::wanted()?;
    let mut to_build = Vec::new();
    let mut total = PROVIDER_MINUTES;
    for asset in [Asset::Etcd, Asset::KubeApiserver, tool.asset()] {
        if let Source::ToBuild { minutes } = asset.source(wanted)? {
            total += minutes;
            to_build.push(format!("{} ({minutes} min)", asset.binary()));
        }
    }
    if to_build.is_empty() {
        line("Everything but the provider is built already: this takes about 15 seconds,");
        line(&format!("and {PROVIDER_MINUTES} min more if the provider was never built here."));
    } else {
        line(&format!(
            "A first run takes about {total} min on 2 idle cores: it builds, from source and into"
        ));
        line(&format!(
            "your cache folder, {}; and the provider ({PROVIDER_MINUTES} min).",
            to_build.join(", ")
        ));
        line("Later runs take about 15 seconds.");
    }
    Ok(())
}

fn sum_up(started: Instant) {
    heading("What was seen");
    for seen in [
        "The plan came from the API server's own dry-run and wrote nothing.".to_owned(),
        "A plan straight after an apply was empty, before and after the disturbance.".to_owned(),
        format!(
            "Changes by `{EDITOR}` and `{AUTOSCALER}` were told, field by field, with their names."
        ),
        "Apply put back the two fields and touched nothing else.".to_owned(),
    ] {
        line(&format!("{} {seen}", paint(Ink::Green, "✓")));
    }
    line(&format!("All of it took {}.", seconds(started.elapsed())));
}

fn explain_how_to_use(
    cluster: ControlPlane,
    runner: Runner,
    kubeconfig: &std::path::Path,
    tool: Tool,
) -> Result<()> {
    let pids: Vec<String> = cluster.keep()?.iter().map(u32::to_string).collect();
    let folder: PathBuf = runner.keep();
    heading("The cluster stays up, with both objects in it");
    line(&format!("export KUBECONFIG={}", kubeconfig.display()));
    line("kubectl get configmaps,deployments");
    println!();
    line(&format!(
        "export TF_CLI_CONFIG_FILE={}/cli.tfrc TF_VAR_kubeconfig_path=$KUBECONFIG",
        folder.display()
    ));
    line(&format!("cd {}/work && {} plan", folder.display(), tool.asset().binary()));
    println!();
    line("To end it:");
    line(&format!("kill -9 {} && rm -rf {}", pids.join(" "), folder.display()));
    Ok(())
}
