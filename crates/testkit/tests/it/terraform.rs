//! That the runner reports what the tools do, with each of them.

use testkit::{PlanOutcome, Runner, Tool};

const CONFIGURATION: &str = r#"
variable "word" { type = string }

resource "terraform_data" "this" {
  input = var.word
}

output "word" { value = terraform_data.this.output }
"#;

async fn tells_changes_from_none(tool: Tool) {
    let mut runner = Runner::bare(tool).await.unwrap();
    runner.write("main.tf", CONFIGURATION).unwrap();
    runner.variable("word", "first");
    runner.init().await.unwrap().successful().unwrap();

    let plan = runner.plan().await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::Changes, "{}", plan.text);
    assert!(!plan.text.contains('\u{1b}'), "coloured: {}", plan.text);
    let planned = runner.planned().await.unwrap();
    assert_eq!(planned["resource_changes"][0]["change"]["actions"][0], "create");

    runner.apply_planned().await.unwrap().successful().unwrap();
    let plan = runner.plan().await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::NoChanges, "{}", plan.text);
    assert_eq!(runner.outputs().await.unwrap()["word"]["value"], "first");

    runner.variable("word", "second");
    runner.apply().await.unwrap().successful().unwrap();
    let state = runner.show().await.unwrap();
    assert_eq!(state["values"]["root_module"]["resources"][0]["values"]["input"], "second");

    runner.write("main.tf", "resource \"nothing\" {}").unwrap();
    let plan = runner.plan().await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::Failed, "{}", plan.text);

    runner.write("main.tf", CONFIGURATION).unwrap();
    runner.destroy().await.unwrap().successful().unwrap();
    assert_eq!(runner.state(&["list"]).await.unwrap().stdout, "");
}

#[tokio::test]
async fn terraform_tells_changes_from_none() {
    tells_changes_from_none(Tool::Terraform).await;
}

#[tokio::test]
async fn opentofu_tells_changes_from_none() {
    tells_changes_from_none(Tool::OpenTofu).await;
}

/// Two checks that fail are two warnings, and a failed precondition is an error.
const COMPLAINING: &str = r#"
check "first" {
  assert {
    condition     = var.word == "right"
    error_message = "The first word is wrong.\n\nWrite another one."
  }
}

check "second" {
  assert {
    condition     = var.word == "right"
    error_message = "The second word is wrong."
  }
}

output "word" {
  value = var.word
  precondition {
    condition     = var.word != "worst"
    error_message = "There is no such word."
  }
}

variable "word" { type = string }
"#;

async fn diagnostics_are_counted_one_by_one(tool: Tool) {
    let mut runner = Runner::bare(tool).await.unwrap();
    runner.write("main.tf", COMPLAINING).unwrap();
    let shown = async |runner: &Runner| runner.diagnosed(&["plan", "-input=false"]).await.unwrap();

    let (run, diagnostics) = shown(runner.variable("word", "wrong")).await;
    assert!(run.succeeded() && run.text.contains("Changes to Outputs"), "{}", run.text);
    assert_eq!(diagnostics.warnings().count(), 2, "{}", run.text);
    let summary = "Check block assertion failed";
    assert!(diagnostics.all().iter().all(|one| one.summary == summary), "{diagnostics:?}");
    let first =
        diagnostics.all().iter().find(|one| one.lines.contains(&"Write another one.".into()));
    assert!(first.unwrap().lines.len() < diagnostics.lines(), "{diagnostics:?}");

    let (run, diagnostics) = shown(runner.variable("word", "worst")).await;
    assert!(!run.succeeded());
    let errors = diagnostics.all().len() - diagnostics.warnings().count();
    assert_eq!(errors, 1, "{}", run.text);

    let (run, diagnostics) = shown(runner.variable("word", "right")).await;
    assert!(run.succeeded() && !run.text.contains('\u{1b}'), "{}", run.text);
    assert_eq!((diagnostics.all(), diagnostics.lines()), (&[][..], 0));
}

#[tokio::test]
async fn terraform_shows_diagnostics_that_are_counted_one_by_one() {
    diagnostics_are_counted_one_by_one(Tool::Terraform).await;
    diagnostics_are_counted_one_by_one(Tool::NEWEST_TERRAFORM).await;
}

#[tokio::test]
async fn opentofu_shows_diagnostics_that_are_counted_one_by_one() {
    diagnostics_are_counted_one_by_one(Tool::OpenTofu).await;
}

#[tokio::test]
async fn the_newest_terraform_is_of_its_exact_version_whatever_is_on_the_path() {
    let tool = Tool::NEWEST_TERRAFORM;
    let runner = Runner::bare(tool).await.unwrap();
    let said = runner.run(&["version"]).await.unwrap().successful().unwrap().stdout;
    let Tool::Exactly(_, version) = tool else { panic!("{tool:?} has no exact version") };
    assert_eq!(said.lines().next().unwrap(), format!("Terraform v{version}"));
}
