"""What a machine, a disk or somebody else may do to any command, and what the command then says."""
