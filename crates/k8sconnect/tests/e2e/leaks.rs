//! Secrets everywhere, everything logged, and all that came out of it searched for them.
//!
//! Secret are the values of Secrets, made or patched, what `sensitive_fields` names, a body that is
//! never stored and the credentials of the cluster: tokens, a plugin's too, keys and passwords.
//! Looked through are outputs, logs at `trace`, saved plans as text and as JSON, state with its
//! private part, and whatever file a run leaves elsewhere: there is none. What a user writes into `yaml_body`, `patch`, `cluster` and `variables` is the
//! user's own, and is left out of JSON before it is searched. What a user asks to read, by a data
//! source or by `result` of a wait, stands in state and where Terraform shows that; nowhere else.

mod configuration;

use std::collections::BTreeSet;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use testkit::{Target, Tool, kept};
use tfplugin::Private;

use crate::workspace::{Workspace, says};
use configuration::*;

struct Search {
    at: Workspace,
    needles: Vec<String>,
    /// What may stand in state, because it was asked for.
    asked_for: Vec<String>,
    tool: Tool,
    /// The files that were there before the first run.
    files: BTreeSet<PathBuf>,
}

impl Search {
    async fn new(tool: Tool) -> Self {
        let mut at = Workspace::new(tool).await;
        let variables = [
            ("data", DATA),
            ("string_data", STRING_DATA),
            ("listed", LISTED),
            ("env", VARIABLE),
            ("write_only", WRITE_ONLY),
            ("patched", PATCHED),
        ];
        for (name, value) in variables {
            at.runner.variable(name, value);
        }
        let folder = at.runner.directory();
        at.runner.env("TF_LOG", "trace");
        at.runner.env("TF_LOG_PATH", folder.join("trace.log").to_str().unwrap());
        at.runner.env("KUBECONFIG", folder.join("kubeconfig").to_str().unwrap());
        let kubeconfig: Value = serde_json::from_str(&at.cluster.kubeconfig()).unwrap();
        let token = kubeconfig["users"][0]["user"]["token"].as_str().unwrap().to_owned();
        let (certificate, key) =
            at.cluster.certificate_for("leaks", Some("system:masters")).unwrap();
        let mut basic = kubeconfig.clone();
        basic["users"][0]["user"] = json!({ "username": "me", "password": PASSWORD });
        let complaint = format!("echo \"refused: Bearer {PRINTED}; log in\" >&2; exit 1");
        for (name, text) in [
            ("certificate.pem", certificate.as_str()),
            ("key.pem", &key),
            ("basic", &basic.to_string()),
            ("plugin.sh", PLUGIN),
            ("complaining.sh", &complaint),
        ] {
            at.runner.write(name, text).unwrap();
        }
        let lines = key.lines().filter(|line| !line.starts_with("-----"));
        let login = format!("me:{PASSWORD}");
        let values = [
            DATA,
            STRING_DATA,
            LISTED,
            VARIABLE,
            WRITE_ONLY,
            DRIFTED,
            IMPORTED,
            LATER,
            PATCHED,
            PRINTED,
            PASSWORD,
            &token,
            &key,
            &login,
        ];
        let both = |value: &&str| [(*value).to_owned(), BASE64.encode(value)];
        let needles = values.iter().flat_map(both).chain(lines.map(ToOwned::to_owned)).collect();
        let asked_for = both(&READ).to_vec();
        let files = at.runner.files_outside().unwrap();
        Self { at, needles, asked_for, tool, files }
    }

    fn write(&self, with: &Configuration) {
        let main = MAIN
            .replace("NS", self.at.namespace.name())
            .replace("BAD_STRING_DATA", with.string_data)
            .replace("BAD_LISTED", with.listed)
            .replace("BAD_IMAGE", with.image)
            .replace("TOKEN_OF_SETTINGS", with.token)
            .replace("BAD_WRITE_ONLY", with.write_only)
            .replace("BAD_PATCHED", with.patched)
            .replace("PLUGIN", with.plugin)
            .replace("CERTIFIED", with.certified);
        self.at.runner.write("main.tf", &main).unwrap();
    }

    #[track_caller]
    fn clean(&self, what: &str, text: &str) {
        self.clean_of(self.needles.iter().chain(&self.asked_for), what, text);
    }

