//! Every message once, in one file, to be read as a whole: what happened, why, what to do.
//!
//! A new message belongs in here. After a change run
//! `INSTA_UPDATE=always cargo test -p k8sconnect messages`, and read what changed.

mod causes;
mod data;
mod imports;
mod patches;
mod refusals;
mod tolls;
mod wait;
mod ways;

use std::time::Duration;

use k8sconnect_cluster::file::Unreadable;
use k8sconnect_cluster::{
    ConnectionError, Error, Gap, InvalidValue, KubeconfigError, NetworkError, NotYet, PluginError,
    TlsError,
};
use k8sconnect_core::blast::{Reclaim, Toll, Vessel, of_definition, of_namespace};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::field::pattern::Pattern;
use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::ignore::{Ignore, Oddities};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::{Manager, Operation, Owners};
use k8sconnect_core::ownership::{Class, FieldChange};
use k8sconnect_core::plan::Takeover;
use k8sconnect_core::rejection::{Cause, Details, Status};
use k8sconnect_core::scrub::Sensitive;
use k8sconnect_core::secrecy;
use serde_json::json;
use tfplugin::{AttributePath, Diagnostic, Mismatch};

use super::addresses::Stage;
use super::blast::Fate;
use super::manifest::Attribute;
use super::refusal::Subject;
use super::terms::List;
use super::*;
use crate::leaves::Surprise;

fn web() -> Manifest {
    Manifest::parse(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, \
         spec: {replicas: 2}}",
    )
    .unwrap()
}

fn held_by(manager: &str) -> Owners {
    let fields = json!({"f:spec": {"f:replicas": {}}});
    let entry = json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "fieldsV1": fields});
    Owners::of_object(&json!({"metadata": {"managedFields": [entry]}})).unwrap()
}

fn secret() -> Manifest {
    Manifest::parse(
        "{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {a: hunter2}}",
    )
    .unwrap()
}

fn path(text: &str) -> FieldPath {
    text.parse().unwrap()
}

fn manager(name: &str, operation: Operation, subresource: &str) -> Manager {
    Manager {
        name: name.into(),
        operation,
        subresource: subresource.into(),
        api_version: "apps/v1".into(),
        time: Some("2026-11-16T04:00:00Z".into()),
    }
}

/// A field with its values: last applied, live and after.
fn notice(field: &str, owners: &[Manager], values: [Option<&str>; 3]) -> FieldChange {
    let [last_applied, live, after] = values.map(|value| value.map(ToOwned::to_owned));
    FieldChange {
        class: Class::TakenFrom,
        path: path(field),
        api_version: None,
        owned_elsewhere: false,
        owners: owners.to_vec(),
        last_applied,
        live,
        after,
    }
}

fn status(code: u16, message: &str, causes: &[(&str, &str)]) -> Status {
    let causes = causes
        .iter()
        .map(|(field, message)| Cause {
            reason: "FieldValueInvalid".into(),
            message: (*message).into(),
            field: (*field).into(),
        })
        .collect();
    let details = Details { causes, ..Details::default() };
    Status { code, message: message.into(), details, ..Status::default() }
}

fn manifest_messages() -> Vec<Diagnostic> {
    let broken = [
        "a: [",
        "",
        "a: b\n---\nc: d\n",
        "- a",
        "apiVersion: v1\nkind: List\nitems: []\n",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: x-\n",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 3\n  uid: x\nstatus: {}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: \"!\"}\n",
        "apiVersion: v1\nkind: Pod\nkind: Job\nmetadata:\n  name: a\n",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: Shop, annotations: \
         {k8sconnect.terraform.io/terraform-id: x}}}",
    ];
    let mut messages: Vec<_> = broken
        .iter()
        .map(|text| manifest::unusable(&Manifest::parse(text).unwrap_err(), Attribute::Body))
        .collect();
    let odd = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {on: x}}";
    messages.extend(manifest::oddities(&Manifest::parse(odd).unwrap(), Attribute::Body));
    let secret = Manifest::parse("a: [").unwrap_err();
    messages.push(manifest::unusable(&secret, Attribute::WriteOnly));
    messages
}

