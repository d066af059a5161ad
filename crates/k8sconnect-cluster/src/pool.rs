//! One cluster per distinct connection, for as long as the process lives.
//!
//! Ten resources that start at once with the same connection get the same client, the same run
//! of a credential plugin and the same discovery. The key is the whole connection: a host alone would
//! hand one user's client to another. Its name in the configuration is no part of the key, so that two
//! names for one connection share a client; each handle keeps its name for errors.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::error::Error;
use crate::stop::Stop;

#[derive(Default)]
pub struct Pool {
    clusters: Mutex<HashMap<Connection, Cluster>>,
    stop: Stop,
}

impl Pool {
    /// Asks nothing of the server yet; what can be wrong here is the connection itself. Async so
    /// that a caller does not change when a connection one day needs asking to be resolved.
    pub async fn cluster(&self, connection: &Connection) -> Result<Arc<Cluster>, Error> {
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Connection { called: None, ..connection.clone() };
        if let Some(cluster) = clusters.get(&key) {
            return Ok(Arc::new(cluster.called(connection.called.as_deref())));
        }
        // Building one takes microseconds, so that the lock may be held: two callers never build
        // it twice.
        let cluster = Cluster::new(connection, self.stop.clone())?;
        clusters.insert(key, cluster.clone());
        Ok(Arc::new(cluster))
    }

    /// The user asked to stop: nothing is tried again from now on, and no plugin is started. What
    /// was sent to be written is heard out.
    pub fn stop(&self) {
        self.stop.ask();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::InvalidValue;

    #[tokio::test]
    async fn equal_connections_share_a_cluster_and_others_do_not() {
        let pool = Pool::default();
        let mut connection = Connection::to("https://127.0.0.1:6443".parse().unwrap());
        connection.tls.trust = crate::Trust::Anyone;
        let first = pool.cluster(&connection).await.unwrap();
        assert!(first.is_shared_with(&pool.cluster(&connection.clone()).await.unwrap()));
        connection.auth = crate::Auth::Token("other".into());
        assert!(!first.is_shared_with(&pool.cluster(&connection).await.unwrap()));
    }

    #[tokio::test]
    async fn two_names_of_one_connection_share_a_cluster_and_each_is_told_by_its_own() {
        let pool = Pool::default();
        let mut connection = Connection::to("https://127.0.0.1:6443".parse().unwrap());
        connection.called = Some("east".into());
        let east = pool.cluster(&connection).await.unwrap();
        connection.called = Some("main".into());
        let main = pool.cluster(&connection).await.unwrap();
        assert!(east.is_shared_with(&main));
        assert_eq!(east.server().called.as_deref(), Some("east"));
        assert_eq!(main.server().called.as_deref(), Some("main"));
    }

    #[tokio::test]
    async fn a_broken_authority_is_told_before_anything_is_asked() {
        let mut connection = Connection::to("https://127.0.0.1:6443".parse().unwrap());
        connection.tls.trust = crate::Trust::Authorities("not PEM".into());
        let error = Pool::default().cluster(&connection).await.err();
        let wrong = InvalidValue::NotCertificate(None).of("certificate-authority");
        assert!(matches!(&error, Some(Error::Connection(it)) if *it == wrong), "{error:?}");
    }
}
