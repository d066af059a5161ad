//! What users write as YAML: one object, many objects, and the text that is written back.

use damage::{settings, swiftly, text};
use k8sconnect_core::documents::{Source, split};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::yaml::{parse_stream, to_yaml};
use proptest::prelude::*;

use crate::samples::bodies;

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn a_damaged_body_is_read_or_refused_with_a_place_in_it(body in text(bodies())) {
        let lines = body.split(['\n', '\r']).count() + 1;
        match swiftly(|| Manifest::parse(&body)) {
            Ok(manifest) => {
                let again = Manifest::parse(&to_yaml(manifest.value())).unwrap();
                prop_assert_eq!(again.value(), manifest.value());
                prop_assert!(again.is_same_body(&manifest));
                manifest.as_applied();
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(problem.line <= lines, "{problem:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_read_of_a_damaged_text_is_written_so_that_it_reads_the_same(body in text(bodies())) {
        if let Ok(documents) = swiftly(|| parse_stream(&body)) {
            for document in documents {
                let text = to_yaml(&document.value);
                let again = parse_stream(&text).unwrap();
                prop_assert_eq!(again.len(), 1);
                prop_assert_eq!(&again[0].value, &document.value, "{}", text);
            }
        }
    }

    #[test]
    fn many_damaged_documents_are_split_or_all_their_problems_told(
        texts in prop::collection::vec(text(bodies()), 1..4)
    ) {
        let joined = texts.join("\n---\n");
        let sources = [Source { name: Some("a.yaml"), text: &joined }];
        match swiftly(|| split(sources)) {
            Ok(pieces) => for piece in pieces.values() {
                prop_assert!(Manifest::parse(piece.text.as_ref()).is_ok(), "{}", piece.text);
            },
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }
}
