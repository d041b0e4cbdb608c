//! Every error that the HTTP API's specification lists, with its status and its number.
//!
//! Each row is one call in a world that no row changes: `o` and `p` are objects, `c` a non-empty collection, `shared`
//! one that grace may only read, and `open` has a parallel write.

mod catalog;
mod tree;

use super::super::support::{Answer, USER};
use super::{Irods, Settings, code};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// The administrator, whose home contains everything.
    Ada,
    Grace,
}
use Who::Ada;

/// How a call is refused.
#[derive(Debug, Clone, Copy)]
enum How {
    /// With this status, and no body.
    Plain(u16),
    /// With this status and this number.
    Coded(u16, i64),
}
use How::{Coded, Plain};

type Row = (&'static str, Who, &'static str, &'static str, How);

const HOME: &str = "/tempZone/home/ada";

struct World {
    ada: Irods,
    grace: Irods,
}

impl World {
    async fn new() -> Self {
        let ada = Irods::with(Settings { streams: 3, all_streams: 4, ..Settings::default() }).await;
        let grace = ada.other(USER).await;
        ada.mkdir("c").await;
        ada.mkdir("shared").await;
        for name in ["o", "p", "c/x", "shared/s"] {
            ada.write(name, "hello").await;
        }
        let world = Self { ada, grace };
        for (endpoint, name) in
            [("collections", ""), ("collections", "/shared"), ("data-objects", "/shared/s")]
        {
            let grant =
                format!("op=set_permission&lpath={HOME}{name}&entity-name=grace&permission=read");
            world.expect(("grants", Ada, endpoint, &grant, Coded(200, 0))).await;
        }
        let open = format!("op=parallel_write_init&lpath={HOME}/open&stream-count=2");
        world.expect(("opens", Ada, "data-objects", &open, Coded(200, 0))).await;
        world
    }

    async fn send(&self, who: Who, endpoint: &str, form: &str) -> Answer {
        let caller = if who == Ada { &self.ada } else { &self.grace };
        let pairs: Vec<(&str, &str)> =
            form.split('&').filter_map(|pair| pair.split_once('=')).collect();
        match endpoint.strip_prefix("GET ") {
            Some(endpoint) => caller.get(endpoint, &pairs).await,
            None => caller.post(endpoint, &pairs).await,
        }
    }

    async fn expect(&self, (name, who, endpoint, form, how): (&str, Who, &str, &str, How)) {
        let form = form.replace('~', HOME);
        let answer = self.send(who, endpoint, &form).await;
        let context = format!("{name}: {endpoint} {form}: {answer:?}");
        match how {
            Plain(status) => {
                assert_eq!((answer.status.as_u16(), answer.body.len()), (status, 0), "{context}");
            }
            Coded(status, number) => {
                assert_eq!(answer.status, status, "{context}");
                assert_eq!(code(&answer), number, "{context}");
            }
        }
    }
}

/// Runs the rows of a table twice: none of them changes anything.
async fn hold(rows: &[Row]) {
    let world = World::new().await;
    let before = world.ada.rows("select COLL_NAME, DATA_NAME, DATA_SIZE, DATA_CHECKSUM").await;
    for row in rows.iter().chain(rows) {
        world.expect(*row).await;
    }
    let after = world.ada.rows("select COLL_NAME, DATA_NAME, DATA_SIZE, DATA_CHECKSUM").await;
    assert_eq!(before, after);
}
