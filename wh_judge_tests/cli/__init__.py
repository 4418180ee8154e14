"""The command line: what it says where, and its exit codes. `call` is one call."""
