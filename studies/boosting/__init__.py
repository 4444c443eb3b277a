"""The study of docs/boosting.md: boosting by bandits beside exact searches and other rivals."""
