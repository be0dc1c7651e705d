"""libwhocall and its crash handler: what they answer, what they write, and what they lean on."""
