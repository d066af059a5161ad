//! Plan, apply, read and import in the order in which core calls them.

use super::compatible::contradictions;
use super::proposed::proposed;
use super::valid::plan_problems;
use super::{Action, Core, Failure, Outcome, PlanOutcome, State, wire};
use crate::diagnostic::Diagnostics;
use crate::dynamic;
use crate::path::{AttributePath, Step};
use crate::private::Private;
use crate::proto::tfplugin6 as proto;
use crate::value::{Data, Type, Value};

/// One answer to a request to plan.
struct Planned {
    state: Value,
    private: Private,
    identity: Option<Value>,
    requires_replace: Vec<AttributePath>,
    diagnostics: Diagnostics,
}

/// What a plan starts from.
struct Before {
    value: Value,
    private: Private,
    identity: Option<Value>,
}

impl Before {
    fn nothing() -> Self {
        Self { value: Value::Null, private: Private::default(), identity: None }
    }

    fn of(state: Option<&State>) -> Self {
        match state {
            Some(State { value, private, identity, .. }) => {
                Self { value: value.clone(), private: private.clone(), identity: identity.clone() }
            }
            None => Self::nothing(),
        }
    }
}

impl Core {
    /// Plans a configuration over what is stored. A replacement is planned twice, as core does.
    pub async fn plan(
        &self,
        ty: &str,
        config: &Value,
        prior: Option<&State>,
    ) -> Result<PlanOutcome, Failure> {
        self.validate(ty, config).await?;
        let Some(prior) = prior else {
            let planned = self.plan_once(ty, config, &Before::nothing(), &[]).await?;
            return Ok(planned.outcome(Action::Create, Vec::new()));
        };
        if prior.tainted {
            // The object is to go, so core plans as if there were none, and without its private
            // state: that never reaches the delete.
            let planned = self.plan_once(ty, config, &Before::nothing(), &[]).await?;
            return Ok(planned.outcome(Action::Replace, Vec::new()));
        }
        let first = self.plan_once(ty, config, &Before::of(Some(prior)), &[]).await?;
        let counting = counting_paths(&first, &prior.value)?;
        if !counting.is_empty() {
            let before = Before { private: first.private.clone(), ..Before::nothing() };
            let second = self.plan_once(ty, config, &before, &[]).await?;
            let outcome = second.outcome(Action::Replace, counting);
            // What the second answer warns of is not shown.
            return Ok(PlanOutcome { diagnostics: first.diagnostics, ..outcome });
        }
        let unchanged = first.state == prior.value;
        let action = if unchanged { Action::NoOp } else { Action::Update };
        Ok(first.outcome(action, Vec::new()))
    }

    /// Plans what `-replace` asks for: twice, whatever the first answer is.
    pub async fn plan_replacement(
        &self,
        ty: &str,
        config: &Value,
        prior: &State,
    ) -> Result<PlanOutcome, Failure> {
        self.validate(ty, config).await?;
        let first = self.plan_once(ty, config, &Before::of(Some(prior)), &[]).await?;
        let before = Before { private: first.private, ..Before::nothing() };
        let second = self.plan_once(ty, config, &before, &[]).await?;
        // What the second answer warns of is not shown.
        let outcome = second.outcome(Action::Replace, Vec::new());
        Ok(PlanOutcome { diagnostics: first.diagnostics, ..outcome })
    }

    /// Plans the end of an object.
    pub async fn plan_destroy(&self, ty: &str, prior: &State) -> Result<PlanOutcome, Failure> {
        let resource = self.resource(ty)?;
        let null = wire::encode(&Value::Null, resource.value_type())?;
        let request = proto::PlanResourceChangeRequest {
            type_name: ty.to_owned(),
            prior_state: Some(wire::encode(&prior.value, resource.value_type())?),
            proposed_new_state: Some(null.clone()),
            config: Some(null),
            prior_private: prior.private.to_bytes(),
            client_capabilities: self.capabilities(),
            prior_identity: wire::encode_identity(
                prior.identity.as_ref(),
                resource.identity_type(),
            )?,
            planned_private: Vec::new(),
        };
        let answer = wire::answered(self.client().plan_resource_change(request).await)?;
        let diagnostics = wire::accepted(answer.diagnostics, Some(prior.clone()))?;
        let planned = wire::decode(answer.planned_state, resource.value_type())?;
        if !planned.is_null() {
            let problem = "the provider planned a non-null destroy value";
            return Err(broken_plan(ty, &[problem.to_owned()]));
        }
        Ok(PlanOutcome {
            action: Action::Delete,
            planned,
            requires_replace: Vec::new(),
            private: wire::decode_private(&answer.planned_private)?,
            identity: None,
            diagnostics,
        })
    }

