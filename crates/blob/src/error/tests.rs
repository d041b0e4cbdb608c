use super::*;

fn classified(errno: Errno, disk: bool) -> Error {
    let cause = Box::new(io::Error::from(errno));
    let source = object_store::Error::Generic { store: "test", source: cause };
    Error::classify("main", disk, None, source.into())
}

#[test]
fn a_full_disk_or_quota_is_no_space_anywhere() {
    for errno in [Errno::NOSPC, Errno::DQUOT, Errno::FBIG] {
        for disk in [true, false] {
            assert!(matches!(classified(errno, disk), Error::NoSpace { .. }), "{errno:?}");
        }
    }
}

#[test]
fn a_failing_disk_is_io() {
    for errno in [Errno::IO, Errno::ROFS, Errno::ACCESS, Errno::STALE] {
        assert!(matches!(classified(errno, true), Error::Io { .. }), "{errno:?}");
    }
}

#[test]
fn transient_errors_are_unavailable() {
    for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
        assert!(matches!(classified(errno, true), Error::Unavailable { .. }), "{errno:?}");
    }
    for errno in [Errno::CONNREFUSED, Errno::TIMEDOUT, Errno::PIPE] {
        assert!(matches!(classified(errno, false), Error::Unavailable { .. }), "{errno:?}");
    }
    let refused = classified(Errno::CONNREFUSED, false).to_string();
    assert!(refused.starts_with("main: not available: Connection refused"), "{refused}");
    let plain = Error::classify("main", true, None, "no operating system involved".into());
    assert!(matches!(plain, Error::Unavailable { .. }));
}

#[test]
fn not_found_needs_a_requested_blob() {
    let missing = || object_store::Error::NotFound { path: "p".into(), source: "gone".into() };
    let id = BlobId::from_bytes([1; 16]);
    let read = Error::classify("main", true, Some(id), missing().into());
    assert_eq!(read.to_string(), "main: no blob 01010101010101010101010101010101");
    let written = Error::classify("main", true, None, missing().into());
    assert!(matches!(written, Error::Unavailable { .. }));
}
