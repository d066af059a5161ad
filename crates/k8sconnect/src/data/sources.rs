//! Where YAML comes from: a text, the files that a pattern names, or a `kustomize` folder. The data
//! sources that take it apart differ in the attributes that hold the parts, and in nothing else.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use k8sconnect_core::documents::{self, Source, Stage};
use tfplugin::{Attribute, Context, DataSource, Diagnostics, Model, Schema, Value};

use crate::messages;
use crate::yaml_source::{FilesError, SourceAttribute, files, kustomize};

/// A data source that takes YAML apart.
pub(crate) struct YamlData<M>(PhantomData<M>);

impl<M> Default for YamlData<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// What such a data source makes of the documents.
pub(crate) trait Parted: Model {
    const TYPE: &'static str;

    const DESCRIPTION: &'static str;

    fn given(&self) -> Given<'_>;

    fn holding(self, found: Manifests) -> Self;
}

impl<M: Parted> DataSource for YamlData<M> {
    const TYPE: &'static str = M::TYPE;

    type Model = M;

    fn schema(&self) -> Schema {
        attributes(Schema::of::<M>(0)).describe(M::DESCRIPTION)
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: M,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        config.given().check()
    }

    async fn read(
        &self,
        ctx: &Context,
        config: M,
        _notices: &mut Diagnostics,
    ) -> Result<M, Diagnostics> {
        let found = config.given().split(ctx).await?;
        Ok(config.holding(found))
    }
}

fn attributes(schema: Schema) -> Schema {
    schema
        .attribute(
            "content",
            Attribute::string().optional().describe(
                "YAML with any number of documents. Exactly one of `content`, `pattern` and \
                 `kustomize_path` is set.",
            ),
        )
        .attribute(
            "pattern",
            Attribute::string().optional().describe(
                "Names files of YAML: `*` and `?` within a name, `**` for any number of folders, \
                 `{a,b}` and `[a-z]`. Relative to the directory that Terraform runs in: begin it \
                 with `${path.module}/`. That no file fits is an error.",
            ),
        )
        .attribute(
            "kustomize_path",
            Attribute::string().optional().describe(
                "A folder with a `kustomization.yaml`, built by your own `kustomize build`, or by \
                 `kubectl kustomize` where that is not installed.",
            ),
        )
        .attribute(
            "id",
            Attribute::string().computed().describe("Changes with any of the documents."),
        )
}

/// What the user wrote of the three.
pub(crate) struct Given<'a> {
    pub(super) content: &'a Value<String>,
    pub(super) pattern: &'a Value<String>,
    pub(super) kustomize_path: &'a Value<String>,
}

impl Given<'_> {
    fn of(&self, attribute: SourceAttribute) -> &Value<String> {
        match attribute {
            SourceAttribute::Content => self.content,
            SourceAttribute::Pattern => self.pattern,
            SourceAttribute::KustomizePath => self.kustomize_path,
        }
    }

    /// Checks that exactly one is set, as far as that is known: an unknown one may come to nothing.
    fn check(&self) -> Result<(), Diagnostics> {
        let all = SourceAttribute::ALL;
        if all.iter().all(|one| self.of(*one).is_null()) {
            return Err(messages::documents::no_source().into());
        }
        let set: Vec<_> = all.into_iter().filter(|one| self.of(*one).is_known()).collect();
        match set.as_slice() {
            [_, second, ..] => Err(messages::documents::several_sources(&set, *second).into()),
            _ => Ok(()),
        }
    }

    fn chosen(&self) -> Result<(SourceAttribute, &str), Diagnostics> {
        self.check()?;
        let all = SourceAttribute::ALL.into_iter();
        all.filter_map(|one| Some((one, self.of(one).as_str()?)))
            .next()
            .ok_or_else(|| messages::documents::no_source().into())
    }

    /// Reads and splits whatever is given.
    async fn split(&self, ctx: &Context) -> Result<Manifests, Diagnostics> {
        match self.chosen()? {
            (SourceAttribute::Content, text) => {
                split(SourceAttribute::Content, &[Source { name: None, text }])
            }
            (SourceAttribute::Pattern, pattern) => {
                let (own, ctx) = (pattern.to_owned(), ctx.clone());
                // A file system may take its time; other requests need not wait for it.
                let files = move || files::read(&own, || ctx.is_stopped());
                let files = tokio::task::spawn_blocking(files)
                    .await
                    .map_err(|_| messages::documents::interrupted())?
                    .map_err(|error| unread(pattern, &error))?;
                let sources: Vec<_> = files.iter().map(files::File::as_source).collect();
                split(SourceAttribute::Pattern, &sources)
            }
            (SourceAttribute::KustomizePath, path) => {
                let built = kustomize::build(ctx, path).await;
                let text = built.map_err(|error| messages::documents::not_built(path, &error))?;
                let source = Source { name: Some(path), text: &text };
                split(SourceAttribute::KustomizePath, &[source])
            }
        }
    }
}

