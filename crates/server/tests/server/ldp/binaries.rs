//! Non-RDF sources: bytes with a description (LDP 1.0, section 4.4; the Fedora API, sections 3.2 to 3.6).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::{Web, headers, links};

async fn put(
    web: &Web,
    path: &str,
    media_type: &str,
    bytes: &'static [u8],
) -> crate::support::Answer {
    let there = web.request("HEAD", path).send().await;
    let request = web.request("PUT", path).header("content-type", media_type);
    let request = match there.headers.get("etag") {
        Some(tag) => request.header("if-match", tag.to_str().unwrap()),
        None => request,
    };
    request.body(bytes).send().await
}

#[tokio::test]
async fn bytes_are_stored_with_their_type_and_a_description() {
    for web in Web::each() {
        let created = put(&web, "/d/b.png", "image/png", b"not a png").await;
        assert_eq!(created.status, 201, "{}", created.text());
        let described = format!("{}/fcr:metadata", web.address("/d/b.png"));
        assert!(links(&created, &described, "describedby"));
        let read = web.get("/d/b.png").await;
        assert_eq!(
            (read.body.as_ref(), headers(&read, "content-type")),
            (&b"not a png"[..], vec!["image/png"])
        );
        assert!(
            links(&read, &described, "describedby") && links(&read, "ldp:NonRDFSource", "type")
        );
        assert!(!links(&read, "ldp:RDFSource", "type"));
        let tag = headers(&read, "etag")[0].to_owned();
        let options = web.request("OPTIONS", "/d/b.png").send().await;
        assert!(links(&options, &described, "describedby"));
        assert_eq!(put(&web, "/d/b.png", "image/png", b"other").await.status, 204);
        assert_ne!(headers(&web.get("/d/b.png").await, "etag"), [tag]);

        let graph = web.get("/d/b.png/fcr:metadata").await;
        assert!(headers(&graph, "content-type")[0].starts_with("text/turtle"));
        assert!(
            headers(&graph, "link")
                .contains(&format!("<{}>; rel=describes", web.address("/d/b.png")).as_str())
        );
        let patched = web.patch("/d/b.png/fcr:metadata", "INSERT DATA { <> <urn:p> 1 }").await;
        assert_eq!(patched.status, 204, "{}", patched.text());
        let text = web.get("/d/b.png/fcr:metadata").await.text();
        assert!(text.contains("urn:p") && text.contains("hasSize"));
        assert_eq!(web.patch("/d/b.png", "INSERT DATA { <> <urn:p> 1 }").await.status, 415);
        let turtle = web.request("GET", "/d/b.png").header("accept", "text/turtle").send().await;
        assert!(turtle.text().contains("urn:p"), "its graph, for who wants one");
    }
}

#[tokio::test]
async fn a_kind_is_not_replaced_by_another() {
    for (web, status) in Web::each().zip([415, 409, 409]) {
        put(&web, "/b", "text/plain", b"x").await;
        let graph =
            web.request("PUT", "/b").header("content-type", "text/turtle").header("if-match", "*");
        assert_eq!(graph.body("").send().await.status, status);
        web.put("/g", "").await;
        let bytes =
            web.request("PUT", "/g").header("content-type", "image/png").header("if-match", "*");
        assert_eq!(bytes.body("x").send().await.status, status);
        assert_eq!(web.get("/g/fcr:content").await.status, 404);
    }
}

#[tokio::test]
async fn an_empty_body_without_a_type_is_interpreted_according_to_the_dialect() {
    for (web, class) in Web::each().zip(["ldp:NonRDFSource", "ldp:RDFSource", "ldp:RDFSource"]) {
        assert_eq!(web.request("PUT", "/e").send().await.status, 201);
        assert!(links(&web.request("HEAD", "/e").send().await, class, "type"), "{}", web.mount);
    }
}

#[tokio::test]
async fn the_link_header_can_make_a_graph_a_binary() {
    for web in Web::each() {
        let request = web.request("PUT", "/b").header("content-type", "text/turtle");
        let request =
            request.header("link", "<http://www.w3.org/ns/ldp#NonRDFSource>;rel=\"type\"");
        assert_eq!(request.body("no turtle").send().await.status, 201);
        let read = web.request("GET", "/b/fcr:content").send().await;
        assert_eq!(
            (read.text().as_str(), headers(&read, "content-type")),
            ("no turtle", vec!["text/turtle"])
        );
        let source = web.request("PUT", "/c").header("content-type", "text/plain");
        let source = source.header("link", "<http://www.w3.org/ns/ldp#RDFSource>;rel=\"type\"");
        assert_eq!(source.body("x").send().await.status, 415);
    }
}