fn object_messages() -> Vec<Diagnostic> {
    let shop =
        Manifest::parse("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").unwrap();
    let full = json!({"kind": "Namespace", "metadata": {}, "status": {"conditions": [
        {"type": "NamespaceContentRemaining", "status": "True",
         "message": "Some resources are remaining: configmaps. has 1 resource instances"},
    ]}});
    let web = web();
    let key = web.key();
    let change = [("metadata.name", "web".to_owned(), "site".to_owned())];
    let live = json!({"metadata": {
        "uid": "1", "finalizers": ["example.com/cleanup"],
        "annotations": {k8sconnect_core::identity::ID_ANNOTATION: "0f3a"},
        "managedFields": [
            {"manager": "helm", "operation": "Update", "apiVersion": "v1", "fieldsV1": {}},
            {"manager": "k8sconnect", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {}},
        ],
    }});
    let kind =
        NotYet::Kind { gvk: Gvk::new("example.com/v1", "Widgt"), nearest: Some("Widget".into()) };
    let namespace = NotYet::Namespace { name: "shop".into() };
    let going = NotYet::NamespaceGoing { name: "shop".into(), status: Box::default() };
    let calling = "Internal error occurred: failed calling webhook \"policy.example.com\": refused";
    let unreachable = NotYet::Webhook { status: Box::new(status(500, calling, &[])) };
    let long = Duration::from_secs(300);
    let surprise = Surprise {
        path: "spec.replicas".into(),
        planned: Some("2".into()),
        answered: Some("3".into()),
    };
    let forbidden = Error::Refused(Box::new(status(403, "denied by policy", &[])));
    let adopted = Takeover {
        owners: vec![manager("kubectl-client-side-apply", Operation::Update, "")],
        changes: vec![notice("spec.replicas", &[], [None, Some("1"), Some("0")])],
        moved: vec![path("spec.paused")],
        ..Takeover::default()
    };
    let mut messages = vec![
        object::identity_changes(key, &change),
        object::identity_known_late(key, &change),
        object::if_applying(key),
        deletion::not_deleted((&web).into(), &forbidden),
        deletion::still_there(key, &live, "", long),
        deletion::still_there(key, &json!({}), "", long),
        deletion::still_there(shop.key(), &full, "", long),
        object::gone_meanwhile(key),
        object::restored_and_deleted(key),
        object::predecessor_stays(key, &live, long),
        interrupted::creation(key, &namespace),
        interrupted::creation(key, &kind),
        interrupted::recreation(key, &live),
        interrupted::deletion(key, &live),
        interrupted::patch(key),
        deletion::still_there_by_force(key, &live),
        deletion::terms_count_later(key, &["force_destroy", "delete_timeout"]),
        deletion::finalizers_removed(key, &live, long),
        deletion::not_waited_for(key),
        deletion::protected(key),
        deletion::protected_from_replacement(key),
        deletion::protection_untold(key),
        object::taken_over(key, "0f3a"),
        object::taken_over_in_this_run(key),
        deletion::protected_from_remaking(key),
        addresses::destroyed_and_made(key),
        addresses::recreated_not_taken(key),
        addresses::deleted_before_taken(key),
        addresses::made_twice(key),
        addresses::made_and_patched(key),
        addresses::held_twice(key),
        object::never_still(key),
        object::replaced_by_others(key),
        object::restored(key),
        object::body_unknown(),
        object::terms_unknown(&["cluster"]),
        object::terms_unknown(&["ignore_fields", "cluster"]),
        object::planned_blind(key, &kind),
        object::planned_blind(key, &namespace),
        object::planned_blind(key, &going),
        object::planned_blind(key, &unreachable),
        object::planned_before_its_kind(key),
        object::planned_before_its_definition(key),
        object::not_there_at_apply(key, &namespace, long),
        object::slots_exhausted(key, &kind, long),
        object::no_such_kind(key, Some("Deployment"), ownership::Whose::Object),
        object::no_such_kind(key, None, ownership::Whose::Patch),
        served::kind_unserved(key),
        served::path_unknown(key),
        served::has_moved(&web, &Gvk::new("apps/v2", "Deployment")),
        served::cannot_change(&web, &Gvk::new("apps/v2", "Deployment")),
        served::target_moved(key, &Gvk::new("apps/v2", "Deployment")),
        object::adopts(key, &live, &Takeover::default()),
        object::adopts(key, &live, &adopted),
        object::waits_for_predecessor(key),
        addresses::exists(&web, &live, Stage::Plan),
        addresses::exists(&web, &live, Stage::Apply),
        addresses::appeared(key, &live),
        addresses::in_the_way(key, &live),
        addresses::cannot_follow(
            (&web).into(),
            &live,
            Some(&status(422, "data: Forbidden: field is immutable", &[])),
        ),
        addresses::cannot_follow((&web).into(), &live, None),
        object::recreated(key, &live),
        addresses::exists(&web.clone().never_stored("1"), &live, Stage::Plan),
        object::changed_meanwhile(key),
        object::ownership_unreadable(key, &FieldsV1Error("x:y".into())),
        object::answered_otherwise(key, &[surprise]),
    ];
    let going = json!({"metadata": {
        "deletionTimestamp": "2026-11-16T04:00:00Z", "finalizers": ["example.com/cleanup"],
        "annotations": {k8sconnect_core::identity::ID_ANNOTATION: "0f3a"},
    }});
    messages.extend(object::bears_another_id(key, "ours", &going));
    messages.extend(object::is_being_deleted(key, &going));
    messages.extend(object::warnings_about(&web, &["spec.x is deprecated".to_owned()]));
    messages
}

