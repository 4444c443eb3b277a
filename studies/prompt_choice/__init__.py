"""The study of docs/prompt_choice.md: choices on a finite test set, with their costs and errors."""