    async fn plan_once(
        &self,
        ty: &str,
        config: &Value,
        before: &Before,
        planned_private: &[u8],
    ) -> Result<Planned, Failure> {
        let Before { value: prior, private, identity } = before;
        let resource = self.resource(ty)?;
        let value_type = resource.value_type();
        let config = conformed(config, value_type)?;
        let attributes = resource.schema().attributes();
        let request = proto::PlanResourceChangeRequest {
            type_name: ty.to_owned(),
            prior_state: Some(wire::encode(prior, value_type)?),
            proposed_new_state: Some(wire::encode(
                &proposed(attributes, prior, &config),
                value_type,
            )?),
            config: Some(wire::encode(&config, value_type)?),
            prior_private: private.to_bytes(),
            client_capabilities: self.capabilities(),
            prior_identity: wire::encode_identity(identity.as_ref(), resource.identity_type())?,
            planned_private: planned_private.to_vec(),
        };
        let answer = wire::answered(self.client().plan_resource_change(request).await)?;
        let diagnostics = wire::accepted(answer.diagnostics, None)?;
        let state = wire::decode(answer.planned_state, value_type)?;
        let problems = plan_problems(attributes, prior, &config, &state);
        if !problems.is_empty() {
            return Err(broken_plan(ty, &problems));
        }
        Ok(Planned {
            state,
            private: wire::decode_private(&answer.planned_private)?,
            identity: wire::decode_identity(answer.planned_identity, resource.identity_type())?,
            requires_replace: answer.requires_replace.into_iter().map(wire::path).collect(),
            diagnostics,
        })
    }

    /// Applies a plan, after planning again with what is known by now. `config` may hold more
    /// known values than the plan was made with.
    pub async fn apply(
        &self,
        ty: &str,
        config: &Value,
        prior: Option<&State>,
        plan: &PlanOutcome,
    ) -> Result<Outcome, Failure> {
        match plan.action {
            Action::NoOp => {
                let state = prior.cloned();
                Ok(Outcome { state, diagnostics: Diagnostics::new() })
            }
            Action::Delete => self.delete(ty, prior, plan.private.clone()).await,
            Action::Replace => {
                let deleted = self.delete(ty, prior, plan.private.clone()).await?;
                let mut outcome = self.replan_and_write(ty, config, None, plan).await?;
                let mut diagnostics = deleted.diagnostics;
                diagnostics.extend(outcome.diagnostics);
                outcome.diagnostics = diagnostics;
                Ok(outcome)
            }
            Action::Create | Action::Update => self.replan_and_write(ty, config, prior, plan).await,
        }
    }

    async fn replan_and_write(
        &self,
        ty: &str,
        config: &Value,
        prior: Option<&State>,
        plan: &PlanOutcome,
    ) -> Result<Outcome, Failure> {
        let before = Before::of(prior);
        // What could not be planned again is not written, and stays stored as it was.
        let again = self.plan_once(ty, config, &before, &self.handed_over(plan)).await;
        let again = again.map_err(|failure| failure.keeping(prior))?;
        let before = before.value;
        let problems = contradictions(&plan.planned, &again.state);
        if !problems.is_empty() {
            let problems = problems.join("\n");
            return Err(Failure::Broken(format!(
                "Provider produced inconsistent final plan\n\nWhen expanding the plan for {ty} to \
                 include new values learned so far during apply, the provider produced an invalid \
                 new value:\n{problems}"
            )));
        }
        if prior.is_some() && !counting_paths(&again, &before)?.is_empty() {
            return Err(Failure::Broken(format!(
                "Provider produced inconsistent final plan\n\nWhen expanding the plan for {ty}, \
                 the provider changed the planned action from Update to DeleteThenCreate."
            )));
        }
        if again.state == before {
            // The action may weaken to nothing once everything is known.
            return Ok(Outcome { state: prior.cloned(), diagnostics: again.diagnostics });
        }
        // What the second plan says is shown with what the write says.
        let mut diagnostics = again.diagnostics.clone();
        let mut outcome = self.write(ty, config, prior, again).await?;
        diagnostics.extend(outcome.diagnostics);
        outcome.diagnostics = diagnostics;
        Ok(outcome)
    }

    /// What the plan returned, for a client that brings it back. Such a client never gets none.
    fn handed_over(&self, plan: &PlanOutcome) -> Vec<u8> {
        match self.capabilities.store_planned_private {
            true if plan.private.is_empty() => b"{}".to_vec(),
            true => plan.private.to_bytes(),
            false => Vec::new(),
        }
    }

