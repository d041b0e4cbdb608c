use super::*;

fn given(config: Option<PathBuf>, store: Option<&str>) -> Given {
    let store = store.map(|store| ("url", "flag --store", store.to_owned()));
    Given { config, values: store.into_iter().collect() }
}

fn with_file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

#[test]
fn a_flag_takes_precedence_over_the_environment_and_that_over_the_file() {
    let (_dir, path) = with_file("url = 'file'\nuser = 'file'\npassword = 'file'\n");
    let args = given(Some(path.clone()), Some("flag"));
    let environment = |name: &str| (name == "CENOTE_USER").then(|| "environment".to_owned());
    let settings = Settings::resolve(&args, environment).unwrap();
    let all: Vec<_> = ["url", "user", "password"]
        .map(|name| settings.get(name).unwrap())
        .map(|setting| (setting.value.as_str(), setting.source.clone()))
        .into();
    assert_eq!(
        all,
        [
            ("flag", Source::Given("flag --store")),
            ("environment", Source::Environment("CENOTE_USER")),
            ("file", Source::File(path)),
        ]
    );
}

#[test]
fn a_secret_is_for_the_address_from_the_same_source() {
    let (_dir, path) = with_file("url = 'file'\ntoken = 'file'\n");
    let args = given(Some(path), Some("flag"));
    let environment = |name: &str| (name == "CENOTE_TICKET").then(|| "environment".to_owned());
    let settings = Settings::resolve(&args, environment).unwrap();
    let meant_for = |name| settings.url_beside(settings.get(name).unwrap());
    assert_eq!(meant_for("token"), Some("file"));
    assert_eq!(meant_for("ticket"), None);
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let settings = Settings::resolve(&Given::default(), |_| Some(String::new()));
    // An empty CENOTE_CONFIG names no file that could be read.
    assert_eq!(settings.unwrap_err().kind(), Kind::Invalid);
    let settings =
        Settings::resolve(&Given::default(), |name| (name == "CENOTE_URL").then(String::new))
            .unwrap();
    assert!(settings.get("url").is_none());
}

#[test]
fn the_file_is_found_below_the_home() {
    let home = |name: &str| (name == "HOME").then(|| "/nowhere/ada".to_owned());
    let settings = Settings::resolve(&Given::default(), home).unwrap();
    assert_eq!(settings.file(), Some(Path::new("/nowhere/ada/.config/cenote/config.toml")));
}

#[test]
fn an_invalid_file_is_refused_with_the_reason() {
    for (text, wrong) in [
        ("url = 3", "`url` must be a string"),
        ("colour = 'red'", "unknown setting `colour`"),
        ("url = ", "is invalid"),
    ] {
        let (_dir, path) = with_file(text);
        let error = Settings::resolve(&given(Some(path), None), |_| None).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid);
        assert!(error.to_string().contains(wrong), "{error}");
    }
}

#[test]
fn a_named_file_has_to_exist() {
    let args = given(Some("/nowhere/config.toml".into()), None);
    assert_eq!(Settings::resolve(&args, |_| None).unwrap_err().kind(), Kind::Invalid);
}
