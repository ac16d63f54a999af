"""What runners of tests write, read into cases: one module for each format, bytes in, cases out, nothing raised."""
