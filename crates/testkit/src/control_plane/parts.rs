//! The programs of a control plane and the flags they are started with.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use anyhow::Result;
use rcgen::KeyPair;

use super::authority::{Authority, Validity};
use super::kubeconfig;
use crate::assets::Asset;

/// How much of a control plane is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// etcd and kube-apiserver: objects can be written and read, nothing acts on them.
    ApiServer,
    /// The same with three members of etcd, so that one can be lost.
    Quorum,
    /// Also the controllers, the scheduler and a node, so that pods run, rollouts
    /// complete, jobs finish and namespaces go.
    Full,
}

impl Parts {
    /// The binaries that are needed, in the order in which they are started.
    pub fn assets(self) -> &'static [Asset] {
        match self {
            Self::ApiServer | Self::Quorum => &[Asset::Etcd, Asset::KubeApiserver],
            Self::Full => &[
                Asset::Etcd,
                Asset::KubeApiserver,
                Asset::KubeControllerManager,
                Asset::KubeScheduler,
                Asset::Kwok,
            ],
        }
    }

    /// The names of etcd's members.
    pub(crate) fn members(self) -> &'static [&'static str] {
        match self {
            Self::Quorum => &MEMBERS,
            Self::ApiServer | Self::Full => &MEMBERS[..1],
        }
    }
}

const MEMBERS: [&str; 3] = ["etcd", "etcd-2", "etcd-3"];

pub(crate) const AUDIT_LOG: &str = "audit.log";
pub(crate) const ADMIN_TOKEN: &str = "admin.token";
pub(crate) const URL: &str = "url";
/// Whom tokens of service accounts are of, and for.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";
pub(crate) const SERVICE_ACCOUNT_KEY: &str = "service-accounts.key";
pub(crate) const NODE: &str = "node-1";
/// What becomes of pods on the node.
const STAGES: &str = "stages.yaml";

/// The controllers' own requests would drown those that tests count. They come as these
/// users, whom the audit policy leaves out.
const CONTROLLER_MANAGER: &str = "testkit:controller-manager";
const SCHEDULER: &str = "testkit:scheduler";
const KWOK: &str = "testkit:kwok";

pub(crate) struct Ports {
    /// For clients and for peers, one pair a member.
    etcd: [(u16, u16); MEMBERS.len()],
    apiserver: u16,
}

impl Ports {
    /// Free at this moment. Somebody else may take one before our process does; the
    /// start is then tried anew.
    pub(crate) fn free() -> Result<Self> {
        let listeners = [(); 7].map(|()| TcpListener::bind(("127.0.0.1", 0)));
        let mut ports = [0; 7];
        for (port, listener) in ports.iter_mut().zip(listeners) {
            *port = listener?.local_addr()?.port();
        }
        let [a, b, c, d, e, f, apiserver] = ports;
        Ok(Self { etcd: [(a, b), (c, d), (e, f)], apiserver })
    }

    /// Where the members of etcd listen for clients.
    pub(crate) fn etcd_clients(&self, parts: Parts) -> Vec<(&'static str, u16)> {
        parts.members().iter().zip(&self.etcd).map(|(name, (client, _))| (*name, *client)).collect()
    }

    pub(crate) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.apiserver)
    }
}

/// Writes every file that the parts read.
pub(crate) fn furnish(folder: &Path, ports: &Ports, authority: &Authority) -> Result<()> {
    let server = authority.server(Validity::Now)?;
    fs::write(folder.join("apiserver.crt"), server.certificate)?;
    fs::write(folder.join("apiserver.key"), server.key)?;
    let service_accounts = KeyPair::generate()?;
    fs::write(folder.join(SERVICE_ACCOUNT_KEY), service_accounts.serialize_pem())?;
    fs::write(folder.join("service-accounts.pub"), service_accounts.public_key_pem())?;
    let token = random_token();
    fs::write(
        folder.join("tokens.csv"),
        format!("{token},testkit:admin,testkit-admin,\"system:masters\"\n"),
    )?;
    fs::write(folder.join(ADMIN_TOKEN), &token)?;
    fs::write(folder.join(URL), ports.url())?;
    fs::write(folder.join(AUDIT_LOG), "")?;
    fs::write(folder.join("audit-policy.json"), audit_policy())?;
    fs::write(folder.join(STAGES), include_str!("stages.yaml"))?;
    for (user, file) in [
        (CONTROLLER_MANAGER, "kube-controller-manager.kubeconfig"),
        (SCHEDULER, "kube-scheduler.kubeconfig"),
        (KWOK, "kwok.kubeconfig"),
    ] {
        let identity = authority.user(user, Some("system:masters"))?;
        let text = kubeconfig::with_certificate(&ports.url(), authority.pem(), user, &identity);
        fs::write(folder.join(file), text)?;
    }
    Ok(())
}

fn audit_policy() -> String {
    serde_json::json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [
            { "level": "None", "users": [CONTROLLER_MANAGER, SCHEDULER, KWOK, "system:apiserver"] },
            { "level": "None", "nonResourceURLs": ["/readyz*", "/livez*"] },
            { "level": "Metadata" },
        ],
    })
    .to_string()
}

