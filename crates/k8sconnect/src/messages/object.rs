//! What is said about one object: why it cannot be planned, applied or read.

use std::collections::BTreeSet;
use std::time::Duration;

use k8sconnect_cluster::NotYet;
use k8sconnect_core::adoption::is_client_side;
use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::identity::{ID_ANNOTATION, IdentityChange, ObjectKey};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::plan::Takeover;
use serde_json::Value;
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::addresses::whose;
use super::ownership::{Whose, paths, values};
use super::refusal::{Subject, on_body};
use super::stuck::what_holds;
use super::{by_turns, count, paragraphs, span};
use crate::leaves::Surprise;

pub(crate) fn identity_changes(key: &ObjectKey, changes: &[IdentityChange]) -> Diagnostic {
    let lines: Vec<_> =
        changes.iter().map(|(field, old, new)| format!("  {field}: {old} -> {new}")).collect();
    Diagnostic::warning(
        format!("{key} will be replaced by another object"),
        format!(
            "These fields say which object is meant, so the change means another one:\n\n{}\n\n\
             Terraform deletes the old object and creates the new one. To keep it, restore the \
             old values in `yaml_body`.",
            lines.join("\n")
        ),
    )
}

/// What is to be known of an object before anything is planned for it.
pub(crate) fn bears_another_id(key: &ObjectKey, id: &str, live: &Value) -> Option<Diagnostic> {
    let other = live["metadata"]["annotations"][ID_ANNOTATION].as_str().filter(|it| *it != id)?;
    Some(Diagnostic::warning(
        format!("{key} bears the id of another state"),
        format!(
            "Its k8sconnect id is `{other}`, ours is `{id}`: another configuration has taken it \
             over, or somebody changed the annotation. Every write of ours takes it back, and \
             destroy leaves it alone.\n\n\
             To leave it to the other, let this state forget it with `terraform state rm`."
        ),
    ))
}

pub(crate) fn is_being_deleted(key: &ObjectKey, live: &Value) -> Option<Diagnostic> {
    if live["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    Some(Diagnostic::warning(
        format!("{key} is being deleted"),
        paragraphs([
            &what_holds(live),
            "Once it is gone, the next plan creates it anew. Until then changes are still applied \
             to it, and go with it.",
        ]),
    ))
}

/// A change came too late.
pub(crate) fn gone_meanwhile(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was deleted meanwhile"),
        "It was there a moment ago and is not any more: somebody deleted it, or the garbage \
         collector did, because the owners that it names are gone (`metadata.ownerReferences`), or \
         it went along with its namespace or the definition of its kind. Nothing was written.\n\n\
         Run again: the next plan creates it. If this run replaced what it lives in, let it be \
         replaced along next time, with `lifecycle { replace_triggered_by = [OTHER_ADDRESS.uid] }`.",
    )
}

/// Another state has taken the object over.
pub(crate) fn taken_over(key: &ObjectKey, id: &str) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} belongs to another state now and was left alone"),
        format!(
            "It bears the k8sconnect id `{id}`, which is not ours: another configuration has taken \
             it over. It is not ours to delete; only this state forgets it."
        ),
    )
}

/// The object was taken over in this very run, by its own address or another one.
pub(crate) fn taken_over_in_this_run(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was taken over in this run, and so not deleted"),
        "With `create_before_destroy` the new object comes first. One of that name was there, and \
         `adopt = true` took it over as it is: nothing was made anew, whatever the summary counts, \
         and state holds the object once.\n\n\
         To have it made anew, remove `create_before_destroy`, here and from every resource that \
         depends on this one, and replace it again.",
    )
}

/// The object that is to be made again is still being deleted.
pub(crate) fn predecessor_stays(key: &ObjectKey, live: &Value, waited: Duration) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be created: the old one is still being deleted"),
        paragraphs([
            &what_holds(live),
            &format!("Apply waited {} for it to go.", span(waited)),
            "See that the controller behind the finalizer runs, then run again.",
        ]),
    )
}

