"""What is read out of a log: places, and what it tells of the process that it is about."""