    async fn write(
        &self,
        ty: &str,
        config: &Value,
        prior: Option<&State>,
        planned: Planned,
    ) -> Result<Outcome, Failure> {
        let resource = self.resource(ty)?;
        let value_type = resource.value_type();
        let before = prior.map_or(Value::Null, |prior| prior.value.clone());
        let request = proto::ApplyResourceChangeRequest {
            type_name: ty.to_owned(),
            prior_state: Some(wire::encode(&before, value_type)?),
            planned_state: Some(wire::encode(&planned.state, value_type)?),
            config: Some(wire::encode(config, value_type)?),
            planned_private: planned.private.to_bytes(),
            planned_identity: wire::encode_identity(
                planned.identity.as_ref(),
                resource.identity_type(),
            )?,
        };
        let answer = wire::answered(self.client().apply_resource_change(request).await)?;
        let value = wire::decode(answer.new_state, value_type)?;
        let failed = wire::diagnostics(answer.diagnostics.clone()).has_errors();
        let state = if value.is_null() {
            prior.filter(|_| failed).cloned()
        } else {
            Some(State {
                private: wire::decode_private(&answer.private)?,
                identity: wire::decode_identity(answer.new_identity, resource.identity_type())?,
                tainted: failed && prior.is_none(),
                value,
            })
        };
        let diagnostics = wire::accepted(answer.diagnostics, state.clone())?;
        let Some(state) = state else {
            return Err(inconsistent(ty, &[".: was present, but now absent".to_owned()]));
        };
        if !state.value.is_wholly_known() {
            return Err(Failure::Broken(format!(
                "Provider returned invalid result object after apply\n\nAfter the apply operation, \
                 the provider still indicated an unknown value for {ty}."
            )));
        }
        let problems = contradictions(&planned.state, &state.value);
        if !problems.is_empty() {
            return Err(inconsistent(ty, &problems));
        }
        Ok(Outcome { state: Some(state), diagnostics })
    }

    async fn delete(
        &self,
        ty: &str,
        prior: Option<&State>,
        private: Private,
    ) -> Result<Outcome, Failure> {
        let Some(prior) = prior else {
            return Err(Failure::Broken("the test deletes what is not there".to_owned()));
        };
        let resource = self.resource(ty)?;
        let null = wire::encode(&Value::Null, resource.value_type())?;
        let request = proto::ApplyResourceChangeRequest {
            type_name: ty.to_owned(),
            prior_state: Some(wire::encode(&prior.value, resource.value_type())?),
            planned_state: Some(null.clone()),
            config: Some(null),
            planned_private: private.to_bytes(),
            planned_identity: None,
        };
        let answer = wire::answered(self.client().apply_resource_change(request).await)?;
        let diagnostics = wire::accepted(answer.diagnostics, Some(prior.clone()))?;
        if !wire::decode(answer.new_state, resource.value_type())?.is_null() {
            return Err(inconsistent(ty, &[".: was absent, but now present".to_owned()]));
        }
        Ok(Outcome { state: None, diagnostics })
    }

    /// Upgrades stored state, as JSON of a schema version, as happens before every read.
    pub async fn upgrade(&self, ty: &str, version: i64, json: &str) -> Result<Value, Failure> {
        let raw = proto::RawState { json: json.as_bytes().to_vec(), flatmap: Default::default() };
        let request = proto::UpgradeRequest { type_name: ty.to_owned(), version, raw: Some(raw) };
        let answer = wire::answered(self.client().upgrade_resource_state(request).await)?;
        wire::accepted(answer.diagnostics, None)?;
        wire::decode(answer.upgraded_state, self.resource(ty)?.value_type())
    }

    /// Reads an object out of what is stored about it, through the state file's form.
    pub async fn read(&self, ty: &str, state: &State) -> Result<Outcome, Failure> {
        let resource = self.resource(ty)?;
        let value_type = resource.value_type();
        let json = dynamic::to_json(state.value.clone(), value_type)
            .map_err(|mismatch| Failure::Broken(mismatch.to_string()))?;
        let value = self.upgrade(ty, resource.schema().version(), &json).await?;
        let request = proto::ReadResourceRequest {
            type_name: ty.to_owned(),
            current_state: Some(wire::encode(&value, value_type)?),
            private: state.private.to_bytes(),
            client_capabilities: self.capabilities(),
            current_identity: wire::encode_identity(
                state.identity.as_ref(),
                resource.identity_type(),
            )?,
        };
        let answer = wire::answered(self.client().read_resource(request).await)?;
        let diagnostics = wire::accepted(answer.diagnostics, Some(state.clone()))?;
        let value = wire::decode(answer.new_state, value_type)?;
        if !value.is_wholly_known() {
            return Err(Failure::Broken(format!(
                "Provider produced invalid object\n\nThe provider returned a value for {ty} with \
                 unknown values after a refresh."
            )));
        }
        let state = if value.is_null() {
            None
        } else {
            Some(State {
                value,
                private: wire::decode_private(&answer.private)?,
                identity: wire::decode_identity(answer.new_identity, resource.identity_type())?,
                tainted: state.tainted,
            })
        };
        Ok(Outcome { state, diagnostics })
    }

