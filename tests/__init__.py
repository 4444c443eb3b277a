"""The tests. A package, so that tests, benchmarks and pictures import helpers as ``tests.support``."""
