//! A real control plane: etcd, kube-apiserver and, if wanted, the controllers, the
//! scheduler and a node that kwok pretends to be. It has its own folder, ports and
//! certificates, so several run at once; it ends when dropped and also when this process
//! is killed. Nothing in it is a mock: what a test sees here, a user sees in a cluster.

mod authority;
mod kubeconfig;
mod outage;
mod parts;
mod spent;
mod token;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::assets::{Asset, KubernetesVersion, Wanted, minor_of};
use crate::client::{Answer, Call, Client, JSON, blocking};
use crate::household::Household;
use crate::target::Target;
pub use authority::Validity;
use authority::{Authority, CA_CERTIFICATE};
pub use parts::Parts;
use parts::{ADMIN_TOKEN, AUDIT_LOG, NODE, Ports, URL};

/// The variable by which `cargo xtask test` hands its control plane to the test binaries.
pub const SHARED_VARIABLE: &str = "K8SCONNECT_TESTKIT_DIR";

/// How long a part may take before the start counts as failed: far more than the usual
/// 8 seconds, because the machine may be building something else.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct ControlPlane {
    folder: PathBuf,
    parts: Parts,
    url: String,
    token: String,
    authority: Authority,
    client: Client,
    /// Absent when another process started the control plane and will end it.
    household: Option<Mutex<Household>>,
    /// The members of etcd, by name and port.
    members: Vec<(&'static str, u16)>,
}

impl ControlPlane {
    /// Starts one of the version that the environment asks for, and waits until it is ready.
    pub async fn start(parts: Parts) -> Result<Self> {
        Self::start_version(parts, KubernetesVersion::wanted()?).await
    }

