//! GenQuery over a store: every statement that the test suites of the real clients send.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_query::Error;
use cenote_query::genquery::{
    DelayedRule, Limits, Options, RemoteZone, Resource, Stop, Zone, genquery1, genquery2, stored,
};
use cenote_store::{
    AccessChange, At, Avu, AvuChange, Caller, Conditions, CreateOptions, Draft, Expected,
    NewTicket, NewUser, Parts, PutOptions, QuotaLimits, QuotaSetting, QuotaTarget, Received,
    Rights, Role, Scope, Store, StorePath,
};
use proptest::prelude::*;

struct World {
    store: Store,
    admin: Caller,
}

impl World {
    fn new() -> Self {
        let parts = Parts::new(MemoryEngine::default(), Place::memory("main"));
        let store = Store::create_new(parts, "rods", "rods").unwrap();
        let admin = store.authenticate_password("rods", "rods").unwrap();
        Self { store, admin }
    }

    fn planted() -> Self {
        let world = Self::new();
        for collection in ["/home", "/home/rods", "/home/rods/a", "/home/rods/b"] {
            world.mkdir(collection);
        }
        for (object, size) in [("a/x", 3), ("a/y", 20), ("b/x", 100), ("it's", 0)] {
            world.put(&format!("/home/rods/{object}"), size);
        }
        world.describe("/home/rods/a/x", "colour", "green", Some("u"));
        world.describe("/home/rods/a/x", "weight", "9", None);
        world.describe("/home/rods/b/x", "colour", "green", None);
        world.describe("/home/rods/b/x", "weight", "10", None);
        world.describe("/home/rods/a", "a1", "v1", Some("u1"));
        world
    }

    fn mkdir(&self, path: &str) {
        let path: StorePath = path.parse().unwrap();
        let options = CreateOptions::default();
        self.store.create(&self.admin, &path, Draft::Collection, options).unwrap();
    }

    fn put(&self, path: &str, size: usize) {
        let bytes = Received::inline(&vec![b'x'; size], &Expected::default()).unwrap();
        let path: StorePath = path.parse().unwrap();
        self.store.publish(&self.admin, &path, &bytes, &PutOptions::default()).unwrap();
    }

    /// Grants a user (created if need be) rights on the resource at a path.
    fn grant(&self, path: &str, name: &str, rights: Rights) {
        if self.store.person_named(name).is_err() {
            let user = NewUser { name: name.into(), password: None, role: Role::User };
            self.store.add_user(&self.admin, &user).unwrap();
        }
        let at: At = path.parse::<StorePath>().unwrap().into();
        let change = AccessChange::Grant(name.into(), rights.into(), Scope::This);
        self.store.change_access(&self.admin, &at, &[change]).unwrap();
    }

    fn limit(&self, user: &str, hard: QuotaLimits) {
        let setting = QuotaSetting { hard, ..QuotaSetting::default() };
        self.set_quota(&QuotaTarget::User(user.into()), setting);
    }

    fn set_quota(&self, of: &QuotaTarget, setting: QuotaSetting) {
        self.store.set_quota(&self.admin, of, setting).unwrap();
    }

    fn describe(&self, path: &str, attribute: &str, value: &str, unit: Option<&str>) {
        let avu =
            Avu { attribute: attribute.into(), value: value.into(), unit: unit.map(str::to_owned) };
        let at: At = path.parse::<StorePath>().unwrap().into();
        let change = [AvuChange::Add(avu)];
        self.store.change_avus(&self.admin, &at, &change, &Conditions::default()).unwrap();
    }

    fn query_with(&self, caller: &Caller, query: &str, options: Options) -> Vec<Vec<String>> {
        let reading = self.store.reading(caller).unwrap();
        genquery1(&reading, &zone(), query, options, Limits::NONE)
            .unwrap_or_else(|e| panic!("{query}: {e}"))
    }

    /// The rows of a GenQuery 2 result, their columns joined by `|`.
    fn query2(&self, query: &str) -> Vec<String> {
        let reading = self.store.reading(&self.admin).unwrap();
        let rows = genquery2(&reading, &zone(), query, 1_000, Limits::NONE);
        let rows = rows.unwrap_or_else(|e| panic!("{query}: {e}"));
        rows.into_iter().map(|row| row.join("|")).collect()
    }