/// Others write the object faster than it can be read and written.
pub(crate) fn never_still(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} changes faster than it can be written"),
        "It is read right before it is written or deleted, and each time someone else wrote in \
         between. Nothing was changed.\n\n\
         Run again; if it happens again, see who writes it so often.",
    )
}

pub(crate) fn replaced_by_others(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} is another object now and was left alone"),
        "The object that Terraform created is gone, and someone made another one under its name. \
         It is not ours to delete; only state forgets it.",
    )
}

/// A restored backup was deleted.
pub(crate) fn restored_and_deleted(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} had been recreated with our mark on it, and was deleted"),
        format!(
            "Its uid was not the one in state, but its annotation `{ID_ANNOTATION}` was ours, as \
             after restoring a backup: it was this state's object, and is gone now."
        ),
    )
}

pub(crate) fn restored(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was recreated with our mark on it"),
        format!(
            "Its uid is not the one in state, but its annotation `{ID_ANNOTATION}` is ours, as \
             after restoring a backup. It is kept and managed as before."
        ),
    )
}

/// What was planned as an update turned out to mean another object.
pub(crate) fn identity_known_late(key: &ObjectKey, changes: &[IdentityChange]) -> Diagnostic {
    let lines: Vec<_> =
        changes.iter().map(|(field, old, new)| format!("  {field}: {old} -> {new}")).collect();
    Diagnostic::error(
        format!("{key} would become another object"),
        format!(
            "`yaml_body` was not known in full when this was planned, so an update was planned. \
             Now it is known, and means another object:\n\n{}\n\n\
             Nothing was written. Run apply again: it will plan the replacement.",
            lines.join("\n")
        ),
    )
}

/// Said beside a replacement that may come up too late, where nothing tells whether it does.
pub(crate) fn if_applying(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} is to be replaced, without having been read before"),
        "In a plan with `-refresh=false` this is as it should be. During an apply it means that \
         `yaml_body` was not known in full when the plan was made: nothing is written then. Run \
         apply again: it will plan the replacement.",
    )
}

/// The summary names no object, so that many of these are shown as one.
pub(crate) fn body_unknown() -> Diagnostic {
    Diagnostic::warning(
        "Objects whose `yaml_body` is not known yet are planned without the cluster",
        "Something in it is known only after apply, so that the API server cannot be asked about \
         it now. It is asked, and the object checked, during the apply.",
    )
}

/// The same for the way to the cluster, or for arguments that say how.
pub(crate) fn terms_unknown(names: &[&str]) -> Diagnostic {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    Diagnostic::warning(
        format!(
            "Objects whose {} {are} not known yet are planned without the cluster",
            quoted.join(" and ")
        ),
        "That depends on something that is known only after apply, such as a cluster that this very \
         run creates. The API server is asked, and the object checked, during the apply.",
    )
}

/// The plan goes on without knowing what the server will make of the object.
pub(crate) fn planned_blind(key: &ObjectKey, why: &NotYet) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} cannot be planned in full yet"),
        format!(
            "{}\n\nIts fields are shown as known after apply, and checked then.{}",
            not_yet(why),
            match why {
                NotYet::Kind { .. } | NotYet::Namespace { .. } => {
                    " Apply waits for it; if this configuration creates it, let this resource \
                     `depends_on` it, so that it has its turn first."
                }
                NotYet::NamespaceGoing { .. } => {
                    " Apply can create it only in a namespace that stays: once this one is gone, it \
                     must be made anew first."
                }
                NotYet::Webhook { .. } => "",
            }
        ),
    )
}

/// The definition of its kind goes before the object is made, and another one comes.
pub(crate) fn planned_before_its_kind(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} cannot be planned in full yet"),
        "The kind's own definition is made anew in this run, and may say other things of its objects \
         than the server does now.\n\n\
         Its fields are shown as known after apply, and checked then.",
    )
}

