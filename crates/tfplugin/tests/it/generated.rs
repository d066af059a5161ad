//! The generated code is what the protocol files say.

use std::path::Path;

#[test]
fn generated_code_is_what_the_protocol_files_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = root.join("src/proto/generated");
    let fresh = tempfile::tempdir().unwrap();
    let compile = |name: &str| {
        protox::compile([root.join("proto").join(name)], [root.join("proto")]).unwrap()
    };
    let generator = || {
        tonic_prost_build::configure()
            .build_transport(false)
            .generate_default_stubs(true)
            .btree_map(".")
            .out_dir(fresh.path())
    };
    generator().compile_fds(compile("tfplugin6.proto")).unwrap();
    generator().build_client(false).compile_fds(compile("plugin.proto")).unwrap();
    for name in ["tfplugin6.rs", "plugin.rs"] {
        let text = std::fs::read_to_string(fresh.path().join(name)).unwrap();
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(kept.join(name), &text).unwrap();
        }
        let there = std::fs::read_to_string(kept.join(name)).unwrap_or_default();
        assert!(
            there == text,
            "`{name}` is out of date; run `UPDATE_GENERATED=1 cargo test -p tfplugin --test it generated`"
        );
    }
}