    /// The rows of a result, their columns joined by `|`.
    fn query(&self, query: &str) -> Vec<String> {
        let rows = self.query_with(&self.admin, query, Options::default());
        rows.into_iter().map(|row| row.join("|")).collect()
    }
}

fn zone() -> Zone {
    let avu = Avu { attribute: "speed".into(), value: "fast".into(), unit: None };
    let resource = |id: u64, name: &str, avus: &[Avu]| Resource {
        id,
        name: name.into(),
        kind: "unixfilesystem".into(),
        avus: avus.to_vec(),
        ..Resource::default()
    };
    Zone {
        name: "tempZone".into(),
        resources: vec![resource(20, "demoResc", &[avu]), resource(21, "slow", &[])],
        remote: vec![RemoteZone { name: "other".into(), ..RemoteZone::default() }],
        delayed: vec![DelayedRule { id: 9, ..DelayedRule::default() }],
    }
}

#[test]
fn the_queries_of_rirods_are_answered() {
    let world = World::planted();
    let of_children = "select COLL_NAME, META_COLL_ATTR_NAME, META_COLL_ATTR_VALUE, \
                       META_COLL_ATTR_UNITS where COLL_PARENT_NAME = '/tempZone/home/rods'";
    assert_eq!(world.query(of_children), ["/tempZone/home/rods/a|a1|v1|u1"]);
    let of_objects = "select COLL_NAME, DATA_NAME, META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE, \
                      META_DATA_ATTR_UNITS where COLL_NAME = '/tempZone/home/rods/a'";
    assert_eq!(
        world.query(of_objects),
        ["/tempZone/home/rods/a|x|colour|green|u", "/tempZone/home/rods/a|x|weight|9|"]
    );
    let of_one = "select META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE, META_DATA_ATTR_UNITS \
                  where COLL_NAME = '/tempZone/home/rods/b' and DATA_NAME = 'x'";
    assert_eq!(world.query(of_one), ["colour|green|", "weight|10|"]);
    let of_itself = "select META_COLL_ATTR_NAME, META_COLL_ATTR_VALUE, META_COLL_ATTR_UNITS \
                     where COLL_NAME = '/tempZone/home/rods/a'";
    assert_eq!(world.query(of_itself), ["a1|v1|u1"]);
}

#[test]
fn the_queries_of_the_http_api_s_suite_are_answered() {
    let world = World::planted();
    let all = world.query("select COLL_NAME");
    assert_eq!(all.first().map(String::as_str), Some("/tempZone"));
    assert!(all.contains(&"/tempZone/home/rods".to_owned()));
    assert_eq!(
        world.query(
            "select COLL_NAME where META_COLL_ATTR_NAME = 'a1' and META_COLL_ATTR_VALUE = 'v1' \
             and META_COLL_ATTR_UNITS = 'u1'"
        ),
        ["/tempZone/home/rods/a"]
    );
    let one = "where COLL_NAME = '/tempZone/home/rods/a' and DATA_NAME = 'y'";
    for (columns, expected) in [
        ("DATA_NAME, RESC_NAME", "y|demoResc"),
        (
            "COLL_NAME, DATA_NAME, DATA_PATH, RESC_NAME",
            "/tempZone/home/rods/a|y|/home/rods/a/y|demoResc",
        ),
        ("DATA_REPL_STATUS, DATA_SIZE", "1|20"),
        ("DATA_REPL_NUM, DATA_PATH", "0|/home/rods/a/y"),
        ("order_asc(DATA_REPL_NUM), DATA_SIZE", "0|20"),
    ] {
        assert_eq!(world.query(&format!("select {columns} {one}")), [expected]);
        assert_eq!(
            world.query(&format!("select {columns} {one} and DATA_REPL_NUM = '0'")),
            [expected]
        );
        assert!(world.query(&format!("select {columns} {one} and DATA_REPL_NUM = '1'")).is_empty());
    }
    let time = world.query(&format!("select DATA_MODIFY_TIME {one}"));
    assert!(time[0].len() == 11 && time[0].parse::<u64>().is_ok(), "{time:?}");
    assert_eq!(world.query("select max(RULE_EXEC_ID)"), ["9"]);
    assert_eq!(world.query("select ZONE_NAME, ZONE_TYPE"), ["other|remote", "tempZone|local"]);
    assert_eq!(world.query("select RESC_NAME where META_RESC_ATTR_VALUE = 'fast'"), ["demoResc"]);
    assert_eq!(world.query("select RESC_NAME where RESC_ID > '20'"), ["slow"]);
    assert!(world.query("select RESC_NAME where META_RESC_ATTR_NAME = 'a'").is_empty());
    assert!(world.query("select TICKET_STRING").is_empty());
    assert_eq!(world.query("select USER_NAME where USER_NAME = 'rods'"), ["rods"]);
}

