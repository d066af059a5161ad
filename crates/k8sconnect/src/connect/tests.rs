use tfplugin::Value;

use super::schema::ExecModel;
use super::*;

fn cluster(change: impl FnOnce(&mut ClusterModel)) -> ClusterModel {
    let mut cluster = ClusterModel::default();
    change(&mut cluster);
    cluster
}

fn args<'a>(cluster: &'a Value<ClusterModel>, name: &'a Value<String>) -> ClusterArgs<'a> {
    ClusterArgs { cluster, name }
}

fn judged(cluster: ClusterModel) -> Diagnostics {
    validate(args(&Value::Known(cluster), &Value::Null), &mut Diagnostics::new())
}

/// What is told, each with the part that it points to.
fn told(cluster: ClusterModel) -> Vec<String> {
    let problems = judged(cluster);
    let shown = |problem: &tfplugin::Diagnostic| {
        let path = problem.path.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{path}: {}", problem.summary)
    };
    problems.iter().map(shown).collect()
}

fn exec(api_version: &str, command: &str) -> Value<ExecModel> {
    Value::Known(ExecModel {
        api_version: api_version.into(),
        command: command.into(),
        ..ExecModel::default()
    })
}

const KUBECONFIG: &str = "
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: https://k.example}}]
users: [{name: u, user: {token: t}}]
";
const VERSION: &str = "client.authentication.k8s.io/v1";

#[test]
fn every_way_in_is_taken_by_itself() {
    for taken in [
        cluster(|it| (it.host, it.token) = ("https://k.example".into(), "t".into())),
        cluster(|it| (it.host, it.exec) = ("k.example:6443".into(), exec(VERSION, "login"))),
        cluster(|it| it.host = "http://127.0.0.1:8001".into()),
        cluster(|it| it.kubeconfig = KUBECONFIG.into()),
        cluster(|it| (it.kubeconfig, it.context) = (KUBECONFIG.into(), "here".into())),
        cluster(|it| (it.config_path, it.insecure) = ("/nowhere".into(), false.into())),
    ] {
        assert_eq!(told(taken.clone()), [""; 0], "{taken:?}");
    }
}

#[test]
fn a_contradiction_is_told_at_the_part_that_makes_it() {
    let beside = cluster(|it| {
        it.kubeconfig = KUBECONFIG.into();
        it.host = "https://k.example".into();
        it.token = "t".into();
    });
    assert_eq!(told(beside), ["cluster.host: The cluster is given twice"]);
    let twice = cluster(|it| (it.kubeconfig, it.config_path) = ("a".into(), "b".into()));
    assert_eq!(told(twice), ["cluster.config_path: The cluster is given twice"]);
    let thrice = cluster(|it| {
        (it.kubeconfig, it.config_path, it.token) = ("a".into(), "b".into(), "t".into());
    });
    let both = [
        "cluster.config_path: The cluster is given twice",
        "cluster.token: The cluster is given twice",
    ];
    assert_eq!(told(thrice), both);
    let everything = cluster(|it| {
        (it.kubeconfig, it.config_path) = ("a".into(), "b".into());
        (it.host, it.token, it.exec) = ("https://k:99999".into(), "t".into(), exec("v0", ""));
    });
    let half = cluster(|it| {
        it.kubeconfig = KUBECONFIG.into();
        (it.host, it.client_certificate) = ("https://k.example".into(), "q".into());
    });
    assert!(told(half).iter().any(|it| it.contains("is given without `client_key`")));
    assert_eq!(
        told(everything),
        [
            "cluster.config_path: The cluster is given twice",
            "cluster.host: The cluster is given twice",
            "cluster.host: `host` cannot be used",
            "cluster.exec.api_version: `exec.api_version` cannot be used",
            "cluster.exec.command: `exec.command` cannot be used",
            "cluster.exec: Two logins are given",
        ]
    );
    let context = cluster(|it| {
        (it.host, it.token) = ("https://k.example".into(), "t".into());
        it.context = "prod".into();
    });
    assert_eq!(told(context), ["cluster.context: `context` is given without a kubeconfig"]);
}

#[test]
fn what_is_missing_is_told() {
    assert_eq!(told(ClusterModel::default()), ["cluster: The cluster is not described"]);
    let alone = cluster(|it| it.context = "prod".into());
    assert_eq!(told(alone), ["cluster.context: `context` is given without a kubeconfig"]);
    let hostless = cluster(|it| it.token = "t".into());
    assert_eq!(told(hostless), ["cluster.host: `token` is given without `host`"]);
    let nowhere = cluster(|it| it.config_path = "".into());
    assert_eq!(told(nowhere), ["cluster.config_path: `config_path` is empty"]);
    let text = cluster(|it| it.config_path = KUBECONFIG.into());
    let told_of_text = "`config_path` holds the text of a kubeconfig, not its path";
    assert_eq!(told(text), [format!("cluster.config_path: {told_of_text}")]);
    let nobody = cluster(|it| it.host = "https://k.example".into());
    assert_eq!(told(nobody), ["cluster.host: The cluster is described without a login"]);
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let wrong = cluster(|it| {
        it.host = "ftp://k.example".into();
        it.cluster_ca_certificate = "x".into();
        it.insecure = true.into();
        it.token = "t".into();
        it.exec = exec("v0", "");
        it.client_key = "k".into();
    });
    assert_eq!(
        told(wrong),
        [
            "cluster.host: `host` cannot be used",
            "cluster.cluster_ca_certificate: `cluster_ca_certificate` cannot be used",
            "cluster.client_key: `client_key` cannot be used",
            "cluster.exec.api_version: `exec.api_version` cannot be used",
            "cluster.exec.command: `exec.command` cannot be used",
            "cluster.insecure: `insecure` contradicts `cluster_ca_certificate`",
            "cluster.exec: Two logins are given",
            "cluster.client_key: `client_key` is given without `client_certificate`",
        ]
    );
}

