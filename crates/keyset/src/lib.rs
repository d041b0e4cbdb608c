//! Elektra keys and key sets, and their storage formats dump and quickdump.