#[test]
fn conditions_on_one_attribute_apply_to_one_statement() {
    let world = World::planted();
    let mixed =
        "select COLL_NAME where META_DATA_ATTR_NAME = 'colour' and META_DATA_ATTR_VALUE = '9'";
    assert!(world.query(mixed).is_empty());
    let both = "select COLL_NAME, DATA_NAME where META_DATA_ATTR_NAME = 'colour' \
                and META_DATA_ATTR_VALUE = 'green' and META_DATA_ATTR_NAME = 'weight' \
                and META_DATA_ATTR_VALUE n> '9'";
    assert_eq!(world.query(both), ["/tempZone/home/rods/b|x"]);
}

#[test]
fn each_attribute_name_is_a_separate_condition_with_its_value() {
    let world = World::planted();
    for value in ["1", "3"] {
        world.describe("/home/rods/a/x", "n", value, None);
    }
    world.describe("/home/rods/a/y", "n", "2", None);
    for (conditions, expected) in [
        // Both tests apply to one attribute, so 1 and 3 together do not pass.
        (
            "META_DATA_ATTR_NAME = 'n' and META_DATA_ATTR_VALUE > '1' and META_DATA_ATTR_VALUE < '3'",
            &["y"][..],
        ),
        // The names come first: the values apply to each in turn.
        (
            "META_DATA_ATTR_NAME = 'colour' and META_DATA_ATTR_NAME = 'weight' \
          and META_DATA_ATTR_VALUE = 'green' and META_DATA_ATTR_VALUE = '9'",
            &["x"],
        ),
        (
            "META_DATA_ATTR_NAME = 'weight' and META_DATA_ATTR_NAME = 'colour' \
          and META_DATA_ATTR_VALUE = 'green' and META_DATA_ATTR_VALUE = '9'",
            &[],
        ),
        // The value looked up in the index is the one that belongs to the name.
        (
            "META_DATA_ATTR_NAME = 'weight' and META_DATA_ATTR_VALUE n> '8' \
          and META_DATA_ATTR_NAME = 'colour' and META_DATA_ATTR_VALUE = 'green'",
            &["x"],
        ),
        ("META_DATA_ATTR_NAME = 'n' and META_DATA_ATTR_VALUE n= '1.0'", &["x"]),
        ("META_DATA_ATTR_NAME = 'n' and META_DATA_ATTR_VALUE not = '1'", &["x", "y"]),
    ] {
        assert_eq!(
            world.query(&format!("select DATA_NAME where {conditions}")),
            expected,
            "{conditions}"
        );
    }
}

#[test]
fn a_backslash_escapes_a_wildcard() {
    let world = World::planted();
    for name in ["/home/rods/c_d", "/home/rods/c1d"] {
        world.mkdir(name);
        world.put(&format!("{name}/o"), 1);
    }
    for (pattern, expected) in [("c_d", 2), (r"c\_d", 1), (r"c\_%", 1), (r"\c1d", 1), (r"c\%", 0)] {
        let query = format!(
            "select COLL_NAME, DATA_NAME where COLL_NAME like '/tempZone/home/rods/{pattern}'"
        );
        assert_eq!(world.query(&query).len(), expected, "{query}");
        let query = query.replace('\\', r"\x5c");
        assert_eq!(world.query2(&query).len(), expected, "{query}");
    }
}

