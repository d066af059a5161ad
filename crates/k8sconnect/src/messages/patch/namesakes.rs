//! Items of one key in a list: nobody can tell them apart, and nobody holds them.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::Manager;
use k8sconnect_core::patch::{Manner, Namesakes};
use k8sconnect_core::pointer::Pointer;
use tfplugin::Diagnostic;

use super::operations::AS_IT_STANDS;
use super::{Stage, attribute as attribute_of, on};
use crate::messages::ownership::manager;
use crate::messages::{count, paragraphs};

/// An operation puts an item beside another one of the same key.
pub(super) fn beside(item: &FieldPath, at: &Pointer, holders: &[Manager]) -> String {
    let held = match holders {
        [] => String::new(),
        holders => {
            let holders: Vec<_> = holders.iter().map(manager).collect();
            format!(", held by {}", holders.join(", "))
        }
    };
    format!(
        "The list has this item already, at `{at}`{held}:\n\n  {item}\n\n\
         Of two items with one key the API server cannot tell who holds which. It refuses the \
         second one, or forgets everyone who held the first, and nothing could be handed back.\n\n\
         To change the item, write its fields: `{{\"op\": \"add\", \"path\": \"{at}/…\", \"value\": \
         …}}`, or use `patch`, which finds items by their key."
    )
}

/// An item is meant that has namesakes on the object as it was found.
pub(super) fn several(Namesakes { item, count: items }: &Namesakes) -> String {
    format!(
        "The list has {} of this key:\n\n  {item}\n\n\
         Which of them is meant, and who holds it, nobody can tell: the API server knows items by \
         their key.\n\n\
         Have whoever made the object leave one of them, or write the whole list, with \
         `merge_patch` or with a `replace` of the list in `json_patch`.",
        count(*items, "item")
    )
}

/// The same of a partial object.
pub(crate) fn namesakes(
    key: &ObjectKey,
    manner: Manner,
    found: &Namesakes,
    stage: Stage,
) -> Diagnostic {
    let attribute = attribute_of(manner);
    let way_out = match stage {
        Stage::New | Stage::Anew => "",
        Stage::Made => AS_IT_STANDS,
    };
    let told = Diagnostic::error(
        format!("{key}: `{attribute}` means an item that is there more than once"),
        paragraphs([&several(found), way_out]),
    );
    on(told, attribute, key)
}