fn random_token() -> String {
    (0..32).map(|_| fastrand::alphanumeric()).collect()
}

fn at(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn etcd_servers(parts: Parts, ports: &Ports) -> String {
    let clients = ports.etcd_clients(parts);
    clients.into_iter().map(|(_, port)| at(port)).collect::<Vec<_>>().join(",")
}

/// The command lines of etcd, one a member.
pub(crate) fn members(parts: Parts, ports: &Ports) -> Vec<(&'static str, Vec<String>)> {
    let members = || parts.members().iter().zip(&ports.etcd);
    let all: Vec<_> =
        members().map(|(name, (_, peers))| format!("{name}={}", at(*peers))).collect();
    let arguments = |name: &str, clients: u16, peers: u16| {
        vec![
            format!("--name={name}"),
            format!("--data-dir={name}"),
            // Losing the data in a power cut is fine; waiting for the disk is not.
            "--unsafe-no-fsync".into(),
            format!("--listen-client-urls={}", at(clients)),
            format!("--advertise-client-urls={}", at(clients)),
            format!("--listen-peer-urls={}", at(peers)),
            format!("--initial-advertise-peer-urls={}", at(peers)),
            format!("--initial-cluster={}", all.join(",")),
            "--log-level=warn".into(),
        ]
    };
    members().map(|(name, (clients, peers))| (*name, arguments(name, *clients, *peers))).collect()
}

/// The flags of an API server of this minor version for what is not yet on by default.
pub(crate) fn features(minor: u32) -> &'static [&'static str] {
    match minor {
        // Mutating admission policies are `v1` from 1.36 on.
        34..=35 => &[
            "--feature-gates=MutatingAdmissionPolicy=true",
            "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
        ],
        _ => &[],
    }
}

/// The command line of one other part. Paths are relative: a part runs in its folder.
pub(crate) fn arguments(asset: Asset, parts: Parts, ports: &Ports) -> Vec<String> {
    let flags: Vec<String> = match asset {
        Asset::Etcd => vec![],
        Asset::KubeApiserver => {
            let mut flags: Vec<String> = vec![
                format!("--etcd-servers={}", etcd_servers(parts, ports)),
                "--bind-address=127.0.0.1".into(),
                "--advertise-address=127.0.0.1".into(),
                "--endpoint-reconciler-type=none".into(),
                format!("--secure-port={}", ports.apiserver),
                "--tls-cert-file=apiserver.crt".into(),
                "--tls-private-key-file=apiserver.key".into(),
                "--client-ca-file=ca.crt".into(),
                "--token-auth-file=tokens.csv".into(),
                "--authorization-mode=RBAC".into(),
                format!("--service-account-issuer={ISSUER}"),
                "--service-account-key-file=service-accounts.pub".into(),
                format!("--service-account-signing-key-file={SERVICE_ACCOUNT_KEY}"),
                "--service-cluster-ip-range=10.96.0.0/16".into(),
                "--allow-privileged=true".into(),
                "--audit-policy-file=audit-policy.json".into(),
                format!("--audit-log-path={AUDIT_LOG}"),
                // An entry is written before the request is answered, and never dropped.
                "--audit-log-mode=blocking".into(),
                "--profiling=false".into(),
            ];
            if parts != Parts::Full {
                // Nobody makes the service accounts that this plugin demands of pods.
                flags.push("--disable-admission-plugins=ServiceAccount".into());
            }
            flags
        }
        Asset::KubeControllerManager => vec![
            "--kubeconfig=kube-controller-manager.kubeconfig".into(),
            format!("--service-account-private-key-file={SERVICE_ACCOUNT_KEY}"),
            "--root-ca-file=ca.crt".into(),
            "--cluster-signing-cert-file=ca.crt".into(),
            "--cluster-signing-key-file=ca.key".into(),
            "--leader-elect=false".into(),
            "--secure-port=0".into(),
            "--kube-api-qps=500".into(),
            "--kube-api-burst=1000".into(),
        ],
        Asset::KubeScheduler => vec![
            "--kubeconfig=kube-scheduler.kubeconfig".into(),
            "--leader-elect=false".into(),
            "--secure-port=0".into(),
            "--kube-api-qps=500".into(),
            "--kube-api-burst=1000".into(),
        ],
        Asset::Kwok => vec![
            "--kubeconfig=kwok.kubeconfig".into(),
            format!("--config={STAGES}"),
            "--manage-all-nodes=true".into(),
            // Its kubelet server listens on all addresses, on one port for all.
            "--node-port=0".into(),
            "--node-lease-duration-seconds=40".into(),
        ],
        Asset::Kstatus
        | Asset::Kubectl
        | Asset::Kustomize
        | Asset::Tool(_)
        | Asset::ToolAt(..)
        | Asset::PeerKubernetes
        | Asset::PeerKubectl => vec![],
    };
    flags
}

/// The node that kwok keeps ready, with room for whatever tests schedule.
pub(crate) fn node() -> serde_json::Value {
    let room = serde_json::json!({ "cpu": "256", "memory": "1Ti", "pods": "10000" });
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NODE,
            "labels": {
                "kubernetes.io/hostname": NODE,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
        },
        "status": { "allocatable": room, "capacity": room },
    })
}
