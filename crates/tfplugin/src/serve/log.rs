//! Logs as Terraform expects them: one JSON object a line, on standard error.
//!
//! Only events of this crate and of the provider's own crates are written. The libraries below
//! would drown them, and nobody has read their traces for secrets. Values never appear here;
//! what provider code logs is its own responsibility.

use std::fmt::Debug;
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// The reader breaks longer lines up, and the pieces are no JSON.
const LONGEST_LINE: usize = 60 * 1024;

/// Writes logs from now on, if the environment asks for them.
pub(super) fn install(provider: &str) {
    let Some(level) = wanted_level(provider, |name| std::env::var(name).ok()) else {
        return;
    };
    let layer = HclogLayer { level, own: provider.replace('-', "_") };
    // Somebody who has installed a subscriber already knows better.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(layer));
}

/// The most particular variable that is set wins.
fn wanted_level(provider: &str, variable: impl Fn(&str) -> Option<String>) -> Option<LevelFilter> {
    let particular = format!("TF_LOG_PROVIDER_{}", provider.to_uppercase().replace('-', "_"));
    [particular.as_str(), "TF_LOG_PROVIDER", "TF_LOG"]
        .into_iter()
        .filter_map(variable)
        .find(|word| !word.is_empty())
        .and_then(|word| match word.to_uppercase().as_str() {
            "OFF" => None,
            "ERROR" => Some(LevelFilter::ERROR),
            "WARN" => Some(LevelFilter::WARN),
            "INFO" => Some(LevelFilter::INFO),
            "DEBUG" => Some(LevelFilter::DEBUG),
            // `JSON` asks for everything in another form, and Terraform takes a word that it does
            // not know for a wish to see everything.
            _ => Some(LevelFilter::TRACE),
        })
}

struct HclogLayer {
    level: LevelFilter,
    /// What the names of the provider's own crates begin with.
    own: String,
}

impl HclogLayer {
    fn is_own(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        target.starts_with(&self.own) || target.starts_with(env!("CARGO_CRATE_NAME"))
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for HclogLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.level && self.is_own(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = ctx.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let mut all = Fields::default();
        for span in ctx.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(fields) = span.extensions().get::<Fields>() {
                all.fields.extend(fields.fields.clone());
            }
        }
        event.record(&mut all);
        let line = line(event.metadata(), all, SystemTime::now());
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

/// The reader insists that the four fields with `@` are strings, and would crash otherwise.
fn line(metadata: &Metadata<'_>, recorded: Fields, now: SystemTime) -> String {
    let level = match *metadata.level() {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    };
    let mut head = Map::new();
    head.insert("@level".to_owned(), level.into());
    head.insert("@message".to_owned(), recorded.message.into());
    head.insert("@module".to_owned(), metadata.target().replace("::", ".").into());
    head.insert("@timestamp".to_owned(), timestamp(now).into());
    let mut whole = recorded.fields;
    whole.extend(head.clone());
    let mut text = Json::Object(whole).to_string();
    if text.len() > LONGEST_LINE {
        head.insert("@message".to_owned(), "a log line was too long and is left out".into());
        text = Json::Object(head).to_string();
    }
    text.push('\n');
    text
}

/// `2006-01-02T15:04:05.000000Z`; any other form makes the line plain text to the reader.
fn timestamp(now: SystemTime) -> String {
    let since: Duration = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let micros = since.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The date of a day counted from 1970, in the Gregorian calendar. Years are counted from March,
/// so that the leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_MARCH_OF_YEAR_0: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + DAYS_TO_MARCH_OF_YEAR_0;
    let (era, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

#[derive(Default)]
struct Fields {
    message: String,
    fields: Map<String, Json>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Json) {
        match (field.name(), value) {
            ("message", Json::String(text)) => self.message = text,
            ("message", other) => self.message = other.to_string(),
            (name, value) => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_with(set: &[(&str, &str)]) -> Option<LevelFilter> {
        wanted_level("my-cloud", |name| {
            let found = set.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn is_silent_unless_asked() {
        assert_eq!(level_with(&[]), None);
        assert_eq!(level_with(&[("TF_LOG", "")]), None);
        assert_eq!(level_with(&[("TF_LOG", "off")]), None);
    }

    #[test]
    fn obeys_the_most_particular_variable() {
        let all = [
            ("TF_LOG", "trace"),
            ("TF_LOG_PROVIDER", "warn"),
            ("TF_LOG_PROVIDER_MY_CLOUD", "Error"),
        ];
        assert_eq!(level_with(&all), Some(LevelFilter::ERROR));
        assert_eq!(level_with(&all[..2]), Some(LevelFilter::WARN));
        assert_eq!(level_with(&all[..1]), Some(LevelFilter::TRACE));
        assert_eq!(level_with(&[("TF_LOG", "JSON")]), Some(LevelFilter::TRACE));
    }

    #[test]
    fn writes_dates_as_the_reader_parses_them() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399, "2000-02-28T23:59:59.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (951_868_800, "2000-03-01T00:00:00.000000Z"),
            (1_763_251_200, "2025-11-16T00:00:00.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
        let micros = UNIX_EPOCH + Duration::from_micros(1_000_042);
        assert_eq!(timestamp(micros), "1970-01-01T00:00:01.000042Z");
    }
}
