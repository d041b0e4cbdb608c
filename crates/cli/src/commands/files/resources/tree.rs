//! `cenote tree`: a collection drawn as a tree.

use std::collections::BTreeMap;

use cenote_client::{Resource, ResourceKind};
use futures_util::TryStreamExt;

use crate::error::Result;
use crate::place::{StorePath, below};
use crate::session::Session;
use crate::text;

/// Draw the tree below a collection.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A path in the store
    #[arg(default_value = "/")]
    path: StorePath,
    /// Descend at most this many levels
    #[arg(long, short = 'L', value_name = "LEVELS")]
    depth: Option<usize>,
}

/// What is drawn: the children of a node by name.
#[derive(Default)]
struct Node {
    label: String,
    children: BTreeMap<String, Node>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let mut all = std::pin::pin!(client.walk(&self.path.as_str().into()).await?);
        let mut root = Node { label: self.path.to_string(), ..Node::default() };
        let (mut collections, mut others) = (0, 0);
        while let Some(resource) = all.try_next().await? {
            let Some(relative) = below(&resource.path, self.path.as_str()) else { continue };
            match resource.kind {
                ResourceKind::Collection => collections += 1,
                _ => others += 1,
            }
            if self.depth.is_some_and(|depth| relative.split('/').count() > depth) {
                continue;
            }
            match session.output.is_json() {
                true => session.output.item(&resource, |_| String::new())?,
                false => root.insert(relative, &resource),
            }
        }
        if session.output.is_json() {
            return Ok(());
        }
        let (collections, others) =
            (text::count(collections, "collection"), text::count(others, "other resource"));
        session.output.bytes(format!("{}\n", root.label).as_bytes())?;
        root.draw(session, "")?;
        session.output.bytes(format!("\n{collections}, {others}\n").as_bytes())
    }
}

impl Node {
    fn insert(&mut self, relative: &str, resource: &Resource) {
        let node = relative
            .split('/')
            .fold(self, |node, name| node.children.entry(name.to_owned()).or_default());
        let name = relative.rsplit('/').next().unwrap_or(relative);
        node.label = text::marked(name, resource);
    }

    fn draw(&self, session: &Session, indent: &str) -> Result<()> {
        let last = self.children.len().saturating_sub(1);
        for (index, child) in self.children.values().enumerate() {
            let (branch, below) =
                if index == last { ("└── ", "    ") } else { ("├── ", "│   ") };
            session.output.bytes(format!("{indent}{branch}{}\n", child.label).as_bytes())?;
            child.draw(session, &format!("{indent}{below}"))?;
        }
        Ok(())
    }
}
