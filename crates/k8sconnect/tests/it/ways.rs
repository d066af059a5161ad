//! Every way into a cluster, each against the real server; and what is said where one leads
//! nowhere.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value as Json, json};
use testkit::proxy::Proxy;
use testkit::{Speech, Tunnel, Validity};
use tfplugin::harness::{Action, Core};
use tfplugin::{Severity, Value};

use crate::patch::said;
use crate::world::{OBJECT, World, value};

/// The description with other parts; a null takes one away.
fn with(mut base: Json, other: &Json) -> Json {
    for (name, part) in other.as_object().unwrap() {
        base[name] = part.clone();
    }
    base
}

/// Plans a creation, which asks the server.
async fn lets_in(world: &World, core: &Core, cluster: &Json, what: &str) {
    let config = world.config_at(cluster, &world.config_map("settings"));
    core.validate(OBJECT, &config).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    let plan = core.plan(OBJECT, &config, None).await;
    let plan = plan.unwrap_or_else(|failure| panic!("{what}: {failure}"));
    let shown = plan.planned.attribute("managed_state_projection").unwrap();
    assert!(shown.is_known(), "{what}: the server was not asked");
}

/// What is said where a plan fails.
async fn refusal(world: &World, cluster: &Json) -> String {
    let config = world.config_at(cluster, &world.config_map("settings"));
    let failure = world.core().plan(OBJECT, &config, None).await.unwrap_err();
    let told = failure.diagnostics();
    let errors: Vec<_> = told.iter().filter(|one| one.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{failure}");
    format!("{}\n{}", errors[0].summary, errors[0].detail)
}

#[tokio::test]
async fn a_host_lets_in_by_token_certificate_and_plugin() {
    let world = World::new().await;
    let (certificate, key) =
        world.cluster.certificate_for(&world.user, Some("system:masters")).unwrap();
    let packed = |text: &str| BASE64.encode(text);
    let by_certificate = json!({
        "token": null, "client_certificate": certificate, "client_key": key,
    });
    let packed_certificate = json!({
        "token": null, "client_certificate": packed(&certificate), "client_key": packed(&key),
        "cluster_ca_certificate": packed(world.cluster.ca()),
    });
    let plugin = |version: &str| {
        let script = format!(
            "printf '{{\"apiVersion\":\"%s\",\"kind\":\"ExecCredential\",\
             \"status\":{{\"token\":\"%s\"}}}}' {version} \"$TOKEN\""
        );
        json!({ "token": null, "exec": {
            "api_version": version, "command": "sh", "args": ["-c", script],
            "env": { "TOKEN": world.cluster.token() },
        } })
    };
    let ways = [
        ("token", json!({})),
        ("client certificate", by_certificate),
        ("base64 of PEM", packed_certificate),
        ("plugin v1", plugin("client.authentication.k8s.io/v1")),
        ("plugin v1beta1", plugin("client.authentication.k8s.io/v1beta1")),
        ("insecure", json!({ "insecure": true, "cluster_ca_certificate": null })),
        ("another name", json!({ "tls_server_name": "kubernetes.default.svc" })),
    ];
    for (what, other) in &ways {
        lets_in(&world, &world.core(), &with(world.by_token(), other), what).await;
    }
}

#[tokio::test]
async fn a_kubeconfig_lets_in_by_text_and_by_path_and_a_token_file_is_read() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = world.cluster.kubeconfig();
    std::fs::write(path("config"), &text).unwrap();
    std::fs::write(path("token"), world.cluster.token()).unwrap();
    let mut by_file: Json = serde_json::from_str(&text).unwrap();
    by_file["users"][0]["user"] = json!({ "tokenFile": "token" });
    std::fs::write(path("by-file"), by_file.to_string()).unwrap();
    for (what, cluster) in [
        ("text", json!({ "kubeconfig": text })),
        ("text and context", json!({ "kubeconfig": text, "context": "testkit" })),
        ("path", json!({ "config_path": path("config") })),
        ("token file", json!({ "config_path": path("by-file"), "context": "testkit" })),
    ] {
        lets_in(&world, &world.core(), &cluster, what).await;
    }
}

