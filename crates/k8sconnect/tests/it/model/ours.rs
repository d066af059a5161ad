//! Stories of an object that is ours: created, changed, left to others in parts, adopted, destroyed.

use std::collections::BTreeSet;

use tfplugin::harness::{Action, State};
use tfplugin::{Data, Diagnostics, Value};

use super::server::{Conflicts, Fields, LEAVES, Leaf, Server};
use super::{Story, Whose};
use crate::patch::{refused, said};
use crate::world::{OBJECT, World};

const US: &str = "k8sconnect";

/// What the user wrote last, and what is stored of it.
#[derive(Clone)]
struct Ours {
    state: State,
    body: Fields,
    ignored: BTreeSet<Leaf>,
}

pub(super) async fn tell(world: &World, seed: u64, steps: usize) {
    let mut story = Story::new(world, "ours", seed);
    let mut ours: Option<Ours> = None;
    for _ in 0..steps {
        match story.rng.u8(..20) {
            0..8 => ours = Some(story.we_apply(ours).await),
            8..11 => {
                if let Some(had) = ours.take() {
                    ours = Some(story.we_repeat(had).await);
                }
            }
            11..14 => story.they_apply().await,
            14..18 => story.they_edit().await,
            18 => {
                if let Some(had) = ours.take() {
                    story.we_destroy(&had).await;
                }
            }
            _ => {
                story.tell("somebody deletes it".into());
                story.world.cluster.delete(&story.target()).await.unwrap();
                story.model = None;
                story.whose = Whose::Theirs;
            }
        }
        story.agrees().await;
    }
}

impl Story<'_> {
    async fn we_apply(&mut self, ours: Option<Ours>) -> Ours {
        let body = self.some_fields();
        let ignored = self.some_of(&LEAVES[1..], 0.2).into_iter().collect();
        self.tell(format!("we apply {body:?}, ignoring {ignored:?}"));
        self.we_write(ours.map(|ours| ours.state), body, ignored).await
    }

    /// The same configuration again: whatever others did to it is set back, and nothing else.
    async fn we_repeat(&mut self, had: Ours) -> Ours {
        self.tell(format!("we apply again {:?}, ignoring {:?}", had.body, had.ignored));
        self.we_write(Some(had.state), had.body, had.ignored).await
    }

    async fn we_destroy(&mut self, had: &Ours) {
        self.tell("we destroy it".into());
        self.world.core().destroy(OBJECT, &had.state).await.unwrap();
        // A namesake that others have made since is not ours to delete.
        if std::mem::replace(&mut self.whose, Whose::Theirs) == Whose::Ours {
            self.model = None;
        }
    }

    fn config(&self, body: &Fields, ignored: &BTreeSet<Leaf>, adopt: bool) -> Value {
        let patterns = ignored.iter().map(|leaf| Value::from(leaf.pattern().as_str())).collect();
        self.world.config_with([
            ("yaml_body", Value::from(self.body(body).to_string().as_str())),
            ("ignore_fields", Value::Known(Data::List(patterns))),
            ("adopt", Value::from(adopt)),
        ])
    }

    async fn we_write(
        &mut self,
        state: Option<State>,
        body: Fields,
        ignored: BTreeSet<Leaf>,
    ) -> Ours {
        let core = self.world.core();
        let prior = match &state {
            Some(state) => core.read(OBJECT, state).await.unwrap().state,
            None => None,
        };
        let before = self.model.clone().unwrap_or_default();
        let foreign = prior.is_none() && self.model.is_some();
        let config = self.config(&body, &ignored, foreign);
        if foreign {
            let timid = self.config(&body, &ignored, false);
            let said = refused(core.plan(OBJECT, &timid, None).await);
            assert!(said.contains("adopt"), "{said}\n{}", self.so_far());
        }
        // Of an object that is there, be it ours or adopted, what is ignored is left alone.
        let sent = match self.model.is_some() {
            true => before.sent(&body, &ignored),
            false => body.clone(),
        };
        let mut after = before.clone();
        after.apply(US, &sent, Conflicts::Force);
        let plan = core.plan(OBJECT, &config, prior.as_ref()).await;
        if let (Err(failure), Some(prior)) = (&plan, &prior)
            && said(&failure.diagnostics())
                .contains("cannot combine the change with its other fields")
        {
            self.tell("  which the server cannot do".into());
            return Ours { state: prior.clone(), body, ignored };
        }
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        self.tell(format!("  planned as {:?}", plan.action));
        if plan.action == Action::NoOp {
            // Who took a field and gave it the value that it had keeps it: nothing would change.
            let (before, after) = (before.without(&ignored), after.without(&ignored));
            assert_eq!(before, after, "an edit is swallowed\n{}", self.so_far());
            return Ours { state: prior.unwrap(), body, ignored };
        }
        self.told_of(&before, &sent, &plan.diagnostics);
        let applied = self.world.core().apply(OBJECT, &config, prior.as_ref(), &plan).await;
        let applied = applied.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        let state = applied.present().unwrap();
        self.model = Some(after);
        self.whose = Whose::Ours;
        self.agrees().await;
        // Adopted is adopted: the word may stay.
        let core = self.world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let again = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
        let shown = said(&again.diagnostics);
        assert_eq!(again.action, Action::NoOp, "{shown}\n{:#?}\n{}", again.planned, self.so_far());
        Ours { state, body, ignored }
    }

    /// Everyone from whom something is taken is named in the plan.
    fn told_of(&self, before: &Server, sent: &Fields, diagnostics: &Diagnostics) {
        let said = said(diagnostics);
        for (leaf, losers) in before.contested(US, sent) {
            for loser in losers {
                let name = format!("`{loser}`");
                assert!(said.contains(&name), "{leaf:?} of {name}: {said}\n{}", self.so_far());
            }
        }
    }
}

impl Server {
    /// What is sent of a body of which parts are left to others.
    fn sent(&self, body: &Fields, ignored: &BTreeSet<Leaf>) -> Fields {
        let ours = (US.to_owned(), "Apply");
        let mut sent = body.clone();
        // A list item that is gone is sent as it was written, unless it is ignored itself.
        let returns = |leaf: Leaf| matches!(leaf, Leaf::Bed(_)) && self.lacks_item(leaf);
        sent.retain(|leaf, _| !ignored.contains(leaf) || returns(*leaf));
        // What nobody else holds would go if we let go of it.
        let alone = ignored.iter().filter(|leaf| self.holders(**leaf) == [&ours].into());
        sent.extend(alone.map(|leaf| (*leaf, self.values[leaf])));
        sent
    }

    fn without(mut self, ignored: &BTreeSet<Leaf>) -> Fields {
        self.values.retain(|leaf, _| !ignored.contains(leaf));
        self.values
    }
}
