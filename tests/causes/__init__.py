"""Causes of crashes and last words of runtimes, told of programs that are known to have them."""
