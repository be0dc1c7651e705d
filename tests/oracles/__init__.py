"""Other tools as witnesses."""
