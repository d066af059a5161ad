//! Data sources: what is only read. Objects of a cluster, and YAML taken apart.
//!
//! One file a data source. `sources` takes YAML apart, wherever it comes from; `reach` asks the
//! cluster.

mod object;
mod objects;
pub(crate) mod reach;
mod sources;
mod yaml_scoped;
mod yaml_split;

pub(crate) use object::ObjectData;
pub(crate) use objects::ObjectsData;
pub(crate) use yaml_scoped::YamlScopedData;
pub(crate) use yaml_split::YamlSplitData;
