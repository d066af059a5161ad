//! What the resources of one provider process share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use k8sconnect_cluster::{Cluster, ClusterUid, Connection, Pool};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostic, Diagnostics};

use crate::apply_slots::ApplySlots;
use crate::cluster_identity::{AnotherCluster, ClusterIdentity, Opened, Recorded, Shown, compare};
use crate::connect::{self, ClusterArgs, Directory, Reach};
use crate::messages;
use crate::plan_ledger::PlanLedger;
use crate::read_cache::ReadCache;

/// One per process: the clusters it talks to, and what it saw there.
#[derive(Default)]
pub(crate) struct Session {
    pool: Pool,
    directory: RwLock<Directory>,
    is_configured: AtomicBool,
    has_warned_of_credential: AtomicBool,
    pub(crate) reads: ReadCache,
    pub(crate) ledger: PlanLedger,
    pub(crate) slots: ApplySlots,
    unidentified: Shown,
}

impl Session {
    /// Takes in what the provider block says, before any resource asks.
    pub(crate) fn configure(&self, directory: Directory) {
        *self.directory.write().unwrap_or_else(PoisonError::into_inner) = directory;
        self.is_configured.store(true, Ordering::Relaxed);
    }

    /// The warning of a `cluster` that puts a credential into state, once per run. Terraform validates
    /// before it configures the provider, when variables are not known; and again in the plan, which
    /// reads objects, and folds the two. It validates in the apply too, which reads nothing.
    fn stored_credential(&self, args: ClusterArgs<'_>) -> Option<Diagnostic> {
        let is_applying =
            self.is_configured.load(Ordering::Relaxed) && !self.reads.has_refreshed(None);
        if is_applying || !args.cluster.known()?.has_credential() {
            return None;
        }
        let is_first = !self.has_warned_of_credential.swap(true, Ordering::Relaxed);
        is_first.then(messages::connection::stored_credential)
    }

    /// Judges the cluster of a block that is stored in state; what is wrong comes back.
    pub(crate) fn validate_cluster(
        &self,
        args: ClusterArgs<'_>,
        notices: &mut Diagnostics,
    ) -> Diagnostics {
        let problems = connect::validate(args, notices);
        notices.extend(self.stored_credential(args));
        problems
    }

    /// The user asked to stop.
    pub(crate) fn stop(&self) {
        self.pool.stop();
    }

    /// The way to the cluster that a block names.
    pub(crate) fn reach(&self, args: ClusterArgs<'_>) -> Result<Reach, Diagnostics> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner).reach(args)
    }

    /// The cluster that a block names; `None` where that is not known yet.
    pub(crate) async fn enter(
        &self,
        args: ClusterArgs<'_>,
    ) -> Result<Option<Arc<Cluster>>, Diagnostics> {
        match self.reach(args)? {
            Reach::Ready(connection) => self.cluster(&connection).await.map(Some),
            Reach::Unknown => Ok(None),
        }
    }

    /// The connection in state. An error where it cannot be used any more.
    fn connection_in_state(
        &self,
        key: &ObjectKey,
        args: ClusterArgs<'_>,
    ) -> Result<Reach, Diagnostics> {
        if !self.directory().lists(args) {
            return Err(messages::unread::not_configured(key, args.name.as_str()).into());
        }
        self.reach(args).map_err(|problems| {
            messages::unread::unusable_in_state(key, args.origin(), &problems).into()
        })
    }

