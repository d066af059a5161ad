//! Lists: all objects of a kind, page by page, within bounds.
//!
//! A list is one operation, however many pages it has: it has one deadline, and bounds for all of
//! its pages together. A page that is larger than an answer may be is asked for again in a smaller
//! one. Items stay text until the list is complete, so that a list without an end costs no more
//! memory than its bound.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use crate::address::Within;
use crate::call::{Call, Reply};
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error, Excess};
use crate::kinds::Kind;

/// Which objects of a kind. Both selectors in the server's own syntax.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection<'a> {
    pub labels: Option<&'a str>,
    pub fields: Option<&'a str>,
}

/// How much of each object of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Full,
    Metadata,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Each with its `apiVersion` and `kind`, which the server leaves out of lists.
    pub items: Vec<Value>,
    pub resource_version: String,
    pub warnings: Vec<String>,
}

/// How many bytes all pages of an operation may have, which may be several lists.
#[derive(Default)]
pub(crate) struct Budget(AtomicUsize);

impl Budget {
    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn spend(&self, bytes: usize) -> Result<(), Excess> {
        match self.0.fetch_add(bytes, Ordering::Relaxed) + bytes {
            0..=LARGEST_LIST => Ok(()),
            _ => Err(Excess::List { limit: LARGEST_LIST }),
        }
    }
}

const PAGE: usize = 500;
const LARGEST_PAGE: usize = 16 << 20;
const LARGEST_LIST: usize = 64 << 20;
const MOST_PAGES: usize = 1000;
/// How much longer than a request a list may take where nobody set a deadline.
const REQUESTS: u32 = 4;
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl Cluster {
    /// All pages of it. Where the server forgets the state that the pages are of (410), the whole
    /// is asked for once more in one piece.
    pub async fn list(
        &self,
        kind: &Kind,
        within: Within<'_>,
        selection: Selection<'_>,
        detail: Detail,
    ) -> Result<Listed, Error> {
        self.list_within(&Budget::default(), kind, within, selection, detail).await
    }

    pub(crate) async fn list_within(
        &self,
        budget: &Budget,
        kind: &Kind,
        within: Within<'_>,
        selection: Selection<'_>,
        detail: Detail,
    ) -> Result<Listed, Error> {
        let began = Instant::now();
        let deadline = self.deadline().unwrap_or(began + REQUESTS * self.patience());
        let call = first(kind, within, selection, detail);
        let mut pages = Pages::new(budget);
        loop {
            let page = pages.call(&call);
            let too_much = |excess| self.too_much(&call, excess);
            match timeout_at(deadline, self.send(&page)).await {
                Ok(Ok(reply)) if reply.status == 410 && pages.can_start_over() => {
                    pages.start_over();
                }
                Ok(Ok(reply)) => {
                    let list: List = self.decode(&page, &reply)?;
                    if pages.take(list, reply).map_err(too_much)? == Progress::Complete {
                        break;
                    }
                }
                Ok(Err(Error::TooMuch { excess: Excess::Answer { .. }, .. }))
                    if pages.can_shrink() =>
                {
                    pages.shrink();
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    let (host, waited) = (self.server(), began.elapsed());
                    return Err(Error::Timeout { host, request: call.label(), waited });
                }
            }
        }
        pages
            .listed(kind)
            .map_err(|error| self.bad_answer(&call, BadAnswer::Json(error.to_string())))
    }
}

fn first(kind: &Kind, within: Within<'_>, selection: Selection<'_>, detail: Detail) -> Call {
    let mut call = Call { largest: LARGEST_PAGE, ..Call::get(within.collection_path(kind)) };
    if detail == Detail::Metadata {
        call.accept = METADATA_LIST;
    }
    let chosen = [("labelSelector", selection.labels), ("fieldSelector", selection.fields)];
    for (name, selector) in chosen {
        if let Some(selector) = selector {
            call = call.query(name, selector);
        }
    }
    call
}

/// What has come of a list so far, and what to ask for next.
struct Pages<'a> {
    budget: &'a Budget,
    next: Page,
    limit: usize,
    number: usize,
    bytes: usize,
    seen: BTreeSet<String>,
    items: Vec<Box<RawValue>>,
    resource_version: String,
    warnings: Vec<String>,
}

enum Page {
    First,
    Next(String),
    Whole,
}

#[derive(PartialEq, Eq)]
enum Progress {
    More,
    Complete,
}

impl<'a> Pages<'a> {
    fn new(budget: &'a Budget) -> Self {
        Self {
            budget,
            next: Page::First,
            limit: PAGE,
            number: 0,
            bytes: 0,
            seen: BTreeSet::new(),
            items: Vec::new(),
            resource_version: String::new(),
            warnings: Vec::new(),
        }
    }

    fn call(&self, first: &Call) -> Call {
        let limited = || first.clone().query("limit", self.limit.to_string());
        match &self.next {
            Page::First => limited(),
            Page::Next(token) => limited().query("continue", token),
            Page::Whole => Call { largest: LARGEST_LIST, ..first.clone() },
        }
    }

    /// A token is of no use any more.
    fn can_start_over(&self) -> bool {
        matches!(self.next, Page::Next(_))
    }

    fn start_over(&mut self) {
        self.items.clear();
        self.budget.give_back(std::mem::take(&mut self.bytes));
        self.next = Page::Whole;
    }

    fn can_shrink(&self) -> bool {
        self.limit > 1 && !matches!(self.next, Page::Whole)
    }

    fn shrink(&mut self) {
        // None at all would ask for everything.
        self.limit = (self.limit / 10).max(1);
    }

    fn take(&mut self, list: List, reply: Reply) -> Result<Progress, Excess> {
        self.number += 1;
        self.bytes += reply.body.len();
        self.budget.spend(reply.body.len())?;
        self.items.extend(list.items.into_iter().flatten());
        self.resource_version = list.metadata.resource_version;
        for warning in reply.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        match list.metadata.next {
            Some(token) if !token.is_empty() => {
                if self.number == MOST_PAGES {
                    return Err(Excess::Pages { limit: MOST_PAGES });
                }
                if !self.seen.insert(token.clone()) {
                    return Err(Excess::Circle);
                }
                self.next = Page::Next(token);
                Ok(Progress::More)
            }
            _ => Ok(Progress::Complete),
        }
    }

    fn listed(self, kind: &Kind) -> Result<Listed, serde_json::Error> {
        let read = |item: Box<RawValue>| Ok(named(serde_json::from_str(item.get())?, kind));
        let items = self.items.into_iter().map(read).collect::<Result<_, _>>()?;
        let (resource_version, warnings) = (self.resource_version, self.warnings);
        Ok(Listed { items, resource_version, warnings })
    }
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(default)]
    items: Option<Vec<Box<RawValue>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    next: Option<String>,
}

fn named(mut item: Value, kind: &Kind) -> Value {
    if item.is_object() {
        item["apiVersion"] = kind.gvk.api_version().into();
        item["kind"] = kind.gvk.kind.clone().into();
    }
    item
}
