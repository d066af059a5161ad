//! The smallest provider: one resource that remembers what it was told and does nothing else.
//!
//! Read it from top to bottom: it is the crate's tutorial. To see it at work, build it, copy it
//! to some directory as `terraform-provider-echo`, point Terraform there, and leave `init` out:
//!
//! ```text
//! $ cat dev.tfrc
//! provider_installation {
//!   dev_overrides { "example/echo" = "/that/directory" }
//!   direct {}
//! }
//! $ cat main.tf
//! terraform {
//!   required_providers { echo = { source = "example/echo" } }
//! }
//! resource "echo_object" "hello" { yaml_body = "kind: Greeting" }
//! $ TF_CLI_CONFIG_FILE=dev.tfrc terraform apply
//! ```

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use tfplugin::{
    Applied, ApplyFailure, Attribute, Context, Create, Delete, Diagnostics, Import, Imported, Plan,
    Planned, Private, Provider, Read, ReadAnswer, Registry, Resource, Schema, Update, Value,
};

/// `serve` is the whole of `main`: it shakes hands with Terraform and ends when Terraform is done.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let address = "registry.terraform.io/example/echo";
    tfplugin::serve(Echo, tfplugin::Options { address, name: "echo" }).await
}

// ---- The provider ----

struct Echo;

// A model is a typed view of a block. Every field is a `Value`: known, null, or unknown until
// apply. The provider block of `echo` has no attributes, so this one has no fields.
tfplugin::model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    struct EchoConfig {}
}

impl Provider for Echo {
    type Config = EchoConfig;

    fn schema(&self) -> Schema {
        Schema::new(0).describe("Remembers what it is told.")
    }

    // A real provider would make its clients here and share them with its resources.
    async fn configure(
        &self,
        _ctx: &Context,
        _config: EchoConfig,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, registry: &mut Registry) {
        registry.resource(EchoObject);
    }
}

// ---- The resource ----

struct EchoObject;

tfplugin::model! {
    /// What users write and what is stored, in one struct: the names are the attributes' names.
    #[derive(Clone, Debug, PartialEq, Default)]
    struct EchoModel {
        yaml_body: Value<String>,
        id: Value<String>,
    }
}

impl Resource for EchoObject {
    const TYPE: &'static str = "echo_object";
    type Model = EchoModel;

    fn schema(&self) -> Schema {
        Schema::new(0)
            .describe("Text that is remembered.")
            .attribute("yaml_body", Attribute::string().required().describe("The text."))
            .attribute("id", Attribute::string().computed().describe("Made up on creation."))
    }

    // Planning starts from what Terraform proposes: the configuration, with computed attributes
    // as they were. What only the apply can tell is planned as unknown.
    async fn plan(
        &self,
        _ctx: &Context,
        request: Plan<EchoModel>,
        _notices: &mut Diagnostics,
    ) -> Result<Planned<EchoModel>, Diagnostics> {
        let mut state = request.proposed;
        if request.prior.is_none() {
            state.id = Value::Unknown;
        }
        let requires_replace = Vec::new();
        Ok(Planned { state, private: request.private, requires_replace, identity: None })
    }

    // What was planned as known must come back as it is; what was unknown must be known now.
    async fn create(
        &self,
        _ctx: &Context,
        request: Create<EchoModel>,
        _notices: &mut Diagnostics,
    ) -> Result<Applied<EchoModel>, ApplyFailure<EchoModel>> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = Value::Known(format!("echo-{:x}", since.as_nanos()));
        let state = EchoModel { id, ..request.planned };
        Ok(Applied { state, private: request.private, identity: None })
    }

    async fn update(
        &self,
        _ctx: &Context,
        request: Update<EchoModel>,
        _notices: &mut Diagnostics,
    ) -> Result<Applied<EchoModel>, ApplyFailure<EchoModel>> {
        Ok(Applied { state: request.planned, private: request.private, identity: None })
    }

    // There is nothing out there that could have changed, so what is stored is what is.
    async fn read(
        &self,
        _ctx: &Context,
        request: Read<EchoModel>,
        _notices: &mut Diagnostics,
    ) -> Result<ReadAnswer<EchoModel>, Diagnostics> {
        let Read { state, private, identity } = request;
        Ok(ReadAnswer::Present { state, private, identity })
    }

    async fn delete(
        &self,
        _ctx: &Context,
        _request: Delete<EchoModel>,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    // Import answers with as much state as `read` needs; Terraform calls that next.
    async fn import(
        &self,
        _ctx: &Context,
        request: Import,
        _notices: &mut Diagnostics,
    ) -> Result<Imported<EchoModel>, Diagnostics> {
        let state = EchoModel { id: request.id.into(), ..EchoModel::default() };
        Ok(Imported { state, private: Private::default(), identity: None })
    }
}