#[test]
fn every_column_of_tickets_quotas_and_attributes_is_supported() {
    let world = World::planted();
    let columns = |prefix: &str| {
        let all = include_str!("../src/genquery/column.rs").lines().map(str::trim);
        let names = all.filter(|line| line.starts_with(prefix) && line.ends_with(';'));
        let names: Vec<_> = names.filter_map(|line| line.split(' ').next()).collect();
        assert!(!names.is_empty(), "{prefix}");
        names.join(", ")
    };
    let new = NewTicket { bytes: 9, uses: 2, ..NewTicket::default() };
    let at: At = "/home/rods/a/x".parse::<StorePath>().unwrap().into();
    let (_, ticket) = world.store.add_ticket(&world.admin, &at, &new).unwrap();
    let row = &world.query(&format!("select {}", columns("TICKET_")))[0];
    assert!(row.contains(&ticket.id) && row.contains("|/tempZone/home/rods/a|"), "{row}");
    let some = world.query(
        "select TICKET_STRING, TICKET_OWNER_NAME, TICKET_OBJECT_TYPE, TICKET_WRITE_BYTE_LIMIT",
    );
    assert_eq!(some, [format!("{}|rods|data|9", ticket.id)]);
    let quota = || world.query(&format!("select {}", columns("QUOTA_")));
    assert!(quota().is_empty());
    world.limit("rods", QuotaLimits { bytes: Some(100), resources: None });
    let id = world.admin.user();
    assert_eq!(quota(), [format!("{id}|rods|tempZone|rodsadmin|0||100|23||123|{id}|0|")]);
    assert_eq!(
        world.query(&format!("select {} where USER_NAME = 'rods'", columns("USER_"))).len(),
        1
    );
    for prefix in ["META_DATA_", "META_COLL_", "META_RESC_", "META_USER_"] {
        world.query(&format!("select {}", columns(prefix)));
    }
    let ids = world.query(
        "select META_DATA_ATTR_ID, META_DATA_CREATE_TIME where META_DATA_ATTR_VALUE = 'green'",
    );
    assert_eq!(ids.len(), 2, "with units and without are two: {ids:?}");
    let id = ids[0].split('|').next().unwrap();
    let found = format!("select META_DATA_ATTR_VALUE where META_DATA_ATTR_ID = '{id}'");
    assert_eq!(world.query(&found), ["green"]);
}

/// iRODS has limits of bytes, of users and groups; callers see their own.
#[test]
fn quotas_of_users_and_groups_are_rows() {
    let world = World::planted();
    world.grant("/home", "bob", Rights::CREATE);
    world.limit("bob", QuotaLimits { bytes: Some(50), resources: None });
    world.limit("rods", QuotaLimits { bytes: None, resources: Some(9) });
    let below = QuotaTarget::Collection("/home".parse::<StorePath>().unwrap().into());
    let hard = QuotaLimits { bytes: Some(1_000), resources: None };
    world.set_quota(&below, QuotaSetting { hard, ..QuotaSetting::default() });
    let columns = "QUOTA_USER_NAME, QUOTA_LIMIT, QUOTA_USAGE, QUOTA_OVER, USER_NAME";
    let row = "bob|50|0|-50|bob";
    assert_eq!(world.query(&format!("select {columns}")), [row]);
    assert_eq!(world.query(&format!("select {columns} where QUOTA_USER_NAME = 'bob'")), [row]);
    assert_eq!(world.query2(&format!("select {columns} where QUOTA_LIMIT > '49'")), [row]);
    assert!(world.query(&format!("select {columns} where QUOTA_OVER n> '0'")).is_empty());
    let bob = world.store.caller_for(world.store.person_named("bob").unwrap().0).unwrap();
    let seen = |caller: &Caller| {
        world.query_with(caller, &format!("select {columns}"), Options::default())
    };
    assert_eq!(seen(&bob), [row.split('|').collect::<Vec<_>>()]);
    world.grant("/home", "eve", Rights::CREATE);
    let eve = world.store.caller_for(world.store.person_named("eve").unwrap().0).unwrap();
    assert!(seen(&eve).is_empty());
}

#[test]
fn the_second_language_orders_by_columns_that_are_not_selected() {
    let world = World::planted();
    for (query, expected) in [
        ("select DATA_NAME order by DATA_SIZE desc", &["x", "y", "it's"][..]),
        ("select no distinct DATA_NAME order by DATA_SIZE desc", &["x", "y", "x", "it's"]),
        ("select DATA_NAME order by DATA_SIZE desc, COLL_NAME limit 2", &["x", "y"]),
        (
            "select COLL_NAME where DATA_SIZE > '0' group by COLL_NAME order by sum(DATA_SIZE) desc",
            &["/tempZone/home/rods/b", "/tempZone/home/rods/a"],
        ),
    ] {
        assert_eq!(world.query2(query), expected, "{query}");
    }
}

