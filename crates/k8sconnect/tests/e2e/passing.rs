//! Troubles that pass, and one that does not.

use http::{Method, StatusCode};
use testkit::Tool;
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};

use crate::workspace::{CONFIG_MAP, Workspace, says};

#[tokio::test]
async fn a_busy_server_is_asked_again_and_told_of_and_a_500_is_an_answer() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    at.kubeconfig(&proxy.kubeconfig());
    let log = at.runner.directory().join("warn.log");
    at.runner.env("TF_LOG", "warn").env("TF_LOG_PATH", log.to_str().unwrap());
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    let patches = || Which::any().method(Method::PATCH);
    let sent = || proxy.requests().iter().filter(|one| one.method == Method::PATCH).count();

    let broken = Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "no");
    proxy.rule(Rule::new(patches(), Turn::Every, Fate::Answer(broken)));
    says(&at.plan_fails().await.text, "The API server said (HTTP 500): no");
    assert_eq!(sent(), 1, "a 500 is not asked again");

    // Busy, and for so long that the log tells; then restarting; then cut off.
    proxy.forget_rules();
    let busy = |seconds| {
        Reply::refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "later")
            .header("retry-after", seconds)
    };
    let restarting = Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "shutting down");
    for (n, fate) in [
        Fate::Answer(busy("6")),
        Fate::Answer(busy("1")),
        Fate::Answer(restarting),
        Fate::ResetBefore,
        Fate::ResetAfter,
    ]
    .into_iter()
    .enumerate()
    {
        proxy.rule(Rule::new(patches(), Turn::Nth(n as u32 + 1), fate));
    }
    at.apply().await;
    assert_eq!(sent(), 1 + 5 + 3, "a dry-run to plan, one to apply and the write were answered");
    let log = std::fs::read_to_string(log).unwrap();
    let again = |line: &str| line.contains("trying again") && line.contains("attempts=2");
    assert!(log.lines().any(again), "{log}");
    proxy.forget_rules();
    at.plan_empty().await;
    at.destroy().await;
}
