//! How much more or less there is.

use std::ops::{AddAssign, Neg, Sub};

use crate::model::Resource;

/// A difference of counts. Like counters, it wraps around.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) bytes: i64,
    pub(crate) resources: i64,
}

impl Delta {
    pub(crate) fn bytes(bytes: i64) -> Self {
        Self { bytes, resources: 0 }
    }

    /// A resource by itself, without its versions.
    pub(crate) fn of(resource: &Resource) -> Self {
        let size = resource.content.as_ref().map_or(0, |content| content.size);
        Self { bytes: size as i64, resources: 1 }
    }

    pub(crate) fn is_zero(self) -> bool {
        self == Self::default()
    }
}

impl AddAssign for Delta {
    fn add_assign(&mut self, other: Self) {
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.resources = self.resources.wrapping_add(other.resources);
    }
}

impl Neg for Delta {
    type Output = Self;

    fn neg(self) -> Self {
        Self { bytes: self.bytes.wrapping_neg(), resources: self.resources.wrapping_neg() }
    }
}

impl Sub for Delta {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        self += -other;
        self
    }
}