#[tokio::test]
async fn the_provider_block_serves_whoever_describes_no_cluster() {
    let world = World::new().await;
    let nowhere = json!({ "host": "https://127.0.0.1:1", "token": "t" });
    let core = world.core();
    let block = json!({ "cluster": world.by_token(), "clusters": { "east": nowhere } });
    core.configure(value(&block)).await.unwrap();
    lets_in(&world, &core, &Json::Null, "the provider block's own").await;

    let core = world.core();
    let block = json!({ "cluster": nowhere, "clusters": { "east": world.by_token() } });
    core.configure(value(&block)).await.unwrap();
    let named = |name: &str| {
        value(&json!({ "yaml_body": world.config_map("settings"), "cluster_name": name }))
    };
    let state = core.create(OBJECT, &named("east")).await.unwrap();
    assert_eq!(state.attribute("cluster"), &Value::Null, "nothing of the block is stored");
    assert_eq!(state.attribute("cluster_name"), &Value::from("east"));
    let identity = state.identity.as_ref().unwrap();
    assert_eq!(identity.attribute("cluster_name"), Some(&Value::from("east")));
    let plan = core.plan(OBJECT, &named("east"), Some(&state)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    let unheard_of = core.plan(OBJECT, &named("west"), None).await.unwrap_err().to_string();
    assert!(unheard_of.contains("The provider block names `east`"), "{unheard_of}");

    let imported = core.import_by_identity(OBJECT, identity).await.unwrap();
    assert_eq!(imported.attribute("cluster_name"), &Value::from("east"));
    assert_eq!(imported.attribute("cluster"), &Value::Null);
    let id = format!("{}/cm/settings?cluster_name=east", world.namespace);
    let imported = core.import(OBJECT, &id).await.unwrap();
    assert_eq!(imported.identity, state.identity);
    core.destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn what_is_wrong_in_the_provider_block_is_told_there_or_named_in_words() {
    let world = World::new().await;
    let core = world.core();
    let refused = core.configure(value(&json!({ "clusters": { "east": { "token": "t" } } }))).await;
    let told = refused.unwrap_err().diagnostics();
    let path = told.iter().next().unwrap().path.as_ref().unwrap().to_string();
    assert_eq!(path, "clusters[\"east\"].host");

    core.configure(value(&json!({ "cluster": { "config_path": "/nowhere/config" } })))
        .await
        .unwrap();
    let config = world.config_at(&Json::Null, &world.config_map("settings"));
    let told = core.plan(OBJECT, &config, None).await.unwrap_err().diagnostics();
    let problem = told.iter().find(|one| one.is_error()).unwrap();
    assert_eq!(problem.path, None, "the resource has no such attribute");
    assert!(problem.detail.contains("in the provider block, at `cluster.config_path`"), "{told:?}");
}

#[tokio::test]
async fn a_kubeconfig_in_place_of_its_path_is_told_as_that_and_not_shown() {
    let world = World::new().await;
    let text = world.cluster.kubeconfig();
    let secret = world.cluster.token();
    assert!(text.contains(secret), "there is something to hide");
    let by_text = json!({ "config_path": text });
    let config = world.config_at(&by_text, &world.config_map("settings"));
    let core = world.core();
    for told in [
        core.validate(OBJECT, &config).await.unwrap_err().to_string(),
        // As it comes where it was not known before.
        core.plan(OBJECT, &config, None).await.unwrap_err().to_string(),
        core.configure(value(&json!({ "cluster": by_text }))).await.unwrap_err().to_string(),
    ] {
        assert!(told.contains("holds the text of a kubeconfig, not its path"), "{told}");
        assert!(told.contains("into `kubeconfig`"), "{told}");
        assert!(!told.contains(secret) && !told.contains("certificate-authority-data"), "{told}");
    }
}

#[tokio::test]
async fn a_proxy_leads_there_whatever_it_speaks() {
    let world = World::new().await;
    let server = world.cluster.url().strip_prefix("https://").unwrap().to_owned();
    for speech in [Speech::Plain, Speech::Tls, Speech::Socks] {
        let tunnel = Tunnel::open(world.cluster, speech, None).await.unwrap();
        let cluster = with(world.by_token(), &json!({ "proxy_url": tunnel.url() }));
        lets_in(&world, &world.core(), &cluster, "a proxy").await;
        assert_eq!(tunnel.asked(), [server.as_str()], "{speech:?}: one connection serves all");
    }
    let tunnel = Tunnel::open(world.cluster, Speech::Plain, Some(("me", "hunter2"))).await.unwrap();
    let proxy = |login: &str| {
        let url = format!("http://{login}{}", tunnel.address());
        with(world.by_token(), &json!({ "proxy_url": url }))
    };
    lets_in(&world, &world.core(), &proxy("me:hunter2@"), "a proxy with a login").await;
    let said = refusal(&world, &proxy("me:hunter3@")).await;
    assert!(said.contains("could not be used"), "{said}");
    assert!(said.contains("Check `proxy_url`") && !said.contains("hunter"), "{said}");
    assert!(said.contains("HTTP 407") && !said.contains("It was tried"), "{said}");
}

/// `insecure` is said of the API server. The proxy before it is shown a login of its own.
#[tokio::test]
async fn the_certificate_of_a_proxy_is_checked_under_insecure_too() {
    let world = World::new().await;
    let tunnel = Tunnel::open(world.cluster, Speech::Tls, Some(("me", "hunter2"))).await.unwrap();
    let url = format!("https://me:hunter2@{}", tunnel.address());
    let proxy = json!({ "proxy_url": url });
    lets_in(&world, &world.core(), &with(world.by_token(), &proxy), "the cluster's own").await;
    let asked = tunnel.asked().len();
    let insecure = json!({ "insecure": true, "cluster_ca_certificate": null, "proxy_url": url });
    let said = refusal(&world, &with(world.by_token(), &insecure)).await;
    assert!(said.contains("not signed by an authority"), "{said}");
    assert!(said.contains("`insecure` is about the API server only"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(tunnel.asked().len(), asked, "nothing was asked of it");
}

/// A pipe has no end until somebody writes to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipe_where_a_file_belongs_is_told_of_at_once() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (_, key) = world.cluster.certificate_for(&world.user, None).unwrap();
    let kubeconfig: Json = serde_json::from_str(&world.cluster.kubeconfig()).unwrap();
    let with_user = |user: Json| {
        let mut kubeconfig = kubeconfig.clone();
        kubeconfig["users"][0]["user"] = user;
        json!({ "kubeconfig": kubeconfig.to_string() })
    };
    let mut with_authority = kubeconfig.clone();
    with_authority["clusters"][0]["cluster"] =
        json!({ "server": world.cluster.url(), "certificate-authority": pipe });
    for (field, cluster) in [
        ("config_path", json!({ "config_path": pipe })),
        ("tokenFile", with_user(json!({ "tokenFile": pipe }))),
        (
            "client-certificate",
            with_user(
                json!({ "client-certificate": pipe, "client-key-data": BASE64.encode(&key) }),
            ),
        ),
        ("certificate-authority", json!({ "kubeconfig": with_authority.to_string() })),
    ] {
        let refused = refusal(&world, &cluster);
        let said = tokio::time::timeout(std::time::Duration::from_secs(20), refused).await;
        let said = said.unwrap_or_else(|_| panic!("`{field}` is waited for"));
        assert!(said.contains(&format!("The file in `{field}` cannot be read")), "{said}");
        assert!(said.contains("it is not a regular file"), "{said}");
    }
}

#[tokio::test]
async fn a_server_without_http2_is_spoken_to_in_http1() {
    let world = World::new().await;
    let front = Proxy::before_without_http2(world.cluster).await.unwrap();
    let cluster = with(world.by_token(), &json!({ "host": front.url() }));
    let core = world.core();
    let names = ["a", "b", "c"];
    let plans = names.map(|name| {
        let config = world.config_at(&cluster, &world.config_map(name));
        let core = core.clone();
        tokio::spawn(async move { core.plan(OBJECT, &config, None).await })
    });
    for plan in plans {
        plan.await.unwrap().unwrap();
    }
    assert_eq!(front.requests().iter().filter(|one| one.method == "PATCH").count(), names.len());
}

#[tokio::test]
async fn each_dead_end_says_what_failed_and_what_to_check() {
    let world = World::new().await;
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let plain = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let not_tls = plain.local_addr().unwrap();
    let answering = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        while let Ok((mut stream, _)) = plain.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    // Some certificate, which signed nothing.
    let (other, _) = world.cluster.certificate_for("nobody", None).unwrap();
    let plugin = |command: &str, script: &str| {
        json!({ "token": null, "exec": {
            "api_version": "client.authentication.k8s.io/v1", "command": command,
            "args": ["-c", script], "env": { "SECRET": "hunter2hunter2" },
        } })
    };
    let complaining = plugin("sh", "echo \"login $SECRET has expired\" >&2; exit 3");
    let cases = [
        (
            json!({ "host": format!("https://{dead}") }),
            "The connection was refused",
            "Check the port, and that the cluster is running",
        ),
        (
            json!({ "host": "https://k8s.invalid" }),
            "Cannot reach the API server at `https://k8s.invalid`",
            "Check the spelling of the host",
        ),
        (
            json!({ "host": format!("https://{not_tls}") }),
            "does not speak TLS",
            "whether the host should begin with `http://`",
        ),
        (
            json!({ "host": world.cluster.url().replace("https", "http"),
                    "cluster_ca_certificate": null }),
            "It speaks TLS there",
            "Write the host with `https://`",
        ),
        (
            json!({ "cluster_ca_certificate": other }),
            "not signed by an authority that this connection trusts",
            "Set `cluster_ca_certificate`",
        ),
        (
            json!({ "cluster_ca_certificate": null }),
            "not signed by an authority that this connection trusts",
            "Set `cluster_ca_certificate`",
        ),
        (
            json!({ "tls_server_name": "elsewhere.example" }),
            "Its certificate is for another name: `127.0.0.1`, `localhost`",
            "name one of its names in `tls_server_name`",
        ),
        (
            json!({ "token": "hunter2hunter2" }),
            "does not accept the credentials (HTTP 401)",
            "has not expired, or fetch a new one",
        ),
        (
            json!({ "proxy_url": format!("http://{dead}") }),
            "could not be used",
            "Check `proxy_url`",
        ),
        (
            plugin("k8sconnect-no-such-plugin", ""),
            "there is no such command on this machine",
            "Install it, or write its full path",
        ),
        (complaining, "login (hidden) has expired", "Run it by hand"),
    ];
    // Some are given a few seconds before they are given up: all at once.
    let world = Arc::new(world);
    let told = cases.map(|(other, what, check)| {
        let (world, cluster) = (Arc::clone(&world), with(world.by_token(), &other));
        (tokio::spawn(async move { refusal(&world, &cluster).await }), what, check)
    });
    for (said, what, check) in told {
        let said = said.await.unwrap();
        let flat = said.to_lowercase();
        assert!(flat.contains(&what.to_lowercase()), "`{what}` was not said:\n{said}");
        assert!(flat.contains(&check.to_lowercase()), "`{check}` was not said:\n{said}");
        assert!(!said.contains("hunter2") && !said.contains(world.cluster.token()), "{said}");
    }
    answering.abort();
}

#[tokio::test]
async fn a_certificate_out_of_its_time_is_told_as_that_whosever_it_is() {
    let world = World::new().await;
    for (validity, why, check) in [
        (Validity::Past, "Its certificate has expired", "check this machine's clock"),
        (Validity::Future, "Its certificate is not valid yet", "Check this machine's clock"),
    ] {
        let front = Proxy::before_with_certificate(world.cluster, validity).await.unwrap();
        let said = refusal(&world, &with(world.by_token(), &json!({ "host": front.url() }))).await;
        assert!(said.contains(why) && said.contains(check), "{said}");
        assert_eq!(front.requests(), [], "nothing was asked of it");

        // A client's: the server is asked, and does not say why it knows nobody.
        let (certificate, key) =
            world.cluster.certificate_valid(&world.user, Some("system:masters"), validity).unwrap();
        let other = json!({ "token": null, "client_certificate": certificate, "client_key": key });
        let said = refusal(&world, &with(world.by_token(), &other)).await;
        assert!(said.contains("does not accept the credentials (HTTP 401)"), "{said}");
        assert!(said.contains("client certificate belongs to this cluster and has not"), "{said}");
    }
}

#[tokio::test]
async fn parts_that_are_not_known_yet_plan_without_the_cluster() {
    let world = World::new().await;
    let mut config = world.config_at(&world.by_token(), &world.config_map("settings"));
    let Value::Known(tfplugin::Data::Object(attributes)) = &mut config else { panic!() };
    let Some(Value::Known(tfplugin::Data::Object(cluster))) = attributes.get_mut("cluster") else {
        panic!()
    };
    cluster.insert("host".to_owned(), Value::Unknown);
    let core = world.core();
    core.validate(OBJECT, &config).await.unwrap();
    let plan = core.plan(OBJECT, &config, None).await.unwrap();
    assert_eq!(plan.action, Action::Create);
    assert_eq!(plan.planned.attribute("managed_state_projection"), Some(&Value::Unknown));
    let told = said(&plan.diagnostics);
    assert!(told.contains("Objects whose `cluster` is not known yet"), "{told}");
}

#[tokio::test]
async fn insecure_is_told_where_it_stands() {
    let world = World::new().await;
    let insecure = json!({ "insecure": true, "cluster_ca_certificate": null });
    let config = world.config_at(&with(world.by_token(), &insecure), &world.config_map("a"));
    let told = world.core().validate(OBJECT, &config).await.unwrap();
    let warning = told.iter().next().unwrap();
    assert_eq!(warning.summary, "The server's certificate is not checked");
    assert_eq!(warning.path.as_ref().unwrap().to_string(), "cluster.insecure");

    let mut kubeconfig: Json = serde_json::from_str(&world.cluster.kubeconfig()).unwrap();
    let server = world.cluster.url();
    kubeconfig["clusters"][0]["cluster"] =
        json!({ "server": server, "insecure-skip-tls-verify": true });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config").display().to_string();
    std::fs::write(&path, kubeconfig.to_string()).unwrap();
    for (part, cluster) in [
        ("kubeconfig", json!({ "kubeconfig": kubeconfig.to_string() })),
        ("config_path", json!({ "config_path": path })),
    ] {
        let config = world.config_at(&cluster, &world.config_map("a"));
        let told = world.core().validate(OBJECT, &config).await.unwrap();
        let warning = told.iter().next().unwrap();
        assert!(warning.detail.contains("`insecure-skip-tls-verify`"), "{warning:?}");
        assert_eq!(warning.path.as_ref().unwrap().to_string(), format!("cluster.{part}"));
    }
}

#[tokio::test]
async fn a_login_that_the_server_does_not_know_is_told_as_such() {
    let world = World::new().await;
    let mut kubeconfig: Json = serde_json::from_str(&world.cluster.kubeconfig()).unwrap();
    kubeconfig["users"][0]["user"] = json!({ "username": "me", "password": "hunter2" });
    let said = refusal(&world, &json!({ "kubeconfig": kubeconfig.to_string() })).await;
    assert!(said.contains("ignored the credentials (HTTP 403)"), "{said}");
    assert!(said.contains("knows no `username` and `password`"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token").display().to_string();
    std::fs::write(&path, "").unwrap();
    kubeconfig["users"][0]["user"] = json!({ "tokenFile": path });
    let said = refusal(&world, &json!({ "kubeconfig": kubeconfig.to_string() })).await;
    assert!(said.contains("The file in `tokenFile` is empty"), "{said}");
}