#[test]
fn a_query_stays_within_its_limits() {
    let world = World::planted();
    for n in 0..100 {
        let long = format!("{n} {}", "x".repeat(1_000));
        world.describe("/home/rods/a/x", "n", &long, None);
        world.describe("/home/rods/a", "m", &long, None);
    }
    let product = "select META_DATA_ATTR_VALUE, META_COLL_ATTR_VALUE";
    let count = "select count(DATA_ID), count(COLL_ID) where META_DATA_ATTR_NAME = 'n' and META_COLL_ATTR_NAME = 'm'";
    let reading = world.store.reading(&world.admin).unwrap();
    let run = |query: &str, count: usize, limits: Limits<'_>| {
        let options = Options { count, ..Options::default() };
        let first = genquery1(&reading, &zone(), query, options, limits);
        let second = genquery2(&reading, &zone(), &format!("{query} limit {count}"), count, limits);
        (first, second)
    };
    type Rows = cenote_query::Result<Vec<Vec<String>>>;
    let of = |what: &str, (first, second): (Rows, Rows)| {
        for error in [first.unwrap_err(), second.unwrap_err()] {
            assert!(matches!(&error, Error::Limit(text) if text.contains(what)), "{error}");
        }
    };
    of("more than 500 rows", run(product, 10, Limits { rows: 500, ..Limits::NONE }));
    let small = Limits { bytes: 8 << 20, ..Limits::NONE };
    of("more than 8388608 bytes", run(product, 100_000, small));
    assert_eq!(run(product, 10, small).0.unwrap().len(), 10, "few rows are wanted");
    assert_eq!(run(count, 10, small).0.unwrap(), [["10000", "10000"]]);
    let polls = std::sync::atomic::AtomicUsize::new(0);
    let after = |times: usize, stop: Stop| {
        let polls = &polls;
        polls.store(0, std::sync::atomic::Ordering::SeqCst);
        move || (polls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == times).then_some(stop)
    };
    let late = after(100, Stop::Late);
    let (first, _) = run(product, 10, Limits { stop: &late, ..Limits::NONE });
    assert!(matches!(first, Err(Error::Limit(text)) if text.contains("too long")));
    let gone = after(100, Stop::Gone);
    let options = Options::default();
    let first =
        genquery1(&reading, &zone(), product, options, Limits { stop: &gone, ..Limits::NONE });
    assert!(matches!(first, Err(Error::Stopped)));
    assert_eq!(polls.load(std::sync::atomic::Ordering::SeqCst), 101, "it looks at nothing more");
}

#[test]
fn functions_combine_and_order_rows() {
    let world = World::planted();
    let sums = "select COLL_NAME, count(DATA_NAME), sum(DATA_SIZE), max(DATA_SIZE), avg(DATA_SIZE) \
                where COLL_NAME like '/tempZone/home/rods/%'";
    assert_eq!(
        world.query(sums),
        ["/tempZone/home/rods/a|2|23|20|11.5", "/tempZone/home/rods/b|1|100|100|100"]
    );
    let sizes = world.query("select order_desc(DATA_SIZE)");
    assert_eq!(sizes, ["100", "20", "3", "0"]);
    assert_eq!(world.query("select DATA_SIZE"), ["0", "3", "20", "100"], "numbers sort as numbers");
    assert_eq!(world.query("select count(DATA_ID) where DATA_NAME = 'none'"), ["0"]);
}

#[test]
fn options_page_compare_and_repeat() {
    let world = World::planted();
    let run = |query: &str, options| world.query_with(&world.admin, query, options).len();
    let all = Options { distinct: false, ..Options::default() };
    assert_eq!(run("select DATA_NAME", all), 4);
    assert_eq!(run("select DATA_NAME", Options::default()), 3);
    assert_eq!(run("select DATA_NAME", Options { offset: 1, count: 1, ..all }), 1);
    assert_eq!(run("select DATA_NAME", Options { offset: 9, ..all }), 0);
    let loose = Options { case_sensitive: false, ..Options::default() };
    let capital = "select DATA_NAME where COLL_NAME = '/TEMPZONE/HOME/RODS/A' and DATA_NAME = 'X'";
    assert_eq!((run(capital, Options::default()), run(capital, loose)), (0, 1));
    assert_eq!(world.query("select DATA_NAME where DATA_NAME = 'it''s'"), ["it's"]);
}

