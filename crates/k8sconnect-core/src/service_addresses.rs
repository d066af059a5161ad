//! Addresses that only one Service of a cluster can have: cluster IPs and node ports.
//!
//! A dry-run allocates nothing, so it accepts a cluster IP that another Service has. Whether a new Service
//! gets the addresses that its body asks for, only a list of all Services shows. Not here: the request.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use crate::identity::Gvk;
use crate::rejection::Status;

/// Whether the addresses that a body asks for are free.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressCheck {
    Free,
    Taken(Vec<TakenAddress>),
    /// The Services could not be listed.
    Unknown(Box<Status>),
}

/// An address, by its field and value, with the Service that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenAddress {
    pub field: &'static str,
    pub value: String,
    pub namespace: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceAddresses {
    cluster_ips: BTreeSet<IpAddr>,
    node_ports: BTreeSet<u64>,
}

impl ServiceAddresses {
    /// The addresses that a body asks for and the object that it replaces does not have. `None` if there
    /// are none, as for every other kind.
    pub fn requested(gvk: &Gvk, body: &Value, live: &Value) -> Option<Self> {
        if !gvk.group.is_empty() || gvk.kind != "Service" {
            return None;
        }
        let (wanted, own) = (Self::of(body), Self::of(live));
        let requested = Self {
            cluster_ips: &wanted.cluster_ips - &own.cluster_ips,
            node_ports: &wanted.node_ports - &own.node_ports,
        };
        if requested == Self::default() { None } else { Some(requested) }
    }

    /// Compares the addresses with those of all Services except the one that is replaced.
    pub fn check(&self, services: &[Value], is_replaced: impl Fn(&Value) -> bool) -> AddressCheck {
        let mut taken = Vec::new();
        for service in services.iter().filter(|it| !is_replaced(it)) {
            let has = Self::of(service);
            let ips = self.cluster_ips.intersection(&has.cluster_ips);
            let ports = self.node_ports.intersection(&has.node_ports);
            let ips = ips.map(|it| ("clusterIP", it.to_string()));
            let text = |name: &str| service["metadata"][name].as_str().unwrap_or_default().into();
            for (field, value) in ips.chain(ports.map(|it| ("nodePort", it.to_string()))) {
                let (namespace, name) = (text("namespace"), text("name"));
                taken.push(TakenAddress { field, value, namespace, name });
            }
        }
        if taken.is_empty() { AddressCheck::Free } else { AddressCheck::Taken(taken) }
    }

    /// `None` and an empty text are no addresses. All node ports are of one range, whatever their protocol.
    fn of(service: &Value) -> Self {
        let spec = &service["spec"];
        let items = |list: &'_ Value| list.as_array().cloned().unwrap_or_default();
        let ips = items(&spec["clusterIPs"]).into_iter().chain([spec["clusterIP"].clone()]);
        let ports = items(&spec["ports"]).into_iter().map(|port| port["nodePort"].clone());
        let ports = ports.chain([spec["healthCheckNodePort"].clone()]);
        Self {
            cluster_ips: ips.filter_map(|ip| ip.as_str()?.parse().ok()).collect(),
            node_ports: ports.filter_map(|port| port.as_u64().filter(|port| *port != 0)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(uid: &str, spec: &Value) -> Value {
        json!({"metadata": {"name": uid, "namespace": "shop", "uid": uid}, "spec": spec})
    }

    fn requested(body: &Value, live: &Value) -> Option<ServiceAddresses> {
        let (body, live) = (service("new", body), service("old", live));
        ServiceAddresses::requested(&Gvk::new("v1", "Service"), &body, &live)
    }

    #[test]
    fn only_addresses_that_the_replaced_service_does_not_have_are_requested() {
        let own =
            json!({"clusterIP": "fd00::1", "clusterIPs": ["fd00::1"], "ports": [{"nodePort": 1}]});
        assert_eq!(
            requested(&json!({"clusterIP": "FD00:0::1", "ports": [{"nodePort": 1}]}), &own),
            None
        );
        for none in
            [json!({}), json!({"clusterIP": "None"}), json!({"clusterIP": "", "ports": [{}]})]
        {
            assert_eq!(requested(&none, &own), None, "{none}");
        }
        assert!(requested(&json!({"clusterIPs": ["10.0.0.1"]}), &own).is_some());
        let other = ServiceAddresses::requested(
            &Gvk::new("serving.example.com/v1", "Service"),
            &json!({"spec": {"clusterIP": "10.0.0.1"}}),
            &json!({}),
        );
        assert_eq!(other, None);
    }

    #[test]
    fn an_address_of_another_service_is_taken_and_one_of_the_replaced_service_is_free() {
        let body = json!({"clusterIP": "10.0.0.1", "ports": [{"nodePort": 30000}], "healthCheckNodePort": 7});
        let requested = requested(&body, &json!({})).unwrap();
        let is_old = |service: &Value| service["metadata"]["uid"] == "old";
        let none = json!({"clusterIP": "None", "ports": [{"port": 30000}]});
        let services = [service("old", &body), service("none", &none)];
        assert_eq!(requested.check(&services, is_old), AddressCheck::Free);
        let taken = |spec: Value| match requested.check(&[service("other", &spec)], is_old) {
            AddressCheck::Taken(taken) => (taken[0].field, taken[0].value.clone(), taken.len()),
            other => panic!("{other:?}"),
        };
        let ip = taken(json!({"clusterIPs": ["10.0.0.1"]}));
        assert_eq!(ip, ("clusterIP", "10.0.0.1".to_owned(), 1));
        let port = taken(json!({"ports": [{"nodePort": 7}]}));
        assert_eq!(port, ("nodePort", "7".to_owned(), 1));
        assert_eq!(taken(json!({"healthCheckNodePort": 30000})).1, "30000");
    }
}
