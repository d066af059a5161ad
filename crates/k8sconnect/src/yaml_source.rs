//! Where YAML comes from: a text, the files that a pattern names, or a `kustomize` folder. Errors are
//! data; `messages` words them.

pub(crate) mod files;
pub(crate) mod kustomize;

pub(crate) use files::{FilesError, LONGEST_PATTERN};
pub(crate) use kustomize::{KustomizeError, Program};
use tfplugin::AttributePath;

/// The attributes of which exactly one is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceAttribute {
    Content,
    Pattern,
    KustomizePath,
}

impl SourceAttribute {
    pub(crate) const ALL: [Self; 3] = [Self::Content, Self::Pattern, Self::KustomizePath];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Pattern => "pattern",
            Self::KustomizePath => "kustomize_path",
        }
    }

    pub(crate) fn path(self) -> AttributePath {
        AttributePath::root(self.name())
    }
}