fn ownership_messages() -> Vec<Diagnostic> {
    let hpa = manager("hpa", Operation::Update, "scale");
    let flux = manager("flux", Operation::Apply, "");
    let flux = std::slice::from_ref(&flux);
    let of = |class, change: FieldChange| FieldChange { class, ..change };
    let drifted = [
        notice("spec.replicas", &[hpa], [Some("2"), Some("5"), Some("2")]),
        notice("spec.paused", &[], [Some("true"), None, Some("true")]),
    ];
    let drifted = drifted.map(|change| of(Class::Drifted, change));
    let items =
        notice("spec.ports[port=80,protocol=TCP].targetPort", flux, [None, Some("9090"), None]);
    let old_version = FieldChange {
        api_version: Some("apps/v1beta1".into()),
        ..notice("spec.scale", flux, [None; 3])
    };
    let elsewhere = FieldChange {
        owned_elsewhere: true,
        ..notice("spec.metrics", &[], [Some("x"), Some("x"), Some("x")])
    };
    let order = [None, Some("[name=B] [name=A]"), Some("[name=A] [name=B]")];
    let mut changes = drifted.to_vec();
    changes.extend([
        notice(r#"data["app.conf"]"#, flux, [None, Some("a\nb"), Some("c")]),
        old_version.clone(),
        of(Class::OwnershipLost, notice("data.mode", flux, [Some("x"), Some("x"), Some("x")])),
        of(Class::RetainedBy, notice("data.a", flux, [Some("x"), Some("x"), Some("x")])),
        of(Class::OwnedElsewhere, elsewhere),
        of(Class::OwnedElsewhere, old_version.clone()),
        of(Class::RemovedWithParent, items),
        of(Class::Defaulted, notice("spec.replicas", &[], [Some("3"), Some("3"), Some("1")])),
        of(Class::Reordered, notice("spec.env", &[], order)),
        of(Class::Unignored, notice("data.old", &[], [None, Some("v"), None])),
        of(Class::Deleted, notice("data.old", &[], [None, None, None])),
    ]);
    let mut messages: Vec<_> =
        ownership::reports(web().key(), &changes, ownership::Whose::Object).into_iter().collect();
    messages.extend(ownership::contested(web().key(), &changes));
    messages.push(ownership::at_stake(web().key(), &drifted));
    messages
}

fn upgrade_messages() -> Vec<Diagnostic> {
    let (path, id) = (AttributePath::root("yaml_body"), "0f3a5c7e9b1d");
    let mismatch = Mismatch { path, expected: "a string".into(), found: "a number".into() };
    vec![
        upgrade::unknown_version(5),
        upgrade::misshapen(&mismatch),
        upgrade::no_way_to_the_cluster(),
        upgrade::whose_is_it(web().key(), id, Some("d1b9e7c5a3f0")),
        upgrade::whose_is_it(web().key(), id, None),
        upgrade::refresh_first(web().key()),
    ]
}

fn connection_messages() -> Vec<Diagnostic> {
    use crate::connection_origin::ConnectionOrigin::{Provider, Resource};
    use k8sconnect_cluster::Error::{Refused, Unauthorized};

    let web = web();
    let key = web.key();
    let forbidden = Refused(Box::new(status(403, "deployments is forbidden", &[])));
    let status = Box::new(status(401, "Unauthorized", &[]));
    let expired =
        Unauthorized { host: "https://k.example".into(), plugin: None, status: status.clone() };
    let (host, user) = ("https://k.example".into(), Some("ci".to_owned()));
    let nobody = k8sconnect_cluster::Error::Anonymous { host, user, status };
    let host = "https://k.example".into();
    let moved =
        k8sconnect_cluster::Error::Unreachable { host, cause: NetworkError::NoRoute, attempts: 1 };
    let (host, request) = ("https://k.example".into(), "GET /api/v1/namespaces/kube-system".into());
    let late =
        k8sconnect_cluster::Error::Timeout { host, request, waited: Duration::from_secs(30) };
    let there = "https://other.example".parse().unwrap();
    let id = "6c1f4a3e-5b0d-4f0e-9a55-8e2f6a1d7b90";
    let path = "old/kubeconfig".to_owned();
    let cause = Unreadable::System {
        kind: std::io::ErrorKind::NotFound,
        words: "No such file or directory (os error 2)".into(),
    };
    let lost = ConnectionError::UnreadableFile { field: "config_path", path, cause };
    vec![
        unread::not_refreshed(key, &forbidden, Resource),
        unread::not_refreshed(key, &expired, Resource),
        unread::not_refreshed(key, &expired, Provider),
        unread::not_refreshed(key, &nobody, Provider),
        unread::unanswered(key, &moved, Resource),
        unread::connection_unusable(key, &connection::unusable(&lost).into(), Resource),
        unread::connection_unusable(
            key,
            &connection::unknown_cluster("old", &["new".to_owned()]).into(),
            Provider,
        ),
        deletion::not_deleted((&web).into(), &expired),
        deletion::not_deleted((&web).into(), &moved),
        cluster_identity::not_refreshed(key, &there),
        cluster_identity::different(key, &there),
        cluster_identity::unreadable(&there, &forbidden),
        cluster_identity::unreadable(&there, &late),
        cluster_identity::not_found_unreadable(key, &there, None),
        cluster_identity::not_found_unrecorded(key, &there, Some(id)),
        unread::not_found_at_plan(key),
        unread::unreadable_at_plan(key, &expired),
        unread::unreadable_at_plan(key, &forbidden),
        unread::unreadable_at_plan(key, &moved),
        unread::not_configured(key, Some("old")),
        unread::not_configured(key, None),
        unread::unusable_in_state(key, Resource, &connection::unusable(&lost).into()),
        unread::unusable_in_state(key, Provider, &connection::unusable(&lost).into()),
        patch::not_handed_back(key, &expired),
        patch::not_handed_back(key, &moved),
    ]
}

fn other_messages() -> Vec<Diagnostic> {
    let errors = Manifest::parse("").unwrap_err();
    let reserved = "metadata.annotations[\"k8sconnect.terraform.io/terraform-id\"]";
    let vain = ("spec.selector.matchLabels.app".to_owned(), path("spec.selector"));
    let contexts = vec!["prod".to_owned(), "stage".to_owned()];
    let none = ConnectionError::NoContextChosen { contexts, files: Vec::new() };
    let [as_path, as_key, as_token] = [
        ("config_path", Sensitive::Document),
        ("client-key", Sensitive::Pem),
        ("tokenFile", Sensitive::Token),
    ]
    .map(|(field, content)| ConnectionError::ContentForPath { field, content });
    let half = ConnectionError::Entry {
        what: "user",
        name: "joe".into(),
        file: Some("~/.kube/work".into()),
        error: ConnectionError::Alone { field: "client-key", lacks: "client-certificate" }.into(),
    };
    let deep = AttributePath::root("clusters").key("prod").attribute("cluster_ca_certificate");
    let bad_authority =
        || connection::unusable_part("cluster_ca_certificate", &InvalidValue::NotPem);
    let both = ["east".to_owned(), "west".to_owned()];
    vec![
        connection::missing(),
        connection::empty(),
        connection::no_text("cluster_name"),
        connection::unknown_cluster("prod", &[]),
        connection::unknown_cluster("prod", &both),
        connection::in_clear("host"),
        connection::given_twice("kubeconfig", &["host", "token"]),
        connection::context_alone(),
        connection::no_host("token"),
        connection::insecure_with_authority(),
        connection::insecure("insecure = true"),
        connection::stored_credential(),
        connection::two_logins(),
        connection::nobody(),
        connection::no_tls("insecure"),
        connection::unusable(&none),
        connection::unusable(&as_path),
        connection::unusable(&as_key),
        connection::unusable(&as_token),
        connection::unusable(&half),
        connection::nameless(),
        connection::in_provider_block(bad_authority(), &deep),
        connection::deep_inside(bad_authority(), &deep),
        state::private_unreadable("kept", "it has version 2, this release reads 1"),
        state::body_unreadable(&errors),
        state::body_unreadable(&Manifest::parse("a: [1").unwrap_err()),
        state::unknown_terms(),
        state::unnamed(),
        terms::no_path(List::Ignored, &Pattern::parse("spec.containers[0]").unwrap_err()),
        terms::no_path(List::Ignored, &Ignore::parse(reserved).unwrap_err()),
        terms::null_path(List::Ignored),
        terms::no_path(List::Sensitive, &secrecy::pattern("metadata.name").unwrap_err()),
        terms::null_path(List::Sensitive),
        terms::no_propagation("later"),
        terms::protected_and_forced(),
        terms::no_duration("5", "a duration is written as in `90s`, `5m` or `1h30m`"),
        terms::ignored_in_vain(web().key(), &[vain]),
        terms::yields_anew(web().key(), &["argo".to_owned()], &held_by("hpa")),
    ]
}

fn body_messages() -> Vec<Diagnostic> {
    let (web, secret) = (web(), secret());
    let member = path(r#"spec.tokens[="hunter2"]"#);
    let key = path("spec.users[password=hunter2].password");
    let former = json!({"stringData": {"a": "hunter2 of old"}});
    let before = Subject { manifest: &secret, former: Some(&former) };
    let denied = status(422, "no: hunter2 of old may not become hunter2 {hunt", &[]);
    let change = [("metadata.name", "web".to_owned(), "site".to_owned())];
    let mut messages = vec![
        body::none(),
        body::both(),
        body::no_version(),
        body::version_alone(),
        body::another_object(web.key(), &change),
        body::hides_nothing(web.key(), &["spec.arsg".to_owned(), "spec.x[*]".to_owned()]),
        body::shown_by_its_path(web.key(), &[member, key]),
        refusal::refused(before, &denied),
    ];
    messages.extend(object::warnings_about(&secret, &["hunter2 is weak".to_owned()]));
    let cause = Cause {
        reason: "FieldManagerConflict".into(),
        message: "conflict with \"vault\" using v1".into(),
        field: ".data.a".into(),
    };
    let live = json!({"data": {"a": "aHVudGVyMg=="}, "metadata": {"managedFields": [
        {"manager": "vault", "operation": "Apply", "apiVersion": "v1",
         "fieldsV1": {"f:data": {"f:a": {}}}},
    ]}});
    messages.push(refusal::conflicts(&[cause], &secret, Some(&live)));
    messages
}

fn ephemeral_messages() -> Vec<Diagnostic> {
    let web = web();
    let robot = ObjectKey {
        gvk: Gvk::new("v1", "ServiceAccount"),
        namespace: Some("shop".into()),
        name: "robot".into(),
    };
    let kind = NotYet::Kind { gvk: Gvk::new("example.com/v1", "Widgt"), nearest: None };
    let forbidden = Error::Refused(Box::new(status(403, "serviceaccounts is forbidden", &[])));
    vec![
        ephemeral::cluster_unknown(),
        ephemeral::no_kind(web.key(), &kind),
        ephemeral::no_object(web.key()),
        ephemeral::another(web.key()),
        ephemeral::unnamed(&robot),
        ephemeral::empty_uid(),
        ephemeral::no_audience(1),
        ephemeral::no_account(&robot),
        ephemeral::no_token(&robot, &forbidden),
        ephemeral::too_short(60, 600),
        ephemeral::no_lifetime("1.5", 1 << 32),
    ]
}

fn ignoring_messages() -> Vec<Diagnostic> {
    let path = |text: &str| text.parse::<FieldPath>().unwrap();
    let odd = Oddities {
        idle: [
            ("spec.replcas".to_owned(), Some(path("spec.replicas"))),
            ("metadata.labels.later".to_owned(), None),
        ]
        .into(),
        by_place: [("spec.containers[0].image".to_owned(), path("spec.containers[name=a].image"))]
            .into(),
    };
    let unsent = terms::ignored_unsent(web().key(), &[path("spec.paused")]);
    terms::ignored_oddly(web().key(), &odd).into_iter().chain(unsent).collect()
}

#[test]
fn every_message_says_what_happened_why_and_what_to_do() {
    let all = [
        manifest_messages(),
        causes::messages(),
        refusals::messages(),
        object_messages(),
        ownership_messages(),
        tolls::messages(),
        upgrade_messages(),
        connection_messages(),
        other_messages(),
        body_messages(),
        ephemeral_messages(),
        ignoring_messages(),
        imports::messages(),
        ways::messages(),
        data::messages(),
        data::functions(),
        wait::messages(),
        patches::messages(),
    ];
    let mut text = String::new();
    for message in all.into_iter().flatten() {
        let severity = if message.is_error() { "Error" } else { "Warning" };
        // Terraform prints all of a `cluster` that is pointed at, a token in it included: only where
        // there is none may one point there.
        let without = [
            "No cluster is given",
            "The cluster is not known yet",
            "What is ephemeral must be read, and its cluster is not known yet",
        ];
        assert!(
            message.path != Some(AttributePath::root("cluster"))
                || without.contains(&message.summary.as_str()),
            "`{}` would show credentials",
            message.summary
        );
        let at = message.path.map(|path| format!("  (at {path})")).unwrap_or_default();
        text.push_str(&format!("{severity}: {}{at}\n\n", message.summary));
        text.push_str(&format!("{}\n\n{}\n\n", message.detail, "-".repeat(40)));
        assert!(message.detail.len() > 40, "`{}` says too little", message.summary);
        assert!(!message.summary.ends_with('.'), "`{}` is a heading", message.summary);
    }
    for secret in ["hunter2", "aHVudGVyMg"] {
        assert!(!text.contains(secret), "a secret is shown");
    }
    insta::assert_snapshot!("messages", text);
}
