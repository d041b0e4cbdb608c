//! What each operation on a resource needs: the one table.
//!
//! An operation that touches several resources is here once for each of them: a move is [`Operation::Move`] for what is
//! moved, and [`Operation::Create`] for the collection that it comes to.

use crate::model::Rights;

/// An operation on one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// See it: in a listing, a search, the feed of changes; its attributes and replicas.
    Stat,
    /// Read its description.
    ReadDescription,
    /// Read its content, or copy it.
    Read,
    /// Read or list its versions.
    ReadVersions,
    /// List its children.
    List,
    /// Descend to its children after it was found in a listing of its collection: by a walk, and by whatever sums up or copies a tree.
    Enter,
    /// Sum up what is below it.
    Usage,
    /// Add to its description.
    AddDescription,
    /// Replace something in its description.
    ChangeDescription,
    /// Only remove from its description.
    RemoveDescription,
    /// Set its attributes, or the records of its replicas.
    SetAttributes,
    /// Create or put something in it.
    Create,
    /// Write after the end of its content.
    Append,
    /// Replace its content or parts of it; keep it as a version.
    Write,
    /// Replace its content and its description together: by a copy, or by a version.
    Replace,
    /// Make and remove replicas of its content.
    Replicate,
    /// Move it, or put something in its place by a move.
    Move,
    /// Remove it with everything below.
    Remove,
    /// Drop its versions.
    PruneVersions,
    /// See its access list, and why one may do what one may do. Control is enough for that, too.
    ShowAccess,
    /// Change its access list.
    ChangeAccess,
    /// See what decides the rights of others on it.
    ExplainAccess,
    /// Give it another owner, or say what happens to versions below it.
    SetOwner,
    /// Set the quota of a collection in it.
    SetQuota,
    /// Make, see and remove its tickets.
    Tickets,
}

impl Operation {
    /// The rights that it needs.
    pub(crate) const fn needs(self) -> Rights {
        match self {
            Self::Stat | Self::ReadDescription | Self::ShowAccess => Rights::READ_DESCRIPTION,
            Self::Read | Self::ReadVersions => Rights::READ_CONTENT,
            Self::List | Self::Usage => Rights::LIST,
            Self::Enter => Rights::READ_DESCRIPTION.union(Rights::LIST),
            Self::AddDescription => Rights::ADD_DESCRIPTION,
            Self::ChangeDescription | Self::SetAttributes => Rights::CHANGE_DESCRIPTION,
            Self::RemoveDescription => Rights::REMOVE_DESCRIPTION,
            Self::Create => Rights::CREATE,
            Self::Append => Rights::APPEND,
            Self::Write | Self::Replicate => Rights::WRITE_CONTENT,
            Self::Replace => Rights::WRITE_CONTENT.union(Rights::CHANGE_DESCRIPTION),
            Self::Move | Self::Remove | Self::PruneVersions => Rights::REMOVE,
            Self::ChangeAccess
            | Self::ExplainAccess
            | Self::SetOwner
            | Self::SetQuota
            | Self::Tickets => Rights::CONTROL,
        }
    }
}

impl Rights {
    /// Whether they are enough for an operation.
    pub(crate) fn allow(self, operation: Operation) -> bool {
        let by_control = operation == Operation::ShowAccess && self.contains(Self::CONTROL);
        by_control || self.contains(operation.needs())
    }
}

#[cfg(test)]
mod truth_table {
    use super::Operation::*;
    use super::*;

    const RIGHTS: [(char, Rights); 11] = [
        ('d', Rights::READ_DESCRIPTION),
        ('r', Rights::READ_CONTENT),
        ('l', Rights::LIST),
        ('+', Rights::ADD_DESCRIPTION),
        ('~', Rights::CHANGE_DESCRIPTION),
        ('-', Rights::REMOVE_DESCRIPTION),
        ('c', Rights::CREATE),
        ('a', Rights::APPEND),
        ('w', Rights::WRITE_CONTENT),
        ('x', Rights::REMOVE),
        ('o', Rights::CONTROL),
    ];

    /// What each operation needs: one column for each right, in their order.
    const TABLE: [(Operation, &str); 25] = [
        (Stat, "d.........."),
        (ReadDescription, "d.........."),
        (Read, ".r........."),
        (ReadVersions, ".r........."),
        (List, "..l........"),
        (Enter, "d.l........"),
        (Usage, "..l........"),
        (AddDescription, "...+......."),
        (ChangeDescription, "....~......"),
        (RemoveDescription, ".....-....."),
        (SetAttributes, "....~......"),
        (Create, "......c...."),
        (Append, ".......a..."),
        (Write, ".......aw.."),
        (Replace, "....~..aw.."),
        (Replicate, ".......aw.."),
        (Move, ".........x."),
        (Remove, ".........x."),
        (PruneVersions, ".........x."),
        (ShowAccess, "d.........."),
        (ChangeAccess, "..........o"),
        (ExplainAccess, "..........o"),
        (SetOwner, "..........o"),
        (SetQuota, "..........o"),
        (Tickets, "..........o"),
    ];

    #[test]
    fn each_operation_requires_the_rights_in_its_row() {
        for (operation, row) in TABLE {
            let needed: String = RIGHTS
                .into_iter()
                .map(|(letter, right)| if operation.needs().contains(right) { letter } else { '.' })
                .collect();
            assert_eq!(needed, row, "{operation:?}");
            for (letter, right) in RIGHTS.into_iter().filter(|(letter, _)| row.contains(*letter)) {
                let others = RIGHTS.into_iter().filter(|(_, other)| !other.contains(right));
                let others: Rights = others.map(|(_, other)| other).collect();
                let without = operation == ShowAccess;
                assert_eq!(others.allow(operation), without, "{operation:?} without {letter}");
            }
            assert!(Rights::ALL.allow(operation));
        }
    }
}
