"""Crashes as they come: each input gives the frames of the plain core of the same crash."""
