//! Whether a text that should be a path, a name, an address or a command may be a credential.
//!
//! People put a key where the path of its file belongs, and a token where a name does. An error about
//! the path must not quote it. There is nothing to compare with, so the shape decides: several lines,
//! the marks of PEM and of tokens, letters and digits in no order that a person would choose. A
//! credential that looks like an ordinary word is not recognized.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

/// What a text that must not be quoted looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitive {
    /// Certificates or keys, maybe in base64.
    Pem,
    /// The text of a file: several lines, JSON, a kubeconfig, maybe in base64.
    Document,
    Token,
    /// Letters and digits without any order.
    Scrambled,
}

impl Sensitive {
    /// `None`: it may well be a name, a path, an address or a command.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if is_pem(text) {
            return Some(Self::Pem);
        }
        if is_document(text) {
            return Some(Self::Document);
        }
        // The beginning of PEM in base64, and of JSON in it, which is how tokens begin: known even
        // where the rest is cut off.
        let starts = |mark: &str| {
            text.split(['/', '\\', ':', ' ', '@', '=']).any(|part| part.starts_with(mark))
        };
        if starts("LS0tLS1CRUdJTi") {
            return Some(Self::Pem);
        }
        if text.len() >= SHORTEST_TOKEN && starts("eyJ") {
            return Some(Self::Token);
        }
        let packed: String = text.split_ascii_whitespace().collect();
        let unpacked = BASE64.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        match unpacked {
            Some(text) if is_pem(&text) => return Some(Self::Pem),
            Some(text) if is_document(&text) => return Some(Self::Document),
            _ => {}
        }
        is_scrambled(text).then_some(Self::Scrambled)
    }
}

const SHORTEST_TOKEN: usize = 20;
/// No name of one word is so long and has letters and digits mixed.
const LONG_WORD: usize = 20;
/// No part of a path is so long and has capitals, small letters and digits mixed.
const LONG: usize = 40;

fn is_pem(text: &str) -> bool {
    text.contains("-----BEGIN")
}

fn is_document(text: &str) -> bool {
    text.contains(['\n', '\r', '\0']) || text.starts_with('{') || text.contains("apiVersion")
}

fn is_scrambled(text: &str) -> bool {
    // A credential has slashes too, but does not begin as a path or an address does.
    let is_path =
        text.starts_with(['/', '.', '~', '\\']) || text.contains(":\\") || text.contains("://");
    let separates = |c: char| match c {
        '/' | '\\' => is_path,
        c => !(c.is_ascii_alphanumeric() || "+/=_-~".contains(c)),
    };
    text.split(separates).any(|part| {
        let words = part.split(|c: char| !c.is_ascii_alphanumeric());
        let mut long = words.filter(|word| word.len() >= LONG_WORD);
        long.any(|word| is_mixed(word, if is_path { 3 } else { 2 }))
            || part.len() >= LONG && is_mixed(part, 3)
    })
}

/// Whether capitals, small letters and digits follow each other at random: so many kinds of them,
/// and so often another after the one. People begin words with capitals and end them with digits.
fn is_mixed(text: &str, kinds: usize) -> bool {
    let kind = |c: char| match c {
        'a'..='z' => Some(0),
        'A'..='Z' => Some(1),
        '0'..='9' => Some(2),
        _ => None,
    };
    let seen: Vec<Option<usize>> = text.chars().map(kind).collect();
    let is_there = |kind: &usize| seen.contains(&Some(*kind));
    let neighbours = seen.windows(2).filter_map(|pair| pair[0].zip(pair[1]));
    let (mut all, mut changes) = (0, 0);
    for (one, next) in neighbours {
        all += 1;
        changes += usize::from(one != next);
    }
    (0..3).filter(is_there).count() >= kinds && changes * 4 > all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str =
        "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIhunter2\n-----END EC PRIVATE KEY-----\n";

    #[test]
    fn what_may_be_a_credential_is_recognized() {
        let kubeconfig = "apiVersion: v1\nkind: Config\nusers: []\n";
        for (text, content) in [
            (PEM.to_owned(), Sensitive::Pem),
            (BASE64.encode(PEM), Sensitive::Pem),
            (BASE64.encode(PEM)[..40].to_owned(), Sensitive::Pem),
            (format!("/etc/{}", BASE64.encode(PEM)), Sensitive::Pem),
            (kubeconfig.to_owned(), Sensitive::Document),
            (BASE64.encode(kubeconfig), Sensitive::Document),
            (r#"{"users": []}"#.to_owned(), Sensitive::Document),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl".to_owned(), Sensitive::Token),
            ("/dir/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2ln".to_owned(), Sensitive::Token),
            ("https://eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln:6443".to_owned(), Sensitive::Token),
            ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYq8mZ41LKEYx".to_owned(), Sensitive::Scrambled),
            ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b".to_owned(), Sensitive::Scrambled),
            ("sha256~Zk3v9QxT1mB7cR5wL0pJ8sY2dN6hF4gA_uE-iO1aXq7".to_owned(), Sensitive::Scrambled),
            ("/x/Zk3v9QxT1mB7cR5wL0pJ8sY2dN6hF4gA_uE-iO1aXq7".to_owned(), Sensitive::Scrambled),
        ] {
            assert_eq!(Sensitive::of(&text), Some(content), "{text}");
        }
    }

    #[test]
    fn names_paths_addresses_and_commands_are_none() {
        for text in [
            "",
            "prod",
            "~/.kube/config",
            "config.d/Production-2026/West-Europe-1/kubeconfig-of-the-platform-team",
            "/home/Somebody/Projects/2026/k8s/cluster-1/kubeconfig-for-the-admins.yaml",
            "/tmp/.tmpAb3XyZ/first:/tmp/.tmpQ7bRtU/second",
            "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "/nix/store/3xk0dz1p9v5l7qw8c2b4n6m1r0f9s8g7-awscli2-2.15/bin/aws",
            r"C:\Users\Somebody\.kube\config",
            "arn:aws:eks:eu-west-1:123456789012:cluster/Production-1",
            "gke_my-project-123456_europe-west1-b_cluster-1",
            "kubernetes-admin@6c9f1c1e-5a35-4a7e-9d55-0c5a1e2d3f4b",
            "https://0A1B2C3D4E5F607182930A1B2C3D4E5F.gr7.eu-west-1.eks.amazonaws.com",
            "aws-iam-authenticator",
        ] {
            assert_eq!(Sensitive::of(text), None, "{text}");
        }
    }
}
