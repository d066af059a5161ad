//! Stories of two patches that mean the same fields by turns and in any form: whichever takes one over
//! ends the other, which may take it back, while others write the same fields. In the end everything is with whom it was
//! taken from, and nothing of either patch is left.

use super::Story;
use super::patched::{Form, GONE, Made};
use super::server::{Fields, LEAVES, Leaf};
use crate::world::World;

pub(super) async fn tell(world: &World, seed: u64, steps: usize) {
    let mut story = Story::new(world, "turns", seed);
    story.helm_makes_it(world).await;
    let (mut one, mut two): (Option<Made>, Option<Made>) = (None, None);
    for _ in 0..steps {
        let (made, other) = match story.rng.bool() {
            true => (&mut one, &mut two),
            false => (&mut two, &mut one),
        };
        match story.rng.u8(..12) {
            0..7 => story.we_take(made, other).await,
            7 => story.we_unpatch(made).await,
            8 => story.we_look(made).await,
            9..11 => story.they_apply().await,
            _ => story.they_edit().await,
        }
        story.agrees().await;
    }
    for made in [&mut one, &mut two] {
        story.we_unpatch(made).await;
        story.agrees().await;
    }
    let left = story.live().await.unwrap()["metadata"].to_string();
    assert!(!left.contains("k8sconnect"), "{left}\n{}", story.so_far());
}

impl Story<'_> {
    async fn we_take(&mut self, made: &mut Option<Made>, other: &mut Option<Made>) {
        let form = self.some_form();
        let fields = self.fields_for(form);
        match made {
            Some(_) => self.we_change(made, form, fields, other).await,
            None => *made = Some(self.we_patch(form, fields, other).await),
        }
    }

    fn fields_for(&mut self, form: Form) -> Fields {
        let all: Vec<_> = LEAVES.into_iter().filter(|leaf| form.reaches(*leaf)).collect();
        let least = *self.rng.choice(&[Leaf::Title, Leaf::Walled, Leaf::Seal]).unwrap();
        let mut fields: Fields = [(least, self.rng.u8(..least.choices()))].into();
        for leaf in self.some_of(&all, 0.4) {
            fields.insert(leaf, self.rng.u8(..leaf.choices()));
        }
        for (leaf, choice) in &mut fields {
            if form.removes(*leaf) && self.rng.f64() < 0.3 {
                *choice = GONE;
            }
        }
        fields
    }
}
