"""The report page in a real Chromium, the server, and the forms of other tools."""
