//! What belongs to the zone: users, tickets, resources, other zones, and notes of what the store itself does not model.

pub(crate) mod hierarchy;
pub(crate) mod notes;
pub(crate) mod resources;
pub(crate) mod tickets;
pub(crate) mod users;
pub(crate) mod zones;
