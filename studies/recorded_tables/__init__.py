"""Choices replayed on score tables that other people recorded: what they cost, and how often they are wrong."""