#[test]
fn what_is_not_known_yet_is_neither_missing_nor_against_anything() {
    let hosts = cluster(|it| (it.host, it.token) = (Value::Unknown, "t".into()));
    assert_eq!(told(hosts), [""; 0]);
    let either = cluster(|it| (it.kubeconfig, it.token) = (Value::Unknown, "t".into()));
    assert_eq!(told(either), [""; 0]);
    let login = cluster(|it| (it.host, it.exec) = ("https://k.example".into(), Value::Unknown));
    assert_eq!(told(login), [""; 0]);
    let still_wrong = cluster(|it| (it.host, it.token) = ("ftp://k".into(), Value::Unknown));
    assert_eq!(told(still_wrong), ["cluster.host: `host` cannot be used"]);
}

#[test]
fn the_provider_block_is_checked_as_a_whole() {
    let wrong = Value::Known(cluster(|it| it.token = "t".into()));
    let named = [("east".to_owned(), wrong.clone()), ("west".to_owned(), Value::Unknown)];
    let problems = check_all(&wrong, &Value::Known(named.into())).unwrap_err();
    let paths: Vec<_> = problems.iter().map(|it| it.path.clone().unwrap().to_string()).collect();
    assert_eq!(paths, ["cluster.host", "clusters[\"east\"].host"]);
}

#[test]
fn one_of_several_clusters_is_named_where_it_is_not_described() {
    let named = [("east".to_owned(), Value::Known(ClusterModel::default()))];
    let problems = check_all(&Value::Null, &Value::Known(named.into())).unwrap_err();
    let told: Vec<_> = problems.iter().map(|it| it.detail.clone()).collect();
    assert!(told[0].contains("It stands at `clusters[\"east\"]`"), "{told:?}");
}

#[test]
fn a_kubeconfig_is_checked_as_a_whole_and_says_which_cluster_it_is_of() {
    let wrong = KUBECONFIG
        .replace("server: https://k.example", "server: https://k.example, proxy-url: 'ftp://p'")
        .replace("token: t", "token: \"a\\nb\"");
    let wrong = Value::Known(cluster(|it| it.kubeconfig = wrong.as_str().into()));
    let named = [("east".to_owned(), wrong)];
    let problems = check_all(&Value::Null, &Value::Known(named.into())).unwrap_err();
    let told: Vec<_> = problems.iter().map(|it| (it.summary.as_str(), &it.detail)).collect();
    let summaries: Vec<_> = told.iter().map(|it| it.0).collect();
    assert_eq!(summaries, ["`proxy-url` cannot be used", "`token` cannot be used"]);
    for (_, detail) in told {
        assert!(detail.contains("It stands at `clusters[\"east\"].kubeconfig`"), "{detail}");
    }
}

#[test]
fn empty_names_are_told_as_empty() {
    let context = cluster(|it| (it.kubeconfig, it.context) = (KUBECONFIG.into(), "".into()));
    assert_eq!(told(context), ["cluster.context: `context` is empty"]);
    let nameless = [(String::new(), Value::Known(cluster(|it| it.kubeconfig = KUBECONFIG.into())))];
    let problems = check_all(&Value::Null, &Value::Known(nameless.into())).unwrap_err();
    assert_eq!(problems.iter().count(), 1);
    let token = cluster(|it| (it.host, it.token) = ("https://k.example".into(), "".into()));
    let problems = judged(token);
    assert!(problems.iter().any(|it| it.detail.starts_with("It is empty.")), "{problems:?}");
}

#[test]
fn an_entry_that_is_null_is_none_and_told_as_null() {
    let known = Value::Known(cluster(|it| it.kubeconfig = KUBECONFIG.into()));
    let named = [("east".to_owned(), Value::Null), ("west".to_owned(), known)];
    let directory = Directory { default: Value::Null, named: Value::Known(named.into()) };
    assert_eq!(directory.names(), ["west"]);
    let problems = directory.reach(args(&Value::Null, &"east".into())).err().unwrap();
    let told: Vec<_> = problems.iter().map(|it| it.detail.clone()).collect();
    assert!(told[0].contains("The provider block names `west`"), "{told:?}");
}

#[test]
fn one_of_several_clusters_is_called_by_its_name_in_what_is_told_of_its_server() {
    let one = Value::Known(cluster(|it| it.kubeconfig = KUBECONFIG.into()));
    let named = Value::Known([("east".to_owned(), one.clone())].into());
    let directory = Directory { default: one, named };
    let called = |name: Value<String>| match directory.reach(args(&Value::Null, &name)) {
        Ok(Reach::Ready(connection)) => connection.called,
        _ => panic!("it is described"),
    };
    assert_eq!(called("east".into()).as_deref(), Some("clusters[\"east\"]"));
    assert_eq!(called(Value::Null), None, "there is only one of these");
}

#[test]
fn credentials_in_clear_are_warned_about_and_a_proxy_without_them_is_not() {
    let warned = |cluster: ClusterModel| {
        let told = warnings(&Value::Known(cluster));
        told.iter().map(|it| it.path.as_ref().unwrap().to_string()).collect::<Vec<_>>()
    };
    let host =
        |token: Value<String>| cluster(|it| (it.host, it.token) = ("http://k:80".into(), token));
    assert_eq!(warned(host("t".into())), ["cluster.host"]);
    assert_eq!(warned(host(Value::Null)), [""; 0]);
    let plain = KUBECONFIG.replace("https", "http");
    assert_eq!(warned(cluster(|it| it.kubeconfig = plain.as_str().into())), ["cluster.kubeconfig"]);
}
