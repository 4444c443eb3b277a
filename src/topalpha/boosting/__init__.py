"""What boosting needs beside an algorithm: stumps as arms of a compiled world, and passes over weighted rows."""
