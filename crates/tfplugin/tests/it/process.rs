//! The plugin as a process: how it is started, whom it trusts, and how it ends.

use std::process::{Output, Stdio};

use tfplugin::{Context, Diagnostics, Options, Provider, Registry, Schema};
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::plugin::{COOKIE, ClientCertificate, Connection, PATIENCE, Plugin, SOCKET_DIR, echo};

const SCHEMA: &str = "tfplugin6.Provider/GetProviderSchema";
const SHUTDOWN: &str = "plugin.GRPCController/Shutdown";

async fn kill(signal: &str, pid: u32) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status().await.unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn explains_itself_when_it_is_run_by_hand() {
    let Output { status, stdout, stderr } =
        Command::new(echo()).stdin(Stdio::null()).output().await.unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(stdout.is_empty());
    let said = String::from_utf8(stderr).unwrap();
    assert!(said.contains("a plugin of Terraform and OpenTofu"), "{said}");
    assert!(said.contains("registry.terraform.io/example/echo"), "{said}");
}

#[tokio::test]
async fn serves_the_client_whose_certificate_it_was_given() {
    let client = ClientCertificate::new();
    let plugin = Plugin::start(Some(&client)).await;
    let mut connection = plugin.connect(Some(&client)).await.unwrap();
    let answer = connection.call(SCHEMA).await.unwrap();
    assert!(answer.windows(11).any(|bytes| bytes == b"echo_object"));
    connection.call("grpc.health.v1.Health/Check").await.unwrap();
}

#[tokio::test]
async fn refuses_a_client_certificate_that_does_not_match() {
    let (expected, other) = (ClientCertificate::new(), ClientCertificate::new());
    let plugin = Plugin::start(Some(&expected)).await;
    // In TLS 1.3 the client is done before the server has judged it, so the first call fails.
    let refused = match plugin.connect(Some(&other)).await {
        Ok(mut connection) => connection.call(SCHEMA).await.is_err(),
        Err(_) => true,
    };
    assert!(refused);
    let mut connection = plugin.connect(Some(&expected)).await.unwrap();
    connection.call(SCHEMA).await.unwrap();
}

#[tokio::test]
async fn refuses_a_client_without_a_certificate() {
    let expected = ClientCertificate::new();
    let plugin = Plugin::start(Some(&expected)).await;
    let refused = match plugin.connect(None).await {
        Ok(mut connection) => connection.call(SCHEMA).await.is_err(),
        Err(_) => true,
    };
    assert!(refused);
    let stream = UnixStream::connect(&plugin.socket).await.unwrap();
    let refused = match Connection::over(stream).await {
        Ok(mut connection) => connection.call(SCHEMA).await.is_err(),
        Err(_) => true,
    };
    assert!(refused, "plain text was answered");
}

#[tokio::test]
async fn waits_for_no_stalled_peer() {
    let client = ClientCertificate::new();
    let plugin = Plugin::start(Some(&client)).await;
    let _stalled = UnixStream::connect(&plugin.socket).await.unwrap();
    let mut connection = plugin.connect(Some(&client)).await.unwrap();
    connection.call(SCHEMA).await.unwrap();
}

#[tokio::test]
async fn speaks_plainly_when_terraform_was_told_to() {
    let plugin = Plugin::start(None).await;
    assert!(plugin.certificate.is_empty());
    let stream = UnixStream::connect(&plugin.socket).await.unwrap();
    Connection::over(stream).await.unwrap().call(SCHEMA).await.unwrap();
}

#[tokio::test]
async fn ends_when_it_is_asked_to_and_leaves_nothing_behind() {
    let client = ClientCertificate::new();
    let mut plugin = Plugin::start(Some(&client)).await;
    let mut connection = plugin.connect(Some(&client)).await.unwrap();
    assert!(plugin.socket.exists());
    connection.call(SHUTDOWN).await.unwrap();
    assert_eq!(plugin.ended().await.code(), Some(0));
    assert!(!plugin.socket.exists());
    assert_eq!(plugin.stdout.next_line().await.unwrap(), None, "more than one line was written");
}

#[tokio::test]
async fn goes_on_when_the_user_interrupts_terraform() {
    let plugin = Plugin::start(None).await;
    kill("-INT", plugin.child.id().unwrap()).await;
    let stream = UnixStream::connect(&plugin.socket).await.unwrap();
    let mut connection = Connection::over(stream).await.unwrap();
    connection.call("tfplugin6.Provider/StopProvider").await.unwrap();
    connection.call(SCHEMA).await.unwrap();
}

#[tokio::test]
async fn ends_by_itself_when_its_parent_is_killed() {
    // The shell is the parent; the plugin holds the pipe open for as long as it lives.
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\" & wait"]).arg(echo()).env("TF_PLUGIN_MAGIC_COOKIE", COOKIE);
    let mut plugin = Plugin::handshake(command).await;
    assert!(plugin.socket.exists());
    plugin.child.start_kill().unwrap();
    let end = tokio::time::timeout(PATIENCE, plugin.stdout.next_line()).await;
    assert_eq!(end.expect("it goes on").unwrap(), None);
    assert!(!plugin.socket.exists());
}

