use super::*;

fn of(auth: Auth) -> Result<Credentials, ConnectionError> {
    let mut connection = Connection::to("https://k.example".parse().unwrap());
    connection.auth = auth;
    Credentials::new(&connection, Arc::default(), Stop::default())
}

#[tokio::test]
async fn a_token_that_no_header_can_have_is_the_plugins_fault() {
    let answer = r#"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": "hun\nter2"}}"#;
    let plugin = crate::connection::Exec {
        api_version: "client.authentication.k8s.io/v1".into(),
        command: "sh".into(),
        args: vec!["-c".into(), format!("cat <<'E'\n{answer}\nE").into()],
        env: vec![],
        install_hint: None,
        cluster: None,
    };
    let refused = of(Auth::Exec(plugin)).unwrap().current(soon()).await.err();
    let problem = PluginError::Value(Box::new(InvalidValue::Header.of("token")));
    assert_eq!(refused, Some(ConnectionError::Plugin { command: "sh".into(), problem }.into()));
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn shown(credential: &Credential) -> &str {
    credential.authorization.as_ref().unwrap().to_str().unwrap()
}

#[tokio::test]
async fn a_token_that_is_refused_has_no_other() {
    let credentials = of(Auth::Token("hunter2\n".into())).unwrap();
    let credential = credentials.current(soon()).await.unwrap();
    assert_eq!(shown(&credential), "Bearer hunter2");
    assert!(!credentials.renew(&credential, soon()).await.unwrap());
    assert!(!format!("{:?}", credential.authorization).contains("hunter2"));
}

#[tokio::test]
async fn basic_auth_is_encoded() {
    let auth = Auth::Basic { username: "me".into(), password: "p:w".into() };
    let credential = of(auth).unwrap().current(soon()).await.unwrap();
    assert_eq!(shown(&credential), "Basic bWU6cDp3");
}

#[tokio::test]
async fn a_refused_token_file_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "one\n").unwrap();
    let file = |otherwise| Auth::TokenFile { path: path.clone(), otherwise };
    let credentials = of(file(None)).unwrap();
    let first = credentials.current(soon()).await.unwrap();
    assert_eq!(shown(&first), "Bearer one");
    std::fs::write(&path, "two\n").unwrap();
    assert_eq!(shown(&credentials.current(soon()).await.unwrap()), "Bearer one");
    assert!(credentials.renew(&first, soon()).await.unwrap());
    assert_eq!(shown(&credentials.current(soon()).await.unwrap()), "Bearer two");
    // Whoever was refused with the old one as well takes what is there.
    assert!(credentials.renew(&first, soon()).await.unwrap());

    std::fs::write(&path, "\n").unwrap();
    let empty = of(file(None)).unwrap().current(soon()).await.err();
    let cause = |error: &Error| match error {
        Error::Connection(ConnectionError::UnreadableFile {
            field: "tokenFile", cause, ..
        }) => Some(cause.clone()),
        _ => None,
    };
    assert_eq!(empty.as_ref().and_then(cause), Some(Unreadable::Empty));
    let both = of(file(Some("fixed".into()))).unwrap();
    let fallen_back = both.current(soon()).await.unwrap();
    assert_eq!(shown(&fallen_back), "Bearer fixed", "as kubectl does");
    std::fs::write(&path, "three\n").unwrap();
    assert!(both.renew(&fallen_back, soon()).await.unwrap());
    assert_eq!(shown(&both.current(soon()).await.unwrap()), "Bearer three");
}

#[test]
fn a_token_with_a_line_break_inside_is_refused() {
    let error = of(Auth::Token("hunter\n2".into())).err();
    assert_eq!(error, Some(InvalidValue::Header.of("token")));
}

/// A plugin that notes each run and then does as the script says.
fn plugin(runs: &std::path::Path, script: &str) -> Credentials {
    let script = format!("echo >> '{}'; {script}", runs.display());
    of(Auth::Exec(crate::connection::Exec {
        api_version: exec::VERSIONS[0].into(),
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![],
        install_hint: None,
        cluster: None,
    }))
    .unwrap()
}

