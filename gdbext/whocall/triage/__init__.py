"""Many cores: signatures, buckets, stores."""
