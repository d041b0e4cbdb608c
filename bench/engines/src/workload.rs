//! One resource of 200 triples, as keys and values.
//!
//! 100 of the triples have a literal that is new in the store, 100 one that many resources
//! share; predicates are 20 in all. Each triple is indexed in two orders, each new
//! literal is kept by its hash and by its id.

use cenote_kv::Batch;

use crate::random::Random;

/// The size of the workload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Resources, one commit each.
    pub(crate) resources: u64,
    /// Triples of a resource; half of them have a new literal.
    pub(crate) triples: u64,
}

const PREDICATES: u64 = 20;
const SHARED_LITERALS: u64 = 10_000;

/// The number of the first literal of a resource.
fn first_literal(size: Size, resource: u64) -> u64 {
    SHARED_LITERALS + resource * size.triples
}

/// The hash of a literal: its number, spread over all keys.
fn hash(literal: u64) -> [u8; 16] {
    let mut random = Random::new(literal);
    let mut hash = [0; 16];
    hash[..8].copy_from_slice(&random.next().to_be_bytes());
    hash[8..].copy_from_slice(&random.next().to_be_bytes());
    hash
}

/// The key of a term's id.
pub(crate) fn hash_key(literal: u64) -> Vec<u8> {
    [b"h".as_slice(), &hash(literal)].concat()
}

/// All rows written for a resource.
pub(crate) fn batch(size: Size, resource: u64) -> Batch {
    let mut batch = Batch::default();
    batch.expect(resource_key(resource), None).put(resource_key(resource), vec![0; 64]);
    let mut random = Random::new(resource);
    for triple in 0..size.triples {
        let is_new = triple % 2 == 0;
        let literal = match is_new {
            true => first_literal(size, resource) + triple,
            false => random.next() % SHARED_LITERALS,
        };
        if is_new {
            put_term(&mut batch, literal);
        }
        put_triple(&mut batch, resource, triple % PREDICATES, literal);
    }
    batch
}

/// The key of a resource's record.
pub(crate) fn resource_key(resource: u64) -> Vec<u8> {
    [b"r".as_slice(), &resource.to_be_bytes()].concat()
}

fn put_term(batch: &mut Batch, literal: u64) {
    let text = format!("\"a literal as people write them, number {literal}\"");
    batch.put(hash_key(literal), literal.to_be_bytes().to_vec());
    batch.put([b"t".as_slice(), &literal.to_be_bytes()].concat(), text);
}

fn put_triple(batch: &mut Batch, resource: u64, predicate: u64, literal: u64) {
    let [predicate, resource] = [predicate, resource].map(u64::to_be_bytes);
    let object = &hash(literal)[..8];
    batch.put([b"p".as_slice(), &predicate, object, &resource].concat(), "");
    batch.put([b"o".as_slice(), object, &predicate, &resource].concat(), "");
}
