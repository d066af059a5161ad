//! The only room of k8sconnect that talks to an API server.
//!
//! It is a thin client: a [`Connection`] says how to get in, a [`Pool`] turns equal connections
//! into one [`Cluster`], and a cluster has one method per verb ([`Cluster::get`],
//! [`Cluster::apply`], [`Cluster::delete`], [`Cluster::list`], [`Cluster::follow`]) besides
//! [`Cluster::kind`], which asks what is served. Bodies are plain JSON values both ways, so that
//! nothing a user wrote is lost before the server has judged it.
//!
//! Nothing is decided here. An absent object, another object under the same name or a kind that
//! is not served are outcomes, told apart by the type system and judged by the core; only what
//! kept the question from being answered is an [`Error`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod address;
mod arrive;
mod call;
mod changes;
pub mod child;
mod circuit_breaker;
mod cluster;
mod cluster_uid;
mod connection;
mod connector;
mod contents;
mod credentials;
mod definition;
mod discovery;
mod encode;
mod error;
mod exec;
pub mod file;
pub mod inline;
mod kinds;
mod kubeconfig;
mod list;
mod objects;
mod observe;
mod pool;
mod proxy;
mod retry;
mod secret;
mod stop;
mod targets;
mod tls;
mod token;
mod transport;
mod warnings;
mod watch;

pub use address::{Kind, Location, Scope, Within};
pub use call::{Call, Content, Persistence, Repeat, Reply};
pub use changes::{Change, Edit, Mark};
pub use cluster::{Answer, Cluster, ClusterUid};
pub use connection::{Auth, ClientCertificate, Connection, Exec, Host, Impersonation, Tls, Trust};
pub use contents::{Contents, Gap};
pub use definition::Definition;
pub use discovery::Lookup;
pub use error::{BadAnswer, ConnectionError, Error, Excess, InvalidValue, KubeconfigError};
pub use error::{NetworkError, PluginError, Proxy, Server, TlsError};
pub use kinds::{Served, Verb};
pub use kubeconfig::KubeconfigFiles;
pub use list::{Detail, Listed, Selection};
pub use objects::{Apply, Conflicts, Deleted, Deletion, Found, Propagation};
pub use observe::{NotYet, Observation, Placed};
pub use pool::Pool;
pub use secret::Secret;
pub use targets::Targets;
pub use token::{Token, TokenRequest};
pub use watch::{Departure, Follow, Seen};
