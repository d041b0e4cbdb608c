//! Each kind of fault of an object is found.

use std::fs;

use cenote_ocfl::{Algorithm, Inventory, Object};
use serde_json::{Value, json};

use crate::support::{Sample, write_inventory};

/// Applies one change to a sample, and expects one of these codes.
fn expect(codes: &[&str], what: &str, change: impl FnOnce(&Sample)) {
    let sample = Sample::new();
    sample.check().unwrap();
    change(&sample);
    let faults = sample.check().expect_err(what);
    let found = codes.iter().any(|code| faults.has(code));
    assert!(found, "{what}: {faults}");
}

fn edited(codes: &[&str], what: &str, change: impl FnOnce(&mut Value)) {
    expect(codes, what, |sample| sample.edit(change));
}

/// Replaces a text in the inventory.
fn replaced(codes: &[&str], from: &str, to: &str) {
    expect(codes, &format!("{from} -> {to}"), |sample| {
        let text = fs::read_to_string(sample.path("inventory.json")).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        sample.replace_inventory(&text.replace(from, to));
    });
}

#[test]
fn missing_or_wrong_files_of_the_object() {
    expect(&["E003"], "no declaration", |it| {
        fs::remove_file(it.path("0=ocfl_object_1.1")).unwrap();
    });
    expect(&["E003"], "two declarations", |it| {
        fs::write(it.path("0=ocfl_object_1.0"), "ocfl_object_1.0\n").unwrap();
    });
    expect(&["E007"], "another declaration", |it| {
        fs::write(it.path("0=ocfl_object_1.1"), "ocfl_object_1.1").unwrap();
    });
    expect(&["E004"], "a later specification", |it| {
        fs::rename(it.path("0=ocfl_object_1.1"), it.path("0=ocfl_object_2.0")).unwrap();
    });
    expect(&["E038"], "an earlier declaration", |it| {
        fs::remove_file(it.path("0=ocfl_object_1.1")).unwrap();
        fs::write(it.path("0=ocfl_object_1.0"), "ocfl_object_1.0\n").unwrap();
    });
    expect(&["E063"], "no inventory", |it| fs::remove_file(it.path("inventory.json")).unwrap());
    expect(&["E058"], "no sidecar", |it| {
        fs::remove_file(it.path("inventory.json.sha512")).unwrap();
    });
    expect(&["E061"], "a sidecar of another form", |it| {
        fs::write(it.path("inventory.json.sha512"), "x y z").unwrap();
    });
    expect(&["E060"], "another digest", |it| {
        let digest = Algorithm::Sha512.of(b"");
        fs::write(it.path("inventory.json.sha512"), format!("{digest} inventory.json")).unwrap();
    });
    expect(&["E001"], "a file", |it| fs::write(it.path("notes"), "").unwrap());
    expect(&["E001"], "a directory", |it| fs::create_dir(it.path("more")).unwrap());
    expect(&["E067"], "a file among extensions", |it| {
        fs::create_dir(it.path("extensions")).unwrap();
        fs::write(it.path("extensions/x"), "").unwrap();
    });
    expect(&["E111"], "a mutable head", |it| {
        fs::create_dir_all(it.path("extensions/0005-mutable-head")).unwrap();
    });
}

