//! How much of a value may come from following aliases.
//!
//! The rule for one document is Go's own, so that whatever `kubectl` takes is taken here: small
//! documents may consist of aliases almost wholly, large ones to a tenth. Go shares the text of
//! aliased strings and reads one document at a time; we do neither, hence the two further bounds on
//! a whole stream.

use super::document::Spot;
use super::error::{YamlError, YamlErrorKind};

/// Above any honest stream, and about 200 MB at worst.
const STREAM_ALIASED_NODES: usize = 2_000_000;
/// Far above the 3 MB that an API server takes in one request.
const STREAM_ALIASED_BYTES: usize = 64 << 20;

const RATIO_FALLS_FROM: usize = 400_000;
const RATIO_FALLS_TO: usize = 4_000_000;

/// What the aliases of a whole stream have cost so far.
#[derive(Default)]
pub(super) struct StreamBudget {
    aliased_nodes: usize,
    aliased_bytes: usize,
}

/// What one document has cost so far.
pub(super) struct Budget<'a> {
    stream: &'a mut StreamBudget,
    nodes: usize,
    aliased: usize,
    alias_depth: usize,
}

impl<'a> Budget<'a> {
    pub(super) fn new(stream: &'a mut StreamBudget) -> Self {
        // Go counts the document itself as a node.
        Self { stream, nodes: 1, aliased: 0, alias_depth: 0 }
    }

    pub(super) fn enter_alias(&mut self) {
        self.alias_depth += 1;
    }

    pub(super) fn leave_alias(&mut self) {
        self.alias_depth -= 1;
    }

    pub(super) fn in_alias(&self) -> bool {
        self.alias_depth > 0
    }

    /// Counts a node about to be resolved.
    pub(super) fn node(&mut self, spot: Spot) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.in_alias() {
            self.aliased += 1;
            self.stream.aliased_nodes += 1;
        }
        let beyond_go = self.aliased > 100
            && self.nodes > 1000
            && self.aliased as f64 / self.nodes as f64 > allowed_ratio(self.nodes);
        if beyond_go || self.stream.aliased_nodes > STREAM_ALIASED_NODES {
            return Err(YamlErrorKind::AliasBomb.at(spot));
        }
        Ok(())
    }

    /// Counts the text of a scalar about to be copied.
    pub(super) fn text(&mut self, bytes: usize, spot: Spot) -> Result<(), YamlError> {
        if self.in_alias() {
            self.stream.aliased_bytes = self.stream.aliased_bytes.saturating_add(bytes);
            if self.stream.aliased_bytes > STREAM_ALIASED_BYTES {
                return Err(YamlErrorKind::AliasBomb.at(spot));
            }
        }
        Ok(())
    }
}

fn allowed_ratio(nodes: usize) -> f64 {
    if nodes <= RATIO_FALLS_FROM {
        0.99
    } else if nodes >= RATIO_FALLS_TO {
        0.10
    } else {
        let done = (nodes - RATIO_FALLS_FROM) as f64 / (RATIO_FALLS_TO - RATIO_FALLS_FROM) as f64;
        0.99 - 0.89 * done
    }
}
