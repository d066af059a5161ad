//! Data sources: what is only read. Objects of a cluster, and YAML taken apart.
//!
//! One file a data source. `sources` holds where YAML comes from (a text, files, `kustomize`), with
//! a file for each of the latter two; `reach` asks the cluster.

mod files;
mod kustomize;
mod object;
mod objects;
pub(crate) mod reach;
mod sources;
mod yaml_scoped;
mod yaml_split;

pub(crate) use files::{FilesError, LONGEST_PATTERN};
pub(crate) use kustomize::{KustomizeError, Program};
pub(crate) use object::ObjectData;
pub(crate) use objects::ObjectsData;
pub(crate) use sources::SourceAttribute;
pub(crate) use yaml_scoped::YamlScopedData;
pub(crate) use yaml_split::YamlSplitData;