#[test]
fn missing_or_wrong_version_directories() {
    expect(&["E010"], "a version is missing", |it| fs::remove_dir_all(it.path("v2")).unwrap());
    expect(&["E046"], "a version too many", |it| fs::create_dir(it.path("v4")).unwrap());
    expect(&["E015"], "a file beside the contents", |it| {
        fs::write(it.path("v1/notes"), "").unwrap();
    });
    expect(&["E064"], "the head has another inventory", |it| {
        let text = fs::read_to_string(it.path("v3/inventory.json")).unwrap() + " ";
        write_inventory(&it.path("v3"), &text);
    });
    expect(&["E058"], "an earlier inventory without a sidecar", |it| {
        fs::remove_file(it.path("v1/inventory.json.sha512")).unwrap();
    });
    expect(&["E060"], "an earlier inventory with another digest", |it| {
        fs::write(it.path("v1/inventory.json"), "{}").unwrap();
    });
    let older = |change: fn(&mut Value)| {
        move |it: &Sample| {
            let text = fs::read(it.path("v2/inventory.json")).unwrap();
            let mut inventory: Value = serde_json::from_slice(&text).unwrap();
            change(&mut inventory);
            write_inventory(&it.path("v2"), &inventory.to_string());
        }
    };
    expect(&["E037"], "of another object", older(|it| it["id"] = json!("urn:other")));
    expect(
        &["E019"],
        "with another directory",
        older(|it| {
            it["contentDirectory"] = json!("stuff");
            let text = it.to_string().replace("/content/", "/stuff/");
            *it = serde_json::from_str(&text).unwrap();
        }),
    );
    expect(
        &["E066"],
        "with another state",
        older(|it| {
            let state = it["versions"]["v2"]["state"].to_string();
            let swapped =
                state.replace("a.txt", "?").replace("b/c.txt", "a.txt").replace('?', "b/c.txt");
            it["versions"]["v2"]["state"] = serde_json::from_str(&swapped).unwrap();
        }),
    );
    expect(&["E040"], "of another version", |it| {
        for name in ["inventory.json", "inventory.json.sha512"] {
            fs::copy(it.path("v1").join(name), it.path("v2").join(name)).unwrap();
        }
    });
    expect(&["E103"], "of a later specification", |it| {
        fs::rename(it.path("0=ocfl_object_1.1"), it.path("0=ocfl_object_1.0")).unwrap();
        fs::write(it.path("0=ocfl_object_1.0"), "ocfl_object_1.0\n").unwrap();
        it.edit(|it| it["type"] = json!("https://ocfl.io/1.0/spec/#inventory"));
    });
}

#[test]
fn missing_or_wrong_contents() {
    expect(&["E092"], "a content is missing", |it| {
        fs::remove_dir_all(it.path("v2/content")).unwrap();
    });
    expect(&["E092"], "a content is another one", |it| {
        fs::write(it.path("v1/content/a.txt"), "eno").unwrap();
    });
    expect(&["E023"], "a content too many", |it| {
        fs::write(it.path("v1/content/x"), "").unwrap();
    });
    expect(&["E024"], "an empty directory", |it| {
        fs::create_dir(it.path("v1/content/x")).unwrap();
    });
    edited(&["E093"], "a digest of a fixity block", |it| {
        it["fixity"]["md5"] = json!({ "00": ["v1/content/a.txt"] });
    });
    edited(&["E093"], "a fixity block of something else", |it| {
        it["fixity"]["md5"] = json!({ "00": ["v1/content/x.txt"] });
    });
}

#[cfg(unix)]
#[test]
fn links_are_refused_wherever_they_are() {
    use std::os::unix::fs::symlink;
    for name in ["v1/content/a.txt", "inventory.json", "inventory.json.sha512", "0=ocfl_object_1.1"]
    {
        expect(&["E090"], name, |it| {
            let elsewhere = it.root().join("elsewhere");
            fs::rename(it.path(name), &elsewhere).unwrap();
            symlink(&elsewhere, it.path(name)).unwrap();
        });
    }
    for name in ["v2", "v2/content", "v1/content"] {
        expect(&["E090", "E001"], name, |it| {
            let elsewhere = it.root().join("elsewhere");
            fs::rename(it.path(name), &elsewhere).unwrap();
            symlink(&elsewhere, it.path(name)).unwrap();
        });
    }
}

