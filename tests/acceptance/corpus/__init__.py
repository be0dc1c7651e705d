"""The crash corpora judged frame by frame, and what they say in numbers."""
