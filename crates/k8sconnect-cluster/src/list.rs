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

use crate::address::{Kind, Within};
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error, Excess};

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

/// How many bytes the pages of an operation have so far, which may be several lists.
pub(crate) type Spent = AtomicUsize;

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
        self.list_within(&Spent::default(), kind, within, selection, detail).await
    }

    pub(crate) async fn list_within(
        &self,
        spent: &Spent,
        kind: &Kind,
        within: Within<'_>,
        selection: Selection<'_>,
        detail: Detail,
    ) -> Result<Listed, Error> {
        let began = Instant::now();
        let deadline = self.deadline.unwrap_or(began + REQUESTS * self.shared.read);
        let first = first(kind, within, selection, detail);
        let pages = match timeout_at(deadline, self.pages(&first, spent)).await {
            Ok(pages) => pages?,
            Err(_) => {
                let (host, request) = (self.server(), first.label());
                return Err(Error::Timeout { host, request, waited: began.elapsed() });
            }
        };
        let Pages { items, resource_version, warnings, .. } = pages;
        let read = |item: Box<RawValue>| Ok(named(serde_json::from_str(item.get())?, kind));
        let items = items.into_iter().map(read).collect::<Result<_, serde_json::Error>>();
        let items =
            items.map_err(|error| self.bad_answer(&first, BadAnswer::Json(error.to_string())))?;
        Ok(Listed { items, resource_version, warnings })
    }

    async fn pages(&self, first: &Call, spent: &Spent) -> Result<Pages, Error> {
        let (mut pages, mut page, mut limit) = (Pages::default(), Page::First, PAGE);
        loop {
            let reply = match self.send(&page.call(first, limit)).await {
                Err(Error::TooMuch { excess: Excess::Answer { .. }, .. })
                    if limit > 1 && page != Page::Whole =>
                {
                    // No limit at all would ask for everything.
                    limit = (limit / 10).max(1);
                    continue;
                }
                reply => reply?,
            };
            // A token is of no use any more.
            if reply.status == 410 && matches!(page, Page::Next(_)) {
                spent.fetch_sub(pages.bytes, Ordering::Relaxed);
                (pages.items, pages.bytes, page) = (Vec::new(), 0, Page::Whole);
                continue;
            }
            let list: List = self.decode(first, &reply)?;
            for warning in reply.warnings {
                if !pages.warnings.contains(&warning) {
                    pages.warnings.push(warning);
                }
            }
            let next = pages.take(list, reply.body.len(), spent);
            match next.map_err(|excess| self.too_much(first, excess))? {
                Some(token) => page = Page::Next(token),
                None => return Ok(pages),
            }
        }
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

/// Which page to ask for.
#[derive(PartialEq, Eq)]
enum Page {
    First,
    Next(String),
    /// All of it in one piece.
    Whole,
}

impl Page {
    fn call(&self, first: &Call, limit: usize) -> Call {
        let limited = || first.clone().query("limit", limit.to_string());
        match self {
            Self::First => limited(),
            Self::Next(token) => limited().query("continue", token),
            Self::Whole => Call { largest: LARGEST_LIST, ..first.clone() },
        }
    }
}

/// What has come of a list so far.
#[derive(Default)]
struct Pages {
    number: usize,
    bytes: usize,
    tokens: BTreeSet<String>,
    items: Vec<Box<RawValue>>,
    resource_version: String,
    warnings: Vec<String>,
}

impl Pages {
    /// Takes a page of so many bytes, and brings the token of the next one.
    fn take(&mut self, list: List, bytes: usize, spent: &Spent) -> Result<Option<String>, Excess> {
        self.number += 1;
        self.bytes += bytes;
        if spent.fetch_add(bytes, Ordering::Relaxed) + bytes > LARGEST_LIST {
            return Err(Excess::List { limit: LARGEST_LIST });
        }
        self.items.extend(list.items.into_iter().flatten());
        self.resource_version = list.metadata.resource_version;
        let next = list.metadata.next.filter(|token| !token.is_empty());
        match &next {
            Some(_) if self.number == MOST_PAGES => Err(Excess::Pages { limit: MOST_PAGES }),
            Some(token) if !self.tokens.insert(token.clone()) => Err(Excess::Circle),
            _ => Ok(next),
        }
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
