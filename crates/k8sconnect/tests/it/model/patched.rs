//! Stories of an object of others that two patches of ours change, each in a form of its own: every
//! field goes back to whom it was taken from, whether its patch ends or only lets go of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use tfplugin::Value;
use tfplugin::harness::{Action, PlanOutcome, State};

use super::Story;
use super::server::{Conflicts, Fields, LEAVES, Leaf, Manager, Server, spec};
use crate::patch::{PATCH, configuration, id, said};
use crate::world::World;

/// What a patch wants of a field that it takes away.
pub(super) const GONE: u8 = u8::MAX;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Apply,
    Merge,
    Json,
}

impl Form {
    fn attribute(self) -> &'static str {
        match self {
            Self::Apply => "patch",
            Self::Merge => "merge_patch",
            Self::Json => "json_patch",
        }
    }

    /// Whether it can take a field away, and nothing with it.
    pub(super) fn removes(self, leaf: Leaf) -> bool {
        self != Self::Apply && matches!(leaf, Leaf::Title | Leaf::Walled)
    }

    /// A merge patch writes lists as a whole, and an operation needs the map that it adds to.
    pub(super) fn reaches(self, leaf: Leaf) -> bool {
        match leaf {
            Leaf::Area => false,
            Leaf::Tag(_) | Leaf::Bed(_) => self == Self::Apply,
            Leaf::Label(_) => self != Self::Json,
            Leaf::Title | Leaf::Walled | Leaf::Seal => true,
        }
    }

    fn text(self, fields: &Fields) -> String {
        let (gone, set): (Fields, Fields) = fields.iter().partition(|(_, choice)| **choice == GONE);
        let mut spec = spec(&set);
        match self {
            Self::Apply | Self::Merge => {
                gone.keys().for_each(|leaf| spec[leaf.name()] = Json::Null);
                json!({"spec": spec}).to_string()
            }
            Self::Json => {
                let at = |name: &str| format!("/spec/{name}");
                let remove = |leaf: &Leaf| json!({"op": "remove", "path": at(leaf.name())});
                let add = |(name, value): (&String, &Json)| json!({"op": "add", "path": at(name), "value": value});
                let set = spec.as_object().unwrap().iter().map(add);
                json!(gone.keys().map(remove).chain(set).collect::<Vec<_>>()).to_string()
            }
        }
    }

    /// What a server does with it.
    fn write(self, model: &mut Server, who: &Manager, fields: &Fields) {
        match self {
            Self::Apply => drop(model.apply(&who.0, fields, Conflicts::Force)),
            Self::Merge | Self::Json => {
                let wanted = |choice: &u8| (*choice != GONE).then_some(*choice);
                let all = fields.iter().map(|(leaf, choice)| (*leaf, wanted(choice))).collect();
                model.update(&who.0, &all);
            }
        }
    }
}

/// A patch that was applied.
pub(super) struct Made {
    state: State,
    form: Form,
    fields: Fields,
    standing: Standing,
    /// What others have lost by it.
    former: Held,
    /// Who held its fields before it did.
    first: Held,
    /// Who held what right after it was last written.
    then: Held,
}

/// Whether a patch is there, or another one took over what it held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Stands,
    Ended,
}

type Held = BTreeMap<Manager, BTreeSet<Leaf>>;

impl Made {
    /// Under which it writes in a form. One that was written in several may hold fields under both.
    fn manager(&self, form: Form) -> Manager {
        let operation = if form == Form::Apply { "Apply" } else { "Update" };
        (format!("k8sconnect-patch-{}", id(&self.state)), operation)
    }

    fn managers(&self) -> [Manager; 2] {
        [self.manager(Form::Apply), self.manager(Form::Merge)]
    }

    fn hand_back(&self, model: &mut Server, leaving: impl Fn(&Leaf) -> bool) {
        for manager in self.managers() {
            model.hand_back(&manager, &leaving, &self.former);
        }
    }
}

pub(super) async fn tell(world: &World, seed: u64, steps: usize) {
    let mut story = Story::new(world, "patched", seed);
    story.helm_makes_it(world).await;
    let mut made: [Option<Made>; 2] = [None, None];
    for _ in 0..steps {
        let which = story.rng.usize(..2);
        match story.rng.u8(..12) {
            0..5 if made[which].is_none() => {
                let form = story.some_form();
                let fields = story.patched_fields(which, form);
                made[which] = Some(story.we_patch(form, fields, &mut None).await);
            }
            0..2 => story.we_unpatch(&mut made[which]).await,
            2..5 => story.we_look(&mut made[which]).await,
            5..7 => {
                if let Some(form) = made[which].as_ref().map(|made| made.form) {
                    let fields = story.patched_fields(which, form);
                    story.we_change(&mut made[which], form, fields, &mut None).await;
                }
            }
            7..9 => story.they_apply().await,
            _ => story.they_edit().await,
        }
        story.agrees().await;
    }
    for one in &mut made {
        story.we_unpatch(one).await;
        story.agrees().await;
    }
}

