"""Frames by their grammar: a form is a row of pieces, and one reader knows them all."""
