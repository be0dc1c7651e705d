"""Symbol files and plans that make a debugger's own frames right."""