#[tokio::test]
async fn digests_are_checked_and_returned() {
    let sha1 = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, b"bytes");
    let (hex, base64) = (hex::encode(sha1.as_ref()), BASE64_STANDARD.encode(sha1.as_ref()));
    for web in Web::each() {
        for (digest, status) in [
            (format!("sha={hex}"), 201),
            (format!("sha1={base64}"), 204),
            (format!("sha={}", "0".repeat(40)), 409),
            ("sha1=abcd".to_owned(), 409),
            ("sha1=b'no base64'".to_owned(), 400),
            ("whirlpool=00".to_owned(), 400),
            ("sha".to_owned(), 400),
        ] {
            let request = web.request("PUT", "/b").header("content-type", "text/plain");
            let request = if status == 201 { request } else { request.header("if-match", "*") };
            let put = request.header("digest", &digest).body("bytes").send().await;
            assert_eq!(put.status, status, "{digest}: {}", put.text());
        }
        let wanted =
            web.request("HEAD", "/b").header("want-digest", "md5, sha;q=0.5, x").send().await;
        let digest = headers(&wanted, "digest")[0].to_owned();
        let shown =
            if web.mount == "/ldp" { format!("SHA1={base64}") } else { format!("sha={hex}") };
        assert!(digest.contains(&shown) && digest.to_lowercase().contains("md5="), "{digest}");
        assert_eq!(web.request("GET", "/b").header("want-digest", "x").send().await.status, 400);
    }
}

#[tokio::test]
async fn ranges_have_the_form_of_the_dialect() {
    for web in Web::each() {
        put(&web, "/b", "text/plain", b"0123456789").await;
        let range = |range: &'static str| web.request("GET", "/b").header("range", range).send();
        let part = range("bytes=2-4").await;
        assert_eq!((part.status.as_u16(), part.text().as_str()), (206, "234"));
        let form = if web.mount == "/ldp" { "bytes 2-4 / 10" } else { "bytes 2-4/10" };
        assert_eq!(headers(&part, "content-range"), [form]);
        assert_eq!(range("bytes=20-").await.status, 416);
        let several = if web.mount == "/ldp" { 501 } else { 200 };
        assert_eq!(range("bytes=0-1,3-4").await.status, several);
    }
}

#[tokio::test]
async fn the_file_in_a_form_is_stored() {
    for web in Web::each() {
        let part = "Content-Disposition: form-data; name=\"file\"; filename=\"run.txt\"\r\nContent-Type: text/plain";
        let form = format!("--x\r\n{part}\r\n\r\nbytes\r\n--x--\r\n");
        let request =
            web.request("PUT", "/f").header("content-type", "multipart/form-data; boundary=x");
        assert_eq!(request.body(form).send().await.status, 201);
        let read = web.get("/f").await;
        assert_eq!(
            (read.text().as_str(), headers(&read, "content-type")),
            ("bytes", vec!["text/plain"])
        );
        for (boundary, form) in
            [("", ""), ("; boundary=x", "--x--\r\n"), ("; boundary=x", "--x\r\n")]
        {
            let request = web
                .request("PUT", "/g")
                .header("content-type", &format!("multipart/form-data{boundary}"));
            assert_eq!(request.body(form).send().await.status, 400, "{boundary} {form}");
        }
    }
}

#[tokio::test]
async fn tags_of_lakesuperior_need_no_quotes() {
    let web = Web::new("/ldp");
    put(&web, "/b", "text/plain", b"x").await;
    let tag = headers(&web.get("/b").await, "etag")[0].to_owned();
    assert!(!tag.contains('"'));
    for tag in [tag.clone(), format!("\"{tag}\""), format!("other, {tag}")] {
        let read = web.request("GET", "/b").header("if-none-match", &tag);
        // A condition on tags takes precedence over one on times.
        let read = read.header("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(read.send().await.status, 304, "{tag}");
        let matched = web.request("GET", "/b").header("if-match", &tag);
        let matched = matched.header("if-modified-since", "Fri, 31 Dec 2100 23:59:59 GMT");
        assert_eq!(matched.send().await.status, 200, "{tag}");
    }
}
