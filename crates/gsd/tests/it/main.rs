//! Tests of the file format from outside, by theme.

mod common;
mod crash;
mod damage;
mod golden;
mod model;
mod read;
mod repair;
