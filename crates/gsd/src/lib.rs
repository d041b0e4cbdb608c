//! The GSD file format for simulation trajectories: read, write, check, repair.
