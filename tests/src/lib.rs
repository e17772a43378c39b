//! Harness of the end-to-end tests: builds and drives the real programs.
