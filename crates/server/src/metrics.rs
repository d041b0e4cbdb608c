//! The metrics, and `/metrics` in the format of Prometheus.

use axum::http::Method;
use cenote_store::{Health, Store};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Upper bounds of the buckets of request times, in seconds.
const BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0];

/// The counters of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    under_way: Gauge,
    waiting: Gauge,
    connections: Gauge,
    closed: Family<ReasonLabel, Counter>,
    refused: Family<ReasonLabel, Counter>,
    received: Counter,
    sent: Counter,
    read_only: Gauge,
    damage_found: Counter,
    damage_mended: Counter,
    damaged: Gauge,
    scrubbed: Counter,
    rows_damaged: Counter,
    changesets_open: Gauge,
    changesets_held: Gauge,
    changesets_ended: Family<StateLabel, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct StateLabel {
    state: &'static str,
}

impl EncodeLabelSet for StateLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> std::fmt::Result {
        [("state", self.state)].encode(encoder)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RouteLabels {
    route: Arc<str>,
    method: Method,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RequestLabels {
    route: RouteLabels,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ReasonLabel {
    reason: &'static str,
}

impl EncodeLabelSet for ReasonLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> std::fmt::Result {
        [("reason", self.reason)].encode(encoder)
    }
}

impl EncodeLabelSet for RouteLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> std::fmt::Result {
        [("route", &*self.route), ("method", method_label(&self.method))].encode(encoder)
    }
}

impl EncodeLabelSet for RequestLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> std::fmt::Result {
        self.route.encode(encoder)?;
        [("status", self.status)].encode(encoder)
    }
}

/// The methods of HTTP; all others count as one, so that a client cannot make labels.
fn method_label(method: &Method) -> &str {
    match method.as_str() {
        known @ ("GET" | "HEAD" | "PUT" | "POST" | "PATCH" | "DELETE" | "OPTIONS") => known,
        _ => "other",
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("cenote"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            under_way: Gauge::default(),
            waiting: Gauge::default(),
            connections: Gauge::default(),
            closed: Family::default(),
            refused: Family::default(),
            received: Counter::default(),
            sent: Counter::default(),
            read_only: Gauge::default(),
            damage_found: Counter::default(),
            damage_mended: Counter::default(),
            damaged: Gauge::default(),
            scrubbed: Counter::default(),
            rows_damaged: Counter::default(),
            changesets_open: Gauge::default(),
            changesets_held: Gauge::default(),
            changesets_ended: Family::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let Self { registry: r, requests, seconds, under_way, connections, .. } = self;
        r.register("http_requests", "Requests answered", requests.clone());
        let help = "Time from the header of a request to the last byte of its response";
        r.register_with_unit("http_request_duration", help, Unit::Seconds, seconds.clone());
        r.register("http_requests_under_way", "Requests in progress", under_way.clone());
        let help = "Requests in progress that wait for their clients or for a change";
        r.register("http_requests_waiting", help, self.waiting.clone());
        r.register("http_connections", "Connections open", connections.clone());
        let help = "Connections closed by the server before their clients did, by reason";
        r.register("http_connections_closed", help, self.closed.clone());
        let help = "Connections and requests refused because of a limit, by limit";
        r.register("http_refused", help, self.refused.clone());
        let (received, sent) = (self.received.clone(), self.sent.clone());
        r.register_with_unit("http_received", "Bytes of request bodies", Unit::Bytes, received);
        r.register_with_unit("http_sent", "Bytes of response bodies", Unit::Bytes, sent);
        let help = "1 while the store accepts no changes";
        r.register("store_read_only", help, self.read_only.clone());
        let help = "Copies of contents that were found damaged or missing";
        r.register("contents_damage_found", help, self.damage_found.clone());
        let help = "Damaged copies that were rewritten from a good one";
        r.register("contents_damage_mended", help, self.damage_mended.clone());
        let help = "Copies of contents that are known to be damaged";
        r.register("contents_damaged", help, self.damaged.clone());
        let help = "Bytes of contents that the scrub has read";
        r.register_with_unit("contents_scrubbed", help, Unit::Bytes, self.scrubbed.clone());
        let help = "Damaged rows of the catalog that were found";
        r.register("catalog_damage_found", help, self.rows_damaged.clone());
        r.register("changesets_open", "Open change sets", self.changesets_open.clone());
        let (help, held) = ("Memory used by open change sets", self.changesets_held.clone());
        r.register_with_unit("changesets_held", help, Unit::Bytes, held);
        let help = "Change sets that ended, by outcome";
        r.register("changesets_ended", help, self.changesets_ended.clone());
    }

    pub(crate) fn begun(&self) {
        self.under_way.inc();
    }

    pub(crate) fn ended(
        &self,
        route: &Arc<str>,
        method: &Method,
        status: u16,
        seconds: f64,
        received: u64,
        sent: u64,
    ) {
        let route = RouteLabels { route: Arc::clone(route), method: method.clone() };
        self.under_way.dec();
        self.seconds.get_or_create(&route).observe(seconds);
        self.requests.get_or_create(&RequestLabels { route, status }).inc();
        self.received.inc_by(received);
        self.sent.inc_by(sent);
    }

    /// Counts a connection until the guard is dropped.
    pub(crate) fn connection(&self) -> Counted {
        Counted::new(&self.connections)
    }

    /// Counts a request that waits until the guard is dropped.
    pub(crate) fn waiting(&self) -> Counted {
        Counted::new(&self.waiting)
    }

    /// The server closed a connection.
    pub(crate) fn closed(&self, reason: &'static str) {
        self.closed.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// A limit refused a connection or a request.
    pub(crate) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// Everything, in the text format; the values of the store are read now.
    pub(crate) fn text(&self, store: &Store) -> String {
        self.read_only.set((store.health() != Health::Ready).into());
        let counts = store.damage_counts();
        raise(&self.damage_found, counts.found);
        raise(&self.damage_mended, counts.mended);
        raise(&self.scrubbed, counts.scrubbed);
        raise(&self.rows_damaged, counts.rows);
        self.damaged.set(i64::try_from(counts.damaged).unwrap_or(i64::MAX));
        let sets = store.change_set_counts();
        self.changesets_open.set(i64::try_from(sets.open).unwrap_or(i64::MAX));
        self.changesets_held.set(i64::try_from(sets.bytes).unwrap_or(i64::MAX));
        for (state, count) in sets.ended {
            let state = StateLabel { state: state.as_str() };
            raise(&self.changesets_ended.get_or_create(&state), count);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a string takes any text");
        text
    }
}

/// Sets a counter to what was counted elsewhere.
fn raise(counter: &Counter, to: u64) {
    counter.inner().fetch_max(to, Ordering::Relaxed);
}

/// Something that is counted while it lasts.
#[derive(Debug)]
pub(crate) struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
