//! `cenote ls`: what is in a collection.

use cenote_client::{At, Client, Resource, ResourceKind};
use futures_util::TryStreamExt;

use crate::commands::files::history::past::{self, PastArgs};
use crate::error::Result;
use crate::glob;
use crate::place::{StorePath, below};
use crate::session::Session;
use crate::text;

/// List collections, or show single resources.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(default_value = "/")]
    paths: Vec<StorePath>,
    /// Also show kind, mode, owner, size and time
    #[arg(long, short)]
    long: bool,
    /// List everything below
    #[arg(long, short = 'R', visible_short_alias = 'r')]
    recursive: bool,
    /// Show collections themselves, not their contents
    #[arg(long, short)]
    directory: bool,
    /// List resources shared with you in collections that you cannot list; a listing of the root shows them as well, after its children
    #[arg(long, conflicts_with_all = ["paths", "recursive", "directory"])]
    shared: bool,
    #[command(flatten)]
    past: PastArgs,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        if self.shared {
            return self.list_shared(session, client).await;
        }
        if let Some(moment) = &self.past.as_of {
            return self.list_as_of(session, client, &moment.text()).await;
        }
        let found = glob::expand(client, &self.paths).await?;
        for resource in &found {
            if resource.kind == ResourceKind::Collection && !self.directory {
                self.list(session, client, resource).await?;
            } else {
                self.show(session, resource, &resource.path)?;
            }
        }
        Ok(())
    }

    async fn list_as_of(&self, session: &Session, client: &Client, moment: &str) -> Result<()> {
        for path in &self.paths {
            let path = path.as_str();
            let show = |resource: &Resource, name: &str| self.show(session, resource, name);
            let listed = match self.directory {
                true => false,
                false => past::list(session, (path, moment), self.recursive, show).await?,
            };
            if !listed {
                show(&client.stat_as_of(path, moment).await?, path)?;
            }
        }
        Ok(())
    }

    async fn list(&self, session: &Session, client: &Client, parent: &Resource) -> Result<()> {
        let at = At::Id(parent.id);
        if self.recursive {
            let mut all = std::pin::pin!(client.walk(&at).await?);
            while let Some(resource) = all.try_next().await? {
                let name = below(&resource.path, &parent.path).unwrap_or(&resource.path);
                self.show(session, &resource, name)?;
            }
        } else {
            let mut children = std::pin::pin!(client.list(&at));
            while let Some(resource) = children.try_next().await? {
                self.show(session, &resource, resource.name.as_deref().unwrap_or("/"))?;
            }
        }
        if parent.path == "/" {
            self.list_shared(session, client).await?;
        }
        Ok(())
    }

    /// Lists them by the whole path, since no collection above them can be listed.
    async fn list_shared(&self, session: &Session, client: &Client) -> Result<()> {
        let mut shared = std::pin::pin!(client.shared());
        while let Some(resource) = shared.try_next().await? {
            self.show(session, &resource, &resource.path)?;
        }
        Ok(())
    }

    fn show(&self, session: &Session, resource: &Resource, name: &str) -> Result<()> {
        session.output.item(resource, |resource| match self.long {
            true => text::long(name, resource),
            false => text::marked(name, resource),
        })
    }
}
