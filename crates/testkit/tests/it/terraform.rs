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

#[tokio::test]
async fn the_newest_terraform_is_of_its_exact_version_whatever_is_on_the_path() {
    let tool = Tool::NEWEST_TERRAFORM;
    let runner = Runner::bare(tool).await.unwrap();
    let said = runner.run(&["version"]).await.unwrap().successful().unwrap().stdout;
    let Tool::Exactly(_, version) = tool else { panic!("{tool:?} has no exact version") };
    assert_eq!(said.lines().next().unwrap(), format!("Terraform v{version}"));
}
