//! Computes what a cart costs.

pub mod prices;
