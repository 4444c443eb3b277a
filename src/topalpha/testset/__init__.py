"""Choice of a prompt or a model on a finite pass/fail test set."""