/// The definition of its kind changes before the object does.
pub(crate) fn planned_before_its_definition(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} cannot be planned in full: its definition changes too"),
        "This run changes the CustomResourceDefinition of its kind as well, which may then fill in or \
         sort its fields in another way than the server does now.\n\n\
         Its fields are shown as known after apply, and checked then. To see them before, apply the \
         definition alone first, with `-target`.",
    )
}

/// It did not come in time.
pub(crate) fn not_there_at_apply(key: &ObjectKey, why: &NotYet, waited: Duration) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be created yet"),
        format!(
            "{} Apply waited {} for it.\n\nIf this configuration creates what is \
             missing, let this resource `depends_on` it: Terraform works on ten resources at a \
             time, and those that wait may keep the one that is waited for from its turn. \
             {SORTED} Otherwise create it first, or set a longer `apply_timeout`.",
            not_yet(why),
            span(waited)
        ),
    )
}

const SORTED: &str = "The data source `k8sconnect_yaml_scoped` sorts a file of many objects for \
                      that.";

/// Every slot of the apply waits.
pub(crate) fn slots_exhausted(key: &ObjectKey, why: &NotYet, waited: Duration) -> Diagnostic {
    Diagnostic::error(
        format!("{key} made room for others and was not created"),
        format!(
            "{} After {} every resource that Terraform was working on was waiting for \
             something like it, and Terraform works on ten at a time: if this configuration \
             creates what is missing, it would never have had its turn.\n\n\
             Run again: it may be there by then. So that it is next time, let this resource \
             `depends_on` what it needs. {SORTED} If others create what is missing, set \
             `apply_timeout`: a resource that sets it waits that long in any case.",
            not_yet(why),
            span(waited)
        ),
    )
}

pub(super) fn not_yet(why: &NotYet) -> String {
    match why {
        NotYet::Kind { gvk, nearest } => {
            let nearest = nearest
                .as_ref()
                .map(|nearest| format!(" Did you mean `{nearest}`?"))
                .unwrap_or_default();
            format!(
                "The API server does not serve `{}` of `{}` at the moment.{nearest}",
                gvk.kind,
                gvk.api_version()
            )
        }
        NotYet::Namespace { name } => {
            format!("The namespace `{name}` does not exist at the moment.")
        }
        NotYet::NamespaceGoing { name, .. } => {
            format!("The namespace `{name}` is being deleted at the moment.")
        }
        NotYet::Webhook { status } => match status.silent_webhook() {
            Some(name) => format!("The webhook `{name}`, which must be asked, cannot be reached."),
            None => "A webhook that must be asked cannot be reached.".to_owned(),
        },
    }
}

pub(crate) fn no_such_kind(key: &ObjectKey, nearest: Option<&str>, whose: Whose) -> Diagnostic {
    let (attribute, fields) = match whose {
        Whose::Object => ("yaml_body", "`apiVersion` and `kind`"),
        Whose::Patch => ("target", "`target.api_version` and `target.kind`"),
    };
    let advice = match nearest {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => format!("Check {fields}; `kubectl api-resources` lists those there are."),
    };
    Diagnostic::error(
        format!("{key}: there is no such kind"),
        format!(
            "The API server does not serve `{}` of `{}`. Only a group with a dot in its name that \
             is not Kubernetes' own gains kinds while the server runs.\n\n{advice}",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
    .at(AttributePath::root(attribute))
}

/// What is taken from others is told apart.
pub(crate) fn adopts(key: &ObjectKey, live: &Value, takeover: &Takeover) -> Diagnostic {
    // What another state applied has our own name for a manager.
    let whose_values = match live["metadata"]["annotations"][ID_ANNOTATION].is_null() {
        true => "which nobody holds now",
        false => "which that state has applied, or nobody holds now",
    };
    // A plan to create shows no former values.
    let unheld = takeover.changes.iter().filter(|change| change.live.is_some());
    let changes = match unheld.cloned().collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        unheld => format!("These values change, {whose_values}:\n\n{}", values(unheld)),
    };
    let kubectl = takeover.owners.iter().filter(|holder| is_client_side(holder));
    let kubectl: BTreeSet<_> = kubectl.map(|holder| format!("`{}`", holder.name)).collect();
    let moved = match takeover.moved.as_slice() {
        [] => String::new(),
        moved => format!(
            "These fields change hands, from {} to you:\n\n{}",
            kubectl.into_iter().collect::<Vec<_>>().join(" and "),
            paths(moved)
        ),
    };
    Diagnostic::warning(
        format!("{key} exists already and will be taken over"),
        paragraphs([
            &whose(live),
            &changes,
            &moved,
            "`adopt = true` says so. It is not made anew: it keeps its uid, and what you did not write \
             stays, unless another warning names it.",
        ]),
    )
}

/// An object of the same name is still being deleted.
pub(crate) fn waits_for_predecessor(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} is being deleted at the moment"),
        "Apply waits until the old one is gone, and then creates yours. Its fields are shown as \
         known after apply.",
    )
}

