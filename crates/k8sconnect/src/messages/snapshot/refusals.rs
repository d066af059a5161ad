//! What is said where the server refuses.

use k8sconnect_cluster::{Proxy, Server};
use k8sconnect_core::immutability::MissingProof;
use k8sconnect_core::overlay::OthersField;
use k8sconnect_core::patch::Manner;
use k8sconnect_core::scrub::Secrets;
use k8sconnect_core::service_addresses::TakenAddress;
use k8sconnect_core::swallowed::{Emptied, Swallowed};

use super::*;
use crate::messages::manifest::Attribute;
use crate::messages::swallowed;

pub(super) fn messages() -> Vec<Diagnostic> {
    let typo = status(
        500,
        "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): \
         .spec.replcas: field not declared in schema",
        &[],
    );
    let invalid = status(
        422,
        "Deployment.apps \"web\" is invalid: [spec.replicas: Invalid value: -1: must be greater \
         than or equal to 0, spec.selector: Required value]",
        &[
            ("spec.replicas", "Invalid value: -1: must be greater than or equal to 0"),
            ("spec.selector", "Required value"),
        ],
    );
    let quoted = status(422, "data[a]: Invalid value: \"hunter2\": no", &[("data[a]", "hunter2")]);
    let missing = Status {
        details: Details { kind: "namespaces".into(), ..Details::default() },
        ..status(404, "namespaces \"shop\" not found", &[])
    };
    let mut going = status(403, "unable to create new content in namespace shop", &[]);
    let reason = "NamespaceTerminating".to_owned();
    going.details.causes = vec![Cause { reason, ..Cause::default() }];
    let webhook =
        status(500, "Internal error occurred: failed calling webhook \"x.example.com\"", &[]);
    let mut messages = vec![
        refusal::refused(&web(), &typo),
        refusal::refused(&web(), &invalid),
        refusal::refused(&secret(), &quoted),
        refusal::refused(&web(), &status(403, "exceeded quota: small", &[])),
        refusal::refused(&web(), &going),
        refusal::refused(&web(), &status(401, "Unauthorized", &[])),
        refusal::refused(&web(), &missing),
        refusal::refused(&web(), &status(404, "not found", &[])),
        refusal::refused(&web(), &status(409, "the object has been modified", &[])),
        refusal::refused(&web(), &status(422, "no", &[("metadata.uid", "field is immutable")])),
        refusal::refused(&web(), &webhook),
        refusal::refused(&web(), &status(500, "etcdserver: leader changed", &[])),
    ];
    let cause = Cause {
        reason: "FieldManagerConflict".into(),
        message: "conflict with \"hpa\" with subresource \"scale\" using apps/v1".into(),
        field: ".spec.replicas".into(),
    };
    let live = json!({"spec": {"replicas": 5}});
    messages.push(refusal::conflicts(std::slice::from_ref(&cause), &web(), Some(&live)));
    let live = json!({"spec": {"replicas": 5}, "metadata": {"managedFields": [
        {"manager": "hpa", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1",
         "time": "2026-11-16T04:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    ]}});
    messages.push(refusal::conflicts(std::slice::from_ref(&cause), &web(), Some(&live)));
    let mut elsewhere = live.clone();
    elsewhere["apiVersion"] = json!("apps/v1");
    elsewhere["kind"] = json!("Deployment");
    let entry = &mut elsewhere["metadata"]["managedFields"][0];
    entry["apiVersion"] = json!("apps/v1beta1");
    entry["fieldsV1"] = json!({"f:spec": {"f:size": {}}});
    let cause = Cause { field: ".spec.size".into(), ..cause };
    messages.push(refusal::conflicts(&[cause], &web(), Some(&elsewhere)));
    let fixed = status(422, "field is immutable", &[("spec.selector", "field is immutable")]);
    let replaced = replacement::immutable(
        (&web()).into(),
        &fixed,
        &fixed.details.causes,
        &["spec.selector.matchLabels.app".parse().unwrap()],
    );
    let rival = json!({"metadata": {"managedFields": [
        {"manager": "rival", "operation": "Update", "apiVersion": "v1",
         "fieldsV1": {"f:immutable": {}}},
        {"manager": "kubelet", "operation": "Update", "subresource": "status",
         "apiVersion": "v1", "fieldsV1": {"f:status": {}}},
    ]}});
    let of_rival = Subject { manifest: &web(), former: Some(&rival) };
    messages.push(replacement::immutable(of_rival, &fixed, &fixed.details.causes, &[]));
    messages.push(replacement::immutable_known_late(&web(), &replaced));
    messages.extend(body::said_of(Attribute::WriteOnly)(replaced.clone().into()));
    messages.push(replaced);
    let vault = Manifest::parse("{apiVersion: example.com/v1, kind: Vault, metadata: {name: a}}");
    let vault = vault.unwrap();
    messages.push(refusal::refused(&vault, &typo));
    let there = json!({});
    let former = Subject { manifest: &vault, former: Some(&there) };
    messages.push(refusal::refused(former, &typo));
    messages.push(refusal::redefined(&vault, &typo));
    let short = "{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {a: '1'}}";
    let quota = status(403, "exceeded quota: q, requested: secrets=1, used: secrets=10", &[]);
    messages.push(refusal::refused(&Manifest::parse(short).unwrap(), &quota));
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, \
        spec: {storageClassName: null}}";
    let filled = json!({"spec": {"storageClassName": "standard"}});
    let claim = Manifest::parse(claim).unwrap();
    let why = "Forbidden: spec is immutable after creation";
    let fixed_spec = status(422, &format!("spec: {why}"), &[("spec", why)]);
    let former = Subject { manifest: &claim, former: Some(&filled) };
    messages.push(refusal::refused(former, &fixed_spec));
    let taken = status(422, "provided port is already allocated", &[]);
    messages.push(replacement::refused_beside(refusal::refused(&web(), &taken)));
    let boxed = |status: &Status| Box::new(status.clone());
    for missing in [
        MissingProof::NotAboutTheBody,
        MissingProof::StoredBody(boxed(&taken)),
        MissingProof::StoredBody(boxed(&fixed)),
        MissingProof::Creation(boxed(&taken)),
        MissingProof::Overlay(boxed(&taken)),
        MissingProof::Overlay(Box::default()),
        MissingProof::Addresses(boxed(&status(403, "services is forbidden", &[]))),
    ] {
        messages.push(replacement::unproved((&web()).into(), &fixed, &missing));
    }
    messages.extend(entanglements());
    messages.push(replacement::no_successor((&web()).into(), &invalid));
    let missing = MissingProof::Creation(boxed(&taken));
    messages.push(replacement::successor_unproved((&web()).into(), &missing));
    let address = TakenAddress {
        field: "clusterIP",
        value: "10.96.0.77".into(),
        namespace: "shop".into(),
        name: "api".into(),
    };
    messages.push(replacement::address_taken((&web()).into(), &[address]));
    let dropped = |path: &str, written: serde_json::Value, kept: Option<serde_json::Value>| {
        Swallowed { path: path.parse().unwrap(), written, kept }
    };
    let dropped = [
        dropped("spec.usages", json!(["server auth"]), Some(json!(["client auth"]))),
        dropped("spec.request", json!("LS0t"), None),
    ];
    messages.extend(swallowed::swallowed(&web(), &json!({}), &dropped));
    let flux = manager("flux", Operation::Apply, "");
    let emptied = |path: &str, written: serde_json::Value, kept: serde_json::Value| Emptied {
        path: path.parse().unwrap(),
        written,
        kept,
        holders: vec![flux.clone()],
    };
    let kept = json!({"podAntiAffinity": {}});
    let emptied = [
        emptied("spec.template.spec.affinity", json!(null), kept),
        emptied("metadata.labels", json!({}), json!({"tier": "web"})),
    ];
    messages.extend(swallowed::emptied(&web(), &json!({}), &emptied));
    messages.extend(swallowed::emptied(&web(), &json!({}), &emptied[..1]));
    messages.extend(swallowed::dropped(&web(), &["spec.hostnameOverride".parse().unwrap()]));
    let host = || Server::from("https://127.0.0.1:6443");
    let lost = Error::AnswerLost {
        host: host(),
        request: "PATCH /apis/apps/v1/namespaces/shop/deployments/web".into(),
        cause: NetworkError::Closed,
        attempts: 4,
    };
    messages.push(refusal::not_created(&web(), &lost));
    messages.push(refusal::not_changed(&web(), &lost));
    let request = "PATCH /apis/apps/v1/namespaces/shop/deployments/web".into();
    let changed = Error::NotCreated { host: host(), request, code: 200 };
    messages.push(refusal::not_created(&web(), &changed));
    let failed = Error::Refused(Box::new(status(500, "etcdserver: request timed out", &[])));
    let web_key = web().key().clone();
    for error in [&lost, &failed] {
        let secrets = Secrets::default();
        let sent = patch::Sent::Write;
        messages.push(patch::not_taken(&web_key, Manner::Apply, &[], &secrets, error, sent, &[]));
    }
    messages.push(refusal::not_created(&web(), &failed));
    messages.push(refusal::not_changed(&web(), &failed));
    messages.push(deletion::not_deleted((&web()).into(), &failed));
    messages.push(patch::not_handed_back(&web_key, &failed));
    for (code, user) in [(401, Some("ci".to_owned())), (403, None)] {
        let status = Box::new(status(code, "system:anonymous cannot do that", &[]));
        let nobody = Error::Anonymous { host: host(), user, status };
        messages.push(refusal::unanswered(web().key(), &nobody));
    }
    let proxy = |variable, cause| {
        let proxy = Proxy { address: "socks5://proxy.example:1080".into(), variable };
        NetworkError::Proxy(proxy, Box::new(cause))
    };
    let behind = Proxy { address: "http://proxy.example:3128".into(), variable: None };
    let tls = NetworkError::Tls;
    for cause in [
        NetworkError::NameNotFound("no such host".into()),
        NetworkError::Refused,
        NetworkError::NoRoute,
        NetworkError::NotAccepted,
        NetworkError::NoAnswer,
        NetworkError::Closed,
        NetworkError::AfterCertificate(Box::new(NetworkError::Closed)),
        NetworkError::ClosedBehind(behind),
        NetworkError::Other("the wire is cut".into()),
        proxy(None, NetworkError::NoAnswer),
        proxy(Some("HTTPS_PROXY"), NetworkError::Refused),
        proxy(Some("HTTPS_PROXY"), NetworkError::ProxyStatus(407)),
        proxy(None, NetworkError::ProxyStatus(302)),
        proxy(None, NetworkError::NotHttp),
        proxy(None, tls(TlsError::UnknownAuthority)),
        tls(TlsError::UnknownAuthority),
        tls(TlsError::WrongName { presented: vec!["kubernetes".into()] }),
        tls(TlsError::WrongName { presented: Vec::new() }),
        tls(TlsError::Expired),
        tls(TlsError::NotYetValid),
        tls(TlsError::NotTls),
        tls(TlsError::WantsTls),
        tls(TlsError::ClientCertificate),
        tls(TlsError::Other("no common cipher".into())),
    ] {
        let error = Error::Unreachable { host: host(), cause, attempts: 3 };
        messages.push(refusal::unanswered(web().key(), &error));
    }
    let unauthorized = |plugin| Error::Unauthorized {
        host: host(),
        plugin,
        status: Box::new(status(401, "Unauthorized", &[])),
    };
    let called = Some("clusters[\"prod\"]".to_owned());
    let named = Server { called, ..host() };
    let dead = Error::Unreachable { host: named, cause: NetworkError::Refused, attempts: 3 };
    messages.push(refusal::unanswered(web().key(), &dead));
    messages.push(refusal::not_taken(&web(), &unauthorized(None)));
    messages.push(refusal::not_taken(&web(), &unauthorized(Some("aws".into()))));
    messages
}

/// Changes that do not go together with what the object has besides.
fn entanglements() -> Vec<Diagnostic> {
    let refused = status(
        422,
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is \
         'Recreate'",
        &[("spec.strategy.rollingUpdate", "Forbidden")],
    );
    let path = "spec.ports[port=90].name".parse().unwrap();
    let field = OthersField { path, managers: vec![manager("rival", Operation::Apply, "")] };
    [vec![field], vec![]]
        .map(|fields| replacement::entangled((&web()).into(), &refused, &fields))
        .into()
}