impl Story<'_> {
    /// The object of somebody else that patches are about, with everything in it.
    pub(super) async fn helm_makes_it(&mut self, world: &World) {
        let whole: Fields = LEAVES.into_iter().map(|leaf| (leaf, 0)).collect();
        self.tell("helm makes it".into());
        world.cluster.act_as("helm").apply(self.body(&whole)).await.unwrap();
        let mut model = Server::default();
        model.apply("helm", &whole, Conflicts::Force);
        self.model = Some(model);
    }

    fn patch_config(&self, form: Form, fields: &Fields) -> Value {
        let text = form.text(fields);
        let adopt = [("adopt", Value::from(true))];
        configuration(self.world.kubeconfig(), &self.target(), form.attribute(), &text, &adopt)
    }

    pub(super) fn some_form(&mut self) -> Form {
        *self.rng.choice(&[Form::Apply, Form::Merge, Form::Json]).unwrap()
    }

    /// Each of the patches has fields of its own: two that share one are refused.
    fn patched_fields(&mut self, which: usize, form: Form) -> Fields {
        let own = LEAVES.into_iter().skip(1 + which).step_by(2);
        let own: Vec<_> = own.filter(|leaf| form.reaches(*leaf)).collect();
        let mut fields: Fields = [(own[0], self.rng.u8(..own[0].choices()))].into();
        for leaf in self.some_of(&own, 0.5) {
            fields.insert(leaf, self.rng.u8(..leaf.choices()));
        }
        fields
    }

    /// What the other patch has of the same goes to this one.
    pub(super) async fn we_patch(
        &mut self,
        form: Form,
        fields: Fields,
        other: &mut Option<Made>,
    ) -> Made {
        self.tell(format!("we patch {fields:?} by {form:?}"));
        let applied = self.applied(form, &fields, None).await;
        let (state, _) = applied.expect("a creation changes something");
        let nobody = Held::new();
        let (former, then, first) = (nobody.clone(), nobody.clone(), nobody);
        let standing = Standing::Stands;
        let mut made = Made { state, form, fields, standing, former, then, first };
        self.we_end(other, &made.fields);
        let before = self.model.clone().unwrap();
        let mut after = before.clone();
        form.write(&mut after, &made.manager(form), &made.fields);
        made.former = after.lost_since(&before);
        made.first = before.owners.clone();
        made.then = after.owners.clone();
        self.model = Some(after);
        let mut made = Some(made);
        self.we_look(&mut made).await;
        made.unwrap()
    }

    /// Fields join the patch and leave it. Who took one from the patch in between is no former owner;
    /// who held it before the patch and beside it, and has it no longer, is.
    pub(super) async fn we_change(
        &mut self,
        made: &mut Option<Made>,
        form: Form,
        fields: Fields,
        other: &mut Option<Made>,
    ) {
        let Some(had) = made.take() else { return };
        self.tell(format!("we change the patch {:?} to {fields:?} by {form:?}", had.fields));
        let Some((state, told)) = self.applied(form, &fields, Some(&had.state)).await else {
            assert_eq!(fields, had.fields, "{}", self.so_far());
            *made = Some(had);
            return;
        };
        self.we_end(other, &fields);
        let mut after = self.model.clone().unwrap();
        had.hand_back(&mut after, |leaf| !fields.contains_key(leaf));
        let before = after.clone();
        if had.standing == Standing::Stands {
            let leaving = had.fields.keys().filter(|leaf| !fields.contains_key(leaf));
            self.was_told(leaving, &told, &before);
        }
        form.write(&mut after, &had.manager(form), &fields);
        let mut former = had.former.clone();
        former.values_mut().for_each(|lost| lost.retain(|leaf| fields.contains_key(leaf)));
        let mut lost = after.lost_since(&before);
        lost.retain(|who, _| !had.managers().contains(who));
        let mut first = had.first.clone();
        first.values_mut().for_each(|held| held.retain(|leaf| fields.contains_key(leaf)));
        for leaf in fields.keys() {
            let losers = lost.iter().filter(|(_, lost)| lost.contains(leaf)).map(|(who, _)| who);
            let losers: BTreeSet<_> = losers.cloned().collect();
            let robbed: BTreeSet<_> = match had.fields.contains_key(leaf) {
                false => losers,
                true if losers.is_empty() => losers,
                true => {
                    let held = |who: &&Manager| {
                        let has = |held: &Held| held.get(*who).is_some_and(|it| it.contains(leaf));
                        has(&had.first) && has(&had.then) && !has(&after.owners)
                    };
                    had.first.keys().filter(held).cloned().collect()
                }
            };
            if !had.fields.contains_key(leaf) {
                for who in before.holders(*leaf) {
                    first.entry(who.clone()).or_default().insert(*leaf);
                }
            }
            for who in robbed {
                former.entry(who).or_default().insert(*leaf);
            }
        }
        let then = after.owners.clone();
        self.model = Some(after);
        let standing = Standing::Stands;
        *made = Some(Made { state, form, fields, standing, former, then, first });
        self.agrees().await;
        self.we_look(made).await;
    }

    /// A patch that takes over what another one means ends that: all of it goes back, as if it had been
    /// destroyed, though state still has it.
    fn we_end(&mut self, other: &mut Option<Made>, fields: &Fields) {
        let meets = |other: &&mut Made| {
            other.standing == Standing::Stands
                && other.fields.keys().any(|leaf| fields.contains_key(leaf))
        };
        if let Some(other) = other.as_mut().filter(meets) {
            self.tell(format!("  which ends the other, {:?}", other.fields));
            other.standing = Standing::Ended;
            other.hand_back(self.model.as_mut().unwrap(), |_| true);
        }
    }

    /// `None` where no value would change, and nothing is written: not even of a field that is held
    /// by somebody else meanwhile and has the value that we want.
    async fn applied(
        &self,
        form: Form,
        fields: &Fields,
        prior: Option<&State>,
    ) -> Option<(State, Vec<String>)> {
        let config = self.patch_config(form, fields);
        let core = self.world.core();
        let prior = match prior {
            Some(state) => Some(core.read(PATCH, state).await.unwrap().present().unwrap()),
            None => None,
        };
        let plan = core.plan(PATCH, &config, prior.as_ref()).await;
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        if plan.action == Action::NoOp {
            return None;
        }
        let applied = self.world.core().apply(PATCH, &config, prior.as_ref(), &plan).await;
        let applied = applied.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        Some((applied.present().unwrap(), lines(&plan)))
    }

    /// A plan of what stands as we left it is empty; of what others changed it is not.
    pub(super) async fn we_look(&mut self, made: &mut Option<Made>) {
        let stands = |made: &&mut Made| made.standing == Standing::Stands;
        let Some(made) = made.as_mut().filter(stands) else { return };
        let core = self.world.core();
        let read = core.read(PATCH, &made.state).await.unwrap().present().unwrap();
        let config = self.patch_config(made.form, &made.fields);
        let plan = core.plan(PATCH, &config, Some(&read)).await;
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        let values = &self.model.as_ref().unwrap().values;
        let stands = |(leaf, choice): (&Leaf, &u8)| *choice == *values.get(leaf).unwrap_or(&GONE);
        let stands = made.fields.iter().all(stands);
        let shown = said(&plan.diagnostics);
        match stands {
            true => assert_eq!(plan.action, Action::NoOp, "{shown}\n{}", self.so_far()),
            false => assert_eq!(plan.action, Action::Update, "{shown}\n{}", self.so_far()),
        }
    }

    pub(super) async fn we_unpatch(&mut self, made: &mut Option<Made>) {
        let Some(made) = made.take() else { return };
        self.tell(format!("we destroy the patch {:?}", made.fields));
        let core = self.world.core();
        let read = core.read(PATCH, &made.state).await.unwrap().present().unwrap();
        let plan = core.plan_destroy(PATCH, &read).await.unwrap();
        self.world.core().destroy(PATCH, &read).await.unwrap();
        made.hand_back(self.model.as_mut().unwrap(), |_| true);
        let model = self.model.as_ref().unwrap();
        self.was_told(made.fields.keys(), &lines(&plan), model);
    }

    /// What the plan said of fields that go back is what became of them.
    fn was_told<'a>(
        &self,
        leaves: impl Iterator<Item = &'a Leaf>,
        told: &[String],
        model: &Server,
    ) {
        for leaf in leaves.filter(|leaf| matches!(leaf, Leaf::Title | Leaf::Walled)) {
            let path = format!("  {} ", leaf.pattern());
            let line = told.iter().find_map(|line| line.strip_prefix(&path)).unwrap_or("(nothing)");
            let holders = model.holders(*leaf);
            let right = match (model.values.contains_key(leaf), holders.is_empty()) {
                (false, _) => line == "stays absent",
                (true, true) => line == "stays as it is, held by nobody",
                (true, false) => {
                    let names = line.matches("` (").count();
                    let named = |who: &&Manager| line.contains(&format!("`{}` ({}", who.0, who.1));
                    holders.iter().all(named) && names == holders.len()
                }
            };
            assert!(right, "{leaf:?} {line}, and is held by {holders:?}\n{}", self.so_far());
        }
    }
}

fn lines(plan: &PlanOutcome) -> Vec<String> {
    let details = plan.diagnostics.iter().flat_map(|one| one.detail.lines());
    details.map(ToOwned::to_owned).collect()
}
