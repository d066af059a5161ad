//! What is wrong with a connection before any server is asked.
//!
//! Fields are named as they are spelt where they stand: in a kubeconfig, or in the `cluster`
//! attribute. What a field holds is never shown: it may be a credential, also where it should not
//! be. Of a path, a name or a command, which are, just what cannot be a credential by mistake.

use std::fmt;
use std::path::Path;

use k8sconnect_core::scrub::{Content, quoted, without_credentials};

use crate::file::Unreadable;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    BadHost {
        field: &'static str,
        why: String,
    },
    /// Not YAML, or not a kubeconfig. The file, where it was given as one.
    BadKubeconfig {
        file: Option<String>,
        why: String,
    },
    /// The path of a kubeconfig where its text belongs.
    PathForText,
    /// A kubeconfig in base64.
    Packed {
        file: Option<String>,
    },
    /// Something in an entry of a kubeconfig, and the file where it was given as one, of which there
    /// may be several.
    Entry {
        /// `cluster` or `user`.
        what: &'static str,
        name: String,
        file: Option<String>,
        error: Box<ConnectionError>,
    },
    NoContextChosen {
        contexts: Vec<String>,
        /// Those that were read as one, where they are several.
        files: Vec<String>,
    },
    UnknownContext {
        name: String,
        contexts: Vec<String>,
        files: Vec<String>,
    },
    /// A context says nothing of where the server is.
    NoCluster {
        context: String,
    },
    /// None of several files is there.
    NoFiles {
        field: &'static str,
        paths: Vec<String>,
    },
    /// A context, or nothing, leads to an entry that is not there.
    Missing {
        what: &'static str,
        name: String,
    },
    /// A relative path in a text that has no place of its own.
    RelativePath {
        field: &'static str,
        path: String,
    },
    /// The content of a file, or something else, where its path belongs.
    ContentForPath {
        field: &'static str,
        content: Content,
    },
    UnreadableFile {
        field: &'static str,
        path: String,
        cause: Unreadable,
    },
    EmptyFile {
        field: &'static str,
        path: String,
    },
    /// The key in this field is that of another certificate.
    WrongKey {
        field: &'static str,
    },
    /// A value that should be base64, PEM, or a URL.
    BadValue {
        field: &'static str,
        why: String,
    },
    /// Something that can be told, and belongs elsewhere.
    Mistaken {
        field: &'static str,
        why: &'static str,
        advice: &'static str,
    },
    /// Nothing, in a field that need not be there.
    Empty {
        field: &'static str,
    },
    /// Half of a pair.
    Alone {
        field: &'static str,
        lacks: &'static str,
    },
    /// The legacy way for a cloud's login, gone from Kubernetes since 1.26.
    AuthProvider {
        name: String,
        exec: &'static str,
    },
    /// The credential plugin did not bring a credential.
    Plugin {
        command: String,
        why: String,
        advice: String,
    },
}

