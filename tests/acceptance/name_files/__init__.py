"""Names from files that the user gives: maps, lists of symbols, signatures of libraries."""
