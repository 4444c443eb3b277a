"""The algorithms of the literature, each in a file of its own, and the parts that several of them share."""