    #[track_caller]
    fn clean_of<'a>(&self, needles: impl IntoIterator<Item = &'a String>, what: &str, text: &str) {
        for needle in needles {
            if let Some(place) = text.find(needle.as_str()) {
                let start = text[..place].char_indices().rev().nth(300).map_or(0, |(at, _)| at);
                let end = (place + needle.len() + 100).min(text.len());
                let around = String::from_utf8_lossy(&text.as_bytes()[start..end]);
                panic!("{:?}: {what} shows `{needle}`:\n…{around}…", self.tool);
            }
        }
    }

    fn clean_json(&self, what: &str, mut json: Value) {
        forget_what_users_wrote(&mut json);
        self.clean_of(&self.needles, what, &json.to_string());
    }

    async fn saved_plan(&self) {
        let text = self.at.runner.run(&["show", "-no-color", "saved.tfplan"]).await.unwrap();
        self.clean("a saved plan", &text.successful().unwrap().text);
        self.clean_json("a saved plan as JSON", self.at.runner.planned().await.unwrap());
    }

    async fn state(&self) {
        self.elsewhere();
        let text = self.at.runner.run(&["show", "-no-color"]).await.unwrap();
        self.clean_of(&self.needles, "state as text", &text.successful().unwrap().text);
        self.clean_json("state as JSON", self.at.runner.show().await.unwrap());
        let file = self.at.runner.directory().join("terraform.tfstate");
        let state: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let mut opened = 0;
        for instance in state["resources"].as_array().unwrap().iter().flat_map(|it| {
            it["instances"].as_array().unwrap().iter().filter(|it| it["private"].is_string())
        }) {
            let private = BASE64.decode(instance["private"].as_str().unwrap()).unwrap();
            for text in kept(&Private::from_bytes(&private).unwrap()).unwrap() {
                self.clean("private state", &text);
                opened += 1;
            }
        }
        assert!(opened > 3, "private state was not found");
        self.clean_json("the state file", state);
    }

    /// Whatever was written outside of the folder of the configuration.
    fn elsewhere(&self) {
        let now = self.at.runner.files_outside().unwrap();
        let new: Vec<_> = now.difference(&self.files).collect();
        for path in &new {
            let content = std::fs::read(path).unwrap_or_default();
            self.clean("the name of a file", &path.to_string_lossy());
            self.clean(&path.to_string_lossy(), &String::from_utf8_lossy(&content));
        }
        assert!(new.is_empty(), "files are left: {new:?}");
    }

    fn log(&self) {
        let log = std::fs::read_to_string(self.at.runner.directory().join("trace.log")).unwrap();
        assert!(log.contains("k8sconnect_cluster"), "the provider logged nothing");
        self.clean_of(&self.needles, "the log", &log);
        // Terraform logs what it keeps of attributes whose type is not fixed, such as `result`.
        let ours = log.lines().filter(|line| line.contains("k8sconnect_cluster"));
        self.clean("the provider's log", &ours.collect::<Vec<_>>().join("\n"));
    }
}

fn forget_what_users_wrote(json: &mut Value) {
    match json {
        Value::Object(map) => {
            let own =
                ["yaml_body", "patch", "kubeconfig", "token", "client_key", "env", "variables"];
            for name in own {
                map.remove(name);
            }
            map.values_mut().for_each(forget_what_users_wrote);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_what_users_wrote),
        _ => {}
    }
}

/// Policies that quote what they judge, in a warning and in a refusal.
async fn talkative_policies(at: &Workspace) -> Vec<Target> {
    let rival = at.cluster.act_as("security");
    let mut made = Vec::new();
    let policies = [
        ("Warn", "!has(object.data.password)", "'weak: ' + object.data.password"),
        (
            "Deny",
            "object.data.password.startsWith('l1') || object.metadata.name != 'settings'",
            "'not ' + object.data.password + ' instead of ' + \
             (oldObject == null ? 'nothing' : oldObject.data.password)",
        ),
    ];
    for (action, expression, message) in policies {
        let name = format!("{}-{}", at.namespace.name(), action.to_lowercase());
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {
                    "namespaceSelector": {"matchLabels":
                        {"kubernetes.io/metadata.name": at.namespace.name()}},
                    "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}],
                },
                "validations": [{"expression": expression, "messageExpression": message}],
            },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": [action]},
        });
        for object in [policy, binding] {
            made.push(Target::of(&object).unwrap());
            rival.apply(object).await.unwrap();
        }
    }
    let probe = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"password": "probe"},
    });
    // A policy takes a moment to bite.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while rival.try_apply(probe.clone()).await.unwrap().accepted().is_ok() {
        assert!(std::time::Instant::now() < deadline, "the policy never came into force");
        at.cluster.delete(&Target::of(&probe).unwrap()).await.unwrap();
    }
    made
}

/// Stands for a message of the server that may contain a hidden value.
const NOT_SHOWN: &str = "the server's message is not shown";

