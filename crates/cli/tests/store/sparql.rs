//! `cenote sparql`.

use crate::world::World;

#[test]
fn query_results_are_printed_as_lines_json_or_sparql_formats() {
    for world in World::both() {
        world.file("x", "bytes");
        world.ok(&["put", "x", ":/lab/x"]);
        world.ok(&["meta", "add", "/lab/x", "temp", "300", "K"]);
        let found = "SELECT ?x ?t { <cenote:/lab> ldp:contains ?x . ?x meta:temp ?t }";
        assert_eq!(world.ok(&["sparql", found]), "cenote:/lab/x\t300\n");
        let json = world.ok(&["--json", "sparql", found]);
        assert!(json.contains("{\"type\":\"literal\",\"value\":\"300\"}"), "{json}");
        assert_eq!(json.lines().count(), 1);
        assert_eq!(world.ok(&["sparql", "--format", "csv", found]), "x,t\r\ncenote:/lab/x,300\r\n");
        assert_eq!(world.ok(&["sparql", "ASK { ?x meta:temp '301' }"]), "false\n");
        let graph = world.ok(&["sparql", "DESCRIBE <cenote:/lab/x>"]);
        assert!(graph.contains("<cenote:/lab/x> <cenote:attribute/temp> \"300\" ."), "{graph}");
        let turtle = world.ok(&["sparql", "--format", "turtle", "DESCRIBE <cenote:/lab/x>"]);
        assert!(turtle.contains("@prefix premis:"), "{turtle}");
        world.file("q.rq", found);
        assert_eq!(world.ok(&["sparql", "--file", "q.rq"]), "cenote:/lab/x\t300\n");
        let (code, stderr) = world.refused(&["sparql", "SELECT { }"]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("invalid query"), "{stderr}");
        assert_eq!(world.refused(&["sparql"]).0, 2);
    }
}
