"""The algorithms of the literature, each in its own file, and the parts that several of them share."""