#[tokio::test]
async fn falls_back_to_a_short_path_for_its_socket() {
    let dir = tempfile::tempdir().unwrap();
    let long = dir.path().join("a".repeat(120));
    std::fs::create_dir(&long).unwrap();
    let mut command = Command::new(echo());
    command.env("TF_PLUGIN_MAGIC_COOKIE", COOKIE).env(SOCKET_DIR, &long);
    let plugin = Plugin::handshake(command).await;
    assert!(plugin.socket.starts_with("/tmp"));
    kill("-TERM", plugin.child.id().unwrap()).await;
    let mut plugin = plugin;
    plugin.ended().await;
    assert!(!plugin.socket.exists());
}

#[tokio::test]
async fn tells_a_developer_how_to_attach_to_it() {
    let mut child = Command::new(echo())
        .arg("--debug")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut said = String::new();
    let reattach = loop {
        let mut piece = [0; 1024];
        let len = tokio::time::timeout(PATIENCE, stdout.read(&mut piece)).await.unwrap().unwrap();
        assert!(len > 0, "it ended: {said}");
        said.push_str(std::str::from_utf8(&piece[..len]).unwrap());
        let json = said.split("TF_REATTACH_PROVIDERS='").nth(1).and_then(|it| it.split_once('\''));
        if let Some((json, _)) = json {
            break serde_json::from_str::<serde_json::Value>(json).unwrap();
        }
    };
    let provider = &reattach["registry.terraform.io/example/echo"];
    assert_eq!(provider["ProtocolVersion"], 6);
    assert_eq!(provider["Pid"], child.id().unwrap());
    let socket = provider["Addr"]["String"].as_str().unwrap().to_owned();
    let stream = UnixStream::connect(&socket).await.unwrap();
    Connection::over(stream).await.unwrap().call(SCHEMA).await.unwrap();
    kill("-INT", child.id().unwrap()).await;
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(!std::path::Path::new(&socket).exists());
}

#[tokio::test]
async fn logs_requests_as_terraform_expects_and_nothing_unasked() {
    let logs_with = async |level: &str| {
        let mut command = Command::new(echo());
        command.env("TF_PLUGIN_MAGIC_COOKIE", COOKIE);
        command
            .env_remove("TF_LOG")
            .env_remove("TF_LOG_PROVIDER")
            .env("TF_LOG_PROVIDER_ECHO", level);
        let mut plugin = Plugin::handshake(command).await;
        let mut stderr = plugin.child.stderr.take().unwrap();
        let stream = UnixStream::connect(&plugin.socket).await.unwrap();
        let mut connection = Connection::over(stream).await.unwrap();
        connection.call(SCHEMA).await.unwrap();
        connection.call(SHUTDOWN).await.unwrap();
        let mut said = String::new();
        stderr.read_to_string(&mut said).await.unwrap();
        plugin.ended().await;
        said
    };
    assert_eq!(logs_with("").await, "");
    assert_eq!(logs_with("error").await, "");
    let said = logs_with("debug").await;
    let lines: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{said}");
    for line in &lines {
        assert_eq!(line["@level"], "debug");
        assert_eq!(line["tf_rpc"], "GetProviderSchema");
        assert_eq!(line["@timestamp"].as_str().unwrap().len(), "2006-01-02T15:04:05.000000Z".len());
        assert!(line["@message"].is_string() && line["@module"].is_string());
    }
}

/// Panics when it is asked for its schema.
struct Panicking;

impl Provider for Panicking {
    type Config = tfplugin::Data;

    fn schema(&self) -> Schema {
        panic!("no schema today")
    }

    async fn configure(
        &self,
        _: &Context,
        _: tfplugin::Data,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, _: &mut Registry) {}
}

#[tokio::test]
async fn answers_a_panic_and_says_so_on_standard_error() {
    // This test starts itself again, and is the plugin then.
    if std::env::var_os("TF_PLUGIN_MAGIC_COOKIE").is_some() {
        let address = "registry.terraform.io/example/panicking";
        tfplugin::serve(Panicking, Options { address, name: "panicking" }).await;
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "process::answers_a_panic_and_says_so_on_standard_error";
    command.args(["--exact", "--nocapture", name]).env("TF_PLUGIN_MAGIC_COOKIE", COOKIE);
    let mut plugin = Plugin::handshake(command).await;
    let mut stderr = plugin.child.stderr.take().unwrap();
    let stream = UnixStream::connect(&plugin.socket).await.unwrap();
    let mut connection = Connection::over(stream).await.unwrap();
    for _ in 0..2 {
        let answer = connection.call(SCHEMA).await.unwrap();
        let text = String::from_utf8_lossy(&answer);
        assert!(text.contains("The provider failed unexpectedly"), "{text}");
    }
    connection.call(SHUTDOWN).await.unwrap();
    let mut said = String::new();
    stderr.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("panic: no schema today\n"), "{said}");
    assert!(said.contains("process.rs"), "{said}");
    assert_eq!(plugin.ended().await.code(), Some(0));
}
