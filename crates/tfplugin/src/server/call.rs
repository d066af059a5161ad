//! What every method shares: its log lines, its panics, and the rendering of its diagnostics.
//!
//! Each call runs in a task of its own. A panic then ends the call and not the connection, and a
//! client that goes away does not interrupt a write half way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tonic::{Response, Status};
use tracing::Instrument as _;

use super::{Answer, Inner, Service};
use crate::diagnostic::{Diagnostic, Diagnostics, legible};
use crate::proto::tfplugin6 as proto;

/// A response that can tell the user something.
pub(super) trait Reports: Default + Send + 'static {
    fn report(&mut self, diagnostics: Diagnostics);
}

macro_rules! reports_in {
    ($field:ident: $($response:ident),* $(,)?) => {
        $(impl Reports for proto::$response {
            fn report(&mut self, diagnostics: Diagnostics) {
                self.$field = diagnostics.into_wire();
            }
        })*
    };
}

reports_in!(diagnostics:
    ApplyResourceChangeResponse,
    Findings,
    Functions,
    GenerateResourceConfigResponse,
    IdentitySchemas,
    ImportResourceStateResponse,
    Metadata,
    MoveResourceStateResponse,
    OpenEphemeralResourceResponse,
    PlanResourceChangeResponse,
    ProviderSchema,
    ReadDataSourceResponse,
    ReadResourceResponse,
    RenewEphemeralResourceResponse,
    UpgradeResourceIdentityResponse,
    UpgradeResourceStateResponse,
    ValidateProviderConfigResponse,
);

impl Reports for proto::CallFunctionResponse {
    fn report(&mut self, diagnostics: Diagnostics) {
        let told = diagnostics.into_iter().find(Diagnostic::is_error);
        if let Some(Diagnostic { summary, detail, .. }) = told {
            let text = legible(format!("{summary}. {detail}"));
            self.error = Some(proto::FunctionError { text, function_argument: None });
        }
    }
}

impl Reports for proto::StopProviderResponse {
    fn report(&mut self, diagnostics: Diagnostics) {
        let told = diagnostics.into_iter().find(Diagnostic::is_error);
        self.error = told.map(|diagnostic| diagnostic.summary).unwrap_or_default();
    }
}

impl Service {
    /// Runs one method. `subject` is the resource type or function, for the log.
    pub(super) async fn call<R, F>(
        &self,
        rpc: &'static str,
        subject: String,
        handle: impl FnOnce(Arc<Inner>) -> F,
    ) -> Answer<R>
    where
        R: Reports,
        F: Future<Output = (Result<R, Diagnostics>, Diagnostics)> + Send + 'static,
    {
        static REQUESTS: AtomicU64 = AtomicU64::new(1);
        let request = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let span = tracing::error_span!(
            "rpc",
            tf_rpc = rpc,
            tf_resource_type = (!subject.is_empty()).then_some(subject.as_str()),
            tf_req_id = format!("{}-{request}", std::process::id()),
            tf_provider_addr = self.0.address,
        );
        let started = Instant::now();
        span.in_scope(|| tracing::debug!("request received"));
        let task = tokio::spawn(handle(Arc::clone(&self.0)).instrument(span.clone()));
        let (answer, mut told) = match task.await {
            Ok(outcome) => outcome,
            Err(err) if err.is_panic() => (Err(panicked(rpc).into()), Diagnostics::new()),
            // Only a runtime that is being shut down cancels our tasks.
            Err(_) => return Err(Status::unavailable("the provider is shutting down")),
        };
        let mut response = answer.unwrap_or_else(|errors| {
            let unexplained = !errors.has_errors() && !told.has_errors();
            told.extend(errors);
            if unexplained {
                told.push(failed_without_a_word(rpc));
            }
            R::default()
        });
        span.in_scope(|| {
            let errors = told.iter().filter(|diagnostic| diagnostic.is_error()).count();
            tracing::debug!(
                diagnostic_error_count = errors,
                diagnostic_warning_count = told.len() - errors,
                tf_req_duration_ms = started.elapsed().as_millis() as u64,
                "request answered"
            );
        });
        response.report(told);
        Ok(Response::new(response))
    }
}

fn panicked(rpc: &str) -> Diagnostic {
    let detail = format!(
        "The provider panicked while it handled `{rpc}`; where and why is on its standard error, \
         which `TF_LOG=debug` shows. The provider goes on with other requests.\n\n\
         This is a bug in the provider; please report it. If an object was being changed, check \
         what became of it before you try again."
    );
    Diagnostic::error("The provider failed unexpectedly", detail)
}

fn failed_without_a_word(rpc: &str) -> Diagnostic {
    let detail = format!(
        "The provider reported a failure of `{rpc}` but no reason for it. This is a bug in the \
         provider; please report it."
    );
    Diagnostic::error("The provider failed without a reason", detail)
}
