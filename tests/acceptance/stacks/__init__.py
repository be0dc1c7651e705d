"""Stacks that are no corpus: of stock programs, of other projects, very large ones, random ones."""
