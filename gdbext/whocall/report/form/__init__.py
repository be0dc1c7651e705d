"""How text is painted and JSON is written."""
