//! The HTTP server: listening, authentication, limits, metrics, and one module per opening.
