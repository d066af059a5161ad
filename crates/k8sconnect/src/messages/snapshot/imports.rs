//! What is said about imports.

use super::*;

pub(super) fn messages() -> Vec<Diagnostic> {
    use k8sconnect_core::import_body::NoSuchManager;
    use k8sconnect_core::import_id::{Chosen, ImportIdError};

    use super::import::Body;

    let web = web();
    let contexts = ["prod".to_owned(), "stage".to_owned()];
    let unknown = ConnectionError::UnknownContext {
        name: "dev".into(),
        contexts: contexts.to_vec(),
        files: vec!["~/.kube/a".into(), "~/.kube/b".into()],
    };
    let owners = vec![manager("kubectl-client-side-apply", Operation::Update, "")];
    let change = notice("spec.replicas", &owners, [None, Some("3"), Some("2")]);
    let other_id = Some("0f3a".to_owned());
    let bare = Takeover::default();
    let as_it_is = Takeover { fields: 4, ..bare.clone() };
    let changed = Takeover { owners, other_id, changes: vec![change], ..as_it_is.clone() };
    let taken = Takeover { taken: 2, other_id: None, ..changed.clone() };
    let only_taken = Takeover { changes: vec![], ..taken.clone() };
    let none = NoSuchManager { managers: vec!["hpa".into(), "kubectl".into()] };
    let immutable = status(422, "it is immutable", &[("spec.selector", "field is immutable")]);
    let not_ready = Error::NotReady {
        host: "https://127.0.0.1:6443".into(),
        status: Box::new(status(503, "service unavailable", &[])),
        attempts: 5,
        waited: std::time::Duration::from_secs(3),
        asked: None,
    };
    vec![
        import::unreadable("web", &ImportIdError::Form),
        import::no_identity(),
        import::identity_of_two_clusters(),
        import::no_cluster(&[]),
        import::no_cluster(&["east".to_owned(), "west".to_owned()]),
        import::cluster_unknown(),
        import::context_of_nothing(),
        import::kubeconfig_unusable(&unknown),
        import::no_context("cm/a?unowned", &contexts),
        import::no_such_kind("shop/deplyo/web", "deplyo"),
        import::no_such_gvk(&Gvk::new("v1", "configmap"), Some("ConfigMap")),
        import::no_such_gvk(&Gvk::new("v1beta7", "Widget"), None),
        import::perhaps_in("deplyo", &["metrics.k8s.io/v1beta1".to_owned()], &not_ready),
        import::not_there(web.key(), &import::Source::Context("prod".into())),
        import::not_there(web.key(), &import::Source::Named("prod".into())),
        import::not_there(web.key(), &import::Source::Default),
        import::is_going(web.key()),
        import::no_such_manager(web.key(), &Chosen::HeldBy("helm".into()), &none),
        import::takes_over(web.key(), &as_it_is, Body::AsImported),
        import::takes_over(web.key(), &as_it_is, Body::Another),
        import::takes_over(web.key(), &bare, Body::AsImported),
        import::takes_over(web.key(), &changed, Body::Another),
        import::takes_over(web.key(), &taken, Body::Another),
        import::takes_over(web.key(), &only_taken, Body::Another),
        import::another_object(web.key(), &[("metadata.name", "web".into(), "shop".into())]),
        import::not_as_it_is((&web).into(), &immutable),
    ]
}
