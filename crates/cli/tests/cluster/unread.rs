//! Changes that are made, and whose answers cannot be read any more: a problem that says that nothing has happened would be wrong.

use crate::database::Fault;
use crate::requests::Answer;
use crate::servers::Cluster;

/// A change that adds a mark somewhere, and where the mark is then to be found.
struct Change {
    request: &'static str,
    body: fn(&str) -> String,
    look: &'static str,
}

const CHANGES: [Change; 6] = [
    Change { request: "PUT /v1/fs/lab/put", body: str::to_owned, look: "GET /v1/fs/lab/put" },
    Change {
        request: "POST /v1/meta",
        body: |mark| {
            let set = format!(r#"{{ "op": "set", "attribute": "note", "value": "{mark}" }}"#);
            format!(r#"{{ "path": "/lab/there", "operations": [{set}] }}"#)
        },
        look: "GET /v1/meta?path=/lab/there",
    },
    Change { request: "PUT /ldp/lab/bytes", body: str::to_owned, look: "GET /v1/fs/lab/bytes" },
    Change { request: "PUT /ldp/lab/there", body: str::to_owned, look: "GET /v1/fs/lab/there" },
    Change {
        request: "PUT /ldp/lab/graph",
        body: |mark| format!("<> <http://example.org/note> \"{mark}\" ."),
        look: "GET /v1/meta?path=/lab/graph",
    },
    Change {
        request: "POST /irods-http-api/0.7.0/data-objects",
        body: |mark| {
            let add = format!(r#"[{{"operation":"add","attribute":"a","value":"{mark}"}}]"#);
            format!("op=modify_metadata&lpath=/tempZone/lab/there&operations={add}")
        },
        look: "GET /v1/meta?path=/lab/there",
    },
];

impl Change {
    /// Its answer from a server that loses the database for a moment with the next commit, which may be one of the server's own.
    fn make(&self, cluster: &Cluster, irods: &str, mark: &str) -> Answer {
        let node = &cluster.nodes[0];
        node.database.arm(Fault::Last, 1);
        let token = if self.request.contains("irods") { irods } else { &cluster.token };
        let login = format!("Bearer {token}");
        let answer = node.send(self.request, &login, (self.body)(mark).as_bytes());
        let answer = answer.unwrap_or_else(|failed| panic!("{}: {failed}", self.request));
        node.database.disarm();
        node.database.refuse(false);
        answer
    }

    fn was_made(&self, cluster: &Cluster, mark: &str) -> bool {
        let shown = cluster.send(1, self.look, b"").expect("this server has its database");
        String::from_utf8_lossy(&shown.body).contains(mark)
    }
}

#[test]
fn no_change_that_was_made_is_answered_as_if_it_was_not() {
    let Some(cluster) = Cluster::start(2, "") else { return };
    cluster.json(0, "POST /v1/create", r#"{ "path": "/lab", "kind": "collection" }"#);
    let irods = cluster.irods_login();
    cluster.send(0, "PUT /v1/fs/lab/there", b"x").unwrap();
    // None is used twice: two of the changes are looked for in one place.
    let mut marks = (0..).map(|number| format!("mark-{number}-"));
    for change in CHANGES {
        let mut is_made = || {
            let mark = marks.next().unwrap();
            let answer = change.make(&cluster, &irods, &mark);
            let was_made = change.was_made(&cluster, &mark);
            let says_so = answer.status < 300 || answer.problem() == "unknown";
            let response = (answer.status, answer.json());
            assert!(!was_made || says_so, "{} was made and answered {response:?}", change.request);
            was_made
        };
        Cluster::until(change.request, &mut is_made);
    }
}
