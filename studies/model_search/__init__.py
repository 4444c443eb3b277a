"""The study of docs/model_search.md: TopAlphaSearchCV beside other searches for settings of a model."""
