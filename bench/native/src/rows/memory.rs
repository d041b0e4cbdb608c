//! The server's memory while ten clients each put 1 GiB.

use std::io::Read;

use crate::served::Served;
use crate::{Bench, Outcome};

const CLIENTS: usize = 10;
const GIB: u64 = 1 << 30;

pub(crate) fn measure(bench: &mut Bench) -> Outcome {
    let served = Served::new(bench, "memory")?;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let mut connection = served.connect()?;
            let path = format!("/v1/fs/client{client}");
            Ok(std::thread::spawn(move || {
                connection
                    .send_from("PUT", &path, GIB, &mut std::io::repeat(client as u8).take(GIB))
                    .map(drop)
            }))
        })
        .collect::<Outcome<_>>()?;
    for client in clients {
        client.join().map_err(|_| "a client panicked")??;
    }
    let peak = served.peak_memory()? as f64 / f64::from(1 << 20);
    bench.report.row(
        "resident while ten clients put 1 GiB each",
        &format!("{peak:.0} MiB"),
        "",
        "",
        "< 150 MiB",
    );
    Ok(())
}