impl ConnectionError {
    /// The same of a kubeconfig that stands in this file.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            Self::BadKubeconfig { why, .. } => {
                Self::BadKubeconfig { file: Some(path.display().to_string()), why }
            }
            Self::PathForText => {
                let why = "all that stands in it is a path".into();
                Self::BadKubeconfig { file: Some(path.display().to_string()), why }
            }
            Self::Packed { .. } => Self::Packed { file: Some(path.display().to_string()) },
            other => other,
        }
    }

    pub fn what(&self) -> String {
        match self {
            Self::BadHost { field: "server", .. } => {
                "The `server` of a cluster in the kubeconfig is not an address".into()
            }
            Self::BadHost { .. } => "The cluster's host is not an address".into(),
            Self::PathForText => "`kubeconfig` holds a path, not the text of a kubeconfig".into(),
            Self::BadKubeconfig { file: None, .. } | Self::Packed { file: None } => {
                "The kubeconfig cannot be read".into()
            }
            Self::BadKubeconfig { file: Some(file), .. } | Self::Packed { file: Some(file) } => {
                format!("The kubeconfig {} cannot be read", quoted(file))
            }
            Self::Entry { error, .. } => error.what(),
            Self::NoContextChosen { .. } => {
                "The kubeconfig does not say which context to use".into()
            }
            Self::UnknownContext { name, .. } => {
                format!("The kubeconfig has no context {}", quoted(name))
            }
            Self::Missing { what, name } => {
                format!("The kubeconfig has no {what} {}", quoted(name))
            }
            Self::NoCluster { context } => {
                format!("The context {} in the kubeconfig names no cluster", quoted(context))
            }
            Self::NoFiles { field, .. } => format!("None of the files in `{field}` is there"),
            Self::RelativePath { field, .. } => format!("`{field}` is a relative path"),
            Self::ContentForPath { field, content: Content::Document }
                if is_list_of_kubeconfigs(field) =>
            {
                format!("`{field}` holds the text of a kubeconfig, not its path")
            }
            Self::ContentForPath { field, .. } => {
                format!("`{field}` holds something else than a path")
            }
            Self::UnreadableFile { field, .. } => format!("The file in `{field}` cannot be read"),
            Self::EmptyFile { field, .. } => format!("The file in `{field}` is empty"),
            Self::BadValue { field, .. }
            | Self::WrongKey { field }
            | Self::Mistaken { field, .. }
            | Self::Empty { field } => format!("`{field}` cannot be used"),
            Self::Alone { field, lacks } => format!("`{field}` is given without `{lacks}`"),
            Self::AuthProvider { .. } => {
                "The kubeconfig logs in by an `auth-provider`, which is not supported".into()
            }
            Self::Plugin { command, .. } => {
                format!("The credential plugin {} brought no credential", quoted(command))
            }
        }
    }

    pub fn why(&self) -> String {
        match self {
            Self::BadHost { why, .. }
            | Self::BadKubeconfig { why, .. }
            | Self::BadValue { why, .. } => sentence(why),
            Self::Entry { what, name, file, error } => {
                let place = match file {
                    Some(file) => quoted(file),
                    None => "the kubeconfig".into(),
                };
                format!("{} See the {what} {} in {place}.", error.why(), quoted(name))
            }
            Self::PathForText => "A kubeconfig is YAML, and what stands there is one line.".into(),
            Self::Packed { .. } => "It is a kubeconfig in base64.".into(),
            Self::NoContextChosen { contexts, files } if contexts.is_empty() => {
                format!("{} no contexts at all.", who_has(files))
            }
            Self::UnknownContext { contexts, files, .. } if contexts.is_empty() => {
                format!("{} no contexts at all.", who_has(files))
            }
            Self::NoContextChosen { contexts, files } => format!(
                "{} no `current-context`, and these contexts: {}.",
                who_has(files),
                listed(contexts)
            ),
            Self::UnknownContext { contexts, files, .. } => {
                format!("{} these contexts: {}.", who_has(files), listed(contexts))
            }
            Self::NoCluster { .. } => "A context leads to a server by its `cluster`.".into(),
            Self::NoFiles { paths, .. } => format!("It names {}.", listed(paths)),
            Self::Missing { .. } => "The chosen context refers to it.".into(),
            Self::RelativePath { path, .. } => {
                let path = quoted(path);
                format!("{path} is relative to a file, and this kubeconfig was given as text.")
            }
            Self::ContentForPath { field, content } => {
                let meant = match is_list_of_kubeconfigs(field) {
                    true => "The paths of files belong there",
                    false => "The path of a file belongs there",
                };
                format!("{meant}, and what stands there looks like {content}. It is not shown.")
            }
            Self::UnreadableFile { path, cause, .. } => {
                format!("{}: {}", quoted(path), sentence(&cause.to_string()))
            }
            Self::EmptyFile { path, .. } => {
                format!("{} is there, and nothing stands in it.", quoted(path))
            }
            Self::WrongKey { .. } => "It is not the key of the client certificate.".into(),
            Self::Mistaken { why, .. } => sentence(why),
            Self::Empty { .. } => "It is empty.".into(),
            Self::Alone { .. } => "Each is of use only with the other.".into(),
            Self::AuthProvider { name, .. } => {
                let name = quoted(name);
                format!("Kubernetes replaced {name} there by credential plugins.")
            }
            Self::Plugin { why, .. } => sentence(why),
        }
    }

    pub fn advice(&self) -> String {
        match self {
            Self::BadHost { .. } => "Write it as `https://host:port`.".into(),
            Self::PathForText => "Write the path into `config_path`; or give the text, as with \
                `kubeconfig = file(\"…\")`."
                .into(),
            Self::Packed { file: None } => "Decode it, with `kubeconfig = base64decode(…)`.".into(),
            Self::Packed { file: Some(_) } => "Decode it, with `base64 -d`.".into(),
            Self::BadKubeconfig { file: None, .. } => {
                "Give the text of a kubeconfig as `kubectl config view --raw` prints it.".into()
            }
            Self::BadKubeconfig { file: Some(_), .. } => {
                "Correct it: it should look like what `kubectl config view` prints.".into()
            }
            Self::Entry { error, .. } => error.advice(),
            Self::NoContextChosen { contexts, .. } | Self::UnknownContext { contexts, .. }
                if contexts.is_empty() =>
            {
                "Give a kubeconfig with a context, as `kubectl config view --raw` prints it.".into()
            }
            Self::NoContextChosen { .. } => "Name one of them in `context`.".into(),
            Self::UnknownContext { .. } => "Name one of those in `context`.".into(),
            Self::NoCluster { .. } => {
                "Add the name of a cluster to it, or choose another context.".into()
            }
            Self::NoFiles { .. } => "Check the paths.".into(),
            Self::Missing { what, .. } => format!("Add the {what}, or choose another context."),
            Self::RelativePath { field, .. } => match *field {
                "tokenFile" => "Use an absolute path, or put the token into `token`.".into(),
                "exec.command" => "Use an absolute path, or a bare name that is in `PATH`.".into(),
                _ => format!(
                    "Use an absolute path, or put the content, in base64, into `{field}-data`."
                ),
            },
            Self::ContentForPath { field, .. } => match *field {
                "config_path" => "Put the text of a kubeconfig into `kubeconfig`, for example \
                    `kubeconfig = file(\"…\")`; write its path into `config_path`."
                    .into(),
                "tokenFile" => {
                    "Put a token into `token`; `tokenFile` is for the path of its file.".into()
                }
                "certificate-authority" | "client-certificate" | "client-key" => format!(
                    "Put the content, in base64, into `{field}-data`; `{field}` is for the path of \
                     its file."
                ),
                _ => "Write the path.".into(),
            },
            Self::UnreadableFile { cause: Unreadable::System { .. }, .. } => {
                "Check the path and who may read it.".into()
            }
            Self::UnreadableFile { .. } => "Check the path.".into(),
            Self::EmptyFile { .. } => {
                "Check the path, and that whoever writes it has done so.".into()
            }
            Self::WrongKey { .. } => "Give a certificate and a key that were made together.".into(),
            Self::BadValue { field, .. } => match *field {
                "exec.interactiveMode" => "Write `IfAvailable`, or `Never`, and log in by hand \
                    beforehand if it must ask something."
                    .into(),
                "cluster_ca_certificate" | "client_certificate" | "client_key" => {
                    "Give its content, not a path: `file(\"…\")` reads one.".into()
                }
                "certificate-authority-data" | "client-certificate-data" | "client-key-data" => {
                    format!(
                        "Put the PEM into it in base64, on one line; or the path of its file into \
                         `{}`.",
                        field.trim_end_matches("-data")
                    )
                }
                "HTTPS_PROXY" | "HTTP_PROXY" => {
                    "Correct it in the environment, or name the server \
                    in `NO_PROXY`."
                        .into()
                }
                _ => "Correct the value.".into(),
            },
            Self::Mistaken { advice, .. } => (*advice).into(),
            Self::Empty { .. } => {
                "Give it a value; or leave it out, or set it to `null`, where there is none.".into()
            }
            Self::Alone { lacks, .. } => format!("Add `{lacks}`."),
            Self::AuthProvider { exec, .. } => format!("Log in by `exec` instead, with {exec}."),
            // It may be the kubeconfig's own hint.
            Self::Plugin { advice, .. } => without_credentials(advice),
        }
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

fn is_list_of_kubeconfigs(field: &str) -> bool {
    matches!(field, "config_path" | "KUBECONFIG")
}

fn who_has(files: &[String]) -> String {
    if files.is_empty() { "It has".into() } else { format!("Together {} have", listed(files)) }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}", self.what(), self.why(), self.advice())
    }
}

impl std::error::Error for ConnectionError {}
