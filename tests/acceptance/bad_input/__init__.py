"""Files and processes that cannot be used as they are: a sentence, never a crash."""
