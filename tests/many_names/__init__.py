"""Names of functions in files that nobody chose: wheels of Python packages that ship symbols."""
