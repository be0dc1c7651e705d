"""What is found, as text and as JSON."""
