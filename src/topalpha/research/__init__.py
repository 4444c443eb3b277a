"""What researchers run: the audit of every guarantee, the field side by side, and the paper's table."""
