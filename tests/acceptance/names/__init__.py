"""Names of functions beside those of unstripped twins: read elsewhere, inferred, never wrong."""