#[test]
fn inventories_that_contradict_themselves() {
    edited(&["E036"], "no id", |it| drop(it.as_object_mut().unwrap().remove("id")));
    edited(&["E036"], "no head", |it| drop(it.as_object_mut().unwrap().remove("head")));
    edited(&["E041"], "no manifest", |it| drop(it.as_object_mut().unwrap().remove("manifest")));
    edited(&["E043"], "no versions", |it| drop(it.as_object_mut().unwrap().remove("versions")));
    edited(&["E033"], "no object", |it| *it = json!([]));
    edited(&["E033"], "not a text", |it| it["head"] = json!(3));
    edited(&["E008"], "an empty block of versions", |it| it["versions"] = json!({}));
    edited(&["E025"], "another algorithm", |it| it["digestAlgorithm"] = json!("md5"));
    edited(&["E038"], "another type", |it| {
        it["type"] = json!("https://ocfl.io/2.0/spec/#inventory")
    });
    edited(&["E040"], "an earlier head", |it| it["head"] = json!("v2"));
    edited(&["E040"], "a head that is missing", |it| it["head"] = json!("v4"));
    edited(&["E040"], "a head of another form", |it| it["head"] = json!("3"));
    edited(&["E010"], "a version is missing", |it| {
        it["versions"].as_object_mut().unwrap().remove("v2");
    });
    edited(&["E012"], "zeros in front of one", |it| {
        let versions = it["versions"].as_object_mut().unwrap();
        let second = versions.remove("v2").unwrap();
        versions.insert("v02".to_owned(), second);
    });
    edited(&["E046"], "a version of another form", |it| it["versions"]["four"] = json!({}));
    edited(&["E048"], "no time", |it| {
        it["versions"]["v1"].as_object_mut().unwrap().remove("created");
    });
    for time in ["2019-01-01T02:03:04", "2019-01-01T01:02Z", "yesterday", "2019-01-01"] {
        edited(&["E049"], time, |it| it["versions"]["v1"]["created"] = json!(time));
    }
    edited(&["E054"], "a user without a name", |it| it["versions"]["v1"]["user"] = json!({}));
    edited(&["E050"], "a digest that the manifest does not have", |it| {
        it["versions"]["v1"]["state"] = json!({ "abc": ["x"] });
    });
    edited(&["E107"], "a content that no version has", |it| {
        it["manifest"]["abc"] = json!(["v1/content/x"]);
    });
}

#[test]
fn paths_outside_the_object() {
    for path in ["../a.txt", "/a.txt", "b/../a.txt", "./a.txt", "b//c", "a.txt/", "", "a\\u0000b"] {
        replaced(&["E052"], "b/c.txt\"", &format!("{path}\""));
        let codes = ["E099", "E042"];
        replaced(&codes, "v1/content/a.txt", path);
        replaced(&codes, "v1/content/a.txt", &format!("v1/content/../../{path}"));
    }
    replaced(&["E042"], "v1/content/a.txt", "v4/content/a.txt");
    replaced(&["E042"], "v1/content/a.txt", "v1/a.txt");
    for directory in ["..", ".", "a/b", ""] {
        edited(&["E017"], directory, |it| it["contentDirectory"] = json!(directory));
    }
}

#[test]
fn duplicate_names_and_digests() {
    let text = |it: &Sample| fs::read_to_string(it.path("inventory.json")).unwrap();
    let digest = Algorithm::Sha512.of(b"one");
    expect(&["E096"], "a digest", |it| {
        let more = format!("\"manifest\":{{\"{}\":[\"v1/content/a.txt\"],", digest.to_uppercase());
        it.replace_inventory(&text(it).replacen("\"manifest\":{", &more, 1));
    });
    expect(&["E101"], "a content", |it| {
        let twice = "\"v1/content/a.txt\",\"v1/content/a.txt\"";
        it.replace_inventory(&text(it).replace("\"v1/content/a.txt\"", twice));
    });
    replaced(&["E095"], "\"b/c.txt\"", "\"b/c.txt\",\"b/c.txt\"");
    replaced(&["E095"], "\"b/c.txt\"", "\"a.txt/b\"");
    replaced(&["E033"], "\"head\":\"v3\"", "\"head\":\"v3\",\"head\":\"v3\"");
}

#[test]
fn names_that_differ_only_in_case_are_different() {
    let sample = Sample::new();
    let one = Algorithm::Sha512.of(b"one");
    sample.edit(|it| it["versions"]["v3"]["state"][&one] = json!(["A.txt", "A.TXT"]));
    sample.check().unwrap();
    let object = Object::open(&sample.object).unwrap();
    let newest: &Inventory = object.inventory();
    assert_eq!(newest.newest().state.len(), 3);
}

#[test]
fn a_huge_or_nested_inventory_is_refused() {
    expect(&["E033"], "nested", |it| it.replace_inventory(&"[".repeat(1 << 20)));
    expect(&["io"], "huge", |it| {
        let file = fs::File::create(it.path("inventory.json")).unwrap();
        file.set_len(1 << 40).unwrap();
    });
    edited(&["E010", "E040"], "a head without end", |it| {
        let versions = it["versions"].as_object_mut().unwrap();
        let last = versions.remove("v3").unwrap();
        versions.insert("v999999999".to_owned(), last);
        it["head"] = json!("v999999999");
    });
}
