//! Words of all kinds, by an index.

use cenote_text::TextIndex;

use super::world::World;

#[test]
fn words_are_found_in_any_script_and_case() {
    let world = World::new();
    let index = TextIndex::in_memory();
    world.mkdir("/Ångström").unwrap();
    world.describe("/Ångström", &["Über die Straße nach 東京", "ΟΔΟΣ", "naïve"]).unwrap();
    index.lead(&world.store, &|| true).unwrap();
    world.mkdir("/later").unwrap();
    world.describe("/later", &["STRASSE"]).unwrap();
    for text in ["angstrom", "uber", "東京", "οδος", "NAIVE", "nai*", "\"die strasse\""] {
        assert_eq!(world.led(&index, &world.admin, text), ["/Ångström"], "{text}");
    }
    assert_eq!(world.led(&index, &world.admin, "straße"), ["/later", "/Ångström"]);
}

/// The index has only the beginnings of long words.
#[test]
fn very_long_words_are_distinguished() {
    let world = World::new();
    let (one, other) = (format!("{}1", "é".repeat(300)), format!("{}2", "é".repeat(300)));
    for (name, word) in [("/one", &one), ("/other", &other)] {
        world.mkdir(name).unwrap();
        world.describe(name, &[word]).unwrap();
    }
    let index = TextIndex::in_memory();
    assert_eq!(world.led(&index, &world.admin, &one), ["/one"]);
    let beginning = format!("{}*", "e".repeat(200));
    assert_eq!(world.led(&index, &world.admin, &beginning), ["/one", "/other"]);
    let most = "x".repeat(70_000);
    world.mkdir("/most").unwrap();
    world.describe("/most", &[&most]).unwrap();
    let index = TextIndex::in_memory();
    assert_eq!(world.led(&index, &world.admin, "xxxxx*"), ["/most"]);
}