async fn nothing_leaks(tool: Tool) {
    let mut search = Search::new(tool).await;
    let policies = talkative_policies(&search.at).await;
    let ns = search.at.namespace.name().to_owned();

    let vault = search.at.cluster.act_as("vault");
    for (name, key, value) in [("theirs", "nine", DRIFTED), ("read", "twelve", READ)] {
        let object = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": ns}, "stringData": {key: value}});
        vault.create(object).await.unwrap();
    }

    // An apply.
    search.write(&GOOD);
    search.at.init().await;
    let plan = search.at.plan_changes().await;
    says(&plan.text, NOT_SHOWN);
    search.clean("a plan", &plan.text);
    search.saved_plan().await;
    let applied = search.at.apply().await;
    search.clean("an apply", &applied.text);
    search.at.plan_empty().await;
    search.state().await;

    // Refusals, at plan and at apply: wrong types, a policy that quotes, a template that is fixed.
    let broken = [
        (Configuration { string_data: "[\"${var.string_data}\"]", ..GOOD }, "expected"),
        (Configuration { listed: "{deep: \"${var.listed}\"}", ..GOOD }, "expected string"),
        (Configuration { listed: "x-${var.env}", ..GOOD }, NOT_SHOWN),
        (
            // Not accepted; it is found when the way to the cluster is looked at.
            Configuration { listed: "l1x", token: "var.env", ..GOOD },
            "The credentials have expired, or they are not for this cluster",
        ),
        (Configuration { patched: "[var.patched]", ..GOOD }, "expected"),
        (Configuration { plugin: "complaining.sh", ..GOOD }, "Bearer (hidden); log in"),
        (Configuration { write_only: "[\"${var.write_only}\"]", ..GOOD }, ""),
    ];
    for (wrong, words) in &broken {
        search.write(wrong);
        if words.is_empty() {
            let main = search.at.runner.directory().join("main.tf");
            let text = std::fs::read_to_string(&main).unwrap();
            let newer = text.replace("yaml_body_wo_version = 1", "yaml_body_wo_version = 2");
            std::fs::write(&main, newer).unwrap();
        }
        let plan = search.at.plan_fails().await;
        search.clean("a refusal", &plan.text);
        says(&plan.text, words);
        let failed = search.at.runner.apply().await.unwrap();
        assert!(!failed.succeeded());
        search.clean("a failed apply", &failed.text);
    }
    // A login that may not even look.
    search.write(&Configuration { certified: "{ kubeconfig = file(\"basic\") }", ..GOOD });
    let plan = search.at.plan_fails().await;
    says(&plan.text, "the server treated the request as anonymous");
    search.clean("a plan by password", &plan.text);
    search.write(&Configuration { image: "nginx:1.30", ..GOOD });
    search.at.runner.variable("env", LATER);
    let plan = search.at.plan_changes().await;
    says(&plan.text, "must be replaced");
    search.clean("a replacement", &plan.text);
    search.saved_plan().await;

    // A plan with drift.
    search.at.runner.variable("env", VARIABLE);
    search.write(&GOOD);
    let editor = search.at.cluster.act_as("kubectl-edit");
    let secret = Target::new("v1", "Secret", ns.as_str(), "keys");
    let drifted = json!({"data": {"one": BASE64.encode(DRIFTED), "two": BASE64.encode(DRIFTED)}});
    editor.merge_patch(&secret, drifted).await.unwrap();
    let hidden = Target::new("v1", "Secret", ns.as_str(), "hidden");
    let drifted = json!({"data": {"five": BASE64.encode(DRIFTED)}});
    editor.merge_patch(&hidden, drifted).await.unwrap();
    let theirs = Target::new("v1", "Secret", ns.as_str(), "theirs");
    let drifted = json!({"data": {"nine": BASE64.encode(DRIFTED)}});
    editor.merge_patch(&theirs, drifted).await.unwrap();
    let settings = Target::new("v1", "ConfigMap", ns.as_str(), "settings");
    let drifted = json!({"data": {"password": format!("l1-{DRIFTED}")}});
    editor.merge_patch(&settings, drifted).await.unwrap();
    let plan = search.at.plan_changes().await;
    says(&plan.text, "2 fields changed outside of Terraform");
    search.clean("a plan with drift", &plan.text);
    search.saved_plan().await;
    let applied = search.at.runner.apply_planned().await.unwrap().successful().unwrap();
    search.clean("an apply after drift", &applied.text);
    search.state().await;

    // An import, and what follows from it.
    let main = std::fs::read_to_string(search.at.runner.directory().join("main.tf")).unwrap();
    let imported = format!(
        "resource \"k8sconnect_object\" \"imported\" {{\n  yaml_body = <<-YAML\n\
         apiVersion: v1\nkind: Secret\nmetadata: {{name: found, namespace: {ns}}}\n\
         stringData: {{three: \"${{var.listed}}\"}}\nYAML\n}}\n"
    );
    let object = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "found", "namespace": ns}, "stringData": {"three": IMPORTED}});
    editor.create(object).await.unwrap();
    search.at.runner.write("main.tf", &format!("{main}{imported}")).unwrap();
    let id = format!("{ns}/secret/found");
    let run = search.at.runner.import("k8sconnect_object.imported", &id).await.unwrap();
    search.clean("an import", &run.successful().unwrap().text);
    search.state().await;
    let plan = search.at.plan_changes().await;
    says(&plan.text, "was imported and 1 field will change");
    search.clean("a plan after an import", &plan.text);
    search.saved_plan().await;
    let applied = search.at.apply().await;
    search.clean("an apply after an import", &applied.text);
    search.at.plan_empty().await;
    search.state().await;
    let destroyed = search.at.destroy().await;
    // Terraform shows a `result` that goes.
    search.clean_of(&search.needles, "a destroy", &destroyed.text);
    search.elsewhere();
    search.log();
    for target in policies.iter().rev() {
        search.at.cluster.delete(target).await.unwrap();
    }
}

#[tokio::test]
async fn nothing_leaks_under_terraform() {
    nothing_leaks(Tool::Terraform).await;
}

#[tokio::test]
async fn nothing_leaks_under_opentofu() {
    nothing_leaks(Tool::OpenTofu).await;
}
