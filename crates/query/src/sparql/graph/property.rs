//! The properties of a resource that the server states, and sets of them.

use super::lakesuperior::part::Part;

pub(super) const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
pub(super) const LDP: &str = "http://www.w3.org/ns/ldp#";

/// A property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Type,
    Created,
    CreatedBy,
    Modified,
    ModifiedBy,
    Parent,
    Contains,
    MembershipResource,
    HasMemberRelation,
    InsertedContentRelation,
    Size,
    MediaType,
    Digest,
    /// The list of its versions, and each of them: in LAKEsuperior's words only.
    Versions,
    Version,
}

impl Property {
    /// In the same order as in the linked-data opening.
    const ALL: [Self; 15] = [
        Self::Type,
        Self::Created,
        Self::CreatedBy,
        Self::Modified,
        Self::ModifiedBy,
        Self::Parent,
        Self::Contains,
        Self::MembershipResource,
        Self::HasMemberRelation,
        Self::InsertedContentRelation,
        Self::Size,
        Self::MediaType,
        Self::Digest,
        Self::Versions,
        Self::Version,
    ];

    pub(super) fn iri(self, fedora: &str) -> String {
        match self {
            Self::Type => RDF_TYPE.to_owned(),
            Self::Created => format!("{fedora}created"),
            Self::CreatedBy => format!("{fedora}createdBy"),
            Self::Modified => format!("{fedora}lastModified"),
            Self::ModifiedBy => format!("{fedora}lastModifiedBy"),
            Self::Parent => format!("{fedora}hasParent"),
            Self::Contains => format!("{LDP}contains"),
            Self::MembershipResource => format!("{LDP}membershipResource"),
            Self::HasMemberRelation => format!("{LDP}hasMemberRelation"),
            Self::InsertedContentRelation => format!("{LDP}insertedContentRelation"),
            Self::Size => "http://www.loc.gov/premis/rdf/v1#hasSize".to_owned(),
            Self::MediaType => {
                "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType".to_owned()
            }
            Self::Digest => "http://www.loc.gov/premis/rdf/v1#hasMessageDigest".to_owned(),
            Self::Versions => format!("{fedora}hasVersions"),
            Self::Version => format!("{fedora}hasVersion"),
        }
    }

    pub(super) fn part(self) -> Part {
        match self {
            Self::Contains => Part::Structure,
            _ => Part::Admin,
        }
    }
}

/// Some of the properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PropertySet(u16);

impl PropertySet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self((1 << Property::ALL.len()) - 1);
    pub(super) const WITHOUT_VERSIONS: Self =
        Self(Self::ALL.0 & !(1 << Property::Versions as u16 | 1 << Property::Version as u16));

    pub(super) fn has(self, property: Property) -> bool {
        self.0 & (1 << property as u16) != 0
    }

    /// In the order in which they are stated.
    pub(super) fn iter(self) -> impl Iterator<Item = Property> {
        Property::ALL.into_iter().filter(move |property| self.has(*property))
    }
}

impl FromIterator<Property> for PropertySet {
    fn from_iter<T: IntoIterator<Item = Property>>(all: T) -> Self {
        Self(all.into_iter().fold(0, |bits, property| bits | 1 << property as u16))
    }
}