    /// What the provider block says of clusters, for whoever has to choose one.
    pub(crate) fn directory(&self) -> Directory {
        self.directory.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn cluster(
        &self,
        connection: &Connection,
    ) -> Result<Arc<Cluster>, Diagnostics> {
        let cluster = self.pool.cluster(connection).await;
        cluster.map_err(|error| messages::connection::failed(&error).into())
    }
}

/// Opening a connection compares the cluster.
impl Session {
    async fn identify(
        &self,
        cluster: Arc<Cluster>,
        stored: Option<&str>,
        notices: &mut Diagnostics,
    ) -> Result<Opened, AnotherCluster> {
        let (identity, uid) = match cluster.cluster_uid().await {
            Ok(ClusterUid::Known(uid)) => (compare(stored, &uid)?, Some(uid)),
            Ok(ClusterUid::Unreadable(error)) => {
                let warning = messages::cluster_identity::unreadable(cluster.host(), &error);
                if self.unidentified.is_first(&warning) {
                    notices.push(warning);
                }
                (ClusterIdentity::Unreadable, None)
            }
            // The request that follows fails for the same reason, and says so.
            Err(_) => (ClusterIdentity::Unreadable, None),
        };
        Ok(Opened { cluster, identity, uid })
    }

    /// Opens a connection, for a resource that is in state or one that is new. An error if it leads to
    /// another cluster.
    pub(crate) async fn open(
        &self,
        connection: &Connection,
        recorded: Option<Recorded<'_>>,
        notices: &mut Diagnostics,
    ) -> Result<Opened, Diagnostics> {
        let cluster = self.cluster(connection).await?;
        let host = cluster.host().clone();
        let opened = self.identify(cluster, recorded.and_then(|it| it.uid), notices).await;
        opened.map_err(|AnotherCluster| match recorded {
            Some(Recorded { key, .. }) => messages::cluster_identity::different(key, &host).into(),
            // Of a new resource no UID is stored that could differ.
            None => Diagnostics::new(),
        })
    }

    /// Opens the configured connection; `None` while it is unknown.
    pub(crate) async fn open_configured(
        &self,
        args: ClusterArgs<'_>,
        recorded: Option<Recorded<'_>>,
        notices: &mut Diagnostics,
    ) -> Result<Option<Opened>, Diagnostics> {
        match self.reach(args)? {
            Reach::Ready(connection) => self.open(&connection, recorded, notices).await.map(Some),
            Reach::Unknown => Ok(None),
        }
    }

    /// Opens the connection in state, through which objects are deleted and fields handed back.
    /// `None` while it is unknown.
    pub(crate) async fn open_in_state(
        &self,
        recorded: Recorded<'_>,
        notices: &mut Diagnostics,
    ) -> Result<Option<Opened>, Diagnostics> {
        match self.connection_in_state(recorded.key, recorded.args)? {
            Reach::Ready(connection) => {
                self.open(&connection, Some(recorded), notices).await.map(Some)
            }
            Reach::Unknown => Ok(None),
        }
    }

    /// Opens the connection in state for a refresh, which reads the object meanwhile. `None` where state
    /// has to stay as it is; then it was said why.
    pub(crate) async fn refresh<T>(
        &self,
        recorded: Recorded<'_>,
        notices: &mut Diagnostics,
        read: impl AsyncFnOnce(&Cluster) -> T,
    ) -> Result<Option<(Opened, T)>, Diagnostics> {
        let Recorded { key, args, uid } = recorded;
        let cluster = match self.enter(args).await {
            Ok(Some(cluster)) => cluster,
            Ok(None) => return Ok(None),
            // The connection in state is unusable, which says nothing of the one in the configuration.
            Err(problems) if args.cluster.is_known() || !self.directory().lists(args) => {
                let origin = args.origin();
                notices.push(messages::unread::connection_unusable(key, &problems, origin));
                return Ok(None);
            }
            // The provider block is the same for the plan.
            Err(problems) => return Err(problems),
        };
        let identity = self.identify(Arc::clone(&cluster), uid, notices);
        match tokio::join!(identity, read(&cluster)) {
            (Ok(opened), read) => Ok(Some((opened, read))),
            (Err(AnotherCluster), _) => {
                notices.push(messages::cluster_identity::not_refreshed(key, cluster.host()));
                Ok(None)
            }
        }
    }
}
