//! What is applied: many small objects, or many of a usual size.

use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    ConfigMap,
    /// With four containers and 50 leaves.
    Deployment,
}

impl Workload {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Deployment => "Deployment",
        }
    }

    /// The body of one object, as a template of `name` and `value`, the field that changes.
    pub(crate) fn template(self) -> String {
        match self {
            Self::ConfigMap => CONFIG_MAP.to_owned(),
            Self::Deployment => deployment(),
        }
    }
}

const CONFIG_MAP: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: default
data:
  value: "${value}"
  app.conf: |
    listen = 0.0.0.0:8080
    workers = 4
    log = info
    cache = /var/cache/app
"#;

fn deployment() -> String {
    let mut text = String::from(
        r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: default
  labels:
    app: ${name}
spec:
  replicas: 2
  revisionHistoryLimit: 5
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
"#,
    );
    for (at, container) in ["app", "proxy", "metrics", "logs"].into_iter().enumerate() {
        let value = if at == 0 { "${value}" } else { "info" };
        let _ = write!(
            text,
            r#"        - name: {container}
          image: registry.example/{container}:1.0
          env:
            - name: MODE
              value: "{value}"
            - name: ZONE
              value: "a"
          ports:
            - name: {container}
              containerPort: {port}
          resources:
            requests:
              cpu: 100m
              memory: 64Mi
            limits:
              memory: 128Mi
"#,
            port = 8080 + at,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deployment_has_four_containers_and_fifty_leaves() {
        let leaves = deployment()
            .lines()
            .skip_while(|line| !line.contains("labels"))
            .filter(|line| !line.trim_end().ends_with(':'))
            .count();
        assert_eq!(leaves, 50);
        assert_eq!(deployment().matches("image:").count(), 4);
    }
}