    pub async fn start_version(parts: Parts, wanted: Wanted) -> Result<Self> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut start = blocking(move || Start::launch(parts, wanted)).await?;
            match start.finish().await {
                Ok(()) => return Ok(start.control_plane),
                Err(Setback::PortTaken) if tries < 5 => {}
                Err(Setback::PortTaken) => bail!("no port stayed free for the control plane"),
                Err(Setback::Other(error)) => return Err(error),
            }
        }
    }

    /// One full control plane for the whole test process, or that of `cargo xtask test`.
    ///
    /// # Panics
    /// If it does not come up: no test could go on.
    #[expect(clippy::panic, reason = "a test without its control plane has failed")]
    pub async fn shared() -> &'static Self {
        // A failure is kept too: it would only be met again, minutes later, by every test.
        static SHARED: OnceCell<Result<ControlPlane>> = OnceCell::const_new();
        let started = SHARED.get_or_init(|| async {
            match std::env::var_os(SHARED_VARIABLE) {
                Some(folder) => Self::attach(Path::new(&folder)),
                None => Self::start(Parts::Full).await,
            }
        });
        match started.await {
            Ok(control_plane) => control_plane,
            Err(error) => panic!("the control plane did not start: {error:#}"),
        }
    }

    /// A second cluster, which nothing acts in, for tests that need two. Only these start it.
    ///
    /// # Panics
    /// If it does not come up: no test could go on.
    #[expect(clippy::panic, reason = "a test without its control plane has failed")]
    pub async fn another() -> &'static Self {
        static ANOTHER: OnceCell<Result<ControlPlane>> = OnceCell::const_new();
        match ANOTHER.get_or_init(|| Self::start(Parts::ApiServer)).await {
            Ok(control_plane) => control_plane,
            Err(error) => panic!("the second control plane did not start: {error:#}"),
        }
    }

    /// Uses a full control plane that another process started in `folder`.
    pub fn attach(folder: &Path) -> Result<Self> {
        let authority = Authority::open(folder)?;
        Self::over(folder, Parts::Full, authority, None, Vec::new())
    }

    fn over(
        folder: &Path,
        parts: Parts,
        authority: Authority,
        household: Option<Household>,
        members: Vec<(&'static str, u16)>,
    ) -> Result<Self> {
        let read = |name: &str| {
            fs::read_to_string(folder.join(name))
                .with_context(|| format!("`{}` holds no control plane", folder.display()))
        };
        let (url, token) = (read(URL)?, read(ADMIN_TOKEN)?);
        let client = Client::new(&url, authority.pem(), &token)?;
        let (folder, household) = (folder.to_owned(), household.map(Mutex::new));
        Ok(Self { folder, parts, url, token, authority, client, household, members })
    }

    async fn is_ready(&self) -> bool {
        let answer = self.client.read("/readyz").await;
        answer.is_ok_and(|answer| answer.status == StatusCode::OK)
    }

    fn household(&self) -> Option<MutexGuard<'_, Household>> {
        let household = self.household.as_ref()?;
        Some(household.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets it live on when this process ends. Answers with the pids to end it by; its
    /// folder goes when they have ended.
    pub fn keep(self) -> Result<Vec<u32>> {
        match self.household {
            Some(household) => {
                household.into_inner().unwrap_or_else(PoisonError::into_inner).release()
            }
            None => Ok(vec![]),
        }
    }

    /// For an administrator, by token.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::with_token(&self.url, self.authority.pem(), "admin", &self.token)
    }

    /// For any user, by client certificate. Without a group the user may do nothing until
    /// a role is bound; `system:masters` may do everything.
    pub fn kubeconfig_for(&self, user: &str, group: Option<&str>) -> Result<String> {
        let identity = self.authority.user(user, group)?;
        Ok(kubeconfig::with_certificate(&self.url, self.authority.pem(), user, &identity))
    }

    /// A client certificate and its key, both PEM, by which a user is let in.
    pub fn certificate_for(&self, user: &str, group: Option<&str>) -> Result<(String, String)> {
        let identity = self.authority.user(user, group)?;
        Ok((identity.certificate, identity.key))
    }

    /// The same, of a certificate whose time is over or has not come.
    pub fn certificate_valid(
        &self,
        user: &str,
        group: Option<&str>,
        validity: Validity,
    ) -> Result<(String, String)> {
        let identity = self.authority.user_valid(user, group, validity)?;
        Ok((identity.certificate, identity.key))
    }

    /// A certificate of a server at this address, and its key, both PEM.
    pub(crate) fn server_certificate(&self, validity: Validity) -> Result<(String, String)> {
        let identity = self.authority.server(validity)?;
        Ok((identity.certificate, identity.key))
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// The certificate authority, PEM.
    pub fn ca(&self) -> &str {
        self.authority.pem()
    }

    pub fn ca_file(&self) -> PathBuf {
        self.folder.join(CA_CERTIFICATE)
    }

    /// Its folder, with logs; what [`SHARED_VARIABLE`] wants.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder.join(AUDIT_LOG)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// One object, or `None` if the server says that there is none.
    pub async fn get(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>> {
        self.read(&Target::new(api_version, kind, namespace, name)).await
    }

    pub async fn read(&self, target: &Target) -> Result<Option<Value>> {
        let (_, path) = target.paths(&self.client).await?;
        let answer = self.client.read(&path).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        answer.accepted().map(Some)
    }

    /// Deletes in the background way; an absent object is no error.
    pub async fn delete(&self, target: &Target) -> Result<()> {
        let (_, path) = target.paths(&self.client).await?;
        let answer = self
            .client
            .send(Call {
                method: Method::DELETE,
                path: &format!("{path}?propagationPolicy=Background"),
                user_agent: "testkit",
                content_type: JSON,
                body: None,
            })
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        answer.accepted().map(drop)
    }

    /// Any request at all, for what has no method of its own.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Answer> {
        self.client.send(Call { method, path, user_agent: "testkit", content_type, body }).await
    }

    /// The object once `condition` holds for it (`None` is an absent object).
    pub async fn wait_until(
        &self,
        target: &Target,
        within: Duration,
        condition: impl Fn(Option<&Value>) -> bool,
    ) -> Result<Option<Value>> {
        let deadline = Instant::now() + within;
        loop {
            let seen = self.read(target).await?;
            if condition(seen.as_ref()) {
                return Ok(seen);
            }
            if Instant::now() > deadline {
                bail!(
                    "{target} is not as awaited after {} s. It is: {}",
                    within.as_secs(),
                    seen.map_or_else(|| "absent".into(), |object| format!("{object:#}"))
                );
            }
            pause().await;
        }
    }

    /// Waits until the kinds of a CRD are served.
    pub async fn await_served(&self, definition: &Value) -> Result<()> {
        let established = |seen: Option<&Value>| {
            let conditions = seen.and_then(|object| object["status"]["conditions"].as_array());
            conditions.into_iter().flatten().any(|condition| {
                condition["type"] == "Established" && condition["status"] == "True"
            })
        };
        self.wait_until(&Target::of(definition)?, PATIENCE, established).await?;
        // A CRD is established before its kind is served, and the later, the busier the machine.
        let spec = &definition["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for version in spec["versions"].as_array().into_iter().flatten() {
            let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            let nobody =
                Target::new(&api_version, &text(&spec["names"]["kind"]), "default", "nobody");
            let deadline = Instant::now() + PATIENCE;
            while let Err(error) = self.read(&nobody).await {
                if Instant::now() > deadline {
                    return Err(error);
                }
                pause().await;
            }
        }
        Ok(())
    }

    /// Pods of a namespace are refused until the controllers have made its account.
    pub async fn await_service_account(&self, namespace: &str) -> Result<()> {
        if self.parts == Parts::Full {
            let account = Target::new("v1", "ServiceAccount", namespace, "default");
            self.wait_until(&account, PATIENCE, |seen| seen.is_some()).await?;
        }
        Ok(())
    }
}

/// A control plane that is coming up.
struct Start {
    control_plane: ControlPlane,
    ports: Ports,
    /// What is started once the API server answers: these give up when it takes long,
    /// as it may on a busy machine.
    later: Vec<(Asset, PathBuf)>,
    deadline: Instant,
}

impl Start {
    fn launch(parts: Parts, wanted: Wanted) -> Result<Self> {
        let mut binaries = Vec::new();
        for asset in parts.assets() {
            binaries.push((*asset, asset.locate(wanted)?));
        }
        let mut household = Household::new()?;
        let ports = Ports::free()?;
        let authority = Authority::create(household.folder())?;
        parts::furnish(household.folder(), &ports, &authority)?;
        let later = binaries.split_off(Parts::ApiServer.assets().len());
        for (asset, binary) in &binaries {
            if *asset == Asset::Etcd {
                for (name, arguments) in parts::members(parts, &ports) {
                    household.start(name, binary, &arguments)?;
                }
            } else {
                let mut arguments = parts::arguments(*asset, parts, &ports);
                if *asset == Asset::KubeApiserver {
                    let features = parts::features(minor_of(binary)?);
                    arguments.extend(features.iter().map(ToString::to_string));
                }
                household.start(asset.binary(), binary, &arguments)?;
            }
        }
        let folder = household.folder().to_owned();
        let members = ports.etcd_clients(parts);
        let control_plane =
            ControlPlane::over(&folder, parts, authority, Some(household), members)?;
        Ok(Self { control_plane, ports, later, deadline: Instant::now() + PATIENCE })
    }

    async fn finish(&mut self) -> Result<(), Setback> {
        while !self.control_plane.is_ready().await {
            self.check("`/readyz` of the API server does not answer `ok`")?;
            pause().await;
        }
        if self.control_plane.parts != Parts::Full {
            return Ok(());
        }
        for (asset, binary) in &self.later {
            let arguments = parts::arguments(*asset, Parts::Full, &self.ports);
            if let Some(mut household) = self.control_plane.household() {
                household.start(asset.binary(), binary, &arguments)?;
            }
        }
        self.control_plane.act_as("testkit").create(parts::node()).await?;
        while !self.node_is_ready().await? {
            self.check("the node does not become ready")?;
            pause().await;
        }
        self.control_plane.await_service_account("default").await?;
        Ok(())
    }

    async fn node_is_ready(&self) -> Result<bool> {
        let Some(node) = self.control_plane.get("v1", "Node", None, NODE).await? else {
            return Ok(false);
        };
        let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        let ready =
            conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True");
        // Controllers taint a fresh node until they have seen it ready.
        Ok(ready && !node["spec"]["taints"].is_array())
    }

    /// That every part runs and there is time left.
    fn check(&mut self, what: &str) -> Result<(), Setback> {
        let Some(mut household) = self.control_plane.household() else {
            return Ok(());
        };
        if let Some((name, status)) = household.first_ended()? {
            let words = household.last_words(name);
            if words.contains("address already in use") {
                return Err(Setback::PortTaken);
            }
            return Err(Setback::Other(anyhow!(
                "`{name}` ended with {status} instead of running; {words}"
            )));
        }
        if Instant::now() < self.deadline {
            return Ok(());
        }
        let assets = self.control_plane.parts.assets().iter();
        let words: Vec<String> = assets.map(|asset| household.last_words(asset.binary())).collect();
        Err(Setback::Other(anyhow!(
            "the control plane is not up after {} s: {what}; {}",
            PATIENCE.as_secs(),
            words.join("\n  ")
        )))
    }
}

enum Setback {
    /// Somebody took a port between our finding it free and the part's using it.
    PortTaken,
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Setback {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

/// Short: what is polled is on this machine, and a test waits for it.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}
