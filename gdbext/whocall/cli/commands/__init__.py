"""What the commands of the command line do: each has a module of its name with `run(arguments)`."""
