"""The documentation: its pages, what builds the site, and what draws its pictures."""