#[test]
fn queries_return_only_rows_visible_to_the_caller() {
    let world = World::planted();
    let user = NewUser { name: "alice".into(), password: None, role: Role::User };
    let alice = world.store.add_user(&world.admin, &user).unwrap();
    let alice = world.store.caller_for(alice).unwrap();
    for query in [
        "select DATA_NAME",
        "select DATA_NAME where META_DATA_ATTR_NAME = 'colour' and META_DATA_ATTR_VALUE = 'green'",
        "select DATA_NAME where COLL_NAME = '/tempZone/home/rods/a'",
        "select COLL_NAME where COLL_NAME like '/tempZone/home/rods/%'",
    ] {
        assert!(world.query_with(&alice, query, Options::default()).is_empty(), "{query}");
    }
}

#[test]
fn access_lists_have_a_row_for_each_entry() {
    let world = World::planted();
    for (at, name, level) in [
        ("/home/rods/a", "alice", Rights::READ_OBJECT),
        ("/home/rods/a/x", "alice", Rights::MODIFY_OBJECT),
    ] {
        world.grant(at, name, level);
    }
    let of_x = "where COLL_NAME = '/tempZone/home/rods/a' and DATA_NAME = 'x'";
    for (select, expected) in [
        ("DATA_ACCESS_NAME, DATA_ACCESS_TYPE", &["modify_object|1120", "own|1200"][..]),
        ("USER_NAME, DATA_ACCESS_NAME", &["alice|modify_object", "rods|own"]),
        (
            "DATA_ACCESS_USER_NAME, DATA_ACCESS_USER_TYPE, DATA_ACCESS_USER_ZONE",
            &["alice|rodsuser|tempZone", "rods|rodsadmin|tempZone"],
        ),
        (
            "COLL_ACCESS_USER_NAME, DATA_ACCESS_USER_NAME",
            &["alice|alice", "alice|rods", "rods|alice", "rods|rods"],
        ),
        ("count(DATA_ACCESS_USER_ID)", &["2"]),
    ] {
        let query = format!("select {select} {of_x} and DATA_TOKEN_NAMESPACE = 'access_type'");
        assert_eq!(world.query(&query), expected, "{query}");
    }
    let of_a = "select USER_NAME, COLL_ACCESS_NAME where COLL_NAME = '/tempZone/home/rods/a'";
    assert_eq!(world.query(of_a), ["alice|read_object", "rods|own"]);
    let same = world.query("select COLL_ID, COLL_NAME where COLL_ACCESS_USER_NAME = 'alice'");
    let ids = world.query("select COLL_ACCESS_COLL_ID where COLL_ACCESS_USER_NAME = 'alice'");
    assert_eq!(same, [format!("{}|/tempZone/home/rods/a", ids[0])]);
    let second = format!("select DATA_ACCESS_USER_NAME, DATA_ACCESS_PERM_NAME {of_x}");
    assert_eq!(world.query2(&second), ["alice|modify_object", "rods|own"]);
}

#[test]
fn a_resource_without_access_list_has_a_row_for_its_owner() {
    let world = World::planted();
    let of_y = "select DATA_ACCESS_USER_NAME, DATA_ACCESS_NAME where DATA_NAME = 'y'";
    assert_eq!(world.query(of_y), ["rods|own"]);
    world.grant("/home/rods/a/y", "rods", Rights::NONE);
    assert_eq!(world.query(of_y), ["rods|own"]);
}

#[test]
fn the_second_language_has_conditions_of_any_form() {
    let world = World::planted();
    for (query, expected) in [
        ("select DATA_NAME where DATA_NAME = 'x' and not COLL_NAME like '%b'", &["x"][..]),
        (
            "select COLL_NAME, DATA_NAME where META_DATA_ATTR_VALUE = '9' or DATA_SIZE > '50'",
            &["/tempZone/home/rods/a|x", "/tempZone/home/rods/b|x"],
        ),
        ("select no distinct DATA_NAME where DATA_NAME = 'x'", &["x", "x"]),
        ("select upper(DATA_NAME) where DATA_SIZE between '1' and '20'", &["X", "Y"]),
        (
            "select COLL_NAME, count(DATA_NAME) where DATA_SIZE > '0' group by COLL_NAME \
             order by count(DATA_NAME) desc",
            &["/tempZone/home/rods/a|2", "/tempZone/home/rods/b|1"],
        ),
        // Grouped by a column that is not selected, too: one group for each collection, of names that occur in both.
        (
            "select no distinct DATA_NAME, count(DATA_ID) where DATA_NAME = 'x' \
             group by DATA_NAME, COLL_NAME",
            &["x|1", "x|1"],
        ),
        ("select count(DATA_ID), max(DATA_SIZE) where DATA_NAME = 'none'", &["0|"]),
        ("select DATA_SIZE order by DATA_SIZE desc offset 1 limit 2", &["20", "3"]),
        ("select RESC_NAME where META_RESC_ATTR_NAME is null", &["slow"]),
        ("select DELAY_RULE_ID", &["9"]),
    ] {
        assert_eq!(world.query2(query), expected, "{query}");
    }
}

