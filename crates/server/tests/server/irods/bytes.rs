//! Bytes in and out.

use super::{BASE, Irods, Settings, code};

#[tokio::test]
async fn bytes_are_read_in_parts_and_numbers_may_have_the_form_of_r() {
    let irods = Irods::new().await;
    irods.write("o", "0123456789").await;
    let path = irods.path("o");
    let read = async |offset: &str, count: &str| {
        let query =
            [("op", "read"), ("lpath", path.as_str()), ("offset", offset), ("count", count)];
        irods.get("data-objects", &query).await
    };
    assert_eq!(read("2", "3").await.body, "234");
    assert_eq!(read("0e+00", "1e+01").await.body, "0123456789");
    assert_eq!(read("8", "100").await.body, "89");
    assert_eq!(read("100", "1").await.body, "");
    for (offset, count) in [("-1", "1"), ("0", "-1"), ("x", "1"), ("0.5", "1")] {
        assert_eq!(read(offset, count).await.status, 400, "{offset} {count}");
    }
    for path in [irods.path("none"), irods.home.clone(), "/x".into()] {
        let answer = irods.get("data-objects", &[("op", "read"), ("lpath", &path)]).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (404, 0), "{path}");
    }
}

#[tokio::test]
async fn a_write_truncates_by_default() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let write = async |bytes: &str, more: &[(&str, &str)]| {
        let mut form = vec![("op", "write"), ("lpath", path.as_str()), ("bytes", bytes)];
        form.extend_from_slice(more);
        irods.post("data-objects", &form).await
    };
    assert_eq!(code(&write("hello", &[]).await), 0);
    assert_eq!(code(&write("HE", &[("truncate", "0")]).await), 0);
    assert_eq!(irods.read("o").await, "HEllo");
    assert_eq!(code(&write("!", &[("append", "1")]).await), 0);
    assert_eq!(irods.read("o").await, "HEllo!");
    assert_eq!(code(&write("LL", &[("offset", "2"), ("truncate", "0")]).await), 0);
    assert_eq!(irods.read("o").await, "HELLo!");
    assert_eq!(code(&write("x", &[("offset", "2")]).await), 0);
    assert_eq!(irods.read("o").await, "\0\0x");
    assert_eq!(code(&write("", &[]).await), 0);
    assert_eq!(irods.read("o").await, "");
    assert_eq!(code(&write("x", &[("replica-number", "1")]).await), -164_000);
    assert_eq!(code(&write("x", &[("resource", "elsewhere")]).await), -78_000);
    assert_eq!(write("x", &[("replica-number", "x")]).await.status, 400);
    assert_eq!(write("x", &[("offset", "-1")]).await.status, 400);
    let none = irods.post("data-objects", &[("op", "write"), ("lpath", &path)]).await;
    assert_eq!(none.status, 400);
    let nowhere = irods.path("none/o");
    let form = [("op", "write"), ("lpath", nowhere.as_str()), ("bytes", "x")];
    assert_eq!(code(&irods.post("data-objects", &form).await), -818_000);
}

#[tokio::test]
async fn form_parts_may_have_any_order_and_any_bytes() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let bytes = b"a\r\n--x\r\n\0+%=&";
    let answer = irods
        .parts(&[("bytes", bytes), ("offset", b"0"), ("lpath", path.as_bytes()), ("op", b"write")])
        .await;
    assert_eq!(code(&answer), 0);
    assert_eq!(irods.read("o").await.as_bytes(), bytes);
    let large = vec![7; 300_000];
    let parts: [(&str, &[u8]); 3] =
        [("op", b"write"), ("lpath", path.as_bytes()), ("bytes", &large)];
    assert_eq!(code(&irods.parts(&parts).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["size"], 300_000);
    assert_eq!(irods.parts(&[("lpath", path.as_bytes())]).await.status, 400);
}

#[tokio::test]
async fn a_write_may_carry_its_parameters_in_headers() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let request = irods.server.request_as(None, "POST", &format!("{BASE}/data-objects"));
    let request = request
        .header("authorization", &format!("Bearer {}", irods.token))
        .header("irods-api-request-op", "write")
        .header("irods-api-request-lpath", &path)
        .header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(code(&request.body("op=read&x=+").send().await), 0);
    assert_eq!(irods.read("o").await, "op=read&x=+");
}

#[tokio::test]
async fn a_body_may_exceed_the_advertised_limit() {
    let irods = Irods::with(Settings { body_bytes: 10, ..Settings::default() }).await;
    let info = irods.get("info", &[]).await.expect(200);
    assert_eq!(info["max_size_of_request_body_in_bytes"], 10);
    let bytes = "0123456789".repeat(20_000);
    irods.write("o", &bytes).await;
    assert!(irods.read("o").await == bytes);
    let path = irods.path("o");
    let parts: [(&str, &[u8]); 3] =
        [("op", b"write"), ("lpath", path.as_bytes()), ("bytes", &[7; 100_000])];
    assert_eq!(code(&irods.parts(&parts).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["size"], 100_000);
}
