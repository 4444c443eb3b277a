"""A package, so that its browser ends with it: while one is open, no other test can have an event loop of its own."""
