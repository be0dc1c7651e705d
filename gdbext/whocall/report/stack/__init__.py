"""A thread's stack as a picture."""
