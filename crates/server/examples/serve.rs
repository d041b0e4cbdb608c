//! Serves the store in a directory, made if it is missing: `serve DIR [ADDRESS:PORT]`.
//! The first administrator is `admin`, with the password in `CENOTE_PASSWORD`.

use std::error::Error;

use cenote_server::embedded::{OpenError, init_dir, open_dir};
use cenote_server::{Config, Server, stop_signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("which directory?")?;
    let mut config = Config::default();
    if let Some(address) = args.next() {
        config.listen = address.parse()?;
    }
    let opened = match open_dir(&dir) {
        Err(OpenError::Missing(_)) => init_dir(&dir, "admin", &std::env::var("CENOTE_PASSWORD")?)?,
        opened => opened?,
    };
    let server = Server::bind(opened.store().clone(), &config).await?;
    println!("{}", server.url());
    server.run(stop_signal()?).await;
    Ok(())
}
