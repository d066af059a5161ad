//! Small languages that users write in attributes: JSONPath, field paths, patterns of fields,
//! import ids, patterns of files.

use damage::{settings, swiftly, text};
use k8sconnect_core::field::{FieldPath, FieldSet};
use k8sconnect_core::ignore::{Ignore, Ignoring, Yielded};
use k8sconnect_core::import_id::{ImportId, Subject};
use k8sconnect_core::jsonpath::{JsonPath, excerpt};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::Mark;
use k8sconnect_core::pointer::Pointer;
use k8sconnect_core::secrecy;
use proptest::prelude::*;

use crate::samples::{MANAGER, object, written};

fn owned(samples: &[&str]) -> Vec<String> {
    samples.iter().map(|text| (*text).to_owned()).collect()
}

fn json_paths() -> Vec<String> {
    owned(&[
        "{.status.conditions[?(@.type==\"Available\")].status}",
        "status.conditions[?(@.type=='Ready' && @.status!='True' || @.age>=5)].reason",
        ".spec.template.spec.containers[0].image",
        "$.spec..containers[*]['name','image']",
        "spec.containers[-1:0:2].ports[?(@.port>80)][0]",
        r"metadata.labels.app\.kubernetes\.io/name",
        "..",
    ])
}

fn field_paths() -> Vec<String> {
    owned(&[
        "spec.template.spec.containers[name=app].ports[containerPort=80,protocol=TCP].name",
        r#"data["app.conf"]"#,
        r#"metadata.finalizers[="example.com/f"]"#,
        r#"spec.list[3].x["a\"b"]"#,
        r#"a["k.x"="1",b=true,c=null,d={"e":[1]}]"#,
    ])
}

fn patterns() -> Vec<String> {
    let mut all = field_paths();
    all.extend(json_paths());
    all.extend(owned(&[
        "spec.replicas",
        "manager=hpa",
        "metadata.annotations.a.b/c",
        "metadata.annotations['a.b/c']",
        "spec.template.spec.containers[*].image",
        "spec.template.spec.containers[?(@.name==\"app\")].args",
        "spec.*.metadata",
        "{.spec.template.spec.containers[0].image}",
    ]));
    all
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn a_damaged_json_path_is_read_or_refused_where_it_is_wrong(path in text(json_paths())) {
        match swiftly(|| JsonPath::parse(&path)) {
            Ok(read) => {
                let object = object();
                swiftly(|| excerpt(read.find(&object)));
            }
            Err(error) => prop_assert!(error.at <= path.chars().count() + 1, "{error:?}"),
        }
    }

    #[test]
    fn a_damaged_field_path_reads_back_as_it_is_written_or_is_refused(path in text(field_paths())) {
        if let Ok(read) = path.parse::<FieldPath>() {
            prop_assert_eq!(read.to_string().parse::<FieldPath>(), Ok(read));
        }
        let _ = path.parse::<Mark>();
        if let Some(pointer) = Pointer::parse(&path) {
            prop_assert_eq!(Pointer::parse(&pointer.to_string()), Some(pointer));
        }
    }

    #[test]
    fn a_damaged_pattern_ignores_only_fields_that_there_are(pattern in text(patterns())) {
        let (manifest, object) = (written(), object());
        let owners = Owners::of_object(&object).unwrap();
        let ours = owners.applied_by(MANAGER);
        if let Ok(ignore) = Ignore::parse(&pattern) {
            let (ignoring, _) = Ignoring::new(&[ignore], &manifest, &Yielded::new());
            let (ignored, rest) = swiftly(|| (ignoring.among(&ours, &object), ignoring.rest(ours.clone(), &object)));
            prop_assert_eq!(ignored.union(&rest), ours.clone());
            prop_assert_eq!(ignored.intersection(&rest), FieldSet::default());
            swiftly(|| ignoring.body(manifest.value(), &object, &owners, MANAGER));
            swiftly(|| ignoring.oddities(manifest.value(), &object, &owners));
        }
        if let Ok(pattern) = secrecy::pattern(&pattern) {
            swiftly(|| manifest.hiding(&[pattern]).secrecy().hidden_in(&object).len());
        }
    }

    #[test]
    fn a_damaged_import_id_names_an_object_or_is_refused(id in text(owned(&[
        "shop/deployment.v1.apps/web?manager=kubectl-client-side-apply&values",
        "node/worker-1?context=prod",
        "prod:shop:apps/v1/Deployment:web",
        "arn:aws:eks:eu:1:cluster/c:shop:v1/Secret:system:x?values",
        "Namespace/shop?unowned&cluster_name=prod",
    ]))) {
        if let Ok(read) = ImportId::parse(&id) {
            prop_assert!(!read.name().is_empty());
            prop_assert!(!read.to_string().is_empty());
            read.places(&["prod".to_owned()]);
            if let Subject::ByWord { kind, .. } = &read.subject {
                prop_assert!(!kind.readings().is_empty());
            }
        }
    }
}