/// The object that state held is gone, and another one has its name.
pub(crate) fn recreated(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was deleted and made anew by somebody else"),
        paragraphs([
            &whose(live),
            "State knows the object that was there before by its uid; this is another one, and it \
             is not taken over unasked.",
            "To take it over as it is, set `adopt = true`: the plan then tells what changes. To \
             leave it to whoever made it, remove the resource from the configuration, and from \
             state with `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`). To destroy the \
             rest and leave this one alone, run `terraform destroy -refresh=false` (or `tofu \
             destroy -refresh=false`).",
        ]),
    )
}

pub(crate) fn changed_meanwhile(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is not the object that state knows"),
        "It was deleted, or deleted and made anew, since it was last read.\n\n\
         Plan again, with a refresh: that starts from what is there now.",
    )
}

pub(crate) fn ownership_unreadable(key: &ObjectKey, error: &FieldsV1Error) -> Diagnostic {
    Diagnostic::error(
        format!("{key}: its field ownership cannot be read"),
        format!(
            "The API server recorded the field `{}` in a notation that k8sconnect does not know.\n\n\
             Upgrade the provider: this release may be too old for the API server. Nothing was \
             changed.",
            error.0
        ),
    )
}

pub(crate) fn answered_otherwise(key: &ObjectKey, surprises: &[Surprise]) -> Diagnostic {
    let lines: Vec<_> = surprises
        .iter()
        .map(|Surprise { path, planned, answered }| {
            let [planned, now] = by_turns([planned, answered].map(Option::as_deref));
            format!("  {path}\n    planned  {planned}\n    is now   {now}")
        })
        .collect();
    Diagnostic::warning(
        format!("{key} came out otherwise than planned"),
        format!(
            "Something changed {} between plan and apply: an admission webhook, a default, or the kind's \
             definition:\n\n{}\n\nThe next refresh brings the values of the object into state. The next write sends again \
             what you wrote.",
            count(surprises.len(), "field"),
            lines.join("\n")
        ),
    )
}

/// The server's own warnings, on the object that caused them.
pub(crate) fn server_warnings(key: &ObjectKey, warnings: &[String]) -> Diagnostics {
    let warning = |words: &String| {
        Diagnostic::warning(
            format!("{key}: the API server warns"),
            format!("{words}\n\nThis is the server's own advice; nothing was refused."),
        )
    };
    warnings.iter().map(warning).collect()
}

/// The same about a body that was sent, without what must not be shown of it.
pub(crate) fn warnings_about(manifest: &Manifest, warnings: &[String]) -> Diagnostics {
    let quoted: Vec<_> =
        warnings.iter().map(|words| Subject::from(manifest).quoted(words)).collect();
    let told = server_warnings(manifest.key(), &quoted);
    told.into_iter().map(|warning| on_body(manifest, warning)).collect()
}