fn problem(fetched: Result<Credential, Error>) -> PluginError {
    match fetched.err() {
        Some(Error::Connection(ConnectionError::Plugin { problem, .. })) => problem,
        other => panic!("{other:?}"),
    }
}

fn printing(expires: &str) -> String {
    format!(
        "printf %s '{{\"apiVersion\":\"{}\",\"kind\":\"ExecCredential\",\
         \"status\":{{\"token\":\"t\",\"expirationTimestamp\":\"{expires}\"}}}}'",
        exec::VERSIONS[0],
    )
}

fn count(runs: &std::path::Path) -> usize {
    std::fs::read_to_string(runs).unwrap().lines().count()
}

/// Lets the lull pass without waiting for it.
async fn outlast(credentials: &Credentials) {
    let mut cached = credentials.cached.lock().await;
    credentials.breaker.close_all();
    if let Some(credential) = &mut *cached {
        credential.fetched -= LULL;
    }
}

#[tokio::test]
async fn a_plugin_runs_once_until_what_it_gave_expires() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let lasting = plugin(&runs, &printing("2999-01-01T00:00:00Z"));
    for _ in 0..3 {
        lasting.current(soon()).await.unwrap();
    }
    outlast(&lasting).await;
    lasting.current(soon()).await.unwrap();
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_plugin_whose_token_is_stale_from_the_start_is_not_run_for_each_object() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let stale = plugin(&runs, &printing("2001-01-01T00:00:00Z"));
    for _ in 0..3 {
        stale.current(soon()).await.unwrap();
    }
    assert_eq!(count(&runs), 1);
    outlast(&stale).await;
    stale.current(soon()).await.unwrap();
    assert_eq!(count(&runs), 2, "it is run again when a moment has passed");
}

#[tokio::test]
async fn a_plugin_that_fails_fails_once_for_all_who_ask_at_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let failing = plugin(&runs, "echo log in first >&2; exit 1");
    let (one, two, three) =
        tokio::join!(failing.current(soon()), failing.current(soon()), failing.current(soon()));
    for told in [one, two, three] {
        let problem = problem(told);
        let said = |stderr: &str| stderr == "log in first";
        assert!(
            matches!(&problem, PluginError::Failed { stderr, .. } if said(stderr)),
            "{problem:?}"
        );
    }
    assert_eq!(count(&runs), 1);
    outlast(&failing).await;
    assert!(failing.current(soon()).await.is_err());
    assert_eq!(count(&runs), 2, "somebody may have logged in meanwhile");
}

#[tokio::test]
async fn a_stop_ends_a_plugin_and_starts_none() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let hanging = plugin(&runs, "exec sleep 300");
    let stop = async {
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        // The file is there before the plugin has written to it.
        while !runs.exists() || count(&runs) == 0 {
            assert!(std::time::Instant::now() < deadline, "the plugin was never run");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        hanging.stop.ask();
    };
    let (told, ()) = tokio::join!(hanging.current(soon()), stop);
    assert_eq!(problem(told), PluginError::Interrupted);
    outlast(&hanging).await;
    assert!(hanging.current(soon()).await.is_err());
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_plugin_is_asked_once_for_another_token_than_the_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let wrong = plugin(&runs, &printing("2999-01-01T00:00:00Z"));
    let first = wrong.current(soon()).await.unwrap();
    assert!(wrong.renew(&first, soon()).await.unwrap());
    for _ in 0..3 {
        let next = wrong.current(soon()).await.unwrap();
        assert!(!wrong.renew(&next, soon()).await.unwrap());
    }
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn a_plugin_has_no_more_time_than_the_request_that_asks() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let slow = plugin(&runs, &format!("sleep 3; {}", printing("2999-01-01T00:00:00Z")));
    let began = Instant::now();
    let hasty = began + Duration::from_secs(1);
    let (first, second) = tokio::join!(slow.current(hasty), slow.current(hasty));
    for told in [first, second] {
        let problem = problem(told);
        assert!(matches!(problem, PluginError::TimedOut { .. }), "{problem:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // Whoever had little time has proved nothing.
    slow.current(soon()).await.unwrap();
    assert_eq!(count(&runs), 2);
}
