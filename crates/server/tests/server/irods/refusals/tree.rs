//! Refusals of operations on collections, data objects and replicas.

use super::How::{Coded, Plain};
use super::Who::{Ada, Grace};
use super::hold;

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_collections() {
    hold(&[
        ("no parent", Ada, "collections", "op=create&lpath=~/none/x", Coded(200, -358_000)),
        ("no such zone", Ada, "collections", "op=create&lpath=/otherZone/x", Coded(200, -358_000)),
        ("no leading slash", Ada, "collections", "op=create&lpath=tempZone/x", Coded(200, -358_000)),
        ("may not create", Grace, "collections", "op=create&lpath=~/shared/x", Coded(200, -818_000)),
        ("parents that may not be made", Grace, "collections", "op=create&lpath=~/shared/y/x&create-intermediates=1", Coded(200, -130_000)),
        ("an object is there", Ada, "collections", "op=create&lpath=~/o", Coded(200, -809_000)),
        ("create what", Ada, "collections", "op=create", Plain(400)),
        ("remove an object", Ada, "collections", "op=remove&lpath=~/o", Coded(400, -170_000)),
        ("remove a missing collection", Ada, "collections", "op=remove&lpath=~/none", Coded(400, -170_000)),
        ("not empty", Ada, "collections", "op=remove&lpath=~/c", Coded(200, -79_000)),
        ("stat of nothing", Ada, "GET collections", "op=stat&lpath=~/none", Coded(200, -170_000)),
        ("stat of an object", Ada, "GET collections", "op=stat&lpath=~/o", Coded(200, -170_000)),
        ("stat of what is not seen", Grace, "GET collections", "op=stat&lpath=~/c", Coded(200, -170_000)),
        ("list of nothing", Ada, "GET collections", "op=list&lpath=~/none", Coded(400, -170_000)),
        ("list of an object", Ada, "GET collections", "op=list&lpath=~/o", Coded(400, -170_000)),
        ("rights on an object", Ada, "collections", "op=set_permission&lpath=~/o&entity-name=grace&permission=read", Coded(400, -170_000)),
        ("no such right", Ada, "collections", "op=set_permission&lpath=~/c&entity-name=grace&permission=dance", Plain(400)),
        ("inheritance of an object", Ada, "collections", "op=set_inheritance&lpath=~/o&enable=1", Coded(400, -170_000)),
        ("rights for several on an object", Ada, "collections", "op=modify_permissions&lpath=~/o&operations=[]", Coded(400, -170_000)),
        ("metadata of an object", Ada, "collections", "op=modify_metadata&lpath=~/o&operations=[]", Coded(400, -170_000)),
        ("operations that are none", Ada, "collections", "op=modify_metadata&lpath=~/c&operations=x", Plain(400)),
        ("rename an object", Ada, "collections", "op=rename&old-lpath=~/o&new-lpath=~/n", Coded(400, -170_000)),
        ("rename to what is there", Ada, "collections", "op=rename&old-lpath=~/c&new-lpath=~/shared", Coded(400, -809_000)),
        ("touch an object", Ada, "collections", "op=touch&lpath=~/o", Coded(400, -170_000)),
        ("touch nothing", Ada, "collections", "op=touch&lpath=~/none", Coded(200, 0)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_looking_at_data_objects() {
    hold(&[
        ("stat of nothing", Ada, "GET data-objects", "op=stat&lpath=~/none", Coded(200, -171_000)),
        ("stat of a collection", Ada, "GET data-objects", "op=stat&lpath=~/c", Coded(200, -171_000)),
        ("read nothing", Ada, "GET data-objects", "op=read&lpath=~/none", Plain(404)),
        ("read a collection", Ada, "GET data-objects", "op=read&lpath=~/c", Plain(404)),
        ("read what is not seen", Grace, "GET data-objects", "op=read&lpath=~/c/x", Plain(404)),
        ("read from before", Ada, "GET data-objects", "op=read&lpath=~/o&offset=-1", Plain(400)),
        ("read from a word", Ada, "GET data-objects", "op=read&lpath=~/o&offset=x", Plain(400)),
        ("read a negative count", Ada, "GET data-objects", "op=read&lpath=~/o&count=-1", Plain(400)),
        ("read half a byte", Ada, "GET data-objects", "op=read&lpath=~/o&count=0.5", Plain(400)),
        ("read a replica by a word", Ada, "GET data-objects", "op=read&lpath=~/o&replica-number=x", Plain(400)),
        ("read no such replica", Ada, "GET data-objects", "op=read&lpath=~/o&replica-number=7", Plain(400)),
        ("read from nowhere", Ada, "GET data-objects", "op=read&lpath=~/o&resource=none", Plain(400)),
        ("a wrong ticket", Ada, "GET data-objects", "op=read&lpath=~/o&ticket=none", Coded(500, -890_000)),
        ("a wrong ticket for a stat", Ada, "GET data-objects", "op=stat&lpath=~/o&ticket=none", Coded(500, -890_000)),
        ("a wrong ticket for a list", Ada, "GET collections", "op=list&lpath=~/c&ticket=none", Coded(500, -890_000)),
        ("check nothing", Ada, "GET data-objects", "op=verify_checksum&lpath=~/none", Coded(200, -808_000)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_writing_data_objects() {
    hold(&[
        ("may not write", Grace, "data-objects", "op=write&lpath=~/shared/s&bytes=x", Coded(200, -818_000)),
        ("may not create", Grace, "data-objects", "op=write&lpath=~/shared/t&bytes=x", Coded(200, -818_000)),
        ("no such replica", Ada, "data-objects", "op=write&lpath=~/o&bytes=x&replica-number=7", Coded(200, -164_000)),
        ("no such resource", Ada, "data-objects", "op=write&lpath=~/o&bytes=x&resource=none", Coded(200, -78_000)),
        ("a replica by a word", Ada, "data-objects", "op=write&lpath=~/o&bytes=x&replica-number=x", Plain(400)),
        ("an offset by a word", Ada, "data-objects", "op=write&lpath=~/o&bytes=x&offset=x", Plain(400)),
        ("no bytes", Ada, "data-objects", "op=write&lpath=~/o", Plain(400)),
        ("no path", Ada, "data-objects", "op=write&bytes=x", Plain(400)),
        ("a wrong ticket", Ada, "data-objects", "op=write&lpath=~/o&bytes=x&ticket=none", Coded(500, -890_000)),
        ("somebody writes", Ada, "data-objects", "op=write&lpath=~/open&bytes=x", Coded(200, -1_803_000)),
        ("no such handle", Ada, "data-objects", "op=write&parallel-write-handle=none&bytes=x", Plain(400)),
        ("a second handle", Ada, "data-objects", "op=parallel_write_init&lpath=~/open&stream-count=1", Coded(200, -1_803_000)),
        ("no streams", Ada, "data-objects", "op=parallel_write_init&lpath=~/n&stream-count=0", Plain(400)),
        ("too many streams for a handle", Ada, "data-objects", "op=parallel_write_init&lpath=~/n&stream-count=4", Plain(400)),
        ("too many streams for the server", Ada, "data-objects", "op=parallel_write_init&lpath=~/n&stream-count=3", Plain(503)),
        ("a parallel write without rights", Grace, "data-objects", "op=parallel_write_init&lpath=~/shared/s&stream-count=1", Coded(200, -818_000)),
        ("a parallel write to nowhere", Ada, "data-objects", "op=parallel_write_init&lpath=~/n&stream-count=1&resource=none", Coded(200, -78_000)),
        ("shut down what is not open", Ada, "data-objects", "op=parallel_write_shutdown&parallel-write-handle=none", Coded(200, 0)),
        ("shut down what", Ada, "data-objects", "op=parallel_write_shutdown", Plain(400)),
        ("touch a collection", Ada, "data-objects", "op=touch&lpath=~/c", Coded(400, -171_000)),
        ("cut nothing", Ada, "data-objects", "op=truncate&lpath=~/none&size=1", Coded(200, -358_000)),
        ("cut to what", Ada, "data-objects", "op=truncate&lpath=~/o", Plain(400)),
        ("cut where", Ada, "data-objects", "op=truncate&lpath=~/o&size=1&resource=demoResc&replica-number=0", Coded(200, -130_000)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_moving_data_objects() {
    hold(&[
        ("remove, and the file?", Ada, "data-objects", "op=remove&lpath=~/o", Plain(400)),
        ("remove, and both", Ada, "data-objects", "op=remove&lpath=~/o&catalog-only=1&no-trash=1", Plain(400)),
        ("remove what", Ada, "data-objects", "op=remove&catalog-only=0", Plain(400)),
        ("remove nothing", Ada, "data-objects", "op=remove&lpath=~/none&catalog-only=0", Coded(200, -358_000)),
        ("remove without rights", Grace, "data-objects", "op=remove&lpath=~/shared/s&catalog-only=0", Coded(200, -818_000)),
        ("rename a collection", Ada, "data-objects", "op=rename&old-lpath=~/c&new-lpath=~/n", Coded(400, -171_000)),
        ("rename to what is there", Ada, "data-objects", "op=rename&old-lpath=~/o&new-lpath=~/p", Coded(200, -809_000)),
        ("copy a collection", Ada, "data-objects", "op=copy&src-lpath=~/c&dst-lpath=~/n", Coded(400, -171_000)),
        ("copy to nowhere", Ada, "data-objects", "op=copy&src-lpath=~/o&dst-lpath=~/n&dst-resource=none", Coded(200, -78_000)),
        ("copy from nowhere", Ada, "data-objects", "op=copy&src-lpath=~/o&dst-lpath=~/n&src-resource=none", Coded(200, -78_000)),
        ("copy over", Ada, "data-objects", "op=copy&src-lpath=~/o&dst-lpath=~/p", Coded(200, -312_000)),
        ("copy over a collection", Ada, "data-objects", "op=copy&src-lpath=~/o&dst-lpath=~/c", Coded(200, -833_000)),
        ("copy without rights", Grace, "data-objects", "op=copy&src-lpath=~/shared/s&dst-lpath=~/shared/t", Coded(200, -818_000)),
        ("rights on a collection", Ada, "data-objects", "op=set_permission&lpath=~/c&entity-name=grace&permission=read", Coded(400, -171_000)),
        ("rights for several on a collection", Ada, "data-objects", "op=modify_permissions&lpath=~/c&operations=[]", Coded(400, -171_000)),
        ("metadata of a collection", Ada, "data-objects", "op=modify_metadata&lpath=~/c&operations=[]", Coded(400, -171_000)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_replicas() {
    hold(&[
        ("from a replica by a word", Ada, "data-objects", "op=replicate&lpath=~/o&dst-resource=demoResc&src-replica-number=x", Coded(200, -403_000)),
        ("from a negative replica", Ada, "data-objects", "op=replicate&lpath=~/o&dst-resource=demoResc&src-replica-number=-1", Coded(200, -168_000)),
        ("from nowhere", Ada, "data-objects", "op=replicate&lpath=~/o&dst-resource=demoResc&src-resource=none", Coded(200, -78_000)),
        ("to nowhere", Ada, "data-objects", "op=replicate&lpath=~/o&dst-resource=none", Coded(200, -78_000)),
        ("to where it is", Ada, "data-objects", "op=replicate&lpath=~/o&dst-resource=demoResc", Coded(200, 0)),
        ("trim no such replica", Ada, "data-objects", "op=trim&lpath=~/o&replica-number=7", Coded(200, -164_000)),
        ("trim the last", Ada, "data-objects", "op=trim&lpath=~/o&replica-number=0", Coded(200, 0)),
        ("trim which", Ada, "data-objects", "op=trim&lpath=~/o", Plain(400)),
        ("register as a user", Grace, "data-objects", "op=register&lpath=~/n&ppath=/tmp/none&resource=demoResc", Coded(200, -13_000)),
        ("register nowhere", Ada, "data-objects", "op=register&lpath=~/n&ppath=/tmp/none&resource=none", Coded(200, -78_000)),
        ("register where none may lie", Ada, "data-objects", "op=register&lpath=~/n&ppath=/tmp/none&resource=demoResc", Coded(200, -818_000)),
        ("checksum of nothing", Ada, "data-objects", "op=calculate_checksum&lpath=~/none", Coded(200, -808_000)),
        ("modify nothing of it", Ada, "data-objects", "op=modify_replica&lpath=~/o&replica-number=0", Plain(400)),
        ("modify as a user", Grace, "data-objects", "op=modify_replica&lpath=~/shared/s&replica-number=0&new-data-replica-status=0", Coded(200, -13_000)),
        ("modify no such replica", Ada, "data-objects", "op=modify_replica&lpath=~/o&replica-number=7&new-data-comments=x", Coded(200, -164_000)),
        ("modify where the bytes are", Ada, "data-objects", "op=modify_replica&lpath=~/o&replica-number=0&new-data-path=/x", Coded(200, -816_000)),
    ])
    .await;
}