#[test]
fn in_the_second_language_objects_without_attributes_have_a_row() {
    let world = World::planted();
    let all = world.query2("select DATA_NAME, META_DATA_ATTR_NAME where COLL_NAME like '%/a'");
    assert_eq!(all, ["x|colour", "x|weight", "y|"]);
    let bare =
        world.query2("select DATA_NAME where COLL_NAME like '%/a' and META_DATA_ATTR_NAME is null");
    assert_eq!(bare, ["y"]);
    assert!(world.query2("select COLL_NAME").contains(&"/tempZone/home/rods/a".to_owned()));
}

#[test]
fn a_stored_query_takes_its_arguments() {
    let world = World::planted();
    let run = |text: &str, arguments: &[&str]| {
        let reading = world.store.reading(&world.admin).unwrap();
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        stored(&reading, &zone(), text, &arguments, 10, Limits::NONE)
    };
    let token = "select token_id from R_TOKN_MAIN where token_name = 'rodsgroup'";
    assert_eq!(run(token, &[]).unwrap(), [["200"]]);
    let sizes = "select data_name from R_DATA_MAIN where data_size between ? and ?";
    assert_eq!(run(sizes, &["10", "50"]).unwrap(), [["y"]]);
    for (arguments, what) in [(&["10"][..], "is missing"), (&["1", "2", "3"], "1 more")] {
        let error = run(sizes, arguments).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_value_is_found_without_its_attribute_name() {
    let world = World::planted();
    for n in 0..30 {
        world.describe("/home/rods/b/x", &format!("attribute {n}"), "v", None);
    }
    world.describe("/home/rods/a/y", "attribute 7", "v", None);
    let names = |query: &str| world.query(query);
    assert_eq!(names("select DATA_NAME where META_DATA_ATTR_VALUE = 'green'"), ["x"]);
    assert_eq!(names("select COLL_NAME where META_COLL_ATTR_VALUE = 'v1'").len(), 1);
    let both = "select DATA_NAME, META_DATA_ATTR_NAME where META_DATA_ATTR_VALUE = 'v' and META_DATA_ATTR_NAME = 'attribute 7'";
    assert_eq!(names(both), ["x|attribute 7", "y|attribute 7"]);
    assert_eq!(names("select META_DATA_ATTR_NAME where META_DATA_ATTR_VALUE = 'v'").len(), 30);
    assert!(names("select DATA_NAME where META_DATA_ATTR_VALUE = 'none'").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However the rows are found, the result is the same as testing all of them.
    #[test]
    fn the_result_does_not_depend_on_how_the_rows_are_found(
        collection in prop_oneof![Just("a"), Just("b"), Just("none")],
        name in prop_oneof![Just("x"), Just("y"), Just("z")],
        value in prop_oneof![Just("green"), Just("red")],
    ) {
        let world = World::planted();
        let select = "select COLL_NAME, DATA_NAME, META_DATA_ATTR_VALUE where";
        let quick = format!("{select} COLL_NAME = '/tempZone/home/rods/{collection}' \
            and DATA_NAME = '{name}' and META_DATA_ATTR_NAME = 'colour' and META_DATA_ATTR_VALUE = '{value}'");
        let slow = format!("{select} COLL_NAME in ('/tempZone/home/rods/{collection}') \
            and DATA_NAME in ('{name}') and META_DATA_ATTR_NAME in ('colour') and META_DATA_ATTR_VALUE in ('{value}')");
        let pattern = format!("{select} COLL_NAME like '/tempZone/home/rods/{collection}' \
            and DATA_NAME like '{name}' and META_DATA_ATTR_NAME like 'colour' and META_DATA_ATTR_VALUE like '{value}'");
        prop_assert_eq!(world.query(&quick), world.query(&slow));
        prop_assert_eq!(world.query2(&quick), world.query(&slow));
        prop_assert_eq!(world.query(&pattern), world.query(&slow));
    }
}