    /// Imports an object by its id and reads it.
    pub async fn import(&self, ty: &str, id: &str) -> Result<State, Failure> {
        self.import_request(ty, id.to_owned(), None).await
    }

    /// Imports an object by its identity and reads it.
    pub async fn import_by_identity(&self, ty: &str, identity: &Value) -> Result<State, Failure> {
        self.import_request(ty, String::new(), Some(identity)).await
    }

    async fn import_request(
        &self,
        ty: &str,
        id: String,
        identity: Option<&Value>,
    ) -> Result<State, Failure> {
        let resource = self.resource(ty)?;
        let request = proto::ImportResourceStateRequest {
            type_name: ty.to_owned(),
            id,
            client_capabilities: self.capabilities(),
            identity: wire::encode_identity(identity, resource.identity_type())?,
        };
        let answer = wire::answered(self.client().import_resource_state(request).await)?;
        wire::accepted(answer.diagnostics, None)?;
        let Some(imported) = answer.imported_resources.into_iter().next() else {
            return Err(Failure::Broken("Import returned no resources".to_owned()));
        };
        let state = State {
            value: wire::decode(imported.state, resource.value_type())?,
            private: wire::decode_private(&imported.private)?,
            identity: wire::decode_identity(imported.identity, resource.identity_type())?,
            tainted: false,
        };
        let read = self.read(ty, &state).await?;
        read.state
            .ok_or_else(|| Failure::Broken("Cannot import non-existent remote object".to_owned()))
    }
}

impl Planned {
    fn outcome(self, action: Action, requires_replace: Vec<AttributePath>) -> PlanOutcome {
        PlanOutcome {
            action,
            planned: self.state,
            requires_replace,
            private: self.private,
            identity: self.identity,
            diagnostics: self.diagnostics,
        }
    }
}

fn conformed(value: &Value, ty: &Type) -> Result<Value, Failure> {
    let conformed = value.clone().conform(ty);
    conformed.map_err(|mismatch| Failure::Broken(format!("the test's own value: {mismatch}")))
}

fn broken_plan(ty: &str, problems: &[String]) -> Failure {
    let problems = problems.join("\n");
    Failure::Broken(format!(
        "Provider produced invalid plan\n\nThe provider planned an invalid value for {ty}:\n{problems}"
    ))
}

fn inconsistent(ty: &str, problems: &[String]) -> Failure {
    let problems = problems.join("\n");
    Failure::Broken(format!(
        "Provider produced inconsistent result after apply\n\nWhen applying changes to {ty}, the \
         provider produced an unexpected new value:\n{problems}"
    ))
}

/// The paths that force a replacement: those whose value changes. The others are dropped in
/// silence, and a path that is in neither value is a mistake.
fn counting_paths(planned: &Planned, prior: &Value) -> Result<Vec<AttributePath>, Failure> {
    let mut counting = Vec::new();
    for path in &planned.requires_replace {
        match (value_at(prior, path), value_at(&planned.state, path)) {
            (None, None) => {
                return Err(Failure::Broken(format!(
                    "Provider produced invalid plan\n\nThe provider indicated an invalid path for \
                     replacement: .{path}"
                )));
            }
            (before, after) if before != after || after.is_some_and(Value::is_unknown) => {
                counting.push(path.clone());
            }
            _ => {}
        }
    }
    Ok(counting)
}

fn value_at<'a>(value: &'a Value, path: &AttributePath) -> Option<&'a Value> {
    path.steps().iter().try_fold(value, |value, step| match (value.known()?, step) {
        (Data::Object(attributes), Step::Attribute(name)) => attributes.get(name),
        (Data::Map(entries), Step::Key(key)) => entries.get(key),
        (Data::List(items) | Data::Tuple(items), Step::Index(index)) => {
            items.get(usize::try_from(*index).ok()?)
        }
        _ => None,
    })
}
