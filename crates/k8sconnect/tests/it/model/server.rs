//! What a server does with fields that several managers write, as simply as it can be said: every
//! leaf has a value and a set of owners, and no leaf knows of another.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use testkit::owners::owners;

/// A field of a garden, of each sort that is merged in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaf {
    /// Whoever applies writes it: without it the kind refuses the object.
    Area,
    Title,
    Walled,
    Label(&'static str),
    /// A map that is owned as a whole.
    Seal,
    /// A member of a set, which is there or not.
    Tag(&'static str),
    /// A field of an item that is known by its keys.
    Bed(u8),
}

pub(crate) const LEAVES: [Leaf; 10] = [
    Leaf::Area,
    Leaf::Title,
    Leaf::Walled,
    Leaf::Label("x"),
    Leaf::Label("y.z/w"),
    Leaf::Seal,
    Leaf::Tag("p"),
    Leaf::Tag("q"),
    Leaf::Bed(1),
    Leaf::Bed(2),
];

impl Leaf {
    /// How many values it can have.
    pub(crate) fn choices(self) -> u8 {
        match self {
            Self::Area | Self::Tag(_) => 1,
            Self::Walled => 2,
            _ => 3,
        }
    }

    /// As the user writes it in `ignore_fields`.
    pub(crate) fn pattern(self) -> String {
        match self {
            Self::Area => "spec.area".into(),
            Self::Title => "spec.title".into(),
            Self::Walled => "spec.walled".into(),
            Self::Label(name) => format!("spec.labels[{name:?}]"),
            Self::Seal => "spec.seal".into(),
            Self::Tag(name) => format!("spec.tags[={name:?}]"),
            Self::Bed(row) => format!("spec.beds[row={row}].plant"),
        }
    }

    pub(crate) fn value(self, choice: u8) -> Json {
        match self {
            Self::Area => json!(5),
            Self::Walled => json!(choice == 0),
            Self::Title | Self::Label(_) => json!(format!("value {choice}")),
            Self::Seal => json!({"colour": "red", "wax": choice}),
            Self::Tag(name) => json!(name),
            Self::Bed(row) => {
                json!({"row": row, "side": "left", "plant": format!("plant {choice}")})
            }
        }
    }

    /// What it is called in the spec.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Area => "area",
            Self::Title => "title",
            Self::Walled => "walled",
            Self::Label(_) => "labels",
            Self::Seal => "seal",
            Self::Tag(_) => "tags",
            Self::Bed(_) => "beds",
        }
    }

    /// What an object holds of it.
    fn found(self, spec: &Json) -> Option<u8> {
        let value = match self {
            Self::Area => &spec["area"],
            Self::Title => &spec["title"],
            Self::Walled => &spec["walled"],
            Self::Label(name) => &spec["labels"][name],
            Self::Seal => &spec["seal"],
            Self::Tag(name) => {
                let tags = spec["tags"].as_array();
                return tags.is_some_and(|tags| tags.contains(&json!(name))).then_some(0);
            }
            Self::Bed(_) => {
                let beds = spec["beds"].as_array().into_iter().flatten();
                beds.into_iter().find(|bed| self.is_of(bed)).unwrap_or(&Json::Null)
            }
        };
        (0..self.choices()).find(|choice| self.value(*choice) == *value)
    }

    /// The list whose item it is, or is in.
    pub(crate) fn list(self) -> Option<&'static str> {
        match self {
            Self::Tag(_) => Some("tags"),
            Self::Bed(_) => Some("beds"),
            _ => None,
        }
    }

    fn holds_item(self, fields: &Json) -> bool {
        let Self::Bed(row) = self else { return false };
        let item = format!(r#"k:{{"row":{row},"side":"left"}}"#);
        fields["f:spec"]["f:beds"][item].get(".").is_some()
    }

    fn has_item(self, spec: &Json) -> bool {
        let items = self.list().and_then(|list| spec[list].as_array());
        items.into_iter().flatten().any(|item| self.is_of(item))
    }

    /// Whether an item of its list is the one that it means.
    pub(crate) fn is_of(self, item: &Json) -> bool {
        match self {
            Self::Bed(row) => item["row"] == row,
            _ => *item == self.value(0),
        }
    }

    fn is_held(self, fields: &Json) -> bool {
        let fields = &fields["f:spec"];
        let held = match self {
            Self::Area => fields.get("f:area"),
            Self::Title => fields.get("f:title"),
            Self::Walled => fields.get("f:walled"),
            Self::Label(name) => fields["f:labels"].get(format!("f:{name}")),
            Self::Seal => fields.get("f:seal"),
            Self::Tag(name) => fields["f:tags"].get(format!("v:{name:?}")),
            Self::Bed(row) => {
                let item = format!(r#"k:{{"row":{row},"side":"left"}}"#);
                fields["f:beds"][item].get("f:plant")
            }
        };
        held.is_some()
    }
}

pub(crate) type Fields = BTreeMap<Leaf, u8>;

/// A manager by name and operation, as the server tells them apart.
pub(crate) type Manager = (String, &'static str);

pub(crate) fn spec(fields: &Fields) -> Json {
    let mut spec = json!({});
    for (leaf, choice) in fields {
        let value = leaf.value(*choice);
        match leaf {
            Leaf::Area => spec["area"] = value,
            Leaf::Title => spec["title"] = value,
            Leaf::Walled => spec["walled"] = value,
            Leaf::Label(name) => spec["labels"][*name] = value,
            Leaf::Seal => spec["seal"] = value,
            Leaf::Tag(_) | Leaf::Bed(_) => {
                let list = &mut spec[leaf.list().unwrap()];
                match list.as_array_mut() {
                    Some(items) => items.push(value),
                    None => *list = json!([value]),
                }
            }
        }
    }
    spec
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Server {
    pub(crate) values: Fields,
    pub(crate) owners: BTreeMap<Manager, BTreeSet<Leaf>>,
    /// Of which the item is there, and not the field.
    bare: BTreeSet<Leaf>,
    /// Who holds the item of a field: with the last of them it goes, whoever holds the field.
    items: BTreeMap<Leaf, BTreeSet<Manager>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflicts {
    Refuse,
    Force,
}

impl Server {
    /// What a real one holds.
    pub(crate) fn seen(object: &Json) -> Self {
        let spec = &object["spec"];
        let value = |leaf: &Leaf| leaf.found(spec).map(|choice| (*leaf, choice));
        let bare = |leaf: &&Leaf| leaf.found(spec).is_none() && leaf.has_item(spec);
        let mut all = Self {
            values: LEAVES.iter().filter_map(value).collect(),
            bare: LEAVES.iter().filter(bare).copied().collect(),
            ..Self::default()
        };
        for owner in owners(object) {
            let held: BTreeSet<_> =
                LEAVES.into_iter().filter(|leaf| leaf.is_held(&owner.fields)).collect();
            let operation = if owner.operation == "Apply" { "Apply" } else { "Update" };
            let who = (owner.manager, operation);
            for leaf in LEAVES.into_iter().filter(|leaf| leaf.holds_item(&owner.fields)) {
                all.items.entry(leaf).or_default().insert(who.clone());
            }
            if !held.is_empty() {
                all.owners.insert(who, held);
            }
        }
        all
    }

    /// Without what nobody holds of maps and sets: it goes with the last neighbour that somebody holds
    /// and drops, which is the one thing that leaves know of each other.
    pub(crate) fn owned(mut self) -> Self {
        self.bare.clear();
        self.items.clear();
        let held: BTreeSet<_> = self.owners.values().flatten().copied().collect();
        let alone = |leaf: &Leaf| !matches!(leaf, Leaf::Label(_)) && leaf.list().is_none();
        self.values.retain(|leaf, _| alone(leaf) || held.contains(leaf));
        self
    }

    /// Whether the item of a list is not there in which the field would be.
    pub(crate) fn lacks_item(&self, leaf: Leaf) -> bool {
        leaf.list().is_some() && !self.values.contains_key(&leaf) && !self.bare.contains(&leaf)
    }

    pub(crate) fn holders(&self, leaf: Leaf) -> BTreeSet<&Manager> {
        self.owners.iter().filter(|(_, held)| held.contains(&leaf)).map(|(who, _)| who).collect()
    }

    /// The leaves that an apply would take from others, with those who lose them.
    pub(crate) fn contested(&self, who: &str, body: &Fields) -> Vec<(Leaf, Vec<String>)> {
        let differs = |(leaf, choice): (&Leaf, &u8)| {
            let holders = self.holders(*leaf).into_iter().map(|(name, _)| name.clone());
            let others: Vec<_> = holders.filter(|name| name != who).collect();
            let differs = self.values.get(leaf).is_some_and(|now| now != choice);
            (differs && !others.is_empty()).then_some((*leaf, others))
        };
        body.iter().filter_map(differs).collect()
    }

    /// Whether it was done.
    pub(crate) fn apply(&mut self, who: &str, body: &Fields, conflicts: Conflicts) -> bool {
        if conflicts == Conflicts::Refuse && !self.contested(who, body).is_empty() {
            return false;
        }
        let who = (who.to_owned(), "Apply");
        for leaf in LEAVES {
            let Leaf::Bed(_) = leaf else { continue };
            let holders = self.items.entry(leaf).or_default();
            match body.contains_key(&leaf) {
                true => drop(holders.insert(who.clone())),
                false if holders.remove(&who) && holders.is_empty() => self.lose(leaf),
                false => {}
            }
        }
        for (leaf, choice) in body {
            if self.values.insert(*leaf, *choice).is_some_and(|before| before != *choice) {
                self.disown(*leaf);
            }
        }
        let before = self.owners.insert(who, body.keys().copied().collect()).unwrap_or_default();
        for leaf in before.into_iter().filter(|leaf| !body.contains_key(leaf)) {
            if self.holders(leaf).is_empty() {
                self.values.remove(&leaf);
            }
        }
        self.tidy();
        true
    }

    pub(crate) fn update(&mut self, who: &str, changes: &BTreeMap<Leaf, Option<u8>>) {
        for (leaf, wanted) in changes {
            if self.values.get(leaf) == wanted.as_ref() {
                continue;
            }
            self.disown(*leaf);
            match wanted {
                None => {
                    self.values.remove(leaf);
                    self.items.remove(leaf);
                }
                Some(choice) => {
                    if self.lacks_item(*leaf) {
                        self.items.insert(*leaf, [(who.to_owned(), "Update")].into());
                    }
                    self.values.insert(*leaf, *choice);
                    self.owners.entry((who.to_owned(), "Update")).or_default().insert(*leaf);
                }
            }
        }
        self.tidy();
    }

    /// Gives what a manager holds of these leaves to those who held it before.
    pub(crate) fn hand_back(
        &mut self,
        who: &Manager,
        leaving: impl Fn(&Leaf) -> bool,
        former: &BTreeMap<Manager, BTreeSet<Leaf>>,
    ) {
        let held = self.owners.remove(who).unwrap_or_default();
        let (back, kept): (BTreeSet<_>, BTreeSet<_>) = held.into_iter().partition(&leaving);
        for (_, holders) in self.items.iter_mut().filter(|(leaf, _)| leaving(leaf)) {
            holders.remove(who);
        }
        self.owners.insert(who.clone(), kept);
        for (owner, lost) in former {
            let back = lost.intersection(&back).copied();
            self.owners.entry(owner.clone()).or_default().extend(back);
        }
        self.tidy();
    }

    /// What each manager held before and does not hold now.
    pub(crate) fn lost_since(&self, before: &Self) -> BTreeMap<Manager, BTreeSet<Leaf>> {
        let lost = |(manager, held): (&Manager, &BTreeSet<Leaf>)| {
            let kept = self.owners.get(manager).cloned().unwrap_or_default();
            (manager.clone(), held.difference(&kept).copied().collect())
        };
        before.owners.iter().map(lost).collect()
    }

    fn lose(&mut self, leaf: Leaf) {
        self.disown(leaf);
        self.values.remove(&leaf);
    }

    fn disown(&mut self, leaf: Leaf) {
        for held in self.owners.values_mut() {
            held.remove(&leaf);
        }
    }

    fn tidy(&mut self) {
        self.owners.retain(|_, held| !held.is_empty());
    }
}
