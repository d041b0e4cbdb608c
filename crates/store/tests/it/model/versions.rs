//! Versions against the model: each has the bytes and the description from before a change.

use super::*;

impl Pair {
    /// Turns on versions of each change for a resource and everything below it, or inherits the
    /// setting.
    pub(super) fn keep(&mut self, what: &StorePath, keeps: bool) {
        let versioning = Some(keeps.then_some(Versioning::EachChange(Retention::default())));
        let change = AttributeChange { versioning, ..AttributeChange::default() };
        let done = self.world.store.set_attributes(&self.world.admin, &what.into(), &change);
        assert_eq!(kind_of(done).map(drop), self.model.node(what).map(drop));
        if self.model.nodes.contains_key(what) {
            self.model.change_description(what, |node| node.keeps = keeps);
        }
    }

    /// Turns on versions of each change for the whole store.
    pub(super) fn keep_all(&mut self) {
        let versioning = Some(Some(Versioning::EachChange(Retention::default())));
        let change = AttributeChange { versioning, ..AttributeChange::default() };
        self.world.store.set_attributes(&self.world.admin, &at("/"), &change).unwrap();
        self.model.keeps = true;
    }

    pub(super) fn keep_now(&mut self, what: &StorePath) {
        let done = self.world.try_keep(&what.to_string(), None);
        let expected = self.model.node(what).and_then(|_| match self.model.keeps(what) {
            true => Ok(()),
            false => Err(ErrorKind::Invalid),
        });
        assert_eq!(kind_of(done).map(drop), expected);
        if expected.is_ok() {
            self.model.keep_replaced(what);
            self.model.nodes.get_mut(what).unwrap().is_kept = true;
        }
    }

    /// Removes a version, if there are that many; the others are unchanged.
    pub(super) fn prune(&mut self, what: &StorePath, nth: usize) {
        let Some(node) = self.model.nodes.get_mut(what) else { return };
        if nth >= node.versions.len() {
            return;
        }
        let versions = self.world.store.versions(&self.world.admin, &what.into()).unwrap();
        let number = versions[versions.len() - 1 - nth].version;
        let prune = Prune::One(number);
        let gone = self.world.store.prune_versions(&self.world.admin, &what.into(), &prune);
        assert_eq!(gone.unwrap(), 1);
        node.versions.remove(nth);
        node.is_kept &= nth < node.versions.len();
        self.compare_versions(what);
    }

    pub(super) fn restore(&mut self, what: &StorePath, nth: usize) {
        let Some(node) = self.model.nodes.get(what).cloned() else { return };
        let Some((bytes, avus)) = node.versions.get(nth).cloned() else { return };
        let at = At::from(what);
        let versions = self.world.store.versions(&self.world.admin, &at).unwrap();
        let number = versions[versions.len() - 1 - nth].version;
        self.world.store.restore_version(&self.world.admin, &at, number).unwrap();
        self.model.change_bytes(what, bytes);
        let node = self.model.nodes.get_mut(what).unwrap();
        node.avus = avus;
        node.described += 1;
    }

    /// Compares the state of each version.
    pub(super) fn compare_versions(&self, path: &StorePath) {
        let (store, admin, node) = (&self.world.store, &self.world.admin, &self.model.nodes[path]);
        let versions = store.versions(admin, &path.into()).unwrap();
        assert_eq!(versions.len(), node.versions.len(), "{path}");
        for (version, (bytes, avus)) in versions.iter().rev().zip(&node.versions) {
            let number = version.version;
            if version.content.is_some() {
                assert!(self.world.read_version(&path.to_string(), number) == *bytes);
            }
            let graph = store.graph_of_version(admin, &path.into(), number).unwrap();
            let shown: Avus = graph.iter().map(shown_avu).collect();
            assert_eq!(shown, *avus, "{path}, version {number}");
            let difference = store.compare_versions(admin, &path.into(), number, None).unwrap();
            let lost: Avus = difference.removed.iter().map(shown_avu).collect();
            let come: Avus = difference.added.iter().map(shown_avu).collect();
            assert_eq!(lost, avus.difference(&node.avus).cloned().collect());
            assert_eq!(come, node.avus.difference(avus).cloned().collect());
        }
    }
}

fn shown_avu(statement: &Statement) -> (String, String) {
    (attribute_of(&statement.predicate), statement.object.text().to_owned())
}
