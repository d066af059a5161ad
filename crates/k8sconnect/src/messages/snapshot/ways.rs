//! What is said of a way to a cluster that leads nowhere, before anything is asked.

use k8sconnect_cluster::Excess;

use super::*;

fn unreadable(cause: Unreadable) -> ConnectionError {
    ConnectionError::UnreadableFile { field: "tokenFile", path: "/run/token".into(), cause }
}

pub(super) fn messages() -> Vec<Diagnostic> {
    let in_user = |error| ConnectionError::Entry {
        what: "user",
        name: "joe".into(),
        file: None,
        error: Box::new(error),
    };
    let (path, server) = ("token".to_owned(), "it is not given".to_owned());
    let packed = "it is not base64 of PEM".to_owned();
    let told = [
        in_user(ConnectionError::RelativePath { field: "tokenFile", path }),
        in_user(ConnectionError::Mistaken {
            field: "client-key-data",
            why: "it is a certificate, not a private key",
            advice: "Give the private key instead.",
        }),
        in_user(ConnectionError::BadValue { field: "client-key-data", why: packed }),
        ConnectionError::Entry {
            what: "cluster",
            name: "east".into(),
            file: Some("~/.kube/work".into()),
            error: Box::new(ConnectionError::BadHost { field: "server", why: server }),
        },
        ConnectionError::BadHost {
            field: "host",
            why: "it holds a space or a line break".to_owned(),
        },
        ConnectionError::Empty { field: "token" },
        ConnectionError::PathForText,
        ConnectionError::Packed { file: None },
        ConnectionError::NoCluster { context: "prod".into() },
        ConnectionError::NoContextChosen { contexts: Vec::new(), files: Vec::new() },
        ConnectionError::NoFiles {
            field: "KUBECONFIG",
            paths: vec!["/nowhere/a".into(), "/nowhere/b".into()],
        },
        unreadable(Unreadable::Not(Sort::Pipe)),
        unreadable(Unreadable::Not(Sort::Device)),
        unreadable(Unreadable::TooLarge { limit: 16 << 20 }),
        unreadable(Unreadable::NoText),
    ];
    told.iter().map(connection::unusable).chain(excesses()).collect()
}

fn excesses() -> impl Iterator<Item = Diagnostic> {
    let all = [
        Excess::Answer { limit: 8 << 20 },
        Excess::List { limit: 64 << 20 },
        Excess::Pages { limit: 1000 },
        Excess::Circle,
        Excess::Event { limit: 8 << 20 },
    ];
    all.into_iter().map(|excess| {
        let (host, request) = ("https://k.example".into(), "GET /api/v1/pods".into());
        connection::failed(&Error::TooMuch { host, request, excess })
    })
}