/// All that is wrong: what cannot be read, and what is amiss in the files that can.
fn unread(pattern: &str, error: &FilesError) -> Diagnostics {
    let mut problems = Diagnostics::from(messages::documents::no_files(pattern, error));
    if let FilesError::Unreadable { others, .. } = error
        && !others.is_empty()
    {
        let sources: Vec<_> = others.iter().map(files::File::as_source).collect();
        problems.extend(split(SourceAttribute::Pattern, &sources).err().into_iter().flatten());
    }
    problems
}

/// Documents by their keys.
pub(crate) struct Manifests {
    pub(super) id: String,
    staged: BTreeMap<Stage, BTreeMap<String, String>>,
}

impl Manifests {
    /// Those of one stage, as an attribute holds them.
    pub(super) fn of_stage(&mut self, stage: Stage) -> Value<BTreeMap<String, Value<String>>> {
        let documents = self.staged.remove(&stage).unwrap_or_default();
        Value::Known(documents.into_iter().map(|(key, text)| (key, text.into())).collect())
    }

    pub(super) fn all(self) -> Value<BTreeMap<String, Value<String>>> {
        let documents = self.staged.into_values().flatten();
        Value::Known(documents.map(|(key, text)| (key, text.into())).collect())
    }
}

fn split(attribute: SourceAttribute, sources: &[Source<'_>]) -> Result<Manifests, Diagnostics> {
    let pieces = documents::split(sources.iter().copied()).map_err(|problems| {
        let told = messages::documents::unsplittable(&problems);
        // Terraform prints the attribute that an error points to; a Secret is better not printed.
        let may_show = !sources.iter().any(|source| source.text.contains("Secret"));
        if may_show { told.at(attribute.path()) } else { told }
    })?;
    if pieces.is_empty() {
        return Err(messages::documents::nothing_in(attribute).into());
    }
    let id = documents::fingerprint(&pieces);
    let mut staged: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (key, piece) in pieces {
        staged.entry(piece.stage).or_default().insert(key, piece.text.into_owned());
    }
    Ok(Manifests { id, staged })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{YamlScopedData, YamlSplitData};

    #[test]
    fn a_file_that_cannot_be_read_hides_nothing_that_is_wrong_in_the_others() {
        let other = files::File { path: "other.yaml".into(), text: "kind: ConfigMap\n".into() };
        let no_text = k8sconnect_cluster::file::Unreadable::NotText;
        let error =
            FilesError::Unreadable { broken: vec![("a".into(), no_text)], others: vec![other] };
        let told: Vec<_> = unread("*", &error).into_iter().map(|one| one.detail).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[1].contains("`other.yaml`, document 1"), "{told:?}");
    }

    #[test]
    fn the_schemas_keep_terraforms_rules() {
        assert_eq!(YamlSplitData::default().schema().check(), []);
        assert_eq!(YamlScopedData::default().schema().check(), []);
    }
}
