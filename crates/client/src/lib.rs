//! The HTTP client shared by the program, the mount and Python: parallel, resumable, verified.
