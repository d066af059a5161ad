use super::*;

fn parsed(id: &str) -> ImportId {
    ImportId::parse(id).unwrap_or_else(|error| panic!("{id}: {error:?}"))
}

fn by_word(namespace: Option<&str>, kind: &str, name: &str) -> Subject {
    let namespace = namespace.map(ToOwned::to_owned);
    Subject::ByWord { namespace, kind: KindWord::new(kind), name: name.into() }
}

#[test]
fn an_object_is_named_with_and_without_a_namespace() {
    assert_eq!(parsed("shop/Deployment/web").subject, by_word(Some("shop"), "Deployment", "web"));
    let role = parsed("clusterrole/system:node");
    assert_eq!(role.subject, by_word(None, "clusterrole", "system:node"));
    assert_eq!(role.fields, Chosen::All);
    assert_eq!(role.values, SecretValues::LeftOut);
}

#[test]
fn options_choose_fields_context_and_values() {
    let id = parsed("shop/secret/keys?manager=kubectl&context=prod&values");
    assert_eq!(id.fields, Chosen::HeldBy("kubectl".into()));
    assert_eq!(id.context.as_deref(), Some("prod"));
    assert_eq!(id.values, SecretValues::Taken);
    assert_eq!(parsed("cm/a?unowned").fields, Chosen::Unowned);
    let id = parsed("cm/a?cluster_name=east&unowned");
    assert_eq!(id.cluster_name.as_deref(), Some("east"));
    assert!(!id.names_a_context());
}

#[test]
fn what_is_wrong_with_an_id_is_told() {
    let error = |id: &str| ImportId::parse(id).unwrap_err();
    for id in ["", "web", "/web", "shop//web", "cm/", "shop/apps/v1/Deployment/web", "/cm/a"] {
        assert_eq!(error(id), ImportIdError::Form, "{id}");
    }
    assert_eq!(error("cm/a?unowed"), ImportIdError::UnknownOption("unowed".into()));
    assert_eq!(error("cm/a?manager"), ImportIdError::NoValue("manager"));
    assert_eq!(error("cm/a?context="), ImportIdError::NoValue("context"));
    assert_eq!(error("cm/a?values=yes"), ImportIdError::NeedlessValue("values"));
    assert_eq!(error("cm/a?unowned&unowned"), ImportIdError::Twice("unowned"));
    assert_eq!(error("cm/a?unowned&manager=x"), ImportIdError::Contradiction);
    assert_eq!(error("c:v1/Node:a?context=d"), ImportIdError::TwoContexts);
    assert_eq!(error("c:v1/Node:a?cluster_name=d"), ImportIdError::TwoClusters);
    assert_eq!(error("cm/a?cluster_name=d&context=e"), ImportIdError::TwoClusters);
    assert_eq!(error("cm/a?cluster_name=d&cluster_name=e"), ImportIdError::Twice("cluster_name"));
}

#[test]
fn the_go_providers_form_is_read_too() {
    let id = parsed("prod:shop:apps/v1/Deployment:web");
    assert_eq!(id.places(&[]), (Some("prod"), Some("shop")));
    let Subject::ByGvk { gvk, name, .. } = &id.subject else { panic!("{id:?}") };
    assert_eq!((gvk, name.as_str()), (&Gvk::new("apps/v1", "Deployment"), "web"));

    let id = parsed("prod:rbac.authorization.k8s.io/v1/ClusterRole:system:node");
    assert_eq!(id.places(&[]), (Some("prod"), None));
    assert_eq!(id.name(), "system:node");
}

#[test]
fn a_context_with_colons_is_told_from_a_namespace_by_the_contexts_there_are() {
    let arn = "arn:aws:eks:eu-west-1:1234:cluster/shop";
    let contexts = [arn.to_owned()];
    let cluster_scoped = parsed(&format!("{arn}:v1/Namespace:shop"));
    assert_eq!(cluster_scoped.places(&contexts), (Some(arn), None));
    let namespaced = parsed(&format!("{arn}:shop:v1/ConfigMap:settings"));
    assert_eq!(namespaced.places(&contexts), (Some(arn), Some("shop")));
}

#[test]
fn a_kind_is_taken_apart_as_kubectl_does() {
    let groups = |word: &str| -> Vec<_> {
        KindWord::new(word).readings().into_iter().map(|r| (r.version, r.group)).collect()
    };
    let exactly = |group: &str| GroupWord::Exactly(group.into());
    assert_eq!(groups("deploy"), [(None, GroupWord::Any)]);
    assert_eq!(groups("deployment.v1.apps")[0], (Some("v1".into()), exactly("apps")));
    assert_eq!(groups("deployment.apps")[0], (None, exactly("apps")));
    assert_eq!(groups("pod.v1")[0], (Some("v1".into()), exactly("")));
    assert_eq!(groups("certificate.cert-manager")[0], (None, exactly("cert-manager")));
    assert!(groups("certificate.cert-manager")[1].1.may_mean("cert-manager.io"));
}

#[test]
fn the_id_of_an_object_names_that_object() {
    let key = ObjectKey {
        gvk: Gvk::new("apps/v1", "Deployment"),
        namespace: Some("shop".into()),
        name: "web".into(),
    };
    assert_eq!(of(&key), "shop/Deployment.v1.apps/web");
    assert_eq!(parsed(&of(&key)).name(), "web");
}
