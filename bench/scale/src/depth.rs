//! What the depth of a path costs: each level is an edge and a collection that an operation reads, and that a commit depends on.

use cenote_store::{At, Caller, CreateOptions, Draft, Store};

use crate::{Outcome, median, path, put_one, timed};

const DEPTHS: [usize; 3] = [1, 8, 64];
const ROUNDS: usize = 1_001;

/// Measures all depths in turns, so that none has a better moment.
pub(crate) fn measure(store: &Store, caller: &Caller) -> Outcome {
    let collections = DEPTHS.map(|depth| "/level".repeat(depth));
    for collection in &collections {
        let options = CreateOptions { parents: true, ..CreateOptions::default() };
        store.create(caller, &path(&format!("{collection}/all"))?, Draft::Collection, options)?;
    }
    let mut times = DEPTHS.map(|_| (Vec::new(), Vec::new()));
    for round in 0..ROUNDS {
        for (collection, (puts, stats)) in collections.iter().zip(&mut times) {
            let object = path(&format!("{collection}/all/{round}"))?;
            puts.push(timed(|| put_one(store, caller, &object))?);
            let at = At::from(object);
            stats.push(timed(|| Ok(store.stat(caller, &at).map(drop)?))?);
        }
    }
    for (depth, (puts, stats)) in DEPTHS.into_iter().zip(times) {
        let (put, stat) = (median(puts), median(stats));
        println!(
            "{:<44}{put:>10.4} put {stat:>10.4} stat",
            format!("below {} collections", depth + 1)
        );
    }
    Ok(())
}
