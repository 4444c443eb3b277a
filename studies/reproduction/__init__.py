"""The study of docs/reproduction.md: the paper's table, run again."""
