//! Each operation run once with nobody about, through the proxy, to learn its requests.

use testkit::Tool;
use testkit::proxy::Proxy;

use super::tables::{Operation, SPECIMENS, Specimen};
use crate::workspace::Workspace;

/// How many requests an operation makes for its object.
#[derive(Clone, Copy)]
pub(super) struct Requests {
    pub(super) in_plan: u32,
    pub(super) in_all: u32,
}

pub(super) struct Learned(Vec<(&'static str, Operation, Requests)>);

impl Learned {
    pub(super) fn requests(&self, specimen: &Specimen, operation: Operation) -> Requests {
        let found = self.0.iter().find(|(name, of, _)| *name == specimen.name && *of == operation);
        found.unwrap().2
    }

    pub(super) async fn by_running() -> Self {
        let at = Workspace::new(Tool::Terraform).await;
        let proxy = Proxy::before(at.cluster).await.unwrap();
        at.kubeconfig(&proxy.kubeconfig());
        let namespace = at.namespace.name();
        let mut learned = Vec::new();
        let mut bodies = SPECIMENS.each_ref().map(|it| it.written(namespace, it.name));
        for operation in Operation::ALL {
            let takes_part = |specimen: &Specimen| {
                operation == Operation::Create || specimen.operations.contains(&operation)
            };
            for (specimen, body) in SPECIMENS.iter().zip(&mut bodies) {
                if takes_part(specimen) && operation.edits() {
                    *body = specimen.edited(namespace, specimen.name);
                }
                if takes_part(specimen) && operation.drifts() {
                    specimen.let_drift(at.cluster, namespace, specimen.name).await;
                }
            }
            let resources: Vec<_> = SPECIMENS
                .iter()
                .zip(&bodies)
                .map(|(it, body)| it.resource(it.name, body))
                .collect();
            at.runner.write("main.tf", &resources.join("\n")).unwrap();
            if operation == Operation::Create {
                at.init().await;
            }
            for specimen in &SPECIMENS {
                specimen.at_rest(at.cluster, namespace, specimen.name).await;
            }
            let start = proxy.requests().len();
            at.plan_changes().await;
            let middle = proxy.requests().len();
            at.runner.apply_planned().await.unwrap().successful().unwrap();
            for specimen in SPECIMENS.iter().filter(|specimen| takes_part(specimen)) {
                let path = specimen.path(namespace, specimen.name);
                let in_all = proxy.requests_since(start, &path);
                let in_apply = proxy.requests_since(middle, &path).len();
                assert_eq!(
                    in_all.last().map(|request| request.in_short()).as_deref(),
                    Some("patch"),
                    "the last request of all is the write: {in_all:?}"
                );
                let requests = Requests {
                    in_plan: u32::try_from(in_all.len() - in_apply).unwrap(),
                    in_all: u32::try_from(in_all.len()).unwrap(),
                };
                learned.push((specimen.name, operation, requests));
            }
        }
        at.plan_empty().await;
        Self(learned)
    }
}
