//! `/admin/stats`: counts of the store, as a page, or as JSON.
//!
//! They are what the store has counted already; with `?counted`, which LAKEsuperior does not have, also what has to be counted now.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cenote_store::{Act, Inventory, Store, StoreStats};
use serde::Serialize;

use crate::app::App;
use crate::front::wants_page;
use crate::layer::Viewer;
use crate::ldp::request::fault::Fault;
use crate::page::{Markup, page};

/// Nothing is reported that the caller may not know.
#[derive(Debug, Serialize)]
struct Stats {
    resources: Option<u64>,
    bytes: Option<u64>,
    removed: Option<u64>,
    jobs: Option<usize>,
    engine: Option<&'static str>,
    places: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<Counted>,
}

/// With everything that can be restored.
#[derive(Debug, Serialize)]
struct Counted {
    collections: u64,
    files: u64,
    file_bytes: u64,
    descriptions: u64,
    links: u64,
    triples: u64,
    historic_resources: u64,
    versions: u64,
}

#[derive(Debug, Serialize)]
struct Place {
    name: String,
    free: Option<u64>,
}

pub(super) async fn answer(app: &App, parts: &mut Parts) -> Result<Response, Fault> {
    let caller = Viewer::from_request_parts(parts, app).await?.0;
    let is_admin = caller.may(Act::Inspect);
    let counts = parts.uri.query() == Some("counted");
    let read = move |store: &Store| {
        let inventory = counts.then(|| store.inventory(&caller)).transpose()?;
        Ok((store.stats(&caller)?, inventory))
    };
    let (stats, inventory) = app.blocking(read).await?;
    let stats = Stats::of(stats, inventory, is_admin);
    let answer = match wants_page(&parts.headers) {
        true => page("Statistics", &table(&stats)),
        false => Json(stats).into_response(),
    };
    Ok(([(header::VARY, "Accept")], answer).into_response())
}

impl Stats {
    /// What concerns the machine is shown to administrators only.
    fn of(stats: StoreStats, inventory: Option<Inventory>, is_admin: bool) -> Self {
        let places = stats.places.into_iter().filter(|_| is_admin);
        let places = places.map(|(name, free)| Place { name, free });
        Self {
            resources: stats.resources,
            bytes: stats.bytes,
            removed: stats.removed.map(|removed| removed.items),
            jobs: stats.jobs,
            engine: is_admin.then_some(stats.engine),
            places: places.collect(),
            counted: inventory.map(Counted::from),
        }
    }
}

impl From<Inventory> for Counted {
    fn from(inventory: Inventory) -> Self {
        Self {
            collections: inventory.collections,
            files: inventory.objects,
            file_bytes: inventory.bytes,
            descriptions: inventory.descriptions,
            links: inventory.links,
            triples: inventory.statements,
            historic_resources: inventory.versioned,
            versions: inventory.versions,
        }
    }
}

impl Counted {
    fn rows(&self) -> [(&'static str, u64); 8] {
        [
            ("Collections", self.collections),
            ("Files", self.files),
            ("Bytes of files", self.file_bytes),
            ("Resources with a description only", self.descriptions),
            ("Symbolic links", self.links),
            ("Triples in descriptions", self.triples),
            ("Resources with versions", self.historic_resources),
            ("Versions", self.versions),
        ]
    }
}

fn table(stats: &Stats) -> Markup {
    let mut markup = Markup::default();
    markup.raw("<table>\n");
    let mut row = |what: &str, value: String| {
        markup.raw("<tr><th scope=\"row\">").text(what).raw("</th><td>").text(&value);
        markup.raw("</td></tr>\n");
    };
    let counted = [
        ("Resources", stats.resources),
        ("Bytes of contents", stats.bytes),
        ("Resources in the trash", stats.removed),
    ];
    for (what, number) in counted {
        number.into_iter().for_each(|number| row(what, number.to_string()));
    }
    stats.jobs.into_iter().for_each(|jobs| row("Waiting jobs", jobs.to_string()));
    stats.engine.into_iter().for_each(|engine| row("Engine of the catalog", engine.to_owned()));
    for place in &stats.places {
        let free = place.free.map_or("unknown".to_owned(), |free| free.to_string());
        row(&format!("Free bytes in {}", place.name), free);
    }
    for (what, number) in stats.counted.iter().flat_map(Counted::rows) {
        row(what, number.to_string());
    }
    markup.raw("</table>\n<p>").link("/admin/tools", "Tools").raw("\n");
    markup
}
