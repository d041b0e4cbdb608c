//! Pages of other sites, in the browser of a logged-in user: a change sent to any opening is refused before anything is
//! examined. The requests are all those that the openings document or list.

use serde_json::Value;

use crate::support::{ADMIN, Answer, TestRequest, TestServer, basic};

const IRODS: &str = include_str!("outsider/irods-operations.txt");
const REST: &str = include_str!("outsider/rest-requests.txt");
/// Operations of irods-rest that change something although they are a GET, and one that is not in the list.
const REST_CHANGES: &str = "GET ticket\nGET auth\nPOST auth\n";

/// The headers that a browser sends for a page of another site.
const FOREIGN: [(&str, &str); 4] = [
    ("sec-fetch-site", "cross-site"),
    ("sec-fetch-site", "same-site"),
    ("origin", "https://evil.example"),
    ("origin", "null"),
];
/// The headers that it sends for a page of this server, or for a typed address.
const OWN: [(&str, &str); 3] = [
    ("sec-fetch-site", "same-origin"),
    ("sec-fetch-site", "none"),
    ("origin", "https://store.example"),
];

/// The credentials of a caller, in the form of each opening.
struct Openings {
    server: TestServer,
    token: String,
}

impl Openings {
    async fn new() -> Self {
        let server = TestServer::new();
        let log_in = server.request("POST", "/irods-http-api/0.7.0/authenticate").send().await;
        assert_eq!(log_in.status, 200, "{log_in:?}");
        Self { server, token: String::from_utf8(log_in.body.to_vec()).unwrap() }
    }

    /// Method and address of every operation.
    async fn requests(&self) -> Vec<(String, String)> {
        let document =
            self.server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
        let mut requests = native(&document);
        for line in IRODS.lines() {
            let words: Vec<_> = line.split(' ').collect();
            let uri = format!("/irods-http-api/0.7.0/{}?op={}", words[1], words[2]);
            requests.push((words[0].to_owned(), uri));
        }
        for line in REST.lines().chain(REST_CHANGES.lines()) {
            let words: Vec<_> = line.split(' ').collect();
            requests.push((words[0].to_owned(), format!("/irods-rest/0.9.3/{}", words[1])));
        }
        requests.push(("POST".to_owned(), "/irods-http-api/0.7.0/authenticate".to_owned()));
        requests
    }

    fn request(&self, method: &str, uri: &str, header: (&'static str, &str)) -> TestRequest<'_> {
        let is_login = uri.ends_with("/auth") || uri.ends_with("/authenticate");
        let authorization = match uri.starts_with("/v1/") || is_login {
            true => basic(ADMIN),
            false => format!("Bearer {}", self.token),
        };
        let request =
            self.server.request_as(None, method, uri).header("authorization", &authorization);
        request.header("host", "store.example").header(header.0, header.1)
    }

    async fn changes(&self) -> Value {
        self.server.request("GET", "/v1/changes?limit=1000").send().await.expect(200)
    }
}

fn native(document: &Value) -> Vec<(String, String)> {
    let mut requests = vec![("PUT".to_owned(), "/v1/fs/".to_owned())];
    for (path, item) in document["paths"].as_object().unwrap() {
        let uri = path.replace("{path}", "a").replace("{id}", "1").replace("{offset}", "0");
        let methods = item.as_object().unwrap().keys();
        requests.extend(methods.map(|method| (method.to_uppercase(), uri.clone())));
    }
    requests
}

fn changes_something(method: &str, uri: &str) -> bool {
    !matches!(method, "GET" | "HEAD") || uri.ends_with("/ticket") || uri.ends_with("/auth")
}

/// Whether a response is the refusal of a cross-site request, in the form of its opening.
fn is_refusal(uri: &str, answer: &Answer) -> bool {
    let refused = answer.status == 403;
    match () {
        () if !refused => false,
        () if uri.starts_with("/v1/") => answer.json()["type"] == "urn:cenote:problem:cross-site",
        () if uri.starts_with("/irods-http-api/") => {
            answer.json()["irods_response"]["status_code"] == -818_000
        }
        () => answer.json()["error_code"] == -818_000,
    }
}

#[tokio::test]
async fn a_page_of_another_site_changes_nothing_through_any_opening() {
    let openings = Openings::new().await;
    let before = openings.changes().await;
    let (mut refused, mut passed) = (0, 0);
    for (method, uri) in openings.requests().await {
        for header in FOREIGN {
            let answer = openings.request(&method, &uri, header).send().await;
            let changes = changes_something(&method, &uri);
            assert_eq!(is_refusal(&uri, &answer), changes, "{method} {uri} {header:?}: {answer:?}");
            *(if changes { &mut refused } else { &mut passed }) += 1;
        }
    }
    assert_eq!(openings.changes().await, before);
    assert!(refused > 400 && passed > 150, "{refused} {passed}");
}

#[tokio::test]
async fn pages_of_the_store_itself_and_other_clients_are_not_hindered() {
    let openings = Openings::new().await;
    for (method, uri) in openings.requests().await {
        for header in OWN.into_iter().chain([("accept", "*/*")]) {
            let answer = openings.request(&method, &uri, header).send().await;
            assert!(!is_refusal(&uri, &answer), "{method} {uri} {header:?}: {answer:?}");
        }
    }
}

/// The media types that a page may post to another site without a preflight request.
#[tokio::test]
async fn no_post_of_the_native_opening_accepts_a_type_that_any_page_can_send() {
    let server = TestServer::new();
    let document = server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    let posts = native(&document).into_iter().filter(|(method, _)| method == "POST");
    let mut sent = 0;
    for (_, uri) in posts {
        let types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
        for media_type in types.map(Some).into_iter().chain([None]) {
            let request = server.request("POST", &format!("{uri}?path=/")).body("{}");
            let request = match media_type {
                Some(media_type) => request.header("content-type", media_type),
                None => request,
            };
            request.send().await.problem(415, "media-type");
            sent += 1;
        }
    }
    assert!(sent > 80, "{sent}");
}
