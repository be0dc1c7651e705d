"""Container images: the files of a crashed process, out of layers."""
